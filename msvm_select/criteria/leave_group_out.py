"""Leave-one-group-out: rows that belong together are judged without each other.

Several rows of one patient, speaker, batch or molecule are more alike than new ones
will be. A machine that has seen some of them knows the others, and plain leave-one-out
is then far too good. Here all rows of a group leave at once.

Along C these machines of a group differ from the full one in much the same way: of one
against one and one against all each begins at the full machine, moved as the group has
moved the last.

As in leave-one-out, the scaling is that of all rows, a tie is an error (but with one
against one or against all) and so is every row of a class that leaves with its group.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from msvm_select.criteria.base import Cell, Criterion, Score, no_optimum
from msvm_select.metrics.base import Answers
from msvm_select.records import Floats, Ints, Mask

MOST_MOVED = 10**7  # numbers that are kept from one C to the next, of all groups


class Told(NamedTuple):
    """Of the rows of a group the class (-1: none) and the outputs (rows, Q).

    The outputs are 0 where nobody asked for them. ``moved`` (m, Q): by how much their
    leaving moved the full machine's alpha, where that is kept.
    """

    predicted: Ints
    outputs: Floats
    hard_margin: bool = True
    reason: str = ""
    moved: Floats | None = None


@dataclass(frozen=True, eq=False)
class Carried:
    """What the last cell's groups were told, and its machine."""

    found: list[Told]
    solution: Any

    def holds_for(self, solution: Any) -> bool:
        """Whether C has left behind the full machine and all those without a group."""
        same = solution.tau is self.solution.tau and solution.hard_margin
        return same and all(told.hard_margin for told in self.found)


class LeaveOneGroupOut(Criterion):
    """L / m with L = #{ p : the machine trained without p's group gets p wrong }.

    Each of these machines is trained to its optimum, from the full machine less the
    group.
    """

    name = "logo"
    column = "logo_rate"
    kind = "exact"
    applies = "at every optimum"
    cost = "a training for each group, begun at the full machine"
    needs_groups = True

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """Errors and rate, and the answers."""
        if none := no_optimum(cell, "leave-one-group-out"):
            return none
        data = cell.data
        assert data.groups is not None
        last = carry if isinstance(carry, Carried) else None
        if last is not None and last.holds_for(cell.solution):
            found = last.found
        else:
            found = self._found(cell, data.groups, last)
        predicted = np.full(data.m, -1)
        outputs = np.zeros((data.m, data.Q))
        for g, told in enumerate(found):
            rows = data.groups == g
            predicted[rows], outputs[rows] = told.predicted, told.outputs
        wrong = predicted != data.y
        columns = {"logo_errors": int(wrong.sum()), self.column: data.share(wrong)}
        reasons = [told.reason for told in found if told.reason]
        notes = (f"{len(reasons)} groups: {reasons[0]}",) if reasons else ()
        answers = None
        if cell.needs:
            answers = Answers.of(
                data.y, predicted, outputs, None, data.weights, data.groups
            )
        carried = Carried(found, cell.solution)
        return Score(columns, carried, notes, answers=answers)

    def _found(self, cell: Cell, groups: Ints, last: Carried | None) -> list[Told]:
        """Group after group, or some at the same time."""
        count = int(groups.max()) + 1
        keeps = count * cell.data.m * cell.data.Q <= MOST_MOVED

        def judge(g: int) -> Told:
            cell.tell(g, count)
            moved = None if last is None else last.found[g].moved
            told = judged_without(cell, groups == g, moved)
            return told if keeps else told._replace(moved=None)

        if cell.jobs == 1:
            found = [judge(g) for g in range(count)]
        else:
            with ThreadPoolExecutor(cell.jobs) as pool:
                found = list(pool.map(judge, range(count)))
        cell.tell(count, count)
        return found


def judged_without(cell: Cell, rows: Mask, moved: Floats | None = None) -> Told:
    """What the machine trained without these rows says of them.

    ``moved`` (m, Q): by how much their leaving moved alpha at another C.
    """
    y, Q, keep = cell.data.y, cell.data.Q, ~rows
    at, left = np.flatnonzero(rows), np.unique(y[keep])
    outputs = np.zeros((at.size, Q))
    if cell.needs == "outputs":  # a class that is gone has the least
        outputs[:, np.setdiff1d(np.arange(Q), left)] = -np.inf
    if left.size == 1:  # nothing to train: everything is of that class
        return Told(np.full(at.size, left[0]), outputs)
    if left.size == np.unique(y).size:
        machine, others = cell.machine.without(cell.solver, cell.solution, rows, moved)
        left, moved = np.arange(Q), cell.machine.moved(cell.solution, machine)
    else:
        machine, others = _of_fewer_classes(cell, keep, left), np.flatnonzero(keep)
        moved = None
    K = cell.gram.block(at, others)
    labels = machine.labels(K)
    if cell.needs == "outputs":
        outputs[:, left] = machine.outputs_at(K)
    reason = "" if machine.converged else machine.reason
    predicted = np.where(labels < 0, -1, left[labels])
    return Told(predicted, outputs, machine.hard_margin, reason, moved)


def _of_fewer_classes(cell: Cell, keep: Mask, left: Ints) -> Any:
    """Trained anew, since the full machine has classes that are gone."""
    weights = cell.solution.dual.weights
    return cell.machine.train(
        cell.solver, cell.gram.part(keep), np.searchsorted(left, cell.data.y[keep]),
        left.size, cell.machine.C_of(cell.solution), certain=cell.mercer,
        weights=None if weights is None else weights[keep],
    )  # fmt: skip
