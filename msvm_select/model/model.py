"""A trained machine on its own: what is needed to classify, and what certifies it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msvm_select.data.read import DataFrame, as_samples
from msvm_select.errors import DataError, SettingsError
from msvm_select.kernels.base import Kernel
from msvm_select.left_out import first_of_largest, graded_votes
from msvm_select.metrics.calibration import Calibration, probabilities
from msvm_select.parts import pair_decisions, sums_of, votes_of
from msvm_select.phrases import did_you_mean, listed, quoted
from msvm_select.records import TIE as ROUNDING
from msvm_select.records import Columns, Dataset, Floats, Ints, Scaling

Samples: TypeAlias = "Dataset | DataFrame | ArrayLike | PathLike[str]"
TIE = "?"
NO_PROBABILITIES = (
    "The model knows no probabilities: fit it with --probabilities "
    "(fit(..., probabilities=True))."
)
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
    """What the machine was trained on and by, and how it did there.

    The ``m`` samples may be a subsample, ``drawn_from`` more. The kernel matrix may
    have been one of ``low_rank``, off by ``rank_error`` of its trace.
    """

    data: str
    m: int
    n_sv: int
    n_bounded: int
    train_errors: int
    solver: str
    loss: str = "l1"
    drawn_from: int | None = None
    low_rank: int | None = None
    rank_error: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """What a machine needs to classify: its support vectors, their weights, its biases.

    ``Z`` (n_sv, n) holds the support vectors, scaled, and ``support`` (n_sv,) their
    positions among the training samples. For a precomputed kernel Z is (n_sv, 0): the
    columns of the positions take its place. ``tau`` is (n_sv, Q), and with

    ww, ova: ``b`` (Q,), h_k(x) = sum_i tau_ik k(x_i, x) + b_k, and the largest wins;
    ovo: ``b`` (Q(Q - 1)/2,) and ``y`` (n_sv,), the classes of the support vectors, for
        each pair k < l f_kl(x) = sum_{y_i = k} tau_il k(x_i, x)
        + sum_{y_i = l} tau_ik k(x_i, x) + b_kl; f_kl > 0 is a vote for k, else for l,
        and most votes win, or the first of the classes that have as many.

    Of a kernel of low rank Z holds the pivots, and ``tau`` what each of them adds to an
    output: with ovo it is (r, Q(Q - 1)/2), f = K tau + b, and ``y`` is empty.

    A bias of a class without samples is -inf, as are those of its pairs. With a
    ``calibration`` it knows probabilities.
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
    machine: str = "ww"
    calibration: Calibration | None = None
    y: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __repr__(self) -> str:
        """The kernel setting and the sizes, in one line."""
        values = {**self.kernel.parameters, "C": self.C}
        setting = ", ".join(f"{name}={value:.6g}" for name, value in values.items())
        sizes = f"{len(self.classes)} classes, {self.support.size} support vectors"
        kind = "" if self.machine == "ww" else f"{self.machine} "
        rank, name = self.training.low_rank, self.kernel.name
        if rank is not None:
            sizes = f"{len(self.classes)} classes, {self.support.size} pivots"
            setting = f"low_rank={rank}, {setting}"
        return f"<Model {kind}{name}: {setting}; {sizes}>"

    @property
    def pairs(self) -> Ints:
        """(first, second) of the classes of each pair, in the order of its bias."""
        return np.stack(np.triu_indices(len(self.classes), 1), axis=1)

    def outputs(self, X: Samples) -> Floats:
        """h (p, Q), or with ``ovo`` the votes, for raw features X (p, n).

        The columns of a DataFrame, a file or a Dataset are taken by name, whatever
        their order. A missing value is refused, unless the model was trained to fill
        (``missing="mean"``) or the Dataset was read so.
        """
        if self.machine != "ovo":
            blocks = [K @ self.tau + self.b for K in self._blocks(X)]
        else:
            there = np.isfinite(self.b)
            Q = len(self.classes)
            blocks = [
                votes_of(self._decisions(K), self.pairs, Q, there)
                for K in self._blocks(X)
            ]
        return np.concatenate(blocks)

    def graded(self, X: Samples) -> Floats:
        """What the classes are ranked by (p, Q): h, or with ``ovo`` the votes with a
        part below 1/3 for how clear they are. The first of the largest is the answer.
        """
        if self.machine != "ovo":
            return self.outputs(X)
        return np.concatenate([self._graded(K) for K in self._blocks(X)])

    def probabilities(self, X: Samples) -> Floats:
        """p (p, Q) of the classes; the first of the largest is the predicted one."""
        if self.calibration is None:
            raise SettingsError(NO_PROBABILITIES)
        return probabilities(self.graded(X), self.calibration.temperature)

    def pair_decisions(self, X: Samples) -> Floats:
        """f_kl (p, Q(Q - 1)/2) of each of ``pairs``, > 0 for its first class.

        They are those of ``SVC(decision_function_shape="ovo")``; for ``ovo`` only.
        """
        if self.machine != "ovo":
            raise SettingsError(
                f"The machine {self.machine!r} decides among all classes at once: "
                "decisions of pairs are those of machine='ovo'."
            )
        return np.concatenate([self._decisions(K) for K in self._blocks(X)])

    def predict(self, X: Samples) -> NDArray[np.str_]:
        """The class (p,) of the largest output; see ``labels``."""
        return self.labels(self.outputs(X))

    def labels(self, h: Floats) -> NDArray[np.str_]:
        """The classes (p,) that outputs h (p, Q) stand for.

        A tie, but for rounding, is ``?`` with ``ww``. With ``ovo`` and ``ova`` it is
        the first of the classes, as LIBSVM and scikit-learn have it.
        """
        codes = first_of_largest(h)
        if self.machine == "ww":
            tied = (h >= h.max(axis=1, keepdims=True) - ROUNDING).sum(axis=1) > 1
            codes = np.where(tied, len(self.classes), codes)
        names: NDArray[np.str_] = np.array([*self.classes, TIE], dtype=np.str_)[codes]
        return names

    def save(self, path: str | Path) -> None:
        """Write the model whole, by the ending: .json, .npz, .onnx or .libsvm."""
        from msvm_select.model.file import save_model

        save_model(self, path)

    def _blocks(self, X: Samples) -> Iterator[Floats]:
        """The kernel values of raw features, in blocks of rows; one at least."""
        samples = as_samples(X, self.columns) or self.unnamed(X)
        at = _match(self.columns.features, samples.features, samples.name)
        # a sequence may be longer than all that the model was trained on
        raw = samples.X if self.kernel.of == "sequences" else samples.X[:, at]
        fills = {c.missing == "mean" for c in (self.columns, samples.columns) if c}
        self._check_gaps(raw, any(fills))
        wide = max(self.support.size, raw.shape[1])
        if self.machine == "ovo":
            wide = max(wide, len(self.classes) ** 2)
        step = max(1, BLOCK // max(1, wide))
        for first in range(0, max(1, raw.shape[0]), step):
            K = self._kernel_values(raw[first : first + step])
            _check_finite(K, first)
            yield K

    def _graded(self, K: Floats) -> Floats:
        """Votes and confidences; -inf for a class that had no samples."""
        f, Q, there = self._decisions(K), len(self.classes), np.isfinite(self.b)
        votes = votes_of(f, self.pairs, Q, there)
        h = graded_votes(votes, sums_of(f, self.pairs, Q, there))
        h[:, np.bincount(self.pairs[there].ravel(), minlength=Q) == 0] = -np.inf
        return h

    def _decisions(self, K: Floats) -> Floats:
        """f of each pair by the kernel values of some samples."""
        if self.training.low_rank is not None:
            return np.asarray(K @ self.tau + self.b)
        return pair_decisions(K, np.abs(self.tau), self.b, self.y, self.pairs)

    def _kernel_values(self, raw: Floats) -> Floats:
        """k(x, x_i) for some samples and all support vectors."""
        if self.kernel.of == "sequences":
            return self.kernel.between(raw, self.Z)
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
