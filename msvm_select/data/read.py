"""CSV or LIBSVM text -> Dataset: the one door for data, to train on or to classify."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from msvm_select.data.cells import Cells, Reader
from msvm_select.data.columns import prediction_roles, training_roles
from msvm_select.data.libsvm import SUFFIXES, TARGET, read_libsvm
from msvm_select.data.problems import Problems
from msvm_select.data.remarks import (
    check_categories,
    check_classes,
    note_row_numbers,
    note_unlabelled,
)
from msvm_select.data.samples import (
    categories,
    encode,
    expand,
    refuse_empty_columns,
    settle_extremes,
    settle_missing,
)
from msvm_select.data.source import Readable, Source, load
from msvm_select.data.table import open_table
from msvm_select.errors import SettingsError
from msvm_select.records import Columns, Dataset

MISSING_POLICIES = ("error", "drop", "mean")
INPUT_FORMATS = ("csv", "libsvm")
DECIMALS = {"point": False, ".": False, "comma": True, ",": True}


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; every field has the command-line option of its name.

    ``target`` and ``id_column`` are names or numbers (1-based; negative ones count
    from the end; a column that has the number as its name wins).
    """

    target: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    id_column: str | None = None
    na_values: tuple[str, ...] = ()
    one_hot: tuple[str, ...] = ()
    missing: str = "error"
    input_format: str | None = None
    decimal: str = "point"
    thousands: str | None = None
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no choice."""
        if self.missing not in MISSING_POLICIES:
            raise SettingsError(f"--missing {self.missing}: error, drop or mean")
        if self.input_format not in (None, *INPUT_FORMATS):
            raise SettingsError(f"--input-format {self.input_format}: csv or libsvm")
        if self.decimal not in DECIMALS:
            raise SettingsError(f"--decimal {self.decimal}: point or comma")

    @property
    def said(self) -> dict[str, Any]:
        """The options that are not at their defaults, by their names."""
        given = {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }
        if not given.pop("header", True):
            given["no_header"] = True
        return given

    @property
    def comma(self) -> bool:
        """Whether numbers have decimal commas."""
        return DECIMALS[self.decimal]


def load_csv(
    path: Readable,
    *,
    target: str | int | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    id_column: str | int | None = None,
    na_values: Iterable[str] = (),
    one_hot: Iterable[str] = (),
    missing: str = "error",
    input_format: str | None = None,
    decimal: str = "point",
) -> Dataset:
    """Read a file with class labels; the options are those of the command line."""
    options = ReadOptions(
        target=None if target is None else str(target),
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        id_column=None if id_column is None else str(id_column),
        na_values=tuple(na_values),
        one_hot=tuple(one_hot),
        missing=missing,
        input_format=input_format,
        decimal=decimal,
    )
    return read_dataset(path, options)


def read_dataset(path: Readable, options: ReadOptions | None = None) -> Dataset:
    """Data to learn from: every row labelled, two classes at least.

    Raises UnusableDataError with all that was found wrong, and where.
    """
    options = options or ReadOptions()
    source = load(path, options.encoding)
    problems = Problems(source.name)
    cells, columns = _read_training(source, options, problems)
    target = str(columns.target)
    _check_some(cells, problems)
    settle_extremes(cells, problems)
    cells = settle_missing(cells, target, options.missing, problems)
    refuse_empty_columns(cells, problems)
    one_hot = categories(cells, columns.one_hot)
    columns = replace(columns, one_hot=one_hot)
    dataset = _assemble(source, cells, columns, target, columns.id_column)
    if dataset.y.size:
        check_classes(dataset.y, dataset.classes, target, problems)
    problems.settle()
    note_row_numbers(dataset.X, dataset.features, problems)
    return replace(dataset, notes=tuple(problems.notes), reading=options.said)


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
    source = load(path, options.encoding)
    problems = Problems(source.name)
    cells, target, id_column = _read_prediction(source, columns, options, problems)
    _check_some(cells, problems)
    missing = options.missing
    if missing == "error" and columns.missing == "mean":
        missing = "mean"
    settle_extremes(cells, problems)
    cells = settle_missing(cells, None, missing, problems)
    check_categories(cells, columns, problems)
    if target is not None:
        note_unlabelled(cells, target, problems)
    problems.settle()
    dataset = _assemble(source, cells, columns, target, id_column)
    return replace(dataset, notes=tuple(problems.notes))


def _check_some(cells: Cells, problems: Problems) -> None:
    if cells.lines.size == 0:
        problems.settle()
        raise problems.stop("there is a header and no sample below it")


def _read_training(
    source: Source, options: ReadOptions, problems: Problems
) -> tuple[Cells, Columns]:
    """The cells, and the columns with the categories still to be filled in."""
    if _is_libsvm(source, options):
        cells = read_libsvm(source, None, problems)
        header = (*cells.inputs, TARGET)
        return cells, Columns(header, TARGET, missing=options.missing)
    table = open_table(
        source, options.delimiter, options.header, problems, options.comma
    )
    roles = training_roles(
        table, options.target, options.id_column, options.one_hot, problems
    )
    cells = Reader(roles, options.na_values, options.comma).read(table, problems)
    columns = Columns(
        roles.names,
        roles.target_name,
        roles.id_name,
        {roles.names[i]: () for i in roles.one_hot},
        options.missing,
        options.na_values,
    )
    return cells, columns


def _read_prediction(
    source: Source, model: Columns, options: ReadOptions, problems: Problems
) -> tuple[Cells, str | None, str | None]:
    """The cells in the model's order, and the names of the target and of the id."""
    if _is_libsvm(source, options):
        cells = read_libsvm(source, len(model.inputs), problems)
        return replace(cells, inputs=model.inputs), TARGET, None
    table = open_table(
        source, options.delimiter, options.header, problems, options.comma
    )
    roles = prediction_roles(table, model, options.target, options.id_column, problems)
    na_values = (*model.na_values, *options.na_values)
    cells = Reader(roles, na_values, options.comma).read(table, problems)
    return cells, roles.target_name, roles.id_name


def _is_libsvm(source: Source, options: ReadOptions) -> bool:
    """By the option, else by the file's extension."""
    named = options.input_format
    if (named or ("libsvm" if source.suffix in SUFFIXES else "csv")) == "csv":
        return False
    columns = (options.target, options.id_column, *options.one_hot)
    if any(columns) or options.delimiter or options.comma:
        raise SettingsError(
            f"{source.name} is LIBSVM text: it has no columns for --target, "
            "--id-column, --one-hot, --delimiter or --decimal to speak of"
        )
    return True


def _assemble(
    source: Source,
    cells: Cells,
    columns: Columns,
    target: str | None,
    id_column: str | None,
) -> Dataset:
    labels = cells.texts[target] if target is not None else np.empty(0, dtype=object)
    y, classes = encode(labels if (labels != "").all() else labels[:0])
    return Dataset(
        X=expand(cells, columns),
        y=y,
        classes=classes,
        features=columns.features,
        target=target or columns.target or TARGET,
        ids=None if id_column is None else tuple(cells.texts[id_column]),
        id_column=id_column,
        name=source.stem,
        columns=columns,
        lines=cells.lines,
    )
