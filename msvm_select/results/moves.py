"""One cell in two runs: whether it moved, and by how much.

Cells are the same where kernel, its parameters, C and loss are; by which solver they
were trained does not matter. A value has moved where it differs by more than what
certified optima may differ by (NOISE, relative); a cell has, also where its status did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from msvm_select.records import Plain, finite
from msvm_select.results.ranking import Results
from msvm_select.row import CELL, Row

NOISE = 1e-6
DIGITS = 12  # in which the parameters of a cell must agree

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Pair:
    """A cell in both runs, or in one of them, with its value in each."""

    before: Row | None
    after: Row | None
    column: str

    @property
    def row(self) -> Row:
        """The cell itself."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def values(self) -> tuple[float | None, float | None]:
        """Before and after; None where there is none."""
        return value_of(self.before, self.column), value_of(self.after, self.column)

    @property
    def change(self) -> float | None:
        """By how much the value rose; 0 within the noise."""
        return rise(*self.values)

    @property
    def moved(self) -> str:
        """In a word; nothing where it stayed."""
        if self.before is None or self.after is None:
            return "only now" if self.before is None else "only before"
        if self.before.status != self.after.status:
            return "status"
        if (None in self.values) and self.values != (None, None):
            return "value lost" if self.values[1] is None else "value new"
        change = self.change or 0.0
        return "worse" if change > 0.0 else "better" if change < 0.0 else ""

    @property
    def weight(self) -> tuple[int, float, int]:
        """To sort by: status, then large changes, then cells of one run only."""
        alone = self.before is None or self.after is None
        change = self.change if self.moved in ("worse", "better") else None
        size = math.inf if change is None else abs(change)
        return alone, -size, self.row.rank or 0

    def plain(self) -> dict[str, Plain]:
        """By column."""
        before, after = self.values
        return {
            **{name: getattr(self.row, name) for name in (*CELL, "loss")},
            "moved": self.moved,
            "rank_before": self.before and self.before.rank,
            "rank": self.after and self.after.rank,
            "before": finite(before),
            "after": finite(after),
            "change": finite(self.change),
            "status_before": self.before and self.before.status,
            "status": self.after and self.after.status,
        }


def by_cell(results: Results) -> dict[Key, Row]:
    """Of two rows of the same cell the better counts."""
    found: dict[Key, Row] = {}
    for row in results.rows:
        numbers = (getattr(row, name) for name in CELL[1:])
        point = (n if n is None else float(f"{n:.{DIGITS}g}") for n in numbers)
        found.setdefault((row.kernel, *point, row.loss or "l1"), row)
    return found


def value_of(row: Row | None, column: str) -> float | None:
    """The value; None where there is no row or no number."""
    value = None if row is None else getattr(row, column)
    return None if value is None or math.isnan(value) else value


def rise(before: float | None, after: float | None) -> float | None:
    """By how much it rose, 0 within the noise; None where one is missing."""
    if before is None or after is None:
        return None
    if before == after:
        return 0.0
    near = math.isclose(before, after, rel_tol=NOISE, abs_tol=NOISE**2)
    return 0.0 if near else after - before
