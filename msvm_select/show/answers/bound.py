"""Every bound of one trained cell with its terms -> rows, as text.

One row a number, the same columns in all formats: its group and name, its value,
whether it applies (for a bound: whether it holds for this machine), a note, its formula
and where the formula comes from. A table shows formulas only when it is to explain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from textwrap import wrap
from typing import Any

from msvm_select.criteria.compression import CompressionTerms
from msvm_select.criteria.guaranteed_risk import GuaranteedRiskTerms
from msvm_select.criteria.radius_margin import RadiusMargin
from msvm_select.criteria.radius_margin_count import Counted
from msvm_select.criteria.vc import VcTerms
from msvm_select.left_out import LeftOut
from msvm_select.records import Dataset, Floats
from msvm_select.results.identity import data_summary, versions
from msvm_select.row import SCHEMA_VERSION
from msvm_select.show.answers.terms import Term
from msvm_select.show.answers.terms_of_errors import left_out_terms, machine_terms
from msvm_select.show.answers.terms_of_margins import radius_margin_rows
from msvm_select.show.answers.terms_of_risk import note_rows, risk_rows
from msvm_select.show.layout import shown
from msvm_select.show.plain import LINE_FORMATS, Plain, finite, json_document
from msvm_select.solution import Solution

COLUMNS = ("group", "term", "value", "applies", "note", "formula", "source")
WIDTH = 88
SOURCES = (
    "RM: Darcy and Guermeur, radius-margin bound for M-SVMs (2005); MS: Guermeur, "
    "Maumy and Sur, model selection for M-SVMs (2005); LN: lecture notes, corrected; "
    "own: derived and tested here."
)


@dataclass(frozen=True, eq=False)
class BoundsReport:
    """One trained cell and the terms of every bound.

    ``point`` is the cell by column; ``predicted`` the margins of the span estimate;
    ``counted`` is there where the radius-margin bound applies. None where there is
    nothing to compute; ``warning`` says what is wrong with the Gram matrix.
    """

    data: Dataset
    solution: Solution
    point: Mapping[str, Plain]
    settings: Mapping[str, Any]
    left_out: LeftOut
    predicted: Floats | None
    radius_margin: RadiusMargin | None
    counted: Counted | None
    softened: float | None
    risk: GuaranteedRiskTerms
    compression: CompressionTerms
    vc: VcTerms
    warning: str = ""

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """All numbers, the truth first."""
        found = [
            *left_out_terms(self.left_out, self.predicted),
            *machine_terms(self.solution),
        ]
        if self.radius_margin is not None:
            found += radius_margin_rows(
                self.data, self.radius_margin, self.counted, self.softened
            )
        found += risk_rows(self.risk)
        found += note_rows(self.compression, self.vc, self.solution)
        return tuple(found)

    @cached_property
    def rows(self) -> tuple[dict[str, Plain], ...]:
        """One row a number."""
        return tuple(
            {name: finite(value) for name, value in asdict(term).items()}
            for term in self.terms
        )

    def render(self, format: str, explain: bool = False) -> str:
        """All of it as text."""
        if format == "table":
            return table(self, explain)
        if format == "json":
            return json_document(document(self))
        return LINE_FORMATS[format](COLUMNS, self.rows)


def document(report: BoundsReport) -> dict[str, Any]:
    """What a JSON file holds."""
    return {
        "schema_version": SCHEMA_VERSION,
        "data": data_summary(report.data),
        "settings": dict(report.settings),
        "versions": versions(),
        "cell": {name: finite(value) for name, value in report.point.items()},
        "rows": list(report.rows),
        "sources": SOURCES,
        "warning": report.warning,
    }


def conclusion(report: BoundsReport) -> str:
    """One line: the exact errors, and the bound on them with whether it holds."""
    errors, m = report.left_out.errors, report.solution.dual.m
    text = f"Leave-one-out: {errors} of {m} wrong"
    terms = report.radius_margin
    if terms is None:
        return text
    word = "applies" if terms.applicable else "does not apply"
    return f"{text}; radius-margin {terms.bound:.6g} ({word}: {terms.reason})"


def table(report: BoundsReport, explain: bool = False) -> str:
    """Groups of numbers for a person."""
    lines = [_cell(report.point), *_body(report.terms, explain)]
    if explain:
        lines += ["", *wrap(SOURCES, WIDTH)]
    if report.warning:
        lines += ["", f"Warning: {report.warning}"]
    return "\n".join(lines) + "\n"


def _cell(point: Mapping[str, Plain]) -> str:
    values = [f"{name}={shown(value, 6)}" for name, value in point.items()]
    return " ".join([str(point["kernel"]), *values[1:]])


def _body(terms: tuple[Term, ...], explain: bool) -> Iterator[str]:
    """A line a number, then what there is to say of it."""
    names = max(len(term.term) for term in terms)
    values = max(len(shown(term.value, 6)) for term in terms)
    group = ""
    for term in terms:
        if term.group != group:
            group = term.group
            yield ""
            yield group
        applies = {None: "", True: "applies", False: "does not apply"}[term.applies]
        line = f"  {term.term:<{names}}  {shown(term.value, 6):>{values}}  {applies}"
        said = f"{line}{': ' if applies and term.note else ''}{term.note}"
        if len(said) <= WIDTH:
            yield said.rstrip()
        else:
            yield line.rstrip()
            yield from (f"      {part}" for part in wrap(term.note, WIDTH - 6))
        if explain:
            source = f"{term.formula}  [{term.source}]"
            yield from (f"      {part}" for part in wrap(source, WIDTH - 6))
