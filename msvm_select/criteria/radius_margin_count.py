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
    V_pn <= 2 min_j ||Phi(x_p) - Phi(x_j)||^2  over the j with y_j = y_p, alpha_jn > 0.

Beyond 1,500 arcs what these do not decide is counted, which keeps B* a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from msvm_select.bias import centre
from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.criteria.box_qp import minimise
from msvm_select.criteria.radius_margin import RadiusMargin, radius_margin_terms
from msvm_select.records import Floats, Gram, Ints
from msvm_select.solution import Solution

Mask = NDArray[np.bool_]

MOST_ARCS = 1500
MARGIN = 1e-6  # of N_p V_pn: what is nearer to 1 is counted


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


def count_removable(terms: RadiusMargin) -> Counted:
    """B* of a machine whose bound applies."""
    arcs = _Arcs(terms)
    samples, bridges = [], 0
    for p in terms.flow.rows:
        found = arcs.judged(int(p))
        bridges += found == BRIDGE
        if found != SAFE:
            samples.append(int(p))
    idle = lost_idle(terms.solution)
    counted = np.sort(np.array([*samples, *idle], np.int64))
    return Counted(counted, bridges, idle.size, arcs.programs)


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
            solution.alpha[kept], solution.gradient[kept], y[kept], solution.dual.C
        ).b
        others = np.delete(h[p] + b, y[p])
        lost[p] = not h[p, y[p]] + b[y[p]] > others.max()
    return np.flatnonzero(lost)


SAFE, POSSIBLE, BRIDGE = range(3)


class _Arcs:
    """The arcs y_i -> k with alpha_ik > 0, and H between them."""

    def __init__(self, terms: RadiusMargin) -> None:
        solution = terms.solution
        self.gram, self.y, self.Q = solution.dual.gram, solution.dual.y, solution.dual.Q
        self.rows, self.heads = np.nonzero(solution.alpha > 0.0)
        self.tails = self.y[self.rows]
        self.alpha = solution.alpha[self.rows, self.heads]
        most = terms.flow.M * terms.diameter**2
        self.most = dict(zip(terms.flow.rows.tolist(), most.tolist(), strict=True))
        eye = np.eye(self.Q)
        self.directions = eye[self.tails] - eye[self.heads]
        self.small = self.rows.size <= MOST_ARCS
        self.programs = 0
        if self.small:
            support, at = np.unique(self.rows, return_inverse=True)
            K = _block(self.gram, support, support)[np.ix_(at, at)]
            self.H = K * (self.directions @ self.directions.T)
            self.balance = self.directions[:, 1:]

    def judged(self, p: int) -> int:
        """Whether p could be an error of leave-one-out."""
        others = self.rows != p
        against = np.delete(np.arange(self.Q), self.y[p])
        if not self._reached(others, int(self.y[p]))[against].all():
            return BRIDGE
        near = self._nearest(p, others)
        most = self.most[p]
        if self._below(most, float(near[against].max())):
            return SAFE
        if not self.small:
            return POSSIBLE
        most = min(most, self._removal(p))
        for n in against[np.argsort(-near[against])]:
            if self._below(most, float(near[n])):
                continue
            if not self._below(most, self._return(p, int(n), others)):
                return POSSIBLE
        return SAFE

    @staticmethod
    def _below(N: float, V: float) -> bool:
        """Whether N V < 1 for certain."""
        return N * V < 1.0 - MARGIN

    def _reached(self, others: Mask, start: int) -> Mask:
        """Which classes a chain of the other arcs leads to."""
        step = np.zeros((self.Q, self.Q), np.bool_)
        step[self.tails[others], self.heads[others]] = True
        reached = np.zeros(self.Q, np.bool_)
        reached[start] = True
        for _ in range(self.Q):
            reached |= step[reached].any(axis=0)
        return reached

    def _nearest(self, p: int, others: Mask) -> Floats:
        """(Q,) 2 min_j ||Phi(x_p) - Phi(x_j)||^2 over the arcs y_p -> n of others."""
        same = np.flatnonzero(others & (self.tails == self.y[p]))
        j, diagonal = self.rows[same], self.gram.diagonal
        k = _block(self.gram, np.array([p]), j)[0]
        near = np.full(self.Q, np.inf)
        np.minimum.at(
            near, self.heads[same], 2.0 * (diagonal[p] + diagonal[j] - 2.0 * k)
        )
        return near

    def _removal(self, p: int) -> float:
        """N_p."""
        hi = self.alpha
        lo = np.where(self.rows == p, hi, 0.0)
        scale = float(hi[self.rows == p].sum())
        cap = np.maximum(lo / scale, np.minimum(hi / scale, np.sqrt(self.Q)))
        return scale**2 * self._least(lo / scale, cap, np.zeros(self.Q))

    def _return(self, p: int, n: int, others: Mask) -> float:
        """V_pn: v = -u with u >= 0, so that A'(e_pn - u) = 0."""
        arc = np.eye(self.Q)[self.y[p]] - np.eye(self.Q)[n]
        lo = np.zeros(self.rows.size)
        hi = np.where(others, np.inf, 0.0)
        support = self.rows
        k = _block(self.gram, np.array([p]), np.unique(support))[0]
        at = np.searchsorted(np.unique(support), support)
        cross = k[at] * (self.directions @ arc)
        return self._least(lo, hi, arc, cross, 2.0 * float(self.gram.diagonal[p]))

    def _least(
        self,
        lo: Floats,
        hi: Floats,
        balance: Floats,
        cross: Floats | None = None,
        constant: float = 0.0,
    ) -> float:
        """min  u'Hu - 2 cross'u + constant  with A'u = balance."""
        self.programs += 1
        c = np.zeros(lo.size) if cross is None else -2.0 * cross
        u = minimise(2.0 * self.H, c, self.balance, balance[1:], lo, hi)
        return float(u @ self.H @ u + c @ u) + constant


def _block(gram: Gram, rows: Ints, columns: Ints) -> Floats:
    """K between some samples and others."""
    if gram.factor is not None:
        return np.asarray(gram.factor[rows] @ gram.factor[columns].T)
    return np.asarray(gram.matrix[np.ix_(rows, columns)])


@dataclass(frozen=True, eq=False)
class Carried:
    """The last C's terms, and B* where it was counted."""

    terms: RadiusMargin | None
    count: int | None


class RadiusMarginCount(Criterion):
    """B*, only where the bound applies; else nothing."""

    name: ClassVar[str] = "radius-margin-count"
    column: ClassVar[str] = "radius_margin_count"
    summary: ClassVar[str] = "B*, the tightest proven bound on leave-one-out errors"
    kind: ClassVar[str] = "bound"
    applies: ClassVar[str] = "hard margin (every alpha < C); with l2 always"
    cost: ClassVar[str] = "small quadratic programs for each support vector"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The count; beyond hard margin that of the last C."""
        last = carry if isinstance(carry, Carried) else Carried(None, None)
        terms = radius_margin_terms(cell, last.terms)
        if terms is None or not terms.applicable:
            none = {self.column: None, "radius_margin_applicable": False}
            return Score(none, Carried(terms or last.terms, None))
        same = last.terms is not None and last.terms.solution.tau is cell.solution.tau
        count = last.count if same else None
        if count is None:
            count = count_removable(terms).count
        found = {self.column: count, "radius_margin_applicable": True}
        return Score(found, Carried(terms, count))
