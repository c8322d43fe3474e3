"""Samples of a machine: along C, and in the plane of two features.

``paths_of`` trains one kernel setting along C: what each sample or class is at every C.
``plane_of`` has the regions of a fitted machine, its samples and its errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.model.examined import leave_one_out
from msvm_select.model.model import Model
from msvm_select.parts import Composed
from msvm_select.phrases import listed
from msvm_select.records import Dataset, Floats, Mask
from msvm_select.settings import Settings, settings_from
from msvm_select.show.charts.scale import Grid
from msvm_select.solution import Solution
from msvm_select.train.along_C import one_setting, train_cell
from msvm_select.train.events import Progress, silent

NAMED = 10  # samples that are told by name
QUANTITIES = {
    "alpha": ("alpha along C", "sum of the sample's alpha / C"),
    "outputs": ("outputs along C", "output of the own class - largest of the others"),
    "norm": ("norms along C", "||w_k||"),
}
GUIDES = {
    "alpha": {"one alpha at C": 1.0},
    "outputs": {"wrong below": 0.0, "margin": 1.0},
    "norm": {},
}
QUICK = 1000  # samples up to which leaving out is quick
NEAR = 1e-9
POINTS = 320  # of the grid of the regions, each way
AROUND = 0.06  # of the range, beyond the outermost samples


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

    @cached_property
    def grid(self) -> Grid:
        """Where the values of C stand."""
        return Grid(self.Cs)

    @property
    def told(self) -> tuple[str, str]:
        """What is drawn, and what its values are."""
        return QUANTITIES[self.of]

    @cached_property
    def named(self) -> list[int]:
        """The lines to name: all of a few; else those that weigh, or move, the most.

        For alpha those of the largest mean share of C, for outputs the least mean.
        """
        if len(self.lines) <= NAMED:
            return list(range(len(self.lines)))
        mean = self.lines.mean(axis=1)
        order = np.argsort(mean if self.of == "outputs" else -mean, kind="stable")
        return [int(i) for i in order[:NAMED]]


def paths_of(
    data: Dataset, settings: Settings, of: str = "alpha", progress: Progress = silent
) -> Paths:
    """Train at each C of ``settings``, each started from the one before.

    >>> paths_of(data, settings_from({"C": "2^-3:2^9:25", "gamma": 0.5}), "outputs")
    """
    if of != "alpha" and settings.machine == "ovo":
        raise SettingsError(
            "With --machine ovo outputs and norms are those of pairs, not of classes: "
            "only --of alpha is drawn."
        )
    lines, open_Cs, told = [], [], ""
    for cell in one_setting(data, settings, progress):
        kind = "" if settings.machine == "ww" else f"{settings.machine} "
        told = f"{kind}{cell.kernel}"
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
        guides={
            name: at
            for name, at in GUIDES[of].items()
            if (of != "alpha" or settings.loss == "l1")
            and (name != "margin" or settings.machine == "ww")
        },
        open_Cs=tuple(open_Cs),
    )


def _quantity(solution: Solution | Composed, of: str) -> Floats:
    """One number a sample, or of the norm one a class."""
    if of == "alpha":
        return np.asarray(solution.alpha.sum(axis=1) / solution.dual.weight)
    if of == "norm":
        if isinstance(solution, Composed):  # a part a class
            return np.asarray(np.sqrt(solution.squares))
        squares = (solution.tau * solution.F).sum(axis=0)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
    h, own = solution.decisions, solution.dual.y
    others = h.copy()
    others[np.arange(own.size), own] = -np.inf
    return np.asarray(h[np.arange(own.size), own] - others.max(axis=1))


@dataclass(frozen=True, eq=False)
class Plane:
    """Samples X (m, 2) with their classes, in the units of the data.

    ``wrong`` marks the samples to cross, and ``meaning`` says what that stands for;
    ``support`` (n_sv, 2) are the support vectors. ``leads`` (Q, len(y), len(x)) says by
    how much each class is ahead at the points of the grid x, y.
    """

    name: str
    cell: str
    features: tuple[str, ...]
    classes: tuple[str, ...]
    X: Floats
    labels: tuple[str, ...]
    support: Floats
    wrong: Mask
    meaning: str
    x: Floats
    y: Floats
    leads: Floats
    notes: tuple[str, ...] = ()


def check_plane(model: Model, path: str) -> None:
    """Refuse a machine whose regions cannot be drawn in a plane."""
    if not model.kernel.is_vector_kernel:
        raise SettingsError(
            f"{path}: a precomputed kernel has no features to draw regions over."
        )
    names = model.columns.features
    if len(names) != 2:
        raise SettingsError(
            f"{path} has {len(names)} features ({listed(names, 4)}), and decision "
            "regions are drawn for two: keep two columns and the class in a file, as "
            "in cut -d, -f1,2,5 data.csv > two.csv, fit on that file and draw its "
            "model."
        )


def plane_of(model: Model, data: Dataset, left_out: bool | None = None) -> Plane:
    """The regions of ``model`` and the samples of ``data``, its errors crossed.

    If the model was trained on ``data``, each sample is judged without itself.
    ``left_out``: whether to do so (None: up to QUICK samples, where it takes no time).
    """
    X = np.where(np.isnan(data.X), model.scaling.fill, data.X)
    wrong, meaning, notes = _wrong(model, data, left_out)
    support = model.Z * model.scaling.scale + model.scaling.shift
    x, y = _axes(np.vstack([X, support]))
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    h = model.outputs(grid.reshape(-1, 2))
    if model.machine == "ovo":  # in a tie of votes the first class is the answer
        h = np.where(np.arange(h.shape[1]) == h.argmax(axis=1)[:, None], 1.0, 0.0)
    kind = "" if model.machine == "ww" else f"{model.machine} "
    return Plane(
        name=model.training.data,
        cell=f"{kind}{model.kernel} C={model.C:.6g}",
        features=tuple(model.columns.features),
        classes=model.classes,
        X=X,
        labels=tuple(data.classes[k] for k in data.y),
        support=support,
        wrong=wrong,
        meaning=meaning,
        x=x,
        y=y,
        leads=leads(h).T.reshape(-1, y.size, x.size),
        notes=notes,
    )


def leads(h: Floats) -> Floats:
    """By how much each class is ahead of the best other one: h_k - max_l h_l."""
    order = np.sort(h, axis=1)
    best, second = order[:, -1:], order[:, -2:-1]
    return np.asarray(np.where(h == best, h - second, h - best))


def is_training_data(model: Model, data: Dataset) -> bool:
    """Whether the support vectors stand where the model says, among as many samples."""
    if data.m != model.training.m or data.classes != model.classes:
        return False
    there = model.scaling.apply(data.X[model.support])
    return bool(np.abs(there - model.Z).max(initial=0.0) <= NEAR)


def _axes(seen: Floats) -> tuple[Floats, Floats]:
    """The points of the grid along each feature, around all that is seen."""
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = AROUND * np.where(high > low, high - low, 1.0)
    x, y = (np.linspace(low[j] - room[j], high[j] + room[j], POINTS) for j in range(2))
    return x, y


def _wrong(
    model: Model, data: Dataset, left_out: bool | None
) -> tuple[Mask, str, tuple[str, ...]]:
    """The samples to cross, what the crosses mean, and what to tell beside."""
    own = is_training_data(model, data)
    if left_out and not own:
        raise SettingsError(
            f"{data.name} is not what the model was trained on ({model.training.data}, "
            f"{model.training.m} samples), so no sample of it can be left out."
        )
    notes: tuple[str, ...] = ()
    if own and (data.m <= QUICK if left_out is None else left_out):
        try:
            return _left_out(model, data), "wrong when left out", ()
        except MsvmError as error:
            notes = (f"no sample was left out: {error}",)
    elif own and left_out is None:
        notes = (
            f"with more than {QUICK} samples, those wrong in training are crossed; "
            "--left-out crosses those wrong when left out",
        )
    if not data.y.size:
        return np.zeros(data.m, dtype=bool), "", notes
    truth = np.array([data.classes[k] for k in data.y])
    wrong = np.asarray(model.predict(data.X) != truth)
    return wrong, "wrong in training" if own else "wrong", notes


def _left_out(model: Model, data: Dataset) -> Mask:
    """Which samples the machine trained without them gets wrong, exactly."""
    settings = settings_from(
        {
            "kernel": model.kernel.name,
            **model.kernel.parameters,
            "C": model.C,
            "machine": model.machine,
            "loss": model.training.loss,
            "scale": model.scaling.kind,
            "allow_indefinite": model.certificate.indefinite,
        }
    )
    report = leave_one_out(train_cell(data, settings), settings)
    return np.asarray(report.left_out.wrong)
