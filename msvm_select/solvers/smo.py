"""Cycle steps alone, with shrinking: for sizes where Newton's block does not fit.

Sequential minimal optimisation for many classes: two-cycles of the class graph, longer
cycles where no two-cycle gains.  Memory is the Gram matrix (or its factor) and 2 m Q
numbers.  *Shrinking*: samples whose variables all sit firmly at a bound cannot move for
now; the steps then run on the problem of the others, copied together, and F is brought
up to date by one product.  Before it ends, the certificate is taken on all samples.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from msvm_select.records import Dual
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver
from msvm_select.solvers.exact.cycles import cycle_steps
from msvm_select.solvers.exact.workbench import Training
from msvm_select.solvers.least_norm import least_norm

SHRINK_FROM = 500  # samples below which nothing is gained by shrinking
WORTH = 0.6  # share of samples that must be left for a copy to pay
MOST_STEPS = 20_000_000
BURST = 100_000  # steps between two certificates


class Smo(Solver):
    """Cycle steps to a gap; first order, so choose it for size, not for digits."""

    name = "smo"
    default_gap = 1e-3

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """The optimum of ``dual`` to the gap, begun at ``start`` if there is one."""
        began = time.perf_counter()
        training = Training(dual, start)
        near = 100.0 * self.gap  # at a tiny C the gap alone is small before any step
        while (
            training.gap > self.gap or training.cycle > near
        ) and training.steps < MOST_STEPS:
            before = training.steps
            fine = max(0.2 * training.cycle, 1e-12)
            active = _movable(training, 10.0 * training.cycle)
            if dual.m >= SHRINK_FROM and active.mean() < WORTH:
                _step_on(training, np.flatnonzero(active), fine)
            else:
                training.step(fine, fine, BURST)
            training.certify()
            if training.steps == before:
                break
        training.refresh()
        training.snap()
        return least_norm(training.result(self.gap, time.perf_counter() - began))


def _movable(training: Training, firm: float) -> NDArray[np.bool_]:
    """Samples with a variable between its bounds or less than ``firm`` held at one."""
    y, box, A = training.bench.y, training.box, training.A
    b = np.where(np.isfinite(training.b), training.b, -1e300)
    pull = 1.0 - training.problem.gradient_of(training.F) - (b[y] - b[:, None])
    at_low, at_high = (A <= 0.0) & (pull < -firm), (A >= box) & (pull > firm)
    held = at_low | at_high
    held[y, np.arange(y.size)] = True
    return np.asarray(~held.all(axis=0))


def _step_on(training: Training, active: NDArray[np.int64], fine: float) -> None:
    """Cycle steps on the active samples alone; the rest of F follows by a product."""
    bench, dual = training.bench, training.dual
    A = np.ascontiguousarray(training.A[:, active])
    F = np.ascontiguousarray(training.F[:, active])
    offsets = np.searchsorted(bench.y[active], np.arange(dual.Q + 1)).astype(np.int64)
    K, Z = training.K, training.Z
    if bench.sorted_gram.factor is None:
        K = np.ascontiguousarray(K[np.ix_(active, active)])
    else:
        Z = np.ascontiguousarray(Z[active])
    made, _ = cycle_steps(
        K, Z, training.diagonal[active], A, F, offsets, training.box[active],
        fine, fine, BURST,
    )  # fmt: skip
    change = np.zeros_like(training.A)
    change[:, active] = A - training.A[:, active]
    training.A[:, active] = A
    training.F += training.problem.outputs(change)
    training.steps += made
