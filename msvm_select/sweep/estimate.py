"""How long a sweep would take, from sweeps of small parts of its data.

Ever larger parts, with some of the kernel settings and of the values of C, as far as a
second goes. What the time grows by from part to part, a power of the number of samples
for each kernel setting, is taken to go on up to all of them: the farther that is, the
wider the range. Cells beyond a hard margin are copies; a part comes to one sooner than
the whole does, so that copies count as nothing at the low end and fully at the high.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from msvm_select.kernels.base import Kernel
from msvm_select.kernels.mercer import MANY
from msvm_select.records import Dataset, Floats, Scaling
from msvm_select.settings import Settings
from msvm_select.sweep.scoring import Chain
from msvm_select.train.events import CellStarted, Event
from msvm_select.train.prepare import Prepared

BUDGET = 0.7  # seconds of work for all parts
PATIENCE = 3.0  # seconds to wait for them, where others work on the machine too
FIRST = 40  # samples; that part is begun once before, for what is loaded at first use
MOST_KERNELS, MOST_CS = 5, 3
POWERS = (1.2, 3.2)  # of the number of samples that the time may grow by
POWER = 2.2  # where only one part was swept
SURE = 1.5  # the factor that times differ by from run to run, and by what is left out
DOUBT = 0.3  # the power of what is extrapolated by that widens the range
CUBE, SQUARE = 3e-11, 3e-8  # seconds of a Gram matrix and its test: per m^3, per m^2
COPY = 0.0005  # seconds


@dataclass(frozen=True)
class Estimate:
    """Seconds, from a part of so many samples."""

    low: float
    high: float
    samples: int


@dataclass(frozen=True, eq=False)
class Part:
    """What the cells of a part took (kernels, Cs); NaN where none was trained."""

    samples: int
    seconds: Floats


def estimate(
    data: Dataset, settings: Settings, kernels: Sequence[Kernel]
) -> Estimate | None:
    """The range; None where not even one kernel setting of a small part was done."""
    began, worked = time.perf_counter(), time.process_time()
    parts = list(_parts(data, settings, kernels))
    if not parts:
        return None
    waited = time.perf_counter() - began
    busy = max(1.0, waited / max(time.process_time() - worked, 1e-9))
    low, high = (_whole(parts, data.m, copies) for copies in (0.0, 1.0))
    cells = len(kernels) * len(settings.C)
    tested = sum(data.m <= MANY or not kernel.always_psd for kernel in kernels)
    gram = tested * CUBE * data.m**3 + len(kernels) * SQUARE * data.m**2
    wide = SURE * (data.m / parts[-1].samples) ** DOUBT
    share = min(settings.jobs, len(kernels))
    return Estimate(
        (low * cells + gram) / (wide * share),
        (high * cells + gram) * wide * busy / share,
        parts[-1].samples,
    )


def _whole(parts: list[Part], m: int, copies: float) -> float:
    """A mean cell of all m samples; copies count as such a share of a trained cell."""
    last = parts[-1]
    means = _means(last, copies)
    power = np.full(means.size, POWER)
    if len(parts) > 1:
        grown = np.maximum(means, COPY) / np.maximum(_means(parts[-2], copies), COPY)
        ratio = last.samples / parts[-2].samples
        power = np.clip(np.log(grown) / np.log(ratio), *POWERS)
    return float((means * (m / last.samples) ** power).mean())


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


class _LateError(Exception):
    """The time is over."""


class _Watch:
    """Sweeps as long as there is time.

    Cells are measured in seconds of work, so that others on the machine do not count.
    """

    def __init__(self) -> None:
        self.began = time.process_time()
        self.worked = self.began + BUDGET
        self.waited = time.perf_counter() + PATIENCE

    def __call__(self, event: Event | None = None) -> None:
        """Look at the clocks."""
        if isinstance(event, CellStarted):
            self.began = time.process_time()
        if time.process_time() > self.worked or time.perf_counter() > self.waited:
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
        self.began = time.process_time()
        for _ in chain.run(self):
            yield time.process_time() - self.began


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
