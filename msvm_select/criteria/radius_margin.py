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

*Machines of parts.* If every part judges p rightly without p, then so does the whole.
One against one: the class of p has the Q - 1 votes of its own pairs, and no other class
can have as many. One against the rest: its own output is > 0, and all others are < 0.
So an error of the whole without p is one of some part, and

    L <= #{ p : some part flags p } <= sum over parts of D^2 / gamma^2,

with the samples that the B* of a part counts, and D and gamma of its own samples. That
holds where it holds in every part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.criteria.flow_constant import Constant, FlowConstant
from msvm_select.geometry.ball import PROMISED, Ball, smallest_ball
from msvm_select.geometry.margins import weight_distances
from msvm_select.left_out import LeftOut
from msvm_select.parts import Composed
from msvm_select.records import Ints
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
    def missing(self) -> str:
        """Why there is no K; empty where there is one."""
        return self.flow.missing if self.K is None else ""

    @property
    def ball_gap(self) -> float:
        """That of the worse of the two balls."""
        return max(self.ball.gap, self.ball_all.gap)

    @property
    def two_classes(self) -> TwoClasses | None:
        """Theorem 1, for Q = 2 only."""
        if self.solution.dual.Q != 2:
            return None
        distance = float(weight_distances(self.solution)[0, 1])
        reach = 2.0 * self.solution.alpha.max(axis=1) * self.diameter**2
        large = int((reach >= 1.0 - 1e-9).sum())
        gamma = 1.0 / distance if distance > 0.0 else math.inf
        return TwoClasses(gamma, (self.diameter * distance) ** 2, large)


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


def applicability(
    solution: Solution, left_out: LeftOut | None, asked: float | None = None
) -> tuple[bool, str]:
    """Whether leave-one-out is bounded, and why (not).

    ``asked`` is the C that the user knows, where the problem has another: in a part.
    """
    if not solution.converged:
        return False, "the training did not converge"
    if solution.dual.quadratic is not None:
        return True, "with the quadratic loss nothing bounds alpha"
    if not solution.hard_margin:
        n = solution.n_bounded
        return False, f"{n} sample{'s have' if n > 1 else ' has'} an alpha = C"
    if solution.train_errors:
        return False, "the machine does not separate its samples"
    C, half = float(solution.dual.box.min()), 0.5 * solution.sum_alpha
    weighed = solution.dual.C / C  # the smallest box is that of the least weight
    least = half * weighed * (1.0 if asked is None else asked / solution.dual.C)
    if half < C:
        return (
            True,
            f"every alpha is below C, with any sample left out too: C > {least:g}",
        )
    if left_out is None:
        return False, (
            f"without some sample an alpha might reach C; C > {least:.6g} excludes it"
        )
    if left_out.at_top.any():
        return False, "without some sample an alpha reaches C"
    return True, "every alpha is below C, with any sample left out too"


NO_WEIGHTS = "radius_margin_l1 is not defined with weights"
Flags = Callable[[RadiusMargin], Ints]


@dataclass(frozen=True, eq=False)
class PartBound:
    """The terms of one part; ``name`` are its classes, ``flagged`` samples of B*.

    ``bound`` is 2 D^2 sum alpha, which is D^2/gamma^2 at the hard margin; ``bound_q``
    is D_all^2/gamma^2, with the ball of all samples of the part.
    """

    name: str
    ball: Ball
    ball_all: Ball
    gamma: float
    bound: float
    bound_q: float
    applicable: bool
    reason: str
    flagged: Ints | None

    @property
    def ball_gap(self) -> float:
        """That of the worse of its balls."""
        return max(self.ball.gap, self.ball_all.gap)


@dataclass(frozen=True, eq=False)
class OverParts:
    """The bounds of the whole; ``counted`` are the samples that some part flags.

    Parts without a support vector are not among ``parts``.
    """

    machine: Composed
    parts: tuple[PartBound, ...]
    applicable: bool
    reason: str
    counted: Ints | None

    K: ClassVar[float] = 2.0  # of two classes
    missing: ClassVar[str] = ""

    @property
    def diameter(self) -> float:
        """The largest D of the support vectors of a part."""
        return max(part.ball.diameter for part in self.parts)

    @property
    def diameter_all(self) -> float:
        """The largest D of the samples of a part."""
        return max(part.ball_all.diameter for part in self.parts)

    @property
    def bound(self) -> float:
        """sum over parts of D^2/gamma^2."""
        return sum(part.bound for part in self.parts)

    @property
    def bound_q(self) -> float:
        """sum over parts of D_all^2/gamma^2."""
        return sum(part.bound_q for part in self.parts)

    @property
    def worst(self) -> PartBound:
        """The part with the largest bound."""
        return max(self.parts, key=lambda part: part.bound)

    @property
    def ball_gap(self) -> float:
        """That of the worst ball."""
        return max(part.ball_gap for part in self.parts)


