"""What is in a data file -> a sheet: a row a feature; or why it cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

from msvm_select.data.doubts import ColumnSummary, Description
from msvm_select.errors import DataError
from msvm_select.phrases import counted, in_a_line, quoted
from msvm_select.records import Plain
from msvm_select.results.ranking import baseline_of
from msvm_select.show.sheet import Look, Sheet

MOST = 40  # classes, columns or warnings in a table
HEADINGS = {"name": "column", "minimum": "min", "maximum": "max"}


def _exactly(value: Plain) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


LOOKS = tuple(
    Look(field.name, HEADINGS.get(field.name, ""), field.name == "name", text=_exactly)
    for field in fields(ColumnSummary)
)


def sheet(found: Description) -> Sheet:
    """Classes, the range of every feature, all that deserves a look."""
    whole = {**asdict(found), "warnings": list(found.warnings)}
    names = list(whole)
    at = names.index("columns")
    rest = len(found.columns) - MOST
    classes = [f"{in_a_line(name)} {m}" for name, m in found.classes.items()]
    constant = baseline_of(found.classes)
    told = constant and asdict(constant) | {"rate": constant.rate}
    return Sheet(
        columns=LOOKS,
        rows=whole["columns"],
        rows_as="columns",
        facts={"usable": True, "problems": []} | {n: whole[n] for n in names[:at]},
        blocks={**{name: whole[name] for name in names[at + 1 :]}, "baseline": told},
        shown=[look.name for look in LOOKS],
        listed=whole["columns"][:MOST],
        above=[
            f"{found.name}: {found.rows} rows, {counted(found.features, 'feature')}, "
            f"{len(found.classes)} classes (column {quoted(found.target)})",
            f"classes: {', '.join(_cut(classes))}",
            *([f"{constant.text}."] if constant else []),
            *([f"groups: {found.groups}"] if found.groups else []),
            *(
                [f"weights: {found.total_weight:g} in all"]
                if found.total_weight
                else []
            ),
        ],
        below=[
            *[f"... and {rest} more columns (--format json has them all)"][: rest > 0],
            *(f"warning: {warning}" for warning in _cut(found.warnings)),
            *["nothing to warn about"][: not found.warnings],
        ],
    )


def refused(error: DataError) -> Sheet:
    """That the file cannot be used, and every reason.

    ``target`` is the column that was taken for the class where none was named.
    """
    problems = list(getattr(error, "problems", (str(error),)))
    target = getattr(error, "guessed", None)
    return Sheet(
        columns=(),
        rows=(),
        rows_as="",
        facts={"usable": False, "problems": problems, "target": target},
    )


def _cut(items: Sequence[str]) -> list[str]:
    rest = len(items) - MOST
    return [*items[:MOST], *([f"... and {rest} more"] if rest > 0 else [])]
