"""The class of a sequence: from its header, or from a second file by its name."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

from msvm_select.data.sequences.fasta import Record
from msvm_select.data.source import load
from msvm_select.errors import DataError, SettingsError
from msvm_select.phrases import counted, quoted

USUAL = r"class=([^ ]+)"
Labels = Callable[[Record], str]


def labels_from_header(pattern: str | None) -> Labels:
    """What the first group of the pattern matches; empty where it does not."""
    try:
        compiled = re.compile(USUAL if pattern is None else pattern)
    except re.error as error:
        raise SettingsError(f"--label-from {quoted(str(pattern))}: {error}.") from None
    if compiled.groups < 1:
        raise SettingsError(
            f"--label-from {quoted(str(pattern))} has no group: put what is the class "
            f"in parentheses, as in '{USUAL}'."
        )

    def label(record: Record) -> str:
        found = compiled.search(record.header)
        return (found[1] or "") if found else ""

    return label


def labels_from_file(path: str) -> Labels:
    """A table of two columns, name and class; a header is found by its words."""
    source = load(path, None, "csv")
    text = source.open().read()
    delimiter = next((mark for mark in "\t;," if mark in text), ",")
    rows = [r for r in csv.reader(io.StringIO(text), delimiter=delimiter) if any(r)]
    table: dict[str, str] = {}
    for number, row in enumerate(rows, start=1):
        cells = [cell.strip() for cell in row]
        if len(cells) != 2:
            raise DataError(
                f"{path}, row {number}: {counted(len(cells), 'field')}; each row is "
                "the name of a sequence and its class"
            )
        if number == 1 and cells[1].lower() in ("class", "label", "target", "y"):
            continue
        if table.setdefault(cells[0], cells[1]) != cells[1]:
            raise DataError(
                f"{path}, row {number}: {quoted(cells[0])} has two classes, "
                f"{quoted(table[cells[0]])} and {quoted(cells[1])}"
            )
    return lambda record: table.get(record.name, "")


def labels_of(pattern: str | None, path: str | None) -> Labels:
    """By what was said of the two; by ``class=`` in the header where nothing was."""
    if pattern is not None and path is not None:
        raise SettingsError("--label-from and --labels are both given: give one.")
    return labels_from_header(pattern) if path is None else labels_from_file(path)


def unlabelled(name: str, record: Record, count: int, pattern: bool) -> DataError:
    """Sequences without a class, and the ways out."""
    others = f" ({count} such sequences)" if count > 1 else ""
    where = f"{name}, line {record.line}: {quoted(record.name)}"
    if not pattern:
        return DataError(f"{where} has no class in the file of --labels{others}")
    return DataError(
        f"{where} has no class in its header{others}; --label-from 'class=([^ ]+)' "
        "says how to find it there, --labels FILE takes a table of names and classes"
    )
