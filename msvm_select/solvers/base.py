"""The contract of a solver: Dual + start -> Solution.

Whatever the road, the answer is the optimum of the same Dual to relative duality gap
``gap``. A start is an earlier Solution on the same samples, scaled by C_new / C_old:
alpha stays feasible and what was at a bound stays there. A solver that ends short of
its gap says so in ``converged`` and ``reason``; one that has no answer raises
SolverError.

Where many alpha are optimal, the answer has the one of least norm (``least_norm``).

``leave_out`` judges every sample by the machine without it. Here each support vector is
trained without, from the full solution: as exact as the gap, whatever the solver. A
solver that knows a faster road takes that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from msvm_select.left_out import LeftOut
from msvm_select.records import Dual
from msvm_select.solution import Solution
from msvm_select.solvers.leave_out.retraining import retrain_each

Tell = Callable[[int, int], None]

RESIDUE = 1e-10  # of the box: so near to a bound is at it, but for rounding


def quiet(done: int, of: int) -> None:
    """Tell nobody."""


class Solver(ABC):
    """Trains one machine after another; holds options, never the state of a run."""

    name: ClassVar[str]
    default_gap: ClassVar[float] = 1e-8

    def __init__(self, gap: float | None = None) -> None:
        """``gap``: the relative duality gap at which the machine counts as trained."""
        self.gap = self.default_gap if gap is None else gap

    @abstractmethod
    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """The optimum of ``dual``, begun at ``start`` if there is one."""

    def leave_out(
        self,
        solution: Solution,
        *,
        every_margin: bool = False,
        jobs: int = 1,
        tell: Tell = quiet,
    ) -> LeftOut:
        """Every sample judged by the machine without it, in the order of the data.

        ``every_margin`` also trains what the training margin decides; ``jobs`` threads
        may be used; ``tell(done, of)`` hears how many samples are through.
        """
        return retrain_each(self.solve, solution, every_margin=every_margin, tell=tell)


def scaled_start(dual: Dual, start: Solution | None) -> NDArray[np.float64]:
    """tau (m, Q) to begin with: the start times C_new / C_old, or zero."""
    if start is None:
        return np.zeros((dual.m, dual.Q))
    return start.tau * (dual.C / start.dual.C)
