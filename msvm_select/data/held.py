"""Columns that are in memory already, each with its type -> cells.

A DataFrame, a Parquet file, a sheet of Excel and an ARFF file are all tables of this
kind. From here on they go the way that a CSV goes: its roles, its missing values and
its classes are theirs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.data.cells import Cells, Reader
from msvm_select.data.doubts import Problems
from msvm_select.data.options import PYTHON, SWAP, Notation
from msvm_select.data.roles import Heading
from msvm_select.data.table import Texts
from msvm_select.records import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

Body = Callable[[Reader], tuple[Cells, Notation]]  # how numbers proved to be written


class Held(ABC):
    """A table by its columns; ``lines`` (m,) is where each row stands.

    ``is_named``: the columns have names, and not numbers alone.
    """

    is_named = True

    def __init__(self, heading: Heading, lines: Ints) -> None:
        """The names of the columns, and the rows."""
        self.heading, self.lines = heading, lines

    def refused(self, i: int) -> str:
        """Why a column cannot be used, and the way out; nothing for most."""
        return ""

    @abstractmethod
    def numbers(self, i: int) -> Floats | None:
        """A column of numbers, NaN where one is missing; None for another column."""

    @abstractmethod
    def values(self, i: int) -> Sequence[Any]:
        """A column as Python has it, None (or NaN) where a value is missing."""


class Frame(Held):
    """The columns of a DataFrame, its rows counted from 1."""

    def __init__(self, frame: pd.DataFrame) -> None:
        """All of it; the index is not looked at."""
        names = tuple(map(str, frame.columns))
        super().__init__(Heading(names), np.arange(1, len(frame) + 1))
        self.frame = frame
        self.is_named = any(isinstance(name, str) for name in frame.columns)

    def numbers(self, i: int) -> Floats | None:
        """By the type of the column."""
        column = self.frame.iloc[:, i]
        if column.dtype.kind not in "iufb":
            return None
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def values(self, i: int) -> Sequence[Any]:
        """None for each of the ways in which pandas has a gap."""
        column = self.frame.iloc[:, i]
        gaps = column.isna().tolist()
        pairs = zip(column.tolist(), gaps, strict=True)
        return [None if gap else value for value, gap in pairs]


class Listed(Held):
    """Columns that are lists: of a sheet, say, whose cells each have a type."""

    def __init__(
        self, heading: Heading, lines: Ints, columns: Sequence[Sequence[Any]]
    ) -> None:
        """The columns in the order of their names."""
        super().__init__(heading, lines)
        self.columns = columns

    def numbers(self, i: int) -> Floats | None:
        """Where no cell is anything else; a whole number may be too large."""
        there = [value for value in self.columns[i] if value is not None]
        if not all(isinstance(value, bool | int | float) for value in there):
            return None
        try:
            return np.array(self.columns[i], dtype=np.float64)  # None gives NaN
        except OverflowError:
            return None

    def values(self, i: int) -> Sequence[Any]:
        """The list."""
        return self.columns[i]


def body_of(held: Held, problems: Problems) -> Body:
    """What reads the cells of the columns that are used."""

    def read(reader: Reader) -> tuple[Cells, Notation]:
        roles, m = reader.roles, held.lines.size
        for i in (*roles.numeric, *roles.texts):
            if why := held.refused(i):
                problems.add(why, column=roles.names[i])
        problems.settle()
        numbers = {i: _numbers(held, i, reader) for i in roles.numeric}
        texts: dict[int, Texts] = {
            i: np.array(reader.text(_texts(held, i, reader)), dtype=object)
            for i in roles.texts
        }
        reader.tell(held.heading.line, m, problems)
        lines = held.lines.astype(np.int64)
        return reader.cells(reader.block(numbers, m), texts, lines), reader.notation

    return read


def _numbers(held: Held, i: int, reader: Reader) -> Floats:
    """A column of numbers, or of text that should be numbers."""
    found = held.numbers(i)
    if found is not None:
        return found
    values = held.values(i)
    as_is = Reader(reader.roles, reader.na_values, PYTHON, reader.odd)
    texts = all(isinstance(v, str) for v in values if not _is_gap(v))
    lines: Sequence[int] = held.lines.tolist()
    return (reader if texts else as_is).column(i, written(values), lines)


def _texts(held: Held, i: int, reader: Reader) -> list[str]:
    """A column as the text that a file would have; weights as it writes numbers."""
    cells = written(held.values(i))
    if (
        i == reader.roles.weight
        and reader.notation.comma
        and held.numbers(i) is not None
    ):
        return [cell.translate(SWAP) for cell in cells]
    return cells


def written(values: Sequence[Any]) -> list[str]:
    """The cells of a column as a file of text would have them, empty where missing."""
    return ["" if _is_gap(value) else as_text(value) for value in values]


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_text(value: Any) -> str:
    """A whole number without decimals, also where it was kept as a float."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value)) if value or math.copysign(1.0, value) > 0 else "-0.0"
    return str(value)
