"""Cells -> samples: what is missing is settled, categories and classes are coded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from msvm_select.data.cells import COMMA, LIBSVM_TARGET, Cells
from msvm_select.data.doubts import (
    Problems,
    check_classes,
    is_number,
    note_row_numbers,
    refuse_measurement,
)
from msvm_select.data.options import Notation
from msvm_select.data.roles import Roles
from msvm_select.data.table import Texts
from msvm_select.phrases import listed, quoted
from msvm_select.records import Columns, Dataset, Floats, Ints, Mask

SHOWN = 5
FAR = 1e150  # beyond it, or below 1 / it, squares leave the range of numbers


def dataset_of(
    cells: Cells,
    columns: Columns,
    name: str,
    reading: Mapping[str, Any],
    problems: Problems,
) -> Dataset:
    """The samples to learn from, without gaps but those that are to be filled."""
    target = str(columns.target)
    _check_some(cells, problems)
    settle_extremes(cells, problems)
    cells = settle_missing(cells, target, columns.missing, problems)
    cells, weights = settle_weights(cells, columns, problems)
    groups, group_names = groups_of(cells, columns.group_column, problems)
    refuse_empty_columns(cells, problems)
    columns = replace(columns, one_hot=categories(cells, columns.one_hot))
    dataset = _assemble(cells, columns, target, columns.id_column, name)
    if dataset.y.size:
        if problems.guessed is not None:
            refuse_measurement(
                dataset.classes, dataset.m, cells.inputs, cells.numbers, problems
            )
        check_classes(dataset.y, dataset.classes, target, problems)
    problems.settle()
    note_row_numbers(dataset.X, dataset.features, problems)
    return replace(
        dataset, notes=tuple(problems.notes), reading=reading,
        weights=weights, groups=groups, group_names=group_names,
    )  # fmt: skip


def samples_of(
    cells: Cells,
    roles: Roles,
    columns: Columns,
    missing: str,
    name: str,
    problems: Problems,
) -> Dataset:
    """The samples to classify; those of a model that fills may have gaps."""
    target = roles.target_name
    _check_some(cells, problems)
    if missing == "error" and columns.missing == "mean":
        missing = "mean"
    settle_extremes(cells, problems)
    cells = settle_missing(cells, None, missing, problems)
    check_categories(cells, columns, problems)
    if target is not None:
        note_unlabelled(cells, target, problems)
    problems.settle()
    used = replace(columns, missing=missing)
    dataset = _assemble(cells, used, target, roles.id_name, name)
    return replace(dataset, notes=tuple(problems.notes))


def _check_some(cells: Cells, problems: Problems) -> None:
    if cells.lines.size == 0:
        problems.settle()
        raise problems.stop("there is a header and no sample below it")


def _assemble(
    cells: Cells,
    columns: Columns,
    target: str | None,
    id_column: str | None,
    name: str,
) -> Dataset:
    labels = cells.texts[target] if target is not None else np.empty(0, dtype=object)
    y, classes = encode(labels if (labels != "").all() else labels[:0])
    return Dataset(
        X=expand(cells, columns),
        y=y,
        classes=classes,
        features=columns.features,
        target=target or columns.target or LIBSVM_TARGET,
        ids=None if id_column is None else tuple(cells.texts[id_column]),
        id_column=id_column,
        name=name,
        columns=columns,
        lines=cells.lines,
    )


def natural_order(labels: Iterable[str]) -> tuple[str, ...]:
    """The different labels: by value where all are numbers, else by their letters."""
    different = sorted(set(labels))
    values = [float(text) if is_number(text) else math.nan for text in different]
    if all(map(math.isfinite, values)):
        different.sort(key=float)
    return tuple(different)


def encode(labels: Texts) -> tuple[Ints, tuple[str, ...]]:
    """y (m,) and the classes that it codes into."""
    classes = natural_order(labels)
    code = {label: k for k, label in enumerate(classes)}
    return np.array([code[label] for label in labels], dtype=np.int64), classes


def expand(cells: Cells, columns: Columns) -> Floats:
    """X (m, n): numbers as they are, each category a column of 0 and 1."""
    parts = []
    for j, name in enumerate(cells.inputs):
        if name not in columns.one_hot:
            parts.append(cells.numbers[:, j])
            continue
        values = cells.texts[name]
        for category in columns.one_hot[name]:
            is_it = np.where(values == category, 1.0, 0.0)
            parts.append(np.where(values == "", np.nan, is_it))
    return np.stack(parts, axis=1) if parts else np.empty((cells.lines.size, 0))


def categories(cells: Cells, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The values that occur in each text column, in order."""
    return {
        name: natural_order(text for text in cells.texts[name] if text)
        for name in names
    }


