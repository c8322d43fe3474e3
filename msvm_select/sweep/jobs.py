"""Several independent streams at once, as one stream of what comes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from msvm_select.handover import Handover

T = TypeVar("T")


def interleave(streams: Sequence[Iterable[T]], jobs: int) -> Iterator[T]:
    """The items of all streams, each stream in its order; ``jobs`` threads draw them.

    Threads suffice: the time goes into compiled code that lets others run. They are
    daemons, so that whoever stops listening need not wait for the item under way.
    """
    if jobs == 1 or len(streams) < 2:
        for stream in streams:
            yield from stream
        return
    waiting = SimpleQueue[Iterable[T]]()
    for stream in streams:
        waiting.put(stream)
    handover = Handover[T]()
    for _ in range(min(jobs, len(streams))):
        Thread(target=_draw, args=(waiting, handover), daemon=True).start()
    try:
        yield from _until_done(handover, len(streams))
    finally:
        handover.stopped.set()


def _draw(waiting: SimpleQueue[Iterable[T]], handover: Handover[T]) -> None:
    """One thread: stream after stream."""
    with suppress(Empty):
        while not handover.stopped.is_set():
            handover.give(waiting.get_nowait())


def _until_done(handover: Handover[T], streams: int) -> Iterator[T]:
    while streams:
        item = handover.take()
        if item is None:
            streams -= 1
        else:
            yield item[0]
