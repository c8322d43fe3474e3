"""A machine over two features -> its regions, its samples and its errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.model.examined import leave_one_out
from msvm_select.model.model import Model
from msvm_select.phrases import listed
from msvm_select.records import Dataset, Floats, Mask
from msvm_select.settings import settings_from
from msvm_select.train.along_C import train_cell

QUICK = 1000  # samples up to which leaving out is quick
NEAR = 1e-9
POINTS = 320  # of the grid of the regions, each way
AROUND = 0.06  # of the range, beyond the outermost samples


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
    ahead = leads(model.outputs(grid.reshape(-1, 2)))
    return Plane(
        name=model.training.data,
        cell=f"{model.kernel} C={model.C:.6g}",
        features=tuple(model.columns.features),
        classes=model.classes,
        X=X,
        labels=tuple(data.classes[k] for k in data.y),
        support=support,
        wrong=wrong,
        meaning=meaning,
        x=x,
        y=y,
        leads=ahead.T.reshape(-1, y.size, x.size),
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
            "loss": model.training.loss,
            "scale": model.scaling.kind,
            "allow_indefinite": model.certificate.indefinite,
        }
    )
    report = leave_one_out(train_cell(data, settings), settings)
    return np.asarray(report.left_out.wrong)
