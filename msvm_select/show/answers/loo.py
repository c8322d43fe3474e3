"""Samples judged without themselves -> a sheet with a confusion matrix.

``predicted`` and ``margin`` are those of the machine trained without the sample. The
prediction is ``?`` at an exact tie, and for the only sample of its class: the machine
without it does not know that class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msvm_select.left_out import AMBIGUOUS, REPAIRED, ROADS, LeftOut
from msvm_select.model.examined import Examined, LeftOutReport
from msvm_select.phrases import counted
from msvm_select.records import Dataset, Plain, finite
from msvm_select.results.identity import data_summary, versions
from msvm_select.show.charts.confusion import UNDECIDED, Confusion, confusion_of
from msvm_select.show.sheet import Look, Sheet, aligned
from msvm_select.solution import Solution


def sheet(report: LeftOutReport, every: bool = False) -> Sheet:
    """A row a sample; a table has ``every`` one, or those wrong or in doubt."""
    data = report.data
    rows = _rows(report)
    confusion = confusion_of(data.classes, report.left_out)
    listed = [r for r in rows if every or r["wrong"] or r["ambiguous"]]
    hidden = f"{len(rows) - len(listed)} samples that are right are not shown; "
    where = "id" if data.ids is not None else "line"
    if data.ids is None and data.lines is None:
        where = "sample"
    told = [conclusion(report), *report.warnings]
    return Sheet(
        columns=_looks(data),
        rows=rows,
        facts=facts_of(report),
        blocks={
            "confusion": {
                "classes": list(data.classes),
                "matrix": confusion.counts[:, :-1].tolist(),
                "undecided": confusion.counts[:, -1].tolist(),
            },
            "summary": _summary(report),
        },
        shown=[where, "class", "predicted", "margin", "road", "wrong"],
        listed=listed,
        below=[
            *([] if every else ["", f"{hidden}--all shows them."]),
            *("", _matrix(confusion), ""),
            conclusion(report),
            training_line(report.solution),
            certificate_line(report.solution),
            *report.warnings,
        ],
        told=told,
        details=[_roads(report.left_out)],
    )


def facts_of(cell: Examined) -> dict[str, Any]:
    """What the JSON document of one trained cell begins with."""
    return {
        "data": data_summary(cell.data),
        "settings": dict(cell.deciding),
        "versions": versions(),
    }


def conclusion(report: LeftOutReport) -> str:
    """One line: how many are wrong, and how sure that is."""
    left, m = report.left_out, report.data.m
    return (
        f"Leave-one-out: {left.errors} of {m} wrong ({100.0 * left.errors / m:.2f} %), "
        f"{left.ambiguous} ambiguous (margin within {AMBIGUOUS:g} of 0)"
    )


def training_line(solution: Solution) -> str:
    """How many samples are wrong in training, and how many are support vectors."""
    wrong, m = solution.train_errors, solution.dual.m
    return (
        f"Training: {wrong} of {m} wrong ({100.0 * wrong / m:.2f} %), {solution.n_sv} "
        "support vectors"
    )


def certificate_line(solution: Solution) -> str:
    """How near to the optimum it is, and whether its biases are the only ones."""
    unique = "unique" if solution.b_unique else "not unique (their centre is taken)"
    return (
        f"Certificate: relative gap {solution.gap:.2g}, KKT violation "
        f"{solution.kkt_violation:.2g}; biases {unique}"
    )


def _roads(left_out: LeftOut) -> str:
    """How many samples were judged in which way."""
    counts = [(left_out.count(i), road) for i, road in enumerate(ROADS)]
    return f"Roads: {', '.join(f'{n} {road}' for n, road in counts if n)}"


def in_words(road: int, steps: int) -> str:
    """How a sample was judged."""
    if road != REPAIRED:
        return ROADS[road]
    return f"repaired in {counted(steps, 'step')}"


def _looks(data: Dataset) -> list[Look]:
    return [
        Look("sample"),
        Look("line"),
        Look("id", heading=data.id_column or "id", left=True),
        Look("class", left=True),
        Look("predicted", left=True),
        Look("margin"),
        Look("road", left=True),
        Look("steps"),
        Look("wrong"),
        Look("ambiguous"),
    ]


def _rows(report: LeftOutReport) -> list[dict[str, Plain]]:
    """One row a sample, in the order of the data."""
    data, left = report.data, report.left_out
    names = (*data.classes, UNDECIDED)
    lines = [None] * data.m if data.lines is None else data.lines.tolist()
    return [
        {
            "sample": i + 1,
            "line": lines[i],
            "id": None if data.ids is None else data.ids[i],
            "class": data.classes[data.y[i]],
            "predicted": names[left.predicted[i]],
            "margin": finite(float(left.margin[i])),
            "road": in_words(int(left.road[i]), int(left.exchanges[i])),
            "steps": int(left.exchanges[i]),
            "wrong": bool(left.wrong[i]),
            "ambiguous": bool(left.in_doubt[i]),
        }
        for i in range(data.m)
    ]


def _summary(report: LeftOutReport) -> Mapping[str, Any]:
    """The cell, its errors left out and in training, the roads, the certificate."""
    left, m = report.left_out, report.data.m
    return {
        **report.point,
        "n_samples": m,
        "loo_errors": left.errors,
        "loo_rate": left.errors / m,
        "loo_ambiguous": left.ambiguous,
        "roads": {road: left.count(i) for i, road in enumerate(ROADS)},
        "steps": int(left.exchanges.sum()),
        **certificate(report),
    }


def certificate(cell: Examined) -> dict[str, Any]:
    """What the summary of one trained cell ends with."""
    full = cell.solution
    return {
        "train_errors": full.train_errors,
        "n_sv": full.n_sv,
        "dual_objective": full.dual_objective,
        "gap": full.gap,
        "kkt_violation": full.kkt_violation,
        "b_unique": full.b_unique,
        "warning": cell.warning,
    }


def _matrix(confusion: Confusion) -> str:
    """True classes down, predictions across; zeros off the diagonal as dots."""
    rows = [
        [name, *(str(n) if n or k == l else "." for l, n in enumerate(counts))]
        for k, (name, counts) in enumerate(confusion.lines)
    ]
    headings = ["class \\ predicted", *confusion.predicted]
    return aligned([headings, *rows], [True] + [False] * len(confusion.predicted))
