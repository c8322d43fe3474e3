"""The guaranteed risk: Theorem 1 with a covering number, least over the margin gamma.

With probability 1 - delta, for every gamma in (0, 1] and every machine h of a class H,

    R(h) <= R_gamma(h) + sqrt( 2/m ( ln(2 N) + ln(2 / (gamma delta)) ) ) + 1/m,

    R_gamma = share of samples with 1/2 (h_{y_i} - max_{k != y_i} h_k) < gamma,

N = N(gamma/4, Delta_gamma H, 2m). The margin 1 of training is gamma = 1/2 here. H is
bounded by Lambda_w, beta and Lambda_Phi, see ``covering_numbers``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from msvm_select.criteria.base import Cell, Constants, Criterion, Score
from msvm_select.criteria.covering_numbers import (
    Machines,
    any_dimension,
    any_dimension_as_printed,
    finite_dimension,
)
from msvm_select.records import Floats
from msvm_select.solution import Solution

INDEX = (
    "an index to rank by, not a guarantee: Lambda_w, beta and Lambda_Phi are those of "
    "the trained machine, not fixed before it (--union pays for that)"
)
FIXED_BEFOREHAND = (
    "a guarantee as far as these were fixed without the samples: the kernel and its "
    "parameters, the scaling of the features, and Lambda_Phi as a bound on ||Phi(x)|| "
    "of all x to come; any C may be chosen. For several kernel settings divide delta "
    "by their number"
)

ASSUMED_C = "; and as far as the constant c is what it is taken for"


ONE = np.ones(1)


@dataclass(frozen=True)
class GuaranteedRiskTerms:
    """Every term of the bound at its best gamma.

    ``theorem`` is 3 (a feature space of finite ``dimension``) or 2 (any). ``norm_w``
    and ``largest_b`` are measured; Lambda_w and beta are these or, with ``union``, the
    powers of two above them, paid for by ``delta_paid`` < delta.
    """

    value: float
    gamma: float
    margin_risk: float
    confidence: float
    log_covering: float
    theorem: int
    dimension: int | None
    maurey_c: float | None
    Lambda_w: float
    Lambda_Phi: float
    beta: float
    norm_w: float
    largest_b: float
    delta: float
    delta_paid: float
    union: bool
    m: int
    Q: int

    @property
    def vacuous(self) -> bool:
        """Whether it says no more than that a risk is at most 1."""
        return self.value >= 1.0

    @property
    def log_covering_printed(self) -> float | None:
        """For Theorem 2, ln N as (12) prints it, with the logarithm made linear."""
        if self.maurey_c is None:
            return None
        H = Machines(self.Q, self.m, self.Lambda_w, self.Lambda_Phi, self.beta)
        ln_N = any_dimension_as_printed(H, np.array([self.gamma]), self.maurey_c)
        return float(ln_N[0])

    @property
    def standing(self) -> str:
        """What may be concluded from the value, in words."""
        if not self.union:
            return INDEX
        return FIXED_BEFOREHAND + (ASSUMED_C if self.theorem == 2 else "")


class GuaranteedRisk(Criterion):
    """The right side of Theorem 1, at the gamma where it is least."""

    name: ClassVar[str] = "guaranteed-risk"
    column: ClassVar[str] = "guaranteed_risk"
    kind: ClassVar[str] = "index"
    applies: ClassVar[str] = "at any C; a bound of the risk with --union"
    cost: ClassVar[str] = "next to nothing"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The bound, its gamma, and whether it exceeds 1; the same beyond hard margin.

        ``carry`` is the last machine's tau with its columns.
        """
        tau = cell.solution.tau
        if carry is not None and carry[0] is tau:
            return Score(carry[1], carry)
        curve = _Curve(cell)
        value, best = curve.least
        columns = {
            self.column: value,
            "guaranteed_risk_gamma": float(curve.gamma[best]),
            "guaranteed_risk_vacuous": value >= 1.0,
        }
        return Score(columns, (tau, columns))


