"""Two bounds on the risk from lecture notes: by compression and by the VC dimension.

*Compression*: a machine is a function of its support vectors alone.

*VC dimension* of classifiers with the margin of this one,

    v = min( ceil(R^2 / gamma^2), d ) + 1

with R the radius of the smallest ball around the samples, gamma the geometric margin
and d the dimension of the feature space. (The notes print max ||x_i - x_j||^2 over 2
gamma; without the square that changes with the unit of length. By Jung's theorem R^2 <=
max ||x_i - x_j||^2 / 2, so that R is the sharper too.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.geometry.ball import Ball, smallest_ball
from msvm_select.geometry.margins import weight_distances

CEIL_SLACK = 1e-6  # relative: ceil must not count the errors of ball and training
NO_SLACK = 1e-6  # a margin this near to 1 is 1


@dataclass(frozen=True)
class CompressionTerms:
    """Every term of the bound: s support vectors of m samples.

    It applies where training on the support vectors alone gives the same machine: w is
    the same, always, and b where it is unique. The other samples have margin 1 or more
    and are right, whatever C. Kernel, C and scaling must be fixed beforehand.
    """

    n_sv: int
    m: int
    delta: float
    applicable: bool

    @property
    def value(self) -> float:
        """The bound on the risk, with probability 1 - delta; inf at s = m."""
        return compression_bound(self.n_sv, self.m, self.delta)

    @property
    def vacuous(self) -> bool:
        """Whether it says no more than that a risk is at most 1."""
        return self.value >= 1.0


class Compression(Criterion):
    """1/(m - s) ( s (1 + ln(m/s)) + ln(m/delta) ) with s support vectors."""

    name = "compression"
    column = "compression_bound"
    kind = "bound"
    applies = "for the risk, at any C, if b is unique"
    cost = "nothing"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The bound; nothing where every sample is a support vector."""
        value = compression(cell).value
        return Score({self.column: value if math.isfinite(value) else None})


def compression(cell: Cell) -> CompressionTerms:
    """All terms of the bound for a trained cell."""
    s, delta = cell.solution, cell.constants.delta
    return CompressionTerms(s.n_sv, s.dual.m, delta, applicable=s.b_unique)


def compression_bound(s: int, m: int, delta: float) -> float:
    """1/(m - s) ( s (1 + ln(m/s)) + ln(m/delta) ); its limits at s = 0 and s = m.

    s (1 + ln(m/s)) >= ln binom(m, s) counts the sets of s samples, ln(m/delta) the s.
    """
    if s == m:
        return math.inf
    sets = s * (1.0 + math.log(m / s)) if s > 0 else 0.0
    return (sets + math.log(m / delta)) / (m - s)


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

    name = "vc"
    of_machines = ("ww",)
    column = "vc_dimension"
    kind = "index"
    applies = "for separable data; bounds the risk if Q = 2"
    cost = "one ball a kernel setting"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The dimension; ``carry`` is the ball, with the Gram matrix that it is of."""
        gram = cell.solution.dual.gram
        if carry is None or carry[0] is not gram:
            carry = gram, smallest_ball(gram)
        return Score({self.column: vc(cell, carry[1]).vc_dimension}, carry)


def vc(cell: Cell, ball: Ball | None = None) -> VcTerms:
    """All terms for a trained cell; ``ball`` is that of all samples, where it is there.

    With the quadratic loss, ball and margin are those of the augmented kernel: R is no
    smaller and the margin no larger than with the kernel itself.
    """
    solution = cell.solution
    ball = ball or smallest_ball(solution.dual.gram)
    constants, longest = cell.constants, float(weight_distances(solution).max())
    return VcTerms(
        radius=0.5 * ball.diameter,
        margin=1.0 / longest if longest > 0.0 else math.inf,
        dimension=constants.dimension or cell.kernel.dimension(cell.data.X.shape[1]),
        train_error=solution.train_errors / solution.dual.m,
        m=solution.dual.m,
        delta=constants.delta,
        applicable=float(solution.slacks.max()) <= NO_SLACK,
    )


def vc_risk(e: float, v: float, m: int, delta: float) -> float:
    """e + sqrt( (v (1 + ln(2m/v)) - ln(delta/4)) / m ).

    v (1 + ln(2m/v)) stands for the logarithm of the dichotomies of 2m points, which
    more than 2m dimensions do not increase.
    """
    v = min(v, 2.0 * m)
    dichotomies = v * (1.0 + math.log(2.0 * m / v))
    return e + math.sqrt((dichotomies - math.log(delta / 4.0)) / m)
