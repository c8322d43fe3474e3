"""The experiment of Guermeur, Maumy and Sur: C by the guaranteed risk, exact risks.

Three Gaussian classes in the plane, a linear machine on raw features (no scaling), C
upward by a constant step, each training begun at the last solution. The paper's
algorithm ends with C := C_{i_0}, one step beyond the value whose bound is least; here C
is that value itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from msvm_select.criteria.base import Cell
from msvm_select.criteria.guaranteed_risk import GuaranteedRiskTerms, guaranteed_risk
from msvm_select.experiment.exact_risk import Classifier, best_linear, risk
from msvm_select.generate import three_gaussians
from msvm_select.records import Dataset
from msvm_select.settings import Settings, settings_from
from msvm_select.settings.grids import GridLike
from msvm_select.train.along_C import one_setting
from msvm_select.train.events import Progress, silent

GRID = "0.0001:0.003:+0.0001"
GAP = 1e-6


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
