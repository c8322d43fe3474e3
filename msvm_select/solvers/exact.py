"""The exact solver: cycle steps to come near, Newton to be there.

A cell takes rounds of three roads, each cheap where it is used:

1. *Cycle steps* (``cycles``): O(m Q) each, about a microsecond at m = 150. From the
   warm start they find which variables are free; a loose tolerance is enough, since
   they would crawl from there.
2. *Block exchange* (``exchange``), tried where many variables are free: all wrong
   bounds put right at once and the system solved anew, two to six times in all. Where
   K is well conditioned it ends there, at any number of free variables.
3. *Newton on the face* (``face``), where the exchange runs away (smooth kernels) or few
   are free: one variable leaves at a time, its factor updated in O(n^2).

After each round the certificate is taken; the largest mean gain of a cycle that is left
sets how far the next cycle steps go. The dual rises in every round, so it ends.

This is the Newton system of all free variables, not the one split by class: with the
factor updated (3) or the conjugate gradients of (2) its size does not hurt, and a cell
on glass with 720 free variables takes some 10 ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from msvm_select.records import Dual, LeftOut
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver
from msvm_select.solvers.cycles import cycle_steps
from msvm_select.solvers.exchange import exchange
from msvm_select.solvers.face import newton_on_face
from msvm_select.solvers.leaving_out import leave_each_out
from msvm_select.solvers.left_out import leave_out
from msvm_select.solvers.workbench import Training

NEAR = 0.1  # gain of an arc at which the first cycle steps stop
EXCHANGE_FROM = 100  # free variables from which a block exchange is tried
EXCHANGES = 5  # rounds in which it is tried
PATIENCE = 60  # rounds after which K is seen to be singular: long rows of steps
MOST_ROUNDS = 80
MOST_FREE = 6000  # the largest factor kept: beyond, cycle steps alone finish
RIDGE = 1e-10
NO_LONG_CYCLES = 1e300
REFINEMENTS = 8


class Exact(Solver):
    """Cycle steps, block exchange and Newton on the face, to a certified optimum."""

    name: ClassVar[str] = "exact"
    summary: ClassVar[str] = "cycle steps, then Newton on the free variables (default)"

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """The optimum of ``dual``, begun at ``start`` if there is one."""
        began = time.perf_counter()
        training = self._train(Training(dual, start))
        if start is not None and training.gap > self.gap:
            # seldom, and only where K is nearly singular: the other end may be better
            again = self._train(Training(dual, None))
            training = min(training, again, key=lambda t: t.gap)
        return training.result(self.gap, time.perf_counter() - began)

    def leave_out(
        self,
        solution: Solution,
        *,
        every_margin: bool = False,
        jobs: int = 1,
        tell: Callable[[int, int], None] = lambda done, of: None,
    ) -> LeftOut:
        """Every sample judged by the machine without it; see ``leaving_out``."""
        return leave_each_out(
            solution, self._train, self.gap,
            every_margin=every_margin, jobs=jobs, tell=tell,
        )  # fmt: skip

    def _train(self, training: Training) -> Training:
        """Round after round, until the certificate holds."""
        training.step(NEAR, NO_LONG_CYCLES, 1000 + 20 * training.dual.m)
        training.certify()
        for turn in range(MOST_ROUNDS):
            if self._done(training):
                break
            if turn < EXCHANGES and _by_exchange(training) and self._done(training):
                break
            kept = training.A.copy(), training.F.copy(), training.gap
            _by_newton(training)
            training.certify()
            if training.gap > kept[2] and turn >= PATIENCE:
                training.A, training.F, _ = kept  # its system is too near to singular
                training.certify()
            if self._done(training):
                break
            fine = 0.2 * training.cycle
            brief = 60 + training.n_free
            training.step(fine, fine, brief if turn < PATIENCE else 50_000)
            training.refresh()
        training.refresh()
        training.snap()
        return training

    def _done(self, training: Training) -> bool:
        """Well below the gap that was asked for, so that the biases are sharp too."""
        return bool(training.gap <= 1e-2 * self.gap and training.cycle <= 1e-8)


def _by_exchange(training: Training) -> bool:
    """Try the block exchange; keep its point only when that certifies better."""
    if training.n_free < EXCHANGE_FROM:
        return False
    try:
        found = exchange(training.problem, training.A, training.F, training.b, 1e-11)
    except np.linalg.LinAlgError:
        return False
    training.solves += found.solves
    if not found.optimal:
        return False
    kept = training.A, training.F, training.gap
    training.A, training.F = found.alpha, found.F
    training.certify()
    if training.gap > kept[2]:
        training.A, training.F, _ = kept
        training.certify()
        return False
    return True


def _by_newton(training: Training) -> None:
    """Newton on the face, its factor brought up to date."""
    free, bench = training.n_free, training.bench
    if free > MOST_FREE:
        return
    if free > bench.U.shape[0]:
        bench.make_room(free, training.dual.Q)
    shift = max(float(training.diagonal.max(initial=0.0)), 1e-300)
    bench.n, made = newton_on_face(
        training.K, training.Z, bench.y, training.A, training.F, training.box,
        shift, RIDGE * shift, bench.U, bench.Y, bench.rows, bench.cols, bench.n,
        REFINEMENTS,
    )  # fmt: skip
    training.solves += made


def needs_compilation() -> bool:
    """Whether the kernels are yet to be compiled on this machine (some seconds, once).

    Read off the index of numba's cache, which knows the source that it was made from.
    """
    for kernel in (cycle_steps, leave_out):
        file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
        try:
            if file is not None and not file._load_index():
                return True
        except OSError:
            return True
    return False
