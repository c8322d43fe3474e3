"""K-fold cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.criteria.splits import complaints, folds, train_parts
from msvm_select.errors import SettingsError

DEFAULT_K = 5


class CrossValidation(Criterion):
    """The share of samples that the machine trained without their fold gets wrong.

    Folds are stratified and shuffled with a fixed seed: rows that are grouped by their
    source make unshuffled folds lie. The scaler is fitted within each training part.
    """

    name: ClassVar[str] = "cv"
    column: ClassVar[str] = "cv_error"
    kind: ClassVar[str] = "estimate"
    applies: ClassVar[str] = "always; other folds give another value"
    cost: ClassVar[str] = "K times the training"

    def __init__(self, K: int = DEFAULT_K, seed: int = 0) -> None:
        """``K`` folds, at least 2."""
        self.K, self.seed = K, seed

    @classmethod
    def parse(cls, argument: str | None, seed: int) -> CrossValidation:
        """``cv:K``; K = 5 when left out."""
        if argument is None:
            return cls(seed=seed)
        try:
            K = int(argument)
        except ValueError:
            K = 0
        if K < 2:
            raise SettingsError(
                f"cv:{argument}: the number of folds must be a whole number of at "
                "least 2, as in cv:5."
            )
        return cls(K, seed)

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """Errors over all folds / m; ``carry`` holds the folds with their machines."""
        splits = folds(cell.data.y, self.K, self.seed) if carry is None else ()
        parts = train_parts(cell, splits, carry)
        errors = sum(part.errors for part in parts)
        notes = complaints(parts, f"folds of cv:{self.K}")
        return Score({self.column: errors / cell.data.m}, parts, notes)