def settle_extremes(cells: Cells, problems: Problems) -> None:
    """No kernel is defined at an infinite value, and none can be computed far out."""
    _refuse_infinite(cells, problems)
    size = np.abs(cells.numbers)
    largest = np.max(size, axis=0, initial=0.0, where=np.isfinite(size))
    for j in np.flatnonzero(largest > FAR)[:SHOWN]:
        i = int(np.argmax(size[:, j] == largest[j]))
        problems.add(
            f"the value {cells.numbers[i, j]:g} is too large: its square is no number "
            "any more; write the column in another unit",
            int(cells.lines[i]),
            cells.inputs[j],
        )
    for j in np.flatnonzero((largest > 0.0) & (largest < 1.0 / FAR))[:SHOWN]:
        problems.add(
            f"all values are below {1.0 / FAR:g}, too small: their squares are 0; "
            "write the column in another unit",
            column=cells.inputs[j],
        )


def _refuse_infinite(cells: Cells, problems: Problems) -> None:
    bad = np.argwhere(np.isinf(cells.numbers))
    if len(bad):
        i, j = bad[0]
        value = cells.numbers[i, j]
        others = f" ({len(bad)} such values in all)" if len(bad) > 1 else ""
        problems.add(
            f"the value {value} is infinite, or too large to be held{others}; correct "
            "it, or say "
            f"--na-values {value} if it stands for a missing value",
            int(cells.lines[i]),
            cells.inputs[j],
        )


def settle_missing(
    cells: Cells, target: str | None, missing: str, problems: Problems
) -> Cells:
    """``error`` tells, ``drop`` leaves rows out, ``mean`` leaves NaN for Scaling."""
    holes = cells.holes()
    unlabelled = np.zeros(cells.lines.size, dtype=bool)
    if target is not None:
        unlabelled = cells.texts[target] == ""
    if missing == "drop":
        return _drop(cells, holes.any(axis=1) | unlabelled, problems)
    if unlabelled.any():
        _tell_unlabelled(cells, unlabelled, str(target), problems)
    if missing == "mean":
        _tell_filled(cells, holes, problems)
    elif holes.any():
        _tell_holes(cells, holes, problems)
    return cells


def _drop(cells: Cells, bad: Mask, problems: Problems) -> Cells:
    if not bad.any():
        return cells
    if bad.all():
        problems.add("every row has a missing value: --missing drop leaves none")
        return cells
    m, count = bad.size, int(bad.sum())
    first = int(cells.lines[np.argmax(bad)])
    problems.note(
        f"{count} of {m} rows left out: missing values (first: {problems.unit} {first})"
    )
    return cells.keep(~bad)


def _tell_unlabelled(cells: Cells, bad: Mask, target: str, problems: Problems) -> None:
    count = int(bad.sum())
    others = f" ({count} such rows)" if count > 1 else ""
    problems.add(
        f"the class label is missing{others}; say --missing drop to leave the row out, "
        "or rename the class where it is called NA, null or the like",
        int(cells.lines[np.argmax(bad)]),
        target,
    )


def _tell_holes(cells: Cells, holes: Mask, problems: Problems) -> None:
    i, j = np.argwhere(holes)[0]
    total, rows = int(holes.sum()), int(holes.any(axis=1).sum())
    counts = _counts(cells, holes)
    text = "the value is missing"
    if total > 1:
        text += f" ({total} missing in {rows} of {len(holes)} rows: {counts})"
    problems.add(
        f"{text}; say --missing drop to leave such rows out, or --missing mean to fill "
        "in the column's mean",
        int(cells.lines[i]),
        cells.inputs[j],
    )


