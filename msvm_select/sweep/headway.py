"""How far a sweep is: what is done and under way, the best so far, the time."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from msvm_select.columns import Row
from msvm_select.results import Results, rank, ranking_column
from msvm_select.sweep.cost import Forecast, UnderWay
from msvm_select.train.events import (
    CellDone,
    CellProgress,
    CellStarted,
    Event,
    GramTested,
    Started,
    Widened,
)

LONG = 2.0  # seconds after which a cell tells how far it is
SHARE = 0.1  # of a cell that must be done before its own pace counts


@dataclass(frozen=True)
class Facts:
    """What there is to show at one moment.

    ``cell`` is the one under way, the latest begun, and ``within`` how far it is, if
    it is long; ``left`` is None as long as there is no ground for a guess, and what the
    rest takes at least as long as it is not ``sure``.
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
    """A cell under way since a time; ``paced`` is (first told, expected end)."""

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

    def at(self, now: float) -> UnderWay:
        """For the forecast."""
        left = None if self.ends is None else max(self.ends - now, 0.0)
        return UnderWay(now - self.since, left)


@dataclass(eq=False)
class Headway:
    """Hears the events of a sweep with the time of each; knows the facts at any."""

    began: float = 0.0
    cells: int = 0
    done: int = 0
    rank_by: str = ""
    best: Row | None = None
    length: int = 1
    forecast: Forecast = field(default_factory=lambda: Forecast(1, 1))
    working: dict[Hashable, Working] = field(default_factory=dict)

    def hear(self, event: Event, now: float) -> None:
        """Take note; the events of one kernel setting come in order."""
        match event:
            case Started():
                self._started(event)
            case Widened():
                self._widened(event)
            case GramTested(kernel, _, _, seconds):
                self.forecast.began(kernel.setting, seconds)
            case CellStarted(kernel, C):
                self.working.pop(kernel.setting, None)  # so that the latest is last
                text = f"{kernel} C={C:.6g}"
                self.working[kernel.setting] = Working(text, now)
            case CellProgress(kernel):
                if (work := self.working.get(kernel.setting)) is not None:
                    work.tell(event, now)
            case CellDone(row, resumed):
                self._finished(row, resumed, now)

    def facts(self, now: float) -> Facts:
        """What there is to show."""
        under_way = {chain: work.at(now) for chain, work in self.working.items()}
        left = self.forecast.left(under_way)
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
            self.forecast.sure,
        )

    def _started(self, event: Started) -> None:
        self.cells += event.cells
        self.length, self.rank_by = event.Cs, event.rank_by
        self.forecast = Forecast(event.kernels, event.Cs, event.jobs)

    def _widened(self, event: Widened) -> None:
        """A grid of its own, beside the one that is done."""
        self.cells += event.cells
        length = len(event.values) if event.name == "C" else self.length
        self.length += len(event.values) if event.name == "C" else 0
        chains = max(1, event.cells // length)
        self.forecast = Forecast(chains, length, self.forecast.jobs)

    def _finished(self, row: Row, resumed: bool, now: float) -> None:
        self.done += 1
        work = self.working.pop(row.setting, None)
        if resumed:
            self.forecast.done(row.setting)
        else:
            seconds = now - work.since if work else 0.0
            self.forecast.done(row.setting, seconds)
        if self.rank_by:
            rows = [old for old in (self.best, row) if old is not None]
            self.best = Results(rank(rows, self.rank_by), self.rank_by).best
