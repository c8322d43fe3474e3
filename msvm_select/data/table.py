"""CSV text -> names and blocks of rows, with the line each row begins on.

A large plain file is read at once, by the parser of pandas; every other file row by
row, so that an error can tell its line.
"""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from msvm_select.data.doubts import Problems
from msvm_select.data.options import ReadOptions
from msvm_select.data.roles import Heading
from msvm_select.data.source import Source
from msvm_select.errors import SettingsError
from msvm_select.phrases import counted, quoted
from msvm_select.records import Floats

BLOCK = 4096
LOOKED_AT = 20
# The order of preference: commas also occur as decimal commas, tabs as nothing else.
DELIMITERS = {"\t": "tab", ";": "semicolon", ",": "comma"}
SPELLED = {name: mark for mark, name in DELIMITERS.items()} | {"\\t": "\t"}
WORTH = 2**23  # bytes of a file from which pandas, once imported, is the faster
CHUNK = 2**24  # bytes looked at together
LONGEST = 2**16  # bytes of a line that pandas and csv read alike

Rows = list[list[str]]
Texts = NDArray[np.object_]


@dataclass(frozen=True)
class Table:
    """The first line's names (x1.. are given later where it has none) and the rest."""

    source: Source
    delimiter: str
    heading: Heading

    def blocks(self, problems: Problems) -> Iterator[tuple[list[int], Rows]]:
        """Lines and rows, some thousand at a time; rows of other width are told."""
        rows, width = records(self.source, self.delimiter, problems), self.heading.width
        ragged: list[tuple[int, int]] = []
        if self.heading.header:
            next(rows)
        while block := list(islice(rows, BLOCK)):
            ragged += [(n, len(row)) for n, row in block if len(row) != width]
            whole = [(n, row) for n, row in block if len(row) == width]
            yield [n for n, _ in whole], [row for _, row in whole]
        if ragged:
            self._tell_ragged(ragged, problems)

    def _tell_ragged(self, ragged: list[tuple[int, int]], problems: Problems) -> None:
        line, got = ragged[0]
        here = self.heading
        named = "the header has" if here.header else f"line {here.line} has"
        others = f" ({len(ragged)} such lines in all)" if len(ragged) > 1 else ""
        problems.add(
            f"{counted(got, 'field')}, {named} {here.width}{others}; "
            f"the delimiter is the {DELIMITERS.get(self.delimiter, self.delimiter)}"
            + (" (a decimal comma is one too)" if self.delimiter == "," else ""),
            line,
        )


@dataclass(frozen=True, eq=False)
class Plain:
    """The columns of a plain file by position, and the line of its first row."""

    numbers: dict[int, Floats]
    texts: dict[int, Texts]
    first_line: int


def open_table(
    source: Source, options: ReadOptions, comma: bool, problems: Problems
) -> Table:
    """Find the delimiter, no decimal ``comma``, and read the first line."""
    if options.delimiter is None:
        marks = [mark for mark in DELIMITERS if mark != "," or not comma]
        delimiter = "\t" if source.suffix == ".tsv" else _sniff(source, marks)
    else:
        delimiter = _mark(options.delimiter)
    line, first = next(records(source, delimiter, problems), (0, []))
    if not first:
        raise problems.stop("the file is empty")
    if first[0].lower().startswith("sep="):
        raise problems.stop(f"{quoted(first[0])} is Excel's own: delete the line", line)
    names = tuple(cell.strip() for cell in first)
    return Table(source, delimiter, Heading(names, options.header, line))


