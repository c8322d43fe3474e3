"""The experiment of Guermeur, Maumy and Sur: C by the guaranteed risk, exact risks.

Three Gaussian classes in the plane, a linear machine on raw features (no scaling), C
upward by a constant step, each training begun at the last solution. The paper's
algorithm ends with C := C_{i_0}, one step beyond the value whose bound is least; here C
is that value itself.

Every classifier here decides by the largest of its scores

    s_k(x) = q_k ||x||^2 + <w_k, x> + b_k,

Bayes' classifier (the logarithm of each density) as well as a linear one (q = 0). Along
a line the best class changes only at roots of quadratics, and between them the mass of
a Gaussian is a difference of its distribution function. What is left of the exact risk
is one quadrature, across the lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from msvm_select.criteria.base import Cell
from msvm_select.criteria.guaranteed_risk import GuaranteedRiskTerms, guaranteed_risk
from msvm_select.generate import CENTRES, VARIANCES, three_gaussians
from msvm_select.records import Dataset, Floats
from msvm_select.settings import Settings, settings_from
from msvm_select.settings.values import GridLike
from msvm_select.train.along_C import one_setting
from msvm_select.train.events import Progress, silent

GRID = "0.0001:0.003:+0.0001"
GAP = 1e-8  # a looser one moves the third digit of the margin risk
CLASSES = len(CENTRES)
PAIRS = ((0, 1), (0, 2), (1, 2))
FAR = 60.0  # from 0: beyond it lies less than 1e-40 of any class
LINES = 4000
DIRECTIONS = 12
SEARCH: Any = {"eps": 1e-4, "gtol": 1e-6}  # a gradient by differences of that step
REACH = 200.0  # a straight boundary is drawn so far
FEW_LINES = 1000  # an error of 1e-6 in the risk moves the optimum, not its risk


@dataclass(frozen=True, eq=False)
class Step:
    """The machine of one C: its guaranteed risk, and the risk that it has."""

    seed: int
    C: float
    terms: GuaranteedRiskTerms
    train_error: float
    risk: float
    machine: Classifier
    converged: bool


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """One training set and its way along C."""

    data: Dataset
    seed: int
    steps: tuple[Step, ...]

    @cached_property
    def selected(self) -> Step:
        """Where the guaranteed risk is least, at the smaller C if twice."""
        return min(self.steps, key=lambda step: step.terms.value)

    @cached_property
    def best(self) -> Step:
        """Where the risk itself is least, which no one knows but here."""
        return min(self.steps, key=lambda step: step.risk)


@dataclass(frozen=True, eq=False)
class Experiment:
    """All training sets, and the risks that need none."""

    sets: tuple[TrainingSet, ...]
    per_class: int
    settings: Settings
    bayes: float
    best_linear: float

    @property
    def converged(self) -> bool:
        """Whether every machine is at its optimum."""
        return all(step.converged for one in self.sets for step in one.steps)


def experiment_settings(
    C: GridLike | None = None, format: str | None = None
) -> Settings:
    """Those of the paper, in the settings of a sweep; its C are the grid's."""
    return settings_from(
        {
            "kernel": "linear",
            "scale": "none",
            "C": C or GRID,
            "gap": GAP,
            "criteria": "guaranteed-risk",
            "format": format,
        }
    )


def train_set(
    settings: Settings, per_class: int, seed: int, progress: Progress = silent
) -> TrainingSet:
    """Draw a training set, train along C, and take every risk."""
    drawn = three_gaussians(per_class, seed)
    data = replace(drawn, name=f"{drawn.name} (seed {seed})")
    cells = one_setting(data, settings, progress)
    return TrainingSet(data, seed, tuple(_step(one.cell, seed) for one in cells))


def gather_sets(
    sets: tuple[TrainingSet, ...], per_class: int, settings: Settings
) -> Experiment:
    """With the risk of Bayes' classifier and that of the best linear one."""
    bayes = risk(Classifier.bayes())
    return Experiment(sets, per_class, settings, bayes, risk(best_linear()))


def _step(cell: Cell, seed: int) -> Step:
    solution = cell.solution
    machine = linear_machine(cell)
    return Step(
        seed=seed,
        C=solution.dual.C,
        terms=guaranteed_risk(cell),
        train_error=solution.train_errors / solution.dual.m,
        risk=risk(machine),
        machine=machine,
        converged=solution.converged,
    )


def linear_machine(cell: Cell) -> Classifier:
    """h_k(x) = <w_k, x> + b_k on raw features: the scaling goes into w and b."""
    scaling, solution = cell.scaling, cell.solution
    w = solution.tau.T @ scaling.apply(cell.data.X) / scaling.scale
    return Classifier.linear(w, solution.b - np.asarray(w @ scaling.shift))


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


def boundaries(classifier: Classifier) -> list[Floats]:
    """The points (p, 2) of each pair's boundary; NaN where a third class is better."""
    found = []
    for a, b in PAIRS:
        curve = _equal(classifier, a, b)
        if curve is not None:
            scores = classifier.scores(curve)
            leads = scores[:, a] >= scores[:, 3 - a - b]
            found.append(np.where(leads[:, None], curve, np.nan))
    return found


def _equal(classifier: Classifier, a: int, b: int) -> Floats | None:
    """Where the scores of two classes are equal: a circle, a line, or nothing."""
    q = float(classifier.q[a] - classifier.q[b])
    w = classifier.w[a] - classifier.w[b]
    constant = float(classifier.b[a] - classifier.b[b])
    t = np.linspace(0.0, 1.0, 4001)
    if q != 0.0:
        centre = -0.5 * w / q
        square = float(centre @ centre) - constant / q
        if square <= 0.0:
            return None
        turn = 2.0 * np.pi * t
        around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        return np.asarray(centre + np.sqrt(square) * around)
    size = float(w @ w)
    if size == 0.0:
        return None
    along = np.array([-w[1], w[0]]) / np.sqrt(size)
    foot = -constant * w / size
    return np.asarray(foot + REACH * (2.0 * t - 1.0)[:, None] * along)
