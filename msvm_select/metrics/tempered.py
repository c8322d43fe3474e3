"""Probabilities from outputs, and the one temperature that fits them best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from msvm_select.records import Floats, Ints, Mask

MOST_LOST = (
    36.0  # the most that one sample adds to the log-loss: its p is 2e-16 or less
)
FLATTEST, STEEPEST = 1e-3, 1e6  # 1/temperature, by the mean spread of the outputs
Sums = Callable[[float], Sequence[float]]  # of a convex function and its derivatives
STEPS, HALVINGS = 60, 40  # of Newton's method, which takes six or so; of an interval


def softmax(outputs: Floats, T: float) -> Floats:
    """p_k = exp(h_k / T) / sum_l exp(h_l / T) (m, Q)."""
    e = np.exp((outputs - outputs.max(axis=1, keepdims=True)) / T)
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def temperature(y: Ints, outputs: Floats, weights: Floats | None = None) -> float:
    """The T for which the log-loss of softmax(outputs / T) is least.

    ``outputs`` (m, Q) are known up to a constant in each row; -inf is an absent class,
    and a sample whose own class is absent says nothing of T. Where every sample is
    right the loss falls for ever: then T is the one at which the mean is
    ln 2 / (m + 1), m the sum of the weights: less than with any error.
    """
    d, own, known = _below_largest(y, outputs)
    w = np.ones(y.size) if weights is None else weights
    d, own, w = d[known], own[known], w[known]
    finite = np.isfinite(d)
    spread = float(-d[finite].sum() / max(1, finite.sum()))
    if not spread > 0.0:
        return 1.0
    whole = float(w.sum())
    w = w / whole
    low, high = FLATTEST / spread, STEEPEST / spread

    def sums(beta: float) -> list[float]:
        return [float(w @ term) for term in _terms(beta, d, own)]

    if (own < 0.0).any():
        return 1.0 / _least(sums, low, high, 1.0 / spread)
    return 1.0 / _falls_to(math.log(2.0) / (whole + 1.0), sums, low, high)


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
        if abs(new - beta) <= 1e-12 * beta:
            break
        beta = new
    return beta


@dataclass(frozen=True, eq=False)
class Tempered:
    """-ln p_y of each sample, with its slope and its curvature in beta = 1/T."""

    losses: Floats
    slopes: Floats
    curvatures: Floats
    least: bool

    @classmethod
    def at(cls, beta: float, y: Ints, outputs: Floats) -> Tempered:
        """A sample whose class is absent has the largest loss, whatever beta is."""
        d, own, known = _below_largest(y, outputs)
        losses, slopes, curvatures = _terms(beta, d, own)
        losses = np.where(known, np.minimum(losses, MOST_LOST), MOST_LOST)
        slopes, curvatures = np.where(known, (slopes, curvatures), 0.0)
        return cls(losses, slopes, curvatures, bool((own[known] < 0.0).any()))


def _below_largest(y: Ints, outputs: Floats) -> tuple[Floats, Floats, Mask]:
    """d = h - max h (m, Q), that of the own class, and where that is there at all."""
    d = outputs - outputs.max(axis=1, keepdims=True)
    own = d[np.arange(y.size), y]
    known = np.isfinite(own)
    return d, np.where(known, own, 0.0), known


def _terms(beta: float, d: Floats, own: Floats) -> tuple[Floats, Floats, Floats]:
    """ln sum exp(beta d) - beta d_y, and its first two derivatives in beta."""
    e = np.exp(beta * d)
    total = e.sum(axis=1)
    finite = np.where(np.isfinite(d), d, 0.0)
    first = np.einsum("ik,ik->i", e, finite) / total
    second = np.einsum("ik,ik,ik->i", e, finite, finite) / total
    return np.log(total) - beta * own, first - own, second - first**2