def guaranteed_risk(cell: Cell) -> GuaranteedRiskTerms:
    """All terms of the bound for a trained cell, under its constants."""
    curve, constants = _Curve(cell), cell.constants
    value, best = curve.least
    machines, d = curve.machines, curve.dimension
    return GuaranteedRiskTerms(
        value=value,
        gamma=float(curve.gamma[best]),
        margin_risk=float(curve.share[best]),
        confidence=float(curve.confidence[best]),
        log_covering=float(curve.log_covering[best]),
        theorem=2 if d is None else 3,
        dimension=d,
        maurey_c=constants.maurey_c if d is None else None,
        Lambda_w=machines.Lambda_w,
        Lambda_Phi=machines.Lambda_Phi,
        beta=machines.beta,
        norm_w=curve.measured.Lambda_w,
        largest_b=curve.measured.beta,
        delta=constants.delta,
        delta_paid=curve.delta,
        union=constants.union,
        m=machines.m,
        Q=machines.Q,
    )


class _Curve:
    """The bound at every gamma at which it may be least."""

    def __init__(self, cell: Cell) -> None:
        solution, constants = cell.solution, cell.constants
        d = constants.dimension or cell.kernel.dimension(cell.data.X.shape[1])
        self.dimension = d
        self.measured = machines_of(solution)
        self.machines, self.delta = paid_for(self.measured, constants)
        self.gamma, self.share = margin_risks(0.5 * solution.margins)
        if d is not None:
            ln_N = finite_dimension(self.machines, self.gamma, d)
        else:
            ln_N = any_dimension(self.machines, self.gamma, constants.maurey_c)
        self.log_covering = ln_N
        m = self.machines.m
        self.confidence = confidence_interval(ln_N, self.gamma, self.delta, m)

    @property
    def least(self) -> tuple[float, int]:
        """The bound, and the place of its gamma."""
        value = self.share + self.confidence
        best = int(value.argmin())
        return float(value[best]) + 1.0 / self.machines.m, best


def machines_of(solution: Solution) -> Machines:
    """The least class H that this machine is in; a class without samples is no part.

    With the quadratic loss that of w in the feature space itself: new samples do not
    meet the ridge of the augmented kernel.
    """
    dual = solution.dual
    b = solution.b[np.isfinite(solution.b)]
    norm = solution.norm_w_squared
    if dual.ridge:
        norm -= dual.ridge * float(np.vdot(solution.tau, solution.tau))
    return Machines(
        Q=b.size,
        m=dual.m,
        Lambda_w=math.sqrt(max(0.0, norm)),
        Lambda_Phi=math.sqrt(max(0.0, float(dual.gram.diagonal.max()) - dual.ridge)),
        beta=float(np.abs(b).max()),
    )


def paid_for(machines: Machines, constants: Constants) -> tuple[Machines, float]:
    """With ``union`` the classes 2^j >= Lambda_w and 2^i >= beta, i, j = 1, 2, ..

    The bound holds for all of them at once with delta / (j(j+1) i(i+1)) for the pair
    (i, j), since sum_j 1/(j(j+1)) = 1: so it holds for the pair of the trained machine,
    whatever C it was trained at.
    """
    if not constants.union:
        return machines, constants.delta
    j, i = exponent(machines.Lambda_w), exponent(machines.beta)
    paid = Machines(machines.Q, machines.m, 2.0**j, machines.Lambda_Phi, 2.0**i)
    return paid, constants.delta / (j * (j + 1) * i * (i + 1))


def exponent(value: float) -> int:
    """The least j = 1, 2, .. with 2^j >= value."""
    mantissa, j = math.frexp(value)
    return max(1, j - 1 if mantissa == 0.5 else j)


def margin_risks(margins: Floats) -> tuple[Floats, Floats]:
    """The gammas at which the bound may be least, ascending, and R_gamma at each.

    The confidence interval falls with gamma and R_gamma rises only beyond a sample's
    margin: the least value is at such a margin, or at 1.
    """
    ordered = np.sort(margins)
    first = int(ordered.searchsorted(0.0, side="right"))
    last = int(ordered.searchsorted(1.0, side="left"))
    gamma = np.concatenate((ordered[first:last], ONE))
    return gamma, ordered.searchsorted(gamma, side="left") / ordered.size


def confidence_interval(
    log_covering: Floats, gamma: Floats, delta: float, m: int
) -> Floats:
    """sqrt( 2/m ( ln 2 + ln N + ln(2 / (gamma delta)) ) )."""
    rest = math.log(4.0) - math.log(delta)
    return np.asarray(np.sqrt(2.0 / m * (log_covering + rest - np.log(gamma))))
