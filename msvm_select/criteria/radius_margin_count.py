"""B*: the count of support vectors that could be errors of leave-one-out, proven.

Hard margin.  Let p be an error without itself, given the class n != y_p. With

    N_p  = min l'Hl   over circulations l, 0 <= l <= alpha, with l_p = alpha_p,
    V_pn = min v'Hv   over circulations v with v_pn = 1, no other arc of p, and
                      v_jl <= 0 on the arcs alpha_jl > 0 of the other samples,

the optimum W without p is near the full one, N_p >= ||W0||^2 - ||W||^2 >= ||W0 - W||^2
(alpha - l is feasible without p; (W0, b0) is, and W has the smallest norm), and yet
<W0 - W, v> >= 1 (1 and more by p; what v takes from the others can only add).  Hence
N_p V_pn >= 1, and

    L <= B* = #{ support vectors p : for some n, v does not exist or N_p V_pn >= 1 }.

A sample that is no support vector is lost only where b is not unique or where it is
alone in its class; its machine is known but for the biases, and it is judged by them.

v exists where a chain of arcs of other support vectors leads from y_p to n.  No
statement on the biases or on K is needed.  It takes programs in as many variables as
there are arcs (pairs i, k with alpha_ik > 0); most are spared by cheaper bounds,

    N_p <= M_p D^2,
    V_pn <= 2 min_j ||Phi(x_p) - Phi(x_j)||^2  over the j with y_j = y_p, alpha_jn > 0,

and each of the others begins at the arcs that the last one of its kind used.

N_p and V_pn ask how near a flow of the other support vectors comes to a sample:

    min_u || Phi(x_p) t - sum_a u_a Phi(x_a) d_a ||^2
    s.t.  sum_a u_a d_a = t,   0 <= u <= cap

over the arcs a = (x_i, y_i -> k) with alpha_ik > 0, i != p, where d_a = e_{y_i} - e_k
and t (Q,) sums to zero.  Nearly all arcs carry nothing at the optimum.  So it is found
over a few arcs, those near x_p and those that the last such program used, and over
more of them as long as one has a negative slope.  Each try is an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.criteria.box_qp import minimise
from msvm_select.criteria.radius_margin import (
    OverParts,
    RadiusMargin,
    over_parts,
    radius_margin_terms,
)
from msvm_select.errors import SolverError
from msvm_select.flow import centre
from msvm_select.left_out import Tell, quiet
from msvm_select.parts import Composed
from msvm_select.records import TIE, Floats, Ints, Mask
from msvm_select.solution import Solution

ONE = 1.0 - 1e-6  # of N_p V_pn: what is not below is counted
STEEP = 1e-10  # of ||t||^2 k(x_p, x_p): a slope that is worth another try
MORE = 40  # arcs that a try adds at most
LITTLE = 1e-6  # a flow that the next program need not begin with


@dataclass(frozen=True, eq=False)
class Counted:
    """B*: which samples are counted; of them support vectors without a chain (bridges)
    and samples that are none (idle); programs solved.
    """

    samples: Ints
    bridges: int
    idle: int
    programs: int

    @property
    def count(self) -> int:
        """B*."""
        return int(self.samples.size)


def count_removable(terms: RadiusMargin, tell: Tell = quiet) -> Counted:
    """B* of a machine whose bound applies; ``tell`` hears of the support vectors."""
    judge = _Judge(terms)
    samples, bridges = [], 0
    for done, p in enumerate(terms.flow.rows):
        tell(done, terms.flow.rows.size)
        found = judge.judged(int(p))
        bridges += found == BRIDGE
        if found != SAFE:
            samples.append(int(p))
    idle = lost_idle(terms.solution)
    counted = np.sort(np.array([*samples, *idle], np.int64))
    return Counted(counted, bridges, idle.size, judge.programs)


def lost_idle(solution: Solution) -> Ints:
    """Samples with alpha = 0 that are errors of leave-one-out all the same."""
    y, h = solution.dual.y, solution.F
    alone = np.bincount(y, minlength=solution.dual.Q)[y] == 1
    idle = ~solution.is_support_vector
    lost = idle & alone
    asked = idle & ~alone & (not solution.b_unique)
    for p in np.flatnonzero(asked):
        kept = np.arange(y.size) != p
        b = centre(
            solution.alpha[kept], solution.gradient[kept], y[kept],
            solution.dual.box[kept],
        ).b  # fmt: skip
        others = np.delete(h[p] + b, y[p])
        lost[p] = not h[p, y[p]] + b[y[p]] > others.max() + TIE
    return np.flatnonzero(lost)


SAFE, POSSIBLE, BRIDGE = range(3)


class _Judge:
    """Says of each support vector whether it could be an error of leave-one-out."""

    def __init__(self, terms: RadiusMargin) -> None:
        self.arcs = Arcs(terms.solution)
        self.y, self.Q = terms.solution.dual.y, terms.solution.dual.Q
        most = terms.flow.at_most * terms.diameter**2
        self.most = dict(zip(terms.flow.rows.tolist(), most.tolist(), strict=True))
        self.used: dict[tuple[int, ...], Mask] = {}
        self.programs = 0

    def judged(self, p: int) -> int:
        """Whether p could be an error of leave-one-out."""
        others = self.arcs.rows != p
        against = np.delete(np.arange(self.Q), self.y[p])
        if not self._reached(others, int(self.y[p]))[against].all():
            return BRIDGE
        near = self._nearest(p, others)
        farthest = float(near[against].max())
        most = self.most[p]
        if most * farthest >= ONE:
            most = min(most, self._removal(p, others, ONE / farthest))
        if most <= 0.0:  # others are where p is, and give back all of it
            return SAFE
        for n in against[np.argsort(-near[against])]:
            if (
                most * near[n] >= ONE
                and most * self._return(p, int(n), others, ONE / most) >= ONE
            ):
                return POSSIBLE
        return SAFE

    def _reached(self, others: Mask, start: int) -> Mask:
        """Which classes a chain of the other arcs leads to."""
        step = np.zeros((self.Q, self.Q), np.bool_)
        step[self.arcs.tails[others], self.arcs.heads[others]] = True
        reached = np.zeros(self.Q, np.bool_)
        reached[start] = True
        for _ in range(self.Q):
            reached |= step[reached].any(axis=0)
        return reached

    def _nearest(self, p: int, others: Mask) -> Floats:
        """(Q,) 2 min_j ||Phi(x_p) - Phi(x_j)||^2 over the arcs y_p -> n of others."""
        same = np.flatnonzero(others & (self.arcs.tails == self.y[p]))
        near = np.full(self.Q, np.inf)
        squares = 2.0 * self.arcs.squared_distances(p)[same]
        np.minimum.at(near, self.arcs.heads[same], squares)
        return near

    def _removal(self, p: int, others: Mask, enough: float) -> float:
        """N_p: what the others give back of alpha_p, as near to x_p as they can.

        No arc carries more than sqrt(Q) times the sum of alpha_p; where that is not so
        the cap still leaves an upper bound.
        """
        own = ~others
        t = -self.arcs.alpha[own] @ self.arcs.directions[own]
        size = float(self.arcs.alpha[own].sum())
        cap = np.where(others, np.minimum(self.arcs.alpha / size, np.sqrt(self.Q)), 0.0)
        square = self._least(p, t / size, cap, enough / size**2, (int(self.y[p]),))
        return size**2 * square

    def _return(self, p: int, n: int, others: Mask, enough: float) -> float:
        """V_pn: v = e_pn - u, u >= 0 a flow of the others from y_p to n."""
        t = np.eye(self.Q)[self.y[p]] - np.eye(self.Q)[n]
        cap = np.where(others, np.inf, 0.0)
        return self._least(p, t, cap, enough, (int(self.y[p]), n))

    def _least(
        self, p: int, t: Floats, cap: Floats, enough: float, kind: tuple[int, ...]
    ) -> float:
        """A program, begun at the arcs that the last one of its kind used.

        One that has no answer to the last digit says nothing: what is then counted
        for safety can only raise the bound.
        """
        self.programs += 1
        try:
            flow = nearest_flow(self.arcs, p, t, cap, enough, self.used.get(kind))
        except SolverError:
            return np.inf
        self.used[kind] = flow.used
        return flow.square


@dataclass(frozen=True, eq=False)
class Carried:
    """The last C's terms, and B* where it was counted."""

    terms: RadiusMargin | None
    count: int | None


