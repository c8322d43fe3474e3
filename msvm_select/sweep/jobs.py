"""Several independent streams at once, as one stream of what comes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from queue import SimpleQueue
from typing import TypeVar

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
    come = SimpleQueue[tuple[T] | BaseException | None]()
    stopped = threading.Event()
    for _ in range(min(jobs, len(streams))):
        arguments = (waiting, come, stopped)
        threading.Thread(target=_draw, args=arguments, daemon=True).start()
    try:
        yield from _until_done(come, len(streams))
    finally:
        stopped.set()


def _draw(
    waiting: SimpleQueue[Iterable[T]],
    come: SimpleQueue[tuple[T] | BaseException | None],
    stopped: threading.Event,
) -> None:
    """One thread: stream after stream; None says that one has ended."""
    try:
        while not waiting.empty():
            for item in waiting.get():
                come.put((item,))
                if stopped.is_set():
                    return
            come.put(None)
    except BaseException as error:  # to be raised where the items are drawn
        come.put(error)


def _until_done(
    come: SimpleQueue[tuple[T] | BaseException | None], streams: int
) -> Iterator[T]:
    while streams:
        item = come.get()
        if isinstance(item, BaseException):
            raise item
        if item is None:
            streams -= 1
        else:
            yield item[0]
