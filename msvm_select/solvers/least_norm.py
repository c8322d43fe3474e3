"""Of all alpha that are optimal, the one of least norm.

The outputs F are unique at the optimum, alpha need not be: where a point stands twice,
or where a kernel of few dimensions has more variables on the margin than it can tell
apart, the optimal alpha fill a polytope. Which of its points a solver meets depends on
the order of the rows, and with it the number of support vectors, D, K and every bound.
Every one of them is an optimum, so each bound holds with any of them; the one of least
norm is the same for every solver and every order of the rows.

Let Z be the variables that may move: r = g - (b_{y_i} - b_k) is 0. All others sit at
their bound in every optimum. With H + s A A' = L L' on Z (a pivoted Cholesky factor, A
the rows e_{y_i} - e_k), the optima are

    { x : L'x = L'alpha_Z,  0 <= x <= C },

a single point where L has full rank. Else its point of least norm is x = clip(B u),
with B an orthonormal basis of the columns of L and u the multipliers of L'x: a small
concave problem, solved by Newton's method with an exact line search.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from msvm_select import lapack
from msvm_select.geometry.arcs import Arcs
from msvm_select.records import DEPENDENT, Dual, Floats, Gram, Ints
from msvm_select.solution import Solution
from msvm_select.solvers.base import RESIDUE

ON_THE_MARGIN = 1e-7  # |r| below it is 0
WHOLE = 2000  # samples up to which K is looked at once for all values of C
MOST_LOOSE = 4000  # variables on the margin beyond which alpha stays as it was found
STILL_EXACT = 1e-9  # a gap that is not worth the old alpha
MOVES = 1e-9  # of the outputs: an alpha that changes them by more is not taken
AT_ONCE = 1e9  # multiplications in one call
BY_NONE = 1e-9  # a share below it is rounding
MOST_SEARCHES = 200
DAMPING = 1e-12
SETTLED = 1e-13


def least_norm(found: Solution) -> Solution:
    """``found`` with the alpha of least norm; itself where alpha is unique.

    What missed its gap, or is too rough to tell which variables may move, stays.
    """
    dual = found.dual
    if not found.converged or _tells_all_apart(dual.gram):
        return found
    r, scale = _slopes(found)
    inside = (found.alpha > 0.0) & (found.alpha < dual.C)
    loose = inside | (np.abs(r) <= ON_THE_MARGIN * scale)
    loose[np.arange(dual.m), dual.y] = False
    rough = float(np.abs(r[inside]).max(initial=0.0)) > ON_THE_MARGIN * scale
    rows, heads = np.nonzero(loose)
    if rough or not 0 < rows.size <= MOST_LOOSE or _independent(dual.gram, rows):
        return found
    free, basis = _basis(dual, rows, heads)
    if free.size == 0:
        return found
    start = found.alpha[rows[free], heads[free]]
    unit = float(found.alpha.max()) or dual.C
    x = nearest_to_zero(basis, start / unit, dual.C / unit)
    if x is None:
        return found
    alpha = found.alpha.copy()
    alpha[rows[free], heads[free]] = np.where(x >= dual.C / unit, dual.C, unit * x)
    return _accepted(found, alpha, scale)


def _slopes(found: Solution) -> tuple[Floats, float]:
    """r (m, Q), and what is large for it: 1, or less at a small C."""
    dual = found.dual
    b = np.where(np.isfinite(found.b), found.b, np.inf)
    with np.errstate(invalid="ignore"):
        r = found.gradient - b[dual.y][:, None] + b
    scale = min(1.0, dual.C * float(dual.gram.diagonal.max(initial=0.0)))
    return np.asarray(r), max(scale, ON_THE_MARGIN)


def _tells_all_apart(gram: Gram) -> bool:
    """Whether all Phi(x_i) are independent: alpha is unique whatever the C."""
    return gram.factor is None and gram.m <= WHOLE and gram.positive_definite


def _independent(gram: Gram, rows: Ints) -> bool:
    """Whether the Phi(x_i) of these samples are."""
    return gram.factor is None and gram.part(np.unique(rows)).positive_definite


def _basis(dual: Dual, rows: Ints, heads: Ints) -> tuple[Ints, Floats]:
    """Which variables can move at all, and B (free, q) for them.

    No directions: none can.
    """
    A = Arcs(rows, dual.y[rows], heads).incidence(dual.Q)
    size = float(dual.gram.diagonal.max(initial=0.0))
    H = (dual.gram.block(rows, rows) + size) * (A @ A.T)
    packed, order, rank, _ = lapack.dpstrf(H, tol=DEPENDENT * size, lower=1)
    n, order = rows.size, order - 1
    if rank == n:
        return np.empty(0, np.int64), np.empty((0, 0))
    L = np.zeros((n, rank))
    L[order] = np.tril(packed)[:, :rank]
    # each dependent variable is written by some of those that the factor kept
    kept, free = order[:rank], np.ones(n, np.bool_)
    free[kept] = False
    few = max(1, int(AT_ONCE // (rank + 1) ** 2))  # scipy keeps Python's lock meanwhile
    for first in range(rank, n, few):
        right = L[order[first : first + few]].T
        by_kept = solve_triangular(L[kept], right, lower=True, trans=1)
        free[kept] |= np.abs(by_kept).max(axis=1) > BY_NONE
    chosen = np.flatnonzero(free)
    left, sizes, _ = np.linalg.svd(L[chosen], full_matrices=False)
    return chosen, left[:, : chosen.size - (n - rank)] if sizes.size else left


def nearest_to_zero(basis: Floats, start: Floats, top: float) -> Floats | None:
    """The least x with B'x = B'start and 0 <= x <= top; B (n, q) is orthonormal.

    max_u c'u - sum_a phi((B u)_a), phi' = clip, c = B'start. None where it does not
    end.
    """
    c = basis.T @ start
    u = c.copy()
    enough = SETTLED * max(1.0, float(np.abs(c).max(initial=0.0)))
    for _ in range(MOST_SEARCHES):
        Bu = basis @ u
        x = np.clip(Bu, 0.0, top)
        slope = c - basis.T @ x
        inside = (Bu > 0.0) & (Bu < top)
        some = basis[inside]
        if float(np.abs(slope).max(initial=0.0)) <= enough:
            x[inside] += np.linalg.lstsq(some.T, slope, rcond=1e-10)[0]  # last digits
            low, high = x < RESIDUE, x > top - RESIDUE
            return np.where(low, 0.0, np.where(high, top, x))
        curve = some.T @ some
        curve[np.diag_indices_from(curve)] += DAMPING
        step = np.linalg.solve(curve, slope)
        u = u + _length(Bu, basis @ step, float(c @ step), top) * step
    return None


def _length(Bu: Floats, Bs: Floats, gain: float, top: float) -> float:
    """t > 0 at which c's - (B s)' clip(B u + t B s), which falls with t, is 0.

    It is linear between the values of t at which some variable meets a bound.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        meets = np.concatenate([-Bu / Bs, (top - Bu) / Bs])
    stops = np.unique(meets[np.isfinite(meets) & (meets > 0.0)])

    def slope(t: float) -> float:
        return gain - float(Bs @ np.clip(Bu + t * Bs, 0.0, top))

    low, high = -1, stops.size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if slope(stops[middle]) > 0.0 else (low, middle)
    a = float(stops[low]) if low >= 0 else 0.0
    b = float(stops[high]) if high < stops.size else 2.0 * a + 1.0
    at_a, at_b = slope(a), slope(b)
    return a + (b - a) * at_a / (at_a - at_b) if at_a > at_b else b


def _accepted(found: Solution, alpha: Floats, scale: float) -> Solution:
    """The machine of alpha, if it is the same machine; else the one that was found."""
    dual = found.dual
    tau = -alpha
    tau[np.arange(dual.m), dual.y] += alpha.sum(axis=1)
    F = dual.gram.product(tau)
    again = replace(found, tau=tau, F=F)
    moved = float(np.abs(F - found.F).max(initial=0.0))
    largest = max(scale, float(np.abs(found.F).max(initial=0.0)))
    worse = again.gap > max(2.0 * found.gap, STILL_EXACT)
    return found if moved > MOVES * largest or worse else again