class RadiusMarginCount(Criterion):
    """B*, only where the bound applies; else nothing."""

    name = "radius-margin-count"
    column = "radius_margin_count"
    kind = "bound"
    applies = "hard margin (every alpha < C); with l2 always"
    cost = "small quadratic programs for each support vector"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The count; beyond hard margin that of the last C."""
        if isinstance(cell.solution, Composed):
            return self._over_parts(cell, carry)
        last = carry if isinstance(carry, Carried) else Carried(None, None)
        terms = radius_margin_terms(cell, last.terms)
        if terms is None or not terms.applicable:
            none = {self.column: None, "radius_margin_applicable": False}
            return Score(none, Carried(terms or last.terms, None))
        same = last.terms is not None and last.terms.solution.tau is cell.solution.tau
        count = last.count if same else None
        if count is None:
            count = count_removable(terms, cell.tell).count
        found = {self.column: count, "radius_margin_applicable": True}
        return Score(found, Carried(terms, count))

    def _over_parts(self, cell: Cell, carry: OverParts | None) -> Score:
        """The samples that some part counts."""
        whole = over_parts(cell, carry, flags=flagged)
        counted = None if whole is None else whole.counted
        found = {
            self.column: None if counted is None else counted.size,
            "radius_margin_applicable": counted is not None,
        }
        return Score(found, whole or carry)


def flagged(terms: RadiusMargin) -> Ints:
    """The samples of a part that B* counts."""
    return count_removable(terms).samples


class Arcs:
    """The arcs y_i -> k with alpha_ik > 0, and K between their samples."""

    def __init__(self, solution: Solution) -> None:
        """``rows`` and ``heads`` are i and k of each arc, ``tails`` is y_i."""
        y, self.Q = solution.dual.y, solution.dual.Q
        self.rows, self.heads = np.nonzero(solution.alpha > 0.0)
        self.tails: Ints = y[self.rows]
        self.alpha = solution.alpha[self.rows, self.heads]
        support, self.at = np.unique(self.rows, return_inverse=True)
        self.place = {int(p): at for at, p in enumerate(support)}
        self.K = solution.dual.gram.block(support, support)
        eye = np.eye(self.Q)
        self.directions = eye[self.tails] - eye[self.heads]

    def squared_distances(self, p: int) -> Floats:
        """||Phi(x_p) - Phi(x_a)||^2 for every arc."""
        at, diagonal = self.place[p], self.K.diagonal()
        found: Floats = (diagonal[at] + diagonal - 2.0 * self.K[at])[self.at]
        return found

    def near(self, p: int, t: Floats, cap: Floats) -> Mask:
        """For every pair of classes the nearest arcs, so many that some flow is t.

        As t has one source or one sink, the flow may lead straight from class to class,
        but where the arcs between two of them have no room for it.
        """
        straight = np.minimum(np.maximum(t, 0.0)[:, None], np.maximum(-t, 0.0))
        pair = self.tails * self.Q + self.heads
        room = np.bincount(pair, np.minimum(cap, 1.0), self.Q**2)
        need = straight.ravel()
        if (room < need).any():
            need = np.ones(need.size)
        order = np.lexsort((self.squared_distances(p), cap <= 0.0, pair))
        ahead = np.cumsum(np.minimum(cap[order], 1.0))
        ahead = np.append(0.0, ahead[:-1])
        first = np.diff(pair[order], prepend=-1) > 0
        ahead -= ahead[np.flatnonzero(first)[np.cumsum(first) - 1]]
        chosen = np.zeros(order.size, np.bool_)
        chosen[order] = first | (ahead < need[pair[order]])
        return chosen & (cap > 0.0)


@dataclass(frozen=True, eq=False)
class Flow:
    """The square of the distance, and the arcs that carry something."""

    square: float
    used: Mask


def nearest_flow(
    arcs: Arcs, p: int, t: Floats, cap: Floats, enough: float, used: Mask | None = None
) -> Flow:
    """The flow nearest to Phi(x_p) t, or the first below ``enough``.

    ``cap`` (arcs,) is 0 on those of p, and leaves some flow; ``used`` is of another
    sample.
    """
    chosen = arcs.near(p, t, cap)
    if used is not None:
        chosen |= used & (cap > 0.0)
    own = float(arcs.K[arcs.place[p], arcs.place[p]] * (t @ t))
    while True:
        S = np.flatnonzero(chosen)
        u, square, slope = _over_some(arcs, p, t, cap, S)
        slope[chosen | (cap <= 0.0)] = 0.0
        steepest = np.argsort(slope)[:MORE]
        steepest = steepest[slope[steepest] < -STEEP * own]
        if own + square < enough or steepest.size == 0:
            carrying = np.zeros(chosen.size, np.bool_)
            carrying[S] = u > LITTLE
            return Flow(own + square, carrying)
        chosen[steepest] = True


def _over_some(
    arcs: Arcs, p: int, t: Floats, cap: Floats, S: Ints
) -> tuple[Floats, float, Floats]:
    """u on the arcs S; the objective without ||Phi(x_p) t||^2; every arc's slope."""
    cross = arcs.K[arcs.place[p], arcs.at] * (arcs.directions @ t)
    d, at = arcs.directions[S], arcs.at[S]
    H = arcs.K[np.ix_(at, at)] * (d @ d.T)
    zero = np.zeros(S.size)
    found = minimise(2.0 * H, -2.0 * cross[S], d[:, 1:], t[1:], zero, cap[S])
    tau = np.zeros((arcs.K.shape[0], arcs.Q))
    np.add.at(tau, at, found.x[:, None] * d)
    G = arcs.K @ tau
    slope = 2.0 * (G[arcs.at, arcs.tails] - G[arcs.at, arcs.heads] - cross)
    slope += arcs.directions[:, 1:] @ found.nu
    return found.x, float(found.x @ (H @ found.x - 2.0 * cross[S])), slope
