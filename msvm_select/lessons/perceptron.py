"""The dual perceptron (Vitay, part 3): embedding strengths.

    alpha <- 0
    repeat: for each sample i with h_{y_i}(x_i) - max_{k != y_i} h_k(x_i) <= 0:
                alpha_ik <- alpha_ik + 1 for the largest of those k
    until no sample is wrong,                     h_k(x) = sum_i tau_ik K(x_i, x)

alpha_ik counts how often sample i was taken for k: how hard it is to embed. (The notes
have < 0, and then the loop never begins: at alpha = 0 every margin is 0.) There is no C
and no largest margin. Where some h without bias separates the classes with margin gamma
and ||Phi(x)|| <= R, it ends after at most 2 (R / gamma)^2 mistakes; otherwise never.
"""

from __future__ import annotations

import numpy as np

from msvm_select.lessons.base import Step, Steps, tau_of, wrong
from msvm_select.records import Dual, Floats


def perceptron(dual: Dual, most: int = 200) -> Steps:
    """A step is one epoch: every sample once."""
    K = dual.gram.matrix
    alpha, h = np.zeros((dual.m, dual.Q)), np.zeros((dual.m, dual.Q))
    for epoch in range(1, most + 1):
        mistakes = 0
        for i, y in enumerate(dual.y):
            others = h[i].copy()
            others[y] = -np.inf
            k = int(others.argmax())
            if h[i, y] - others[k] <= 0.0:
                alpha[i, k] += 1.0
                h[:, y] += K[:, i]
                h[:, k] -= K[:, i]
                mistakes += 1
        left, b = wrong(dual, h), np.zeros(dual.Q)
        yield Step(epoch, None, left, alpha.copy(), b, mistakes == 0)
        if mistakes == 0:
            return


def narrowest(dual: Dual, alpha: Floats) -> float:
    """The least (h_{y_i} - h_k) / ||w_{y_i} - w_k|| of a sample; below 0 if wrong."""
    tau = tau_of(dual, alpha)
    F = dual.gram.product(tau)
    S = tau.T @ F
    size = np.sqrt(np.add.outer(np.diag(S), np.diag(S)) - S - S.T)
    margins = F[np.arange(dual.m), dual.y][:, None] - F
    there = size[dual.y] > 0.0
    far = np.full_like(margins, np.inf)
    return float(np.divide(margins, size[dual.y], out=far, where=there).min())
