"""The cells of a sweep: scored along C, as rows; those that may be chosen are kept.

What a later step needs is kept, so that nothing is trained again: of the cells so far,
those that may still be chosen. For ``--select best`` it is the best one; for the other
rules those that tie with it, or are within one standard error, at most MOST of them,
the simplest first. A machine takes 24 m Q bytes there; its Gram matrix is not kept, but
computed again where it is needed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from msvm_select.columns import Row, Setting, answering, scored_columns
from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.errors import KernelError, SolverError
from msvm_select.handover import ALONE, Hands
from msvm_select.kernels.base import Kernel
from msvm_select.left_out import LeftOut, Watch, quiet, unwatched
from msvm_select.metrics.base import NEEDS, Answers, Metric
from msvm_select.metrics.counted import Error
from msvm_select.records import Dataset, Gram, Ints, Mask
from msvm_select.results.choosing import chosen, in_order_of_choice, within
from msvm_select.results.ranking import Results, rank
from msvm_select.settings import Settings
from msvm_select.solution import Solution
from msvm_select.sweep.race import Race
from msvm_select.train.along_C import Failed, Trained, along_C
from msvm_select.train.events import (
    CellDone,
    Event,
    GramTested,
    Progress,
    Scored,
    silent,
)
from msvm_select.train.prepare import Prepared, gram_of, prepared

MOST = 16  # cells
NO_GRAM = Gram()


@dataclass(frozen=True, eq=False)
class Chain:
    """The cells of one kernel setting, C ascending; ``known``: the rows there are.

    ``asked``: the C whose rows are wanted; None for all. It holds all that it needs, so
    that any executor can run it.
    """

    ready: Prepared
    kernel: Kernel
    known: Mapping[float, Row] = field(default_factory=dict)
    hands: Hands = ALONE
    race: Race | None = None
    asked: Collection[float] | None = None

    def run(
        self, progress: Progress = silent, Cs: Iterable[float] | None = None
    ) -> Iterator[CellDone]:
        """The cells whose rows are not known, with what there is to keep of them.

        Or those of ``Cs``, whichever way C goes.
        """
        settings, race = self.ready.settings, self.race
        watch = unwatched if race is None or settings.race is None else race.watch
        scoring = self.scoring(progress, watch)
        for cell in self.trained(progress, self._path if Cs is None else Cs):
            if self.lacks(cell.C):
                yield self.done(cell, scoring)
            elif isinstance(cell, Trained):
                self.pass_by(cell, scoring)

    def trained(
        self, progress: Progress, Cs: Iterable[float] | None = None
    ) -> Iterator[Trained | Failed]:
        """The machines at these C; by default those that its rows take."""
        path = self._path if Cs is None else Cs
        return along_C(self.ready, self.kernel, progress, path, self.hands)

    def scoring(self, progress: Progress, watch: Watch) -> Scoring:
        """What scores its cells."""
        settings, measures = self.ready.settings, self.ready.metrics
        return Scoring(self.kernel, settings, progress, watch, measures)

    def pass_by(self, cell: Trained, scoring: Scoring) -> None:
        """A cell whose row is there, or not wanted."""
        known = self.known.get(cell.C)
        if known is None or known.status != "failed":
            scoring.pass_by(cell.cell)

    def lacks(self, C: float) -> bool:
        """Whether its row is wanted, and not there."""
        return C not in self.known and (self.asked is None or C in self.asked)

    @property
    def lacking(self) -> list[float]:
        """The C whose rows it will make."""
        return [C for C in self.ready.settings.C if self.lacks(C)]

    @property
    def _path(self) -> list[float]:
        """The C to train at: where rows lack and, for warm starts, what leads there.

        A cell starts where the one before it ended, and is the same to the last bit
        only if that is done again.
        """
        lacking = self.lacking
        if not self.ready.settings.warm_start:
            return lacking
        return [C for C in self.ready.settings.C if C <= max(lacking, default=0.0)]

    def done(self, cell: Trained | Failed, scoring: Scoring) -> CellDone:
        """The row of a cell, scored now."""
        data, settings = self.ready.data, self.ready.settings
        point: dict[str, Any] = {
            "kernel": self.kernel.name,
            **self.kernel.parameters,
            "C": cell.C,
            "solver": settings.solver,
            "n_samples": data.m,
            "n_classes": data.Q,
            "drawn_from": data.drawn_from,
            "loss": None if settings.loss == "l1" else settings.loss,
            "machine": None if settings.machine == "ww" else settings.machine,
        }
        if isinstance(cell, Failed):
            row = Row(**point, status="failed", status_reason=cell.reason)
            return CellDone(row)
        row = Row.of({**point, **self.kernel.facts, **scoring.columns(cell)})
        return CellDone(row, trained=cell, left_out=scoring.left_out)


class Scoring:
    """Scores the cells of one kernel setting; criteria may keep something along C."""

    def __init__(
        self,
        kernel: Kernel,
        settings: Settings,
        progress: Progress,
        watch: Watch = unwatched,
        metrics: Sequence[Metric] = (),
    ) -> None:
        """Without warm starts nothing is kept from one C to the next.

        ``watch`` may end the judging of a cell; ``metrics`` are computed of the answers
        of the first criterion that has some.
        """
        self.kernel, self.progress, self.watch = kernel, progress, watch
        self.warm_start = settings.warm_start
        self.criteria = list(
            zip(settings.criteria, settings.parsed_criteria(), strict=True)
        )
        self.scored = scored_columns(settings.criteria)
        self._carries: list[Any] = [None] * len(self.criteria)
        self._passed: list[Cell] = []
        self._C = 0.0
        self.left_out: LeftOut | None = None
        self.metrics, self.measured = metrics, answering(settings.criteria)
        self._needs = max(
            (one.needs for one in metrics), key=NEEDS.index, default="wrong"
        )
        self._last: tuple[LeftOut | None, dict[str, float | None]] = (None, {})

    def pass_by(self, cell: Cell) -> None:
        """A cell whose row is known: it matters only for what the criteria keep."""
        self._passed.append(replace(cell, watch=self.watch))

    def columns(self, trained: Trained) -> dict[str, Any]:
        """The columns of the cell's row; ``seconds`` has what the scores took, too."""
        self._catch_up()
        if trained.C < self._C:
            self._carries = [None] * len(self.criteria)
        self._C = trained.C
        self.left_out = None
        columns = measured(trained.solution)
        cell = replace(trained.cell, watch=self.watch)
        reasons = [trained.warning, trained.solution.reason]
        for i, (name, criterion) in enumerate(self.criteria):
            began = time.perf_counter()
            try:
                score = criterion.score(self._asked(name, cell), self._carries[i])
            except (SolverError, KernelError) as error:
                columns["status"] = "failed"
                reasons.append(f"{name}: {error}")
                break
            finally:
                seconds = time.perf_counter() - began
                columns["seconds"] += seconds
            self.progress(Scored(self.kernel, trained.C, name, seconds))
            self._carries[i] = score.carry if self.warm_start else None
            columns |= self._named(name, criterion, score)
            if name == self.measured:
                columns["seconds"] += self._measure(trained, score, columns)
            self.left_out = self.left_out or score.left_out
            reasons.append(score.missing)
            if score.notes:
                columns["status"] = "not_converged"
                reasons += score.notes
        columns["status_reason"] = "; ".join(reason for reason in reasons if reason)
        return columns

    def _named(
        self, name: str, criterion: Criterion, score: Score
    ) -> dict[str, float | int | bool | None]:
        """The score under the column that it has in this sweep."""
        column = self.scored.get(name, criterion.column)
        return {
            column if key == criterion.column else key: value
            for key, value in score.columns.items()
        }

    def _measure(
        self, trained: Trained, score: Score, columns: dict[str, Any]
    ) -> float:
        """The metrics of the answers, if there are some; -> the seconds."""
        told, data = score.answers or score.left_out, trained.cell.data
        if told is not None:
            columns["by_class"] = by_class(told.y, told.wrong, data.Q)
        plain = data.weights is None and data.groups is None
        # a race cannot know the errors of those that it does not judge to their end
        asked = self.metrics or not (plain or self.watch is not unwatched)
        if told is None or not asked:
            return 0.0
        began = time.perf_counter()
        left_out, known = self._last
        if score.left_out is None or score.left_out is not left_out:
            answers = score.pooled(data)
            assert answers is not None
            known = measures(self.metrics, answers)
            known |= {} if plain else {"error_se": finite(Error().measured(answers)[1])}
        self._last = score.left_out, known
        columns |= known
        seconds = time.perf_counter() - began
        self.progress(Scored(self.kernel, trained.C, "metrics", seconds))
        return seconds

    def _catch_up(self) -> None:
        """Bring what the criteria keep to where it was after the cells passed by."""
        passed, self._passed = self._passed, []
        if not passed or not self.warm_start:
            return
        for i, (name, criterion) in enumerate(self.criteria):
            cells = [self._asked(name, cell) for cell in passed]
            with suppress(SolverError, KernelError):
                self._carries[i] = criterion.carried(cells, self._carries[i])

    def _asked(self, name: str, cell: Cell) -> Cell:
        """The cell as a criterion gets it: one of them is asked for its answers."""
        return replace(cell, needs=self._needs) if name == self.measured else cell


