"""The linear classifier of the least risk, which no sample can better."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import minimize

from msvm_select.experiment.exact_risk import CLASSES, Classifier, risk
from msvm_select.generate import CENTRES, VARIANCES
from msvm_select.records import Floats

SEARCH: Any = {"eps": 1e-4, "gtol": 1e-6}  # a gradient by differences of that step
LINES = 1000  # an error of 1e-6 in the risk moves the optimum, not its risk


@cache
def best_linear() -> Classifier:
    """The least exact risk over the scores of two classes against the third.

    The search starts from Gaussians of one variance, whose boundaries are straight.
    """
    centres, variance = np.array(CENTRES), float(np.mean(VARIANCES))
    squares = np.einsum("kj,kj->k", centres, centres)
    start = np.column_stack([centres, -0.5 * squares]) / variance
    free = np.asarray(start[:-1] - start[-1], dtype=np.float64).ravel()
    return _classifier(minimize(_risk, free, method="BFGS", options=SEARCH).x)


def _risk(parameters: Floats) -> float:
    return risk(_classifier(parameters), LINES)


def _classifier(parameters: Floats) -> Classifier:
    """The last class has the score 0."""
    scores = np.vstack([parameters.reshape(CLASSES - 1, -1), np.zeros(3)])
    return Classifier.linear(scores[:, :-1], scores[:, -1])
