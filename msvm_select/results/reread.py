"""Result files and journals -> Results, so that they can be ranked again."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msvm_select.columns import (
    SCHEMA_VERSION,
    TABLE,
    Column,
    Row,
    Setting,
    find_column,
)
from msvm_select.errors import DataError
from msvm_select.files import format_of
from msvm_select.phrases import did_you_mean
from msvm_select.results import parquet
from msvm_select.results.choosing import Choice, as_chosen
from msvm_select.results.ranking import Results

NEEDED = ("kernel", "C")
JOURNAL = '{"journal": "msvm-select"'  # the start of the first line of a journal
NOT_FINITE = ("nan", "inf", "-inf")  # as a journal has them


def read_results(path: str | Path, text: str | None = None) -> Results:
    """The rows of a csv, tsv, json, ndjson or parquet file; ranked by nothing yet.

    The journal of a sweep is such a file too, even while the sweep still runs.
    ``text`` is what the file holds, where it was read already (standard input, whose
    path is ``-``; its format is told by its first line).
    """
    name = "standard input" if path == "-" else str(path)
    if text is None:
        data = _bytes(path)
        if data.startswith(parquet.MARK):
            return _document(name, parquet.unpacked(name, data))
        text = _text(name, data)
    format = _recognised(text) if path == "-" else format_of(path)
    if format == "json":
        return _document(name, _json(name, text))
    if format not in _LINES:
        raise DataError(
            f"{name}: the format {format} cannot be read back; keep results as csv, "
            "tsv, json, ndjson or parquet."
        )
    if text.startswith(JOURNAL):
        finished = journal_of(name, text)
        if not finished.rows:
            raise DataError(f"{name} has no finished cells yet.")
        return finished.results
    return Results(_rows(name, _LINES[format](name, text)), rank_by="")


def _recognised(text: str) -> str:
    """The format of result text that comes without a name."""
    first = text.partition("\n")[0].strip()
    if first.startswith("{"):
        if first.startswith(JOURNAL):
            return "ndjson"
        whole = first == "{" or '"schema_version"' in first
        return "json" if whole else "ndjson"
    return "tsv" if "\t" in first else "csv"


def text_of(path: str | Path) -> str:
    """All that a file of text holds."""
    return _text(str(path), _bytes(path))


def _bytes(path: str | Path) -> bytes:
    """All of the file, or of standard input."""
    if path == "-":
        return sys.stdin.buffer.read()
    path = Path(path)
    try:
        return path.read_bytes()
    except OSError as error:
        near = [other.name for other in path.parent.glob("*")]
        hint = did_you_mean(path.name, near)
        raise DataError(f"{path}: {error.strerror}{hint}.") from None


def _text(name: str, data: bytes) -> str:
    try:
        whole = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{name} is no result file: it is not UTF-8 text.") from None
    return whole.replace("\r\n", "\n").replace("\r", "\n")


def _document(name: str, found: Any) -> Results:
    rows = found.get("rows") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise DataError(f"{name} is no result file: it has no 'rows'.")
    if found.get("schema_version") != SCHEMA_VERSION:
        raise DataError(
            f"{name} has schema_version {found.get('schema_version')!r}; this program "
            f"reads {SCHEMA_VERSION}."
        )
    data, settings, versions = (
        dict(found.get(key) or {}) for key in ("data", "settings", "versions")
    )
    places = ((f"{name}, row {i}", row) for i, row in enumerate(rows, 1))
    read = _rows(name, places)
    choice = _choice(name, found["chosen"], read) if "chosen" in found else None
    if choice is not None:  # the rows do not tell of classes, the choice does
        own = choice.row
        read = tuple(own if row.rank == own.rank else row for row in read)
    gram = tuple(test for test in found.get("gram", ()) if isinstance(test, dict))
    return Results(read, "", data, settings, versions, choice, gram)


@dataclass(frozen=True)
class Finished:
    """What a journal holds: its last header, and the finished cells by their place."""

    header: Mapping[str, Any]
    rows: dict[tuple[Setting, float], Row]

    @property
    def data(self) -> dict[str, Any]:
        """What it is of, as a file of results tells it."""
        told = dict(self.header.get("data") or {})
        names = {"samples": "n_samples", "features": "n_features"}
        about: dict[str, Any] = {"name": str(told.get("name", ""))}
        about |= {new: told[old] for old, new in names.items() if old in told}
        about |= {"n_classes": len(told["classes"])} if "classes" in told else {}
        about |= {"target": told["target"]} if "target" in told else {}
        about |= {"features": told["names"]} if "names" in told else {}
        about |= _class_sizes(told)
        return about | ({"reading": told["reading"]} if "reading" in told else {})

    @property
    def results(self) -> Results:
        """The cells, ranked and chosen from as the sweep does it."""
        settings = dict(self.header.get("settings") or {})
        versions = dict(self.header.get("versions") or {})
        rows = tuple(self.rows.values())
        return as_chosen(Results(rows, "", self.data, settings, versions))


def journal_of(name: str, text: str) -> Finished:
    """The finished cells of a journal; a line without its end is still being written.

    A grid that was widened later has a header of its own; the last one counts.
    """
    whole = text[: text.rfind("\n") + 1]
    lines = list(_json_lines(name, whole))
    headers = [v for _, v in lines if isinstance(v, dict) and "journal" in v]
    rows = {}
    for place, values in lines[1:]:
        if values in headers:
            continue
        row = journal_row(place, values)
        rows[row.setting, row.C] = row
    return Finished(headers[-1] if headers else {}, rows)


def _class_sizes(data: Mapping[str, Any]) -> dict[str, Any]:
    """How many samples each class has; an older journal does not tell."""
    names, sizes = data.get("classes"), data.get("class_sizes")
    if not isinstance(names, list) or not isinstance(sizes, list):
        return {}
    if any(type(size) is not int for size in sizes):
        return {}
    return {"classes": dict(zip(names, sizes, strict=False))}


def journal_row(place: str, values: Any) -> Row:
    """The row of a line of a journal."""
    if not isinstance(values, dict):
        raise DataError(f"{place}: this is no finished cell.")
    missed = _by_class(values.get("by_class"))
    values = {name: v for name, v in values.items() if name != "by_class"}
    odd: dict[str, Any] = {
        name: float(value)
        for name, value in values.items()
        if value in NOT_FINITE and name not in ("kernel", "solver", "status_reason")
    }
    row = row_from(place, {**values, **dict.fromkeys(odd)})
    return Row.of({**row.values(), **odd, "by_class": missed})


def _choice(name: str, found: Any, rows: tuple[Row, ...]) -> Choice:
    """The choice that the file tells of; its row, which the file may have left out."""
    place = f"{name}, chosen"
    if not isinstance(found, dict) or type(found.get("rank")) is not int:
        raise DataError(f"{place}: this does not say which row was chosen.")
    told = row_from(place, {key: found[key] for key in found if find_column(key)})
    row = next((row for row in rows if row.rank == told.rank), told)
    return Choice(
        rule=str(found.get("select", "best")),
        row=replace(row, by_class=_by_class(found.get("by_class"))),
        tied=_number(place, found, "tied", 1),
        eligible=_number(place, found, "eligible", 1),
        limit=_number(place, found, "limit", math.inf),
    )


def _by_class(told: Any) -> tuple[tuple[int, int], ...]:
    """How many samples of each class are wrong, and of how many, if a file tells."""
    pairs = list(told.values()) if isinstance(told, dict) else told
    found = []
    for pair in pairs if isinstance(pairs, list) else ():
        numbers = list(pair.values()) if isinstance(pair, dict) else pair
        if not isinstance(numbers, list) or [type(n) for n in numbers] != [int, int]:
            return ()
        found.append((numbers[0], numbers[1]))
    return tuple(found)


def _number(place: str, found: dict[str, Any], name: str, otherwise: Any) -> Any:
    value = found.get(name, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{place}, {name!r}: {value!r} is no number.")
    return value


def _json(place: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place} is not JSON: {error}.") from None


def _json_lines(name: str, text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield f"{name}, line {number}", _json(f"{name}, line {number}", line)


def _separated(delimiter: str) -> Callable[[str, str], Iterator[tuple[str, Any]]]:
    def read(name: str, text: str) -> Iterator[tuple[str, Any]]:
        lines = csv.DictReader(io.StringIO(text), delimiter=delimiter, restkey="")
        for fields in lines:
            place = f"{name}, line {lines.line_num}"
            if "" in fields or None in fields.values():
                raise DataError(f"{place}: it has not as many fields as the header.")
            yield place, {key: _typed(place, key, text) for key, text in fields.items()}

    return read


_LINES = {"csv": _separated(","), "tsv": _separated("\t"), "ndjson": _json_lines}


def _typed(place: str, column: str, text: str) -> Any:
    """A field of a csv as a value of its column's type."""
    known = find_column(column)
    kind = str if known is None else known.kind
    if kind is str or text == "":
        return text if kind is str else None
    try:
        return {"true": True, "false": False}[text] if kind is bool else kind(text)
    except (ValueError, KeyError):
        raise DataError(f"{place}, column {column!r}: {text!r} is no value.") from None


