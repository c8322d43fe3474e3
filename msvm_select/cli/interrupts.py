"""Being told to stop, by Ctrl-C or SIGTERM: at once, whatever is under way.

Python runs a signal's handler in the main thread, between two of its steps. Compiled
code may take minutes for one step; so whatever may take long runs in a thread of its
own, and the main thread waits for it. What is under way is then left behind.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from threading import Thread
from types import FrameType
from typing import NoReturn, ParamSpec, TypeVar

from msvm_select.cli.door import load_all
from msvm_select.handover import Handover, NothingYetError

P = ParamSpec("P")
T = TypeVar("T")

STOPS = (signal.SIGINT, signal.SIGTERM)
MOST_DEAF = 0.1  # seconds until one of them is heeded


class Terminated(KeyboardInterrupt):
    """SIGTERM came: to be treated as Ctrl-C is, but for the exit code."""


def heed_sigterm() -> None:
    """Stop as at Ctrl-C, unless SIGTERM is ignored from the start."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise Terminated

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, stop)


def stop_code(stop: KeyboardInterrupt) -> int:
    """128 + the number of the signal, as shells count."""
    terminated = isinstance(stop, Terminated)
    return 128 + (signal.SIGTERM if terminated else signal.SIGINT)


def thread(work: Callable[P, object], *args: P.args, **named: P.kwargs) -> Thread:
    """``work`` begun beside, deaf to the signals and waited for by nobody.

    A signal must find the main thread: a library that takes Ctrl-C for itself while it
    computes, and then goes on, would get it in any other.
    """
    load_all()
    begun = Thread(target=work, args=args, kwargs=named, daemon=True)
    with _held_back():
        begun.start()
    return begun


def patiently(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What ``work`` gives or raises, done in another thread; Ctrl-C does not wait."""

    def once() -> Iterator[T]:
        yield work(*args, **named)

    with closing(beside(once())) as found:
        return next(found)


def beside(items: Iterable[T]) -> Generator[T, None, None]:
    """The items, made in another thread; after Ctrl-C those that are made already."""
    handover = Handover[T]()
    with _held_back() as signals:
        thread(handover.give, items)
        try:
            yield from _taken(handover, signals)
        finally:
            handover.stopped.set()


def _taken(handover: Handover[T], signals: set[signal.Signals]) -> Iterator[T]:
    stop: KeyboardInterrupt | None = None
    while True:
        try:
            if stop := stop or _stop(signals):
                handover.stopped.set()
            item = handover.take(timeout=0.0 if stop else MOST_DEAF)
        except NothingYetError:
            if stop:
                raise stop from None
            continue
        except KeyboardInterrupt as error:  # it came to another thread than this
            stop = error
            continue
        if item is None:
            return
        yield item[0]


@contextmanager
def _held_back() -> Iterator[set[signal.Signals]]:
    """Keep the signals waiting for ``_stop``, in this thread and those begun in it."""
    heeded = {s for s in STOPS if callable(signal.getsignal(s))}
    if not hasattr(signal, "pthread_sigmask"):
        yield set()
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, heeded)
    try:
        yield heeded
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop(signals: set[signal.Signals]) -> KeyboardInterrupt | None:
    """What a signal that waits stands for."""
    if not signals or not signals & signal.sigpending():
        return None
    came = signal.sigwait(signals)
    return Terminated() if came == signal.SIGTERM else KeyboardInterrupt()


def leave_threads_behind(code: object) -> None:
    """End here and now if threads are still at work, which nobody waits for any more.

    Python would tear itself down under them, and they might crash or hang.
    """
    if threading.active_count() > 1:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code if isinstance(code, int) else 1)
