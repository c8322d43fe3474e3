"""The exact solver: cycle steps to come near, Newton to be there.

A cell takes rounds of three roads, each cheap where it is used:

1. *Cycle steps* (``cycles``): O(m Q) each, about a microsecond at m = 150. From the
   warm start they find which variables are free; a loose tolerance is enough, since
   they would crawl from there.
2. *Block exchange* (``exchange``), tried where many variables are free: all wrong
   bounds put right at once and the system solved anew, two to six times in all. Where
   K is well conditioned it ends there, at any number of free variables. The system is
   split by class (``classes``) where that is cheaper, and what is wrong in the end is
   put right around its factor (``together``). Where it goes round in circles, long
   cycle steps bring it a nearer start.
3. *Newton on the face* (``face``), where the exchange runs away (smooth kernels) or few
   are free: one variable leaves at a time, its factor updated in O(n^2).

After each round the certificate is taken; the largest mean gain of a cycle that is left
sets how far the next cycle steps go. The dual rises in every round, so it ends.

The system of (3) is that of all free variables: with its factor updated its size does
not hurt, and a cell on glass with 720 free variables takes some 10 ms.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from msvm_select.left_out import LeftOut, Tell, Watch, quiet, unwatched
from msvm_select.parts import FACTS, Composed, Parts, Told
from msvm_select.records import Blocks, Dual, Mask
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver, keep_part
from msvm_select.solvers.exact.exchange import (
    FACE_UP_TO,
    MOST_DIRECT,
    Exchanged,
    exchange,
    refined,
)
from msvm_select.solvers.exact.face import newton_on_face
from msvm_select.solvers.exact.shrinking import shrunk
from msvm_select.solvers.exact.twins import Twins
from msvm_select.solvers.exact.workbench import Training
from msvm_select.solvers.least_norm import least_norm, tells_all_apart
from msvm_select.solvers.leave_out.every_sample import judge_every_sample
from msvm_select.solvers.two_class import batch

FIRST_GAIN = 0.1  # gain of an arc at which the first cycle steps stop
NEXT_GAIN = 0.05  # and of a cycle, where a far start would cost many systems
EXCHANGE_FROM = 160  # free variables from which a block exchange is tried
FINER = 0.05  # of the largest gain that is left: where a nearer start begins,
MOST_FINER = 2  # and its steps, by the number of variables
GAIN_ROUNDING = 2e-15  # of a gain near 1
EXCHANGE_TOLERANCE = 1e-11  # of r at a bound
FEW_AT_TOP = 0.03  # of the variables that are not 0
AGAIN = 2  # times as many free variables: it is tried again where it ran away
TRIES = 5  # rounds in which it is tried
HOPELESS = 2  # systems up to which running away is final
LONG = 40  # rounds from which it is asked whether the dual still rises
PATIENCE = 5  # rounds in which it does not: K is nearly singular, long rows of steps
MOST_STALLED = 15
MOST_ROUNDS = 3000
MOST_FREE = 6000  # the largest factor kept: beyond, cycle steps alone finish
FACE_RIDGE = 1e-10
NO_LONG_CYCLES = 1e300
REFINEMENTS = 8
SHARPER = 4  # steps of iterative refinement
LENIENT = 1e-7  # a gap beyond it is met by cycle steps where they can
WALKS_IN_VAIN = 5
SMALLER = 1000.0  # times, where a training begins that failed at C itself
NOT_FAR = 1e3  # times the gap that was asked for: what is missing may be rounding


class Exact(Solver):
    """Cycle steps, block exchange and Newton on the face, to a certified optimum."""

    name = "exact"

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """The optimum of ``dual``, begun at ``start`` if there is one."""
        twins = Twins.of(dual)
        if twins is None:
            return least_norm(self._solved(dual, start))
        begun = None if start is None else twins.together(start)
        found = twins.apart(dual, self._solved(twins.merged(dual), begun))
        unique = twins.are_equal(dual.box) and tells_all_apart(twins.gram)
        return found if unique else least_norm(found)  # equal parts have the least norm

    def _solved(self, dual: Dual, start: Solution | None) -> Solution:
        """An optimum, where no two samples of a class are at one place."""
        began = time.perf_counter()
        training = self._train(Training(dual, start))
        if not training.certified(self.gap):
            other = self._train(self._otherwise(training, start))
            training = min(training, other, key=lambda t: abs(t.gap))
        return training.result(self.gap, time.perf_counter() - began)

    def _otherwise(self, training: Training, start: Solution | None) -> Training:
        """The same, begun at the other end: at 0, or at the optimum of a smaller C.

        Seldom, and only where K is nearly singular.
        """
        dual = training.dual
        if start is not None or dual.quadratic is not None:
            return Training.shut(training, np.zeros_like(training.A), None)
        near = self._train(Training(replace(dual, C=dual.C / SMALLER), None))
        return Training(dual, near.result(self.gap, 0.0))

    def solve_parts(
        self, parts: Parts, last: Composed | None = None, jobs: int = 1
    ) -> tuple[Told, float]:
        """By the kernels of two classes, all parts in a few calls.

        These take a positive semi-definite K for granted, and hold that of a part. A
        part that they leave above the gap (K nearly singular, C huge) is trained by
        itself.
        """
        if parts.one_by_one:
            return super().solve_parts(parts, last, jobs)
        told, seconds = batch.train(parts, last, jobs)
        began, gaps = time.perf_counter(), told.facts[:, FACTS.index("gap")]
        for t in np.flatnonzero(~(gaps <= self.gap)).tolist():
            found = self.solve(parts.dual(t))
            if not found.gap >= gaps[t]:
                keep_part(parts, t, found, told.alpha, told.f, told.facts)
        found_all = told._replace(f=parts.towards(told.f))
        return found_all, seconds + time.perf_counter() - began

    def leave_parts_out(
        self,
        machine: Composed,
        *,
        only: Mask | None = None,
        jobs: int = 1,
        tell: Tell = quiet,
    ) -> LeftOut:
        """Likewise."""
        if machine.parts.one_by_one:
            return super().leave_parts_out(machine, only=only, jobs=jobs, tell=tell)
        return batch.leave_out(machine, only, jobs, tell)

    def leave_out(
        self,
        solution: Solution,
        *,
        every_margin: bool = False,
        proven: bool = True,
        only: Mask | None = None,
        jobs: int = 1,
        tell: Tell = quiet,
        watch: Watch = unwatched,
    ) -> LeftOut:
        """From the factor of the full machine; see ``leave_out/every_sample``.

        That takes an optimum. A machine of a loose gap is trained on to one first.
        """
        if self.gap > LENIENT:
            sharp = Exact()
            return sharp.leave_out(
                sharp.solve(solution.dual, solution),
                every_margin=every_margin, proven=proven, only=only, jobs=jobs,
                tell=tell, watch=watch,
            )  # fmt: skip
        return judge_every_sample(
            solution, self._train, self.gap,
            every_margin=every_margin, proven=proven, only=only, jobs=jobs,
                tell=tell, watch=watch,
        )  # fmt: skip

    def _train(self, training: Training) -> Training:
        """Round after round, until the certificate holds."""
        if isinstance(training.bench.sorted_gram, Blocks):
            return shrunk(training, self._train)
        _from_wider_boxes(training)
        if not self._done(training):
            training.step(FIRST_GAIN, NO_LONG_CYCLES, 1000 + 10 * training.A.size)
            training.certify()
            if training.n_free > FACE_UP_TO and _exchange_pays(training):
                training.step(NEXT_GAIN, NEXT_GAIN, training.A.size)
                training.certify()
        if self.gap > LENIENT:
            self._walk(training)
        best, since, tries = -np.inf, 0, TRIES
        for turn in range(MOST_ROUNDS):
            if self._done(training) or since > MOST_STALLED:
                break
            if turn >= LONG:  # the gap jumps about; the dual rises while Newton gains
                dual = training.dual_value()
                since = 0 if dual > best + 1e-12 * abs(best) else since + 1
                best = max(best, dual)
            stalled = since > PATIENCE
            if tries and _exchange_pays(training):
                near, tries = _by_exchange(training), tries - 1
                if self._done(training):
                    break
                if near and tries and training.n_free > FACE_UP_TO:
                    # a walk among so many costs more than a nearer start
                    finer = FINER * training.cycle
                    training.step(finer, finer, MOST_FINER * training.A.size)
                    training.certify()
                    continue
            if stalled:
                kept = training.A.copy(), training.F.copy(), training.gap
            _by_newton(training)
            training.certify()
            if stalled and training.gap > kept[2]:
                training.A, training.F, _ = kept  # its system is too near to singular
                training.certify()
            if self._done(training):
                break
            fine = 0.2 * max(training.cycle, 0.0)
            training.step(fine, fine, 50_000 if stalled else 60 + training.n_free)
            training.refresh()
        training.refresh()
        training.snap()
        if self.gap < abs(training.gap) < NOT_FAR * self.gap:
            _by_refinement(training)
        return training

    def _walk(self, training: Training) -> None:
        """Cycle steps alone, as long as they bring a loose gap nearer."""
        patience = WALKS_IN_VAIN
        while patience and not self._done(training):
            before, fine = abs(training.gap), max(0.2 * training.cycle, 1e-12)
            training.step(fine, fine, 10 * training.A.size)
            training.certify()
            if abs(training.gap) > 0.7 * before:
                patience -= 1

    def _done(self, training: Training) -> bool:
        """Well below the gap that was asked for, so that the biases are sharp too.

        At a small C the outputs are as small, and decide nonetheless. Who asks for a
        loose gap gets it, and no more.
        """
        if self.gap > LENIENT:
            met = training.certified(self.gap)
            return met and training.cycle <= 100.0 * self.gap
        outputs = float(training.dual.box.max() * training.diagonal.max(initial=0.0))
        sharp = max(1e-8 * min(1.0, outputs), GAIN_ROUNDING)
        return bool(training.gap <= 1e-2 * self.gap and training.cycle <= sharp)


def _exchange_pays(training: Training) -> bool:
    """Whether many are free, and far more than where it ran away before."""
    return training.n_free >= max(EXCHANGE_FROM, AGAIN * training.ran_away)


def _by_exchange(training: Training) -> bool:
    """Try the block exchange, keep its point only when that certifies better.

    -> whether a nearer start may do. Where it ran away from the first, it is not tried
    again before far more are free.
    """
    problem, A, F = training.problem, training.A, training.F
    low, high = problem.held(A, F, training.b, EXCHANGE_TOLERANCE)
    try:
        found = exchange(problem, A, F, low, high, EXCHANGE_TOLERANCE)
    except np.linalg.LinAlgError:
        return False
    training.solves += found.solves
    if not found.optimal:
        if found.solves <= HOPELESS:
            training.ran_away = training.n_free
        return found.solves > HOPELESS
    _taken_if_better(training, found)
    return True


def _from_wider_boxes(training: Training) -> None:
    """Try the block exchange from the face of a smaller C, where few were at the box.

    At the larger C most of these are free, and alpha of the others hardly changes.
    """
    before = training.before
    if before is None:
        return
    top, free = before >= training.box_before, before > 0.0
    if free.sum() < EXCHANGE_FROM or top.sum() > FEW_AT_TOP * free.sum():
        return
    problem = training.problem
    low, nobody = problem.variables & ~free, np.zeros(free.shape, np.bool_)
    F = problem.outputs(before)
    try:
        found = exchange(problem, before, F, low, nobody, EXCHANGE_TOLERANCE)
    except np.linalg.LinAlgError:
        return
    training.solves += found.solves
    if found.optimal:
        _taken_if_better(training, found)


def _taken_if_better(training: Training, found: Exchanged) -> None:
    """The point of the exchange, only where that certifies better."""
    kept = training.A, training.F, training.gap
    training.A, training.F = found.alpha, found.F
    training.certify()
    if training.gap > kept[2]:
        training.A, training.F, _ = kept
        training.certify()


def _by_refinement(training: Training) -> None:
    """The last digits in long precision; the point that certifies best is kept."""
    if not 0 < training.n_free <= MOST_DIRECT:
        return
    problem = training.problem
    best = training.A, training.F, abs(training.gap)
    A, F = training.A, problem.sharp_outputs(training.A)
    for _ in range(SHARPER):
        try:
            A, F = refined(problem, A, F)
        except np.linalg.LinAlgError:
            break
        training.A, training.F = A, F
        training.solves += 1
        training.certify()
        if abs(training.gap) < best[2]:
            best = A, F, abs(training.gap)
    training.A, training.F, _ = best
    training.certify()


def _by_newton(training: Training) -> None:
    """Newton on the face, its factor brought up to date."""
    free, bench, room = training.n_free, training.bench, training.room
    if free > MOST_FREE:
        return
    if free > room.U.shape[0]:
        room.make(free, training.dual.Q)
    shift = max(float(training.diagonal.max(initial=0.0)), 1e-300)
    try:
        room.n, made = newton_on_face(
            training.K, training.Z, bench.y, training.A, training.F, training.box,
            shift, FACE_RIDGE * shift, room.U, room.Y, room.rows, room.cols, room.n,
            REFINEMENTS,
        )  # fmt: skip
    except np.linalg.LinAlgError:  # K is indefinite: the cycle steps go on alone
        room.n, made = 0, 0
    training.solves += made
