"""CSV text -> names and blocks of rows, with the line each row begins on."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from msvm_select.data.problems import Problems
from msvm_select.data.source import Source
from msvm_select.errors import SettingsError
from msvm_select.phrases import counted, quoted

BLOCK = 4096
LOOKED_AT = 20
# The order of preference: commas also occur as decimal commas, tabs as nothing else.
DELIMITERS = {"\t": "tab", ";": "semicolon", ",": "comma"}
SPELLED = {name: mark for mark, name in DELIMITERS.items()} | {"\\t": "\t"}

Rows = list[list[str]]


@dataclass(frozen=True)
class Table:
    """The first line's names (x1.. are given later where it has none) and the rest."""

    source: Source
    delimiter: str
    first_line: int
    first: tuple[str, ...]
    header: bool

    @property
    def width(self) -> int:
        """The number of columns, as the first line has it."""
        return len(self.first)

    def blocks(self, problems: Problems) -> Iterator[tuple[list[int], Rows]]:
        """Lines and rows, some thousand at a time; rows of other width are told."""
        rows = records(self.source, self.delimiter, problems)
        ragged: list[tuple[int, int]] = []
        if self.header:
            next(rows)
        while block := list(islice(rows, BLOCK)):
            ragged += [(n, len(row)) for n, row in block if len(row) != self.width]
            whole = [(n, row) for n, row in block if len(row) == self.width]
            yield [n for n, _ in whole], [row for _, row in whole]
        if ragged:
            self._tell_ragged(ragged, problems)

    def _tell_ragged(self, ragged: list[tuple[int, int]], problems: Problems) -> None:
        line, got = ragged[0]
        named = "the header has" if self.header else f"line {self.first_line} has"
        others = f" ({len(ragged)} such lines in all)" if len(ragged) > 1 else ""
        problems.add(
            f"{counted(got, 'field')}, {named} {self.width}{others}; "
            f"the delimiter is the {DELIMITERS.get(self.delimiter, self.delimiter)}"
            + (" (a decimal comma is one too)" if self.delimiter == "," else ""),
            line,
        )


def open_table(
    source: Source,
    delimiter: str | None,
    header: bool,
    problems: Problems,
    comma: bool = False,
) -> Table:
    """Find the delimiter, no decimal ``comma``, and read the first line."""
    if delimiter is None:
        marks = [mark for mark in DELIMITERS if mark != "," or not comma]
        delimiter = "\t" if source.suffix == ".tsv" else _sniff(source, marks)
    else:
        delimiter = _mark(delimiter)
    line, first = next(records(source, delimiter, problems), (0, []))
    if not first:
        raise problems.stop("the file is empty")
    if first[0].lower().startswith("sep="):
        raise problems.stop(f"{quoted(first[0])} is Excel's own: delete the line", line)
    return Table(source, delimiter, line, tuple(cell.strip() for cell in first), header)


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
