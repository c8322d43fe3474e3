"""Items made in some threads and taken in another, with the error that ends them.

And how many threads each of those that make items may use itself, and BLAS.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread, get_ident
from typing import Any, Generic, TypeVar

T = TypeVar("T")

BLAS_THREADS = (
    *("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"),
    "VECLIB_MAXIMUM_THREADS",
)
"""The variables that say how many threads BLAS has."""


class NothingYetError(Exception):
    """Nothing has come in time; no error of those who give."""


@dataclass(eq=False)
class Hands:
    """So many threads in all; those that have run out of work help the others."""

    jobs: int = 1
    at_work: set[int] = field(default_factory=set)

    @property
    def each(self) -> int:
        """Threads for whoever works now."""
        return max(1, self.jobs // max(1, len(self.at_work)))


ALONE = Hands()


class _OneThread:
    """How many computations want BLAS on one thread now, and what it had before."""

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        self.controller: Any = None
        self.before: Any = None

    def enter(self) -> None:
        import scipy.linalg  # noqa: F401  (it has a BLAS of its own)
        from threadpoolctl import ThreadpoolController

        with self.lock:
            self.controller = self.controller or ThreadpoolController()
            if not self.inside:
                self.before = self.controller.limit(limits=1, user_api="blas")
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                self.before.restore_original_limits()


_ONE_THREAD = _OneThread()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS without threads of its own, unless a variable says how many.

    Products are small and follow one another: its threads mostly wait, and on a busy
    machine they wait for each other. The number is the whole process's, so it is given
    back when nobody computes any more.
    """
    if any(name in os.environ for name in BLAS_THREADS):
        yield
        return
    _ONE_THREAD.enter()
    try:
        yield
    finally:
        _ONE_THREAD.leave()


class Handover(Generic[T]):
    """From threads that give items to the one that takes them, until it has stopped."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self._come = SimpleQueue[tuple[T] | BaseException | None]()
        self.stopped = Event()

    def give(self, items: Iterable[T]) -> None:
        """Make the items here and hand each over; what they raise, too."""
        try:
            for item in items:
                self._come.put((item,))
                if self.stopped.is_set():
                    return
            self._come.put(None)
        except BaseException as error:  # to be raised where the items are taken
            self._come.put(error)

    def take(self, timeout: float | None = None) -> tuple[T] | None:
        """The next item, or None where some items ended; raises what they raised.

        NothingYetError where nothing comes for so many seconds.
        """
        try:
            come = self._come.get(timeout=timeout)
        except Empty:
            raise NothingYetError from None
        if isinstance(come, BaseException):
            raise come
        return come


def interleave(streams: Sequence[Iterable[T]], hands: Hands) -> Iterator[T]:
    """The items of all streams, each stream in its order, drawn by all hands.

    Threads are enough: the time goes into compiled code that lets others run. They are
    daemons, so that a caller that stops does not wait for the item under way.
    """
    if hands.jobs == 1 or len(streams) < 2:
        for stream in streams:
            yield from stream
        return
    waiting = SimpleQueue[Iterable[T]]()
    for stream in streams:
        waiting.put(stream)
    handover = Handover[T]()
    for _ in range(min(hands.jobs, len(streams))):
        Thread(target=_draw, args=(waiting, handover, hands), daemon=True).start()
    try:
        yield from _until_done(handover, len(streams))
    finally:
        handover.stopped.set()


def _draw(
    waiting: SimpleQueue[Iterable[T]], handover: Handover[T], hands: Hands
) -> None:
    """One thread: stream after stream."""
    hands.at_work.add(get_ident())
    with suppress(Empty):
        while not handover.stopped.is_set():
            handover.give(waiting.get_nowait())
    hands.at_work.discard(get_ident())


def _until_done(handover: Handover[T], streams: int) -> Iterator[T]:
    while streams:
        item = handover.take()
        if item is None:
            streams -= 1
        else:
            yield item[0]
