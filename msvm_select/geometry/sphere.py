"""Points put on one sphere at once: the linear system of the ball's block exchange.

    K_SS beta_S = 1/2 diag(K)_S + nu 1,   sum beta_S = 1

K + t 11' has the same solutions for any t (nu takes the rest); with t = max K_ii the
vector 1, on which all hangs, is well within its range, whatever K is.
"""

from __future__ import annotations

import numpy as np

from msvm_select import lapack
from msvm_select.records import Floats, Ints, Mask

SPHERE_RIDGE = 1e-12  # of max K_ii
REFACTOR = 6  # drop up to this part of the points without a new factor


def on_sphere(
    K: Floats, diagonal: Floats, near: Floats, S: Mask, factor: Factor | None
) -> tuple[Floats | None, Factor | None]:
    """beta that puts the points S on one sphere, those with beta < 0 dropped.

    None where there is none; with the last factor, which may serve again.
    """
    while S.any():
        if factor is None or not factor.serves(S):
            factor = Factor(K, diagonal, near, S)
        beta = factor.solved(S) if factor.usable else None
        if beta is None:
            break
        negative = beta < 0.0
        if not negative.any():
            return beta / beta.sum(), factor
        S = S & ~negative
    return None, factor


class Factor:
    """K_SS factored for some S; it serves a few points fewer too.

    beta_J = 0 for those that are missing costs the columns J of the inverse.  A ridge
    keeps the factor of a singular K; since it pulls towards the beta where we stand,
    and not to 0, it does not move the answer.
    """

    def __init__(self, K: Floats, diagonal: Floats, near: Floats, S: Mask) -> None:
        """``near`` (m,) is the beta where we stand."""
        self.rows = rows = np.flatnonzero(S)
        n = rows.size
        A = K.copy() if n == S.size else K[np.ix_(rows, rows)]
        scale = float(np.abs(diagonal).max())
        ridge = SPHERE_RIDGE * scale
        A += scale
        A[np.diag_indices(n)] += ridge
        self.factor, info = lapack.dpotrf(A.T, lower=1, overwrite_a=1, clean=0)
        self.usable = info == 0
        right = np.ones((n, 2), order="F")
        right[:, 1] = 0.5 * diagonal[rows] + ridge * near[rows]
        self.whole = self._solve(right)
        self.made = np.empty(0, np.int64)
        self.columns = np.empty((n, 0), order="F")

    def serves(self, S: Mask) -> bool:
        """Whether all of S is factored, and little more."""
        size = int(S.sum())
        spare = self.rows.size - size
        return bool(S[self.rows].sum() == size and REFACTOR * spare <= size)

    def solved(self, S: Mask) -> Floats | None:
        """beta (m,) with sum 1 and 0 outside of S; None where there is none."""
        J = np.flatnonzero(~S[self.rows])
        UV = self.whole
        if J.size:
            X = self._columns_of(J)
            UV = UV - X @ np.linalg.solve(X[J], UV[J])
            UV[J] = 0.0
        one, half = UV.sum(axis=0)
        if not one > 0.0:
            return None
        beta = np.zeros(S.size)
        beta[self.rows] = UV[:, 1] + UV[:, 0] * ((1.0 - half) / one)
        return beta

    def _columns_of(self, J: Ints) -> Floats:
        """The columns J of the inverse, made once."""
        more = np.setdiff1d(J, self.made)
        if more.size:
            unit = np.zeros((self.rows.size, more.size), order="F")
            unit[more, np.arange(more.size)] = 1.0
            self.made = np.concatenate([self.made, more])
            self.columns = np.hstack([self.columns, self._solve(unit)])
        order = np.argsort(self.made)
        at = order[np.searchsorted(self.made, J, sorter=order)]
        return np.asarray(self.columns[:, at])

    def _solve(self, right: Floats) -> Floats:
        solution, _ = lapack.dpotrs(self.factor, right, lower=1)
        return np.asarray(solution)
