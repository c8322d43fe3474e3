"""What moved between two runs -> a sheet: a row a cell, the largest change first."""

from __future__ import annotations

from typing import Any

from msvm_select.columns import CELL, Row
from msvm_select.records import Plain
from msvm_select.results.compare import Against
from msvm_select.results.ranking import Results
from msvm_select.show.sheet import Look, Sheet

LEFT = ("kernel", "loss", "moved", "status_before", "status")
LOOKS = tuple(
    Look(name, left=name in LEFT, digits=6 if name in CELL else 4)
    for name in (
        *(*CELL, "loss", "moved", "rank_before", "rank", "before", "after", "change"),
        *("status_before", "status"),
    )
)


def sheet(against: Against, top: int | None = None) -> Sheet:
    """Of the cells that moved the first ``top``."""
    rows = [pair.plain() for pair in against.moves[:top]]
    left = len(against.moves) - len(rows)
    more = f"{left} more moved; --top or another format shows them"
    told = closing(against).splitlines()
    return Sheet(
        columns=LOOKS,
        rows=rows,
        facts={
            "by": against.after.rank_by,
            "best": {
                "before": _cell(against.before.best, against.column),
                "after": _cell(against.after.best, against.column),
                "change": against.change,
            },
            "cells": _counts(against),
            "kendall": against.kendall,
        },
        shown=_shown(rows),
        below=["", *([more] if left else []), *told],
        told=told,
        notes=[f"Warning: {note}" for note in against.notes],
    )


def closing(against: Against) -> str:
    """What became of the best cell, and how many cells moved."""
    cells, tau, change = _counts(against), against.kendall, against.change
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


def _shown(rows: list[dict[str, Plain]]) -> list[str]:
    """The columns in which there is something; the status where one is in trouble."""
    names = [look.name for look in LOOKS]
    if not rows:
        return names
    names = [name for name in names if any(row[name] is not None for row in rows)]
    if {row["status"] for row in rows} <= {"ok", None}:
        names = [name for name in names if not name.startswith("status")]
    return names


def _counts(against: Against) -> dict[str, int]:
    alone = [pair.moved for pair in against.pairs if pair not in against.both]
    return {
        "both": len(against.both),
        "moved": sum(bool(pair.moved) for pair in against.both),
        "only_before": alone.count("only before"),
        "only_now": alone.count("only now"),
    }


def _cell(row: Row | None, column: str) -> dict[str, Any] | None:
    if row is None:
        return None
    return {name: row.value(name) for name in (*CELL, column)}


def _told(results: Results, column: str) -> str:
    best = results.best
    return f"{best.cell} ({best.value(column):.4g})" if best else "none"
