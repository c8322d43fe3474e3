"""What the cycle-step solvers share: a class-sorted problem and the state of a
training.

Sorting the samples by class makes every block of an arc one run of memory; the sorted
Gram matrix is kept over C in the ``carry`` of the solution, with the room of a factor.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msvm_select.flow import within
from msvm_select.records import Dual, Floats, Gram, Ints, Work
from msvm_select.solution import Solution
from msvm_select.solvers.base import RESIDUE, scaled_start
from msvm_select.solvers.exact.cycles import certify, cycle_steps
from msvm_select.solvers.exact.exchange import Problem
from msvm_select.solvers.exact.thin import thin_gram

SAME_SIZE = 0.5  # of the largest alpha: F of others is as sharp as one's own


@dataclass(eq=False)
class Room:
    """The factor of Newton's system and the variables that it is of."""

    U: Floats = field(default_factory=lambda: np.empty((0, 0)))
    Y: Floats = field(default_factory=lambda: np.empty((0, 0)))
    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    cols: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    n: int = 0

    def make(self, free: int, Q: int) -> None:
        """A larger factor; the old one is not kept."""
        cap = free + free // 4 + 16
        self.U, self.Y = np.empty((cap, cap)), np.empty((cap, Q - 1))
        self.rows, self.cols = np.empty(cap, np.int64), np.empty(cap, np.int64)
        self.n = 0


@dataclass(frozen=True, eq=False)
class Bench:
    """What stays the same over C: the class-sorted problem, and rooms for a factor.

    A training takes a room out and puts it back at its end, so that two trainings from
    one start, in two threads, do not share one. ``ran_away``: free variables where the
    block exchange ran away from the optimum, at the last C that it did. ``sets``: the
    last groups of many samples, if any (``shrinking``).
    """

    gram: Gram
    given: NDArray[np.int64]
    order: NDArray[np.int64]
    y: NDArray[np.int64]
    offsets: NDArray[np.int64]
    sorted_gram: Gram
    rooms: list[Room] = field(default_factory=list)
    sets: list[Any] = field(default_factory=list)
    ran_away: list[int] = field(default_factory=lambda: [0])

    @classmethod
    def of(cls, dual: Dual) -> Bench:
        """Sort the samples by class, once per Gram matrix."""
        order = np.argsort(dual.y, kind="stable")
        y = np.ascontiguousarray(dual.y[order])
        offsets = np.searchsorted(y, np.arange(dual.Q + 1)).astype(np.int64)
        sorted_already = bool((order[1:] > order[:-1]).all())
        gram = dual.gram if sorted_already else dual.gram.part(order)
        return cls(dual.gram, dual.y, order, y, offsets, thin_gram(gram))

    @classmethod
    def carried(cls, dual: Dual, start: Solution | None) -> Bench:
        """That of the start, where the Gram matrix is the same; else a new one."""
        held = None if start is None else start.carry
        if isinstance(held, Bench) and held.gram is dual.gram:
            same = held.given is dual.y or np.array_equal(held.given, dual.y)
            if same and held.offsets.size == dual.Q + 1:
                return held
        return cls.of(dual)

    def take_room(self) -> Room:
        """A room that nobody else has."""
        try:
            return self.rooms.pop()
        except IndexError:
            return Room()


