"""How well each criterion chooses -> a sheet: a row a criterion."""

from __future__ import annotations

from msvm_select.columns import CELL
from msvm_select.records import Plain
from msvm_select.results.compare import CHOICE, Comparison
from msvm_select.show.sheet import Look, Sheet, shown

SHOWN = (
    *("criterion", "kind", *CELL, "loo_rate", "regret", "kendall", "cells", "applies"),
    "share",
)
SPARE = ("applies", "cells", "share", "kind")  # where a terminal is narrow
LEFT = ("criterion", "kind", "kernel")


def sheet(comparison: Comparison) -> Sheet:
    """The choice of each criterion, in the order that they were asked for."""
    results, rows = comparison.results, comparison.rows
    several = len({row["kernel"] for row in rows} - {None}) > 1
    given = [name for name in CELL[1:] if any(row[name] for row in rows)]
    cell = ["kernel", *given] if several else given
    told = [closing(comparison)]
    return Sheet(
        columns=[_look(name) for name in CHOICE],
        rows=rows,
        facts={
            "data": dict(results.data),
            "settings": dict(results.settings),
            "versions": dict(results.versions),
        },
        blocks={
            "least_loo_rate": comparison.least,
            "seconds": {"training": comparison.training, "total": comparison.total},
        },
        shown=[name for name in SHOWN if name not in CELL or name in cell],
        spare=SPARE,
        below=["", *told],
        told=told,
    )


def closing(comparison: Comparison) -> str:
    """One line: the best that could be had, and the time."""
    least = comparison.least
    cells = len(comparison.results.rows)
    best = "no cell has one" if least is None else f"the smallest is {least:.4g}"
    share = 100.0 * comparison.training / max(comparison.total, 1e-300)
    return (
        f"Exact leave-one-out over {cells} cells: {best}; training took {share:.0f} % "
        f"of {comparison.total:.3g} s"
    )


def _look(name: str) -> Look:
    text = {"share": _percent, "kendall": _two_places}.get(name)
    digits = 4 if name in ("loo_rate", "regret") else 6
    return Look(name, left=name in LEFT, digits=digits, text=text)


def _percent(value: Plain) -> str:
    return f"{100.0 * value:.1f} %" if isinstance(value, float) else shown(value)


def _two_places(value: Plain) -> str:
    return f"{value:.2f}" if isinstance(value, float) else shown(value)
