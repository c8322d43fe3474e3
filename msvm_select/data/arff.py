"""Weka's ARFF -> columns, dense or sparse.

    @attribute 'sepal length' numeric
    @attribute class {setosa, 'not setosa'}
    @data
    5.1, setosa
    {1 'not setosa'}

A sparse row names only what is not 0; of an attribute with values that are listed it is
the first that counts as 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from msvm_select.data.doubts import Problems
from msvm_select.data.held import Listed
from msvm_select.data.roles import Heading
from msvm_select.data.source import Source
from msvm_select.phrases import counted, listed, quoted

SHOWN = 5
NUMERIC = ("numeric", "real", "integer")
KINDS = (*NUMERIC, "string", "date", "relational")
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
NAME = re.compile(rf"\s*({QUOTED}|[^\s{{]+)\s*")
FIELD = re.compile(rf"\s*({QUOTED}|[^,'\"]*?)\s*(,|$)")
PAIR = re.compile(rf"\s*(\d+)\s+({QUOTED}|[^,'\"]*?)\s*(,|$)")
WEIGHT = re.compile(r",\s*(\{[^{},']*\})$")
ESCAPED = re.compile(r"\\(.)")
LETTERS = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass
class _Attribute:
    """A column; ``values`` are those that it may have, where they are listed."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def zero(self) -> str:
        """What a sparse row has where it says nothing."""
        if self.values:
            return self.values[0]
        return "0" if self.kind in NUMERIC else ""


@dataclass
class _Reading:
    """What has been read so far; at most SHOWN bad rows are told."""

    problems: Problems
    attributes: list[_Attribute] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bad: int = 0

    def tell(self, text: str, line: int, column: str | None = None) -> None:
        """One more row that cannot be read."""
        self.bad += 1
        if self.bad <= SHOWN:
            self.problems.add(text, line, column)


class ArffTable(Listed):
    """The columns as text; those of relations cannot be used."""

    def __init__(self, reading: _Reading) -> None:
        """All that was read."""
        self.kinds = tuple(one.kind for one in reading.attributes)
        names = tuple(one.name for one in reading.attributes)
        columns = list(map(list, zip(*reading.rows, strict=True)))
        lines = np.array(reading.lines, dtype=np.int64)
        super().__init__(Heading(names), lines, columns or [[] for _ in names])

    def refused(self, i: int) -> str:
        """A relation is a table within a cell."""
        if self.kinds[i] != "relational":
            return ""
        return "a relational attribute holds tables: leave it out with --drop"

    def numbers(self, i: int) -> None:
        """All is text."""


def read_arff(source: Source, problems: Problems) -> ArffTable:
    """The table of an ARFF file, its rows by their lines."""
    reading = _Reading(problems)
    with source.open() as text:
        lines = _told(text)
        _read_header(lines, reading)
        for number, line in lines:
            _read_row(number, line, reading)
    if reading.bad > SHOWN:
        problems.add(f"{reading.bad - SHOWN} more rows like these")
    problems.settle()
    return ArffTable(reading)


def _told(text: Iterator[str]) -> Iterator[tuple[int, str]]:
    """The lines that are neither blank nor a comment."""
    for number, line in enumerate(text, start=1):
        line = line.strip()
        if line and not line.startswith("%"):
            yield number, line


def _read_header(lines: Iterator[tuple[int, str]], reading: _Reading) -> None:
    """The attributes, down to @data."""
    within: list[str] = []  # the relations that are open
    number = 1
    for number, line in lines:
        word, _, rest = line.partition(" ")
        keyword, _, tabbed = word.partition("\t")
        rest = f"{tabbed} {rest}".strip()
        match keyword.lower():
            case "@data":
                break
            case "@relation":
                continue
            case "@end":
                within = within[:-1]
            case "@attribute" if within:
                if _attribute(rest).kind == "relational":
                    within.append(rest)
            case "@attribute":
                found = _attribute(rest)
                if found.kind not in (*KINDS, "nominal"):
                    reading.problems.add(
                        f"{quoted(found.kind)} is no type of an attribute: "
                        f"{listed(KINDS)} or {{a, b, ..}}",
                        number,
                        found.name,
                    )
                reading.attributes.append(found)
                if found.kind == "relational":
                    within.append(rest)
            case _:
                raise reading.problems.stop(
                    f"{quoted(keyword)} is not ARFF: here stand @relation, @attribute "
                    "and @data",
                    number,
                )
    else:
        raise reading.problems.stop("there is no @data: the file has no rows", number)
    if not reading.attributes:
        raise reading.problems.stop("there is no @attribute before @data", number)


def _attribute(text: str) -> _Attribute:
    found = NAME.match(text)
    name = _unquoted(found[1]) if found else ""
    rest = text[found.end() :] if found else ""
    if not rest.startswith("{"):
        return _Attribute(name, rest.split("%")[0].split(" ")[0].strip().lower())
    values = _fields(rest[1 : rest.rfind("}")])
    return _Attribute(name, "nominal", tuple(values or ()))


def _read_row(number: int, line: str, reading: _Reading) -> None:
    """One sample; a bad one is told and left out."""
    if weight := WEIGHT.search(line):
        reading.tell(
            f"{quoted(weight[1])}: weights of rows are not read: make a column of it",
            number,
        )
        return
    sparse = line.startswith("{")
    row = _sparse(number, line, reading) if sparse else _fields(line)
    width = len(reading.attributes)
    if row is None:
        reading.tell("is a quote opened here that is not closed?", number)
    elif len(row) != width:
        if row:
            fields = counted(len(row), "field")
            reading.tell(f"{fields}, and there are {width} attributes", number)
    elif _are_values(number, row, reading):
        reading.rows.append(row)
        reading.lines.append(number)


def _fields(text: str) -> list[str] | None:
    """What stands between the commas; None where a quote is not closed."""
    if "'" not in text and '"' not in text and "\\" not in text:
        return [cell.strip() for cell in text.split(",")]
    found, at = [], 0
    while True:
        cell = FIELD.match(text, at)
        if cell is None:
            return None
        found.append(_unquoted(cell[1]))
        at = cell.end()
        if not cell[2]:
            return found


def _sparse(number: int, line: str, reading: _Reading) -> list[str] | None:
    """``{3 1.5, 7 'a b'}``: all others are zero; an empty list where it is told."""
    row = [one.zero for one in reading.attributes]
    text, at, seen = line[1 : line.rfind("}")].rstrip(), 0, set[int]()
    while text[at:].strip():
        pair = PAIR.match(text, at)
        if pair is None:
            reading.tell(
                f"{quoted(text[at:])}: this is not a number and a value", number
            )
            return []
        j = int(pair[1])
        if j >= len(row) or j in seen:
            what = "is written twice" if j in seen else "is not there"
            reading.tell(f"attribute {j} {what} (they are counted from 0)", number)
            return []
        seen.add(j)
        row[j], at = _unquoted(pair[2]), pair.end()
    return row


def _are_values(number: int, row: list[str], reading: _Reading) -> bool:
    """Whether each is among the values that its attribute may have."""
    for cell, one in zip(row, reading.attributes, strict=True):
        if one.values and cell not in one.values and cell != "?":
            reading.tell(
                f"{quoted(cell)} is not one of the values that the header lists: "
                f"{listed(one.values)}",
                number,
                one.name,
            )
            return False
    return True


def _unquoted(cell: str) -> str:
    """Without its quotes, and what a backslash stands for."""
    if cell[:1] not in ("'", '"'):
        return cell
    return ESCAPED.sub(lambda found: LETTERS.get(found[1], found[1]), cell[1:-1])
