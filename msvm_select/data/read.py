"""CSV or LIBSVM text -> Dataset: the one door for files, to train on or to classify."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from msvm_select.data.cells import (
    LIBSVM_SUFFIXES,
    LIBSVM_TARGET,
    PYTHON,
    Cells,
    Notation,
    Reader,
    read_libsvm,
)
from msvm_select.data.doubts import Problems
from msvm_select.data.roles import Roles, Wanted, prediction_roles, training_roles
from msvm_select.data.samples import dataset_of, samples_of
from msvm_select.data.source import Readable, Source, load
from msvm_select.data.table import Table, open_table
from msvm_select.errors import SettingsError
from msvm_select.phrases import listed, quoted
from msvm_select.records import Columns, Dataset

MISSING_POLICIES = ("error", "drop", "mean")
INPUT_FORMATS = ("csv", "libsvm")
DECIMALS = {"point": False, ".": False, "comma": True, ",": True}
THOUSANDS = {
    "comma": ",",
    "point": ".",
    "space": " ",
    "apostrophe": "'",
    "underscore": "_",
}


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; every field has the command-line option of its name.

    ``target``, ``id_column``, ``one_hot`` and ``drop`` are names or numbers of columns
    (1-based; negative ones count from the end; a column that has the number as its
    name wins).
    """

    target: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True
    id_column: str | None = None
    na_values: tuple[str, ...] = ()
    one_hot: tuple[str, ...] = ()
    missing: str = "error"
    input_format: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no choice."""
        if self.missing not in MISSING_POLICIES:
            raise SettingsError(f"--missing {self.missing}: error, drop or mean")
        if self.input_format not in (None, *INPUT_FORMATS):
            raise SettingsError(f"--input-format {self.input_format}: csv or libsvm")
        if self.decimal not in (None, *DECIMALS):
            raise SettingsError(f"--decimal {self.decimal}: point or comma")
        if self.thousands not in (None, *THOUSANDS, *THOUSANDS.values()):
            raise SettingsError(
                f"--thousands {quoted(str(self.thousands))}: {', '.join(THOUSANDS)}"
            )

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
    def wanted(self) -> Wanted:
        """The columns that are named."""
        return Wanted(self.target, self.id_column, self.one_hot, self.drop)

    def notation(self, model: Columns | None = None) -> Notation:
        """How numbers are written: as was said, else as in the model's own data."""
        decimal, thousands = self.decimal, self.thousands
        if model is not None:
            decimal = model.decimal if decimal is None else decimal
            thousands = model.thousands if thousands is None else thousands
        comma = DECIMALS[decimal or "point"]
        mark = None if thousands is None else THOUSANDS.get(thousands, thousands)
        if mark == ("," if comma else "."):
            raise SettingsError(
                f"--thousands {thousands}: this is the decimal mark (--decimal)"
            )
        return Notation(comma, mark)


def options_of(
    *,
    target: str | int | None = None,
    id_column: str | int | None = None,
    na_values: str | Iterable[str] = (),
    one_hot: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    **others: Any,
) -> ReadOptions:
    """The options as Python gives them: numbers for columns, one name or several."""
    unknown = [name for name in others if name not in ReadOptions.__dataclass_fields__]
    if unknown:
        raise SettingsError(
            f"No option of reading data is called {listed(unknown)}; there are "
            f"{listed(ReadOptions.__dataclass_fields__, 20)}."
        )
    return ReadOptions(
        target=None if target is None else str(target),
        id_column=None if id_column is None else str(id_column),
        na_values=_texts(na_values),
        one_hot=_texts(one_hot),
        drop=_texts(drop),
        **others,
    )


def _texts(values: str | Iterable[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(map(str, values))


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
    source = load(path, options.encoding)
    problems = Problems(source.name, notes=list(source.notes))
    if _is_libsvm(source, options):
        cells = read_libsvm(source, None, problems)
        header = (*cells.inputs, LIBSVM_TARGET)
        columns = Columns(header, LIBSVM_TARGET, missing=options.missing)
    else:
        notation = options.notation()
        table = _open(source, options, notation, problems)
        roles = training_roles(table.heading, options.wanted, problems)
        reader = Reader(roles, options.na_values, notation)
        cells, notation = _read(table, reader, options.decimal is None, problems)
        columns = columns_of(roles, options, notation)
    return dataset_of(cells, columns, source.stem, options.said, problems)


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
    problems = Problems(source.name, notes=list(source.notes))
    if _is_libsvm(source, options):
        cells = read_libsvm(source, len(columns.inputs), problems)
        cells = replace(cells, inputs=columns.inputs)
        roles = Roles((LIBSVM_TARGET,), (), 0)
    else:
        notation = options.notation(columns)
        table = _open(source, options, notation, problems)
        roles = prediction_roles(table.heading, columns, options.wanted, problems)
        reader = Reader(roles, (*columns.na_values, *options.na_values), notation)
        recognise = options.decimal is None and not notation.comma
        cells, _ = _read(table, reader, recognise, problems)
    return samples_of(cells, roles, columns, options.missing, source.stem, problems)


def _open(
    source: Source, options: ReadOptions, notation: Notation, problems: Problems
) -> Table:
    return open_table(
        source, options.delimiter, options.header, problems, notation.comma
    )


def _read(
    table: Table, reader: Reader, recognise: bool, problems: Problems
) -> tuple[Cells, Notation]:
    """The cells, and the notation; decimal commas are recognised beside semicolons."""
    cells = reader.read(table, problems)
    maybe = recognise and reader.odd and table.delimiter in ";\t"
    if maybe and reader.meets_commas:
        other = Reader(reader.roles, reader.na_values, Notation(comma=True))
        tried = Problems(problems.name)
        again = other.read(table, tried)
        if not other.odd and not tried.found:
            problems.note(
                "numbers are written with decimal commas, and are read so "
                "(--decimal comma)"
            )
            return again, other.notation
    reader.tell(table.heading.line, cells.lines.size, problems)
    return cells, reader.notation


def columns_of(roles: Roles, options: ReadOptions, notation: Notation) -> Columns:
    """What a model keeps of the columns; their categories are still to be found."""
    return Columns(
        roles.names,
        roles.target_name,
        roles.id_name,
        {roles.names[i]: () for i in roles.one_hot},
        options.missing,
        options.na_values,
        "comma" if notation.comma else "point",
        notation.thousands,
        tuple(roles.names[i] for i in roles.drop),
    )


def _is_libsvm(source: Source, options: ReadOptions) -> bool:
    """By the option, else by the file's extension."""
    named = options.input_format
    if (named or ("libsvm" if source.suffix in LIBSVM_SUFFIXES else "csv")) == "csv":
        return False
    columns = (options.target, options.id_column, *options.one_hot, *options.drop)
    if any(columns) or options.delimiter or options.notation() != PYTHON:
        raise SettingsError(
            f"{source.name} is LIBSVM text, which has no columns: --target, "
            "--id-column, --one-hot, --drop, --delimiter, --decimal and --thousands "
            "do not apply"
        )
    return True
