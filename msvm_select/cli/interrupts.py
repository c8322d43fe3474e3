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
from collections.abc import Callable
from queue import Empty, SimpleQueue
from types import FrameType
from typing import NoReturn, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MOST_DEAF = 0.2  # seconds until a signal is heeded, whichever thread it woke


class Terminated(KeyboardInterrupt):
    """SIGTERM came: to be treated as Ctrl-C is, but for the exit code."""


def heed_sigterm() -> None:
    """Stop as at Ctrl-C, unless whoever started us has SIGTERM ignored."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise Terminated

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, stop)


def stop_code(stop: KeyboardInterrupt) -> int:
    """128 + the number of the signal, as shells count."""
    terminated = isinstance(stop, Terminated)
    return 128 + (signal.SIGTERM if terminated else signal.SIGINT)


def patiently(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What ``work`` gives or raises, done in another thread; Ctrl-C does not wait."""
    outcome = SimpleQueue[tuple[T] | BaseException]()

    def done() -> None:
        try:
            outcome.put((work(*args, **named),))
        except BaseException as error:  # to be raised where it is waited for
            outcome.put(error)

    threading.Thread(target=done, daemon=True).start()
    while True:
        try:
            found = outcome.get(timeout=MOST_DEAF)
        except Empty:
            continue
        if isinstance(found, BaseException):
            raise found
        return found[0]


def leave(code: int) -> NoReturn:
    """End without waiting for the threads that are still at work."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
