"""Rows of plain values -> the formats of one row a line, nothing rounded.

Floats are written as ``repr`` writes them, truth as true and false, and what is missing
as nothing (null, or an empty field).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

MARKS = str.maketrans(  # of Markdown, and of HTML within it
    {"\\": "\\\\", "|": "\\|", "`": "\\`", "*": "\\*", "<": "&lt;", "&": "&amp;"}
    | {"\r": "", "\n": "<br>"}
)

Plain = str | int | float | bool | None
PlainRow = Mapping[str, Plain]


def finite(value: Any) -> Plain:
    """The value itself, or None for a number that is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    plain: Plain = value
    return plain


def json_document(value: Any) -> str:
    """A whole document, indented; null for every number that is not finite."""
    whole = json.dumps(_sound(value), indent=2, ensure_ascii=False, allow_nan=False)
    return f"{whole}\n"


def csv_lines(columns: Sequence[str], rows: Iterable[PlainRow]) -> str:
    """Separated by commas, after a line of the columns."""
    return _separated(columns, rows, ",")


def tsv_lines(columns: Sequence[str], rows: Iterable[PlainRow]) -> str:
    """Separated by tabs, after a line of the columns."""
    return _separated(columns, rows, "\t")


def ndjson_lines(columns: Sequence[str], rows: Iterable[PlainRow]) -> str:
    """An object a line."""
    whole = ({column: row[column] for column in columns} for row in rows)
    return "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in whole)


def markdown_lines(columns: Sequence[str], rows: Iterable[PlainRow]) -> str:
    """A table for a page."""
    lines = [list(columns), ["---"] * len(columns)]
    for row in rows:
        fields = [_field(row[column]) for column in columns]
        lines.append([field.translate(MARKS) for field in fields])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


LINE_FORMATS: dict[str, Callable[[Sequence[str], Iterable[PlainRow]], str]] = {
    "csv": csv_lines,
    "tsv": tsv_lines,
    "ndjson": ndjson_lines,
    "markdown": markdown_lines,
}


def _sound(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sound(part) for key, part in value.items()}
    return [*map(_sound, value)] if isinstance(value, list | tuple) else finite(value)


def _field(value: Plain) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _separated(columns: Sequence[str], rows: Iterable[PlainRow], delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_field(row[column]) for column in columns])
    return out.getvalue()
