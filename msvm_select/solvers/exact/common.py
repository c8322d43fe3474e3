"""One inverse for all classes, where nearly every arc is free.

With a rough kernel most samples have all their arcs free. Were they all, with J these
samples and P = I - 11'/Q, the conditions of a face would read

    K_JJ D + 1 b' + lambda 1' = T,      D 1 = 0,      1'D = s',

and their solution takes R = K_JJ^-1 alone: with u = R 1 and G = R - u u' / (1'u),

    D = G T P + u s' / (1'u),           P b = (P T'u - s) / (1'u).

Those (i, k) that a bound holds are a set Z in which D is 0, by forces N on them:

    D = G (T + N) P + u s' / (1'u),     D_Z = 0,

a definite system of the size of Z, whose entry for (i, k) and (j, l) is
G_ij (delta_kl - 1/Q). The cost is |J|^3 + |Z|^3, and no class has a factor of its own.
While J loses samples, R serves on: all arcs of these belong to Z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select import lapack
from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solvers.compiled import kernel
from msvm_select.solvers.exact.classes import RIDGE_OF_TWINS, SHARP
from msvm_select.solvers.exact.thin import inverse_of

MOST_CORRECTED = 4
NO_SOLUTION = 1e-7  # of the gains: more that is left shows a K too near to singular
LARGEST_SYSTEM = 1e8  # that the system of Z may take


def common_operations(free: Mask, known: CommonFactor | None) -> float:
    """Multiplications that a solution takes, with the factor that is ``known``."""
    rows = float(np.count_nonzero(free.any(axis=0)))
    fresh = rows**3 / 2.0 + _of_held(free, rows)
    if known is None or not known.holds(free):
        return fresh
    return min(fresh, _of_held(free, float(known.rows.size)))


def _of_held(free: Mask, rows: float) -> float:
    held = rows * (free.shape[0] - 1) - float(np.count_nonzero(free))
    return held**3 / 6.0 + held**2 if held**2 <= LARGEST_SYSTEM else np.inf


@dataclass(frozen=True, eq=False)
class CommonFactor:
    """K and G among the samples ``rows``, u and its sum."""

    rows: Ints
    K: Floats
    G: Floats
    u: Floats
    total: float

    @classmethod
    def of(cls, gram: Gram, free: Mask, known: CommonFactor | None) -> CommonFactor:
        """That of the samples with a free arc, or the one known where it is cheaper."""
        rows = np.flatnonzero(free.any(axis=0))
        if known is not None and known.holds(free):
            anew = rows.size**3 / 2.0 + _of_held(free, float(rows.size))
            if _of_held(free, float(known.rows.size)) <= anew:
                return known
        K = gram.block(rows, rows)
        R = inverse_of(K, RIDGE_OF_TWINS * float(gram.diagonal.max(initial=0.0)), False)
        u = R.sum(axis=1)
        total = float(u.sum())
        if not total > 0.0:
            raise np.linalg.LinAlgError
        R -= np.outer(u, u / total)
        return cls(rows, K, R, u, total)

    def holds(self, free: Mask) -> bool:
        """Whether no other sample has a free arc."""
        return bool(
            np.count_nonzero(free.any(axis=0)) == free[:, self.rows].any(axis=0).sum()
        )

    def solve(
        self, y: Ints, free: Mask, g: Floats, imbalance: Floats
    ) -> tuple[Floats, Floats]:
        """The step of the free arcs (Q, m) for the gradient g, and b."""
        here, own = free[:, self.rows], (y[self.rows], np.arange(self.rows.size))
        held = ~here
        held[own] = False
        cols, at = held.nonzero()
        solve_held = _Held(self.G, cols, at, here.shape[0])
        rest, owed = np.where(here, g[:, self.rows], 0.0), -imbalance
        scale, last = float(np.abs(rest).max(initial=0.0)), np.inf
        tau, b = np.zeros(here.shape), np.zeros(here.shape[0])
        for _ in range(MOST_CORRECTED):
            more, level = self._once(solve_held, -rest, owed)
            more = np.where(here, more, 0.0)  # what rounding has left elsewhere
            more[own] = -more.sum(axis=0)
            tau, b, owed = tau + more, b + level, owed - more.sum(axis=1)
            F = more @ self.K
            rest -= np.where(here, F[own] - F + level[own[0]] - level[:, None], 0.0)
            worst = float(np.abs(rest).max(initial=0.0))
            if worst <= SHARP * scale or worst > 0.5 * last:
                break
            last = worst
        if worst > NO_SOLUTION * scale:
            raise np.linalg.LinAlgError
        step = np.zeros(free.shape)
        step[:, self.rows] = np.where(here, -tau, 0.0)
        return step, b

    def _once(self, solve_held: _Held, T: Floats, s: Floats) -> tuple[Floats, Floats]:
        """D (Q, rows) and b."""
        forces = T.copy()
        D = self._spread(T) + np.outer(s / self.total, self.u)
        solve_held.add(forces, D)
        D = self._spread(forces) + np.outer(s / self.total, self.u)
        pull = forces @ self.u
        return D, (pull - pull.mean() - s) / self.total

    def _spread(self, T: Floats) -> Floats:
        """G T P."""
        return np.asarray((T - T.mean(axis=0)) @ self.G)


class _Held:
    """The system of the forces N that hold D at 0 in (cols, at)."""

    def __init__(self, G: Floats, cols: Ints, at: Ints, Q: int) -> None:
        self.at = cols, at
        if at.size:
            S = np.empty((at.size, at.size))
            between_arcs(G, at, cols, 1.0 / Q, S)
            self.factor, info = lapack.dpotrf(S.T, lower=0, overwrite_a=1, clean=0)
            if info != 0:
                raise np.linalg.LinAlgError

    def add(self, forces: Floats, D: Floats) -> None:
        """forces += N, by what D is without them."""
        if self.at[0].size:
            found, _ = lapack.dpotrs(self.factor, -D[self.at], lower=0)
            forces[self.at] += found


@kernel
def between_arcs(G: Floats, rows: Ints, cols: Ints, share: float, out: Floats) -> None:
    """out_vw = G_ij (delta_kl - share) of the arcs v = (i, k) and w = (j, l)."""
    for v in range(rows.size):
        row, answer = out[v], G[rows[v]]
        for w in range(rows.size):
            row[w] = ((cols[v] == cols[w]) - share) * answer[rows[w]]
