"""What a sweep costs: one model, for ``--dry-run`` and for the time that is left.

Before a sweep nothing is known, so small parts of its data are swept: ever larger ones,
with some of the kernel settings and of the values of C, as far as a few seconds go. The
time of a kernel setting grows by a power of the number of samples, and the power rises
from part to part until the dense algebra dominates. During a sweep the finished cells
tell what the others cost (``Forecast``).

Both follow the same rules. Beyond hard margin cells are copies and cost nothing. A
figure is given with a range no wider than a factor of 4; where that would promise too
much, it is what the sweep takes at least.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Thread

import numpy as np

from msvm_select.handover import Handover, NothingYetError
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.mercer import MANY
from msvm_select.records import Dataset, Floats, Scaling
from msvm_select.settings import Settings
from msvm_select.sweep.scoring import Chain
from msvm_select.train.events import CellStarted, Event
from msvm_select.train.prepare import Prepared

WIDEST = 4.0  # the largest figure of a range by the smallest
FAR = 5.0  # all samples by those of the largest part: beyond, only the low end is told
WORK = 1.5  # seconds of work for all parts
PATIENCE = 3.5  # seconds to wait for them, where others work on the machine too
FIRST = 40  # samples; that part is begun once before, for what is loaded at first use
MOST_KERNELS, MOST_CS = 5, 3
POWER, RISE, TOP = 1.6, 0.4, 2.8  # of m: of one part alone; per doubling; at the most
LEAST_POWER, MOST_POWER = 1.0, 3.2  # that two parts may show
SURE = 1.4  # the factor that times differ by from run to run
DOUBT = 0.3  # the power of what is extrapolated by that widens the range
CUBE, SQUARE = 3e-11, 3e-8  # seconds of a Gram matrix and its test: per m^3, per m^2
GROUND = 2  # trained cells before anything is said
SMALL = 0.01  # of the dearest cell of its setting: less is a copy
ROUGHER = 4.0  # the cost of the roughest setting by that of the smoothest, as a rule
OVERTIME = 0.25  # of the time that a cell took so far, once it outlasts its guess
LATEST = 3  # cells that tell what a setting costs of the time of the last one
COPY = 0.0005  # seconds; a cell of a part that took less is a copy


@dataclass(frozen=True)
class Estimate:
    """Seconds, judged by so many samples; ``high`` is None where nobody knows it."""

    low: float
    high: float | None
    samples: int


@dataclass(frozen=True, eq=False)
class Part:
    """What the cells of a part took (kernels, Cs), in seconds."""

    samples: int
    seconds: Floats


def estimate(data: Dataset, settings: Settings, kernels: Sequence[Kernel]) -> Estimate:
    """What the sweep takes, told within ``PATIENCE`` whatever the data."""
    cells = len(kernels) * len(settings.C)
    share = min(settings.jobs, len(kernels))
    began, worked = time.perf_counter(), time.process_time()
    parts = list(_in_time(_parts(data, settings, kernels)))
    waited = time.perf_counter() - began
    if not parts:  # not even one setting of the smallest part was done
        return Estimate(waited * cells / share, None, 0)
    busy = max(1.0, waited / max(time.process_time() - worked, 1e-9))
    # Cells of a part come to a hard margin sooner than those of all samples do, so
    # copies count as nothing at the low end and fully at the high. At the low end the
    # power stays as it is, and is not taken for more than a square.
    low = _whole(parts, data.m, 0.0, rise=0.0, most=2.0)
    high = _whole(parts, data.m, 1.0)
    tested = sum(data.m <= MANY or not kernel.always_psd for kernel in kernels)
    gram = tested * CUBE * data.m**3 + len(kernels) * SQUARE * data.m**2
    ratio = data.m / parts[-1].samples
    wide = SURE * ratio**DOUBT
    low = (low * cells + gram) / (wide * share)
    high = (high * cells + gram) * wide * busy / share
    if ratio > FAR:
        return Estimate(low, None, parts[-1].samples)
    return Estimate(*_narrowed(low, high), parts[-1].samples)


def _narrowed(low: float, high: float) -> tuple[float, float]:
    """No wider than a factor of ``WIDEST``, about the same middle."""
    if high <= WIDEST * low:
        return low, high
    middle = (low * high) ** 0.5
    return middle / WIDEST**0.5, middle * WIDEST**0.5


def _whole(
    parts: list[Part],
    m: int,
    copies: float,
    rise: float = RISE,
    most: float = MOST_POWER,
) -> float:
    """A mean cell of all m samples; copies count as such a share of a trained cell."""
    last = parts[-1]
    means = _means(last, copies)
    power = np.full(means.size, POWER)
    if len(parts) > 1:
        grown = np.maximum(means, COPY) / np.maximum(_means(parts[-2], copies), COPY)
        ratio = last.samples / parts[-2].samples
        power = np.clip(np.log(grown) / np.log(ratio), LEAST_POWER, most)
    doublings = np.log2(m / last.samples)
    for step in np.diff([*np.arange(0.0, doublings, 1.0), doublings]):
        power = np.maximum(power, np.minimum(power + rise * step, TOP))
        means = means * 2.0 ** (power * step)
    return float(means.mean())


def _means(part: Part, copies: float) -> Floats:
    """The mean cell of each kernel setting."""
    seconds = part.seconds.copy()
    for row in seconds:
        copied = row <= COPY
        if copied.any() and not copied.all():
            row[copied] = copies * row[~copied][-1]
    return np.asarray(seconds.mean(axis=1))


def _parts(
    data: Dataset, settings: Settings, kernels: Sequence[Kernel]
) -> Iterator[Part]:
    """Each part twice as large, while there is time; all of the data at the most."""
    some = [kernels[i] for i in _spread(len(kernels), MOST_KERNELS)]
    few = tuple(settings.C[i] for i in _spread(len(settings.C), MOST_CS))
    thin = replace(settings, C=few, jobs=1)
    size = min(max(FIRST, 2 * data.Q), data.m)
    watch = _Watch()
    list(watch.rows(part_of(data, size), thin, some[:1]))
    for first in itertools.count():
        part = part_of(data, size)
        rows = list(watch.rows(part, thin, some))
        complete = len(rows) == len(some)
        if complete or (rows and not first):
            yield Part(part.m, np.array(rows))
        if not complete or size == data.m:
            return
        size = min(2 * size, data.m)


def _in_time(parts: Iterator[Part]) -> Iterator[Part]:
    """The parts done within ``PATIENCE``; a part under way then is left behind."""
    handover = Handover[Part]()
    Thread(target=handover.give, args=(parts,), daemon=True).start()
    until = time.perf_counter() + PATIENCE
    try:
        with suppress(NothingYetError):
            while part := handover.take(timeout=max(0.0, until - time.perf_counter())):
                yield part[0]
    finally:
        handover.stopped.set()


class _LateError(Exception):
    """The time is over."""


class _Watch:
    """Sweeps as long as there is time.

    Cells are measured in seconds of work, so that others on the machine do not count.
    """

    def __init__(self) -> None:
        self.began = time.thread_time()
        self.worked = self.began + WORK
        self.waited = time.perf_counter() + PATIENCE

    def __call__(self, event: Event | None = None) -> None:
        """Look at the clocks."""
        if isinstance(event, CellStarted):
            self.began = time.thread_time()
        if time.thread_time() > self.worked or time.perf_counter() > self.waited:
            raise _LateError

    def rows(
        self, data: Dataset, settings: Settings, kernels: Sequence[Kernel]
    ) -> Iterator[list[float]]:
        """Seconds of the cells of each kernel setting that is done in time."""
        scaling = Scaling.fit(data.X, settings.scale)
        X = scaling.apply(data.X)
        ready = Prepared(data, settings, scaling, X, tuple(kernels))
        with suppress(_LateError):
            for kernel in kernels:
                yield list(self._cells(Chain(ready, kernel)))

    def _cells(self, chain: Chain) -> Iterator[float]:
        self.began = time.thread_time()
        for _ in chain.run(self):
            yield time.thread_time() - self.began


def part_of(data: Dataset, size: int) -> Dataset:
    """So many samples, of each class its share and at least two; always the same."""
    order = np.random.default_rng(0).permutation(data.m)
    place = np.empty(data.m)
    for k in range(data.Q):
        members = order[data.y[order] == k]
        place[members] = (np.arange(members.size) + 0.5) / members.size
        place[members[:2]] = -1.0
    keep = np.sort(np.argsort(place, kind="stable")[:size])
    square = data.X.shape == (data.m, data.m)
    X = data.X[np.ix_(keep, keep)] if square else data.X[keep]
    return replace(data, X=X, y=data.y[keep], ids=None, lines=None)


def _spread(count: int, most: int) -> list[int]:
    """Indices from the first to the last, evenly."""
    return sorted({round(x) for x in np.linspace(0, count - 1, min(count, most))})


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
        if known.size and done[-1] <= SMALL * known.max():
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


def _sooner_hard(costs: Floats) -> Floats:
    """As the next setting, whose copies begin a cell earlier; unknown ones left out."""
    cells = np.nan_to_num(costs)
    copied = cells <= SMALL * cells.max(initial=0.0)
    cells[copied & (costs >= 0.0)] = 0.0
    tail = int(np.flatnonzero(~copied).max(initial=-1))
    if 1 < tail < cells.size - 1:
        cells[tail] = 0.0
    return cells
