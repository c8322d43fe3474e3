"""What a pipeline may ask of results, to fail where they are not good enough.

A gate that is broken is one sentence, which names the figure that failed.
"""

from __future__ import annotations

from collections.abc import Iterator

from msvm_select.columns import Row, column_of, holds, state_of
from msvm_select.results.ranking import Results

NAMED = 3  # cells in trouble that are named; the others are counted


def broken(
    results: Results,
    fail_above: float | None = None,
    require_applicable: bool = False,
    require_converged: bool = False,
) -> list[str]:
    """The gates that the results do not pass, each as a sentence.

    It is the figures of the chosen cell that count.
    """
    row = results.chosen
    found: list[str | None] = []
    if fail_above is not None:
        found.append(_above(results, row, fail_above))
    if require_applicable:
        found.append(_inapplicable(results, row))
    if require_converged:
        found.append(_open(results))
    return [sentence for sentence in found if sentence]


def _above(results: Results, row: Row | None, most: float) -> str | None:
    """The value that is ranked by is larger than ``most``, or there is none."""
    if row is None:
        return f"no cell has a score by {results.rank_by} that counts"
    column = results.column
    value = row.value(column)
    if value <= most:
        return None
    return f"{column} {value:.6g} of {_which(results, row)} is above {most:.6g}"


def _inapplicable(results: Results, row: Row | None) -> str | None:
    """What is ranked by is not, of this cell, what it claims to be."""
    column = column_of(results.column)
    if row is None:
        return f"{column.name} applies to none of {len(results.rows)} cells"
    flag = column.applies_where or column.vacuous_where
    told = row.value(flag)
    if told is not None and holds(row, column.name):
        return None
    value = {True: "yes", False: "no", None: "not told"}[told]
    why = f"{flag} is {value}"
    if told is not None and state_of(row, column.name) == "vacuous":
        why = f"its value {row.value(column.name):.4g} is 1 or more and says nothing"
    return f"{column.name} does not apply to {_which(results, row)}: {why}"


def _which(results: Results, row: Row) -> str:
    rule = "best" if results.choice is None else results.choice.rule
    word = "best" if rule == "best" else "chosen"
    return f"the {word} cell ({row.cell})"


def _open(results: Results) -> str | None:
    """Cells that failed or did not converge."""
    troubled = [row for row in results.rows if row.status != "ok"]
    if not troubled:
        return None
    return (
        f"{len(troubled)} of {len(results.rows)} cells did not converge or failed: "
        f"{', '.join(_names(troubled))}"
    )


def _names(rows: list[Row]) -> Iterator[str]:
    for row in rows[:NAMED]:
        yield f"{row.cell} ({row.status})"
    if len(rows) > NAMED:
        yield f"{len(rows) - NAMED} more"
