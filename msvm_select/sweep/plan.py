"""What a sweep would go through: its grid, its memory, its time (``--dry-run``).

To estimate the time, small parts of the data are swept: ever larger ones, with some of
the kernel settings and of the values of C, as far as a few seconds go. The time of a
kernel setting grows by a power of the number of samples, and the power rises from part
to part until the dense algebra dominates.

Beyond hard margin cells are copies and cost nothing. A figure is given with a range no
wider than a factor of 4; where that would promise too much, it is what the sweep takes
at least.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any

import numpy as np

from msvm_select.errors import KernelError, MsvmError
from msvm_select.geometry.ball import pair_steps
from msvm_select.handover import Handover, NothingYetError
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.mercer import MANY
from msvm_select.memory import training_bytes
from msvm_select.phrases import between, roughly
from msvm_select.records import Dataset, Floats, Scaling
from msvm_select.settings import Settings, settings_from
from msvm_select.solvers.exact.cycles import cycle_steps
from msvm_select.solvers.leave_out.exchanges import exchange_each
from msvm_select.solvers.two_class import paths
from msvm_select.sweep.cells import Chain
from msvm_select.sweep.headway import COPY, copied
from msvm_select.train.events import CellStarted, Event, Started
from msvm_select.train.prepare import (
    LOOKED_AT,
    Prepared,
    is_near_identity,
    prepared,
)

BALLS = ("radius-margin", "vc")  # what the names of criteria that need them begin with
PROGRAM = 200e6  # bytes of Python and its packages
FACTORS = 4  # of the size of the free variables squared
FREE, MOST_FREE = 3, 6000  # variables in a factor: as a rule a sample; at the most
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
LARGE = 5000  # samples x other classes: no sweep of fewer takes minutes
MINUTES, WORTH = 60.0, 2.0  # seconds from which another machine is named; how slower
ANSWER = 4.5  # seconds within which a plan is told
MORE = 4.0  # so much more time for estimates while a sweep is under way
CUBE, SQUARE = 3e-11, 3e-8  # seconds of a Gram matrix and its test: per m^3, per m^2


@dataclass(frozen=True, eq=False)
class Plan:
    """A sweep before it is run; ``note`` says what must be compiled first."""

    data: Dataset
    settings: Settings
    kernels: tuple[Kernel, ...]
    time: Estimate | None  # None where it is not known before compiling
    note: str = ""
    quicker: str = ""  # the machine that would take much less time
    too_rough: tuple[Kernel, ...] = ()  # their matrices are nearly the identity

    @property
    def cells(self) -> int:
        """How many machines there are to train."""
        return len(self.kernels) * len(self.settings.C)

    @property
    def gram_bytes(self) -> int:
        """Of one Gram matrix."""
        return 8 * self.data.m**2

    @property
    def peak_bytes(self) -> int:
        """What the whole may come to, roughly: every job has matrices of its own."""
        m, Q = self.data.m, self.data.Q
        factor = 8 * min(m * min(Q - 1, FREE), MOST_FREE) ** 2
        jobs = min(self.settings.jobs, len(self.kernels))
        return int(PROGRAM + jobs * (training_bytes(m) + FACTORS * factor))


def plan(data: Dataset, settings: Settings) -> Plan:
    """The sweep that ``run_sweep`` would do; nothing is compiled for it."""
    ready = prepared(data, settings)
    note = compiling_note(ready.started(ranked=True))
    began = time.perf_counter()
    found = None if note else estimate(data, settings, ready.kernels)
    left = (ANSWER - (time.perf_counter() - began)) / PATIENCE
    other = quicker(ready, found, left) if found and left > 0.0 else ""
    rough = tuple(_too_rough(ready))
    return Plan(data, settings, ready.kernels, found, note, other, rough)


def quicker(ready: Prepared, slow: Estimate | None = None, more: float = MORE) -> str:
    """What one-versus-one would take, where the machine of all classes takes minutes.

    Empty where it is not sure that it would take much less. ``slow`` is the estimate
    of the sweep, if there is one; ``more`` times what others take may be spent on it.
    """
    data, settings = ready.data, ready.settings
    if settings.machine != "ww" or data.Q < 3 or data.m * (data.Q - 1) < LARGE:
        return ""
    try:
        other = settings_from({"machine": "ovo"}, settings)
    except MsvmError:  # a criterion that is not for it
        return ""
    both = (
        replace(ready, settings=one).started(ranked=True) for one in (settings, other)
    )
    if any(map(compiling_note, both)):
        return ""
    slow = slow or estimate(data, settings, ready.kernels, more)
    if slow.low < MINUTES:
        return ""
    fast = estimate(data, other, ready.kernels, more)
    if fast.high is None or WORTH * fast.high > slow.low:
        return ""
    return (
        f"by estimate this sweep takes at least {roughly(slow.low)}; --machine ovo, "
        f"one machine for each pair of the {data.Q} classes, would take "
        f"{between(fast.low, fast.high)}"
    )


def _too_rough(ready: Prepared) -> Iterator[Kernel]:
    """The kernel settings that are hopeless, judged by some of the samples."""
    some = ready.X[:: max(1, ready.data.m // LOOKED_AT)]
    for kernel in ready.kernels if ready.kernels[0].is_vector_kernel else ():
        with suppress(KernelError):
            if is_near_identity(kernel.gram(some)):
                yield kernel


def compiling_note(event: Started) -> str:
    """``Compiling ..., once on this machine``, with how long; nothing to say: empty."""
    parts = [(name, seconds) for name, seconds, kernel in _used(event) if _new(kernel)]
    if not parts:
        return ""
    names = " and ".join(name for name, _ in parts)
    took = sum(seconds for _, seconds in parts)
    return f"Compiling {names}, once on this machine; it takes some {took} s ..."


def _used(event: Started) -> Iterator[tuple[str, int, Any]]:
    """The parts that the sweep will call: name, seconds, its last compiled kernel."""
    exact, parts = event.solver == "exact", event.machine != "ww"
    if exact and parts:
        yield "the solver", 20, paths.train_parts
    elif event.solver in ("exact", "smo"):
        yield "the solver", 8 if exact else 4, cycle_steps
    if exact and (not event.criteria or "loo" in event.criteria):
        one = paths.leave_out_parts if parts else exchange_each
        yield "leave-one-out", 20 if parts else 12, one
    if any(name.startswith(BALLS) for name in event.criteria):
        yield "the balls", 2, pair_steps


def _new(kernel: Any) -> bool:
    """Whether the cache has nothing of it."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    try:
        return file is not None and not file._load_index()
    except OSError:
        return True


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


