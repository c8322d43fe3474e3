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

    { x : L'x = L'alpha_Z,  0 <= x <= C_i },

a single point where L has full rank. Else its point of least norm is x = clip(B u),
with B an orthonormal basis of the columns of L and u the multipliers of L'x: a small
concave problem, solved by Newton's method with an exact line search.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import solve_triangular

from msvm_select import lapack
from msvm_select.geometry.arcs import Arcs
from msvm_select.parts import FACTS, Parts, Told
from msvm_select.records import DEPENDENT, Blocks, Floats, Gram, Ints, Mask
from msvm_select.solution import Solution
from msvm_select.solvers.base import RESIDUE
from msvm_select.solvers.two_class.dependent import dependent

ON_THE_MARGIN = 1e-7  # |r| below it is 0
WHOLE = 2000  # samples up to which K is looked at once for all values of C
FEW_LOOSE = 0.4  # of the samples: less than that are looked at for each C
OFTEN_WHOLE = 500  # and up to which the samples that depend on others are looked for
MOST_LOOSE = 4000  # variables on the margin beyond which alpha stays as it was found
SURE = 100.0  # times DEPENDENT: a pivot beyond it is looked at no further
STILL_EXACT = 1e-9  # a gap that is not worth the old alpha
MOVES = 1e-9  # of the outputs: an alpha that changes them by more is not taken
AT_ONCE = 1e9  # multiplications in one call
BY_NONE = 1e-9  # a share below it is rounding
SOME = 256  # rows at a time
MOST_SEARCHES = 200
DAMPING = 1e-12
SETTLED = 1e-12
NO_LOWER = 100.0  # times that: where it no longer falls, the rest is rounding
_entangled_of: WeakKeyDictionary[Gram, Mask] = WeakKeyDictionary()


def least_norm(found: Solution) -> Solution:
    """``found`` with the alpha of least norm; itself where alpha is unique.

    What missed its gap, or is too rough to tell which variables may move, stays.
    """
    dual = found.dual
    few = np.count_nonzero(found.alpha.any(axis=1)) < FEW_LOOSE * dual.m
    if not found.converged or not few and tells_all_apart(dual.gram):
        return found
    r, scale = _slopes(found)
    inside = (found.alpha > 0.0) & (found.alpha < dual.box[:, None])
    loose = inside | (np.abs(r) <= ON_THE_MARGIN * scale)
    loose[np.arange(dual.m), dual.y] = False
    if not few:
        loose[~_ever_entangled(dual.gram)] = False
    rough = float(np.abs(r[inside]).max(initial=0.0)) > ON_THE_MARGIN * scale
    rows, heads = np.nonzero(loose)
    if rough or not 0 < rows.size <= MOST_LOOSE or _independent(dual.gram, rows):
        return found
    size = float(dual.gram.diagonal.max(initial=0.0)) or 1.0  # K may be 0
    some = _entangled(dual.gram, rows, size)
    rows, heads = rows[some], heads[some]
    if not rows.size:
        return found
    A = Arcs(rows, dual.y[rows], heads).incidence(dual.Q)
    H = dual.gram.block(rows, rows)
    H += size
    for first in range(0, rows.size, SOME):  # no second matrix beside this one
        H[first : first + SOME] *= A[first : first + SOME] @ A.T
    x = _least(H, size, found.alpha[rows, heads], dual.box[rows])
    if x is None:
        return found
    alpha = found.alpha.copy()
    alpha[rows, heads] = x
    return _accepted(found, alpha, scale)


