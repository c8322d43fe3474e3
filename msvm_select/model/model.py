"""A trained machine on its own: what is needed to classify, and what certifies it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msvm_select.data.read import DataFrame, as_samples
from msvm_select.errors import DataError
from msvm_select.kernels.base import Kernel
from msvm_select.phrases import did_you_mean, listed, quoted
from msvm_select.records import TIE as ROUNDING
from msvm_select.records import Columns, Dataset, Floats, Ints, Scaling

Samples: TypeAlias = "Dataset | DataFrame | ArrayLike | PathLike[str]"
TIE = "?"
BLOCK = 2**22  # numbers in the largest array of a block: 32 MiB


@dataclass(frozen=True)
class Certificate:
    """How near to the optimum the machine is; ``reason`` says why not nearer."""

    converged: bool
    reason: str
    gap: float
    kkt_violation: float
    flow_imbalance: float
    b_unique: bool
    dual_objective: float
    smallest_eigenvalue: float
    indefinite: bool


@dataclass(frozen=True)
class Training:
    """What the machine was trained on and by, and how it did there."""

    data: str
    m: int
    n_sv: int
    n_bounded: int
    train_errors: int
    solver: str
    loss: str = "l1"


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """h_k(x) = sum_i tau_ik k(x_i, x) + b_k over the support vectors x_i.

    ``Z`` (n_sv, n) holds the support vectors, scaled, and ``support`` (n_sv,) their
    positions among the training samples; ``tau`` is (n_sv, Q) and ``b`` (Q,). For a
    precomputed kernel Z is (n_sv, 0): the columns of the positions take its place.
    """

    kernel: Kernel
    C: float
    classes: tuple[str, ...]
    columns: Columns
    scaling: Scaling
    support: Ints
    Z: Floats
    tau: Floats
    b: Floats
    certificate: Certificate
    training: Training
    versions: dict[str, str]

    def __repr__(self) -> str:
        """The kernel setting and the sizes, in one line."""
        values = {**self.kernel.parameters, "C": self.C}
        setting = ", ".join(f"{name}={value:.6g}" for name, value in values.items())
        sizes = f"{len(self.classes)} classes, {self.support.size} support vectors"
        return f"<Model {self.kernel.name}: {setting}; {sizes}>"

    def outputs(self, X: Samples) -> Floats:
        """h (p, Q) for raw features X (p, n), taken in blocks of rows.

        The columns of a DataFrame, a file or a Dataset are taken by name, whatever
        their order. A missing value is refused, unless the model was trained to fill
        (``missing="mean"``) or the Dataset was read so.
        """
        samples = as_samples(X, self.columns) or self.unnamed(X)
        at = _match(self.columns.features, samples.features, samples.name)
        raw = samples.X[:, at]
        fills = {c.missing == "mean" for c in (self.columns, samples.columns) if c}
        self._check_gaps(raw, any(fills))
        h = np.empty((raw.shape[0], len(self.classes)))
        step = max(1, BLOCK // max(1, self.support.size, raw.shape[1]))
        for first in range(0, raw.shape[0], step):
            K = self._kernel_values(raw[first : first + step])
            _check_finite(K, first)
            h[first : first + step] = K @ self.tau + self.b
        return h

    def predict(self, X: Samples) -> NDArray[np.str_]:
        """The class (p,) of the largest h_k; ``?`` where two are, but for rounding."""
        return self.labels(self.outputs(X))

    def labels(self, h: Floats) -> NDArray[np.str_]:
        """The classes (p,) that outputs h (p, Q) stand for; a tie is ``?``."""
        tied = (h >= h.max(axis=1, keepdims=True) - ROUNDING).sum(axis=1) > 1
        codes = np.where(tied, len(self.classes), h.argmax(axis=1))
        return np.array([*self.classes, TIE], dtype=np.str_)[codes]

    def save(self, path: str | Path) -> None:
        """Write the model whole, as .json or .npz by the ending of ``path``."""
        from msvm_select.model.file import save_model

        save_model(self, path)

    def _kernel_values(self, raw: Floats) -> Floats:
        """k(x, x_i) for some samples and all support vectors."""
        scaled = self.scaling.apply(raw)
        if self.kernel.is_vector_kernel:
            return self.kernel.between(scaled, self.Z)
        return scaled[:, self.support]

    def unnamed(self, X: Any) -> Dataset:
        """Samples of an array (p, n), whose columns are the features in their order."""
        try:
            raw = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"Samples to classify are numbers: {error}.") from None
        if raw.ndim != 2:
            raise DataError(
                f"Samples to classify are rows of a table, not of shape {raw.shape}."
            )
        names = self.columns.features
        if raw.shape[1] != len(names):
            raise DataError(
                f"{raw.shape[1]} features; the model was trained on {len(names)}: "
                f"{listed(names)}."
            )
        return Dataset(raw, np.empty(0, dtype=np.int64), (), names)

    def _check_gaps(self, raw: Floats, fill: bool) -> None:
        """Refuse missing values, unless they are to be filled."""
        gaps = np.isnan(raw)
        if fill or not gaps.any():
            return
        i, j = np.argwhere(gaps)[0]
        rows = int(gaps.any(axis=1).sum())
        raise DataError(
            f"Sample {i + 1} has no value for {quoted(self.columns.features[j])} "
            f"({int(gaps.sum())} missing in {rows} samples), and the model was not "
            'trained to fill in missing values: train it with missing="mean", or leave '
            "such samples out."
        )


def _match(wanted: Sequence[str], there: Sequence[str], name: str) -> list[int]:
    """Where the model's features are among those of ready samples, by name."""
    at = {feature: j for j, feature in enumerate(there)}
    lost = [feature for feature in wanted if feature not in at]
    if lost:
        spare = [feature for feature in there if feature not in wanted]
        raise DataError(
            f"{name} lacks features of the model: {listed(lost)}"
            f"{did_you_mean(lost[0], spare)}."
        )
    return [at[feature] for feature in wanted]


def _check_finite(K: Floats, first: int) -> None:
    bad = ~np.isfinite(K).all(axis=1)
    if bad.any():
        raise DataError(
            f"Sample {first + int(bad.argmax()) + 1} is so far from the training "
            "samples that its kernel values are not finite; is it in their units?"
        )
