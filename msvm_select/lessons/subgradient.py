"""Subgradient descent on the primal (Vitay, part 6), with averaging.

    P(w, b) = 1/2 sum_k ||w_k||^2 + C sum_ik max(0, 1 - (h_{y_i} - h_k)(x_i)), k != y_i

has at (w, b) the subgradients w - sum_i G_i Phi(x_i) and -sum_i G_i, where G_ik = -C
for each hinge that is active and G_{i,y_i} = C times their number. (The notes have
<w.x> + b < 1 for an active hinge; it is t_i (<w.x_i> + b) < 1.) With steps 1/t,

    tau <- (1 - 1/t) tau + G/t,     b <- b + (20/t) sum_i G_i / (C m),

and the average with weights t is the answer: a single iterate jumps about the optimum,
since a subgradient does not vanish there. The error falls as 1/t at best, and no step
tells how near the optimum is.
"""

from __future__ import annotations

import numpy as np

from msvm_select.lessons.base import Step, Steps, slope, wrong
from msvm_select.records import Dual, Floats

STRIDE = 20.0  # of b, in units of 1/t


def subgradient(dual: Dual, most: int = 3000, every: int = 20) -> Steps:
    """A step is one subgradient of all samples; the objective is P of the average."""
    own, box = (np.arange(dual.m), dual.y), dual.box
    tau = mean = np.zeros((dual.m, dual.Q))
    F = mean_F = np.zeros((dual.m, dual.Q))
    b = mean_b = np.zeros(dual.Q)
    for t in range(1, most + 1):
        G = -box[:, None] * (slope(dual, F + b) > 0.0)
        G[own] = 0.0
        G[own] = -G.sum(axis=1)
        tau = (1.0 - 1.0 / t) * tau + G / t
        F = dual.gram.product(tau)
        b = b + STRIDE / t * G.sum(axis=0) / box.sum()
        share = 2.0 / (t + 1.0)
        mean, mean_F = mean + share * (tau - mean), mean_F + share * (F - mean_F)
        mean_b = mean_b + share * (b - mean_b)
        if t % every == 0 or t < every or t == most:
            P = primal(dual, mean, mean_F, mean_b)
            errors = wrong(dual, mean_F + mean_b)
            alpha = np.where(np.arange(dual.Q) == dual.y[:, None], 0.0, -mean)
            yield Step(t, P, errors, alpha, mean_b)


def primal(dual: Dual, tau: Floats, F: Floats, b: Floats) -> float:
    """P(w, b) of w = sum_i tau_i Phi(x_i)."""
    hinges = np.maximum(0.0, slope(dual, F + b))
    hinges[np.arange(dual.m), dual.y] = 0.0
    return 0.5 * float(np.vdot(tau, F)) + float(dual.box @ hinges.sum(axis=1))
