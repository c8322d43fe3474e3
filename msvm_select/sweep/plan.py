"""What a sweep would go through: its grid, its memory, its time (``--dry-run``).

To estimate the time, small parts of the data are swept: ever larger ones, with some of
the kernel settings and of the values of C, as far as a few seconds go. Each cell is
told to the model of ``costs``, and that says what the cells of all samples take.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread

import numpy as np

from msvm_select.data.subsample import drawn
from msvm_select.errors import KernelError, MsvmError
from msvm_select.footprint import Footprint, Seen
from msvm_select.handover import Handover, NothingYetError
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.low_rank import LowRank
from msvm_select.kernels.mercer import MANY
from msvm_select.phrases import between, roughly
from msvm_select.records import Dataset, Ints
from msvm_select.settings import Settings, settings_from
from msvm_select.settings.catalogue import DEFAULT_CRITERION
from msvm_select.solution import Solution
from msvm_select.sweep.cells import Chain
from msvm_select.sweep.costs import Costs, Estimate, Place, hard_margin, in_parallel
from msvm_select.sweep.shards import share_of
from msvm_select.train.compiling import BUSY, compiling_note
from msvm_select.train.events import CellDone, CellStarted, Event
from msvm_select.train.prepare import (
    LOOKED_AT,
    Prepared,
    in_blocks,
    is_near_identity,
    prepared,
)

WORK = 1.5  # seconds of work for all parts
PATIENCE = 3.0  # seconds to wait for them, where others work on the machine too
FIRST = 40  # samples
MOST_KERNELS, MOST_CS = 5, 3
BEYOND = 1.4  # the doubt about more samples by that about cells alone
LARGE = 5000  # samples x other classes: no sweep of fewer takes minutes
MANY_ROWS, FEW_ROWS, FEW_DIMENSIONS = (
    4000,
    2000,
    100,
)  # rows; rows, dimensions that are proposed
MINUTES, WORTH = 60.0, 2.0  # seconds from which another machine is named; how slower
SO_MANY = 100  # classes: ww trains them all at once, ovo two at a time
ANSWER = 4.0  # seconds within which a plan is told
MORE = 4.0  # so much more time for estimates while a sweep is under way
CUBE, SQUARE = 3e-11, 3e-8  # seconds of a Gram matrix and its test: per m^3, per m^2


@dataclass(frozen=True, eq=False)
class Plan:
    """A sweep before it is run; ``note`` says what must be compiled first."""

    data: Dataset
    settings: Settings
    kernels: tuple[Kernel, ...]
    needed: Footprint
    time: Estimate | None  # None where it is not known before compiling
    note: str = ""
    quicker: str = ""  # what would take less time
    too_rough: tuple[Kernel, ...] = ()  # their matrices are nearly the identity

    @property
    def cells(self) -> int:
        """How many machines there are to train."""
        return len(self.kernels) * len(self.settings.C)

    @property
    def gram_bytes(self) -> int:
        """Of the largest Gram matrix that is held."""
        return self.needed.gram_bytes

    @property
    def rank(self) -> int:
        """The largest number of dimensions of a kernel; 0 where none is of low rank."""
        return self.needed.rank

    @property
    def factor_bytes(self) -> int:
        """Of the features of that many dimensions, and what they are found in."""
        return self.needed.factor_bytes

    @property
    def peak_bytes(self) -> int:
        """What the whole comes to, roughly: every job has matrices of its own."""
        return int(self.needed.most_bytes(self.time.seen if self.time else ()))


def plan(data: Dataset, settings: Settings) -> Plan:
    """The sweep that ``run_sweep`` would do; nothing is compiled for it."""
    ready = _own_share(prepared(data, settings))
    settings = ready.settings
    if not ready.kernels:
        return Plan(data, settings, (), ready.footprint, Estimate(0.0, 0.0))
    note = compiling_note(ready.started(ranked=True))
    began = time.perf_counter()
    found = None if note else estimate(data, settings, ready.kernels)
    left = (ANSWER - (time.perf_counter() - began)) / PATIENCE
    other = quicker(ready, found, left) if found and left > 0.0 else ""
    rough = tuple(_too_rough(ready))
    needed = ready.footprint
    if not settings.at_once:  # that of one worker
        needed = replace(needed, jobs=1)
    return Plan(data, settings, ready.kernels, needed, found, note, other, rough)


def _own_share(ready: Prepared) -> Prepared:
    """The cells of the shard alone, if there is one."""
    settings = ready.settings
    share = share_of(settings.shard, ready.kernels, settings.C)
    Cs = next(iter(share.values()), ())  # alike for all
    return replace(ready, kernels=tuple(share), settings=replace(settings, C=Cs))


def quicker(ready: Prepared, slow: Estimate | None = None, more: float = MORE) -> str:
    """What would take less time than a sweep that takes minutes; empty for others.

    One-versus-one is told where it is sure that it would take much less, as it is with
    hundreds of classes. ``slow`` is the estimate of the sweep, if there is one;
    ``more`` times what others take may be spent on it.
    """
    data, settings = ready.data, ready.settings
    if settings.machine != "ww" or data.m * (data.Q - 1) < LARGE:
        return ""
    if compiling_note(ready.started(ranked=True)):
        return ""
    slow = slow or estimate(data, settings, ready.kernels, more)
    if slow.low < MINUTES:
        return ""
    ways = [
        *(*_by_pairs(ready, slow, more), *_with_less_judging(settings)),
        *_by_approximation(ready),
    ]
    told = f"by estimate this sweep takes at least {roughly(slow.low)}"
    return "; ".join([told, *ways]) if ways else ""


def _by_pairs(ready: Prepared, slow: Estimate, more: float) -> Iterator[str]:
    """One-versus-one, with its time."""
    data = ready.data
    if data.Q < 3:
        return
    try:
        other = settings_from({"machine": "ovo"}, ready.settings)
    except MsvmError:  # a criterion that is not for it
        return
    if compiling_note(replace(ready, settings=other).started(ranked=True)):
        return
    fast = estimate(data, other, ready.kernels, more)
    how = "is far quicker" if data.Q >= SO_MANY else ""
    if fast.high is not None and WORTH * fast.high <= slow.low:
        how = "would take " + between(fast.low, fast.high)
    if how:
        yield f"--machine ovo, one machine for each pair of the {data.Q} classes, {how}"


def _with_less_judging(settings: Settings) -> Iterator[str]:
    """Of leave-one-out only what is needed, or a prediction of it."""
    if DEFAULT_CRITERION not in settings.criteria:
        return
    if settings.race is None and settings.rank_by == DEFAULT_CRITERION:
        yield "--race 3 judges only the 3 best cells to the end"
    if "span" not in settings.criteria:
        yield "--criteria span predicts leave-one-out from the training alone"


def _by_approximation(ready: Prepared) -> Iterator[str]:
    """Fewer rows, and a kernel matrix of fewer dimensions, where there are many."""
    m, settings = ready.data.m, ready.settings
    if m < MANY_ROWS:
        return
    if ready.data.drawn_from is None:
        yield f"--subsample {FEW_ROWS} sweeps {FEW_ROWS} of the {m} rows"
    if settings.low_rank is None and all(k.approximable for k in ready.kernels):
        few = FEW_DIMENSIONS
        yield f"--rank {few} puts {few} dimensions in the place of the kernel matrix"


def _too_rough(ready: Prepared) -> Iterator[Kernel]:
    """The kernel settings that are hopeless, judged by some of the samples."""
    some = ready.X[:: max(1, ready.data.m // LOOKED_AT)]
    for kernel in ready.kernels if ready.kernels[0].is_vector_kernel else ():
        # Of few dimensions the kernel behind is judged: the pivots of all are dear.
        looked_at = kernel.base if isinstance(kernel, LowRank) else kernel
        with suppress(KernelError):
            if is_near_identity(looked_at.gram(some)):
                yield kernel


Trial = tuple[Place, int, float, float | None, Seen]
"""What ``Costs`` is told of a cell: where, how many samples, seconds, hard margin; and
how many variables are free"""


def estimate(
    data: Dataset, settings: Settings, kernels: Sequence[Kernel], more: float = 1.0
) -> Estimate:
    """What the sweep takes, told within ``more`` times PATIENCE whatever the data.

    Of another machine nothing is known: there one kernel setting follows another.
    """
    jobs = settings.at_once or 1
    m, began, worked = data.m, time.perf_counter(), time.process_time()
    trials = _in_time(_trials(data, settings, kernels, more), more * PATIENCE)
    waited = time.perf_counter() - began
    if len(trials) < 2:  # not even one cell of the smallest part was done
        whole = in_parallel([waited * len(settings.C)] * len(kernels), jobs)
        return Estimate(whole, None)
    # Whether others will work on the machine as they do now nobody knows.
    slower = waited / max(time.process_time() - worked, 1e-9)
    busy = min(max(slower, 1.0), BUSY) ** 0.5
    costs = Costs(len(kernels), settings.C)
    for trial in trials[1:]:
        costs.tell(*trial[:4])
    places = [Place(i, C) for i in range(len(kernels)) for C in settings.C]
    seconds, doubt = costs.seconds(places, m)
    chains = busy * seconds.reshape(len(kernels), -1).sum(axis=1)
    for i, kernel in enumerate(kernels):
        if not in_blocks(kernel, m, settings):
            is_tested = m <= MANY or not kernel.always_psd
            chains[i] += is_tested * CUBE * m**3 + SQUARE * m**2
    work, loading = in_parallel(chains, jobs), trials[0][2]
    doubt = math.hypot(BEYOND * doubt * work / (work + loading), math.log(busy))
    return replace(
        Estimate.of(work + loading, doubt, trials[-1][1]), seen=_by_kernel(trials[1:])
    )


def _by_kernel(trials: Sequence[Trial]) -> tuple[tuple[tuple[Seen, ...], ...], ...]:
    """What the cells were on each part, by kernel setting and by cell."""
    seen: dict[Place, list[Seen]] = {}
    for place, _, _, _, counts in trials:
        seen.setdefault(place, []).append(counts)
    return tuple(
        tuple(tuple(seen[place]) for place in seen if place.kernel == kernel)
        for kernel in sorted({place.kernel for place in seen})
    )


def _free(cell: CellDone, m: int) -> Seen:
    """How many variables are free, and of how many samples; not told of parts."""
    solution = cell.trained and cell.trained.solution
    if not isinstance(solution, Solution):
        return m, 0.0, 0.0
    alpha = solution.alpha
    free = (alpha > 0.0) & (alpha < solution.dual.box[:, None])
    return m, float(free.sum()), float(free.any(axis=1).sum())


def _trials(
    data: Dataset, settings: Settings, kernels: Sequence[Kernel], more: float
) -> Iterator[Trial]:
    """The cells of parts, each part twice as large, while there is time.

    Before them one cell of some samples of three classes, for what is loaded.
    """
    some = _spread(len(kernels), MOST_KERNELS)
    few = tuple(settings.C[i] for i in _spread(len(settings.C), MOST_CS))

    def swept(
        part: Dataset, Cs: tuple[float, ...], chosen: list[int], watch: _Watch
    ) -> Iterator[Trial]:
        thin = replace(settings, C=Cs, jobs=1, cluster=None)
        ready = prepared(part, thin)
        here = tuple(kernel.on(ready.X) for kernel in kernels)
        ready = replace(ready, kernels=here)
        for i in chosen:
            for cell in Chain(ready, here[i]).run(watch):
                seconds, place = watch.cell, Place(i, cell.row.C)
                yield place, part.m, seconds, hard_margin(cell), _free(cell, part.m)

    codes = np.unique(data.y)[:3]
    three = _rows(data, np.flatnonzero(np.isin(data.y, codes)))
    y, classes = np.searchsorted(codes, three.y), tuple(data.classes[k] for k in codes)
    three = part_of(replace(three, y=y, classes=classes), FIRST)
    yield from swept(three, few[:1], some[:1], _Watch(more * PATIENCE))
    size, watch = min(max(FIRST, 2 * data.Q), data.m), _Watch(more * WORK)
    while True:
        yield from swept(part_of(data, size), few, some, watch)
        if size == data.m:
            return
        size = min(2 * size, data.m)


def _in_time(trials: Iterator[Trial], seconds: float) -> list[Trial]:
    """The cells done in time; one under way at the end is left behind."""
    handover, done = Handover[Trial](), list[Trial]()
    Thread(target=handover.give, args=(trials,), daemon=True).start()
    until = time.perf_counter() + seconds
    with suppress(NothingYetError, _LateError):
        while one := handover.take(timeout=max(0.0, until - time.perf_counter())):
            done += one
    handover.stopped.set()
    return done


class _LateError(Exception):
    """The time is over."""


class _Watch:
    """Hears the events of a part, and ends it when the time is over.

    Cells are measured in seconds of work, so that others on the machine do not count.
    """

    def __init__(self, work: float) -> None:
        self.began = time.thread_time()
        self.until = self.began + work

    def __call__(self, event: Event) -> None:
        """Look at the clock."""
        if isinstance(event, CellStarted):
            self.began = time.thread_time()
        if time.thread_time() > self.until:
            raise _LateError

    @property
    def cell(self) -> float:
        """Seconds of work since the last cell began."""
        return time.thread_time() - self.began


def part_of(data: Dataset, size: int) -> Dataset:
    """So many samples, of each class its share; always the same."""
    return _rows(data, drawn(data.y, data.Q, max(size, data.Q)))


def _rows(data: Dataset, keep: Ints) -> Dataset:
    some = data.rows(keep)
    square = data.X.shape == (data.m, data.m)
    return replace(some, X=some.X[:, keep]) if square else some


def _spread(count: int, most: int) -> list[int]:
    """Indices from the first to the last, evenly."""
    return sorted({round(x) for x in np.linspace(0, count - 1, min(count, most))})
