"""Chunking (Vitay, part 6): train a subset, and let its support vectors meet the rest.

    S <- some samples of each class
    repeat: alpha <- the optimum of the dual on S
            S <- the support vectors of S and the M samples outside that violate most,
                 1 - (h_{y_i}(x_i) - h_k(x_i)) > 0 for some k
    until no sample outside violates: then alpha, 0 outside, is optimal for all samples.

The subset never holds more than the support vectors and M others; that is its point.

Sequential minimal optimization, the solver ``smo`` of this program, goes as far as one
can: a step moves as few alpha as the constraints allow. These are two, of two samples
of the notes' two classes; with Q classes those along a cycle of classes, as (i, k) and
(j, y_i) where y_j = k, by the amount that raises J most within the box. Steps go on
while some cycle has a slope above a tolerance.
"""

from __future__ import annotations

import numpy as np

from msvm_select.lessons.base import Steps, at, slope, tau_of
from msvm_select.names import SOLVERS
from msvm_select.records import Dual, Ints

FIRST = 3  # samples of each class to begin with
ENOUGH = 1e-7  # a breach of the margin that counts as none
GAP = 1e-9
GAPS = tuple(10.0**-digits for digits in range(9))


def chunking(dual: Dual, M: int = 10, most: int = 1000) -> Steps:
    """A step is one sub-problem, which a quadratic-programming package solves."""
    rows = _with_every_class(dual, np.empty(0, dtype=np.int64))
    solver = SOLVERS["qp"](gap=GAP)
    for step in range(1, most + 1):
        weights = None if dual.weights is None else dual.weights[rows]
        part = Dual(dual.gram.of(rows), dual.y[rows], dual.Q, dual.C, weights=weights)
        found = solver.solve(part)
        alpha = np.zeros((dual.m, dual.Q))
        alpha[rows] = np.maximum(found.alpha, 0.0)
        h = dual.gram.product(tau_of(dual, alpha)) + found.b
        worst = slope(dual, h).max(axis=1)
        worst[rows] = -np.inf
        ended = not (worst > ENOUGH).any()
        yield at(dual, step, alpha, found.b, ended)
        if ended:
            return
        add = np.argsort(-worst, kind="stable")[:M]
        kept = rows[found.is_support_vector]
        rows = _with_every_class(dual, np.union1d(kept, add[worst[add] > ENOUGH]))


def smo_steps(dual: Dual) -> Steps:
    """A step is a move along one cycle; trained to one gap after the other."""
    steps, last = 0, None
    for gap in GAPS:
        last = SOLVERS["smo"](gap=gap).solve(dual, last)
        steps += last.work.iterations
        yield at(dual, steps, last.alpha, last.b, gap == GAPS[-1])


def _with_every_class(dual: Dual, rows: Ints) -> Ints:
    """The rows, and the first samples of each class that has none among them."""
    missing = [k for k in np.unique(dual.y) if not (dual.y[rows] == k).any()]
    first = [np.flatnonzero(dual.y == k)[:FIRST] for k in missing]
    return np.unique(np.concatenate([rows, *first])).astype(np.int64)
