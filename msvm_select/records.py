"""The frozen records that pass between modules, left to right along one sweep.

Arrays: ``m`` samples, ``n`` features, ``Q`` classes. ``y`` holds 0..Q-1. ``tau`` is
(m, Q) with ``tau[i, y_i] = sum_l alpha_il`` and ``tau[i, k] = -alpha_ik`` elsewhere,
so that ``w_k = sum_i tau_ik Phi(x_i)`` and ``F = K tau`` are the outputs without bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Columns:
    """How the columns of a file became features: what data to predict must follow.

    ``header`` names every column in the file's order; ``one_hot`` holds the
    categories of each expanded column.
    """

    header: tuple[str, ...]
    target: str | None = "class"
    id_column: str | None = None
    one_hot: dict[str, tuple[str, ...]] = field(default_factory=dict)
    missing: str = "error"
    na_values: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that features are made of."""
        return tuple(c for c in self.header if c not in (self.target, self.id_column))

    @property
    def features(self) -> tuple[str, ...]:
        """The features: a number column itself, a text column as ``column=value``."""
        return tuple(
            feature
            for c in self.inputs
            for feature in (
                [f"{c}={v}" for v in self.one_hot[c]] if c in self.one_hot else [c]
            )
        )


@dataclass(frozen=True, eq=False)
class Dataset:
    """What was read: X (m, n) raw (NaN where missing), y (m,) codes into ``classes``.

    ``y`` is empty when the file has no target column (data to predict). ``notes``
    are remarks of the reader that a person should see; ``lines`` says where in the
    file each sample stands; ``reading`` holds the options that it was read by, as far
    as they are not the defaults.
    """

    X: Floats
    y: Ints
    classes: tuple[str, ...]
    features: tuple[str, ...]
    target: str = "class"
    ids: tuple[str, ...] | None = None
    id_column: str | None = None
    name: str = "data"
    columns: Columns | None = None
    notes: tuple[str, ...] = ()
    lines: Ints | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def m(self) -> int:
        """The number of samples."""
        return int(self.X.shape[0])

    @property
    def Q(self) -> int:
        """The number of classes."""
        return len(self.classes)


@dataclass(frozen=True, eq=False)
class Scaling:
    """x -> (x with NaN filled - shift) / scale, per column; kept with the machine."""

    kind: str
    fill: Floats
    shift: Floats
    scale: Floats

    @classmethod
    def fit(cls, X: Floats, kind: str) -> Scaling:
        """``standard``: mean 0, population variance 1; ``minmax``: [0, 1]; ``none``.

        A column that does not vary becomes 0 (``none`` leaves it alone).
        """
        some = ~np.isnan(X)
        count = np.maximum(some.sum(axis=0), 1)
        fill = np.where(some, X, 0.0).sum(axis=0) / count
        filled = np.where(some, X, fill)
        zero, one = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if kind == "none":
            return cls(kind, fill, zero, one)
        low, high = filled.min(axis=0), filled.max(axis=0)
        if kind == "minmax":
            shift, spread = low, high - low
        else:
            shift, spread = filled.mean(axis=0), filled.std(axis=0)
        shift = np.where(low == high, low, shift)
        return cls(kind, fill, shift, np.where(low == high, 1.0, spread))

    def apply(self, X: Floats) -> Floats:
        """The scaled features, C-contiguous."""
        filled = np.where(np.isnan(X), self.fill, X)
        return np.ascontiguousarray((filled - self.shift) / self.scale)


@dataclass(frozen=True, eq=False)
class Gram:
    """The kernel matrix K of the training points, whole or as K = Z Z'.

    Where a kernel has a short explicit feature map (the linear one), ``factor`` is
    that Z (m, r); the m x m matrix is then built only when somebody asks for it.
    """

    whole: Floats | None = None
    factor: Floats | None = None

    @property
    def m(self) -> int:
        """The number of training points."""
        held = self.whole if self.factor is None else self.factor
        assert held is not None
        return int(held.shape[0])

    @cached_property
    def matrix(self) -> Floats:
        """K itself, (m, m), C-contiguous."""
        if self.whole is not None:
            return np.ascontiguousarray(self.whole, dtype=np.float64)
        assert self.factor is not None
        return np.ascontiguousarray(self.factor @ self.factor.T)

    @cached_property
    def diagonal(self) -> Floats:
        """K_ii."""
        if self.factor is None:
            return np.ascontiguousarray(np.diagonal(self.matrix))
        return np.asarray(np.einsum("ij,ij->i", self.factor, self.factor))

    def product(self, tau: Floats) -> Floats:
        """K tau, without building K where the factor is there."""
        if self.factor is None:
            return np.asarray(self.matrix @ tau)
        return np.asarray(self.factor @ (self.factor.T @ tau))


