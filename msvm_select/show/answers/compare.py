"""How well each criterion chooses, a row a criterion; what moved between two runs.

Of two runs there is a row a cell, the largest change first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from msvm_select.columns import CELL, Row
from msvm_select.records import Plain
from msvm_select.results.compare import CHOICE, Against, Comparison
from msvm_select.results.notes import Gate
from msvm_select.results.ranking import Results
from msvm_select.show.pipeline import WARNING, cases_of, remark
from msvm_select.show.sheet import Look, Sheet, shown

SHOWN = (
    *("criterion", "kind", *CELL, "loo_rate", "regret", "kendall", "cells", "applies"),
    "share",
)
SPARE = ("applies", "cells", "share", "kind")  # where a terminal is narrow
ROUNDED = ("loo_rate", "regret", "before", "after", "change")
MOVES = (
    *(*CELL, "loss", "moved", "rank_before", "rank", "before", "after", "change"),
    *("status_before", "status"),
)
LEFT = (
    "machine",
    "criterion",
    "kind",
    "kernel",
    "loss",
    "moved",
    "status_before",
    "status",
)


def sheet(compared: Sequence[Comparison]) -> Sheet:
    """The choice of each criterion, in the order that they were asked for.

    Of several machines one after the other, and how they rank.
    """
    rows = [row for one in compared for row in one.rows]
    several = len({row["kernel"] for row in rows} - {None}) > 1
    given = [name for name in CELL[1:] if any(row[name] for row in rows)]
    cell = ["kernel", *given] if several else given
    machines = [one.machine for one in compared]
    facts = dict(compared[0].results.origin)
    blocks: dict[str, Any] = _measured(compared[0])
    told = [_conclusion(one) for one in compared]
    first = [] if machines == ["ww"] else ["machine"]
    if len(compared) > 1:
        facts["settings"] = {**facts["settings"], "machine": machines}
        ranked = sorted(compared, key=_least)
        blocks = {"machines": [{"machine": o.machine, **_measured(o)} for o in ranked]}
        told = [
            f"{one.machine}: {text}" for one, text in zip(compared, told, strict=True)
        ]
        order = ", ".join(f"{one.machine} {shown(one.least)}" for one in ranked)
        told.append(f"Machines by their smallest leave-one-out rate: {order}")
    return Sheet(
        columns=[_look(name) for name in CHOICE],
        rows=rows,
        facts=facts,
        blocks=blocks,
        shown=[
            *first,
            *(name for name in SHOWN if name not in CELL or name in cell),
        ],
        spare=SPARE,
        below=["", *told],
        told=told,
    )


def _measured(one: Comparison) -> dict[str, Any]:
    seconds = {"training": one.training, "total": one.total}
    return {"least_loo_rate": one.least, "seconds": seconds}


def _least(one: Comparison) -> float:
    return math.inf if one.least is None else one.least


def _conclusion(one: Comparison) -> str:
    """The smallest leave-one-out rate of the grid, and the share of the training."""
    cells, least = len(one.results.rows), one.least
    best = "no cell has one" if least is None else f"the smallest is {least:.4g}"
    share = 100.0 * one.training / max(one.total, 1e-300)
    return (
        f"Exact leave-one-out over {cells} cells: {best}; training took {share:.0f} % "
        f"of {one.total:.3g} s"
    )


def _look(name: str) -> Look:
    text = {"share": _percent, "kendall": _two_places}.get(name)
    digits = 4 if name in ROUNDED else 6
    return Look(name, left=name in LEFT, digits=digits, text=text)


def _percent(value: Plain) -> str:
    return f"{100.0 * value:.1f} %" if isinstance(value, float) else shown(value)


def _two_places(value: Plain) -> str:
    return f"{value:.2f}" if isinstance(value, float) else shown(value)


def against_sheet(
    against: Against, top: int | None = None, gates: Sequence[Gate] = ()
) -> Sheet:
    """Of the cells that moved the first ``top``; ``gates`` are for pipelines."""
    rows = [pair.plain() for pair in against.moves[:top]]
    left = len(against.moves) - len(rows)
    more = f"{left} more moved; --top or another format shows them"
    told = _closing(against).splitlines()
    return Sheet(
        columns=[_look(name) for name in MOVES],
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
        title=str(against.after.data.get("name", "")),
        cases=[
            *cases_of(gates),
            *(remark(note, WARNING) for note in against.notes),
            remark(" ".join(map(str.strip, told))),
        ],
    )


def _closing(against: Against) -> str:
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
    if not rows:
        return list(MOVES)
    names = [name for name in MOVES if any(row[name] is not None for row in rows)]
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