def _rows(name: str, found: Iterable[tuple[str, Any]]) -> tuple[Row, ...]:
    rows = [row_from(place, values) for place, values in found]
    if not rows:
        raise DataError(f"{name} is no result file: it has no rows.")
    return tuple(rows)


def row_from(place: str, values: Any) -> Row:
    """The row of these values by column; ``place`` says where they stand."""
    if not isinstance(values, Mapping) or any(key not in values for key in NEEDED):
        raise DataError(
            f"{place}: this is no row of results; it needs at least the columns "
            f"{' and '.join(NEEDED)}."
        )
    read = {}
    for name, value in values.items():
        column = find_column(str(name))
        if column is None:
            hint = did_you_mean(str(name), TABLE)
            raise DataError(f"{place}: {name!r} is no column of results{hint}.")
        if not _fits(value, column):
            raise DataError(f"{place}, column {name!r}: {value!r} is no value.")
        whole = column.kind is float and value is not None
        read[name] = float(value) if whole else value
    return Row.of(read)


def _fits(value: Any, column: Column) -> bool:
    """Whether a value is of its column's type; a float may be written as an int."""
    if value is None:
        return column.optional
    if column.kind is float:
        try:
            return type(value) in (int, float) and math.isfinite(value)
        except OverflowError:  # a whole number beyond all floats
            return False
    return type(value) is column.kind
