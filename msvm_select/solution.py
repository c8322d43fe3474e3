"""A trained machine that certifies itself: gap, KKT violation, flow balance, biases."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from msvm_select.flow import Potentials, centre, ties_all
from msvm_select.left_out import LeftOut
from msvm_select.records import TIE, Dual, Floats, Ints, Mask, Work

TIGHT = 1e-9  # a gap that tells the interval of b from a point


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer to a Dual that certifies itself; ``carry`` is for the next C only."""

    dual: Dual
    tau: Floats
    F: Floats
    work: Work = field(default_factory=Work)
    converged: bool = True
    reason: str = ""
    carry: Any = None

    @cached_property
    def alpha(self) -> Floats:
        """alpha_ik (m, Q), zero at the sample's own class."""
        alpha = -self.tau
        alpha[np.arange(self.dual.m), self.dual.y] = 0.0
        return alpha

    @cached_property
    def gradient(self) -> Floats:
        """g_ik = 1 - (F_{i,y_i} - F_ik); zero at the sample's own class."""
        own = np.arange(self.dual.m), self.dual.y
        g = 1.0 - self.F[own][:, None] + self.F
        g[own] = 0.0
        return g

    @cached_property
    def potentials(self) -> Potentials:
        """The biases by the centre rule, and how far each difference may move."""
        return centre(self.alpha, self.gradient, self.dual.y, self.dual.box)

    @property
    def b(self) -> Floats:
        """The biases (Q,), with sum zero over the classes present."""
        return self.potentials.b

    @cached_property
    def b_unique(self) -> bool:
        """Whether the optimal biases are one point (up to a common constant).

        A loose gap widens the interval of b, even where it is a point at the optimum.
        There the free variables decide: b is unique if they tie all classes together.
        """
        if self.potentials.unique or self.gap <= TIGHT:
            return self.potentials.unique
        return ties_all(self.alpha.T, self.dual.y, self.dual.box)

    @cached_property
    def outputs(self) -> Floats:
        """h_k(x_i) = F_ik + b_k on the training samples."""
        return self.F + self.b

    @cached_property
    def decisions(self) -> Floats:
        """h_k at the training samples as at new ones, which do not meet the ridge."""
        return self.outputs - self.dual.ridge[:, None] * self.tau

    @cached_property
    def slacks(self) -> Floats:
        """xi_ik = max(0, 1 - (h_{y_i} - h_k)), zero at the own class.

        A class without samples has b = -inf and so no slack.
        """
        own = np.arange(self.dual.m), self.dual.y
        h = self.outputs
        xi = np.maximum(0.0, 1.0 - h[own][:, None] + h)
        xi[own] = 0.0
        return xi

    @property
    def sum_alpha(self) -> float:
        """sum_ik alpha_ik."""
        return float(self.alpha.sum())

    @cached_property
    def norm_w_squared(self) -> float:
        """sum_k ||w_k||^2 = sum_ik tau_ik F_ik."""
        return float(np.vdot(self.tau, self.F))

    @property
    def dual_objective(self) -> float:
        """sum alpha - 1/2 sum_k ||w_k||^2."""
        return self.sum_alpha - 0.5 * self.norm_w_squared

    @cached_property
    def primal_objective(self) -> float:
        """1/2 sum_k ||w_k||^2 + sum C_i xi_ik at (w, b), or at (1 + d)(w, b) if less.

        d lifts the margins of the free variables, 1 but for rounding, over 1: else C_i
        times that rounding stands in the gap. Both are primal points, so the smaller
        value is as good a certificate. The slacks of the quadratic loss have a third.
        """
        own = np.arange(self.dual.m), self.dual.y
        margins = self.outputs[own][:, None] - self.outputs
        margins[own] = np.inf
        xi = 1.0 - margins
        small = xi[(xi > 0.0) & (xi < 1e-6)]
        stretch = (1.0 + 1e-15) / (1.0 - float(small.max(initial=0.0)))
        stretched = np.maximum(0.0, 1.0 - stretch * margins).sum(axis=1)
        half, box = 0.5 * self.norm_w_squared, self.dual.box
        plain = float(box @ self.slacks.sum(axis=1))
        least = min(half + plain, stretch**2 * half + float(box @ stretched))
        if self.dual.quadratic is not None:
            least = min(least, half + self._met(xi))
        return least

    def _met(self, breach: Floats) -> float:
        """What it costs the slacks of the quadratic loss to meet every margin.

        With ridge_i on the diagonal of K, e_i = ridge_i tau_i are the slacks of sample
        i, at a cost of |e_i|^2 / (2 ridge_i). A breach d_ik = 1 - (h_{y_i} - h_k) of
        either sign, where alpha_ik > 0, goes into e_ik: alpha_ik d + d^2 / (2 ridge_i)
        more. So rounding stands in the gap as a square alone.
        """
        pays = np.where((self.alpha > 0.0) | (breach > 0.0), breach, 0.0)
        pays[~np.isfinite(pays)] = 0.0
        each = self.alpha * pays + pays**2 / (2.0 * self.dual.ridge[:, None])
        return float(each[self.dual.box > 0.0].sum())

    @cached_property
    def gap(self) -> float:
        """The relative duality gap (primal - dual) / max(1, |dual|)."""
        dual = self.dual_objective
        return (self.primal_objective - dual) / max(1.0, abs(dual))

    @cached_property
    def kkt_violation(self) -> float:
        """The largest breach of the optimality conditions of one variable.

        r_ik = g_ik - (b_{y_i} - b_k) must be <= 0 at alpha = 0, >= 0 at C_i and
        0 between; the breach is how far alpha could still move, or r, the smaller.
        No flow runs to a class without samples, whatever r is there.
        """
        y, box = self.dual.y, self.dual.box
        present = np.isfinite(self.b)
        b = np.where(present, self.b, 0.0)
        r = self.gradient - b[y][:, None] + b
        r[np.arange(self.dual.m), y] = 0.0
        r[:, ~present] = 0.0
        room = np.where(r > 0.0, box[:, None] - self.alpha, self.alpha)
        return float(np.max(np.minimum(np.abs(r), np.maximum(room, 0.0)), initial=0.0))

    @property
    def flow_imbalance(self) -> float:
        """max_k |sum_i tau_ik| / max(1, sum alpha): 0 when alpha is a circulation."""
        worst = float(np.max(np.abs(self.tau.sum(axis=0)), initial=0.0))
        return worst / max(1.0, self.sum_alpha)

    @cached_property
    def is_support_vector(self) -> Mask:
        """Which samples have some alpha_ik > 0."""
        return np.asarray(self.alpha.max(axis=1, initial=0.0) > 0.0)

    @property
    def n_sv(self) -> int:
        """The number of support vectors."""
        return int(self.is_support_vector.sum())

    @property
    def n_bounded(self) -> int:
        """The number of samples with some alpha_ik = C_i."""
        return int((self.alpha.max(axis=1, initial=0.0) >= self.dual.box).sum())

    @property
    def hard_margin(self) -> bool:
        """Whether no alpha reaches C: then the solution is that of every larger C."""
        return self.n_bounded == 0

    def at(self, dual: Dual, gap: float) -> Solution | None:
        """This machine as the answer at a larger C, where it is that already.

        Beyond hard margin the box does not bind; yet the certificate is taken again,
        since sum xi, now weighed by the larger C, may have been small only for the old.
        """
        beyond = self.hard_margin and bool((dual.box >= self.dual.box).all())
        if not (self.converged and beyond and dual.gram is self.dual.gram):
            return None
        same = replace(self, dual=dual, work=Work())
        return same if same.gap <= gap else None

    def start_of(self, dual: Dual) -> Solution:
        """This machine as a start at another C.

        Solvers scale it by the ratio of the boxes, which keeps alpha = C; beyond hard
        margin there is nothing to scale. Where only the ridge is another (quadratic
        loss), t alpha with t = sum alpha / sum_k ||w_k||^2 is where the new dual is
        largest: sum t alpha is then at most twice its optimum, within the box. (Where
        an indefinite K leaves no such t, it is 1, and never one beyond the box.)
        """
        if dual.gram is self.dual.gram:
            return replace(self, dual=dual) if self.hard_margin else self
        F = self.F + (dual.ridge - self.dual.ridge)[:, None] * self.tau
        square, most = float(np.vdot(self.tau, F)), float(self.alpha.max(initial=0.0))
        t = self.sum_alpha / square if square > 0.0 else 1.0
        if t * most > dual.C:
            t = dual.C / most
        return Solution(dual, t * self.tau, t * F)

    def in_training(self, every: bool = True) -> LeftOut:
        """Its answers for its own samples, as if they had been left out."""
        h, y = self.decisions, self.dual.y
        at, none = np.arange(y.size), np.zeros(y.size, np.int64)
        margins = h[at, y][:, None] - h
        margins[at, y] = np.inf
        return LeftOut(y, margins, none, none, none > 0)

    @property
    def graded(self) -> Floats:
        """What the training samples are ranked by (m, Q): the largest is the answer."""
        return self.decisions

    def outputs_at(self, K: Floats) -> Floats:
        """The same (p, Q) of new samples, by K (p, m)."""
        return np.asarray(K @ self.tau + self.b)

    def margins_at(self, K: Floats, y: Ints) -> None:
        """The outputs tell by how much a new sample is right."""

    def labels(self, K: Floats) -> Ints:
        """The class of each new sample, by its K (p, m); -1 at a tie."""
        h = K @ self.tau + self.b
        tied = (h >= h.max(axis=1, keepdims=True) - TIE).sum(axis=1) > 1
        return np.where(tied, -1, h.argmax(axis=1)).astype(np.int64)

    @cached_property
    def margins(self) -> Floats:
        """h_{y_i} - max_{k != y_i} h_k for each training sample."""
        own = np.arange(self.dual.m), self.dual.y
        others = self.decisions.copy()
        others[own] = -np.inf
        return np.asarray(self.decisions[own] - others.max(axis=1))

    @property
    def train_errors(self) -> int:
        """Training samples that are wrong; an exact tie counts as an error."""
        return int((self.margins <= TIE).sum())


class Trains(Protocol):
    """As much of a solver as ``onward`` needs."""

    gap: float

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """The optimum of ``dual``, begun at ``start`` if there is one."""


def onward(
    solver: Trains, dual: Dual, last: Solution | None, certain: bool = True
) -> Solution:
    """The machine at the next C, trained from the last one, if there is one.

    It is the last one itself where no larger C can change it. If K is indefinite that
    is not ``certain``, and it is trained.
    """
    if last is None:
        return solver.solve(dual)
    same = last.at(dual, solver.gap) if certain else None
    return same or solver.solve(dual, start=last.start_of(dual))
