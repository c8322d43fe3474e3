"""Leave-one-out with any solver: train without each support vector in turn.

Each training starts from the full solution; the answers are as exact as its gap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from msvm_select.errors import SolverError
from msvm_select.flow import ties_all, without
from msvm_select.left_out import BY_TRAINING, NOT_A_SV, RETRAINED, SINGLE, LeftOut
from msvm_select.records import Dual, Gram, Mask
from msvm_select.solution import Solution


def retrain_each(
    solve: Callable[..., Solution],
    full: Solution,
    *,
    every_margin: bool,
    tell: Callable[[int, int], None],
) -> LeftOut:
    """Each support vector trained without, unless its training margin decides."""
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
        tell(done, todo.size)
        machine = machine_without(solve, full, int(p))
        g = full.dual.gram.matrix[p, np.arange(m) != p] @ machine.tau
        margins[p] = g[y[p]] + machine.b[y[p]] - g - machine.b
        at_top[p] = bool((machine.alpha >= machine.dual.C).any())
    margins[decided & (not every_margin)] = np.nan
    road[~full.is_support_vector] = NOT_A_SV
    margins[alone], road[alone] = -np.inf, SINGLE
    margins[np.arange(m), y] = np.inf
    return LeftOut(y, margins, road.astype(np.int64), np.zeros(m, np.int64), at_top)


def machine_without(solve: Callable[..., Solution], full: Solution, p: int) -> Solution:
    """Trained on the others, from the full solution less p's flow."""
    dual = full.dual
    keep = np.arange(dual.m) != p
    gram = _part_of(dual.gram, keep)
    reduced = Dual(gram, dual.y[keep], dual.Q, dual.C)
    alpha = without(np.ascontiguousarray(full.alpha.T), dual.y, dual.C, p).T[keep]
    tau = -alpha
    tau[np.arange(reduced.m), reduced.y] += alpha.sum(axis=1)
    start = Solution(reduced, tau, gram.product(tau))
    machine = solve(reduced, start=start)
    if not machine.converged:
        raise SolverError(f"without sample {p + 1}: {machine.reason}")
    return machine


def _part_of(gram: Gram, keep: Mask) -> Gram:
    """The Gram matrix of some of the samples."""
    if gram.factor is not None:
        return Gram(factor=np.ascontiguousarray(gram.factor[keep]))
    return Gram(whole=np.ascontiguousarray(gram.matrix[np.ix_(keep, keep)]))
