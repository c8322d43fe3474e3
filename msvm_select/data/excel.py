"""A sheet of an Excel workbook -> columns; extra ``msvm-select[io]``.

The rows are counted as Excel counts them. What a formula gave when the workbook was
saved is read, not the formula.
"""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from msvm_select.data.doubts import Problems
from msvm_select.data.held import Listed, as_text
from msvm_select.data.options import ReadOptions
from msvm_select.data.roles import Heading
from msvm_select.data.source import Source
from msvm_select.errors import DataError
from msvm_select.extras import need
from msvm_select.phrases import did_you_mean, listed, quoted

Row = tuple[Any, ...]


def read_excel(source: Source, options: ReadOptions, problems: Problems) -> Listed:
    """The sheet that was asked for; else the first that has anything in it."""
    need("openpyxl", f"{source.name}: an Excel file")
    import openpyxl

    with warnings.catch_warnings():  # of styles and the like, that we do not look at
        warnings.simplefilter("ignore")
        try:
            book = openpyxl.load_workbook(
                io.BytesIO(source.data), read_only=True, data_only=True
            )
            lines, rows = _chosen(book.worksheets, options.sheet, problems)
            book.close()
        except DataError:
            raise
        except Exception as error:  # a damaged one fails wherever its parts are used
            raise problems.stop(
                f"this is not an Excel workbook (xlsx), or not a whole one: {error}"
            ) from None
    return _columns(lines, rows, options.header)


def _chosen(
    sheets: list[Any], wanted: str | None, problems: Problems
) -> tuple[list[int], list[Row]]:
    """The rows of a sheet that are not empty, and their numbers."""
    names = [sheet.title for sheet in sheets]
    if wanted is not None:
        at = _position(wanted, names, problems)
        found = _rows(sheets[at])
        if not found[0]:
            raise problems.stop(f"the sheet {quoted(names[at])} is empty")
        return found
    for sheet in sheets:
        found = _rows(sheet)
        if found[0]:
            if len(sheets) > 1:
                problems.note(
                    f"of the {len(sheets)} sheets {listed(names)} the first with data "
                    f"is read, {quoted(sheet.title)}; --sheet names another"
                )
            return found
    raise problems.stop("the workbook is empty")


def _position(wanted: str, names: list[str], problems: Problems) -> int:
    """Of a sheet by its name, else by its number, 1-based."""
    if wanted in names:
        return names.index(wanted)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    raise problems.stop(
        f"--sheet {quoted(wanted)}: no such sheet{did_you_mean(wanted, names)}; the "
        f"sheets are {listed(names)}"
    )


def _rows(sheet: Any) -> tuple[list[int], list[Row]]:
    sheet.reset_dimensions()  # some programs write wrong ones
    numbered = enumerate(sheet.iter_rows(values_only=True), start=1)
    filled = [(n, row) for n, row in numbered if any(map(_is_there, row))]
    return [n for n, _ in filled], [row for _, row in filled]


def _columns(lines: list[int], rows: list[Row], header: bool) -> Listed:
    """The columns with anything in them, under the names of the first row."""
    width = max(map(len, rows))
    whole = [(*row, *[None] * (width - len(row))) for row in rows]
    columns = [
        [value if _is_there(value) else None for value in column]
        for column in zip(*whole, strict=True)
        if any(map(_is_there, column))
    ]
    first = tuple("" if c[0] is None else as_text(c[0]).strip() for c in columns)
    if header:
        columns = [column[1:] for column in columns]
    return Listed(
        Heading(first, header, lines[0]),
        np.array(lines[int(header) :], dtype=np.int64),
        columns,
    )


def _is_there(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())
