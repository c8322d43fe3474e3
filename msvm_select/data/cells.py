"""Cells of text -> numbers: what is missing, what is no number, what is infinite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from msvm_select.data.no_number import NoNumbers
from msvm_select.data.problems import Problems
from msvm_select.data.table import Table
from msvm_select.records import Floats, Ints, Mask

# "Na" and "None" are left out: they are labels of real data.
MISSING = frozenset(
    ["", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "NAN", "nan", "-nan"]
    + ["NULL", "Null", "null"]
)
SWAP = str.maketrans(",.", ".,")
SHOWN = 5

Texts = NDArray[np.object_]


@dataclass(frozen=True)
class Roles:
    """Which column of a file is what, by position."""

    names: tuple[str, ...]
    inputs: tuple[int, ...]
    target: int | None = None
    id_column: int | None = None
    one_hot: tuple[int, ...] = ()
    guessed: bool = False  # the target: the last column, for want of a better

    @property
    def texts(self) -> tuple[int, ...]:
        """The columns that are read as text."""
        more = [i for i in (self.target, self.id_column) if i is not None]
        return (*self.one_hot, *more)

    @property
    def target_name(self) -> str | None:
        """The target's name."""
        return None if self.target is None else self.names[self.target]

    @property
    def id_name(self) -> str | None:
        """The id column's name."""
        return None if self.id_column is None else self.names[self.id_column]


@dataclass(frozen=True, eq=False)
class Cells:
    """A file's body. A missing number is NaN, a missing text is empty.

    ``numbers`` (m, inputs) has zeros in the columns that ``texts`` holds, by name.
    """

    inputs: tuple[str, ...]
    numbers: Floats
    texts: dict[str, Texts]
    lines: Ints

    def keep(self, rows: Mask) -> Cells:
        """Only the rows that are marked."""
        texts = {name: values[rows] for name, values in self.texts.items()}
        return Cells(self.inputs, self.numbers[rows], texts, self.lines[rows])

    def holes(self) -> Mask:
        """(m, inputs): where a value is missing."""
        holes = np.isnan(self.numbers)
        for j, name in enumerate(self.inputs):
            if name in self.texts:
                holes[:, j] = self.texts[name] == ""
        return holes


@dataclass
class Reader:
    """Turns the blocks of a table into Cells and gathers what is wrong with them.

    With ``comma`` the mark in a number is the comma, and a point is none.
    """

    roles: Roles
    na_values: Sequence[str] = ()
    comma: bool = False
    odd: dict[int, NoNumbers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What stands for a missing value, as text and as a number."""
        self.missing = MISSING | {value.strip() for value in self.na_values}
        values = (self._pointed(value) for value in self.na_values)
        self.sentinels = [float(value) for value in values if is_number(value)]

    def read(self, table: Table, problems: Problems) -> Cells:
        """Every row of the table."""
        names, inputs = self.roles.names, self.roles.inputs
        blocks, lines = [np.empty((0, len(inputs)))], []
        texts: dict[int, list[str]] = {i: [] for i in self.roles.texts}
        for where, rows in table.blocks(problems):
            if rows:
                columns = list(zip(*rows, strict=True))
                blocks.append(self._numbers(columns, where))
                lines += where
                for i, values in texts.items():
                    values += self._text(columns[i])
        whole = np.ascontiguousarray(np.concatenate(blocks))
        self._tell(whole, len(lines), table, problems)
        return Cells(
            tuple(names[i] for i in inputs),
            whole,
            {names[i]: np.array(values, dtype=object) for i, values in texts.items()},
            np.array(lines, dtype=np.int64),
        )

    def _text(self, cells: Sequence[str]) -> list[str]:
        stripped = (cell.strip() for cell in cells)
        return ["" if cell in self.missing else cell for cell in stripped]

    def _numbers(self, columns: Sequence[Sequence[str]], lines: list[int]) -> Floats:
        block = np.zeros((len(lines), len(self.roles.inputs)))
        for j, i in enumerate(self.roles.inputs):
            if i not in self.roles.one_hot:
                block[:, j] = self._column(i, columns[i], lines)
        if self.sentinels:
            block[np.isin(block, self.sentinels)] = np.nan
        return block

    def _pointed(self, cell: str) -> str:
        """The cell with a decimal point for the comma, and the other way round."""
        return cell.translate(SWAP) if self.comma else cell

    def _column(self, i: int, cells: Sequence[str], lines: list[int]) -> Floats:
        # The whole column at once is ten times as fast; float() takes 1_000, we do not.
        if "_" not in "".join(cells):
            try:
                return np.array([*map(self._pointed, cells)], dtype=np.float64)
            except ValueError:
                pass
        return np.array(
            [
                self._number(i, cell.strip(), n)
                for cell, n in zip(cells, lines, strict=True)
            ]
        )

    def _number(self, i: int, cell: str, line: int) -> float:
        if cell in self.missing:
            return np.nan
        if is_number(number := self._pointed(cell)):
            return float(number)
        odd = self.odd.setdefault(i, NoNumbers(line, cell))
        odd.count += 1
        odd.distinct.add(cell)
        return 0.0  # not NaN: it is told as text, and not as missing too

    def _tell(self, X: Floats, m: int, table: Table, problems: Problems) -> None:
        if not table.header and self._first_line_is_header(table.first_line, m):
            problems.add(
                "this looks like a header: leave out --no-header", table.first_line
            )
            self.odd.clear()
        for i, odd in list(self.odd.items())[:SHOWN]:
            name = self.roles.names[i]
            option = name if table.header else str(i + 1)
            what = odd.what_to_do(name, m, option, self.roles.guessed)
            problems.add(what, odd.line, name)
        if len(self.odd) > SHOWN:
            problems.add(f"{len(self.odd) - SHOWN} more columns hold text")

    def _first_line_is_header(self, line: int, m: int) -> bool:
        numeric = set(self.roles.inputs) - set(self.roles.one_hot)
        odd = self.odd.values()
        alone = all(o.line == line and o.count == 1 for o in odd)
        return m > 1 and alone and bool(numeric) and numeric == set(self.odd)


def is_number(cell: str) -> bool:
    """Whether the text is a number (also inf and nan), without digit separators."""
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True
