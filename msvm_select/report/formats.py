"""Results -> text in every format, and back: the same columns, nothing rounded.

Machine formats hold floats as ``repr`` writes them, truth as true and false, and
nothing (null, or an empty field) for what is missing, NaN or infinite. A JSON document
carries ``schema_version``; the line formats are the rows alone.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.records import COLUMNS, SCHEMA_VERSION, Row
from msvm_select.report.ranking import Results
from msvm_select.report.terminal import table
from msvm_select.suggest import listed

Plain = str | int | float | bool | None

EXTENSIONS = {
    ".txt": "table",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".md": "markdown",
}


def format_of(path: str | Path) -> str:
    """The format that a file's ending stands for."""
    ending = Path(path).suffix.lower()
    if ending not in EXTENSIONS:
        raise SettingsError(
            f"{path}: the ending {ending!r} stands for no format; use one of "
            f"{listed(EXTENSIONS, 10)} or give --format."
        )
    return EXTENSIONS[ending]


def render(results: Results, format: str, width: int = 80, colour: bool = False) -> str:
    """The results as text; ``width`` and ``colour`` are for the table only."""
    if format == "table":
        return table(results, width, colour)
    return FORMATS[format](results)


def plain_row(row: Row) -> dict[str, Plain]:
    """The columns by name, with None for every number that is not finite."""
    return {name: _finite(value) for name, value in asdict(row).items()}


def document(results: Results) -> dict[str, Any]:
    """What a JSON file holds."""
    return {
        "schema_version": SCHEMA_VERSION,
        "data": dict(results.data),
        "settings": dict(results.settings),
        "versions": dict(results.versions),
        "rows": [plain_row(row) for row in results.rows],
    }


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file in one piece: under another name in its folder, then renamed."""
    target = Path(os.path.realpath(path))
    data = content.encode() if isinstance(content, str) else content
    try:
        if target.exists() and not target.is_file():  # a pipe or /dev/null
            target.write_bytes(data)
            return
        beside = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            beside.write_bytes(data)
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise MsvmError(f"{path} cannot be written: {error.strerror}.") from error


def check_writable(path: str | Path) -> None:
    """Refuse, before a long run, a path that could not be written after it."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise SettingsError(f"{path} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise SettingsError(f"{path}: there is no folder {str(target.parent)!r}.")
    if not os.access(target.parent, os.W_OK) and not target.exists():
        raise SettingsError(f"{path}: nothing may be written in that folder.")


def _finite(value: Any) -> Plain:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    plain: Plain = value
    return plain


def _field(value: Plain) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _separated(results: Results, delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in results.rows:
        writer.writerow([_field(value) for value in plain_row(row).values()])
    return out.getvalue()


def _markdown(results: Results) -> str:
    lines = [list(COLUMNS), ["---"] * len(COLUMNS)]
    for row in results.rows:
        fields = [_field(value) for value in plain_row(row).values()]
        lines.append([field.replace("|", "\\|") for field in fields])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _json(results: Results) -> str:
    text = json.dumps(document(results), indent=2, ensure_ascii=False, allow_nan=False)
    return text + "\n"


def _ndjson(results: Results) -> str:
    rows = (json.dumps(plain_row(row), allow_nan=False) for row in results.rows)
    return "".join(f"{row}\n" for row in rows)


def _csv(results: Results) -> str:
    return _separated(results, ",")


def _tsv(results: Results) -> str:
    return _separated(results, "\t")


FORMATS: dict[str, Callable[[Results], str]] = {
    "table": table,
    "csv": _csv,
    "tsv": _tsv,
    "json": _json,
    "ndjson": _ndjson,
    "markdown": _markdown,
}

SUMMARIES = {
    "table": "the columns that matter most, rounded, for a person (.txt)",
    "csv": "every column, separated by commas (.csv)",
    "tsv": "every column, separated by tabs (.tsv)",
    "json": "one document with data, settings, versions and rows (.json)",
    "ndjson": "one row a line, each an object (.ndjson, .jsonl)",
    "markdown": "every column, as a table for a page (.md)",
}
