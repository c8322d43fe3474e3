"""How far a sweep is: what is done and under way, the best so far, the time.

The finished cells tell what the others cost (``Forecast``). Beyond hard margin cells
are copies and cost nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np

from msvm_select.columns import Row
from msvm_select.records import Floats, Mask
from msvm_select.results.ranking import Results, rank, ranking_column
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
GROUND = 2  # trained cells before anything is said
SMALL, COPY = 0.01, 0.0005  # of the dearest cell of its setting; seconds
ROUGHER = 4.0  # the cost of the roughest setting by that of the smoothest, as a rule
OVERTIME = 0.25  # of the time that a cell took so far, once it outlasts its guess
LATEST = 3  # cells that tell what a setting costs of the time of the last one


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


@dataclass(frozen=True)
class UnderWay:
    """A cell at work for so many seconds; ``left`` by its own pace, if it has one."""

    seconds: float
    left: float | None = None

    def rest(self, guess: float) -> float:
        """By its own pace, else by what such a cell costs."""
        if self.left is not None:
            return self.left
        return max(guess - self.seconds, OVERTIME * self.seconds)


@dataclass(eq=False)
class Forecast:
    """Hears what cells took, by kernel setting (``chain``), C ascending within each.

    Cells are far from equal. One is guessed to cost what the same C cost in the last
    setting, times what its own setting has cost so far of that one's time. Rougher
    settings that have not begun cost more, as a rule, and come to copies sooner.

    ``jobs`` settings are under way at the same time.
    """

    chains: int
    length: int
    jobs: int = 1
    open: dict[Hashable, list[float]] = field(default_factory=dict)
    ended: int = 0
    model: Floats | None = None
    trained: int = 0
    grams: list[float] = field(default_factory=list)

    def began(self, chain: Hashable, seconds: float) -> None:
        """A setting's Gram matrix is there."""
        self.open.setdefault(chain, [])
        self.grams.append(seconds)

    def done(self, chain: Hashable, seconds: float = np.nan) -> None:
        """The setting's next cell; without ``seconds`` it is from an earlier run."""
        cells = self.open.setdefault(chain, [])
        cells.append(seconds)
        self.trained += bool(seconds > 0.0)
        if len(cells) == 2 and SMALL * cells[0] < seconds < cells[0]:
            cells[0] = seconds  # what is loaded at first use is not a cell's cost
        if len(cells) == self.length:
            self.ended += 1
            whole = self._guessed(self.open.pop(chain))
            self.model = self.model if np.isnan(whole).all() else whole

    def left(self, under_way: Mapping[Hashable, UnderWay]) -> float | None:
        """Seconds until all is done; None while there is no ground for a guess."""
        if self.trained < GROUND:
            return self._of_the_last_cell(under_way)
        rests = [self._rest(chain, under_way.get(chain)) for chain in self.open]
        costs = np.concatenate([rests, self._to_come()])
        if not costs.size:
            return 0.0
        return max(float(costs.sum()) / min(self.jobs, costs.size), float(costs.max()))

    @property
    def sure(self) -> bool:
        """Whether a whole setting was seen; before that the rest is a low guess."""
        return self.model is not None or self.chains == len(self.open)

    @property
    def step(self) -> float:
        """The cost of a setting by that of the last one, as a rule."""
        return float(ROUGHER ** (1.0 / max(1, self.chains - 1)))

    def _of_the_last_cell(self, under_way: Mapping[Hashable, UnderWay]) -> float | None:
        """Its own pace, where nothing else is to be done."""
        done = self.ended * self.length + sum(map(len, self.open.values()))
        paced = [cell.left for cell in under_way.values()]
        return paced[0] if done + 1 == self.chains * self.length and paced else None

    def _rest(self, chain: Hashable, cell: UnderWay | None) -> float:
        """Of a setting that has begun, with its cell under way."""
        cells = self.open[chain]
        todo = self._guessed(cells)[len(cells) :]
        if cell is None:
            return float(todo.sum())
        return cell.rest(float(todo[0])) + float(todo[1:].sum())

    def _to_come(self) -> Floats:
        """What the settings cost that have not begun, rougher and rougher."""
        begun = [self._guessed(cells) for cells in self.open.values() if cells]
        last = begun[-1] if begun else self.model
        to_come = self.chains - self.ended - len(self.open)
        if last is None or to_come <= 0:
            return np.zeros(0)
        gram = float(np.mean(self.grams)) if self.grams else 0.0
        cells = float(_sooner_hard(last).sum())
        return np.asarray(gram + cells * self.step ** np.arange(1, to_come + 1))

    def _guessed(self, cells: list[float]) -> Floats:
        """All cells of a setting of which these are done, in the image of the last."""
        done, todo = np.array(cells), np.full(self.length - len(cells), np.nan)
        known = done[done > 0.0]
        if known.size and copied(done)[-1]:
            todo[:] = 0.0
        elif self.model is None:
            todo[:] = known[-1] if known.size else 0.0
        else:
            model = _sooner_hard(self.model)
            both = (done > 0.0) & (model[: done.size] > 0.0)
            ours, its = done[both][-LATEST:].sum(), model[: done.size][both][-LATEST:]
            todo[:] = model[done.size :] * (
                ours / its.sum() if both.any() else self.step
            )
        return np.concatenate([done, todo])


def copied(seconds: Floats) -> Mask:
    """Which cells of a kernel setting are copies: they took next to nothing."""
    dearest = float(np.nan_to_num(seconds).max(initial=0.0))
    return np.asarray(seconds <= max(COPY, SMALL * dearest))


def _sooner_hard(costs: Floats) -> Floats:
    """As the next setting, whose copies begin a cell earlier; unknown ones left out."""
    cells = np.nan_to_num(costs)
    free = copied(cells)
    cells[free & (costs >= 0.0)] = 0.0
    tail = int(np.flatnonzero(~free).max(initial=-1))
    if 1 < tail < cells.size - 1:
        cells[tail] = 0.0
    return cells