class Training:
    """One training: A = alpha and F, both (Q, m) and class-sorted, moved in place."""

    before: Floats | None
    known: tuple[Floats, Floats] | None = None
    """Alpha of another machine and its F: where few differ, few rows of K tell"""

    def __init__(self, dual: Dual, start: Solution | None) -> None:
        """At the scaled start, with F computed anew."""
        A = self._set_up(dual, start, scaled_start(dual, start))
        if start is not None and dual.C > start.dual.C:
            self.before = A * (start.dual.C / dual.C)
            self.box_before = start.dual.box[self.bench.order]
        self.A: Floats = np.ascontiguousarray(within(A, self.bench.y, self.box))
        self.F = self.problem.outputs(self.A)
        self.certify()

    @classmethod
    def at(cls, solution: Solution) -> Training:
        """At this machine, with its own F."""
        self = cls.__new__(cls)
        A = self._set_up(solution.dual, solution, solution.tau)
        self.A = np.ascontiguousarray(A)
        self.F = np.ascontiguousarray(solution.F[self.bench.order].T)
        self.certify()
        return self

    def _set_up(self, dual: Dual, start: Solution | None, tau: Floats) -> Floats:
        """Everything but where it begins; -> alpha (Q, m) of this tau (m, Q)."""
        self.dual, self.bench = dual, Bench.carried(dual, start)
        self.room = self.bench.take_room()
        self.box: Floats = dual.box[self.bench.order]
        self.sets = list(self.bench.sets)
        self.diagonal = self.bench.sorted_gram.diagonal
        self.problem = Problem(self.bench.sorted_gram, self.bench.y, dual.Q, self.box)
        self.before, self.box_before = None, self.box
        self.steps = self.solves = 0
        self.ran_away = self.bench.ran_away[0]
        A = np.maximum(-tau[self.bench.order].T, 0.0)
        A[self.bench.y, np.arange(dual.m)] = 0.0
        return np.where(np.abs(A - self.box) <= 1e-13 * self.box, self.box, A)

    @classmethod
    def shut(
        cls, full: Training, A: Floats, p: int | None, rest: float = 0.0
    ) -> Training:
        """``full`` again, begun at A, with ``rest`` of the box of sample p (if any).

        A is moved in place.
        """
        self = cls.__new__(cls)
        self.__dict__.update(full.__dict__)
        self.box = full.box.copy()
        if p is not None:
            self.box[p] = rest
        bench = full.bench
        self.problem = Problem(bench.sorted_gram, bench.y, full.dual.Q, self.box)
        self.A, self.steps, self.solves, self.before = A, 0, 0, None
        self.known = None if p is None else (full.A, full.F)
        self.refresh()
        return self

    @classmethod
    def smaller(
        cls, full: Training, gram: Gram, y: Ints, A: Floats, box: Floats
    ) -> Training:
        """A problem of fewer samples, class-sorted, begun at A (Q, samples)."""
        self, dual = cls.__new__(cls), full.dual
        ends = np.searchsorted(y, np.arange(dual.Q + 1)).astype(np.int64)
        here = np.arange(y.size)
        self.bench = Bench(gram, y, here, y, ends, thin_gram(gram))
        self.dual = replace(dual, gram=gram, y=y, weights=box / dual.C)
        self.room, self.sets = self.bench.take_room(), []
        self.box, self.A = box, np.ascontiguousarray(A)
        self.diagonal = gram.diagonal
        self.problem = Problem(self.bench.sorted_gram, y, dual.Q, box)
        self.steps = self.solves = self.ran_away = 0
        self.before = None
        self.refresh()
        return self

    @cached_property
    def K(self) -> Floats:
        """The sorted Gram matrix; empty where it is Z Z'."""
        return self.bench.sorted_gram.arrays[0]

    @cached_property
    def Z(self) -> Floats:
        """Its factor; empty where there is none."""
        return self.bench.sorted_gram.arrays[1]

    def step(self, least: float, long_least: float, most: int) -> None:
        """Cycle steps on all samples."""
        made, _ = cycle_steps(
            self.K, self.Z, self.diagonal, self.A, self.F, self.bench.offsets,
            self.box, least, long_least, most,
        )  # fmt: skip
        self.steps += made

    def certify(self) -> None:
        """Gap, largest mean cycle gain and biases of where we stand."""
        self.gap, self.cycle, self.b = certify(
            self.A, self.F, self.bench.offsets, self.box
        )

    def dual_value(self) -> float:
        """sum alpha - 1/2 sum_k ||w_k||^2."""
        tau = self.problem.tau(self.A)
        return float(self.A.sum() - 0.5 * np.vdot(tau, np.ascontiguousarray(self.F.T)))

    @property
    def n_free(self) -> int:
        """How many variables lie strictly between their bounds."""
        return int(np.count_nonzero((self.A > 0.0) & (self.A < self.box)))

    def refresh(self) -> None:
        """F anew from alpha, since updates leave their rounding in it.

        By what moved from the alpha that are known, unless these are much larger: so is
        the rounding of their F.
        """
        known, most = self.known, float(self.A.max(initial=0.0))
        if known is not None and most >= SAME_SIZE * known[0].max():
            self.F = known[1] + self.problem.outputs(self.A - known[0])
        else:
            self.F = self.problem.outputs(self.A)
        self.certify()

    def snap(self) -> None:
        """Put on its bound what rounding left beside it, unless the gap suffers.

        A residue of 1e-10 C would count as a free variable and pin the biases.
        """
        A, box, kept = self.A, self.box, (self.A, self.F, self.gap)
        scale = np.minimum(box, A.max(initial=0.0))
        low, high = RESIDUE * scale > A, box * (1.0 - RESIDUE) < A
        if not ((low & (A > 0.0)) | (high & (A < box))).any():
            return
        self.A = np.where(low, 0.0, np.where(high, box, A))
        self.refresh()
        if self.gap > max(2.0 * kept[2], 1e-10):
            self.A, self.F, _ = kept
            self.certify()

    def certified(self, target: float) -> bool:
        """Whether gap and flow say that this is the optimum to ``target``."""
        return abs(self.gap) <= target and self.balanced(target)

    def balanced(self, target: float) -> bool:
        """Whether as much flows into each class as out of it."""
        adrift = np.abs(self.problem.tau(self.A).sum(axis=0)).max(initial=0.0)
        return bool(adrift <= target * max(1.0, float(self.A.sum())))

    def result(self, target: float, seconds: float) -> Solution:
        """Back in the caller's order of samples, with the reason if it falls short."""
        self.bench.rooms.append(self.room)
        self.bench.ran_away[0] = self.ran_away
        self.bench.sets[:] = self.sets
        tau = np.empty((self.dual.m, self.dual.Q))
        tau[self.bench.order] = self.problem.tau(self.A)
        F = np.empty_like(tau)
        F[self.bench.order] = self.F.T
        work = Work(self.steps, self.solves, seconds)
        found = Solution(self.dual, tau, F, work, True, "", self.bench)
        ok = self.certified(target) or self.balanced(target) and found.gap <= target
        reason = (
            ""
            if ok
            else f"relative gap {self.gap:.2g} above {target:.2g} "
            f"after {self.steps} cycle steps and {self.solves} Newton systems"
        )
        return found if ok else replace(found, converged=False, reason=reason)
