"""Probabilities from outputs, and the one temperature that fits them best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select.records import Floats, Ints

MOST_LOST = 36.0  # by one sample in the log-loss: its p is 2e-16 or less


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
