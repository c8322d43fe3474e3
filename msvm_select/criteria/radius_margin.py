"""The radius-margin bound of the multi-class machine, with all its terms.

    L <= K D^2 sum_ik alpha_ik        (L the leave-one-out errors)

with D the diameter of the smallest ball around the support vectors and K the flow
constant.  For Q = 2 it is D^2 / gamma^2.  K exceeds the number of samples on most data:
the value ranks cells, it is not to be believed.

It holds (``applicable``) for a machine that separates its samples with every
alpha_ik < C, where C binds no machine without a sample either.  Either these are known,
or  C > 1/2 sum alpha  shows it: without a sample fewer constraints are left, so that
sum alpha^p = sum_k ||w_k^p||^2 <= sum_k ||w_k||^2 = sum alpha, and as alpha^p is a
circulation of cycles of two arcs or more, no arc carries more than half of its sum.

With the quadratic loss the machine is the hard-margin one of K + I/(2C), and so are its
D and K: the bound holds at every C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.criteria.flow_constant import Constant, FlowConstant
from msvm_select.geometry.ball import PROMISED, Ball, smallest_ball
from msvm_select.geometry.margins import weight_distances
from msvm_select.left_out import LeftOut
from msvm_select.solution import Solution


@dataclass(frozen=True)
class TwoClasses:
    """Theorem 1, for Q = 2: L <= D^2 / gamma^2.

    gamma = 1 / ||w_1 - w_2||; ``large`` counts the samples with
    2 alpha_p >= 1 / D^2 (2 alpha_p is the alpha of the ordinary machine): no other can
    be an error of leave-one-out.
    """

    gamma: float
    bound: float
    large: int


@dataclass(frozen=True, eq=False)
class RadiusMargin:
    """Every term of the bound of one trained machine.

    ball: around the support vectors, ball_all: around all samples; flow: its M_i give
    K, S2 and A. ``applicable`` says whether the bound holds, ``reason`` why (not).
    A number is None where a program that it needs failed; ``flow.missing`` says why.
    """

    solution: Solution
    ball: Ball
    ball_all: Ball
    flow: FlowConstant
    applicable: bool
    reason: str

    @property
    def diameter(self) -> float:
        """D, of the support vectors."""
        return self.ball.diameter

    @property
    def diameter_all(self) -> float:
        """D of all samples."""
        return self.ball_all.diameter

    @property
    def constant(self) -> Constant | None:
        """K with the sample i and the class k that attain it."""
        return self.flow.constant

    @property
    def K(self) -> float | None:
        """The flow constant, 2 for Q = 2."""
        return self.constant.K if self.constant else None

    @property
    def bound(self) -> float | None:
        """K D^2 sum alpha."""
        if self.K is None:
            return None
        return self.K * self.diameter**2 * self.solution.sum_alpha

    @property
    def bound_q(self) -> float:
        """Q D_all^2 sum_k ||w_k||^2: smooth in C and the kernel, ranks only.

        It equals D_all^2 / gamma^2 for Q = 2.
        """
        Q, squared = self.solution.dual.Q, self.solution.norm_w_squared
        return Q * self.diameter_all**2 * squared

    @property
    def S2(self) -> float | None:
        """D^2 sum_p sqrt(2 M_p) <= K D^2 sum alpha: a sharper bound."""
        whole = float(np.sqrt(2.0 * self.flow.M).sum())
        return None if np.isnan(whole) else self.diameter**2 * whole

    @property
    def A(self) -> int | None:
        """#{ p : 2 D^4 M_p >= 1 } <= S2: sharper still, where b is unique."""
        reach = 2.0 * self.diameter**4 * self.flow.M
        return None if np.isnan(reach).any() else int((reach >= 1.0 - 1e-9).sum())

    @property
    def two_classes(self) -> TwoClasses | None:
        """Theorem 1, for Q = 2 only."""
        if self.solution.dual.Q != 2:
            return None
        distance = float(weight_distances(self.solution)[0, 1])
        reach = 2.0 * self.solution.alpha.max(axis=1) * self.diameter**2
        large = int((reach >= 1.0 - 1e-9).sum())
        return TwoClasses(1.0 / distance, (self.diameter * distance) ** 2, large)


