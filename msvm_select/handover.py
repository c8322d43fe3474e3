"""Items made in some threads and taken in another, with the error that ends them.

And how many threads each of those that make items may use itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread, get_ident
from typing import Generic, TypeVar

T = TypeVar("T")


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
