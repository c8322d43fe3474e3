"""The pairwise margins of a trained cell -> rows and summary, as text.

One row a pair of classes, the same columns in all formats.  Samples are named by id,
else by their line of the file, else by number; several are separated by ``;``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msvm_select.geometry.margins import PairMargin, pair_margins
from msvm_select.records import Dataset, Ints
from msvm_select.results.identity import data_summary, versions
from msvm_select.row import SCHEMA_VERSION
from msvm_select.show.layout import aligned, certificate_line, shown
from msvm_select.show.plain import LINE_FORMATS, Plain, finite, json_document
from msvm_select.solution import Solution

COLUMNS = (
    *("class_k", "class_l", "gamma", "delta", "distance"),
    *("margin_k", "margin_l", "closest_k", "closest_l"),
)
LEFT = ("class_k", "class_l", "closest_k", "closest_l")
SHOWN = 4  # samples named in a table


@dataclass(frozen=True, eq=False)
class MarginsReport:
    """One trained cell and the margins of each pair of its classes.

    ``point`` is the cell by column (kernel, its parameters, C, solver); ``warning``
    says what is wrong with its Gram matrix, if anything.
    """

    data: Dataset
    solution: Solution
    point: Mapping[str, Plain]
    settings: Mapping[str, Any]
    warning: str = ""

    @cached_property
    def pairs(self) -> tuple[PairMargin, ...]:
        """The pairs of classes."""
        return pair_margins(self.solution)

    @cached_property
    def rows(self) -> tuple[dict[str, Plain], ...]:
        """One row a pair of classes, in order."""
        classes = self.data.classes
        return tuple(
            {
                "class_k": classes[pair.k],
                "class_l": classes[pair.l],
                "gamma": finite(pair.gamma),
                "delta": pair.delta,
                "distance": pair.distance,
                "margin_k": pair.margin_k,
                "margin_l": pair.margin_l,
                "closest_k": self._named(pair.closest_k),
                "closest_l": self._named(pair.closest_l),
            }
            for pair in self.pairs
        )

    def _named(self, samples: Ints) -> str:
        data = self.data
        if data.ids is not None:
            return ";".join(data.ids[i] for i in samples)
        numbers = samples + 1 if data.lines is None else data.lines[samples]
        return ";".join(map(str, numbers.tolist()))

    @property
    def names(self) -> str:
        """What the samples are named by."""
        if self.data.ids is not None:
            return self.data.id_column or "id"
        return "sample number" if self.data.lines is None else "line"

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The cell, its smallest margin and its certificate."""
        full = self.solution
        return {
            **self.point,
            "n_samples": full.dual.m,
            "smallest_gamma": min(pair.gamma for pair in self.pairs),
            "train_errors": full.train_errors,
            "n_sv": full.n_sv,
            "dual_objective": full.dual_objective,
            "gap": full.gap,
            "kkt_violation": full.kkt_violation,
            "b_unique": full.b_unique,
            "warning": self.warning,
        }

    def render(self, format: str) -> str:
        """All of it as text."""
        if format == "table":
            return table(self)
        if format == "json":
            return json_document(document(self))
        return LINE_FORMATS[format](COLUMNS, self.rows)


def document(report: MarginsReport) -> dict[str, Any]:
    """What a JSON file holds."""
    return {
        "schema_version": SCHEMA_VERSION,
        "data": data_summary(report.data),
        "settings": dict(report.settings),
        "versions": versions(),
        "rows": list(report.rows),
        "summary": {name: finite(value) for name, value in report.summary.items()},
    }


def table(report: MarginsReport) -> str:
    """Rows and summary for a person."""
    headings = [
        *("k", "l", "gamma_kl", "delta_kl", "||w_k - w_l||"),
        *("closest of k", "closest of l"),
    ]
    columns = [column for column in COLUMNS if not column.startswith("margin")]
    rows = [[_shown(row[column], column) for column in columns] for row in report.rows]
    left = [column in LEFT for column in columns]
    lines = [aligned([headings, *rows], left), "", *_closing(report)]
    return "\n".join(lines) + "\n"


def _shown(value: Plain, column: str) -> str:
    if isinstance(value, float) and abs(value) < 5e-9:
        value = 0.0
    text = shown(value, 6)
    if not column.startswith("closest"):
        return text
    names = text.split(";")
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _closing(report: MarginsReport) -> list[str]:
    full = report.solution
    share = 100.0 * full.train_errors / full.dual.m
    lines = [
        "gamma_kl = (1 + delta_kl) / ||w_k - w_l||; below 0 where a sample lies beyond",
        f"The closest samples are named by {report.names}.",
        f"Training: {full.train_errors} of {full.dual.m} wrong ({share:.2f} %), "
        f"{full.n_sv} support vectors, {full.n_bounded} at C",
        certificate_line(full),
    ]
    return [*lines, f"Warning: {report.warning}"] if report.warning else lines
