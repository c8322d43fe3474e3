"""The frozen records that pass between modules, left to right along one sweep.

Arrays: ``m`` samples, ``n`` features, ``Q`` classes. ``y`` holds 0..Q-1. ``tau`` is
(m, Q) with ``tau[i, y_i] = sum_l alpha_il`` and ``tau[i, k] = -alpha_ik`` elsewhere,
so that ``w_k = sum_i tau_ik Phi(x_i)`` and ``F = K tau`` are the outputs without bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msvm_select.phrases import html_table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

Plain = str | int | float | bool | None
PlainRow = Mapping[str, Plain]

DEPENDENT = 1e-12  # of the largest K_ii: a pivot of K below it is rounding
AS_MATRIX = 8000  # samples up to which a part of K = Z Z' is held as a matrix
TOGETHER = 256  # rows that are made at once
FEW_ROWS = 16  # rows that are put into another order at once
FEW_SAMPLES = 300  # of all: a product of K costs no more than to see who moved
FEW_MOVED = 3  # times as many samples as rows of K are taken for a product
MOVED_TOGETHER = 2**18  # numbers of these rows at once
TIE = 1e-10  # a margin below is a tie: what is left of it is rounding


def finite(value: Any) -> Plain:
    """The value itself, or None for a number that is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    plain: Plain = value
    return plain


@dataclass(frozen=True)
class Columns:
    """How the columns of a file became features: what data to predict must follow.

    ``header`` names every column in the file's order; ``one_hot`` holds the
    categories of each expanded column. ``missing``, ``na_values``, ``decimal`` and
    ``thousands`` say how the cells were read, ``drop`` which columns were left out.
    """

    header: tuple[str, ...]
    target: str | None = "class"
    id_column: str | None = None
    one_hot: dict[str, tuple[str, ...]] = field(default_factory=dict)
    missing: str = "error"
    na_values: tuple[str, ...] = ()
    decimal: str = "point"
    thousands: str | None = None
    drop: tuple[str, ...] = ()
    weight_column: str | None = None
    group_column: str | None = None

    @property
    def beside(self) -> tuple[str | None, ...]:
        """The columns that are no features: class, id, weight, group, dropped ones."""
        named = (self.target, self.id_column, self.weight_column, self.group_column)
        return (*named, *self.drop)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that features are made of."""
        return tuple(c for c in self.header if c not in self.beside)

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


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """What was read: X (m, n) raw (NaN where missing), y (m,) codes into ``classes``.

    ``y`` is empty when the file has no target column (data to predict). ``notes``
    are remarks of the reader that a person should see; ``lines`` says where in the
    file each sample stands; ``reading`` holds the options that it was read by, as far
    as they are not the defaults. ``weights`` (m,) are greater than 0; ``groups`` (m,)
    are codes into ``group_names``. Of sequences there is an ``alphabet``, and X holds
    their letters. A subsample was ``drawn_from`` so many.
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
    weights: Floats | None = None
    groups: Ints | None = None
    group_names: tuple[str, ...] = ()
    alphabet: str = ""
    drawn_from: int | None = None

    def __repr__(self) -> str:
        """Name and sizes, in one line."""
        sizes = f"{self.m} samples, {len(self.features)} features, {self.Q} classes"
        return f"<Dataset {self.name}: {sizes}>"

    def _repr_html_(self) -> str:
        """The ranges of the features and the sizes of the classes, in a notebook."""
        ends = (np.fmin.reduce(self.X, axis=0), np.fmax.reduce(self.X, axis=0))
        ranges = zip(self.features, *ends, strict=True)
        sizes = zip(self.classes, np.bincount(self.y, minlength=self.Q), strict=True)
        features = html_table(("feature", "min", "max"), ranges)
        return features + html_table(("class", "samples"), sizes)

    @property
    def m(self) -> int:
        """The number of samples."""
        return int(self.X.shape[0])

    @property
    def Q(self) -> int:
        """The number of classes."""
        return len(self.classes)

    def rows(self, keep: Ints) -> Dataset:
        """Some of the samples, of the same classes; groups are numbered anew."""
        ids = None if self.ids is None else tuple(self.ids[i] for i in keep)
        some = replace(self, X=self.X[keep], y=self.y[keep], ids=ids)
        if self.lines is not None:
            some = replace(some, lines=self.lines[keep])
        if self.weights is not None:
            some = replace(some, weights=self.weights[keep])
        if self.groups is not None:
            left, codes = np.unique(self.groups[keep], return_inverse=True)
            names = tuple(self.group_names[g] for g in left)
            some = replace(some, groups=codes.astype(np.int64), group_names=names)
        return some

    def share(self, which: Mask) -> float:
        """The share of these samples (m,) of all, by their weights."""
        if self.weights is None:
            return float(which.mean())
        return float(self.weights[which].sum() / self.weights.sum())


