"""LIBSVM text, ``label 1:0.5 7:2 # comment``, -> Cells; features are x1..xn, dense."""

from __future__ import annotations

from array import array

import numpy as np

from msvm_select.data.cells import Cells, is_number
from msvm_select.data.problems import Problems
from msvm_select.data.source import Source
from msvm_select.phrases import quoted
from msvm_select.records import Ints

SUFFIXES = (".svm", ".libsvm", ".t")
TARGET = "class"
MOST_DIGITS = 18  # of a feature's number; a file of so many features there is not
MOST_NUMBERS = 2**29  # 4 GiB once it is dense


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
        {TARGET: np.array(entries.labels, dtype=object)},
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
