"""Which cell to take of a ranking, and why that one.

``best``      the first of the ranking: of cells that tie, the one with fewer training
              errors, then the simplest
``simplest``  the simplest of all that tie with the best, whatever its training errors
``1se``       the simplest of all whose error rate p is within one standard error,
              sqrt(p(1 - p)/m) at the best, of the best one: m samples cannot tell them
              apart

Everywhere one order says which of two machines is simpler: the one with the smaller C,
and at the same C the one with the smoother kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from msvm_select.columns import CELL, RANKED_BY, Row, column_of, scored_columns
from msvm_select.errors import SettingsError
from msvm_select.results.ranking import (
    Results,
    same_cell,
    simplicity,
)
from msvm_select.settings.settings import check_rule

DEFAULT_BY = "loo"  # what rows are ranked by that do not tell it


@dataclass(frozen=True)
class Choice:
    """The row that a rule chose among the ``eligible``, whose value is <= ``limit``.

    ``tied`` cells have the value of the best one, itself among them.
    """

    rule: str
    row: Row
    tied: int
    eligible: int
    limit: float


def chosen(results: Results, rule: str = "best") -> Results:
    """The results with the choice that ``rule`` makes; with none, where none counts."""
    best = results.best
    check_rule(rule, results.rank_by)
    if best is None:
        return replace(results, choice=None)
    column = results.column
    least = best.value(column)
    limit = least + (standard_error(results, least) if rule == "1se" else 0.0)
    eligible = [row for row in results.counting if row.value(column) <= limit]
    row = in_order_of_choice(eligible, rule)[0]
    tied = sum(row.value(column) == least for row in eligible)
    return replace(results, choice=Choice(rule, row, tied, len(eligible), limit))


def in_order_of_choice(rows: Sequence[Row], rule: str) -> list[Row]:
    """Ranked rows in the order that the rule would take them."""
    return list(rows) if rule == "best" else sorted(rows, key=simplicity)


def as_chosen(
    results: Results, by: str | None = None, rule: str | None = None
) -> Results:
    """Results that were read from a file: ranked, and with the choice that counts.

    Without ``by`` they are ranked by what the file was ranked by. Without ``rule`` the
    choice of the file counts, as long as they are ranked by the same.
    """
    own = str(results.settings.get("rank_by") or DEFAULT_BY)
    ranked = results.ranked(by or own)
    choice = results.choice
    if rule or choice is None or results.column_of(own) != ranked.column:
        return chosen(ranked, rule or "best")
    # the file may have left the chosen row out
    same = next((row for row in ranked.rows if same_cell(row, choice.row)), choice.row)
    return replace(ranked, choice=replace(choice, row=same))


def standard_error(results: Results, rate: float) -> float:
    """sqrt(p(1 - p)/m) of an error rate p over the m samples that it was taken from."""
    return math.sqrt(rate * max(0.0, 1.0 - rate) / _judged(results))


def _judged(results: Results) -> float:
    """How many samples the rate is of: all, or those that were held out."""
    samples = results.rows[0].n_samples
    if samples < 1:
        raise SettingsError(
            "select: 1se must know how many samples there were, and the column "
            "n_samples is not there."
        )
    if column_of(results.column).criterion == "holdout":
        return max(1.0, samples * _held_out(results))
    return samples


def _held_out(results: Results) -> float:
    """The share that holdout was asked for with; a csv alone does not tell."""
    asked = {column: text for text, column in scored_columns(results.criteria).items()}
    name, colon, argument = asked.get(results.column, results.rank_by).partition(":")
    share = argument if colon else RANKED_BY[name].usual if results.criteria else ""
    with suppress(ValueError):
        return float(share)
    raise SettingsError(
        "select: 1se must know how large the share was that was held out, and the "
        "results do not tell: rank by holdout:SHARE, as in holdout:0.25."
    )


def choice_document(results: Results) -> dict[str, Any]:
    """What a JSON file says of the choice: the cell too, which may not be shown."""
    choice = results.choice
    assert choice is not None
    names = ("rank", *CELL, results.column)
    return {
        "select": choice.rule,
        "by": results.rank_by,
        **{name: choice.row.value(name) for name in names},
        "tied": choice.tied,
        "eligible": choice.eligible,
        "limit": choice.limit,
    }
