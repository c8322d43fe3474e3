"""A sweep with a time budget: cells in an order that learns, until the time is up.

At first a coarse grid: of the kernel settings and of the values of C some, evenly, so
that every cell of a usual grid is beside one of them. Then again and again the cells
around the best one that has any left around it. So the cells that matter come first,
and whenever the sweep ends, the neighbourhood of the best is the part that is known.

A cell that is under way when the time is up is left behind. All rows are whole, and
certified as in any other sweep.

Along C a training starts at the one before where C rises; where it falls, anew.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from threading import Thread
from typing import TypeVar

from msvm_select.columns import Row, Setting
from msvm_select.errors import MsvmError
from msvm_select.handover import Handover, NothingYetError
from msvm_select.kernels.base import Kernel
from msvm_select.results.ranking import rank
from msvm_select.train.events import (
    CellDone,
    CellProgress,
    CellStarted,
    Event,
    Progress,
)
from msvm_select.train.prepare import Prepared

T = TypeVar("T")
Stream = Iterator[CellDone]
Place = tuple[int, int]
"""A cell: which kernel setting, and which C."""

COARSE = 4  # values of a coarse grid, at most
HELD = 4e8  # bytes of Gram matrices of kernel settings that will go on


class TimeIsUpError(Exception):
    """The time of the sweep is over."""


@dataclass(eq=False)
class Budget:
    """Seconds that a sweep may take, from its first cell; None for any time.

    ``is_up`` says that it ended before all cells were done.
    """

    seconds: float | None = None
    until: float | None = None
    is_up: bool = False

    def within(self, items: Iterable[T]) -> Iterator[T]:
        """The items that come in time; MsvmError where there is not one.

        They are made in another thread, so that nothing under way delays the end.
        """
        if self.seconds is None:
            yield from items
            return
        handover, came = Handover[T](), 0
        self.until = time.monotonic() + self.seconds
        Thread(target=handover.give, args=(items,), daemon=True).start()
        try:
            while one := handover.take(max(0.0, self.until - time.monotonic())):
                came += 1
                yield one[0]
        except (NothingYetError, TimeIsUpError):
            self.is_up = True
        finally:
            handover.stopped.set()
        if not came:
            raise MsvmError(
                f"No cell was finished within the time budget of {self.seconds:g} s: "
                "give it more time, or fewer rows with --subsample."
            )

    def watched(self, progress: Progress) -> Progress:
        """Ends what is left behind as soon as it tells of itself."""

        def tell(event: Event) -> None:
            late = self.until is not None and time.monotonic() >= self.until
            if late and isinstance(event, CellStarted | CellProgress):
                raise TimeIsUpError
            progress(event)

        return progress if self.seconds is None else tell


def learning(
    ready: Prepared,
    rows: list[Row],
    start: Callable[[Kernel, Iterator[float]], Stream],
) -> Iterator[list[Stream]]:
    """The cells that are not among the ``rows``, a batch at a time.

    Each batch is a stream of cells for each of some kernel settings; what comes of them
    is to be added to the rows before the next. ``start`` begins a loop over C.
    """
    kernels, settings = ready.kernels, ready.settings
    loops = Loops(lambda i, Cs: start(kernels[i], Cs), ready.data.m)
    places = [kernel.setting for kernel in kernels]
    for batch in batches(places, settings.C, rows, settings.rank_by):
        yield loops.cells(batch, settings.C)


def batches(
    settings: Sequence[Setting], Cs: Sequence[float], rows: list[Row], by: str
) -> Iterator[list[Place]]:
    """Cells to do next, as long as there are any; ``rows``, those done so far, grows.

    Rows of other kernel settings, or of other C, do not count.
    """
    names = [str(setting[0]) for setting in settings]
    at = {setting: i for i, setting in enumerate(settings)}
    of_C = {C: j for j, C in enumerate(Cs)}
    left = {(i, j) for i in range(len(settings)) for j in range(len(Cs))}

    def place(row: Row) -> Place | None:
        i, j = at.get(row.setting), of_C.get(row.C)
        return None if i is None or j is None else (i, j)

    def next_ones() -> set[Place]:
        for row in rank(rows, by):
            if (here := place(row)) is not None and (near := left & _around(here)):
                return {(i, j) for i, j in near if names[i] == row.kernel} or near
        return set(left)

    left.difference_update(filter(None, map(place, rows)))
    first = {(i, j) for i in _coarse_kernels(names) for j in coarse(len(Cs))} & left
    while left:
        batch = first or next_ones()
        first = set()
        left -= batch
        yield sorted(batch)


def _around(at: Place) -> set[Place]:
    i, j = at
    return {(i + di, j + dj) for di in (-1, 0, 1) for dj in (-1, 0, 1)}


def _coarse_kernels(names: Sequence[str]) -> list[int]:
    """Of each kernel some settings."""
    found = []
    for name in dict.fromkeys(names):
        own = [i for i, other in enumerate(names) if other == name]
        found += [own[i] for i in coarse(len(own))]
    return found


def coarse(count: int) -> list[int]:
    """Some of so many places, evenly, away from both ends."""
    step = max(2, -(-count // COARSE))
    return list(range(min(step // 2, count - 1), count, step))


class Loops:
    """The loops over C that will go on, the last used last: each holds a Gram matrix.

    ``start`` begins the loop of a kernel setting over the C that it is fed.
    """

    def __init__(self, start: Callable[[int, Iterator[float]], Stream], m: int) -> None:
        """As many of m samples as there is room for."""
        self.start, self.most = start, max(1, int(HELD / (8 * m**2)))
        self.held: dict[int, tuple[deque[float], Stream]] = {}

    def cells(self, batch: Sequence[Place], Cs: Sequence[float]) -> list[Stream]:
        """The cells of a batch, a stream for each kernel setting."""
        todo = {
            i: [Cs[j] for _, j in places]
            for i, places in groupby(batch, key=lambda place: place[0])
        }
        idle = [i for i in self.held if i not in todo]
        for i in idle[: max(0, len(idle) + len(todo) - self.most)]:
            del self.held[i]
        return [self._cells(i, here) for i, here in todo.items()]

    def _cells(self, i: int, Cs: list[float]) -> Stream:
        if i not in self.held and len(self.held) >= self.most:
            return self.start(i, iter(Cs))
        if i in self.held:
            feed, cells = self.held.pop(i)
        else:
            feed = deque[float]()
            cells = self.start(i, iter(feed.popleft, None))
        self.held[i] = feed, cells
        feed.extend(Cs)
        return islice(cells, len(Cs))
