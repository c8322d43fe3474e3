"""A one-versus-one machine as LIBSVM's own model file, for ``svm-predict``.

The file has no place for names and none for scaling. So two files go beside it:
``MODEL.names.json`` says which label is which class and which number is which feature,
and ``MODEL.range`` has the scaling as ``svm-scale -r`` reads it. That program maps the
minimum and the maximum of a feature to 0 and 1; with shift and shift + scale in their
place this is (x - shift) / scale, whichever the scaling.
"""

from __future__ import annotations

import json
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.files import write_whole
from msvm_select.phrases import listed, quoted
from msvm_select.records import Floats, Ints

if TYPE_CHECKING:
    from msvm_select.model.model import Model

ENDING = ".libsvm"
KERNELS = ("linear", "polynomial", "rbf", "sigmoid")
LARGEST = 2**31 - 1  # a label is a C int


def beside(path: str | Path) -> tuple[Path, Path]:
    """The files of the names and of the scaling."""
    return Path(f"{fspath(path)}.names.json"), Path(f"{fspath(path)}.range")


def check(machine: str, loss: str, kernel: str, degree: float | None = None) -> None:
    """Refuse a machine that LIBSVM, and so scikit-learn's SVC, cannot hold."""
    if machine != "ovo":
        raise SettingsError(
            f"The machine {machine!r} is not LIBSVM's, nor that of scikit-learn's SVC: "
            "they have one for each pair of classes. Train that one with --machine ovo."
        )
    if loss != "l1":
        raise SettingsError(
            f"LIBSVM and scikit-learn's SVC have no loss {loss!r}: train with "
            "--loss l1."
        )
    if kernel not in KERNELS:
        raise SettingsError(
            f"A machine of the {kernel} kernel cannot be handed to LIBSVM or "
            f"scikit-learn's SVC; those of {listed(KERNELS)} can."
        )
    if degree is not None and not float(degree).is_integer():
        raise SettingsError(
            f"LIBSVM and scikit-learn's SVC take whole degrees only, not {degree:g}."
        )


def check_model(model: Model) -> None:
    """The same, of a trained one."""
    parameters = model.kernel.parameters
    loss, degree = model.training.loss, parameters.get("degree")
    check(model.machine, loss, model.kernel.name, degree)


def present(model: Model) -> Ints:
    """The classes that had samples: the only ones that LIBSVM knows."""
    pairs = model.pairs[np.isfinite(model.b)]
    return np.unique(pairs)


def with_supports(model: Model) -> Model:
    """The same with classes for its support vectors, as LIBSVM wants them.

    Of a kernel of low rank the pivots have none: each stands once in every class but
    the last, there with its weights in the pairs of that class and later ones.
    """
    if model.training.low_rank is None:
        return model
    Q, r = len(model.classes), model.support.size
    tau = np.zeros((Q, r, Q))
    first, second = model.pairs.T
    tau[first, :, second] = model.tau.T
    there = present(model)[:-1]
    return replace(
        model,
        support=np.tile(model.support, there.size),
        Z=np.tile(model.Z, (there.size, 1)),
        tau=tau[there].reshape(there.size * r, Q),
        y=np.repeat(there, r),
        training=replace(model.training, low_rank=None, rank_error=None),
    )


def coefficients(model: Model) -> tuple[Ints, Floats]:
    """The support vectors, class after class, and LIBSVM's table of their weights.

    It has a row for each, with a column for every class but its own.
    """
    there, order = present(model), np.asarray(model.y.argsort(kind="stable"))
    table = model.tau[order][:, there]
    own = model.y[order][:, None] == there
    return order, table[~own].reshape(order.size, there.size - 1)


def labels_of(model: Model) -> tuple[int, ...]:
    """A whole number a class: its name, if all are such numbers; else 1, 2, ..."""
    try:
        values = [float(name) for name in model.classes]
    except ValueError:
        values = []
    whole = [int(v) for v in values if v.is_integer() and abs(v) <= LARGEST]
    if len(set(whole)) == len(model.classes):
        return tuple(whole)
    return tuple(range(1, len(model.classes) + 1))


def write(model: Model, path: str | Path) -> None:
    """The model file and what goes beside it, each written whole."""
    check_model(model)
    names, scaling = beside(path)
    write_whole(path, model_text(model))
    write_whole(names, names_text(model))
    if model.scaling.kind != "none":
        write_whole(scaling, range_text(model))


def model_text(model: Model) -> str:
    """The model file itself."""
    model = with_supports(model)
    there, labels = present(model), labels_of(model)
    kernel = model.kernel.parameters
    counts = np.bincount(model.y, minlength=len(labels))[there]
    order, weights = coefficients(model)
    lines = ["svm_type c_svc", f"kernel_type {model.kernel.name}"]
    if "degree" in kernel:
        lines.append(f"degree {int(kernel['degree'])}")
    lines += [
        f"{name} {kernel[name]!r}" for name in ("gamma", "coef0") if name in kernel
    ]
    lines += [
        f"nr_class {there.size}",
        f"total_sv {order.size}",
        _line("rho", (-model.b[np.isfinite(model.b)]).tolist()),
        _line("label", [labels[k] for k in there]),
        _line("nr_sv", counts.tolist()),
        "SV",
    ]
    for row, x in zip(weights.tolist(), model.Z[order].tolist(), strict=True):
        features = [f"{j}:{v!r}" for j, v in enumerate(x, 1) if v != 0.0]
        lines.append(" ".join([*map(repr, row), *features]))
    return "\n".join(lines) + "\n"


def names_text(model: Model) -> str:
    """Labels and features by their numbers, as JSON."""
    labels = zip(labels_of(model), model.classes, strict=True)
    features = enumerate(model.columns.features, 1)
    told = {
        "labels": {str(label): name for label, name in labels},
        "features": {str(j): name for j, name in features},
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def range_text(model: Model) -> str:
    """The scaling, as ``svm-scale -r`` reads it."""
    scaling = model.scaling
    ends = np.stack([scaling.shift, scaling.shift + scaling.scale], axis=1).tolist()
    lines = [f"{j} {low!r} {high!r}" for j, (low, high) in enumerate(ends, 1)]
    return "\n".join(["x", "0 1", *lines]) + "\n"


def remarks(model: Model, path: str | Path) -> list[str]:
    """What one has to know to use the files, a line each."""
    names, scaling = beside(path)
    labels = labels_of(model)
    told = []
    if tuple(map(str, labels)) != model.classes:
        pairs = list(zip(labels, model.classes, strict=True))
        shown = ", ".join(f"{label} is {quoted(name)}" for label, name in pairs[:10])
        rest = f" and {len(pairs) - 10} more" if len(pairs) > 10 else ""
        told.append(f"Labels for LIBSVM: {shown}{rest}")
    if model.scaling.kind != "none":
        told.append(f"Scale the data first: svm-scale -r {scaling} DATA > SCALED")
    if model.columns.missing == "mean":
        told.append("LIBSVM reads a missing value as 0: fill it in first.")
    return [*told, f"Written: {names}, the names of labels and features"]


def _line(name: str, values: list[int] | list[float]) -> str:
    return " ".join([name, *map(repr, values)])
