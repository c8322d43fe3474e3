"""The exact leave-one-out error: the share of samples wrong when trained without them.

Scaling and all other preprocessing is fitted on all rows; a class with one sample is an
error by definition, since it cannot be predicted without it; ties are errors.  A solver
that offers ``leave_out`` is asked for all samples at once; with any other each support
vector is trained without, from the full solution, which is as exact as its gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.errors import SolverError
from msvm_select.flow import ties_all, without
from msvm_select.left_out import BY_TRAINING, NOT_A_SV, RETRAINED, SINGLE, LeftOut
from msvm_select.records import Dual, Floats, Gram
from msvm_select.solution import Solution


@dataclass(frozen=True, eq=False)
class Carried:
    """The last cell's answers, and the machine that they are of."""

    left_out: LeftOut
    solution: Solution


class LeaveOneOut(Criterion):
    """L / m with L = #{ p : the machine trained without p gets p wrong }."""

    name: ClassVar[str] = "loo"
    column: ClassVar[str] = "loo_rate"
    kind: ClassVar[str] = "exact"
    applies: ClassVar[str] = "at every optimum"
    cost: ClassVar[str] = "mostly less than the training"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """Errors, rate, how many margins are within 1e-7 of 0, how many retrained."""
        if not cell.solution.converged:
            note = "no leave-one-out of a machine that is not at its optimum"
            return Score({}, notes=(note,))
        if isinstance(carry, Carried) and same_beyond_hard_margin(carry, cell.solution):
            left_out = carry.left_out
        else:
            left_out = leave_each_out(cell)
        columns = {
            "loo_errors": left_out.errors,
            "loo_rate": left_out.errors / cell.solution.dual.m,
            "loo_ambiguous": left_out.ambiguous,
            "loo_retrained": left_out.count(RETRAINED),
        }
        return Score(columns, Carried(left_out, cell.solution), left_out=left_out)

    def carried(self, cells: Sequence[Cell], carry: Any = None) -> Any:
        """Only copies of the last machine can ask for its answers: no other again."""
        last = cells[-1].solution
        if not last.hard_margin:
            return None
        copies = [cell for cell in cells if cell.solution.tau is last.tau]
        return super().carried(copies, carry)


def same_beyond_hard_margin(carried: Carried, solution: Solution) -> bool:
    """Whether C has left every machine behind: the full one and all without a sample.

    To remove a sample can raise other alphas above C, so each machine is asked.
    """
    return (
        solution.tau is carried.solution.tau
        and solution.hard_margin
        and not carried.left_out.at_top.any()
        and carried.left_out.count(BY_TRAINING) == 0
    )


def every_margin_of(cell: Cell, known: LeftOut | None = None) -> LeftOut:
    """The answers with every margin: those that are ``known``, where they have them."""
    if known is not None and not np.isnan(known.margins).any():
        return known
    return leave_each_out(cell, every_margin=True)


def leave_each_out(cell: Cell, *, every_margin: bool = False) -> LeftOut:
    """Every sample judged without itself, by the road that the solver has."""
    fast = getattr(cell.solver, "leave_out", None)
    if fast is None:
        return retrain_each(cell, every_margin=every_margin)
    answer: LeftOut = fast(
        cell.solution, every_margin=every_margin, jobs=cell.jobs, tell=cell.tell
    )
    return answer


def retrain_each(cell: Cell, *, every_margin: bool = False) -> LeftOut:
    """Each support vector trained without, unless its training margin decides."""
    full = cell.solution
    m, y = full.dual.m, full.dual.y
    alone = np.bincount(y, minlength=full.dual.Q)[y] == 1
    h = full.outputs
    margins = h[np.arange(m), y][:, None] - h
    weighed = (full.alpha * np.where(full.alpha > 0.0, margins, 0.0)).sum(axis=1)
    decided = full.is_support_vector & (weighed <= 0.0)
    road = np.where(
        decided, BY_TRAINING, np.where(full.is_support_vector, RETRAINED, 0)
    )
    at_top = np.full(m, bool((full.alpha >= full.dual.C).any()))
    loose = not ties_all(full.alpha.T, y, full.dual.C)  # p itself may hold b
    asked = full.is_support_vector & (every_margin | ~decided) | loose
    for done, p in enumerate(todo := np.flatnonzero(asked & ~alone)):
        cell.tell(done, todo.size)
        machine = machine_without(cell, int(p))
        g = cell.solution.dual.gram.matrix[p, np.arange(m) != p] @ machine.tau
        margins[p] = g[y[p]] + machine.b[y[p]] - g - machine.b
        at_top[p] = bool((machine.alpha >= machine.dual.C).any())
    margins[decided & (not every_margin)] = np.nan
    road[~full.is_support_vector] = NOT_A_SV
    margins[alone], road[alone] = -np.inf, SINGLE
    margins[np.arange(m), y] = np.inf
    return LeftOut(y, margins, road.astype(np.int64), np.zeros(m, np.int64), at_top)


def machine_without(cell: Cell, p: int) -> Solution:
    """Trained on the others, from the full solution less p's flow."""
    full = cell.solution
    dual = full.dual
    keep = np.arange(dual.m) != p
    gram = part_of(dual.gram, keep)
    reduced = Dual(gram, dual.y[keep], dual.Q, dual.C)
    alpha = without(np.ascontiguousarray(full.alpha.T), dual.y, dual.C, p).T[keep]
    tau = -alpha
    tau[np.arange(reduced.m), reduced.y] += alpha.sum(axis=1)
    start = Solution(reduced, tau, gram.product(tau))
    machine = cell.solver.solve(reduced, start=start)
    if not machine.converged:
        raise SolverError(f"without sample {p + 1}: {machine.reason}")
    return machine


def part_of(gram: Gram, keep: Floats) -> Gram:
    """The Gram matrix of some of the samples."""
    if gram.factor is not None:
        return Gram(factor=np.ascontiguousarray(gram.factor[keep]))
    return Gram(whole=np.ascontiguousarray(gram.matrix[np.ix_(keep, keep)]))
