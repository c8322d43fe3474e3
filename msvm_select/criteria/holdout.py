"""Training on a part, testing on the rest."""

from __future__ import annotations

from typing import Any, ClassVar

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.criteria.splits import complaints, holdout, train_parts
from msvm_select.errors import SettingsError

DEFAULT_SHARE = 0.25


class Holdout(Criterion):
    """The error rate on a share of the samples that the machine is trained without.

    The split is stratified and shuffled with a fixed seed; the scaler is fitted on the
    training part.
    """

    name: ClassVar[str] = "holdout"
    column: ClassVar[str] = "holdout_error"
    kind: ClassVar[str] = "estimate"
    applies: ClassVar[str] = "always; another share gives another value"
    cost: ClassVar[str] = "once the training"

    def __init__(self, share: float = DEFAULT_SHARE, seed: int = 0) -> None:
        """``share`` of the samples to test with, between 0 and 1."""
        self.share, self.seed = share, seed

    @classmethod
    def parse(cls, argument: str | None, seed: int) -> Holdout:
        """``holdout:SHARE``; 0.25 when left out."""
        if argument is None:
            return cls(seed=seed)
        try:
            share = float(argument)
        except ValueError:
            share = 0.0
        if not 0.0 < share < 1.0:
            raise SettingsError(
                f"holdout:{argument}: the share must lie between 0 and 1, as in "
                "holdout:0.25."
            )
        return cls(share, seed)

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """Errors / tested; ``carry`` holds the part with its machine."""
        splits = () if carry else (holdout(cell.data.y, self.share, self.seed),)
        parts = train_parts(cell, splits, carry)
        error = parts[0].errors / parts[0].y_test.size
        notes = complaints(parts, f"machines of holdout:{self.share:g}")
        return Score({self.column: error}, parts, notes)