def by_class(y: Ints, wrong: Mask, Q: int) -> tuple[tuple[int, int], ...]:
    """Of each class how many samples are wrong, and how many there are."""
    pairs = np.bincount(y[wrong], minlength=Q), np.bincount(y, minlength=Q)
    return tuple(zip(*(counts.tolist() for counts in pairs), strict=True))


def measures(metrics: Iterable[Metric], answers: Answers) -> dict[str, float | None]:
    """Each metric with its standard error, by column; None for what is no number."""
    found: dict[str, float | None] = {}
    for metric in metrics:
        value, error = metric.measured(answers)
        told = {metric.column: value, f"{metric.column}_se": error}
        found |= {name: finite(number) for name, number in told.items()}
    return found


def finite(number: float) -> float | None:
    """None for what is no number."""
    return number if math.isfinite(number) else None


def measured(solution: Solution) -> dict[str, Any]:
    """What a Solution certifies of itself, by column.

    ``separable`` says that this machine separates its training samples; ``norm_w`` is
    sqrt(sum_k ||w_k||^2).
    """
    return {
        "status": "ok" if solution.converged else "not_converged",
        "train_errors": solution.train_errors,
        "n_sv": solution.n_sv,
        "n_bounded": solution.n_bounded,
        "separable": solution.train_errors == 0,
        "dual_objective": solution.dual_objective,
        "sum_alpha": solution.sum_alpha,
        "norm_w": math.sqrt(max(0.0, solution.norm_w_squared)),
        "gap": solution.gap,
        "kkt_violation": solution.kkt_violation,
        "b_unique": solution.b_unique,
        "iterations": solution.work.iterations,
        "seconds": solution.work.seconds,
    }


