"""A machine over two features with its samples, ready to be drawn."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.model import Model, train_cell
from msvm_select.model.left_out import leave_one_out
from msvm_select.phrases import listed
from msvm_select.records import Dataset, Floats, Mask
from msvm_select.settings import settings_from

QUICK = 1000  # samples up to which leaving out is quick
NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class Plane:
    """Samples X (m, 2) with their classes, in the units of the data.

    ``wrong`` marks the samples to cross, and ``meaning`` says what that stands for;
    ``support`` (n_sv, 2) are the support vectors.
    """

    model: Model
    X: Floats
    labels: tuple[str, ...]
    support: Floats
    wrong: Mask
    meaning: str
    notes: tuple[str, ...] = field(default=())


def check_plane(model: Model, path: str) -> None:
    """Refuse a machine whose regions no plane shows."""
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
    """The samples of ``data``; their errors without themselves, if it is what the
    model was trained on.

    ``left_out``: take them (None: up to QUICK samples, where it takes no time).
    """
    X = np.where(np.isnan(data.X), model.scaling.fill, data.X)
    own = is_training_data(model, data)
    if left_out and not own:
        raise SettingsError(
            f"{data.name} is not what the model was trained on ({model.training.data}, "
            f"{model.training.m} samples), so no sample of it can be left out."
        )
    labels = tuple(data.classes[k] for k in data.y)
    wrong, meaning, notes = np.zeros(data.m, dtype=bool), "", []
    if labels:
        wrong = np.asarray(model.predict(data.X) != np.array(labels))
        meaning = "wrong in training" if own else "wrong"
    wanted = data.m <= QUICK if left_out is None else left_out
    if own and wanted:
        try:
            wrong, meaning = _left_out(model, data), "wrong when left out"
        except MsvmError as error:
            notes.append(f"no sample was left out: {error}")
    elif own and left_out is None:
        notes.append(
            f"with more than {QUICK} samples, those wrong in training are crossed; "
            "--left-out crosses those wrong when left out"
        )
    scaling = model.scaling
    support = model.Z * scaling.scale + scaling.shift
    return Plane(model, X, labels, support, wrong, meaning, tuple(notes))


def is_training_data(model: Model, data: Dataset) -> bool:
    """Whether the support vectors stand where the model says, among as many samples."""
    if data.m != model.training.m or data.classes != model.classes:
        return False
    there = model.scaling.apply(data.X[model.support])
    return bool(np.abs(there - model.Z).max(initial=0.0) <= NEAR)


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
