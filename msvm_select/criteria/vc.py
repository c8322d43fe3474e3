"""The VC dimension of classifiers with the margin of this one, and the risk by it.

    v = min( ceil(R^2 / gamma^2), d ) + 1

with R the radius of the smallest ball around the samples, gamma the geometric margin
and d the dimension of the feature space. (Lecture notes print max ||x_i - x_j||^2 over
2 gamma; without the square that changes with the unit of length. By Jung's theorem
R^2 <= max ||x_i - x_j||^2 / 2, so that R is the sharper too.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.geometry.ball import Ball, smallest_ball
from msvm_select.geometry.margins import weight_distances
from msvm_select.records import Gram
from msvm_select.solution import Solution

CEIL_SLACK = 1e-6  # relative: ceil must not count the errors of ball and training
NO_SLACK = 1e-6  # a margin this near to 1 is 1


@dataclass(frozen=True)
class VcTerms:
    """Every term: radius R, margin gamma, dimension d (None: infinite).

    gamma is the least 1/||w_k - w_l|| over the pairs of classes. It applies where every
    sample has that margin, so that no slack is left (separable data, C large enough);
    elsewhere, and for more than two classes, it is an index.
    """

    radius: float
    margin: float
    dimension: int | None
    train_error: float
    m: int
    delta: float
    applicable: bool

    @property
    def vc_dimension(self) -> float:
        """min( ceil(R^2 / gamma^2), d ) + 1."""
        ratio = (self.radius / self.margin) ** 2
        whole = float(np.ceil(ratio * (1.0 - CEIL_SLACK)))
        d = math.inf if self.dimension is None else float(self.dimension)
        return min(whole, d) + 1.0

    @property
    def vc_risk(self) -> float:
        """The training error and what the VC dimension adds to it."""
        return vc_risk(self.train_error, self.vc_dimension, self.m, self.delta)

    @property
    def vacuous(self) -> bool:
        """Whether the risk says no more than that a risk is at most 1."""
        return self.vc_risk >= 1.0


class VcDimension(Criterion):
    """min( ceil(R^2 / gamma^2), d ) + 1."""

    name: ClassVar[str] = "vc"
    column: ClassVar[str] = "vc_dimension"
    kind: ClassVar[str] = "index"
    applies: ClassVar[str] = "for separable data; of the risk a bound if Q = 2"
    cost: ClassVar[str] = "one ball a kernel setting"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The dimension; ``carry`` is the ball, with the Gram matrix that it is of."""
        gram = cell.solution.dual.gram
        if carry is None or carry[0] is not gram:
            carry = gram, ball_of(gram)
        return Score({self.column: vc(cell, carry[1]).vc_dimension}, carry)


def vc(cell: Cell, ball: Ball | None = None) -> VcTerms:
    """All terms for a trained cell; ``ball`` is that of all samples, where it is there.

    With the quadratic loss, ball and margin are those of the augmented kernel: R is no
    smaller and the margin no larger than with the kernel itself.
    """
    solution = cell.solution
    ball = ball or ball_of(solution.dual.gram)
    constants = cell.constants
    return VcTerms(
        radius=0.5 * ball.diameter,
        margin=least_margin(solution),
        dimension=constants.dimension or cell.kernel.dimension(cell.data.X.shape[1]),
        train_error=solution.train_errors / solution.dual.m,
        m=solution.dual.m,
        delta=constants.delta,
        applicable=float(solution.slacks.max()) <= NO_SLACK,
    )


def ball_of(gram: Gram) -> Ball:
    """The smallest ball around all samples."""
    return smallest_ball(gram)


def least_margin(solution: Solution) -> float:
    """min_{k < l} 1/||w_k - w_l||; inf where all w are alike."""
    largest = float(weight_distances(solution).max())
    return 1.0 / largest if largest > 0.0 else math.inf


def vc_risk(e: float, v: float, m: int, delta: float) -> float:
    """e + sqrt( (v (1 + ln(2m/v)) - ln(delta/4)) / m ).

    v (1 + ln(2m/v)) stands for the logarithm of the dichotomies of 2m points, which
    more than 2m dimensions do not increase.
    """
    v = min(v, 2.0 * m)
    dichotomies = v * (1.0 + math.log(2.0 * m / v))
    return e + math.sqrt((dichotomies - math.log(delta / 4.0)) / m)
