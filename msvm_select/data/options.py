"""How data are to be read: the options, and the notation of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from msvm_select.errors import SettingsError
from msvm_select.names import INPUT_FORMATS
from msvm_select.phrases import listed, quoted
from msvm_select.records import Columns
from msvm_select.settings.values import whole

MISSING_POLICIES = ("error", "drop", "mean")
DECIMALS = {"point": False, ".": False, "comma": True, ",": True}
THOUSANDS = {
    "comma": ",",
    "point": ".",
    "space": " ",
    "apostrophe": "'",
    "underscore": "_",
}
SWAP = str.maketrans(",.", ".,")
OF_SUBSAMPLE = ("subsample", "seed")
SPACES = " \u00a0\u2009\u202f"


@dataclass(frozen=True)
class Notation:
    """How numbers are written: with a decimal ``comma``, with a mark of thousands.

    The mark stands between groups of three digits and nowhere else; a space stands for
    every kind of space.
    """

    comma: bool = False
    thousands: str | None = None

    @cached_property
    def grouped(self) -> re.Pattern[str]:
        """A number in groups of three digits."""
        marks = SPACES if self.thousands == " " else self.thousands or "x"
        point = "," if self.comma else r"\."
        pattern = rf"[-+]?\d{{1,3}}([{re.escape(marks)}]\d{{3}})+({point}.*)?"
        return re.compile(pattern, re.ASCII)

    def plain(self, cell: str) -> str:
        """The number as Python writes it; what is no number stays none."""
        if self.thousands is not None and self.grouped.fullmatch(cell):
            whole, mark, rest = cell.partition("," if self.comma else ".")
            cell = "".join(c for c in whole if c.isdigit() or c in "+-") + mark + rest
        return cell.translate(SWAP) if self.comma else cell


PYTHON = Notation()


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; every field has the command-line option of its name.

    ``target``, ``id_column``, ``one_hot``, ``drop`` and the columns of weights and
    groups are names or numbers of columns (1-based; negative ones count from the end; a
    column that has the number as its name wins). So is ``sheet``, of a workbook. The
    next three are for sequences. Of ``subsample`` rows, drawn with ``seed``, see the
    module of that name.
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
    weight_column: str | None = None
    group_column: str | None = None
    sheet: str | None = None
    label_from: str | None = None
    labels: str | None = None
    alphabet: str | None = None
    subsample: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no choice."""
        for name, least in (("subsample", 1), ("seed", 0)):
            if getattr(self, name) is not None:
                whole(least)(getattr(self, name), name)
        if self.missing not in MISSING_POLICIES:
            raise SettingsError(f"--missing {self.missing}: error, drop or mean")
        if self.input_format not in (None, *INPUT_FORMATS):
            raise SettingsError(
                f"--input-format {quoted(str(self.input_format))}: "
                f"{', '.join(INPUT_FORMATS)}"
            )
        if self.decimal not in (None, *DECIMALS):
            raise SettingsError(f"--decimal {self.decimal}: point or comma")
        if self.thousands not in (None, *THOUSANDS, *THOUSANDS.values()):
            raise SettingsError(
                f"--thousands {quoted(str(self.thousands))}: {', '.join(THOUSANDS)}"
            )

    @property
    def said(self) -> dict[str, Any]:
        """The options that are not at their defaults, by their names.

        Not those of a subsample, which is drawn of what was read.
        """
        given = {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
            if field.name not in OF_SUBSAMPLE
        }
        if not given.pop("header", True):
            given["no_header"] = True
        return given

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


OPTIONS = tuple(field.name for field in fields(ReadOptions))


def options_of(**given: Any) -> ReadOptions:
    """The options as Python gives them: numbers for columns, one name or several."""
    if unknown := [name for name in given if name not in OPTIONS]:
        raise SettingsError(
            f"No option of reading data is called {listed(unknown)}; there are "
            f"{listed(OPTIONS, 20)}."
        )
    for name in ("target", "id_column", "weight_column", "group_column", "sheet"):
        if given.get(name) is not None:
            given[name] = str(given[name])
    for name in ("na_values", "one_hot", "drop"):
        given[name] = _texts(given.get(name, ()))
    return ReadOptions(**given)


def _texts(values: str | Iterable[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(map(str, values))
