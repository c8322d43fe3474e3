"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select.kernels.base import Kernel
from msvm_select.records import Floats, Gram

NEAR = 1e-6
SOME = 2**20  # entries at a time
IN_CACHE = 64  # rows of K that are made at once


@dataclass(frozen=True)
class Rbf(Kernel):
    """k(x, z) = exp(-gamma ||x - z||^2), gamma = 1 / (2 sigma^2)."""

    gamma: float

    name = "rbf"
    positive = frozenset({"gamma"})

    @property
    def roughness(self) -> tuple[float, ...]:
        """By gamma."""
        return (2.0, self.gamma)

    def between(self, X: Floats, Z: Floats) -> Floats:
        """exp(-gamma ||x - z||^2) for the rows of X and of Z."""
        K = squared_distances(X, Z)
        K *= -self.gamma
        return np.asarray(np.exp(K, out=K))

    def gram(self, X: Floats) -> Gram:
        """The Gram matrix, with K_ij exactly 1 for equal samples.

        Some rows from the diagonal on, then their transpose.
        """
        K = np.empty((len(X), len(X)))
        for first in range(0, len(X), IN_CACHE):
            rows, rest = slice(first, first + IN_CACHE), slice(first + IN_CACHE, None)
            some = self.between(X[rows], X[first:])
            own = some[:, : len(some)]
            own[:] = np.minimum(own, own.T)
            K[rows, first:], K[rest, rows] = some, some[:, len(some) :].T
        return Gram(whole=self.finite(K))


def squared_distances(X: Floats, Z: Floats) -> Floats:
    """||x - z||^2 for the rows of X (m, n) and of Z (p, n): (m, p).

    ||x||^2 + ||z||^2 - 2 <x, z> is one matrix product, but loses the digits of near
    pairs (a difference of large numbers); those are taken again from x - z itself, so
    that equal rows are at exactly 0. Symmetric to the last digit when X is Z.
    """
    shift = Z.mean(axis=0)
    A = X - shift
    B = A if X is Z else Z - shift
    with np.errstate(over="ignore", invalid="ignore"):
        size_a, size_b = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
        D = A @ B.T
        D *= -2.0
        some = max(1, SOME // max(1, D.shape[1]))
        for first in range(0, D.shape[0], some):  # no second matrix beside this one
            rows = slice(first, first + some)
            D[rows] += np.add.outer(size_a[rows], size_b)
        scale = size_a.max(initial=0.0) + size_b.max(initial=0.0)
        i, j = np.divmod(np.flatnonzero(NEAR * scale >= D), D.shape[1])
        difference = X[i] - Z[j]
        D[i, j] = np.einsum("ij,ij->i", difference, difference)
    return np.asarray(D)
