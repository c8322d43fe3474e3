"""Probabilities from outputs, and the one temperature that fits them best."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from msvm_select.records import Floats, Ints

MOST_LOST = 36.0  # by one sample in the log-loss: its p is 2e-16 or less
FLATTEST, STEEPEST = 1e-3, 1e6  # 1/temperature, by the mean spread of the outputs
Sums = Callable[[float], Floats]  # of a convex function and its derivatives
STEPS, CLOSE = 60, 1e-6  # of Newton's method, which takes ten or so
HALVINGS = 40


def softmax(outputs: Floats, T: float) -> Floats:
    """p_k = exp(h_k / T) / sum_l exp(h_l / T) (m, Q)."""
    e = np.exp((outputs - outputs.max(axis=1, keepdims=True)) / T)
    return np.asarray(e / e.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Tempered:
    """-ln p_y of each sample, with its slope and its curvature in beta = 1/T.

    A sample whose class is absent has the largest loss, whatever beta is. ``least``:
    beta is where the loss is least, as there are errors.
    """

    losses: Floats
    slopes: Floats
    curvatures: Floats
    least: bool


def temperature(y: Ints, outputs: Floats, weights: Floats | None = None) -> float:
    """The T for which the log-loss of softmax(outputs / T) is least.

    ``outputs`` (m, Q) are known up to a constant in each row; -inf is an absent class,
    and a sample whose own class is absent says nothing of T. Where every sample is
    right the loss falls for ever: then T is the one at which the mean is
    ln 2 / (m + 1), m the sum of the weights: less than with any error.
    """
    return fitted(y, outputs, weights)[0]


def fitted(
    y: Ints, outputs: Floats, weights: Floats | None = None
) -> tuple[float, Tempered]:
    """The same T, and what the samples lose at it."""
    from msvm_select.metrics.loops import temper

    m = y.size
    h, found = np.ascontiguousarray(outputs, dtype=np.float64), np.empty((3, m))
    top, own = h.max(axis=1), h[np.arange(m), y]
    known = own > -np.inf
    w = np.where(known, 1.0 if weights is None else weights, 0.0)
    whole = float(w.sum())
    finite = h > -np.inf
    below = np.where(finite, top[:, None] - h, 0.0)
    spread = float(below.sum() / max(1, finite.sum()))

    def sums(beta: float) -> Floats:
        temper(beta, h, y, *found)
        return np.asarray(np.where(known, found, 0.0) @ w / whole)

    beta, least = 1.0, bool((own < top)[known].any())
    if spread > 0.0 and whole > 0.0:
        low, high = FLATTEST / spread, STEEPEST / spread
        if least:
            beta = _least(sums, low, high, 1.0 / spread)
        else:
            beta = _falls_to(math.log(2.0) / (whole + 1.0), sums, low, high)
    temper(beta, h, y, *found)
    losses, slopes, curvatures = found
    return 1.0 / beta, Tempered(
        np.minimum(losses, MOST_LOST), slopes, curvatures, least
    )


def _falls_to(loss: float, sums: Sums, low: float, high: float) -> float:
    """Where a mean that falls between the two is ``loss``; else the nearer end."""
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if sums(middle)[0] > loss else (low, middle)
    return high


def _least(sums: Sums, low: float, high: float, beta: float) -> float:
    """Where a convex function is least between the two, by Newton's method."""
    for _ in range(STEPS):
        _, slope, curvature = sums(beta)
        low, high = (low, beta) if slope > 0.0 else (beta, high)
        step = beta - slope / curvature if curvature > 0.0 else 0.0
        new = step if low < step < high else math.sqrt(low * high)
        beta, moved = new, abs(new - beta)
        if moved <= CLOSE * beta:  # and what is left is the square of that
            break
    return beta
