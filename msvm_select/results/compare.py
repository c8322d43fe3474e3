"""Criteria held against exact leave-one-out, and one run against another.

``Comparison``: of each criterion the cell that it ranks first and that cell's exact
leave-one-out rate; the *regret*, this rate less the smallest one of the grid;
*kendall*, the rank correlation (tau-b) of its values with the leave-one-out rates, over
the cells that have both; how many cells it scores, and in how many of them it applies;
the seconds that it took and their share of all (training and criteria together), of one
machine.

``Against``: what moved between two runs: the best cell, single cells, their order. Two
rows are of the same cell if kernel, parameters, C, loss and machine are the same; the
solver does not matter. A value has moved if it differs by more than certified optima
may differ (NOISE, relative). A cell has moved if its value or its status has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msvm_select.columns import CELL, Row, column_of, criterion_of, holds
from msvm_select.names import CRITERIA
from msvm_select.records import Plain, finite
from msvm_select.results.ranking import Results, kendall

CHOICE = (
    *("criterion", "kind", *CELL, "score", "loo_rate", "regret", "kendall"),
    *("cells", "applies", "seconds", "share", "machine"),
)
SAMPLES = ("n_samples", "n_classes")
NOISE = 1e-6
DIGITS = 12  # in which the parameters of a cell must agree

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Comparison:
    """A sweep by several criteria, exact leave-one-out among them, and their cost."""

    results: Results
    seconds: Mapping[str, float]

    @cached_property
    def rows(self) -> tuple[dict[str, Plain], ...]:
        """One row a criterion or metric, in the order that they were asked for."""
        asked = (*self.results.settings["criteria"], *self.results.metrics)
        return tuple(self._row(text) for text in asked)

    @property
    def machine(self) -> str:
        """What was swept."""
        return str(self.results.settings.get("machine", "ww"))

    @property
    def training(self) -> float:
        """Seconds that the training took."""
        return max(0.0, self.total - sum(self.seconds.values()))

    @property
    def total(self) -> float:
        """Seconds of training and criteria."""
        return sum(row.seconds or 0.0 for row in self.results.rows)

    @property
    def least(self) -> float | None:
        """The smallest leave-one-out rate of the grid."""
        rates = [row.loo_rate for row in self.judged]
        return min((rate for rate in rates if rate is not None), default=None)

    @property
    def judged(self) -> list[Row]:
        """The cells with an exact leave-one-out."""
        rows = self.results.rows
        return [row for row in rows if row.status == "ok" and row.loo_rate is not None]

    def _row(self, criterion: str) -> dict[str, Plain]:
        column = self.results.column_of(criterion)
        scored = [row for row in self.judged if row.value(column) is not None]
        seconds = self.seconds.get(criterion, 0.0)
        row: dict[str, Plain] = {
            **dict.fromkeys(CHOICE),
            "criterion": criterion,
            "kind": _kind(criterion),
            "cells": len(scored),
            "applies": sum(holds(row, column) for row in scored),
            "seconds": seconds,
            "share": seconds / self.total if self.total > 0.0 else None,
            "machine": self.machine,
        }
        if not scored:
            return row
        pick, least = self.results.ranked(criterion).rows[0], self.least
        sense = column_of(column).sense
        rate, values = pick.loo_rate, [sense * one.value(column) for one in scored]
        return row | {
            **{name: pick.value(name) for name in CELL},
            "score": finite(pick.value(column)),
            "loo_rate": rate,
            "regret": None if rate is None or least is None else rate - least,
            "kendall": kendall(values, [one.loo_rate or 0.0 for one in scored]),
        }


def _kind(criterion: str) -> str:
    name = criterion_of(criterion)
    return CRITERIA[name].kind if name in CRITERIA else "metric"


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
        worse = column_of(self.column).sense * (self.change or 0.0)
        return "worse" if worse > 0.0 else "better" if worse < 0.0 else ""

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


@dataclass(frozen=True)
class Against:
    """Two runs, ranked by the same: ``after``, held against ``before``."""

    before: Results
    after: Results

    @property
    def column(self) -> str:
        """What both are ranked by."""
        return self.after.column

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """All cells of both."""
        old, new = by_cell(self.before), by_cell(self.after)
        return tuple(
            Pair(old.get(key), new.get(key), self.column)
            for key in dict.fromkeys([*new, *old])
        )

    @property
    def both(self) -> list[Pair]:
        """The cells that are in both."""
        return [pair for pair in self.pairs if pair.before and pair.after]

    @cached_property
    def moves(self) -> list[Pair]:
        """What moved, the gravest first."""
        return sorted((p for p in self.pairs if p.moved), key=lambda pair: pair.weight)

    @property
    def change(self) -> float | None:
        """By how much the value of the best cell rose; None where one has no best."""
        return rise(
            value_of(self.before.best, self.column),
            value_of(self.after.best, self.column),
        )

    @property
    def kendall(self) -> float | None:
        """Kendall's rank correlation of the two, over the cells with both values."""
        known = [
            pair.values
            for pair in self.both
            if {row.status for row in (pair.before, pair.after) if row} == {"ok"}
            and None not in pair.values
        ]
        old, new = [v[0] or 0.0 for v in known], [v[1] or 0.0 for v in known]
        return kendall(old, new) if known else None

    @property
    def notes(self) -> list[str]:
        """Why the two may not be comparable."""
        old, new = self.before.rows[0], self.after.rows[0]
        pairs = [(name, getattr(old, name), getattr(new, name)) for name in SAMPLES]
        return [
            f"The runs are of different data: {name} was {before} and is {now} now."
            for name, before, now in pairs
            if before and now and before != now
        ]

    def worsened(self, tolerance: float = 0.0) -> str | None:
        """That the best cell got worse by more than ``tolerance``, if it did."""
        before, after = self.before.best, self.after.best
        if before is None:
            return None
        old = value_of(before, self.column)
        if after is None:
            return f"no cell has a score by {self.after.rank_by} now; it was {old:.6g}"
        sense = column_of(self.column).sense
        change = sense * (self.change or 0.0)
        if change <= tolerance:
            return None
        more = f", which is more than {tolerance:.6g}" if tolerance else ""
        return (
            f"{self.column} {value_of(after, self.column):.6g} of the best cell "
            f"({after.cell}) is {change:.6g} {'above' if sense > 0.0 else 'below'} "
            f"the {old:.6g} of before{more}"
        )


def by_cell(results: Results) -> dict[Key, Row]:
    """Of two rows of the same cell the better counts."""
    found: dict[Key, Row] = {}
    for row in results.rows:
        numbers = (getattr(row, name) for name in CELL[1:])
        point = (n if n is None else float(f"{n:.{DIGITS}g}") for n in numbers)
        found.setdefault(
            (row.kernel, *point, row.loss or "l1", row.machine or "ww"), row
        )
    return found


def value_of(row: Row | None, column: str) -> float | None:
    """The value; None where there is no row or no number."""
    value = None if row is None else row.value(column)
    return None if value is None or math.isnan(value) else value


def rise(before: float | None, after: float | None) -> float | None:
    """By how much it rose, 0 within the noise; None where one is missing."""
    if before is None or after is None:
        return None
    if before == after:
        return 0.0
    near = math.isclose(before, after, rel_tol=NOISE, abs_tol=NOISE**2)
    return 0.0 if near else after - before
