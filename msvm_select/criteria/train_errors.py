"""Errors on the training samples."""

from __future__ import annotations

from typing import Any, ClassVar

from msvm_select.criteria.base import Cell, Criterion, Score


class TrainErrors(Criterion):
    """The number of training samples with h_{y_i} <= max_{k != y_i} h_k."""

    name: ClassVar[str] = "train-errors"
    column: ClassVar[str] = "train_errors"
    kind: ClassVar[str] = "index"
    applies: ClassVar[str] = "always; too low, the more so the larger C"
    cost: ClassVar[str] = "nothing"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The count."""
        return Score({self.column: cell.solution.train_errors})
