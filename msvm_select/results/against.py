"""What moved between two runs: the best cell, single cells, their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msvm_select.results.correlation import kendall
from msvm_select.results.moves import Pair, by_cell, rise, value_of
from msvm_select.results.ranking import Results, ranking_column
from msvm_select.row import CELL, SCHEMA_VERSION, Row
from msvm_select.show.layout import aligned, shown
from msvm_select.show.plain import LINE_FORMATS, Plain, finite, json_document

COLUMNS = (
    *(*CELL, "loss", "moved", "rank_before", "rank", "before", "after", "change"),
    *("status_before", "status"),
)
LEFT = ("kernel", "loss", "moved", "status_before", "status")
SAMPLES = ("n_samples", "n_classes")


@dataclass(frozen=True)
class Against:
    """Two runs, ranked by the same: ``after``, held against ``before``."""

    before: Results
    after: Results

    @property
    def column(self) -> str:
        """What both are ranked by."""
        return ranking_column(self.after.rank_by)

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
        ok = [p for p in self.both if {p.row.status, _status(p.before)} == {"ok"}]
        known = [p.values for p in ok if None not in p.values]
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
        change = self.change or 0.0
        if change <= tolerance:
            return None
        more = f", which is more than {tolerance:.6g}" if tolerance else ""
        return (
            f"{self.column} {value_of(after, self.column):.6g} of the best cell "
            f"({after.cell}) is {change:.6g} above the {old:.6g} of before{more}"
        )

    def render(self, format: str, top: int | None = None) -> str:
        """All of it as text, of the cells that moved the first ``top``."""
        if format == "table":
            return _table(self, top)
        if format == "json":
            return json_document(document(self, top))
        return LINE_FORMATS[format](COLUMNS, [p.plain() for p in self.moves[:top]])


def document(against: Against, top: int | None = None) -> dict[str, Any]:
    """What a JSON file holds."""
    alone = [pair.moved for pair in against.pairs if pair not in against.both]
    return {
        "schema_version": SCHEMA_VERSION,
        "by": against.after.rank_by,
        "best": {
            "before": _cell(against.before.best, against.column),
            "after": _cell(against.after.best, against.column),
            "change": finite(against.change),
        },
        "cells": {
            "both": len(against.both),
            "moved": sum(bool(pair.moved) for pair in against.both),
            "only_before": alone.count("only before"),
            "only_now": alone.count("only now"),
        },
        "kendall": against.kendall,
        "rows": [pair.plain() for pair in against.moves[:top]],
    }


def closing(against: Against) -> str:
    """What became of the best cell, and how many cells moved."""
    found = document(against)
    best, cells, tau = found["best"], found["cells"], found["kendall"]
    change = best["change"]
    word = "as good as before"
    if change is None:
        word = "not comparable: one of them has none"
    elif change:
        word = f"{abs(change):.4g} {'worse' if change > 0.0 else 'better'}"
    correlation = "-" if tau is None else f"{tau:.2f}"
    start = f"Best by {against.after.rank_by}: "
    return (
        f"{start}{_told(against.before, against.column)} before\n"
        f"{' ' * len(start)}{_told(against.after, against.column)} now: {word}\n"
        f"Of {cells['both']} cells in both {cells['moved']} moved; "
        f"{cells['only_before']} only before, {cells['only_now']} only now; "
        f"Kendall's tau {correlation}"
    )


def _table(against: Against, top: int | None) -> str:
    """The cells that moved, and the closing lines."""
    rows = [pair.plain() for pair in against.moves[:top]]
    columns = [name for name in COLUMNS if any(row[name] is not None for row in rows)]
    if {row["status"] for row in rows} <= {"ok", None}:
        columns = [name for name in columns if not name.startswith("status")]
    lines: list[Sequence[str]] = [columns]
    digits = [6 if name in CELL else 4 for name in columns]
    lines += [[*map(shown, map(row.get, columns), digits)] for row in rows]
    text = aligned(lines, [name in LEFT for name in columns]) + "\n\n" if rows else ""
    left = len(against.moves) - len(rows)
    more = f"{left} more moved; --top or another format shows them\n" if left else ""
    return f"{text}{more}{closing(against)}\n"


def _status(row: Row | None) -> str:
    return "" if row is None else row.status


def _cell(row: Row | None, column: str) -> dict[str, Plain] | None:
    if row is None:
        return None
    return {name: getattr(row, name) for name in (*CELL, column)}


def _told(results: Results, column: str) -> str:
    best = results.best
    return f"{best.cell} ({getattr(best, column):.4g})" if best else "none"
