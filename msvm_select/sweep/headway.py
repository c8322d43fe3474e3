"""How far a sweep is: what is done and under way, the best so far, the time.

The finished cells tell what the others cost, by the model of ``costs``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

from msvm_select.columns import Row
from msvm_select.results.ranking import Results, rank, ranking_column
from msvm_select.sweep.costs import (
    Costs,
    Estimate,
    Place,
    hard_margin,
    in_parallel,
)
from msvm_select.train.events import (
    CellDone,
    CellProgress,
    CellStarted,
    Event,
    GramTested,
    Started,
    Widened,
    Workers,
)

LONG = 2.0  # seconds after which a cell tells how far it is
SHARE = 0.1  # of a cell that must be done before its own pace counts
GROUND = 2  # trained cells before anything is said
OVERTIME = 0.25  # of the time that a cell took so far, once it outlasts its guess


@dataclass(frozen=True)
class Facts:
    """What there is to show at one moment.

    ``cell`` is the one under way, the latest begun, and ``within`` how far it is, if
    it is long; ``left`` is None as long as there is no ground for a guess, and what the
    rest takes at least as long as it is not ``sure``. While ``compiling`` is so, the
    first cell waits for that.
    """

    done: int
    cells: int
    elapsed: float
    left: float | None = None
    cell: str = ""
    within: str = ""
    best: Row | None = None
    rank_by: str = ""
    sure: bool = True
    compiling: bool = False

    @property
    def best_column(self) -> str:
        """What the best is the best by."""
        return ranking_column(self.rank_by, self.best.further if self.best else ())

    @property
    def best_value(self) -> str:
        """For a person."""
        value = self.best and self.best.value(self.best_column)
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    @property
    def best_cell(self) -> str:
        """Where the best is."""
        return "" if self.best is None else self.best.cell


@dataclass(eq=False)
class Working:
    """A cell under way since a time; ``ends`` is its end by its own pace."""

    text: str
    since: float
    within: str = ""
    told: float | None = None
    ends: float | None = None

    def tell(self, event: CellProgress, now: float) -> None:
        """So many of so many steps: the rest goes on at this pace."""
        self.told = now if self.told is None else self.told
        self.within = f"{event.done} of {event.of} samples" if event.done else ""
        if event.done >= SHARE * event.of:
            self.ends = now + (now - self.told) * (event.of / event.done - 1.0)

    def rest(self, guess: float, now: float) -> float:
        """By its own pace, else by what such a cell costs."""
        if self.ends is not None:
            return max(self.ends - now, 0.0)
        return max(guess - (now - self.since), OVERTIME * (now - self.since))


@dataclass(eq=False)
class Headway:
    """Hears the events of a sweep with the time of each; knows the facts at any.

    ``todo`` has the C that are left of each kernel setting that has begun, in order.
    """

    began: float = 0.0
    cells: int = 0
    done: int = 0
    rank_by: str = ""
    best: Row | None = None
    samples: int = 0
    jobs: int = 1
    cores: int | None = None
    gram: float = 0.0
    until: float = math.inf
    compiling: bool = False
    costs: Costs = field(default_factory=lambda: Costs(0, ()))
    todo: dict[Hashable, list[float]] = field(default_factory=dict)
    working: dict[Hashable, Working] = field(default_factory=dict)

    def hear(self, event: Event, now: float) -> None:
        """Take note; the events of one kernel setting come in order."""
        match event:
            case Started():
                self.cells += event.cells
                self.compiling = bool(event.note)
                self.rank_by, self.samples, self.jobs = (
                    event.rank_by,
                    event.m,
                    event.jobs,
                )
                self.costs = Costs(event.kernels, event.C)
                if event.time_budget is not None:
                    self.until = now + event.time_budget
            case Widened():
                self._widened(event)
            case Workers():
                self.jobs = self.cores = max(event.lanes, 1)
            case GramTested():
                self.gram = event.seconds
            case CellStarted(kernel, C):
                self._place(kernel.setting)
                self.working.pop(kernel.setting, None)  # so that the latest is last
                text = f"{kernel} C={C:.6g}"
                self.working[kernel.setting] = Working(text, now)
            case CellProgress(kernel):
                if (work := self.working.get(kernel.setting)) is not None:
                    work.tell(event, now)
            case CellDone():
                self._finished(event, now)

    def facts(self, now: float) -> Facts:
        """What there is to show."""
        left, sure = self._left(now)
        room = max(self.until - now, 0.0)
        if room < math.inf and (left is None or left >= room):
            left, sure = room, True
        last = next(reversed(self.working.values()), None)
        return Facts(
            self.done,
            self.cells,
            now - self.began,
            left,
            last.text if last else "",
            last.within if last and now - last.since >= LONG else "",
            self.best,
            self.rank_by,
            sure,
            self.compiling,
        )

    def _place(self, setting: Hashable) -> int:
        """Of a kernel setting, in the order in which they begin."""
        self.todo.setdefault(setting, list(self.costs.Cs))
        return list(self.todo).index(setting)

    def _widened(self, event: Widened) -> None:
        """Another C for each kernel setting, or another setting for each C."""
        self.cells += event.cells
        if event.name == "C":
            self.todo = {setting: list(event.values) for setting in self.todo}
            self.costs.Cs = sorted({*self.costs.Cs, *event.values})
        else:
            self.costs.kernels += event.cells // len(self.costs.Cs)

    def _finished(self, cell: CellDone, now: float) -> None:
        self.done += 1
        self.compiling = self.compiling and cell.resumed
        row, work = cell.row, self.working.pop(cell.row.setting, None)
        place = Place(self._place(row.setting), row.C)
        if row.C in (todo := self.todo[row.setting]):
            todo.remove(row.C)
        took = row.seconds if cell.resumed else now - work.since if work else None
        if took is not None:
            self.costs.tell(place, self.samples, took, hard_margin(cell))
        if self.rank_by:
            rows = [old for old in (self.best, row) if old is not None]
            self.best = Results(rank(rows, self.rank_by), self.rank_by).best

    def _left(self, now: float) -> tuple[float | None, bool]:
        """Seconds until all is done, None without ground; or at least, if not sure."""
        costs = self.costs
        if len(costs.told) < GROUND:
            paced = [w.rest(0.0, now) for w in self.working.values() if w.ends]
            return (paced[0] if paced and self.cells - self.done == 1 else None), True
        to_come = [(None, costs.Cs)] * (costs.kernels - len(self.todo))
        chains = [*self.todo.items(), *to_come]
        places = [Place(k, C) for k, (_, Cs) in enumerate(chains) for C in Cs]
        seconds, doubt = costs.seconds(places, self.samples)
        rests, first = [], 0
        for setting, Cs in chains:
            each = seconds[first : first + len(Cs)]
            first += len(Cs)
            if each.size and (work := self.working.get(setting)) is not None:
                each[0] = work.rest(float(each[0]), now)
            rests.append(float(each.sum()) + (self.gram if setting is None else 0.0))
        middle = in_parallel(rests, self.jobs, self.cores)
        found = Estimate.of(middle, doubt)
        return (found.low, False) if found.high is None else (middle, True)
