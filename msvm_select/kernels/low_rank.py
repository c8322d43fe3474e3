"""A kernel in so few dimensions: K ~ Z Z', by Cholesky with pivots (Nystroem).

Of the m samples the pivots P are chosen one after another, each where the diagonal of
what is left of K,  K - K[:, P] K[P, P]^-1 K[P, :],  is the largest. With K[P, P] = L L'
a sample x has the features

    phi(x) = L^-1 k(P, x),  and  k~(x, z) = phi(x)'phi(z)

is positive semi-definite, equal to k where x or z is a pivot, and never above k on the
diagonal. The error is the trace of what is left by the trace of K; no entry of what is
left is larger than the largest of its diagonal. The features belong to all samples, as
their scaling does: the pivots stay when a sample is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.kernels.base import Kernel
from msvm_select.names import KERNELS
from msvm_select.records import DEPENDENT, Factored, Floats, Gram, Ints, Remade

VALUES_AT_ONCE = 2**22  # kernel values that are computed together
WHOLE_UP_TO = 2000  # samples: the columns of the pivots are then read from all of K
FEW_FEATURES = 16  # features up to which the m x m matrix is not built


@dataclass(frozen=True, eq=False)
class Pivots:
    """What is kept of K: the pivots, by number and as ``points``, and L.

    ``error`` is the trace of what is left by that of K, ``residual`` the largest entry
    of what is left.
    """

    rows: Ints
    points: Floats
    L: Floats
    error: float
    residual: float

    @property
    def rank(self) -> int:
        """How many there are: fewer than asked for where nothing more is left."""
        return int(self.rows.size)


@dataclass(frozen=True)
class LowRank(Kernel):
    """``base`` in at most ``rank`` dimensions, which are those of some samples ``X``.

    It has the name and the parameters of ``base``, and ``low_rank``. Before ``on`` was
    told the samples it is only a setting.
    """

    base: Kernel
    rank: int
    X: Floats | None = field(default=None, compare=False, repr=False)

    name = ""

    def __post_init__(self) -> None:
        """Refuse a kernel whose matrix need not be positive semi-definite."""
        if not self.base.always_psd:
            raise SettingsError(
                f"low_rank: {self.base} is not positive semi-definite by theory, so "
                "that no product Z Z' comes near it: leave out --rank."
            )
        for told in ("name", "of", "is_vector_kernel"):
            object.__setattr__(self, told, getattr(self.base, told))

    @property
    def parameters(self) -> dict[str, float]:
        """Those of the kernel, and how many dimensions were asked for."""
        return {**self.base.parameters, "low_rank": self.rank}

    @property
    def roughness(self) -> tuple[float, ...]:
        """As that of the kernel; fewer dimensions are smoother."""
        return (*self.base.roughness, float(self.rank))

    @property
    def facts(self) -> dict[str, Any]:
        """How many dimensions there are in the end, and how near to K they come."""
        found = self.pivots
        return {
            "rank_used": found.rank,
            "rank_error": found.error,
            "rank_residual": found.residual,
        }

    def on(self, X: Floats) -> LowRank:
        """The same on these samples, whose pivots are found when they are needed."""
        return LowRank(self.base, self.rank, X)

    @cached_property
    def pivots(self) -> Pivots:
        """Those of the samples."""
        assert self.X is not None
        return pivots_of(self.base, self.X, self.rank)

    def __getstate__(self) -> dict[str, Any]:
        """To another process the samples go only where it has to find the pivots."""
        held = dict(self.__dict__)
        return held | {"X": None} if "pivots" in held else held

    def dimension(self, n: int) -> int:
        """How many features there are."""
        is_known = self.X is not None or "pivots" in self.__dict__
        return self.pivots.rank if is_known else self.rank

    def features(self, X: Floats) -> Floats:
        """phi of the rows of X, (m, r)."""
        from scipy.linalg import solve_triangular

        found = self.pivots
        Z = np.empty((X.shape[0], found.rank))
        step = max(1, VALUES_AT_ONCE // max(1, found.rank))
        for first in range(0, X.shape[0] if found.rank else 0, step):
            rows = slice(first, first + step)
            K = self.base.between(X[rows], found.points)
            Z[rows] = solve_triangular(found.L, K.T, lower=True).T
        return Z

    def between(self, X: Floats, Z: Floats) -> Floats:
        """k~ of the rows of X and of Z."""
        left = self.features(X)
        right = left if X is Z else self.features(Z)
        return np.asarray(left @ right.T)

    def gram(self, X: Floats) -> Gram:
        """Z Z', as its factor where that is thin."""
        Z = self.features(X)  # no entry is larger than those of K on its diagonal
        if Z.shape[1] <= FEW_FEATURES and 4 * Z.shape[1] < Z.shape[0]:
            return Gram(factor=Z)
        return Remade.of_features(Z)

    def in_blocks(self, X: Floats) -> Gram:
        """Z Z' held as Z, and computed where it is needed."""
        return Factored(X=self.features(X))

    def expansion(self, w: Floats) -> Floats:
        """beta (r, .) with  w'phi(x) = sum_p beta_p k(p, x)  over the pivots p."""
        from scipy.linalg import solve_triangular

        L = self.pivots.L
        return np.asarray(solve_triangular(L, w, lower=True, trans="T"))


def kernel_of(name: str, parameters: Mapping[str, float]) -> Kernel:
    """The kernel of this name, in few dimensions where ``low_rank`` says so."""
    own = {k: v for k, v in parameters.items() if k != "low_rank"}
    kernel, rank = KERNELS[name](**own), parameters.get("low_rank")
    return kernel if rank is None else LowRank(kernel, int(rank))


def pivots_of(kernel: Kernel, X: Floats, rank: int) -> Pivots:
    """At most ``rank`` pivots among the rows of X; it ends where nothing is left."""
    m = X.shape[0]
    K = kernel.gram(X).matrix if m <= WHOLE_UP_TO else None
    left = _diagonal(kernel, X) if K is None else K.diagonal().copy()
    kernel.finite(left[:, None])
    whole, least = float(left.sum()), DEPENDENT * float(left.max(initial=0.0))
    most = min(rank, m)
    G, rows = np.empty((most, m)), np.empty(most, dtype=np.int64)
    r = 0
    while r < most:
        p = int(np.argmax(left))
        if left[p] <= least:
            break
        column = kernel.between(X, X[p : p + 1])[:, 0] if K is None else K[p]
        G[r] = (column - G[:r, p] @ G[:r]) / np.sqrt(left[p])
        rows[r] = p
        left -= G[r] ** 2
        np.maximum(left, 0.0, out=left)
        left[rows[: r + 1]] = 0.0
        r += 1
    chosen = rows[:r]
    L = np.tril(G[:r, chosen].T)
    error = float(left.sum()) / whole if whole > 0.0 else 0.0
    return Pivots(chosen, X[chosen], L, error, float(left.max(initial=0.0)))


def _diagonal(kernel: Kernel, X: Floats) -> Floats:
    """k(x, x) of each row of X."""
    return np.array([kernel.between(x[None], x[None])[0, 0] for x in X])
