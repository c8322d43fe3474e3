"""Counted errors: of leave-one-out, of training, and a bound by support vectors.

Scaling and all other preprocessing is fitted on all rows; a class with one sample is an
error by definition, since it cannot be predicted without it; ties are errors, but with
one against one or against all, where the first of the classes is the answer. How the
samples are left out is the solver's business (``Solver.leave_out``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from msvm_select.criteria.base import Cell, Criterion, Score, no_optimum
from msvm_select.left_out import (
    BY_TRAINING,
    RETRAINED,
    HopelessError,
    LeftOut,
    joined,
    unwatched,
)
from msvm_select.metrics.base import Answers
from msvm_select.records import Mask
from msvm_select.solution import Solution


@dataclass(frozen=True, eq=False)
class Carried:
    """The last cell's answers, and the machine that they are of."""

    left_out: LeftOut
    solution: Solution


@dataclass(frozen=True, eq=False)
class Hopeless:
    """How the last cell lost a race, and its machine."""

    end: HopelessError
    solution: Solution

    def holds_for(self, solution: Solution) -> bool:
        """Whether the cell is a copy, whose known errors are the same."""
        same = solution.tau is self.solution.tau
        return same and solution.hard_margin and self.end.lasting


def bounded(end: HopelessError, solution: Solution) -> Score:
    """Of a cell that lost a race: between what its errors lie.

    Its traceback would hold all that was computed for the cell.
    """
    end.__traceback__ = None
    columns = {"loo_errors_low": end.low, "loo_errors_high": end.high}
    return Score(columns, Hopeless(end, solution))


class LeaveOneOut(Criterion):
    """L / m with L = #{ p : the machine trained without p gets p wrong }."""

    name = "loo"
    column = "loo_rate"
    kind = "exact"
    applies = "at every optimum"
    cost = "about the training for few classes, far more for many"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """Errors, rate, how many margins are within 1e-7 of 0, how many retrained.

        In a race also between what the errors lie; of a cell that loses it that alone.
        """
        if none := no_optimum(cell, "leave-one-out"):
            return none
        if isinstance(carry, Hopeless) and carry.holds_for(cell.solution):
            return bounded(carry.end, cell.solution)
        if isinstance(carry, Carried) and same_beyond_hard_margin(carry, cell.solution):
            left_out = carry.left_out
        else:
            try:
                cell.watch(0, cell.data.m)  # who knows that it has lost says so
                left_out = leave_each_out(
                    cell, every_margin=asks_for_all(cell), proven=False
                )
            except HopelessError as end:
                return bounded(end, cell.solution)
        columns = {
            "loo_errors": left_out.errors,
            "loo_rate": cell.data.share(left_out.wrong),
            "loo_ambiguous": left_out.ambiguous,
            "loo_retrained": left_out.count(RETRAINED),
        }
        if cell.watch is not unwatched:
            both = ("loo_errors_low", "loo_errors_high")
            columns |= dict.fromkeys(both, left_out.errors)
        return Score(columns, Carried(left_out, cell.solution), left_out=left_out)

    def carried(self, cells: Sequence[Cell], carry: Any = None) -> Any:
        """Only copies of the last machine can ask for its answers: no other again."""
        last = cells[-1].solution
        if not last.hard_margin:
            return None
        copies = [cell for cell in cells if cell.solution.tau is last.tau]
        return super().carried(copies, carry)