def least_norm_of_parts(parts: Parts, told: Told, walked: Mask) -> None:
    """The same of every two-class part, in the tables of ``told``.

    There f is towards the first class of a part. A path ends with variables inside
    their box that are independent: of a part that ``walked`` (count,) along one, only
    a variable at its bound can make them dependent. The quadratic loss makes K
    definite.
    """
    if parts.ridged:
        return
    rows, column, positive = parts.places
    starts, begins = parts.flat[1], parts.flat[1][:-1]
    sign, alpha = np.where(positive, 1.0, -1.0), told.alpha[rows, column]
    e = 1.0 - sign * told.f[rows, column]
    largest = float(parts.gram.diagonal.max(initial=0.0)) or 1.0
    box = parts.box[rows]
    scale = max(min(1.0, 0.5 * float(box.max()) * largest), ON_THE_MARGIN)
    near = np.abs(e) <= ON_THE_MARGIN * scale
    inside = (alpha > 0.0) & (alpha < box)
    open_ones = np.logical_or.reduceat(near & ~inside, begins) | ~walked
    open_ones &= ~np.logical_or.reduceat(inside & ~near, begins)  # too rough to tell
    loose = np.flatnonzero(near & np.repeat(open_ones, np.diff(starts)))
    ends = np.searchsorted(loose, starts)
    for t in _dependent_parts(parts.gram, rows[loose], ends, largest):
        Z = loose[ends[t] : ends[t + 1]]
        H = (parts.gram.block(rows[Z], rows[Z]) + largest) * np.outer(sign[Z], sign[Z])
        x = _least(H, largest, alpha[Z], box[Z])
        if x is None or Z.size > MOST_LOOSE:
            continue
        own, change = slice(starts[t], starts[t + 1]), x - alpha[Z]
        moved = np.flatnonzero(change)
        by = parts.gram.block(rows[own], rows[Z[moved]]) @ (sign[Z] * change)[moved]
        gain = float(change @ e[Z] - 0.5 * (sign[own] * by)[Z - starts[t]] @ change)
        total, square, b = told.facts[
            t, [FACTS.index(n) for n in ("sum", "square", "b")]
        ]
        F = np.abs(told.f[rows[own], column[own]] - b).max()
        most = STILL_EXACT * max(1.0, abs(total - 0.5 * square))
        if np.abs(by).max() > MOVES * max(scale, F) or abs(gain) > most:
            continue
        alpha[Z] = x
        told.alpha[rows[Z], column[Z]] = x
        up = np.where(positive[own], alpha[own] < box[own], alpha[own] > 0.0)
        down = np.where(positive[own], alpha[own] > 0.0, alpha[own] < box[own])
        slope = sign[own] * e[own]
        width = slope[down].min(initial=np.inf) - slope[up].max(initial=-np.inf)
        room = np.where(e[own] > 0.0, box[own] - alpha[own], alpha[own])
        worst = np.minimum(np.abs(e[own]), room).max()
        told.facts[t, [FACTS.index("width"), FACTS.index("kkt")]] = width, worst


def _dependent_parts(gram: Gram, rows: Ints, ends: Ints, largest: float) -> Ints:
    """Of which parts the Phi(x_i), i in rows[ends[t] : ends[t + 1]], may be so."""
    found = np.zeros(ends.size - 1, dtype=np.bool_)
    least = SURE * DEPENDENT * largest
    if not isinstance(gram, Blocks):
        dependent(gram.matrix, rows, ends, largest, least, found)
        return np.flatnonzero(found)
    for t in np.flatnonzero(np.diff(ends) > 1):
        K = gram.of(rows[ends[t] : ends[t + 1]]).matrix
        at, whole = np.arange(K.shape[0]), np.array([0, K.shape[0]])
        dependent(K, at, whole, largest, least, found[t : t + 1])
    return np.flatnonzero(found)


def _least(H: Floats, size: float, alpha: Floats, box: Floats) -> Floats | None:
    """The least x, 0 <= x <= box, with H x = H alpha; None where alpha stays.

    ``size``: the largest K_ii.
    """
    free, basis = _basis(H, size)
    if free.size == 0:
        return None
    unit = float(alpha.max()) or float(box.max())
    top = box[free] / unit
    least = nearest_to_zero(basis, alpha[free] / unit, top)
    if least is None:
        return None
    x = alpha.copy()
    x[free] = np.where(least >= top, box[free], unit * least)
    return x


def _slopes(found: Solution) -> tuple[Floats, float]:
    """r (m, Q), and what is large for it: 1, or less at a small C."""
    dual = found.dual
    b = np.where(np.isfinite(found.b), found.b, np.inf)
    with np.errstate(invalid="ignore"):
        r = found.gradient - b[dual.y][:, None] + b
    scale = min(1.0, float(dual.box.max()) * float(dual.gram.diagonal.max(initial=0.0)))
    return np.asarray(r), max(scale, ON_THE_MARGIN)


def tells_all_apart(gram: Gram) -> bool:
    """Whether all Phi(x_i) are independent: alpha is unique whatever the C."""
    looked_at = gram.m <= WHOLE and not isinstance(gram, Blocks)
    return gram.factor is None and looked_at and gram.positive_definite


