"""The criteria along one chain of cells, with what each keeps for the next C."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from msvm_select.criteria.base import Cell
from msvm_select.errors import KernelError, SolverError
from msvm_select.kernels.base import Kernel
from msvm_select.settings import Settings
from msvm_select.sweep.progress import Progress, Scored
from msvm_select.sweep.rows import measured


class Scoring:
    """Scores the cells of one kernel setting, C ascending."""

    def __init__(self, kernel: Kernel, settings: Settings, progress: Progress) -> None:
        """Without warm starts nothing is kept from one C to the next."""
        self.kernel, self.progress = kernel, progress
        self.warm_start = settings.warm_start
        self.criteria = list(
            zip(settings.criteria, settings.parsed_criteria(), strict=True)
        )
        self._carries: list[Any] = [None] * len(self.criteria)
        self._passed: list[Cell] = []

    def pass_by(self, cell: Cell) -> None:
        """A cell whose row is known: it matters for what the criteria keep alone."""
        self._passed.append(cell)

    def columns(self, cell: Cell, warning: str) -> dict[str, Any]:
        """The columns of the cell's row; ``warning`` is told among its reasons."""
        self._catch_up()
        columns = measured(cell.solution)
        reasons = [warning, cell.solution.reason]
        for i, (name, criterion) in enumerate(self.criteria):
            began = time.perf_counter()
            try:
                score = criterion.score(cell, self._carries[i])
            except (SolverError, KernelError) as error:
                columns["status"] = "failed"
                reasons.append(f"{name}: {error}")
                break
            seconds = time.perf_counter() - began
            C = cell.solution.dual.weight
            self.progress(Scored(self.kernel, C, name, seconds))
            self._carries[i] = score.carry if self.warm_start else None
            columns |= score.columns
            if score.notes:
                columns["status"] = "not_converged"
                reasons += score.notes
        columns["status_reason"] = "; ".join(reason for reason in reasons if reason)
        return columns

    def _catch_up(self) -> None:
        """Bring what the criteria keep to where it was after the cells passed by."""
        passed, self._passed = self._passed, []
        if not passed or not self.warm_start:
            return
        for i, (_, criterion) in enumerate(self.criteria):
            with suppress(SolverError, KernelError):
                self._carries[i] = criterion.carried(passed, self._carries[i])
