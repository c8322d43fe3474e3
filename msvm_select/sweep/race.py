"""A race by leave-one-out: the N best cells are exact, the others only bounded.

While a cell is judged, its errors lie between

    low = errors known so far    and    high = low + samples not judged yet.

If low is above the errors of N cells that are finished, the cell is not among the N
best, and is left there. So the N best are what they are without the race. A cell that
ties with one of them is judged to its end, too: ties are settled by other columns. For
``--select 1se`` a cell must also be out of reach of one standard error.

The likely errors are judged first, and the cells in the order of promise (``heats``);
where that does not pay, kernel settings in the middle of the grid first. What the
bounds are in the end depends on which cells were finished before; what is exact does
not.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from msvm_select.columns import Row, counts
from msvm_select.left_out import HopelessError
from msvm_select.results.choosing import binomial_error
from msvm_select.settings import Settings

T = TypeVar("T")


@dataclass(eq=False)
class Race:
    """What the finished cells of a sweep leave to be won; ``errors``: of them, sorted.

    Without ``best``, the N of ``--race``, there is no race, and nothing is hopeless.
    """

    best: int | None
    rule: str = "best"
    errors: list[int] = field(default_factory=list)
    samples: int = 0
    lock: Lock = field(default_factory=Lock)

    def __getstate__(self) -> dict[str, Any]:
        """Without the lock; a copy elsewhere hears only of its own cells."""
        return {**self.__dict__, "lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """With a lock of its own."""
        self.__dict__.update(state, lock=Lock())

    @classmethod
    def of(cls, settings: Settings) -> Race:
        """As the settings have it."""
        return cls(settings.race, settings.select)

    def finished(self, row: Row) -> None:
        """Count a row, if its errors are exact and it may be chosen."""
        if row.loo_errors is not None and counts(row, "loo_errors"):
            with self.lock:
                bisect.insort(self.errors, row.loo_errors)
                self.samples = row.n_samples

    def watch(self, errors: int, left: int) -> None:
        """End a cell that has so many errors, if it is hopeless."""
        if left and errors > self.most:
            raise HopelessError(errors, errors + left)

    def is_open(self, row: Row) -> bool:
        """Whether the row has bounds alone and might yet be among the best."""
        low = row.loo_errors_low
        return row.loo_errors is None and low is not None and low <= self.most

    @property
    def most(self) -> float:
        """The errors that a cell may have to be worth judging."""
        with self.lock:
            if self.best is None or len(self.errors) < self.best:
                return math.inf
            last, m = self.errors[self.best - 1], self.samples
            if self.rule != "1se":
                return last
            # the best may get better yet, and the limit need not fall with it
            limits = (k + m * binomial_error(k / m, m) for k in self._may_be_best())
            return max(last, *limits) + 1e-6

    def _may_be_best(self) -> range:
        return range(self.errors[0] + 1)


def middle_first(items: Sequence[T]) -> list[T]:
    """From the middle outward."""
    middle = (len(items) - 1) / 2.0
    order = sorted(range(len(items)), key=lambda i: abs(i - middle))
    return [items[i] for i in order]
