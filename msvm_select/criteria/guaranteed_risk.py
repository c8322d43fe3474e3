"""The guaranteed risk: Theorem 1 with a covering number, least over the margin gamma.

With probability 1 - delta, for every gamma in (0, 1] and every machine h of a class H,

    R(h) <= R_gamma(h) + sqrt( 2/m ( ln(2 N) + ln(2 / (gamma delta)) ) ) + 1/m,

    R_gamma = share of samples with 1/2 (h_{y_i} - max_{k != y_i} h_k) < gamma,

N = N(gamma/4, Delta_gamma H, 2m). The margin 1 of training is gamma = 1/2 here. H holds
the machines of Q classes with sqrt(sum_k ||w_k||^2) <= Lambda_w, all |b_k| <= beta, and
||Phi(x)|| <= Lambda_Phi for every x. Two bounds on N are known; both begin with

    Q ln(2 ceil(4 beta / gamma) + 1)        (Proposition 2: a cover of the biases).

N itself overflows at once, so that all is done in logarithms.

One against the rest is such a machine too: h_k is the output of the part of class k,
less the mean of all outputs, which changes no decision. A sample that every part has at
its margin has h_{y_i} - h_k = 2 there, so that the canonical margin is gamma = 1. One
against one decides by votes and not by Q such functions: there is no value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from msvm_select.criteria.base import Cell, Constants, Criterion, Score
from msvm_select.parts import Composed
from msvm_select.records import Floats
from msvm_select.solution import Solution

HIGHEST_DIMENSION = 1e200  # one beyond it is told from no other, and overflows
SMALLEST = 1e-300  # so that nothing is divided by 0
LAST_DIGITS = 1e-11  # relative, of Newton's method: not to miss a whole number by it
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
NO_FUNCTIONS = "one against one decides by votes, and not by Q linear functions"
ASSUMED_C = "; and as far as the constant c is what it is taken for"


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

    name = "guaranteed-risk"
    column = "guaranteed_risk"
    kind = "index"
    applies = "at any C; a bound on the risk with --union"
    cost = "next to nothing"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The bound, its gamma, and whether it exceeds 1; the same beyond hard margin.

        ``carry`` is the last machine's tau with its columns.
        """
        if cell.machine.name == "ovo":
            return Score({self.column: None}, missing=f"{self.column}: {NO_FUNCTIONS}")
        tau = cell.solution.tau
        if carry is not None and carry[0] is tau:
            return Score(carry[1], carry)
        terms = guaranteed_risk(cell)
        columns = {
            self.column: terms.value,
            "guaranteed_risk_gamma": terms.gamma,
            "guaranteed_risk_vacuous": terms.vacuous,
        }
        return Score(columns, (tau, columns))


def guaranteed_risk(cell: Cell) -> GuaranteedRiskTerms:
    """All terms of the bound for a trained cell, under its constants.

    Of every gamma at which it may be least the best is taken.
    """
    constants = cell.constants
    d = constants.dimension or cell.kernel.dimension(cell.data.X.shape[1])
    c = constants.maurey_c if d is None else None
    solution: Solution | Composed = cell.solution
    if isinstance(solution, Composed):
        measured, margins = one_against_the_rest(solution)
    else:
        measured, margins = machines_of(solution), solution.margins
    H, delta = paid_for(measured, constants)
    gamma, share = margin_risks(0.5 * margins)
    if d is not None:
        ln_N = finite_dimension(H, gamma, d)
    else:
        ln_N = any_dimension(H, gamma, constants.maurey_c)
    confidence = confidence_interval(ln_N, gamma, delta, H.m)
    value = share + confidence
    best = int(value.argmin())
    return GuaranteedRiskTerms(
        float(value[best]) + 1.0 / H.m, float(gamma[best]), float(share[best]),
        float(confidence[best]), float(ln_N[best]), 2 if d is None else 3, d, c,
        H.Lambda_w, H.Lambda_Phi, H.beta, measured.Lambda_w, measured.beta,
        constants.delta, delta, constants.union, H.m, H.Q,
    )  # fmt: skip


def machines_of(solution: Solution) -> Machines:
    """The least class H that this machine is in; a class without samples is no part.

    With the quadratic loss that of w in the feature space itself: new samples do not
    meet the ridge of the augmented kernel.
    """
    dual = solution.dual
    b = solution.b[np.isfinite(solution.b)]
    squares = (solution.tau**2).sum(axis=1)
    norm = solution.norm_w_squared - float(dual.ridge @ squares)
    return Machines(
        Q=b.size,
        m=dual.m,
        Lambda_w=math.sqrt(max(0.0, norm)),
        Lambda_Phi=math.sqrt(max(0.0, float((dual.gram.diagonal - dual.ridge).max()))),
        beta=float(np.abs(b).max()),
    )


