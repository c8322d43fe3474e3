"""Items made in one thread and taken in another, with the error that ends them."""

from __future__ import annotations

from collections.abc import Iterable
from queue import Empty, SimpleQueue
from threading import Event
from typing import Generic, TypeVar

T = TypeVar("T")


class NothingYetError(Exception):
    """Nothing has come in time; no error of those who give."""


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
