"""Naive stochastic ascent on the dual (Vitay, part 6): one alpha at a time.

    alpha_ik <- min(C, max(0, alpha_ik + eta_i g_ik)),   eta_i = 1 / (2 K_ii),

in each epoch for all samples, those with the largest alpha first. (1 / K_ii in the
notes, whose kernel is twice ours: the exact maximum along one alpha.)

The step moves one alpha and so breaks sum_i tau_ik = 0: the procedure ignores the
constraint that belongs to the biases. What it reaches is the optimum of another
machine, h_k(x) = <w_k, x> without b, whose dual has no such constraint. Its J is
larger than that of the machine with biases, and its errors are its own.
"""

from __future__ import annotations

import numpy as np

from msvm_select.criteria.box_qp import minimise
from msvm_select.lessons.base import Steps, at
from msvm_select.records import Dual

STILL = 1e-10  # of C: an epoch that moves no alpha further has converged


def stochastic_ascent(dual: Dual, most: int = 300) -> Steps:
    """A step is one epoch: every alpha once."""
    K, diagonal = dual.gram.matrix, dual.gram.diagonal
    alpha, F, box = np.zeros((dual.m, dual.Q)), np.zeros((dual.m, dual.Q)), dual.box
    for epoch in range(1, most + 1):
        moved = 0.0
        for i in np.argsort(-alpha.max(axis=1), kind="stable"):
            y = dual.y[i]
            for k in range(dual.Q):
                if k == y or diagonal[i] <= 0.0:
                    continue
                g = 1.0 - F[i, y] + F[i, k]
                new = min(box[i], max(0.0, alpha[i, k] + g / (2.0 * diagonal[i])))
                step = new - alpha[i, k]
                alpha[i, k] = new
                F[:, y] += step * K[:, i]
                F[:, k] -= step * K[:, i]
                moved = max(moved, abs(step))
        ended = moved <= STILL * dual.C
        yield at(dual, epoch, alpha, None, ended)
        if ended:
            return


def optimum_without_bias(dual: Dual) -> float:
    """max J over the box alone, by an interior point: what the ascent is to reach."""
    own = np.zeros((dual.m, dual.Q), dtype=bool)
    own[np.arange(dual.m), dual.y] = True
    i, k = np.nonzero(~own)
    y = dual.y[i]
    likeness = (y[:, None] == y) * 1.0 - (y[:, None] == k) - (k[:, None] == y)
    H = dual.gram.matrix[np.ix_(i, i)] * (likeness + (k[:, None] == k))
    n = i.size
    found = minimise(
        H, -np.ones(n), np.zeros((n, 0)), np.zeros(0), np.zeros(n), dual.box[i]
    )
    return float(found.x.sum() - 0.5 * found.x @ H @ found.x)
