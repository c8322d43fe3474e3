"""The machine of Weston and Watkins: one problem for all classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.left_out import LeftOut, Tell, Watch, quiet, unwatched
from msvm_select.machines.base import Machine
from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solution import Solution, onward

if TYPE_CHECKING:
    from msvm_select.solvers.base import Solver


class WestonWatkins(Machine):
    """h_k(x) = <w_k, Phi(x)> + b_k, k = 1..Q, trained all at once; the largest wins."""

    name = "ww"

    def train(
        self,
        solver: Solver,
        gram: Gram,
        y: Ints,
        Q: int,
        C: float,
        last: Any = None,
        certain: bool = True,
        jobs: int = 1,
        weights: Floats | None = None,
    ) -> Solution:
        """The optimum of the one problem, begun at the last."""
        dual = self.loss.dual(gram, y, Q, C, weights)
        return onward(solver, dual, last, certain)

    def on(self, gram: Gram, machine: Any) -> Solution:
        """With the dual of its loss."""
        old = machine.dual
        dual = replace(old, gram=gram)
        if gram.held and self.loss.name != "l1":
            dual = self.loss.dual(gram, old.y, old.Q, old.weight, old.weights)
        return Solution(
            dual, machine.tau, machine.F, machine.work, machine.converged,
            machine.reason,
        )  # fmt: skip

    def leave_out(
        self,
        solver: Solver,
        machine: Any,
        *,
        every_margin: bool = False,
        proven: bool = True,
        only: Mask | None = None,
        jobs: int = 1,
        tell: Tell = quiet,
        watch: Watch = unwatched,
    ) -> LeftOut:
        """By the solver's own road."""
        return solver.leave_out(
            machine, every_margin=every_margin, proven=proven, only=only,
            jobs=jobs, tell=tell, watch=watch,
        )  # fmt: skip

    def without(
        self, solver: Solver, machine: Any, samples: Mask
    ) -> tuple[Solution, Ints]:
        """The one problem less these samples."""
        return solver.without(machine, samples), np.flatnonzero(~samples)