def over_parts(
    cell: Cell,
    last: OverParts | None = None,
    left_out: LeftOut | None = None,
    flags: Flags | None = None,
) -> OverParts | None:
    """The bounds of a trained machine of parts; None where it has no support vector.

    ``last`` is that of another C of the same kernel setting, whose balls are begun at;
    ``left_out`` says whether C binds a part without a sample. ``flags`` tells which
    samples of a part may be errors; it is asked where the bound holds.
    """
    machine: Any = cell.solution
    begun = dict[str, PartBound]()
    if last is not None:
        known = last.counted is not None or flags is None
        if last.machine.tau is machine.tau and last.applicable and known:
            return replace(last, machine=machine)
        begun = {part.name: part for part in last.parts}
    found = list(_parts(cell, machine, begun, left_out, flags))
    if not found:
        return None
    open_ones = [part for part in found if not part.applicable]
    applicable, reason = not open_ones, found[0].reason
    if not cell.mercer:
        applicable, reason = False, "the Gram matrix is indefinite"
    elif not machine.converged:
        applicable, reason = False, "the training did not converge"
    elif open_ones:
        of = f"{len(open_ones)} of {len(found)} parts: "
        reason = f"not in {of}{open_ones[0].name}, {open_ones[0].reason}"
    elif len(found) > 1:
        reason = f"in every part {reason.partition(': C >')[0]}"
    counted = None
    if flags and applicable:
        every = [part.flagged for part in found if part.flagged is not None]
        counted = np.unique(np.concatenate(every))
    return OverParts(machine, tuple(found), applicable, reason, counted)


def _parts(
    cell: Cell,
    machine: Composed,
    begun: dict[str, PartBound],
    left_out: LeftOut | None,
    flags: Flags | None,
) -> Iterator[PartBound]:
    """Part after part: none keeps its block of the Gram matrix."""
    names = part_names(machine, cell.data.classes)
    asked = flags if cell.mercer and machine.converged else None
    for t, ((part, solution), name) in enumerate(
        zip(machine.solutions(), names, strict=True)
    ):
        cell.tell(t, machine.parts.count)
        flow, gram = FlowConstant(solution), solution.dual.gram
        if flow.rows.size == 0:
            continue
        before = begun.get(name)
        ball_all = smallest_ball(gram, start=before.ball_all if before else None)
        start = before.ball if before else ball_all
        ball = smallest_ball(gram, flow.rows, start)
        applicable, reason = applicability(solution, left_out, asked=machine.parts.C)
        terms = RadiusMargin(solution, ball, ball_all, flow, applicable, reason)
        asked = asked if applicable else None  # one is enough to have no bound
        flagged = part.rows[asked(terms)] if asked else None
        two = terms.two_classes
        assert two is not None
        yield PartBound(
            name, ball, ball_all, two.gamma,
            OverParts.K * ball.diameter**2 * solution.sum_alpha, terms.bound_q,
            applicable, reason, flagged,
        )  # fmt: skip


def part_names(machine: Composed, classes: Iterable[str]) -> list[str]:
    """Of each part: ``setosa against virginica``, or ``setosa against the rest``."""
    names = tuple(classes)
    columns = zip(*machine.parts.flat[3].T.tolist(), strict=True)
    if machine.parts.kind == "ova":
        return [f"{names[k]} against the rest" for k, _ in columns]
    return [f"{names[a]} against {names[b]}" for b, a in columns]


class RadiusMarginBound(Criterion):
    """K D^2 sum alpha; Q D_all^2 sum_k ||w_k||^2 beside it. Of parts, the sums."""

    name = "radius-margin"
    column = "radius_margin"
    kind = "bound"
    applies = "hard margin (every alpha < C), b unique; with l2 always"
    cost = "two balls, the larger once a kernel setting"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The bound with its parts; ``carry`` is the last C's."""
        terms: RadiusMargin | OverParts | None
        if isinstance(cell.solution, Composed):
            terms = over_parts(cell, carry)
        else:
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
        worst = terms.ball_gap
        note = (
            f"the smallest ball has a relative gap of {worst:.2g}, above {PROMISED:g}"
        )
        notes = (note,) if worst > PROMISED else ()
        why = (
            f"K and {self.column} are missing: {terms.missing}" if terms.missing else ""
        )
        return Score(columns, terms, notes, missing=why)


class RadiusMarginL1(Criterion):
    """Q (D^2 + 1/C) (sum_k ||w_k||^2 + 2C sum xi), D the diameter of all samples.

    It follows Chung, Kao, Sun, Wang and Lin (2003), who soften the radius-margin bound
    of two classes so that it is smooth in C and needs no separation: (R^2 + 1/C')
    (||w||^2 + 2C' sum xi), for the ordinary SVM at C'. With Q = 2 it is theirs: here
    C' = 2C, w = w_1 - w_2, R = D/2.
    """

    name = "radius-margin-l1"
    of_machines = ("ww",)
    column = "radius_margin_l1"
    kind = "index"
    applies = "with the loss l1"
    cost = "one ball a kernel setting"
    losses = ("l1",)

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The value; ``carry`` is the ball, with the Gram matrix that it is of."""
        if cell.solution.dual.weights is not None:
            return Score({self.column: None}, missing=NO_WEIGHTS)
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
