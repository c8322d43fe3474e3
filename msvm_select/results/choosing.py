"""Which cell to take of a ranking, and why that one.

``best``: the first of the ranking, which gives ties to the smaller C, then to the
smoother kernel. ``simplest``: the simplest of all that tie with it. ``1se``: the
simplest of all whose error rate p is within one standard error, sqrt(p(1 - p)/m) at the
best, of the best one: what m samples cannot tell apart is not told apart.

Of two machines the one with the smoother kernel is the simpler, and only then the one
with the smaller C. The kernel decides what the machine could express at all (a linear
one is simpler than a Gaussian one at whatever C), C only how far the samples may push
it there. Of the cells that do alike, the smallest C often comes with the roughest
kernel, in which nearly every sample is a support vector: nobody would call it simple.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from msvm_select.criteria.holdout import Holdout
from msvm_select.errors import SettingsError
from msvm_select.names import CRITERIA
from msvm_select.phrases import listed
from msvm_select.results.ranking import Results, ranking_column, roughness
from msvm_select.row import CELL, Row

RATES = ("loo_rate", "cv_error", "holdout_error", "span_rate")  # shares of samples


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
    column = ranking_column(results.rank_by)
    least = getattr(best, column)
    limit = least + (standard_error(results, least) if rule == "1se" else 0.0)
    eligible = [row for row in results.counting if getattr(row, column) <= limit]
    row = in_order_of_choice(eligible, rule)[0]
    tied = sum(getattr(row, column) == least for row in eligible)
    return replace(results, choice=Choice(rule, row, tied, len(eligible), limit))


def in_order_of_choice(rows: Sequence[Row], rule: str) -> list[Row]:
    """Ranked rows in the order that the rule would take them."""
    return list(rows) if rule == "best" else sorted(rows, key=_simplicity)


def check_rule(rule: str, by: str) -> None:
    """Refuse one standard error of what is no error rate."""
    if rule != "1se" or ranking_column(by) in RATES:
        return
    rates = [name for name, kind in CRITERIA.items() if kind.column in RATES]
    raise SettingsError(
        f"select: 1se takes the standard error of an error rate, and {by!r} is none: "
        f"rank by one of {listed(rates)}, or choose by best or simplest."
    )


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
    if ranking_column(results.rank_by) == Holdout.column:
        return max(1.0, samples * _held_out(results))
    return samples


def _held_out(results: Results) -> float:
    """The share that holdout was asked for with; a csv alone does not tell."""
    criteria = results.settings.get("criteria", ())
    for text in (results.rank_by, *criteria):
        name, colon, argument = text.partition(":")
        if name == Holdout.name and (colon or text in criteria):
            return Holdout.parse(argument or None, 0).share
    raise SettingsError(
        "select: 1se must know how large the share was that was held out, and the "
        "results do not tell: rank by holdout:SHARE, as in holdout:0.25."
    )


def _simplicity(row: Row) -> tuple[Any, ...]:
    return roughness(row), row.C, row.rank


def choice_document(choice: Choice, by: str) -> dict[str, Any]:
    """What a JSON file says of the choice: the cell too, which may not be shown."""
    names = ("rank", *CELL, ranking_column(by))
    return {
        "select": choice.rule,
        "by": by,
        **{name: getattr(choice.row, name) for name in names},
        "tied": choice.tied,
        "eligible": choice.eligible,
        "limit": choice.limit,
    }
