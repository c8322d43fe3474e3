"""The share of support vectors."""

from __future__ import annotations

from typing import Any, ClassVar

from msvm_select.criteria.base import Cell, Criterion, Score


class SupportCount(Criterion):
    """n_SV / m: a bound on the leave-one-out error rate, where b is unique.

    Without a sample whose alpha are all zero the optimum stays as it is; so only
    support vectors (training errors are some) can be wrong when they are left out.
    """

    name: ClassVar[str] = "sv-rate"
    column: ClassVar[str] = "sv_rate"
    kind: ClassVar[str] = "bound"
    applies: ClassVar[str] = "of loo_rate, where b is unique"
    cost: ClassVar[str] = "nothing"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The share."""
        return Score({self.column: cell.solution.n_sv / cell.solution.dual.m})
