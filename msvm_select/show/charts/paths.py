"""One kernel setting trained along C: what each sample and class is at every C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select.records import Dataset, Floats
from msvm_select.settings import Settings
from msvm_select.solution import Solution
from msvm_select.train.along_C import one_setting
from msvm_select.train.events import Progress, silent

NAMED = 10  # samples that are told by name
QUANTITIES = {
    "alpha": "sum of the sample's alpha / C",
    "outputs": "output of the own class - largest of the others",
    "norm": "||w_k||",
}


@dataclass(frozen=True, eq=False)
class Paths:
    """``lines`` (lines, len(Cs)): one a sample, or of the norm one a class.

    ``guides`` are values with a meaning, by name; ``open_Cs`` those C whose training
    did not converge.
    """

    name: str
    setting: str
    of: str
    Cs: tuple[float, ...]
    lines: Floats
    names: tuple[str, ...]
    groups: tuple[int, ...]
    classes: tuple[str, ...]
    guides: dict[str, float]
    open_Cs: tuple[float, ...] = ()


def paths_of(
    data: Dataset, settings: Settings, of: str = "alpha", progress: Progress = silent
) -> Paths:
    """Train at each C of ``settings``, each started from the one before.

    >>> paths_of(data, settings_from({"C": "2^-3:2^9:25", "gamma": 0.5}), "outputs")
    """
    lines, open_Cs, told = [], [], ""
    for cell in one_setting(data, settings, progress):
        told = str(cell.kernel)
        lines.append(_quantity(cell.solution, of))
        if not cell.solution.converged:
            open_Cs.append(cell.C)
    each_class = of == "norm"
    samples = data.ids or tuple(str(i + 1) for i in range(data.m))
    return Paths(
        name=data.name,
        setting=told if settings.loss == "l1" else f"{told} loss={settings.loss}",
        of=of,
        Cs=settings.C,
        lines=np.stack(lines, axis=1),
        names=data.classes if each_class else samples,
        groups=tuple(range(data.Q)) if each_class else tuple(data.y.tolist()),
        classes=data.classes,
        guides=_guides(of, settings),
        open_Cs=tuple(open_Cs),
    )


def _quantity(solution: Solution, of: str) -> Floats:
    """One number a sample, or of the norm one a class."""
    if of == "alpha":
        return np.asarray(solution.alpha.sum(axis=1) / solution.dual.weight)
    if of == "norm":
        squares = (solution.tau * solution.F).sum(axis=0)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
    h, own = solution.decisions, solution.dual.y
    others = h.copy()
    others[np.arange(own.size), own] = -np.inf
    return np.asarray(h[np.arange(own.size), own] - others.max(axis=1))


def _guides(of: str, settings: Settings) -> dict[str, float]:
    if of == "outputs":
        return {"wrong below": 0.0, "margin": 1.0}
    if of == "alpha" and settings.loss == "l1":
        return {"one alpha at C": 1.0}
    return {}


def matter(chart: Paths) -> list[int]:
    """The lines to name: all of a few; else those that weigh, or move, the most.

    For alpha those of the largest mean share of C, for outputs the least mean.
    """
    if len(chart.lines) <= NAMED:
        return list(range(len(chart.lines)))
    mean = chart.lines.mean(axis=1)
    order = np.argsort(mean if chart.of == "outputs" else -mean, kind="stable")
    return [int(i) for i in order[:NAMED]]
