"""The machine of Weston and Watkins: one problem for all classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from msvm_select.left_out import Asked, LeftOut
from msvm_select.machines.base import Machine, Task
from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solution import Solution, onward

if TYPE_CHECKING:
    from msvm_select.solvers.base import Solver


class WestonWatkins(Machine):
    """h_k(x) = <w_k, Phi(x)> + b_k, k = 1..Q, trained all at once; the largest wins."""

    name = "ww"

    def _trained(self, task: Task, last: Any) -> Solution:
        """The optimum of the one problem, begun at the last."""
        dual = self.loss.dual(task.gram, task.y, task.Q, task.C, task.weights)
        return onward(task.solver, dual, last, task.certain)

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
        self, solver: Solver, machine: Any, **asked: Unpack[Asked]
    ) -> LeftOut:
        """By the solver's own road."""
        return solver.leave_out(machine, **asked)

    def without(
        self, solver: Solver, machine: Any, samples: Mask, moved: Floats | None = None
    ) -> tuple[Solution, Ints]:
        """The one problem less these samples."""
        return solver.without(machine, samples), np.flatnonzero(~samples)
