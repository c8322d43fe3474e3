"""Ctrl-C, also where a library swallows the KeyboardInterrupt."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """Notes that Ctrl-C came; besides, it raises KeyboardInterrupt as ever.

    Compiled code that calls back into Python may catch the exception and go on; then
    ``came`` still tells. Where Ctrl-C is ignored (a job in the background) it stays so.
    """

    def __init__(self) -> None:
        """Not listening yet."""
        self.came = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        """Listen."""
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave Ctrl-C to whoever had it."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        signal.default_int_handler(number, frame)