def radius_margin_terms(
    cell: Cell,
    last: RadiusMargin | None = None,
    left_out: LeftOut | None = None,
) -> RadiusMargin | None:
    """All terms for a trained cell; None where no sample is a support vector.

    ``last`` is that of another C of the same kernel setting: its balls are begun at.
    ``left_out``, where it is at hand, says whether C binds a machine without a sample.
    """
    solution = cell.solution
    applicable, reason = applicability(solution, left_out)
    if not cell.mercer:
        applicable, reason = False, "the Gram matrix is indefinite"
    if last is not None and last.solution.tau is solution.tau:
        return replace(last, solution=solution, applicable=applicable, reason=reason)
    flow, gram = FlowConstant(solution), solution.dual.gram
    if flow.rows.size == 0:
        return None
    if last is None:
        start = ball_all = smallest_ball(gram)
    elif last.solution.dual.gram is gram:
        ball_all, start = last.ball_all, last.ball
    else:  # only the ridge of the quadratic loss is another: the old ball is near
        start = ball_all = smallest_ball(gram, start=last.ball_all)
    ball = smallest_ball(gram, flow.rows, start)
    return RadiusMargin(solution, ball, ball_all, flow, applicable, reason)


def applicability(solution: Solution, left_out: LeftOut | None) -> tuple[bool, str]:
    """Whether leave-one-out is bounded, and why (not)."""
    if not solution.converged:
        return False, "the training did not converge"
    if solution.dual.quadratic is not None:
        return True, "with the quadratic loss nothing bounds alpha"
    if not solution.hard_margin:
        n = solution.n_bounded
        return False, f"{n} sample{'s have' if n > 1 else ' has'} an alpha = C"
    if solution.train_errors:
        return False, "the machine does not separate its samples"
    C, half = solution.dual.C, 0.5 * solution.sum_alpha
    if half < C:
        return (
            True,
            f"every alpha is below C, with any sample left out too: C > {half:g}",
        )
    if left_out is None:
        return False, (
            f"without some sample an alpha might reach C; C > {half:.6g} excludes it"
        )
    if left_out.at_top.any():
        return False, "without some sample an alpha reaches C"
    return True, "every alpha is below C, with any sample left out too"


class RadiusMarginBound(Criterion):
    """K D^2 sum alpha; Q D_all^2 sum_k ||w_k||^2 beside it."""

    name = "radius-margin"
    column = "radius_margin"
    kind = "bound"
    applies = "hard margin (every alpha < C), b unique; with l2 always"
    cost = "two balls, the larger once a kernel setting"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The bound with its parts; ``carry`` is the last C's."""
        terms = radius_margin_terms(cell, carry)
        if terms is None:
            return Score({"radius_margin_applicable": False}, carry)
        columns = {
            self.column: terms.bound,
            "radius_margin_applicable": terms.applicable,
            "K": terms.K,
            "diameter": terms.diameter,
            "diameter_all": terms.diameter_all,
            "radius_margin_q": terms.bound_q,
        }
        worst = max(terms.ball.gap, terms.ball_all.gap)
        note = (
            f"the smallest ball has a relative gap of {worst:.2g}, above {PROMISED:g}"
        )
        notes = (note,) if worst > PROMISED else ()
        why = f"K and {self.column} are missing: {terms.flow.missing}"
        return Score(columns, terms, notes, missing=why if terms.K is None else "")


class RadiusMarginL1(Criterion):
    """Q (D^2 + 1/C) (sum_k ||w_k||^2 + 2C sum xi), D the diameter of all samples.

    It follows Chung, Kao, Sun, Wang and Lin (2003), who soften the radius-margin bound
    of two classes so that it is smooth in C and needs no separation: (R^2 + 1/C')
    (||w||^2 + 2C' sum xi), for the ordinary SVM at C'. With Q = 2 it is theirs: here
    C' = 2C, w = w_1 - w_2, R = D/2.
    """

    name = "radius-margin-l1"
    column = "radius_margin_l1"
    kind = "index"
    applies = "with the loss l1"
    cost = "one ball a kernel setting"
    losses = ("l1",)

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The value; ``carry`` is the ball, with the Gram matrix that it is of."""
        gram = cell.solution.dual.gram
        if carry is None or carry[0] is not gram:
            carry = gram, smallest_ball(gram)
        return Score({self.column: softened(cell.solution, carry[1].diameter)}, carry)


def softened(solution: Solution, diameter: float) -> float:
    """The value at a machine of the hinge loss."""
    C, Q = solution.dual.weight, solution.dual.Q
    objective = solution.norm_w_squared + 2.0 * C * float(solution.slacks.sum())
    if Q == 2:  # ||w||^2 = 2 sum_k ||w_k||^2
        return 2.0 * (0.25 * diameter**2 + 0.5 / C) * objective
    return Q * (diameter**2 + 1.0 / C) * objective
