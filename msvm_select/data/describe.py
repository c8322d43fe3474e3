"""A Dataset -> what a person should know of it before training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from msvm_select.phrases import counted, listed
from msvm_select.records import Dataset, Floats


@dataclass(frozen=True)
class ColumnSummary:
    """One feature: its range, mean and standard deviation (population), its gaps."""

    name: str
    minimum: float
    maximum: float
    mean: float
    sd: float
    missing: int


@dataclass(frozen=True)
class Description:
    """One Dataset, counted.

    A duplicate row has the features of an earlier row; it is conflicting when some row
    with the same features is of another class.
    """

    name: str
    rows: int
    features: int
    target: str
    classes: dict[str, int]
    columns: tuple[ColumnSummary, ...]
    constant_columns: tuple[str, ...]
    duplicate_columns: tuple[tuple[str, ...], ...]
    duplicate_rows: int
    conflicting_rows: int
    notes: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that deserves a look, in words; none of it stops a training."""
        found = list(self.notes)
        if self.constant_columns:
            found.append(
                f"{_count(self.constant_columns, 'column')} constant: "
                f"{listed(self.constant_columns)}"
            )
        for group in self.duplicate_columns:
            found.append(f"columns {listed(group)} hold the same values")
        if self.duplicate_rows:
            found.append(
                f"rows with the features of an earlier row: {self.duplicate_rows}"
            )
        if self.conflicting_rows:
            found.append(
                "rows with the features of a row of another class: "
                f"{self.conflicting_rows}; no kernel tells them apart"
            )
        return tuple(found)


def describe(dataset: Dataset) -> Description:
    """Count and measure everything that ``check`` shows."""
    X, names = dataset.X + 0.0, dataset.features  # + 0.0 makes -0.0 equal to 0.0
    duplicate, conflicting = _repeated_rows(X, dataset)
    counts = np.bincount(dataset.y, minlength=dataset.Q).tolist()
    columns = tuple(_summary(name, x) for name, x in zip(names, X.T, strict=True))
    return Description(
        name=dataset.name,
        rows=dataset.m,
        features=len(names),
        target=dataset.target,
        classes=dict(zip(dataset.classes, counts, strict=True)),
        columns=columns,
        constant_columns=tuple(c.name for c in columns if c.minimum == c.maximum),
        duplicate_columns=_equal_columns(X, columns),
        duplicate_rows=duplicate,
        conflicting_rows=conflicting,
        notes=dataset.notes,
    )


def _summary(name: str, x: Floats) -> ColumnSummary:
    known = x[~np.isnan(x)]
    low, high = float(known.min()), float(known.max())
    mean, sd = float(known.mean()), float(known.std())
    if low == high:
        mean, sd = low, 0.0
    return ColumnSummary(name, low, high, mean, sd, int(x.size - known.size))


def _equal_columns(
    X: Floats, columns: Iterable[ColumnSummary]
) -> tuple[tuple[str, ...], ...]:
    """Groups of columns with the same values; constant ones are told elsewhere."""
    groups: dict[bytes, list[str]] = {}
    for column, x in zip(columns, X.T, strict=True):
        if column.minimum != column.maximum:
            groups.setdefault(x.tobytes(), []).append(column.name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _repeated_rows(X: Floats, dataset: Dataset) -> tuple[int, int]:
    """Rows equal to an earlier one; rows equal to some row of another class."""
    keys = [row.tobytes() for row in X]
    labels: dict[bytes, set[int]] = {}
    for key, k in zip(keys, dataset.y.tolist(), strict=True):
        labels.setdefault(key, set()).add(k)
    rows = Counter(keys)
    conflicting = sum(rows[key] for key, found in labels.items() if len(found) > 1)
    return len(keys) - len(rows), conflicting


def _count(names: Iterable[str], what: str) -> str:
    count = len(tuple(names))
    return f"{counted(count, what)} {'is' if count == 1 else 'are'}"
