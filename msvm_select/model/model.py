"""A trained machine on its own: what is needed to classify, and what certifies it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msvm_select.errors import DataError
from msvm_select.kernels.base import Kernel
from msvm_select.phrases import did_you_mean, listed
from msvm_select.records import TIE as ROUNDING
from msvm_select.records import Columns, Dataset, Floats, Ints, Scaling

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

    def outputs(self, X: Dataset | ArrayLike) -> Floats:
        """h (p, Q) for raw features X (p, n), taken in blocks of rows.

        The features of a Dataset are taken by name, whatever their order.
        """
        raw = self._by_name(X) if isinstance(X, Dataset) else self._counted(X)
        h = np.empty((raw.shape[0], len(self.classes)))
        step = max(1, BLOCK // max(1, self.support.size, raw.shape[1]))
        for first in range(0, raw.shape[0], step):
            K = self._kernel_values(raw[first : first + step])
            _check_finite(K, first)
            h[first : first + step] = K @ self.tau + self.b
        return h

    def predict(self, X: Dataset | ArrayLike) -> NDArray[np.str_]:
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

    def _counted(self, X: ArrayLike) -> Floats:
        """An array of samples by features, as many as the model has."""
        raw = np.asarray(X, dtype=np.float64)
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
        return raw

    def _by_name(self, data: Dataset) -> Floats:
        """The model's features of a Dataset, in the model's order."""
        names = self.columns.features
        lost = [name for name in names if name not in data.features]
        if lost:
            spare = [name for name in data.features if name not in names]
            raise DataError(
                f"{data.name} lacks features of the model: {listed(lost)}"
                f"{did_you_mean(lost[0], spare)}."
            )
        at = {name: j for j, name in enumerate(data.features)}
        return data.X[:, [at[name] for name in names]]


def _check_finite(K: Floats, first: int) -> None:
    bad = ~np.isfinite(K).all(axis=1)
    if bad.any():
        raise DataError(
            f"Sample {first + int(bad.argmax()) + 1} is so far from the training "
            "samples that its kernel values are not finite; is it in their units?"
        )
