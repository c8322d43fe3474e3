"""Kernels of the inner product <x, z>: linear, polynomial, sigmoid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from msvm_select.kernels.base import Kernel
from msvm_select.records import Floats, Gram


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = <x, z>."""

    name = "linear"

    @property
    def roughness(self) -> tuple[float, ...]:
        """The smoothest of all."""
        return (0.0,)

    def between(self, X: Floats, Z: Floats) -> Floats:
        """<x, z> for the rows of X and of Z."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(X @ Z.T)

    def dimension(self, n: int) -> int:
        """n: the features themselves."""
        return n

    def gram(self, X: Floats) -> Gram:
        """K = X X', kept as its factor X where that is much the smaller."""
        m, n = X.shape
        if 4 * n >= m:
            return super().gram(X)
        gram = Gram(factor=np.ascontiguousarray(X))
        with np.errstate(over="ignore", invalid="ignore"):
            self.finite(gram.diagonal[:, None])
        return gram


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (gamma <x, z> + coef0)^degree; coef0 = 0 is the homogeneous one."""

    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0

    name = "polynomial"
    positive = frozenset({"gamma", "degree"})

    @property
    def always_psd(self) -> bool:
        """For whole degrees and coef0 >= 0: a sum of products of linear kernels."""
        return float(self.degree).is_integer() and self.coef0 >= 0.0

    @property
    def roughness(self) -> tuple[float, ...]:
        """By degree, then gamma."""
        return (1.0, self.degree, self.gamma, -self.coef0)

    def dimension(self, n: int) -> int | None:
        """How many monomials it weighs, for whole degrees.

        All of degree at most ``degree``, binom(n + degree, degree); the homogeneous
        kernel (coef0 = 0) those of that degree alone, binom(n + degree - 1, degree).
        """
        if not float(self.degree).is_integer():
            return None
        degree = int(self.degree)
        return math.comb(n + degree - (self.coef0 == 0.0), degree)

    def between(self, X: Floats, Z: Floats) -> Floats:
        """(gamma <x, z> + coef0)^degree for the rows of X and of Z."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _power(_affine(X, Z, self.gamma, self.coef0), self.degree)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(gamma <x, z> + coef0), not positive semi-definite in general."""

    gamma: float = 1.0
    coef0: float = 0.0

    name = "sigmoid"
    approximable = False
    positive = frozenset({"gamma"})

    @property
    def always_psd(self) -> bool:
        """Never certain: each Gram matrix has to be tested."""
        return False

    @property
    def roughness(self) -> tuple[float, ...]:
        """By gamma, after every Gaussian."""
        return (3.0, self.gamma, self.coef0)

    def between(self, X: Floats, Z: Floats) -> Floats:
        """tanh(gamma <x, z> + coef0) for the rows of X and of Z."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = _affine(X, Z, self.gamma, self.coef0)
            return np.asarray(np.tanh(K, out=K))


def _affine(X: Floats, Z: Floats, gamma: float, coef0: float) -> Floats:
    """gamma <x, z> + coef0 for the rows of X and of Z."""
    K = X @ Z.T
    K *= gamma
    K += coef0
    return np.asarray(K)


def _power(K: Floats, degree: float) -> Floats:
    """K^degree; by squaring where the degree is whole, ten times as fast as pow."""
    if not float(degree).is_integer():
        return np.asarray(K**degree)
    if degree == 1:
        return K
    root = _power(K, degree // 2)
    square = root * root
    return square * K if degree % 2 else square
