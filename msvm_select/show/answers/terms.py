"""One number of a report, with all that there is to say of it."""

from __future__ import annotations

from dataclasses import dataclass

from msvm_select.records import Dataset
from msvm_select.show.plain import Plain


@dataclass(frozen=True)
class Term:
    """A number by its name in formulas or, where it has one, by its column.

    ``applies`` is None for what is no bound; ``source`` cites the formula.
    """

    group: str
    term: str
    value: Plain
    formula: str
    source: str
    note: str = ""
    applies: bool | None = None


def named(data: Dataset, i: int) -> str:
    """A sample by its id, else by its line in the file, else by its number."""
    if data.ids is not None:
        return f"{data.id_column or 'id'} {data.ids[i]}"
    return f"sample {i + 1}" if data.lines is None else f"line {data.lines[i]}"
