"""What a later step needs of a sweep is kept, so that nothing is trained again.

The rule: of the cells so far, those that may still be chosen. For ``--select best`` it
is the best one; for the other rules those that tie with it, or are within one standard
error, at most MOST of them, the simplest first. A machine takes 24 m Q bytes there; its
Gram matrix is not kept, but computed again where it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from threading import Lock
from typing import Any

from msvm_select.columns import Row, Setting
from msvm_select.criteria.base import quiet
from msvm_select.kernels.base import Kernel
from msvm_select.left_out import LeftOut
from msvm_select.names import MACHINES
from msvm_select.records import Dataset, Gram
from msvm_select.results import Results, rank
from msvm_select.results.choosing import chosen, in_order_of_choice
from msvm_select.settings import Settings
from msvm_select.solution import Solution
from msvm_select.train.along_C import Trained
from msvm_select.train.events import CellDone, Event, GramTested, Progress, silent
from msvm_select.train.prepare import prepared

MOST = 16  # cells
NO_GRAM = Gram()


@dataclass(frozen=True, eq=False)
class KeptCell:
    """A machine without its Gram matrix, and what leave-one-out found, if asked for."""

    row: Row
    trained: Trained
    left_out: LeftOut | None

    def again(self, data: Dataset, settings: Settings) -> Trained:
        """The machine with its Gram matrix, ready for any criterion."""
        ready, trained = prepared(data, settings), self.trained
        solution, machine = trained.solution, MACHINES[settings.loss]()
        gram = trained.kernel.gram(ready.X)
        dual = machine.dual(gram, data.y, data.Q, trained.C)
        whole = replace(solution, dual=dual)
        cell = replace(trained.cell, data=data, jobs=settings.jobs, solution=whole)
        return replace(trained, cell=cell)


@dataclass(eq=False)
class Kept:
    """Listens to a sweep, tells all to ``listener``, and keeps what is worth it."""

    settings: Settings
    listener: Progress = silent
    tests: dict[Kernel, GramTested] = field(default_factory=dict)
    cells: dict[tuple[Setting, float], KeptCell] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def __call__(self, event: Event) -> None:
        """Events may come from several threads."""
        with self.lock:
            match event:
                case GramTested(kernel):
                    self.tests[kernel] = event
                case CellDone(trained=Trained()):
                    self._keep(event)
        self.listener(event)

    def of(self, row: Row) -> KeptCell | None:
        """The cell of a row, if it was kept."""
        return self.cells.get((row.setting, row.C))

    @property
    def gram(self) -> tuple[Mapping[str, Any], ...]:
        """What Mercer's test found of each kernel setting, in the order of the grid."""
        names = self.settings.kernel
        tests = sorted(
            self.tests.values(),
            key=lambda test: (names.index(test.kernel.name), test.kernel.roughness),
        )
        return tuple(test.facts for test in tests)

    def _keep(self, event: CellDone) -> None:
        """The new cell, and of the others those that may still be chosen."""
        by, rule = self.settings.rank_by, self.settings.select
        rows = [event.row, *(cell.row for cell in self.cells.values())]
        ranked = rank(rows, by, self.settings.criteria)
        results = Results(ranked, by, settings=asdict(self.settings))
        choice = chosen(results, rule).choice
        if choice is None:
            return
        column = results.column
        near = [r for r in results.counting if r.value(column) <= choice.limit]
        most = 1 if rule == "best" else MOST
        staying = in_order_of_choice(near, rule)[:most]
        keys = dict.fromkeys((row.setting, row.C) for row in [*staying, near[0]])
        if (event.row.setting, event.row.C) in keys:
            self.cells[event.row.setting, event.row.C] = _light(event)
        self.cells = {key: self.cells[key] for key in keys}


def _light(event: CellDone) -> KeptCell:
    """Without the Gram matrix, the solver's own things and what can be computed."""
    assert event.trained is not None
    cell = event.trained.cell
    found, dual = cell.solution, replace(cell.solution.dual, gram=NO_GRAM)
    solution = Solution(
        dual, found.tau, found.F, found.work, found.converged, found.reason
    )
    light = replace(cell, solution=solution, tell=quiet)
    return KeptCell(event.row, replace(event.trained, cell=light), event.left_out)
