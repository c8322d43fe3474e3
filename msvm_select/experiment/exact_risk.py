"""The exact risk of a classifier under the law of the three Gaussians; the least one.

Every classifier here decides by the largest of its scores

    s_k(x) = q_k ||x||^2 + <w_k, x> + b_k,

Bayes' classifier (the logarithm of each density) as well as a linear one (q = 0). Along
a line the best class changes only at roots of quadratics, and between them the mass of
a Gaussian is a difference of its distribution function: what is left is one quadrature,
across the lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from msvm_select.generate import CENTRES, VARIANCES
from msvm_select.records import Floats

CLASSES = len(CENTRES)
PAIRS = ((0, 1), (0, 2), (1, 2))
FAR = 60.0  # from 0: beyond it lies less than 1e-40 of any class
LINES = 4000
DIRECTIONS = 12
SEARCH: Any = {"eps": 1e-4, "gtol": 1e-6}  # a gradient by differences of that step
FEW_LINES = 1000  # an error of 1e-6 in the risk moves the optimum, not its risk


@dataclass(frozen=True, eq=False)
class Classifier:
    """The scores q_k ||x||^2 + <w_k, x> + b_k: q (3,), w (3, 2), b (3,)."""

    q: Floats
    w: Floats
    b: Floats

    @classmethod
    def linear(cls, w: Floats, b: Floats) -> Classifier:
        """Scores <w_k, x> + b_k."""
        return cls(np.zeros(CLASSES), np.asarray(w), np.asarray(b))

    @classmethod
    def bayes(cls) -> Classifier:
        """The logarithms of the densities, up to one constant."""
        centres, variances = np.array(CENTRES), np.array(VARIANCES)
        squares = np.einsum("kj,kj->k", centres, centres)
        return cls(
            q=-0.5 / variances,
            w=centres / variances[:, None],
            b=-0.5 * squares / variances - np.log(variances),
        )

    def scores(self, X: Floats) -> Floats:
        """(p, 3) for the rows of X."""
        squares = np.einsum("ij,ij->i", X, X)
        return np.asarray(squares[:, None] * self.q + X @ self.w.T + self.b)

    def turned(self, angle: float) -> Classifier:
        """The same scores in coordinates along ``angle`` and across it."""
        return Classifier(self.q, self.w @ frame(angle), self.b)


def risk(classifier: Classifier, lines: int = LINES) -> float:
    """The share of points that the classifier gets wrong, all classes alike."""
    angle = clear_direction(classifier)
    turned = classifier.turned(angle)
    step = 2.0 * FAR / lines
    across: Floats = -FAR + step * (np.arange(lines, dtype=np.float64) + 0.5)
    centres = np.array(CENTRES) @ frame(angle)
    ends, best = intervals(turned, across)
    right = np.zeros(lines)
    for k, (centre, variance) in enumerate(zip(centres, VARIANCES, strict=True)):
        sigma = math.sqrt(variance)
        masses = np.diff(ndtr((ends - centre[0]) / sigma), axis=0)
        along = np.where(best == k, masses, 0.0).sum(axis=0)
        away = (across - centre[1]) / sigma
        right += along * np.exp(-0.5 * away * away) / (sigma * math.sqrt(2.0 * math.pi))
    return 1.0 - step * float(right.sum()) / CLASSES


def intervals(classifier: Classifier, across: Floats) -> tuple[Floats, Floats]:
    """On each line the ends of the intervals of one best class, and these classes.

    Lines run along the first coordinate, at ``across`` of the second one.
    """
    roots = [np.full_like(across, -FAR), np.full_like(across, FAR)]
    constant = (
        np.outer(classifier.q, across * across)
        + np.outer(classifier.w[:, 1], across)
        + classifier.b[:, None]
    )
    for a, b in PAIRS:
        square = classifier.q[a] - classifier.q[b]
        slope = classifier.w[a, 0] - classifier.w[b, 0]
        roots += quadratic_roots(square, slope, constant[a] - constant[b])
    ends = np.sort(np.clip(roots, -FAR, FAR), axis=0)
    middle = 0.5 * (ends[1:] + ends[:-1])
    scores = [
        classifier.q[k] * middle**2 + classifier.w[k, 0] * middle + constant[k]
        for k in range(CLASSES)
    ]
    return ends, np.argmax(scores, axis=0)


def quadratic_roots(square: float, slope: float, constant: Floats) -> list[Floats]:
    """The real roots of square t^2 + slope t + constant; FAR where there is none."""
    nowhere = np.full_like(constant, FAR)
    if square == 0.0:
        return [nowhere if slope == 0.0 else -constant / slope]
    inside = slope * slope - 4.0 * square * constant
    width = np.sqrt(np.maximum(inside, 0.0))
    return [
        np.where(inside > 0.0, (-slope + sign * width) / (2.0 * square), nowhere)
        for sign in (-1.0, 1.0)
    ]


def frame(angle: float) -> Floats:
    """Columns: the direction of the angle, and the one across it."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])


def clear_direction(classifier: Classifier) -> float:
    """The angle, of some, that is farthest from all straight boundaries.

    Along a boundary the best class would change all at once from line to line.
    """
    angles = np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    along = np.stack([np.cos(angles), np.sin(angles)])
    normals = np.array([classifier.w[a] - classifier.w[b] for a, b in PAIRS])
    sizes = np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
    clear = np.abs(normals @ along) / sizes[:, None]
    return float(angles[clear.min(axis=0).argmax()])


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
    return risk(_classifier(parameters), FEW_LINES)


def _classifier(parameters: Floats) -> Classifier:
    """The last class has the score 0."""
    scores = np.vstack([parameters.reshape(CLASSES - 1, -1), np.zeros(3)])
    return Classifier.linear(scores[:, :-1], scores[:, -1])