class Balanced(Criterion):
    """The same, with the mass of each class kept when a sample leaves it.

    Without p its class is smaller, and a machine that sees little else than the sizes
    of the classes votes against it: at a small C most answers are wrong. Here the
    others of its class get the box C_i M_k / (M_k - w_p), M_k the weight of the class.
    The machine with these boxes and p is trained first; then p leaves that one.
    """

    name = "loo:balanced"
    column = "loo_balanced_rate"
    kind = "exact"
    applies = "at every optimum"
    cost = "leave-one-out, and one more training for each class"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The rate, and the answers."""
        if none := no_optimum(cell, "leave-one-out"):
            return none
        reasons: list[str] = []
        found = joined(self._of_each_class(cell, reasons))
        columns = {self.column: cell.data.share(found.wrong)}
        notes = (f"{len(reasons)} classes: {reasons[0]}",) if reasons else ()
        answers = Answers.left_out(found, cell.data) if cell.needs else None
        return Score(columns, notes=notes, answers=answers)

    def _of_each_class(
        self, cell: Cell, reasons: list[str]
    ) -> Iterator[tuple[Mask, LeftOut]]:
        """Those who leave the same machine together: of one class and one weight.

        ``reasons`` gets why a machine did not converge.
        """
        y, dual = cell.data.y, cell.solution.dual
        weights = np.ones(y.size) if dual.weights is None else dual.weights
        mass, C = np.bincount(y, weights), cell.machine.C_of(cell.solution)
        for k, own in sorted(set(zip(y.tolist(), weights.tolist(), strict=True))):
            asked, single = (y == k) & (weights == own), np.sum(y == k) == 1
            grown = 1.0 if single else mass[k] / (mass[k] - own)
            machine = cell.machine.train(
                cell.solver, cell.gram, y, cell.data.Q, C, cell.solution, cell.mercer,
                cell.jobs, np.where(y == k, grown * weights, weights),
            )  # fmt: skip
            if not machine.converged:
                reasons.append(machine.reason)
            yield asked, cell.machine.leave_out(
                cell.solver, machine, every_margin=asks_for_all(cell), proven=False,
                only=asked, jobs=cell.jobs, tell=cell.tell,
            )  # fmt: skip


def asks_for_all(cell: Cell) -> bool:
    """Whether somebody asks for more than who is wrong.

    Of two classes that tells the answer, and so do votes.
    """
    unsaid = cell.data.Q > 2 and cell.machine.name == "ww"
    return cell.needs == "outputs" or (cell.needs == "predicted" and unsaid)


class SupportCount(Criterion):
    """n_SV / m: a bound on the leave-one-out error rate, where b is unique.

    Without a sample whose alpha are all zero the optimum stays as it is; so only
    support vectors (training errors are some) can be wrong when they are left out.
    """

    name = "sv-rate"
    column = "sv_rate"
    kind = "bound"
    applies = "for loo_rate, if b is unique"
    cost = "nothing"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The share."""
        return Score({self.column: cell.data.share(cell.solution.is_support_vector)})


class TrainErrors(Criterion):
    """The number of training samples with h_{y_i} <= max_{k != y_i} h_k."""

    name = "train-errors"
    column = "train_errors"
    kind = "index"
    applies = "always; too low, above all for a large C"
    cost = "nothing"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The count."""
        answers = training_answers(cell) if cell.needs else None
        return Score({self.column: cell.solution.train_errors}, answers=answers)


def training_answers(cell: Cell) -> Answers:
    """What the machine says of the samples that it was trained on."""
    found = cell.solution.in_training(cell.needs == "outputs")
    return Answers.left_out(found, cell.data)


def same_beyond_hard_margin(carried: Carried, solution: Solution) -> bool:
    """Whether C has left every machine behind: the full one and all without a sample.

    To remove a sample can raise other alphas above C, so each machine is asked.
    """
    return (
        solution.tau is carried.solution.tau
        and solution.hard_margin
        and not carried.left_out.at_top.any()
        and carried.left_out.count(BY_TRAINING) == 0
    )


def every_margin_of(cell: Cell, known: LeftOut | None = None) -> LeftOut:
    """The answers with every output: those that are ``known``, where they have them."""
    if known is not None and not np.isnan(known.outputs).any():
        return known
    return leave_each_out(cell, every_margin=True)


def leave_each_out(
    cell: Cell, *, every_margin: bool = False, proven: bool = True
) -> LeftOut:
    """Every sample judged without itself, by the solver's own road."""
    return cell.machine.leave_out(
        cell.solver, cell.solution, every_margin=every_margin, proven=proven,
        jobs=cell.jobs, tell=cell.tell, watch=cell.watch,
    )  # fmt: skip