@dataclass(frozen=True, eq=False)
class Dual:
    """The training problem of one cell.

    max sum_ik alpha_ik - 1/2 sum_k ||w_k||^2,   0 <= alpha_ik <= C, alpha_{i,y_i} = 0,
    and for each class k:  sum_{i in C_k} sum_l alpha_il = sum_i alpha_ik.

    Of the quadratic loss, ``quadratic`` is the C: then ``gram`` is K + I/(2C), and the
    box, called ``C`` here too, is one that no alpha reaches.
    """

    gram: Gram
    y: Ints
    Q: int
    C: float
    quadratic: float | None = None

    @property
    def m(self) -> int:
        """The number of samples."""
        return int(self.y.size)

    @property
    def weight(self) -> float:
        """The C of the primal, as it was asked for, whichever the loss."""
        return self.C if self.quadratic is None else self.quadratic

    @property
    def ridge(self) -> float:
        """What the diagonal of ``gram`` has beyond K; no new sample meets it."""
        return 0.0 if self.quadratic is None else 1.0 / (2.0 * self.quadratic)


@dataclass(frozen=True)
class Work:
    """What an answer cost: steps along cycles, Newton systems solved, seconds."""

    iterations: int = 0
    newton: int = 0
    seconds: float = 0.0


ROADS = (
    "not a support vector",
    "decided by training margin",
    "predicted",
    "repaired",
    "retrained",
    "single in its class",
)
NOT_A_SV, BY_TRAINING, PREDICTED, REPAIRED, RETRAINED, SINGLE = range(len(ROADS))
AMBIGUOUS = 1e-7
TIE = 1e-10  # a margin below is a tie: what is left of it is rounding


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Every sample judged by the machine trained without it.

    margins (m, Q): h_{y_i} - h_k of that machine, inf at k = y_i; NaN where only the
    answer is known (an error decided by its training margin). road: index into ROADS;
    exchanges: active-set changes made; at_top: whether that machine has an alpha = C;
    unsure: how far the margin may be off, where a machine missed its gap.
    """

    y: Ints
    margins: Floats
    road: Ints
    exchanges: Ints
    at_top: NDArray[np.bool_]
    unsure: Floats | float = 0.0

    @cached_property
    def margin(self) -> Floats:
        """min_k of the margins."""
        return np.asarray(self.margins.min(axis=1))

    @cached_property
    def wrong(self) -> NDArray[np.bool_]:
        """Ties are errors, and so is what training already decided."""
        return np.asarray((self.road == BY_TRAINING) | ~(self.margin > TIE))

    @cached_property
    def predicted(self) -> Ints:
        """The class that each machine gives its left-out sample; -1 at a tie."""
        m = self.y.size
        first = np.where(np.isnan(self.margins), np.inf, self.margins).argmin(axis=1)
        smallest = self.margins[np.arange(m), first]
        tie = (self.margins == smallest[:, None]).sum(axis=1) > 1
        answer = np.where(smallest > 0.0, self.y, np.where(tie, -1, first))
        return np.asarray(np.where(np.abs(smallest) <= TIE, -1, answer))

    @property
    def errors(self) -> int:
        """How many samples are wrong."""
        return int(self.wrong.sum())

    @cached_property
    def in_doubt(self) -> NDArray[np.bool_]:
        """Which margins lie within 1e-7 of 0 or their own doubt, or are no number.

        But those that training decided: no margin was asked for, and they are certain.
        """
        doubt = np.maximum(AMBIGUOUS, self.unsure)
        asked = self.road != BY_TRAINING
        return np.asarray(asked & ~(np.abs(self.margin) >= doubt))

    @property
    def ambiguous(self) -> int:
        """How many of them there are."""
        return int(self.in_doubt.sum())

    def count(self, *roads: int) -> int:
        """How many samples went by one of these roads."""
        return int(np.isin(self.road, roads).sum())


@dataclass(frozen=True)
class Row:
    """One cell of the ranked table: the output schema, version 1, in its order.

    None stands for what was not asked for or does not apply. The last columns, EXTRA,
    are not of the schema: they follow it, and only where they were asked for.
    """

    rank: int | None = None
    kernel: str = ""
    gamma: float | None = None
    degree: float | None = None
    coef0: float | None = None
    C: float = 0.0
    solver: str = ""
    status: str = "ok"
    status_reason: str = ""
    n_samples: int = 0
    n_classes: int = 0
    train_errors: int | None = None
    n_sv: int | None = None
    n_bounded: int | None = None
    separable: bool | None = None
    dual_objective: float | None = None
    sum_alpha: float | None = None
    norm_w: float | None = None
    gap: float | None = None
    kkt_violation: float | None = None
    b_unique: bool | None = None
    diameter: float | None = None
    diameter_all: float | None = None
    loo_errors: int | None = None
    loo_rate: float | None = None
    loo_ambiguous: int | None = None
    loo_retrained: int | None = None
    radius_margin: float | None = None
    radius_margin_applicable: bool | None = None
    K: float | None = None
    radius_margin_q: float | None = None
    radius_margin_count: int | None = None
    guaranteed_risk: float | None = None
    guaranteed_risk_gamma: float | None = None
    guaranteed_risk_vacuous: bool | None = None
    sv_rate: float | None = None
    compression_bound: float | None = None
    vc_dimension: float | None = None
    cv_error: float | None = None
    holdout_error: float | None = None
    iterations: int | None = None
    seconds: float | None = None
    loss: str | None = None
    span_rate: float | None = None
    radius_margin_l1: float | None = None


EXTRA = ("loss", "span_rate", "radius_margin_l1")
COLUMNS = tuple(f.name for f in fields(Row) if f.name not in EXTRA)
SCHEMA_VERSION = 1