def estimate(
    data: Dataset, settings: Settings, kernels: Sequence[Kernel], more: float = 1.0
) -> Estimate:
    """What the sweep takes, told within ``more`` times PATIENCE whatever the data."""
    cells = len(kernels) * len(settings.C)
    share = min(settings.jobs, len(kernels))
    began, worked = time.perf_counter(), time.process_time()
    parts = list(_in_time(_parts(data, settings, kernels, more), more))
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
        free = copied(row)
        if free.any() and not free.all():
            row[free] = copies * row[~free][-1]
    return np.asarray(seconds.mean(axis=1))


def _parts(
    data: Dataset, settings: Settings, kernels: Sequence[Kernel], more: float
) -> Iterator[Part]:
    """Each part twice as large, while there is time; all of the data at the most."""
    some = [kernels[i] for i in _spread(len(kernels), MOST_KERNELS)]
    few = tuple(settings.C[i] for i in _spread(len(settings.C), MOST_CS))
    thin = replace(settings, C=few, jobs=1)
    size = min(max(FIRST, 2 * data.Q), data.m)
    list(_Watch(more).rows(part_of(data, size), thin, some[:1]))
    watch = _Watch(
        more
    )  # what is loaded at first use takes nothing off the time for parts
    for first in itertools.count():
        part = part_of(data, size)
        rows = list(watch.rows(part, thin, some))
        complete = len(rows) == len(some)
        if complete or (rows and not first):
            yield Part(part.m, np.array(rows))
        if not complete or size == data.m:
            return
        size = min(2 * size, data.m)


def _in_time(parts: Iterator[Part], more: float) -> Iterator[Part]:
    """The parts done in time; a part under way at its end is left behind."""
    handover = Handover[Part]()
    Thread(target=handover.give, args=(parts,), daemon=True).start()
    until = time.perf_counter() + more * PATIENCE
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

    def __init__(self, more: float) -> None:
        self.began = time.thread_time()
        self.worked = self.began + more * WORK
        self.waited = time.perf_counter() + more * PATIENCE

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
