"""One kernel setting trained along C: what each sample and class is at every C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.kernels.base import Kernel
from msvm_select.model.fitting import tested
from msvm_select.names import MACHINES
from msvm_select.records import Dataset, Floats
from msvm_select.row import Row
from msvm_select.settings import PARAMETERS, Settings
from msvm_select.solution import Solution
from msvm_select.sweep.progress import (
    CellDone,
    CellStarted,
    Progress,
    silent,
)
from msvm_select.train.along_C import make_solver
from msvm_select.train.prepare import prepared

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
    """Train at each C of ``settings``, each begun at the one before.

    >>> paths_of(data, settings_from({"C": "2^-3:2^9:25", "gamma": 0.5}), "outputs")
    """
    lines, open_Cs, told = [], [], ""
    for kernel, solution in _along_C(data, settings, progress):
        told = str(kernel)
        lines.append(_quantity(solution, of))
        if not solution.converged:
            open_Cs.append(solution.dual.weight)
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


def _along_C(
    data: Dataset, settings: Settings, progress: Progress
) -> Iterator[tuple[Kernel, Solution]]:
    ready = prepared(data, settings)
    if (count := len(ready.kernels)) > 1:
        raise SettingsError(
            f"Paths are those of one kernel setting, and there are {count}: "
            f"give one --kernel, and one value of each of {', '.join(PARAMETERS)}."
        )
    (kernel,) = ready.kernels
    ready.check_memory()
    progress(ready.started())
    solver, machine = make_solver(settings), MACHINES[settings.loss]()
    gram = kernel.gram(ready.X)
    tested(kernel, gram, settings.allow_indefinite, progress)
    last: Solution | None = None
    for C in settings.C:
        progress(CellStarted(kernel, C))
        last = solver.solve(machine.dual(gram, data.y, data.Q, C), start=last)
        yield kernel, replace(last, carry=None)
        point: dict[str, Any] = {"kernel": kernel.name, **kernel.parameters, "C": C}
        progress(CellDone(Row(**point)))


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
