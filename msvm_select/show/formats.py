"""Results -> text in every format, and back: the same columns, nothing rounded.

Machine formats hold floats as ``repr`` writes them, truth as true and false, and
nothing (null, or an empty field) for what is missing, NaN or infinite. A JSON document
carries ``schema_version``; the line formats are the rows alone. Columns beyond the
schema follow it, and only where they were asked for: who knows version 1 reads on.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.names import ENDINGS
from msvm_select.phrases import listed
from msvm_select.results.choosing import choice_document
from msvm_select.results.ranking import Results
from msvm_select.row import SCHEMA_VERSION, Row
from msvm_select.show.answers.sweep import table
from msvm_select.show.plain import LINE_FORMATS, Plain, finite, json_document


def format_of(path: str | Path) -> str:
    """The format that a file's ending stands for."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise SettingsError(
            f"{path}: the ending {ending!r} stands for no format; use one of "
            f"{listed(ENDINGS, 10)} or give --format."
        )
    return ENDINGS[ending]


def render(results: Results, format: str, width: int = 80, colour: bool = False) -> str:
    """The results as text; ``width`` and ``colour`` are for the table only."""
    if format == "table":
        return table(results, width, colour)
    return RENDERERS[format](results)


def plain_row(row: Row, columns: Sequence[str]) -> dict[str, Plain]:
    """The columns by name, with None for every number that is not finite."""
    values = asdict(row)
    return {name: finite(values[name]) for name in columns}


def document(results: Results) -> dict[str, Any]:
    """What a JSON file holds; ``chosen``, where one was chosen, follows version 1."""
    found = {
        "schema_version": SCHEMA_VERSION,
        "data": dict(results.data),
        "settings": dict(results.settings),
        "versions": dict(results.versions),
        "rows": [plain_row(row, results.columns) for row in results.rows],
    }
    if results.choice is not None:
        found["chosen"] = choice_document(results.choice, results.rank_by)
    return found


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file in one piece: under another name in its folder, then renamed."""
    data = content.encode() if isinstance(content, str) else content
    try:
        if _is_stream(path):
            Path(path).write_bytes(data)
            return
        target = Path(os.path.realpath(path))
        beside = _beside(target)
        try:
            beside.write_bytes(data)
            if target.exists():
                shutil.copymode(target, beside)
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise MsvmError(f"{path} cannot be written: {error.strerror}.") from error


def check_writable(path: str | Path, *inputs: str | Path) -> None:
    """Refuse, before a long run, a path that could not be written after it.

    Nor is one of the ``inputs``, the files that are read, to be written over.
    """
    if not os.fspath(path):
        raise SettingsError("The file to write has no name.")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise SettingsError(f"{path} is a folder; give the name of a file in it.")
    if not target.parent.is_dir() and not _is_stream(path):
        raise SettingsError(f"{path}: there is no folder {str(target.parent)!r}.")
    if target in [Path(os.path.realpath(other)) for other in inputs]:
        raise SettingsError(f"{path} is the file that is read; give another name.")
    try:
        _try_to_write(path, target)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from None


def check_apart(option: str, path: str, *others: str | None) -> None:
    """Refuse the file of an option where another use of the same line names it, too."""
    for other in others:
        if other is not None and Path(other).resolve() == Path(path).resolve():
            raise SettingsError(f"{option} {path} would overwrite {other}.")


def _try_to_write(path: str | Path, target: Path) -> None:
    """Do it: permissions alone do not tell of file systems and of long names."""
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if _is_stream(path):
        return
    beside = _beside(target)
    try:
        beside.touch()
    finally:
        beside.unlink(missing_ok=True)


def _is_stream(path: str | Path) -> bool:
    """Whether it is there and no file: a pipe or /dev/null, not to be replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.part")


def _json(results: Results) -> str:
    return json_document(document(results))


def _lines(form: str) -> Callable[[Results], str]:
    """The rows alone, in a format of one row a line."""
    return lambda results: LINE_FORMATS[form](
        results.columns, (plain_row(row, results.columns) for row in results.rows)
    )


RENDERERS: dict[str, Callable[[Results], str]] = {
    "table": table,
    "csv": _lines("csv"),
    "tsv": _lines("tsv"),
    "json": _json,
    "ndjson": _lines("ndjson"),
    "markdown": _lines("markdown"),
}
