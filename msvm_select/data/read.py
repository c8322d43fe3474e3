"""Files, DataFrames and arrays -> Dataset: the one door, to train on or to classify.

pandas is imported where a DataFrame is made, and for large files; not before.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from msvm_select.data.arff import read_arff
from msvm_select.data.arrow import ArrowTable, read_arrow
from msvm_select.data.cells import LIBSVM_TARGET, Cells, Reader, read_libsvm
from msvm_select.data.doubts import Problems
from msvm_select.data.excel import read_excel
from msvm_select.data.held import Body, Frame, Held, body_of
from msvm_select.data.options import (
    OF_SUBSAMPLE,
    OPTIONS,
    PYTHON,
    Notation,
    ReadOptions,
    options_of,
)
from msvm_select.data.roles import Heading, Roles, prediction_roles, training_roles
from msvm_select.data.samples import dataset_of, samples_of
from msvm_select.data.source import BYTES, Readable, Source, load
from msvm_select.data.subsample import subsampled
from msvm_select.data.table import Table, open_table
from msvm_select.errors import DataError, SettingsError
from msvm_select.extras import need
from msvm_select.names import READERS
from msvm_select.records import Columns, Dataset

if TYPE_CHECKING:
    import pandas as pd

DataFrame: TypeAlias = "pd.DataFrame"
NAME = "DataFrame"
TARGETS = ("class", "target", "the class")  # names for y, the first that is free
OF_TEXT = ("delimiter", "encoding")
OF_SEQUENCES = ("label_from", "labels", "alphabet")
NOT_FOR: dict[str, tuple[str, ...]] = {
    "csv": ("sheet", *OF_SEQUENCES),
    "libsvm": ("sheet", *OF_SEQUENCES),
    "parquet": (*OF_TEXT, "no_header", "sheet", *OF_SEQUENCES),
    "arrow": (*OF_TEXT, "no_header", "sheet", *OF_SEQUENCES),
    "arff": ("delimiter", "no_header", "sheet", *OF_SEQUENCES),
    "excel": (*OF_TEXT, *OF_SEQUENCES),
    "fasta": tuple(
        name
        for name in (*OPTIONS, "no_header")
        if name
        not in ("encoding", "input_format", "missing", *OF_SEQUENCES, *OF_SUBSAMPLE)
    ),
}
"""Options that a format has no use for."""


def as_dataset(data: Any, **reading: Any) -> Dataset:
    """Samples to learn from: a path, a DataFrame, a pair (X, y), or a Dataset as it is.

    ``reading`` are the options of ``load_csv``, among them ``target``: the column of a
    DataFrame or a file that holds the classes.

    >>> as_dataset(frame, target="species", drop=["id"], missing="mean")
    >>> as_dataset((X, y))
    """
    options = options_of(**reading)
    if isinstance(data, Dataset):
        _refuse_options({n: v for n, v in reading.items() if n not in OF_SUBSAMPLE})
        return subsampled(data, options)
    if is_file(data):
        return read_dataset(data, options)
    held = _held(data)
    if isinstance(data, tuple | list) and len(data) == 2:
        frame, reading["target"] = _joined(*data)
        held = Frame(frame)
    if held is None:
        raise DataError(
            f"{_kind(data)} cannot be used as data: give the path of a file, a "
            "DataFrame (with target=, the name of its class column), a pair (X, y), or "
            "what load_csv gives."
        )
    options, problems = options_of(**reading), Problems(NAME, unit="row")
    body = body_of(held, problems)
    whole = _to_learn(held.heading, body, options, "data", problems)
    return subsampled(whole, options)


def split_reading(data: Any, values: dict[str, Any]) -> tuple[Dataset, dict[str, Any]]:
    """The samples, read by those of the values that are for reading; and the others."""
    reading = {name: value for name, value in values.items() if name in OPTIONS}
    others = {name: v for name, v in values.items() if name not in OPTIONS}
    if "seed" in values:  # that of all that shuffles
        others["seed"] = values["seed"]
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
    held = _held(data)
    if held is None or not _is_named(held, columns):
        return None
    options, problems = options_of(**reading), Problems(NAME, unit="row")
    body = body_of(held, problems)
    return _to_classify(held.heading, body, columns, options, NAME, problems)


def load_csv(path: Readable, **options: Any) -> Dataset:
    """Read a file with class labels; the options are the fields of ``ReadOptions``.

    >>> load_csv("data/iris.csv", target="class", missing="mean")
    """
    return read_dataset(path, options_of(**options))


def read_dataset(path: Readable, options: ReadOptions | None = None) -> Dataset:
    """Data to learn from: every row labelled, two classes at least.

    Raises UnusableDataError with all that was found wrong, and where.
    """
    options = options or ReadOptions()
    return subsampled(_read(path, options), options)


def _read(path: Readable, options: ReadOptions) -> Dataset:
    """All of its rows."""
    source, problems = _source(path, options)
    if source.format in READERS:
        return READERS[source.format]().to_learn(source, options, problems)
    if source.format == "libsvm":
        cells = read_libsvm(source, None, problems)
        header = (*cells.inputs, LIBSVM_TARGET)
        columns = Columns(header, LIBSVM_TARGET, missing=options.missing)
        return dataset_of(cells, columns, source.stem, options.said, problems)
    heading, body = _table(source, options, options.notation().comma, problems)
    return _to_learn(heading, body, options, source.stem, problems)


def read_features(
    path: Readable, columns: Columns, options: ReadOptions | None = None
) -> Dataset:
    """Data to classify by a model that was trained on ``columns``.

    The model's features are taken by name, in the model's order. A target column may
    be there (``y`` then codes into the classes that this file has) or not. A missing
    value stays NaN, for the model's scaling to fill, where the model was trained with
    ``missing=mean`` or the options say so.
    """
    options = options or ReadOptions()
    if options.subsample is not None:
        raise SettingsError("--subsample is for data to learn from, not to classify.")
    source, problems = _source(path, options)
    if source.format in READERS:
        reader = READERS[source.format]()
        return reader.to_classify(source, columns, options, problems)
    if source.format == "libsvm":
        cells = read_libsvm(source, len(columns.inputs), problems)
        cells = replace(cells, inputs=columns.inputs)
        roles = Roles((LIBSVM_TARGET,), (), 0)
        return samples_of(cells, roles, columns, options.missing, source.stem, problems)
    comma = options.notation(columns).comma
    heading, body = _table(source, options, comma, problems)
    return _to_classify(heading, body, columns, options, source.stem, problems)


def is_file(data: Any) -> bool:
    """Whether it is a path, or a stream of bytes."""
    return isinstance(data, str | os.PathLike) or hasattr(data, "read")


def index_of(data: Any, samples: Dataset) -> Any:
    """The index of the rows of a DataFrame that became the samples; else None."""
    frame = _frame(data)
    if frame is None or samples.lines is None:
        return None if frame is None else frame.index
    return frame.index[samples.lines - 1]


def to_frame(columns: dict[str, Any], index: Any = None) -> DataFrame:
    """The columns as a DataFrame."""
    import pandas as pd

    return pd.DataFrame(columns, index=index)


def _to_learn(
    heading: Heading, body: Body, options: ReadOptions, name: str, problems: Problems
) -> Dataset:
    roles = training_roles(heading, options, problems)
    reader = Reader(roles, options.na_values, options.notation())
    cells, notation = body(reader)
    columns = Columns(
        roles.names,
        roles.target_name,
        roles.id_name,
        {roles.names[i]: () for i in roles.one_hot},  # still to be found
        options.missing,
        options.na_values,
        "comma" if notation.comma else "point",
        notation.thousands,
        tuple(roles.names[i] for i in roles.drop),
        roles.weight_name,
        roles.group_name,
    )
    return dataset_of(cells, columns, name, options.said, problems)


def _to_classify(
    heading: Heading,
    body: Body,
    columns: Columns,
    options: ReadOptions,
    name: str,
    problems: Problems,
) -> Dataset:
    roles = prediction_roles(heading, columns, options, problems)
    na_values = (*columns.na_values, *options.na_values)
    cells, _ = body(Reader(roles, na_values, options.notation(columns)))
    return samples_of(cells, roles, columns, options.missing, name, problems)


def _body(table: Table, options: ReadOptions, problems: Problems) -> Body:
    """The cells of a file; decimal commas are recognised beside semicolons."""

    def read(reader: Reader) -> tuple[Cells, Notation]:
        cells = reader.read(table, problems)
        maybe = options.decimal is None and not reader.notation.comma
        maybe = maybe and bool(reader.odd) and table.delimiter in ";\t"
        if maybe and (commas := reader.with_commas):
            other = Reader(reader.roles, reader.na_values, Notation(comma=True))
            again = other.read(table, Problems(problems.name))  # they are told already
            if other.odd.keys() <= reader.odd.keys() - commas:  # the rest is text
                problems.note(
                    "numbers are written with decimal commas, and are read so "
                    "(--decimal comma)"
                )
                cells, reader = again, other
        reader.tell(table.heading.line, cells.lines.size, problems)
        return cells, reader.notation

    return read


def _source(path: Readable, options: ReadOptions) -> tuple[Source, Problems]:
    """The bytes and their format; refuses options that the format has no use for."""
    source = load(path, options.encoding, options.input_format)
    if source.format == "libsvm":
        _refuse_columns(source.name, options)
    said = [name for name in NOT_FOR[source.format] if name in options.said]
    if said:
        told = " and ".join("--" + name.replace("_", "-") for name in said)
        raise SettingsError(
            f"{told}: {source.name} is read as {source.format}, which has no use for it"
        )
    row = source.format in BYTES
    unit, notes = "row" if row else "line", list(source.notes)
    return source, Problems(source.name, notes=notes, unit=unit)


def _refuse_columns(name: str, options: ReadOptions) -> None:
    columns = (options.target, options.id_column, *options.one_hot, *options.drop)
    beside = (options.weight_column, options.group_column)
    if any((*columns, *beside)) or options.delimiter or options.notation() != PYTHON:
        raise SettingsError(
            f"{name} is LIBSVM text, which has no columns: --target, "
            "--id-column, --weight-column, --group-column, --one-hot, --drop, "
            "--delimiter, --decimal and --thousands do not apply"
        )


def _table(
    source: Source, options: ReadOptions, comma: bool, problems: Problems
) -> tuple[Heading, Body]:
    """The names of the columns, and what reads their cells."""
    held: Held
    match source.format:
        case "parquet" | "arrow":
            held = read_arrow(source, options, problems)
        case "excel":
            held = read_excel(source, options, problems)
        case "arff":
            held = read_arff(source, problems)
        case _:
            table = open_table(source, options, comma, problems)
            return table.heading, _body(table, options, problems)
    return held.heading, body_of(held, problems)


def _held(data: Any) -> Held | None:
    """The columns of a table of Arrow or polars, or of a DataFrame; else None."""
    arrow = sys.modules.get("pyarrow")  # who has a table of Arrow has imported it
    if arrow is not None and isinstance(data, arrow.Table):
        return ArrowTable(data)
    if hasattr(data, "columns") and hasattr(data, "to_arrow"):
        need("pyarrow", f"{_kind(data)} of {type(data).__module__.partition('.')[0]}")
        return ArrowTable(data.to_arrow())
    frame = _frame(data)
    return None if frame is None else Frame(frame)


def _frame(data: Any) -> DataFrame | None:
    """The DataFrame that it is, or can be (of polars, of arrow); None for others."""
    pandas = sys.modules.get("pandas")  # who has a DataFrame has imported it
    frame: DataFrame | None = None
    if pandas is not None and isinstance(data, pandas.DataFrame):
        frame = data
    elif hasattr(data, "columns") and hasattr(data, "to_pandas"):
        frame = data.to_pandas()
    return frame


def _refuse_options(reading: dict[str, Any]) -> None:
    if reading:
        raise SettingsError(
            f"{', '.join(reading)}: these options are for reading data, and a Dataset "
            "has been read already."
        )


def _is_named(held: Held, columns: Columns) -> bool:
    """Whether the columns have names, or numbers for names as the model's have."""
    return held.is_named or set(columns.inputs) <= set(held.heading.names)


def _joined(X: Any, y: Any) -> tuple[DataFrame, str]:
    """X with y as one more column, and the name of that."""
    import pandas as pd

    frame = _frame(X)
    if frame is None:
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
    taken = {"None", *map(str, frame.columns)}
    free = map(str, (getattr(y, "name", None), *TARGETS))
    name = next(name for name in free if name not in taken)
    return frame.assign(**{name: labels}), name


def _kind(data: Any) -> str:
    """``a list``, ``an ndarray``."""
    name = type(data).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