@dataclass(frozen=True, eq=False)
class Scaling:
    """x -> (x with NaN filled - shift) / scale, per column; kept with the machine."""

    kind: str
    fill: Floats
    shift: Floats
    scale: Floats

    @classmethod
    def fit(cls, X: Floats, kind: str, weights: Floats | None = None) -> Scaling:
        """``standard``: mean 0, population variance 1; ``minmax``: [0, 1]; ``none``.

        A column that does not vary becomes 0 (``none`` leaves it alone). A sample of
        weight 2 counts as two.
        """
        some = ~np.isnan(X)
        w = np.ones((len(X), 1)) if weights is None else weights[:, None]
        count = (w * some).sum(axis=0)
        count = np.where(count > 0.0, count, 1.0)
        fill = (w * np.where(some, X, 0.0)).sum(axis=0) / count
        filled = np.where(some, X, fill)
        zero, one = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if kind == "none":
            return cls(kind, fill, zero, one)
        low, high = filled.min(axis=0), filled.max(axis=0)
        if kind == "minmax":
            shift, spread = low, high - low
        else:
            shift, spread = filled.mean(axis=0), filled.std(axis=0)
            if weights is not None:
                shift = (w * filled).sum(axis=0) / w.sum()
                spread = np.sqrt((w * (filled - shift) ** 2).sum(axis=0) / w.sum())
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
    def held(self) -> bool:
        """Whether there is a matrix at all, and not only its place."""
        return self.whole is not None or self.factor is not None

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

    @property
    def arrays(self) -> tuple[Floats, Floats]:
        """(K, Z) as compiled code takes them: one of them empty."""
        if self.factor is not None:
            return np.empty((0, 0)), self.factor
        return self.matrix, np.empty((0, 0))

    @cached_property
    def diagonal(self) -> Floats:
        """K_ii."""
        if self.factor is None:
            return np.ascontiguousarray(np.diagonal(self.matrix))
        return np.asarray(np.einsum("ij,ij->i", self.factor, self.factor))

    @cached_property
    def positive_definite(self) -> bool:
        """Whether K has a Cholesky factor whose pivots are all beyond rounding."""
        from msvm_select.lapack import dpotrf  # scipy is loaded when it is needed

        copy = np.array(self.matrix)
        factor, info = dpotrf(copy.T, lower=0, clean=0, overwrite_a=1)
        least = float(factor.diagonal().min(initial=np.inf)) ** 2
        return info == 0 and least > DEPENDENT * float(self.diagonal.max(initial=0.0))

    def part(self, rows: Ints | Mask) -> Gram:
        """That of some of the points, in their order."""
        if self.factor is not None:
            return Gram(factor=np.ascontiguousarray(self.factor[rows]))
        at: Ints = np.arange(self.m)[rows]
        K = np.empty((at.size, at.size))
        for first in range(0, at.size, FEW_ROWS):  # a row is in the cache for its own
            some = slice(first, first + FEW_ROWS)
            np.take(self.matrix[at[some]], at, axis=1, out=K[some], mode="clip")
        return Gram(whole=K)

    def block(self, rows: Ints, others: Ints) -> Floats:
        """K between some points and others."""
        if self.factor is not None:
            return np.asarray(self.factor[rows] @ self.factor[others].T)
        if 6 * others.size > self.m:  # the faster way to much of a row
            return np.asarray(self.matrix[rows].take(others, axis=1))
        return np.asarray(self.matrix[np.ix_(rows, others)])

    def of(self, rows: Ints) -> Gram:
        """The same, held even where the whole is not."""
        return self.part(rows)

    def product(self, tau: Floats) -> Floats:
        """K tau, without building K where the factor is there."""
        if self.factor is not None:
            return np.asarray(self.factor @ (self.factor.T @ tau))
        few = self.m <= FEW_SAMPLES
        moved = np.arange(self.m) if few else np.flatnonzero(tau.any(axis=1))
        if FEW_MOVED * moved.size > self.m:
            return np.asarray(self.matrix @ tau)
        out, some = np.zeros(tau.shape), max(1, MOVED_TOGETHER // self.m)
        for first in range(0, moved.size, some):
            rows = moved[first : first + some]
            out += self.matrix[rows].T @ tau[rows]
        return out

    def products(self, tau: Floats) -> Floats:
        """K tau_k for each class k of tau (Q, m, columns), of which many rows are 0."""
        out = np.empty_like(tau)
        for k, own in enumerate(tau):
            if self.factor is None:
                moved = np.flatnonzero(own.any(axis=1))
                if 2 * moved.size > self.m:  # no second matrix beside this one
                    np.matmul(self.matrix, own, out=out[k])
                else:
                    np.matmul(self.matrix[moved].T, own[moved], out=out[k])
            else:
                out[k] = self.product(own)
        return out


@dataclass(frozen=True, eq=False)
class Blocks(Gram):
    """A Gram matrix that is computed where it is needed, and not kept.

    ``between`` gives k(x, z) for rows of X; ``finite`` refuses huge values.
    """

    held = True
    X: Floats = field(default_factory=lambda: np.empty((0, 0)))
    between: Callable[[Floats, Floats], Floats] | None = None
    finite: Callable[[Floats], Floats] | None = None

    @property
    def m(self) -> int:
        """The number of training points."""
        return int(self.X.shape[0])

    @cached_property
    def matrix(self) -> Floats:
        """K itself, for those who cannot do without."""
        return self.of(np.arange(self.m)).matrix

    @cached_property
    def diagonal(self) -> Floats:
        """K_ii."""
        assert self.between is not None
        some = [self.X[i : i + TOGETHER] for i in range(0, self.m, TOGETHER)]
        ones = [self.between(x, x).diagonal() for x in some]
        return np.concatenate(ones) if ones else np.empty(0)

    def of(self, rows: Ints) -> Gram:
        """That of some of the points, computed now."""
        assert self.between is not None
        assert self.finite is not None
        some = self.X[rows]
        return Gram(whole=self.finite(symmetric(self.between(some, some))))

    def part(self, rows: Ints | Mask) -> Gram:
        """Those of some of the points, still to be computed."""
        return replace(self, X=self.X[rows])

    def block(self, rows: Ints, others: Ints) -> Floats:
        """K between some points and others, computed now."""
        assert self.between is not None
        return self.between(self.X[rows], self.X[others])

    def product(self, tau: Floats) -> Floats:
        """K tau, a block of rows at a time, of the columns that count."""
        out = np.empty_like(tau)
        moved = np.flatnonzero(tau.any(axis=1))
        for rows, K in self._by_rows(moved):
            np.matmul(K, tau[moved], out=out[rows])
        return out

    def products(self, tau: Floats) -> Floats:
        """K tau_k for each class k of tau (Q, m, columns), likewise."""
        out = np.empty_like(tau)
        moved = np.flatnonzero(tau.any(axis=(0, 2)))
        own = tau[:, moved]
        for rows, K in self._by_rows(moved):
            np.matmul(K, own, out=out[:, rows])
        return out

    def _by_rows(self, columns: Ints) -> Iterator[tuple[slice, Floats]]:
        """Some rows of K[:, columns] after the other."""
        assert self.between is not None
        step, others = max(1, 2**22 // max(1, columns.size)), self.X[columns]
        for first in range(0, self.m, step):
            rows = slice(first, first + step)
            if columns.size:
                yield rows, self.between(self.X[rows], others)
            else:
                yield rows, np.empty((self.X[rows].shape[0], 0))


@dataclass(frozen=True, eq=False)
class Remade(Gram):
    """A Gram matrix that is held, and the ``Z`` that it is made of, for products."""

    Z: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of_features(cls, Z: Floats) -> Gram:
        """Z Z'; where Z has few columns, products are taken by it."""
        K = inner_products(Z, Z)
        return cls(whole=K, Z=Z) if 2 * Z.shape[1] < Z.shape[0] else Gram(whole=K)

    def part(self, rows: Ints | Mask) -> Gram:
        """That of some of the points, in their order."""
        return replace(self, whole=self.matrix[np.ix_(rows, rows)], Z=self.Z[rows])

    def product(self, tau: Floats) -> Floats:
        """Z (Z' tau)."""
        return np.asarray(self.Z @ (self.Z.T @ tau))

    def products(self, tau: Floats) -> Floats:
        """The same for each class k of tau (Q, m, columns)."""
        return np.stack([self.product(own) for own in tau])


@dataclass(frozen=True, eq=False)
class Factored(Blocks):
    """K = Z Z', of which Z (m, r) is held as ``X``; products need no block of K."""

    between: Callable[[Floats, Floats], Floats] | None = field(
        default_factory=lambda: inner_products
    )
    finite: Callable[[Floats], Floats] | None = field(
        default_factory=lambda: np.asarray
    )

    @cached_property
    def diagonal(self) -> Floats:
        """K_ii."""
        return np.asarray(np.einsum("ij,ij->i", self.X, self.X))

    def of(self, rows: Ints) -> Gram:
        """That of some of the points; of very many, as their factor."""
        Z = np.ascontiguousarray(self.X[rows])
        return Gram(factor=Z) if rows.size > AS_MATRIX else Remade.of_features(Z)

    def product(self, tau: Floats) -> Floats:
        """Z (Z' tau)."""
        return np.asarray(self.X @ (self.X.T @ tau))

    def products(self, tau: Floats) -> Floats:
        """The same for each class k of tau (Q, m, columns)."""
        return np.stack([self.product(own) for own in tau])


def inner_products(X: Floats, Z: Floats) -> Floats:
    """<x, z> for the rows of X and of Z."""
    return np.asarray(X @ Z.T)


def symmetric(K: Floats) -> Floats:
    """(K + K') / 2, in place: no second matrix beside this one."""
    step = max(1, 2**22 // max(1, K.shape[0]))
    for first in range(0, K.shape[0], step):
        rows = slice(first, first + step)
        mean = (K[rows, first:] + K[first:, rows].T) / 2.0
        K[rows, first:] = mean
        K[first:, rows] = mean.T
    return K


@dataclass(frozen=True, eq=False)
class Dual:
    """The training problem of one cell.

    max sum_ik alpha_ik - 1/2 sum_k ||w_k||^2,   0 <= alpha_ik <= C, alpha_{i,y_i} = 0,
    and for each class k:  sum_{i in C_k} sum_l alpha_il = sum_i alpha_ik.

    With ``weights`` w > 0 the box of sample i is C w_i: a weight of 2 is the sample
    twice. Of the quadratic loss, ``quadratic`` is the C: then ``gram`` is K + diag(1/(2
    C w_i)), and the box, called ``C`` here too, is one that no alpha reaches.
    """

    gram: Gram
    y: Ints
    Q: int
    C: float
    quadratic: float | None = None
    weights: Floats | None = None

    @property
    def m(self) -> int:
        """The number of samples."""
        return int(self.y.size)

    @cached_property
    def box(self) -> Floats:
        """The largest alpha of each sample (m,)."""
        if self.weights is None or self.quadratic is not None:
            return np.full(self.m, self.C)
        return self.C * self.weights

    @property
    def weight(self) -> float:
        """The C of the primal, as it was asked for, whichever the loss."""
        return self.C if self.quadratic is None else self.quadratic

    @property
    def ridge(self) -> Floats:
        """What the diagonal of ``gram`` has beyond K (m,); no new sample meets it."""
        if self.quadratic is None:
            return np.zeros(self.m)
        return ridge_of(2.0 * self.quadratic, self.m, self.weights)


def ridge_of(C: float, m: int, weights: Floats | None) -> Floats:
    """1 / (C w_i) of each sample (m,)."""
    return np.full(m, 1.0 / C) if weights is None else 1.0 / (C * weights)


@dataclass(frozen=True)
class Work:
    """What an answer cost: steps along cycles, Newton systems solved, seconds."""

    iterations: int = 0
    newton: int = 0
    seconds: float = 0.0