def records(
    source: Source, delimiter: str, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """(line that the row begins on, its cells), without blank lines."""
    reader = csv.reader(
        source.open(), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    line = 1
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise problems.stop(
            f"{error}; is a quote opened here that is not closed?", line
        ) from None


def _mark(delimiter: str) -> str:
    mark = SPELLED.get(delimiter, delimiter)
    if len(mark) != 1 or mark in '"\r\n':
        raise SettingsError(
            f"--delimiter {quoted(delimiter)}: one character, or tab, comma, semicolon"
        )
    return mark


def _sniff(source: Source, marks: Sequence[str]) -> str:
    """The mark that cuts the first lines into equally many fields (2 or more)."""
    most, best = 1, marks[-1]
    for mark in marks:
        widths = _widths(source, mark)
        if widths and widths[0] > 1 and len(set(widths)) == 1:
            return mark
        if widths and widths[0] > most:
            most, best = widths[0], mark
    return best


def _widths(source: Source, mark: str) -> list[int]:
    reader = csv.reader(source.open(), delimiter=mark, skipinitialspace=True)
    try:
        return [len(row) for row in islice(reader, LOOKED_AT) if row]
    except csv.Error:
        return []


def read_plain(
    table: Table,
    numbers: Sequence[int],
    texts: Sequence[int],
    missing: Sequence[str],
    comma: bool,
) -> Plain | None:
    """The columns at once, where the file is large and plain; None where it is not.

    Plain: one row a line, no quotes, no blank lines, rows of one width, and each
    number as Python's float reads it. Nothing is told of a file that is not.
    """
    start = _body(table)
    if start is None:
        return None
    import pandas as pd

    # Before 3.1 the default rounds the last bit of some numbers.
    old = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
    exact: Mapping[str, str] = {"float_precision": "round_trip"} if old else {}
    body = io.BytesIO(table.source.data)
    body.seek(start)
    try:
        frame = pd.read_csv(  # type: ignore[call-overload]
            body,
            sep=table.delimiter,
            header=None,
            names=range(table.heading.width),
            index_col=False,
            usecols=sorted({*numbers, *texts}),
            dtype={**dict.fromkeys(texts, object), **dict.fromkeys(numbers, float)},
            na_values=dict.fromkeys(numbers, list(missing)),
            keep_default_na=False,
            skipinitialspace=True,
            skip_blank_lines=False,
            quoting=csv.QUOTE_NONE,
            encoding="utf-8",
            decimal="," if comma else ".",
            **exact,
        )
    except ValueError:  # some cell is no number: the careful reader tells which
        return None
    first = (table.heading.line or 1) + int(table.heading.header)
    return Plain(
        {i: frame[i].to_numpy() for i in numbers},
        {i: frame[i].fillna("").to_numpy() for i in texts},
        first,
    )


def _body(table: Table) -> int | None:
    """Where the rows of a large plain file begin; None where it is not one."""
    data, here = table.source.data, table.heading
    if len(data) < WORTH or table.source.encoding != "utf-8-sig":
        return None
    top = start = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    for _ in range((here.line or 1) - 1 + int(here.header)):
        start = data.find(b"\n", start) + 1
        if not start:
            return None
    quotes = data.count(b'"', top, start) % 2 or data.find(b'"', start) >= 0
    returns = b"\r" in data and data.count(b"\r") != data.count(b"\r\n")
    if quotes or returns or table.delimiter not in DELIMITERS:
        return None
    return start if _even(data, start, ord(table.delimiter), here.width) else None


def _even(data: bytes, start: int, mark: int, width: int) -> bool:
    """Whether each line has as many fields, and none is very long."""
    while start < len(data):
        end = data.rfind(b"\n", start, start + CHUNK) + 1 or len(data)
        part = np.frombuffer(data, np.uint8, end - start, start)
        ends = np.flatnonzero(part == ord("\n"))
        if not ends.size or ends[-1] != part.size - 1:  # the last line
            ends = np.append(ends, part.size)
        marks = np.searchsorted(np.flatnonzero(part == mark), ends)
        if (np.diff(marks, prepend=0) != width - 1).any():
            return False
        if np.diff(ends, prepend=-1).max() > LONGEST:
            return False
        start = end
    return True