def _tell_filled(cells: Cells, holes: Mask, problems: Problems) -> None:
    if not holes.any():
        return
    problems.note(
        "missing values that take the mean of their column: "
        f"{int(holes.sum())} ({_counts(cells, holes)})"
    )


def settle_weights(
    cells: Cells, columns: Columns, problems: Problems
) -> tuple[Cells, Floats | None]:
    """The weights (m,), all greater than 0: a row of weight 0 is left out."""
    column = columns.weight_column
    if column is None:
        return cells, None
    texts, lines = cells.texts[column], cells.lines
    notation = Notation(columns.decimal == "comma", columns.thousands)
    plain = map(notation.plain, texts)
    weights = np.array([float(t) if is_number(t) else math.nan for t in plain])
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    for i in bad[:SHOWN]:
        said = f"the weight {quoted(texts[i])} is no" if texts[i] else "there is no"
        way = "; say --decimal comma" if COMMA.fullmatch(texts[i]) else ""
        problems.add(f"{said} number of at least 0{way}", int(lines[i]), column)
    if bad.size > SHOWN:
        problems.add(f"{bad.size - SHOWN} more weights like these", column=column)
    none = weights == 0.0
    if none.all():
        problems.add("every weight is 0: no sample is left", column=column)
    if bad.size or none.all():
        problems.settle()
    if none.any():
        first = int(lines[np.argmax(none)])
        problems.note(
            f"{int(none.sum())} of {none.size} rows left out: their weight is 0 "
            f"(first: {problems.unit} {first})"
        )
        cells, weights = cells.keep(~none), weights[~none]
    return cells, weights


def groups_of(
    cells: Cells, column: str | None, problems: Problems
) -> tuple[Ints | None, tuple[str, ...]]:
    """The group of each row, as a code (m,), and their names; every row has one."""
    if column is None:
        return None, ()
    texts = cells.texts[column]
    none = np.flatnonzero(texts == "")
    if none.size:
        others = f" ({none.size} such rows)" if none.size > 1 else ""
        problems.add(f"the group is missing{others}", int(cells.lines[none[0]]), column)
        return None, ()
    groups, names = encode(texts)
    if len(names) == 1:
        problems.add(f"every row is of the group {quoted(names[0])}", column=column)
    return groups, names


def refuse_empty_columns(cells: Cells, problems: Problems) -> None:
    """A column without any value has no mean to learn."""
    for j in np.flatnonzero(cells.holes().all(axis=0)):
        problems.add("no value at all: leave the column out", column=cells.inputs[j])


def _counts(cells: Cells, holes: Mask) -> str:
    per_column = holes.sum(axis=0)
    some = np.flatnonzero(per_column)
    said = [f"{cells.inputs[j]} {per_column[j]}" for j in some[:SHOWN]]
    if some.size > SHOWN:
        said.append(f"{some.size - SHOWN} more columns")
    return ", ".join(said)


def note_unlabelled(cells: Cells, target: str, problems: Problems) -> None:
    """Labels of data to predict are for comparing: all of them or none."""
    lacking = int((cells.texts[target] == "").sum())
    if 0 < lacking < cells.lines.size:
        problems.note(
            f"{lacking} of {cells.lines.size} labels in column {quoted(target)} are "
            "missing: the column is not looked at"
        )


def check_categories(cells: Cells, columns: Columns, problems: Problems) -> None:
    """Data to predict may not hold a category that the model never saw."""
    for name, known in columns.one_hot.items():
        for i in np.flatnonzero(~np.isin(cells.texts[name], ["", *known]))[:1]:
            problems.add(
                f"the model knows no category {quoted(cells.texts[name][i])}; "
                f"it was trained on {listed(known)}",
                int(cells.lines[i]),
                name,
            )