@dataclass(frozen=True, eq=False)
class KeptCell:
    """A machine without its Gram matrix, and what leave-one-out found, if asked for."""

    row: Row
    trained: Trained
    left_out: LeftOut | None

    def again(self, data: Dataset, settings: Settings) -> Trained:
        """The machine with its Gram matrix, ready for any criterion."""
        ready = prepared(data, settings)
        whole = on_gram(self.trained, gram_of(self.trained.kernel, ready))
        cell = replace(whole.cell, data=data, jobs=settings.jobs)
        return replace(whole, cell=cell)


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

    @cached_property
    def _told(self) -> Mapping[str, Any]:
        """The settings as results have them."""
        return asdict(self.settings)

    def _keep(self, event: CellDone) -> None:
        """The new cell, and of the others those that may still be chosen."""
        by, rule = self.settings.rank_by, self.settings.select
        rows = [event.row, *(cell.row for cell in self.cells.values())]
        ranked = rank(rows, by, self.settings.criteria)
        results = Results(ranked, by, settings=self._told)
        choice = chosen(results, rule).choice
        if choice is None:
            return
        near = within(results, choice.limit)
        most = 1 if rule == "best" else MOST
        staying = in_order_of_choice(near, rule)[:most]
        keys = dict.fromkeys((row.setting, row.C) for row in [*staying, near[0]])
        if (event.row.setting, event.row.C) in keys:
            self.cells[event.row.setting, event.row.C] = _light(event)
        self.cells = {key: self.cells[key] for key in keys}


def _light(event: CellDone) -> KeptCell:
    """Without the Gram matrix, the solver's own things and what can be computed."""
    assert event.trained is not None
    light = on_gram(event.trained, NO_GRAM)
    light = replace(light, cell=replace(light.cell, tell=quiet))
    return KeptCell(event.row, light, event.left_out)


def on_gram(trained: Trained, gram: Gram) -> Trained:
    """The same machine on that Gram matrix, or on none, and with nothing else kept."""
    solution = trained.cell.machine.on(gram, trained.solution)
    return replace(trained, cell=replace(trained.cell, solution=solution, gram=gram))
