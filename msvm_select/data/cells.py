"""Cells of text -> numbers: what is missing, what is no number, what is infinite.

The cells are those of a table, or of LIBSVM text: ``label 1:0.5 7:2 # comment``, whose
features are x1..xn, dense.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from msvm_select.data.doubts import NoNumbers, Problems, is_number
from msvm_select.data.options import PYTHON, Notation
from msvm_select.data.roles import Roles
from msvm_select.data.source import Source
from msvm_select.data.table import Plain, Table, Texts, read_plain
from msvm_select.phrases import listed, quoted
from msvm_select.records import Floats, Ints, Mask

# "Na" and "None" are left out: they are labels of real data.
MISSING = frozenset(
    ["", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "NAN", "nan", "-nan"]
    + ["NULL", "Null", "null"]
)
SHOWN = 5
COMMA = re.compile(r"[-+]?(\d*,\d+|\d+,)([eE][-+]?\d+)?")  # a decimal comma
EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")  # or a separator of thousands
LIBSVM_TARGET = "class"
MOST_DIGITS = 18  # of a feature's number; a file of so many features there is not
MOST_NUMBERS = 2**29  # 4 GiB once it is dense


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
    """Turns columns of text into Cells and gathers what is wrong with them."""

    roles: Roles
    na_values: Sequence[str] = ()
    notation: Notation = PYTHON
    odd: dict[int, NoNumbers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What stands for a missing value, as text and as a number."""
        self.missing = MISSING | {value.strip() for value in self.na_values}
        values = (self.notation.plain(value) for value in self.na_values)
        self.sentinels = [float(value) for value in values if is_number(value)]

    def read(self, table: Table, problems: Problems) -> Cells:
        """Every row of the table; ``odd`` then has what is no number."""
        roles = self.roles
        numeric = roles.numeric
        if self.notation.thousands is None:
            missing, comma = sorted(self.missing), self.notation.comma
            if plain := read_plain(table, numeric, roles.texts, missing, comma):
                return self._cells_of_plain(plain)
        blocks, lines = [np.empty((0, len(roles.inputs)))], []
        texts: dict[int, list[str]] = {i: [] for i in roles.texts}
        for where, rows in table.blocks(problems):
            if rows:
                columns = list(zip(*rows, strict=True))
                found = {i: self.column(i, columns[i], where) for i in numeric}
                blocks.append(self.block(found, len(rows)))
                lines += where
                for i, values in texts.items():
                    values += self.text(columns[i])
        arrays = {i: np.array(values, dtype=object) for i, values in texts.items()}
        return self.cells(np.concatenate(blocks), arrays, np.array(lines, np.int64))

    def _cells_of_plain(self, plain: Plain) -> Cells:
        m = len(next(iter(plain.numbers.values()), next(iter(plain.texts.values()))))
        texts: dict[int, Texts] = {
            i: np.array(self.text(values.tolist()), dtype=object)
            for i, values in plain.texts.items()
        }
        lines = np.arange(plain.first_line, plain.first_line + m, dtype=np.int64)
        return self.cells(self.block(plain.numbers, m), texts, lines)

    def cells(self, numbers: Floats, texts: dict[int, Texts], lines: Ints) -> Cells:
        """The columns under their names."""
        names = self.roles.names
        return Cells(
            tuple(names[i] for i in self.roles.inputs),
            np.ascontiguousarray(numbers),
            {names[i]: values for i, values in texts.items()},
            lines,
        )

    def block(self, columns: dict[int, Floats], m: int) -> Floats:
        """The numbers of ``m`` rows, NaN where a number stands for a missing value."""
        block = np.zeros((m, len(self.roles.inputs)))
        for j, i in enumerate(self.roles.inputs):
            if i in columns:
                block[:, j] = columns[i]
        if self.sentinels:
            block[np.isin(block, self.sentinels)] = np.nan
        return block

    def text(self, cells: Sequence[str]) -> list[str]:
        """The cells of a column of text, empty where they are missing."""
        stripped = (cell.strip() for cell in cells)
        return ["" if cell in self.missing else cell for cell in stripped]

    def column(self, i: int, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        """The cells of a column of numbers."""
        # The whole column at once is ten times as fast; float() takes 1_000, we do not.
        if "_" not in "".join(cells):
            try:
                plain = cells
                if self.notation != PYTHON:
                    plain = [*map(self.notation.plain, cells)]
                return np.array(plain, dtype=np.float64)
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
        if is_number(number := self.notation.plain(cell)):
            return float(number)
        odd = self.odd.setdefault(i, NoNumbers(line, cell))
        odd.count += 1
        odd.distinct.add(cell)
        return 0.0  # not NaN: it is told as text, and not as missing too

    @property
    def with_commas(self) -> set[int]:
        """Columns whose odd cells have decimal commas; none where no cell surely so."""
        odd = {i: one.distinct for i, one in self.odd.items()}
        found = {i for i, cells in odd.items() if all(map(COMMA.fullmatch, cells))}
        sure = any(not EITHER.fullmatch(cell) for i in found for cell in odd[i])
        return found if sure else set()

    def tell(self, table_line: int | None, m: int, problems: Problems) -> None:
        """What is no number; ``table_line`` is that of the first of the m rows."""
        roles = self.roles
        if not roles.header and self._first_line_is_header(table_line, m):
            problems.add("this looks like a header: leave out --no-header", table_line)
            return
        for i, odd in list(self.odd.items())[:SHOWN]:
            name = roles.names[i]
            what = odd.what_to_do(name, m, roles.option(i), roles.guessed)
            problems.add(what, odd.line, name)
        rest = [roles.option(i) for i in list(self.odd)[SHOWN:]]
        if rest:
            plural = "column holds" if len(rest) == 1 else "columns hold"
            problems.add(f"{len(rest)} more {plural} text: {listed(rest, 20)}")

    def _first_line_is_header(self, line: int | None, m: int) -> bool:
        alone = all(o.line == line and o.count == 1 for o in self.odd.values())
        return m > 1 and alone and set(self.roles.numeric) == set(self.odd) != set()


class _Entries:
    """The numbers that are written, by row and feature."""

    def __init__(self) -> None:
        self.rows, self.columns = array("q"), array("q")
        self.values = array("d")
        self.labels: list[str] = []
        self.lines: list[int] = []

    def read_line(self, number: int, line: str, problems: Problems) -> None:
        """One sample; a bad token is told and left out."""
        tokens = line.partition("#")[0].split()
        if not tokens:
            return
        has_label = ":" not in tokens[0]
        self.labels.append(tokens.pop(0) if has_label else "")
        self.lines.append(number)
        seen: set[int] = set()
        for token in tokens:
            if trouble := self._read_token(token, seen):
                problems.add(f"{quoted(token)}: {trouble}", number)

    def _read_token(self, token: str, seen: set[int]) -> str:
        index, colon, value = token.partition(":")
        if not colon or not index.isascii() or not index.isdigit():
            return "this is not index:value"
        if not is_number(value):
            return f"{quoted(value)} is not a number"
        j = int(index[:MOST_DIGITS])
        if j == 0 or len(index) >= MOST_DIGITS:
            return "features are counted from 1, to some millions at the most"
        if j in seen:
            return f"feature {j} is written twice"
        seen.add(j)
        self.rows.append(len(self.lines) - 1)
        self.columns.append(j - 1)
        self.values.append(float(value))
        return ""


def read_libsvm(source: Source, n: int | None, problems: Problems) -> Cells:
    """The samples of the file; ``n`` features, by default the largest index."""
    entries, own = _Entries(), Problems(problems.name)
    with source.open() as text:
        for number, line in enumerate(text, start=1):
            entries.read_line(number, line, own)
    problems.found += own.found[:5]
    if len(own.found) > 5:
        problems.add(f"{len(own.found) - 5} more tokens like these")
    if not entries.lines:
        raise problems.stop("the file is empty")
    columns = np.frombuffer(entries.columns, dtype=np.int64)
    n = _width(entries, columns, n, problems)
    X = np.zeros((len(entries.lines), n))
    X[np.frombuffer(entries.rows, dtype=np.int64), columns] = entries.values
    return Cells(
        tuple(f"x{j + 1}" for j in range(n)),
        X,
        {LIBSVM_TARGET: np.array(entries.labels, dtype=object)},
        np.array(entries.lines, dtype=np.int64),
    )


def _width(entries: _Entries, columns: Ints, n: int | None, problems: Problems) -> int:
    largest = int(columns.max(initial=-1)) + 1
    if n is not None and largest > n:
        at = int(np.argmax(columns >= n))
        raise problems.stop(
            f"feature {columns[at] + 1}; the model has {n}",
            entries.lines[entries.rows[at]],
        )
    n = largest if n is None else n
    if n * len(entries.lines) > MOST_NUMBERS:
        raise problems.stop(
            f"{len(entries.lines)} samples with {n} features do not fit in memory "
            f"once they are dense ({8 * n * len(entries.lines) / 2**30:.0f} GiB)"
        )
    return n
