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

THEORY-wise this is the Newton system of all free variables, not the one split by class:
with the factor updated (3) or the conjugate gradients of (2) its size does not hurt, and
a cell on glass with 720 free variables takes some 10 ms.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from msvm_select.records import Dual, Floats, Gram, Work
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver, scaled_start
from msvm_select.solvers.cycles import certify, cycle_steps
from msvm_select.solvers.exchange import Problem, exchange
from msvm_select.solvers.face import newton_on_face

NEAR = 0.1  # gain of a cycle at which the first cycle steps stop
EXCHANGE_FROM = 60  # free variables from which a block exchange is tried
MOST_ROUNDS = 60
MOST_FREE = 6000  # the largest factor kept: beyond, cycle steps alone finish
RIDGE = 1e-10


@dataclass(eq=False)
class Bench:
    """What stays the same over C: the class-sorted problem, and the factor's room."""

    gram: Gram
    order: NDArray[np.int64]
    y: NDArray[np.int64]
    offsets: NDArray[np.int64]
    sorted_gram: Gram
    U: Floats = field(default_factory=lambda: np.empty((0, 0)))
    Y: Floats = field(default_factory=lambda: np.empty((0, 0)))
    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    cols: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    n: int = 0

    @classmethod
    def of(cls, dual: Dual) -> Bench:
        """Sort the samples by class, once per Gram matrix."""
        order = np.argsort(dual.y, kind="stable")
        y = np.ascontiguousarray(dual.y[order])
        offsets = np.searchsorted(y, np.arange(dual.Q + 1)).astype(np.int64)
        gram = dual.gram
        if gram.factor is not None:
            ordered = Gram(factor=np.ascontiguousarray(gram.factor[order]))
        elif (order[1:] > order[:-1]).all():
            ordered = gram
        else:
            ordered = Gram(whole=gram.matrix[np.ix_(order, order)])
        return cls(gram, order, y, offsets, ordered)

    @property
    def arrays(self) -> tuple[Floats, Floats]:
        """(K, Z) for the kernels: one of them empty."""
        if self.sorted_gram.factor is not None:
            return np.empty((0, 0)), self.sorted_gram.factor
        return self.sorted_gram.matrix, np.empty((0, 0))

    def make_room(self, free: int, Q: int) -> None:
        """A larger factor; the old one is not kept."""
        cap = free + free // 4 + 16
        self.U, self.Y = np.empty((cap, cap)), np.empty((cap, Q - 1))
        self.rows, self.cols = np.empty(cap, np.int64), np.empty(cap, np.int64)
        self.n = 0


class Exact(Solver):
    """Cycle steps, block exchange and Newton on the face, to a certified optimum."""

    name: ClassVar[str] = "exact"
    summary: ClassVar[str] = "cycle steps, then Newton on the free variables (default)"

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """The optimum of ``dual``, begun at ``start`` if there is one."""
        began = time.perf_counter()
        carried = None if start is None else start.carry
        if not (isinstance(carried, Bench) and carried.gram is dual.gram):
            carried = Bench.of(dual)
        return _Run(dual, start, carried, self.gap).solution(began)


class _Run:
    """One training: A = alpha and F, both (Q, m) and class-sorted, moved in place."""

    def __init__(
        self, dual: Dual, start: Solution | None, bench: Bench, gap: float
    ) -> None:
        self.dual, self.bench, self.target = dual, bench, gap
        self.K, self.Z = bench.arrays
        self.diagonal = bench.sorted_gram.diagonal
        self.ridge = RIDGE * max(float(self.diagonal.max(initial=0.0)), 1e-300)
        self.problem = Problem(bench.sorted_gram, bench.y, dual.Q, dual.C)
        tau = scaled_start(dual, start)[bench.order]
        A = np.clip(-tau.T, 0.0, dual.C)
        A[bench.y, np.arange(dual.m)] = 0.0
        A[A >= dual.C * (1.0 - 1e-13)] = dual.C
        self.A = np.ascontiguousarray(A)
        self.F = self.problem.outputs(self.A)
        self.steps = self.solves = 0
        self.gap = self.cycle = np.inf
        self.b = np.zeros(dual.Q)

    def solution(self, began: float) -> Solution:
        """Round after round until the certificate holds."""
        self.step(NEAR, 1e300, 100_000)
        self.certify()
        for turn in range(MOST_ROUNDS):
            if self.done or self.by_exchange(turn):
                break
            self.by_newton()
            self.certify()
            if self.done:
                break
            fine = 0.2 * self.cycle
            self.step(fine, fine, 60 + self.bench.n)
        self.polish()
        return self.result(time.perf_counter() - began)

    @property
    def done(self) -> bool:
        """Well below the gap that was asked for, so that the biases are sharp too."""
        return bool(self.gap <= 1e-2 * self.target and self.cycle <= 1e-8)

    def step(self, least: float, long_least: float, most: int) -> None:
        """Cycle steps."""
        C, offsets = self.dual.C, self.bench.offsets
        made, _ = cycle_steps(
            self.K, self.Z, self.diagonal, self.A, self.F, offsets, C,
            least, long_least, most,
        )  # fmt: skip
        self.steps += made

    def certify(self) -> None:
        """Gap, cycle gain and biases of where we stand."""
        self.gap, self.cycle, self.b = certify(
            self.A, self.F, self.bench.offsets, self.dual.C
        )

    def by_exchange(self, turn: int) -> bool:
        """Try the block exchange; keep its point only when it is the optimum."""
        free = int(np.count_nonzero((self.A > 0.0) & (self.A < self.dual.C)))
        if free < EXCHANGE_FROM or turn > 4:
            return False
        try:
            found = exchange(self.problem, self.A, self.F, self.b, 1e-11)
        except np.linalg.LinAlgError:
            return False
        self.solves += found.solves
        if not found.optimal:
            return False
        A, F, gap, cycle, b = self.A, self.F, self.gap, self.cycle, self.b
        self.A, self.F = found.alpha, found.F
        self.certify()
        if self.gap > gap:
            self.A, self.F, self.gap, self.cycle, self.b = A, F, gap, cycle, b
        return self.done

    def by_newton(self) -> None:
        """Newton on the face, its factor brought up to date."""
        bench, C = self.bench, self.dual.C
        free = int(np.count_nonzero((self.A > 0.0) & (self.A < C)))
        if free > MOST_FREE:
            return
        if free > bench.U.shape[0]:
            bench.make_room(free, self.dual.Q)
        bench.n, made = newton_on_face(
            self.K, self.Z, bench.y, self.A, self.F, C, self.ridge,
            bench.U, bench.Y, bench.rows, bench.cols, bench.n, 4,
        )  # fmt: skip
        self.solves += made

    def polish(self) -> None:
        """F anew from alpha, since updates have left their rounding in it."""
        self.F = self.problem.outputs(self.A)
        self.certify()

    def result(self, seconds: float) -> Solution:
        """Back in the caller's order of samples."""
        tau = np.empty((self.dual.m, self.dual.Q))
        tau[self.bench.order] = self.problem.tau(self.A)
        F = np.empty_like(tau)
        F[self.bench.order] = self.F.T
        ok = bool(self.gap <= self.target)
        reason = "" if ok else f"relative gap {self.gap:.2g} after {self.steps} steps"
        work = Work(self.steps, self.solves, seconds)
        return Solution(self.dual, tau, F, work, ok, reason, self.bench)