def one_against_the_rest(machine: Composed) -> tuple[Machines, Floats]:
    """The least class that its outputs are in, less their mean; the margins (m,).

    w_k = sum_i a_ik Phi(x_i), with the kernel itself under the quadratic loss, too.
    """
    parts, y, h = machine.parts, machine.parts.y, machine.outputs
    a = np.where(y[:, None] == np.arange(parts.Q), machine.alpha, -machine.alpha)
    a = a - a.mean(axis=1, keepdims=True)
    F = h - machine.b
    F = F - F.mean(axis=1, keepdims=True)
    b = machine.b - machine.b.mean()
    own = np.arange(y.size), y
    others = h.copy()
    others[own] = -np.inf
    found = Machines(
        Q=parts.Q,
        m=parts.m,
        Lambda_w=math.sqrt(max(0.0, float(np.vdot(a, F)))),
        Lambda_Phi=math.sqrt(max(0.0, float(parts.gram.diagonal.max()))),
        beta=float(np.abs(b).max()),
    )
    return found, np.asarray(h[own] - others.max(axis=1))


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
    gamma = np.append(ordered[first:last], 1.0)
    return gamma, ordered.searchsorted(gamma, side="left") / ordered.size


def confidence_interval(
    log_covering: Floats, gamma: Floats, delta: float, m: int
) -> Floats:
    """sqrt( 2/m ( ln 2 + ln N + ln(2 / (gamma delta)) ) )."""
    rest = math.log(4.0) - math.log(delta)
    return np.asarray(np.sqrt(2.0 / m * (log_covering + rest - np.log(gamma))))


@dataclass(frozen=True)
class Machines:
    """The class H: its bounds Lambda_w, Lambda_Phi and beta, for m samples."""

    Q: int
    m: int
    Lambda_w: float
    Lambda_Phi: float
    beta: float

    def biases(self, gamma: Floats) -> Floats:
        """Q ln(2 ceil(4 beta / gamma) + 1)."""
        grid = 2.0 * np.ceil(4.0 * self.beta / gamma) + 1.0
        return np.asarray(self.Q * np.log(grid))


def finite_dimension(machines: Machines, gamma: Floats, d: int) -> Floats:
    """Theorem 3, ln N where the feature space has the finite dimension d.

    ln N = biases + Q d ln(32 Lambda_w Lambda_Phi / gamma)

    Where the machine is next to nothing the last term would be negative: it counts the
    balls of a cover, of which there is one at least.
    """
    scale = 32.0 * machines.Lambda_w * machines.Lambda_Phi
    if scale <= 0.0:
        return machines.biases(gamma)
    exponent = float(machines.Q * min(d, HIGHEST_DIMENSION))
    balls = exponent * (math.log(scale) - np.log(gamma))
    return np.asarray(machines.biases(gamma) + np.maximum(balls, 0.0))


def any_dimension(machines: Machines, gamma: Floats, c: float) -> Floats:
    """Theorem 2, ln N whatever the feature space, with the logarithm of Lemma 1 kept.

    ln N = biases + ln 2 (n* - 1),   n* = min{ n : n >= A^2 log2(1 + 2Qm / n) },

    A = 8 c Lambda_w Lambda_Phi / gamma. The printed form is never smaller.
    """
    A = 8.0 * c * machines.Lambda_w * machines.Lambda_Phi / gamma
    n = least_whole(A, 2.0 * machines.Q * machines.m)
    return np.asarray(machines.biases(gamma) + math.log(2.0) * (n - 1.0))


def any_dimension_as_printed(machines: Machines, gamma: Floats, c: float) -> Floats:
    """Theorem 2 with log2(1 + y) <= y / ln 2, and a whole exponent:

    ln N = biases + ln 2 ( ceil( A sqrt(2Qm / ln 2) ) - 1 ).
    """
    A = 8.0 * c * machines.Lambda_w * machines.Lambda_Phi / gamma
    exponent = np.ceil(A * math.sqrt(2.0 * machines.Q * machines.m / math.log(2.0)))
    return np.asarray(
        machines.biases(gamma) + math.log(2.0) * np.maximum(exponent - 1.0, 0.0)
    )


def least_whole(A: Floats, M: float) -> Floats:
    """min{ n = 1, 2, .. : n >= A^2 log2(1 + M / n) }, for each A.

    With u = M / n the border is u ln(1 + u) = s, s = M ln 2 / A^2. The start is within
    11 % of that u for every s; three steps of Newton's method bring it to 1e-11.
    """
    highest = M * math.log1p(M)  # there n = 1
    square = np.maximum(A * A, M * math.log(2.0) / highest)
    s = np.maximum(M * math.log(2.0) / square, SMALLEST)
    u = s / np.log1p(s / np.log1p(np.sqrt(s)))
    for _ in range(3):
        grown = np.log1p(u)
        u -= (u * grown - s) / (grown + u / (1.0 + u))
    n = np.ceil(M / u * (1.0 - LAST_DIGITS))
    return np.asarray(np.maximum(n, 1.0))
