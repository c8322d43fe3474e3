"""What moved between two runs: the best cell, single cells, their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from msvm_select.results.correlation import kendall
from msvm_select.results.moves import Pair, by_cell, rise, value_of
from msvm_select.results.ranking import Results, ranking_column
from msvm_select.row import Row

SAMPLES = ("n_samples", "n_classes")


@dataclass(frozen=True)
class Against:
    """Two runs, ranked by the same: ``after``, held against ``before``."""

    before: Results
    after: Results

    @property
    def column(self) -> str:
        """What both are ranked by."""
        return ranking_column(self.after.rank_by)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """All cells of both."""
        old, new = by_cell(self.before), by_cell(self.after)
        return tuple(
            Pair(old.get(key), new.get(key), self.column)
            for key in dict.fromkeys([*new, *old])
        )

    @property
    def both(self) -> list[Pair]:
        """The cells that are in both."""
        return [pair for pair in self.pairs if pair.before and pair.after]

    @cached_property
    def moves(self) -> list[Pair]:
        """What moved, the gravest first."""
        return sorted((p for p in self.pairs if p.moved), key=lambda pair: pair.weight)

    @property
    def change(self) -> float | None:
        """By how much the value of the best cell rose; None where one has no best."""
        return rise(
            value_of(self.before.best, self.column),
            value_of(self.after.best, self.column),
        )

    @property
    def kendall(self) -> float | None:
        """Kendall's rank correlation of the two, over the cells with both values."""
        ok = [p for p in self.both if {p.row.status, _status(p.before)} == {"ok"}]
        known = [p.values for p in ok if None not in p.values]
        old, new = [v[0] or 0.0 for v in known], [v[1] or 0.0 for v in known]
        return kendall(old, new) if known else None

    @property
    def notes(self) -> list[str]:
        """Why the two may not be comparable."""
        old, new = self.before.rows[0], self.after.rows[0]
        pairs = [(name, getattr(old, name), getattr(new, name)) for name in SAMPLES]
        return [
            f"The runs are of different data: {name} was {before} and is {now} now."
            for name, before, now in pairs
            if before and now and before != now
        ]

    def worsened(self, tolerance: float = 0.0) -> str | None:
        """That the best cell got worse by more than ``tolerance``, if it did."""
        before, after = self.before.best, self.after.best
        if before is None:
            return None
        old = value_of(before, self.column)
        if after is None:
            return f"no cell has a score by {self.after.rank_by} now; it was {old:.6g}"
        change = self.change or 0.0
        if change <= tolerance:
            return None
        more = f", which is more than {tolerance:.6g}" if tolerance else ""
        return (
            f"{self.column} {value_of(after, self.column):.6g} of the best cell "
            f"({after.cell}) is {change:.6g} above the {old:.6g} of before{more}"
        )


def _status(row: Row | None) -> str:
    return "" if row is None else row.status
