"""How well each criterion chooses, held against exact leave-one-out over the grid.

Of each criterion: the cell that it ranks first and that cell's exact leave-one-out
rate; the *regret*, this rate less the smallest one of the grid; *kendall*, the rank
correlation (tau-b) of its values with the leave-one-out rates, over the cells that have
both; how many cells it scores, and in how many of them it applies; the seconds that it
took and their share of all (training and criteria together).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from msvm_select.columns import CELL, Row, holds
from msvm_select.names import CRITERIA
from msvm_select.records import Plain, finite
from msvm_select.results.ranking import Results, kendall

CHOICE = (
    *("criterion", "kind", *CELL, "score", "loo_rate", "regret", "kendall"),
    *("cells", "applies", "seconds", "share"),
)


@dataclass(frozen=True)
class Comparison:
    """A sweep by several criteria, exact leave-one-out among them, and their cost."""

    results: Results
    seconds: Mapping[str, float]

    @cached_property
    def rows(self) -> tuple[dict[str, Plain], ...]:
        """One row a criterion, in the order that they were asked for."""
        return tuple(self._row(text) for text in self.results.settings["criteria"])

    @property
    def training(self) -> float:
        """Seconds that the training took."""
        return max(0.0, self.total - sum(self.seconds.values()))

    @property
    def total(self) -> float:
        """Seconds of training and criteria."""
        return sum(row.seconds or 0.0 for row in self.results.rows)

    @property
    def least(self) -> float | None:
        """The smallest leave-one-out rate of the grid."""
        rates = [row.loo_rate for row in self.judged]
        return min((rate for rate in rates if rate is not None), default=None)

    @property
    def judged(self) -> list[Row]:
        """The cells with an exact leave-one-out."""
        rows = self.results.rows
        return [row for row in rows if row.status == "ok" and row.loo_rate is not None]

    def _row(self, criterion: str) -> dict[str, Plain]:
        column = self.results.column_of(criterion)
        scored = [row for row in self.judged if row.value(column) is not None]
        seconds = self.seconds.get(criterion, 0.0)
        row: dict[str, Plain] = dict.fromkeys(CHOICE)
        row |= {
            "criterion": criterion,
            "kind": CRITERIA[criterion.partition(":")[0]].kind,
            "cells": len(scored),
            "applies": sum(holds(row, column) for row in scored),
            "seconds": seconds,
            "share": seconds / self.total if self.total > 0.0 else None,
        }
        if scored:
            row |= self._choice(criterion, column, scored)
        return row

    def _choice(
        self, criterion: str, column: str, scored: list[Row]
    ) -> dict[str, Plain]:
        """The cell that it picks, and how its values go with the truth."""
        pick = self.results.ranked(criterion).rows[0]
        rate, least = pick.loo_rate, self.least
        return {
            **{name: pick.value(name) for name in CELL},
            "score": finite(pick.value(column)),
            "loo_rate": rate,
            "regret": None if rate is None or least is None else rate - least,
            "kendall": kendall(
                [row.value(column) for row in scored],
                [row.loo_rate or 0.0 for row in scored],
            ),
        }
