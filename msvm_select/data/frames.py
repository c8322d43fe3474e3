"""What Python holds, DataFrames and arrays, -> Dataset; and Datasets -> DataFrames."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from msvm_select.data.cells import Cells, Notation, Reader
from msvm_select.data.doubts import Problems
from msvm_select.data.read import (
    ReadOptions,
    columns_of,
    options_of,
    read_dataset,
    read_features,
)
from msvm_select.data.roles import Heading, prediction_roles, training_roles
from msvm_select.data.samples import dataset_of, samples_of
from msvm_select.data.table import Texts
from msvm_select.errors import DataError, SettingsError
from msvm_select.records import Columns, Dataset, Floats

if TYPE_CHECKING:
    import pandas as pd

DataFrame: TypeAlias = "pd.DataFrame"
NAME = "DataFrame"
TARGETS = ("class", "target", "the class")  # names for y, the first that is free


def as_dataset(data: Any, **reading: Any) -> Dataset:
    """Samples to learn from: a path, a DataFrame, a pair (X, y), or a Dataset as it is.

    ``reading`` are the options of ``load_csv``, among them ``target``: the column of a
    DataFrame or a file that holds the classes.

    >>> as_dataset(frame, target="species", drop=["id"], missing="mean")
    >>> as_dataset((X, y))
    """
    if isinstance(data, Dataset):
        _refuse_options(reading)
        return data
    options = options_of(**reading)
    if is_file(data):
        return read_dataset(data, options)
    if isinstance(data, tuple | list) and len(data) == 2:
        frame, target = _joined(*data)
        return _training(frame, options_of(**{**reading, "target": target}))
    if frame_of := _frame(data):
        return _training(frame_of.frame, options)
    raise DataError(
        f"{_kind(data)} cannot be used as data: give the path of a file, a DataFrame "
        "(with target=, the name of its class column), a pair (X, y), or what "
        "load_csv gives."
    )


def split_reading(data: Any, values: dict[str, Any]) -> tuple[Dataset, dict[str, Any]]:
    """The samples, read by those of the values that are for reading; and the others."""
    reading = {k: v for k, v in values.items() if k in ReadOptions.__dataclass_fields__}
    others = {k: v for k, v in values.items() if k not in reading}
    return as_dataset(data, **reading), others


def as_samples(data: Any, columns: Columns, **reading: Any) -> Dataset | None:
    """Samples to classify, by the names of their columns; None for plain arrays.

    The columns are those that the model was trained on.
    """
    if isinstance(data, Dataset):
        _refuse_options(reading)
        return data
    if is_file(data):
        return read_features(data, columns, options_of(**reading))
    found = _frame(data)
    if found is None or not _is_named(found.frame, columns):
        return None
    options = options_of(**reading)
    problems = Problems(NAME, unit="row")
    roles = prediction_roles(_heading(found.frame), columns, options.wanted, problems)
    na_values = (*columns.na_values, *options.na_values)
    reader = Reader(roles, na_values, options.notation(columns))
    cells = _cells(found.frame, reader, problems)
    return samples_of(cells, roles, columns, options.missing, NAME, problems)


def is_file(data: Any) -> bool:
    """Whether it is a path, or a stream of bytes."""
    return isinstance(data, str | os.PathLike) or hasattr(data, "read")


def index_of(data: Any, samples: Dataset) -> Any:
    """The index of the rows of a DataFrame that became the samples; else None."""
    found = _frame(data)
    if found is None:
        return None
    rows = found.frame.index
    return rows if samples.lines is None else rows[samples.lines - 1]


def to_frame(columns: dict[str, Any], index: Any = None) -> DataFrame:
    """The columns as a DataFrame."""
    import pandas as pd

    return pd.DataFrame(columns, index=index)


@dataclass(frozen=True, eq=False)
class _Frame:
    frame: DataFrame


def _frame(data: Any) -> _Frame | None:
    """The DataFrame that it is, or can be (of polars, of arrow); None for others."""
    pandas = sys.modules.get("pandas")  # who has a DataFrame has imported it
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _Frame(data)
    if hasattr(data, "columns") and hasattr(data, "to_pandas"):
        return _Frame(data.to_pandas())
    return None


def _refuse_options(reading: dict[str, Any]) -> None:
    if reading:
        raise SettingsError(
            f"{', '.join(reading)}: these options are for reading data, and a Dataset "
            "has been read already."
        )


def _training(frame: DataFrame, options: ReadOptions) -> Dataset:
    problems = Problems(NAME, unit="row")
    roles = training_roles(_heading(frame), options.wanted, problems)
    notation = options.notation()
    reader = Reader(roles, options.na_values, notation)
    cells = _cells(frame, reader, problems)
    columns = columns_of(roles, options, notation)
    return dataset_of(cells, columns, "data", options.said, problems)


def _heading(frame: DataFrame) -> Heading:
    return Heading(tuple(map(str, frame.columns)))


def _is_named(frame: DataFrame, columns: Columns) -> bool:
    """Whether the columns have names, or numbers for names as the model's have."""
    if any(isinstance(name, str) for name in frame.columns):
        return True
    return set(columns.inputs) <= set(map(str, frame.columns))


