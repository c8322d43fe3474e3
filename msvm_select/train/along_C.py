"""The cells of one kernel setting: C ascending, each start the last solution."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from msvm_select.criteria.base import Cell
from msvm_select.errors import KernelError, SolverError
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.mercer import INDEFINITE, is_indefinite, smallest_eigenvalue
from msvm_select.machines.base import Machine
from msvm_select.names import MACHINES, SOLVERS
from msvm_select.records import Dataset, Dual, Floats, Gram, Scaling
from msvm_select.row import Row
from msvm_select.settings import Settings
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver
from msvm_select.sweep.progress import (
    CellProgress,
    CellStarted,
    Event,
    GramTested,
    Progress,
    silent,
)
from msvm_select.sweep.scoring import Scoring


def make_solver(settings: Settings) -> Solver:
    """The solver that is asked for, with its options."""
    options: dict[str, Any] = {"gap": settings.gap}
    if settings.qp_backend is not None:
        options["backend"] = settings.qp_backend
    return SOLVERS[settings.solver](**options)


@dataclass(frozen=True, eq=False)
class Chain:
    """The cells of one kernel setting, C ascending; ``known``: the rows there are."""

    data: Dataset
    scaling: Scaling
    X: Floats
    kernel: Kernel
    settings: Settings
    known: Mapping[float, Row] = field(default_factory=dict)
    jobs: int = 1
    progress: Progress = silent

    def run(self) -> Iterator[Event | Row]:
        """The rows that are not known, with what there is to tell on the way."""
        for item in self._run():
            if not isinstance(item, Row) or item.C not in self.known:
                yield item

    def _run(self) -> Iterator[Event | Row]:
        began = time.perf_counter()
        try:
            gram = self.kernel.gram(self.X)
        except KernelError as error:
            yield from (self._failed(C, str(error)) for C in self.settings.C)
            return
        smallest = smallest_eigenvalue(gram, self.kernel.always_psd)
        indefinite = is_indefinite(smallest, gram)
        seconds = time.perf_counter() - began
        yield GramTested(self.kernel, smallest, indefinite, seconds)
        warning = INDEFINITE.format(smallest) if indefinite else ""
        if indefinite and not self.settings.allow_indefinite:
            reason = f"{warning}; --allow-indefinite trains it all the same"
            yield from (self._failed(C, reason) for C in self.settings.C)
            return
        yield from self._trained(gram, warning)

    @property
    def _path(self) -> list[float]:
        """The C to train at: where rows lack and, for warm starts, what leads there.

        A cell starts where the one before it ended, and is the same to the last bit
        only if that is done over.
        """
        lacking = [C for C in self.settings.C if C not in self.known]
        if not self.settings.warm_start:
            return lacking
        return [C for C in self.settings.C if C <= max(lacking, default=0.0)]

    def _trained(self, gram: Gram, warning: str) -> Iterator[Event | Row]:
        """C upward; ``warning`` says what is wrong with the Gram matrix, if so."""
        solver = make_solver(self.settings)
        machine = MACHINES[self.settings.loss]()
        last: Solution | None = None
        scoring = Scoring(self.kernel, self.settings, self.progress)
        for C in self._path:
            yield CellStarted(self.kernel, C)
            dual = machine.dual(gram, self.data.y, self.data.Q, C)
            try:
                solution = self._solved(solver, dual, last, certain=not warning)
            except SolverError as error:
                yield self._failed(C, str(error))
                continue
            last = solution if self.settings.warm_start else None
            cell = replace(self._cell(machine, solver, solution), mercer=not warning)
            row = self.known.get(C)
            if row is not None and row.status != "failed":
                scoring.pass_by(cell)
            else:
                yield self._row(C, **scoring.columns(cell, warning))

    def _solved(
        self, solver: Solver, dual: Dual, last: Solution | None, certain: bool
    ) -> Solution:
        """Trained, or the last solution itself where no larger C can change it."""
        if last is None:
            return solver.solve(dual)
        same = last.at(dual, solver.gap) if certain else None
        return same or solver.solve(dual, start=last.start_of(dual))

    def _cell(self, machine: Machine, solver: Solver, solution: Solution) -> Cell:
        tell = partial(self._tell, solution.dual.weight)
        return Cell(
            self.data, self.scaling, self.kernel, solver, solution,
            self.jobs, tell, self.settings.constants, machine.dual,
        )  # fmt: skip

    def _tell(self, C: float, done: int, of: int) -> None:
        self.progress(CellProgress(self.kernel, C, done, of))

    def _failed(self, C: float, reason: str) -> Row:
        return self._row(C, status="failed", status_reason=reason)

    def _row(self, C: float, **columns: Any) -> Row:
        point: dict[str, Any] = {
            "kernel": self.kernel.name,
            **self.kernel.parameters,
            "C": C,
            "solver": self.settings.solver,
            "n_samples": self.data.m,
            "n_classes": self.data.Q,
            "loss": None if self.settings.loss == "l1" else self.settings.loss,
        }
        return Row(**point, **columns)