def _independent(gram: Gram, rows: Ints) -> bool:
    """Whether the Phi(x_i) of these samples are."""
    return gram.factor is None and gram.part(np.unique(rows)).positive_definite


def _dependence(H: Floats, least: float) -> tuple[Ints, Ints, Floats]:
    """Variables whose rows of H are independent, the others, and these by the former.

    ``others`` are W' ``kept``; a pivot below ``least`` is 0. H is used up.
    """
    packed, pivots, rank, _ = lapack.dpstrf(H.T, tol=least, lower=1, overwrite_a=1)
    factor, n = np.asfortranarray(packed[:rank, :rank]), pivots.size
    order: Ints = pivots.astype(np.int64) - 1
    W = np.empty((rank, n - rank))
    few = max(1, int(AT_ONCE // (rank + 1) ** 2))  # scipy keeps Python's lock meanwhile
    for first in range(rank, n, few):
        right = packed[first : first + few, :rank].T
        W[:, first - rank : first - rank + few] = solve_triangular(
            factor, right, lower=True, trans=1
        )
    return order[:rank], order[rank:], W


def _entangled(gram: Gram, rows: Ints, size: float) -> Mask:
    """Which of these variables have samples that depend on others.

    H x = 0 and A'x = 0 mean that tau of each class is in the null space of K, and
    sums to 0. Samples that have no part in it keep their alpha.
    """
    samples, at = np.unique(rows, return_inverse=True)
    K = gram.block(samples, samples)
    K += size
    kept, others, W = _dependence(K, SURE * DEPENDENT * size)
    found = np.zeros(samples.size, np.bool_)
    found[others] = True
    found[kept] = np.abs(W).max(axis=1, initial=0.0) > BY_NONE
    return np.asarray(found[at])


def _ever_entangled(gram: Gram) -> Mask:
    """Which samples depend on others, if not on the margin only: the same for all C.

    What depends on some samples depends on all, so nobody else does on the margin.
    """
    if gram.factor is not None or isinstance(gram, Blocks) or gram.m > OFTEN_WHOLE:
        return np.ones(gram.m, np.bool_)
    if gram not in _entangled_of:
        size = float(gram.diagonal.max(initial=0.0)) or 1.0
        _entangled_of[gram] = _entangled(gram, np.arange(gram.m), size)
    return _entangled_of[gram]


def _basis(H: Floats, size: float) -> tuple[Ints, Floats]:
    """Which variables can move at all, and B (free, q) for them; H is used up.

    No directions: none can.
    """
    kept, others, W = _dependence(H, DEPENDENT * size)
    if not others.size:
        return others, np.empty((0, 0))
    moved = np.abs(W).max(axis=1) > BY_NONE
    # the kept rows of L are independent, and all others follow from them
    by_kept = np.vstack([np.eye(int(np.count_nonzero(moved))), W[moved].T])
    return np.r_[kept[moved], others], np.linalg.qr(by_kept)[0]


def nearest_to_zero(basis: Floats, start: Floats, top: Floats) -> Floats | None:
    """The least x with B'x = B'start and 0 <= x <= top (n,); B (n, q) is orthonormal.

    max_u c'u - sum_a phi((B u)_a), phi' = clip, c = B'start. None where it does not
    end.
    """
    c = basis.T @ start
    u = c.copy()
    enough = SETTLED * max(1.0, float(np.abs(c).max(initial=0.0)))
    last = np.inf
    for _ in range(MOST_SEARCHES):
        Bu = basis @ u
        x = np.clip(Bu, 0.0, top)
        slope = c - basis.T @ x
        inside = (Bu > 0.0) & (Bu < top)
        some = basis[inside]
        worst = float(np.abs(slope).max(initial=0.0))
        if worst <= enough or last <= worst <= NO_LOWER * enough:
            x[inside] += np.linalg.lstsq(some.T, slope, rcond=1e-10)[0]  # last digits
            low, high = x < RESIDUE, x > top - RESIDUE
            return np.where(low, 0.0, np.where(high, top, x))
        last = worst
        curve = some.T @ some
        curve[np.diag_indices_from(curve)] += DAMPING
        step = np.linalg.solve(curve, slope)
        u = u + _length(Bu, basis @ step, float(c @ step), top) * step
    return None


def _length(Bu: Floats, Bs: Floats, gain: float, top: Floats) -> float:
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