def _cells(frame: DataFrame, reader: Reader, problems: Problems) -> Cells:
    """The rows of the frame, told as row 1, 2, ..."""
    roles, m = reader.roles, len(frame)
    rows = range(1, m + 1)
    numeric = [i for i in roles.inputs if i not in roles.one_hot]
    numbers = {i: _numbers(frame, i, reader, rows) for i in numeric}
    texts: dict[int, Texts] = {
        i: np.array(reader.text(_written(frame, i)), dtype=object) for i in roles.texts
    }
    reader.tell(None, m, problems)
    lines = np.arange(1, m + 1, dtype=np.int64)
    return reader.cells(reader.block(numbers, m), texts, lines)


def _numbers(frame: DataFrame, i: int, reader: Reader, rows: Sequence[int]) -> Floats:
    column = frame.iloc[:, i]
    if column.dtype.kind in "iufb":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    as_is = Reader(reader.roles, reader.na_values, Notation(), reader.odd)
    texts = all(isinstance(value, str) for value in column.dropna())
    return (reader if texts else as_is).column(i, _written(frame, i), rows)


def _written(frame: DataFrame, i: int) -> list[str]:
    """The cells of a column as a file would have them; missing ones are empty."""
    column = frame.iloc[:, i]
    gaps = column.isna().tolist()
    return [
        "" if gap else _cell(value)
        for value, gap in zip(column.tolist(), gaps, strict=True)
    ]


def _cell(value: Any) -> str:
    """A whole number without decimals, also where pandas made a float of it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value)) if value or math.copysign(1.0, value) > 0 else "-0.0"
    return str(value)


def _joined(X: Any, y: Any) -> tuple[DataFrame, str]:
    """X with y as one more column, and the name of that."""
    import pandas as pd

    if (found := _frame(X)) is not None:
        frame = found.frame
    else:
        values = np.asarray(X)
        if values.ndim != 2:
            raise DataError(
                "(X, y): X must be a table of samples by features; it is "
                f"{_kind(X)} of shape {values.shape}."
            )
        names = [f"x{j + 1}" for j in range(values.shape[1])]
        frame = pd.DataFrame(values, columns=names)
    labels = np.asarray(y)
    if labels.shape != (len(frame),):
        raise DataError(
            f"(X, y): y must hold one class for each of the {len(frame)} rows of X; "
            f"its shape is {labels.shape}."
        )
    taken = set(map(str, frame.columns))
    name = next(
        name for name in (getattr(y, "name", None), *TARGETS) if _free(name, taken)
    )
    return frame.assign(**{str(name): labels}), str(name)


def _free(name: Any, taken: set[str]) -> bool:
    return name is not None and str(name) not in taken


def _kind(data: Any) -> str:
    """``a list``, ``an ndarray``."""
    name = type(data).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
