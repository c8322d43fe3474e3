"""The loops of two metrics over all samples and classes, compiled.

A sweep computes metrics in every cell, and most cells take a few milliseconds: a dozen
calls of numpy for each step of a fit would be a good part of that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

NOTHING = -40.0  # exp of less adds nothing to 1


@njit(cache=True, nogil=True, error_model="numpy")
def temper(
    beta: float, h: Any, y: Any, losses: Any, slopes: Any, curvatures: Any
) -> None:  # pragma: no cover (compiled)
    """ln sum_k exp(beta h_k) - beta h_y of each row (m, Q), with its two derivatives.

    A row whose own class has -inf has the loss inf, which no beta changes.
    """
    m, Q = h.shape
    for i in range(m):
        top = h[i, 0]
        for k in range(1, Q):
            top = max(top, h[i, k])
        own = h[i, y[i]] - top
        total = first = second = 0.0
        for k in range(Q):
            d = h[i, k] - top
            if beta * d > NOTHING:
                e = np.exp(beta * d)
                total += e
                first += e * d
                second += e * d * d
        first /= total
        losses[i], slopes[i], curvatures[i] = np.inf, 0.0, 0.0
        if own > -np.inf:
            losses[i] = np.log(total) - beta * own
            slopes[i] = first - own
            curvatures[i] = max(second / total - first * first, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def leads_of(h: Any, leads: Any) -> None:  # pragma: no cover (compiled)
    """h_k - max_{l != k} h_l (m, Q)."""
    m, Q = h.shape
    for i in range(m):
        top = second = -np.inf
        for k in range(Q):
            if h[i, k] > top:
                top, second = h[i, k], top
            elif h[i, k] > second:
                second = h[i, k]
        alone = True  # of those that tie for the largest each leads by 0
        for k in range(Q):
            if h[i, k] == top and alone:
                leads[i, k], alone = top - second, False
            else:
                leads[i, k] = h[i, k] - top


@njit(cache=True, nogil=True, error_model="numpy")
def areas(
    scores: Any, order: Any, y: Any, w: Any, without: Any
) -> float:  # pragma: no cover (compiled)
    """The mean over the classes of U / (P N), U the weight of pairs that stand right.

    ``order`` (m, Q) sorts each column of ``scores``; a tie counts half. ``without``
    (m,) becomes the mean of all samples but each: a sample takes its pairs with it, and
    a class that it leaves without samples, or without others, counts no more.
    """
    m, Q = scores.shape
    pairs, count, total, classes = np.empty(m), np.zeros(m), 0.0, 0
    without[:] = 0.0
    for k in range(Q):
        P = N = U = 0.0
        own = 0
        for i in range(m):
            if y[i] == k:
                P, own = P + w[i], own + 1
            else:
                N += w[i]
        if own == 0 or own == m:
            continue
        begin, low_P, low_N = 0, 0.0, 0.0
        while begin < m:
            end, tied_P, tied_N = begin, 0.0, 0.0
            score = scores[order[begin, k], k]
            while end < m and scores[order[end, k], k] == score:
                i = order[end, k]
                if y[i] == k:
                    tied_P += w[i]
                else:
                    tied_N += w[i]
                end += 1
            for t in range(begin, end):
                i = order[t, k]
                if y[i] == k:
                    pairs[i] = w[i] * (low_N + 0.5 * tied_N)
                    U += pairs[i]
                else:
                    pairs[i] = w[i] * (P - low_P - 0.5 * tied_P)
            begin, low_P, low_N = end, low_P + tied_P, low_N + tied_N
        total, classes = total + U / (P * N), classes + 1
        for i in range(m):
            if own > 1 if y[i] == k else m - own > 1:
                left = (P - w[i]) * N if y[i] == k else P * (N - w[i])
                without[i] += (U - pairs[i]) / left
                count[i] += 1.0
    for i in range(m):
        without[i] /= max(count[i], 1.0)
    return total / classes if classes else np.nan
