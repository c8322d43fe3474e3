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

import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from msvm_select.errors import SolverError
from msvm_select.flow import ties_all, within
from msvm_select.left_out import (
    BY_TRAINING,
    NOT_A_SV,
    RETRAINED,
    SINGLE,
    LeftOut,
    Tell,
    Watch,
    quiet,
    unwatched,
)
from msvm_select.parts import FACTS, Composed, Parts, Told, gathered
from msvm_select.records import TIE, Dual, Floats, Ints, Mask
from msvm_select.solution import Solution

UNBALANCED = 1e-6  # a flow beyond it is no start
RESIDUE = 1e-10  # of the box: so near to a bound is at it, but for rounding


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
        proven: bool = True,
        only: Mask | None = None,
        jobs: int = 1,
        tell: Tell = quiet,
        watch: Watch = unwatched,
    ) -> LeftOut:
        """Every sample judged by the machine without it, in the order of the data.

        ``every_margin`` also trains what the training margin decides. Margins that are
        not ``proven`` may have some digits less. Of the samples that are not in
        ``only`` (m,) nothing is asked; ``jobs`` threads may be used; ``tell(done, of)``
        hears how many samples are through, and ``watch(errors, left)`` may end it.
        """
        y, alpha, box = solution.dual.y, solution.alpha, solution.dual.box
        supports, at = solution.is_support_vector, np.arange(y.size)
        margins, decided, alone = by_training(y, alpha, solution.outputs)
        road = np.where(decided, BY_TRAINING, np.where(supports, RETRAINED, NOT_A_SV))
        at_top = np.full(y.size, bool((alpha >= box[:, None]).any()))
        loose = not ties_all(alpha.T, y, box)  # p itself may hold b
        asked = (supports & (every_margin | ~decided) | loose) & ~alone
        asked &= True if only is None else only
        margins[at, y] = np.inf
        todo, least = np.flatnonzero(asked), margins.min(axis=1)
        if watch is not unwatched:
            todo = todo[np.argsort(least[todo], kind="stable")]
        left, wrong = asked & ~decided, decided | alone | ~(least > TIE)
        for done, p in enumerate(todo):
            tell(done, todo.size)
            watch(int((wrong & ~left).sum()), int(left.sum()))
            machine = self.without(solution, at == p)
            g = solution.dual.gram.matrix[p, at != p] @ machine.tau
            margins[p] = g[y[p]] + machine.b[y[p]] - g - machine.b
            margins[p, y[p]] = np.inf
            left[p], wrong[p] = False, decided[p] or not margins[p].min() > TIE
            at_top[p] = machine.n_bounded > 0
        margins[decided & (not every_margin)] = np.nan
        margins[alone], road[alone] = -np.inf, SINGLE
        margins[at, y] = np.inf
        return LeftOut(y, margins, road, np.zeros(y.size, np.int64), at_top)

    def without(self, solution: Solution, samples: Mask) -> Solution:
        """The machine of the others, trained from the solution less their flow."""
        dual, keep = solution.dual, ~samples
        gram = dual.gram.part(keep)
        weights = None if dual.weights is None else dual.weights[keep]
        reduced = replace(dual, gram=gram, y=dual.y[keep], weights=weights)
        box = np.where(samples, 0.0, dual.box)
        alpha = within(solution.alpha.T, dual.y, box).T[keep]
        tau = -alpha
        tau[np.arange(reduced.m), reduced.y] += alpha.sum(axis=1)
        start = Solution(reduced, tau, gram.product(tau))
        machine = self.solve(reduced, start=start)
        if not machine.converged:
            rows = ", ".join(map(str, np.flatnonzero(samples)[:5] + 1))
            raise SolverError(f"without sample {rows}: {machine.reason}")
        return machine

    def solve_parts(
        self, parts: Parts, last: Composed | None = None, jobs: int = 1
    ) -> tuple[Told, float]:
        """The optimum of each part, begun at those of ``last``; and the seconds."""
        began = time.perf_counter()
        if last is not None and last.flow_imbalance > UNBALANCED:
            last = None  # it has lost samples
        alpha, f = np.zeros((2, parts.m, parts.Q))
        facts = np.zeros((parts.count, len(FACTS)))
        steps = newton = 0
        reason = ""
        for t in range(parts.count):
            start = None if last is None else last.part_solution(t)
            found = self.solve(parts.dual(t), start)
            keep_part(parts, t, found, alpha, f, facts)
            steps += found.work.iterations
            newton += found.work.newton
            if not found.converged:
                reason = reason or found.reason
        told = Told(alpha, parts.towards(f), facts, steps, newton, reason)
        return told, time.perf_counter() - began

    def leave_parts_out(
        self,
        machine: Composed,
        *,
        only: Mask | None = None,
        jobs: int = 1,
        tell: Tell = quiet,
    ) -> LeftOut:
        """The decision of each part at each of its samples, without the sample.

        ``margins`` is the table of decisions; what else is told is the worst of a
        sample's parts.
        """
        parts = machine.parts
        shape = (parts.m, parts.Q)
        margins, unsure = np.full(shape, np.nan), np.zeros(shape)
        road, exchanges = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        top = np.zeros(shape, np.bool_)
        for t, (part, solution) in enumerate(machine.solutions()):
            tell(t, parts.count)
            some = None if only is None else only[part.rows]
            found = self.leave_out(solution, every_margin=True, only=some, jobs=jobs)
            sign = np.where(part.positive, 1.0, -1.0)
            parts.put(part, margins, sign * found.margin)
            for table, values in (
                (road, found.road), (exchanges, found.exchanges),
                (top, found.at_top), (unsure, found.unsure),
            ):  # fmt: skip
                parts.put(part, table, values)
        tell(parts.count, parts.count)
        return gathered(parts.y, parts.towards(margins), road, exchanges, top, unsure)


def keep_part(
    parts: Parts, t: int, found: Solution, alpha: Floats, f: Floats, facts: Floats
) -> None:
    """What the machine of part ``t`` tells, in the tables."""
    part, own = parts.part(t), 2.0 * found.alpha.max(axis=1)
    parts.put(
        part, alpha, np.where(own >= 2.0 * found.dual.box, parts.box[part.rows], own)
    )
    parts.put(part, f, found.outputs[:, 0] - found.outputs[:, 1])
    room = 0.0 if found.b_unique else 2.0 * found.potentials.width
    facts[t] = (
        2.0 * found.sum_alpha, 2.0 * found.norm_w_squared,
        found.slacks.sum(), found.kkt_violation,
        found.b[0] - found.b[1], room, found.gap,
    )  # fmt: skip


def by_training(y: Ints, alpha: Floats, h: Floats) -> tuple[Floats, Mask, Mask]:
    """Of outputs h (m, Q): margins, who is wrong without itself by them alone (m,).

    And who is single in its class. Where sum_k alpha_pk m_pk <= 0, dropping p's loss
    can only lower this sum, so that some margin stays <= 0.
    """
    alone = np.bincount(y, minlength=h.shape[1])[y] == 1
    margins = h[np.arange(y.size), y][:, None] - h
    weighed = (alpha * np.where(alpha > 0.0, margins, 0.0)).sum(axis=1)
    supports = alpha.max(axis=1, initial=0.0) > 0.0
    return margins, supports & (weighed <= 0.0), alone


def scaled_start(dual: Dual, start: Solution | None) -> Floats:
    """tau (m, Q) to begin with: the start times C_new / C_old, or zero."""
    if start is None:
        return np.zeros((dual.m, dual.Q))
    return start.tau * (dual.C / start.dual.C)
