"""Samples judged without themselves -> rows, confusion matrix and summary, as text.

The columns are the same in all formats. ``predicted`` and ``margin`` are those of the
machine trained without the sample; the prediction is ``?`` at an exact tie, and for the
only sample of its class, whose class that machine does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msvm_select.left_out import AMBIGUOUS, REPAIRED, ROADS, LeftOut
from msvm_select.phrases import counted
from msvm_select.records import Dataset
from msvm_select.results.identity import data_summary, versions
from msvm_select.row import SCHEMA_VERSION
from msvm_select.show.charts.confusion import UNDECIDED, Confusion, confusion_of
from msvm_select.show.layout import aligned, certificate_line, shown
from msvm_select.show.plain import LINE_FORMATS, Plain, finite, json_document
from msvm_select.solution import Solution

COLUMNS = (
    *("sample", "line", "id", "class", "predicted", "margin", "road", "steps"),
    *("wrong", "ambiguous"),
)
LEFT = ("class", "predicted", "road", "id")


@dataclass(frozen=True, eq=False)
class LeftOutReport:
    """One trained cell and the answers of the machines without each sample.

    ``point`` is the cell by column (kernel, its parameters, C, solver); ``warning``
    says what is wrong with its Gram matrix, if anything.
    """

    data: Dataset
    solution: Solution
    left_out: LeftOut
    point: Mapping[str, Plain]
    settings: Mapping[str, Any]
    warning: str = ""

    @cached_property
    def rows(self) -> tuple[dict[str, Plain], ...]:
        """One row a sample, in the order of the data."""
        data, left = self.data, self.left_out
        names = (*data.classes, UNDECIDED)
        lines = [None] * data.m if data.lines is None else data.lines.tolist()
        ambiguous = left.in_doubt
        return tuple(
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
                "ambiguous": bool(ambiguous[i]),
            }
            for i in range(data.m)
        )

    @cached_property
    def confusion(self) -> Confusion:
        """How often each class was taken for each other."""
        return confusion_of(self.data.classes, self.left_out)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The cell, its errors left out and in training, the roads, the certificate."""
        left, full = self.left_out, self.solution
        return {
            **self.point,
            "n_samples": full.dual.m,
            "loo_errors": left.errors,
            "loo_rate": left.errors / full.dual.m,
            "loo_ambiguous": left.ambiguous,
            "roads": {road: left.count(i) for i, road in enumerate(ROADS)},
            "steps": int(left.exchanges.sum()),
            "train_errors": full.train_errors,
            "n_sv": full.n_sv,
            "dual_objective": full.dual_objective,
            "gap": full.gap,
            "kkt_violation": full.kkt_violation,
            "b_unique": full.b_unique,
            "warning": self.warning,
        }

    def render(self, format: str, every: bool = False) -> str:
        """All of it as text; a table shows ``every`` row, or what went wrong only."""
        if format == "table":
            return table(self, every)
        if format == "json":
            return json_document(document(self))
        return LINE_FORMATS[format](COLUMNS, self.rows)


def in_words(road: int, steps: int) -> str:
    """How a sample was judged."""
    if road != REPAIRED:
        return ROADS[road]
    return f"repaired in {counted(steps, 'step')}"


def document(report: LeftOutReport) -> dict[str, Any]:
    """What a JSON file holds; row k of the confusion matrix is the true class k."""
    counts = report.confusion.counts
    return {
        "schema_version": SCHEMA_VERSION,
        "data": data_summary(report.data),
        "settings": dict(report.settings),
        "versions": versions(),
        "rows": list(report.rows),
        "confusion": {
            "classes": list(report.data.classes),
            "matrix": counts[:, :-1].tolist(),
            "undecided": counts[:, -1].tolist(),
        },
        "summary": {name: finite(value) for name, value in report.summary.items()},
    }


def conclusion(report: LeftOutReport) -> str:
    """One line: how many are wrong, and how sure that is."""
    left, m = report.left_out, report.solution.dual.m
    return (
        f"Leave-one-out: {left.errors} of {m} wrong ({100.0 * left.errors / m:.2f} %), "
        f"{left.ambiguous} ambiguous (margin within {AMBIGUOUS:g} of 0)"
    )


def table(report: LeftOutReport, every: bool = False) -> str:
    """Rows, confusion matrix and summary for a person."""
    rows = [r for r in report.rows if every or r["wrong"] or r["ambiguous"]]
    parts = [_samples(report, rows)] if rows else []
    if not every:
        hidden = len(report.rows) - len(rows)
        parts.append(
            f"{hidden} samples that are right are not shown; --all shows them."
        )
    parts += [_confusion(report.confusion), "\n".join(_closing(report))]
    return "\n\n".join(parts) + "\n"


def _samples(report: LeftOutReport, rows: Sequence[Mapping[str, Plain]]) -> str:
    """The rows, named by id, else by line of the file, else by number."""
    data = report.data
    where = "id" if data.ids is not None else "line"
    if data.ids is None and data.lines is None:
        where = "sample"
    columns = [where, "class", "predicted", "margin", "road", "wrong"]
    cells = [[shown(row[column]) for column in columns] for row in rows]
    headings = [data.id_column or "id" if c == "id" else c for c in columns]
    return aligned([headings, *cells], [column in LEFT for column in columns])


def _confusion(confusion: Confusion) -> str:
    """True classes down, predictions across; zeros off the diagonal as dots."""
    rows = [
        [name, *(str(n) if n or k == l else "." for l, n in enumerate(counts))]
        for k, (name, counts) in enumerate(confusion.lines)
    ]
    headings = ["class \\ predicted", *confusion.predicted]
    return aligned([headings, *rows], [True] + [False] * len(confusion.predicted))


def _closing(report: LeftOutReport) -> list[str]:
    full, roads = report.solution, report.summary["roads"]
    share = 100.0 * full.train_errors / full.dual.m
    counts = ", ".join(f"{n} {road}" for road, n in roads.items() if n)
    lines = [
        conclusion(report),
        f"Training: {full.train_errors} of {full.dual.m} wrong ({share:.2f} %), "
        f"{full.n_sv} support vectors",
        f"Roads: {counts}",
        certificate_line(full),
    ]
    return [*lines, f"Warning: {report.warning}"] if report.warning else lines
