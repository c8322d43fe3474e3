"""Probabilities of new samples, and how far they can be trusted.

The left-out outputs are those of samples that a machine never saw, so that they tell
how sure it may be of new ones. One temperature T for all classes, p = softmax(h / T),
leaves the order of the classes as it is: the most probable class is the predicted one.
It is the one that fits these outputs best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from msvm_select.left_out import first_of_largest
from msvm_select.metrics.base import Answers
from msvm_select.records import TIE, Floats, Ints

MOST_LOST = 36.0  # by one sample in the log-loss: its p is 2e-16 or less
BINS = 10  # of equal width, by the largest probability


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

    h = np.ascontiguousarray(outputs, dtype=np.float64)
    w = np.ones(y.size) if weights is None else weights
    losses, slopes, curvatures = np.empty((3, y.size))
    beta, least = temper(h, y, w, losses, slopes, curvatures)
    losses = np.minimum(losses, MOST_LOST)
    return 1.0 / beta, Tempered(losses, slopes, curvatures, least)


@dataclass(frozen=True, eq=False)
class Reliability:
    """What was claimed and what came true, in bins of the largest probability.

    Each (BINS,): ``weight``, of the samples in the bin; ``claimed``, their mean largest
    probability; ``right``, the share of them that were predicted right. NaN where a bin
    is empty.
    """

    weight: Floats
    claimed: Floats
    right: Floats

    @classmethod
    def of(
        cls, y: Ints, predicted: Ints, p: Floats, weights: Floats | None = None
    ) -> Reliability:
        """Of samples of the classes y with the probabilities p (m, Q), where known."""
        known = np.isfinite(p).all(axis=1)
        w = (np.ones(y.size) if weights is None else weights)[known]
        largest, hit = p[known].max(axis=1), (predicted == y)[known]
        at = np.minimum((BINS * largest).astype(np.int64), BINS - 1)

        def sums(values: Floats) -> Floats:
            return np.bincount(at, w * values, BINS).astype(np.float64)

        weight = sums(np.ones(w.size))
        with np.errstate(invalid="ignore"):
            claimed, right = sums(largest) / weight, sums(hit) / weight
        return cls(weight, claimed, right)

    @property
    def error(self) -> float:
        """The expected calibration error, sum_b w_b |right_b - claimed_b| / sum w."""
        if not self.weight.any():
            return math.nan
        gap = np.abs(self.right - self.claimed)
        return float(np.nansum(self.weight * gap) / self.weight.sum())


@dataclass(frozen=True, eq=False)
class Calibration:
    """The temperature of a machine, and how reliable its probabilities were with it."""

    temperature: float
    reliability: Reliability

    @classmethod
    def of(cls, a: Answers) -> Calibration:
        """By the outputs for samples that the machine never saw; all must be known."""
        T = temperature(a.y, a.outputs, a.weights)
        p = probabilities(a.outputs, T)
        return cls(T, Reliability.of(a.y, a.predicted, p, a.weights))


def probabilities(h: Floats, T: float) -> Floats:
    """softmax(h / T) (p, Q), of which the first of the largest is the predicted class.

    Outputs that tie but for rounding are alike. Where a large T has made others alike
    too, the predicted class gets the least that is more.
    """
    most = h.max(axis=1, keepdims=True)
    p, best = softmax(np.where(h >= most - TIE, most, h), T), first_of_largest(h)
    off = np.flatnonzero(p.argmax(axis=1) != best)
    p[off, best[off]] = np.nextafter(p[off].max(axis=1), 2.0)
    return p
