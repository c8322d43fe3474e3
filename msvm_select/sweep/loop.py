"""A sweep: the kernel settings, each with its loop over C, and the rows of all.

What does not depend on C (the Gram matrix, Mercer's test) is done once for a kernel
setting. The settings are independent of each other, so they may run at the same time.

What a later step needs is kept, so that nothing is trained again: of the cells so far,
those that may still be chosen. For ``--select best`` it is the best one; for the other
rules those that tie with it, or are within one standard error, at most MOST of them,
the simplest first. A machine takes 24 m Q bytes there; its Gram matrix is not kept, but
computed again where it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any

from msvm_select.columns import Row, Setting
from msvm_select.criteria.base import quiet
from msvm_select.data.frames import split_reading
from msvm_select.handover import interleave
from msvm_select.kernels.base import Kernel
from msvm_select.left_out import LeftOut
from msvm_select.names import MACHINES
from msvm_select.records import Dataset, Gram
from msvm_select.results import Results, rank
from msvm_select.results.choosing import chosen, in_order_of_choice
from msvm_select.results.identity import data_summary, versions
from msvm_select.settings import Settings, settings_from
from msvm_select.solution import Solution
from msvm_select.sweep.extend import Extension, grown_from
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.scoring import Chain
from msvm_select.train.along_C import Trained
from msvm_select.train.events import (
    CellDone,
    Event,
    GramTested,
    Progress,
    Resumed,
    silent,
)
from msvm_select.train.prepare import Prepared, prepared

Known = dict[Kernel, dict[float, Row]]
MOST = 16  # cells
NO_GRAM = Gram()


def run_sweep(
    data: Any,
    settings: Settings | None = None,
    *,
    progress: Progress = silent,
    journal: Journal | None = None,
    **values: Any,
) -> Results:
    """Train and score every cell; ``values`` are settings by name, over ``settings``.

    ``data`` is a path, a DataFrame, a pair (X, y) or a Dataset; among the ``values``
    may be the options of ``load_csv``, such as ``target``.

    >>> run_sweep("data/iris.csv", C="0.1,1,10", gamma=[0.1, 1]).best
    >>> run_sweep(frame, target="species").to_frame()

    With a ``Journal`` each finished cell is kept at once, and found again later.
    """
    data, values = split_reading(data, values)
    if values or settings is None:
        settings = settings_from(values, settings)
    kept = Kept(settings, progress)
    sweep = Extension(partial(iterate, data, journal=journal), settings, kept)
    with journal or nullcontext():
        rows = list(sweep)
    return gather(data, sweep.settings, rows, settings, kept.gram)


def gather(
    data: Dataset,
    settings: Settings,
    rows: list[Row],
    asked: Settings | None = None,
    gram: tuple[Mapping[str, Any], ...] = (),
) -> Results:
    """The rows that are finished, ranked, one chosen, with what they came from.

    ``asked`` are the settings before the grid was widened, if it was; ``gram`` says
    what Mercer's test found of each kernel setting.
    """
    ranked = Results(
        rows=rank(rows, settings.rank_by, settings.criteria),
        rank_by=settings.rank_by,
        data=data_summary(data),
        settings={**settings.deciding(), **grown_from(asked, settings)},
        versions=versions(),
        gram=gram,
    )
    return chosen(ranked, settings.select)


def iterate(
    data: Dataset,
    settings: Settings,
    progress: Progress = silent,
    journal: Journal | None = None,
) -> Iterator[Row]:
    """Yields rows as cells finish, unranked; a caller that stops early keeps them.

    Each is in the ``journal`` before it comes; those that were there come first.
    """
    ready = prepared(data, settings)
    ready.check_memory()
    progress(ready.started(ranked=True))
    known = _known(ready, journal, progress)
    for row in (row for rows in known.values() for row in rows.values()):
        progress(CellDone(row, resumed=True))
        yield row
    within, writing = max(1, settings.jobs // len(ready.kernels)), Lock()

    def told(kernel: Kernel) -> Iterator[Row]:
        """Each row kept in the journal and told before it comes."""
        for done in Chain(ready, kernel, known[kernel], within).run(progress):
            if journal is not None:
                with writing:
                    journal.add(done.row)
            progress(done)
            yield done.row

    lacking = [k for k in ready.kernels if len(known[k]) < len(settings.C)]
    yield from interleave([told(kernel) for kernel in lacking], settings.jobs)


def _known(ready: Prepared, journal: Journal | None, progress: Progress) -> Known:
    """The rows that the journal has, of each kernel setting by C."""
    if journal is None:
        return {kernel: {} for kernel in ready.kernels}
    journal.begin(ready.data, ready.settings)
    known = {k: journal.known(k, ready.settings.C) for k in ready.kernels}
    if journal.notes:
        count = sum(len(rows) for rows in known.values())
        progress(Resumed(str(journal.path), count, journal.notes))
        journal.notes = ()
    return known


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
