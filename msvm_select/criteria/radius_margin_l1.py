"""The modified radius-margin of soft margins: a heuristic to rank by, no bound."""

from __future__ import annotations

from typing import Any, ClassVar

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.geometry.ball import smallest_ball
from msvm_select.solution import Solution


class RadiusMarginL1(Criterion):
    """Q (D^2 + 1/C) (sum_k ||w_k||^2 + 2C sum xi), D the diameter of all samples.

    It follows Chung, Kao, Sun, Wang and Lin (2003), who soften the radius-margin bound
    of two classes so that it is smooth in C and needs no separation: (R^2 + 1/C')
    (||w||^2 + 2C' sum xi), for the ordinary SVM at C'. With Q = 2 it is theirs: here
    C' = 2C, w = w_1 - w_2, R = D/2.
    """

    name: ClassVar[str] = "radius-margin-l1"
    column: ClassVar[str] = "radius_margin_l1"
    kind: ClassVar[str] = "index"
    applies: ClassVar[str] = "with the loss l1"
    cost: ClassVar[str] = "one ball a kernel setting"
    losses: ClassVar[tuple[str, ...]] = ("l1",)

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
