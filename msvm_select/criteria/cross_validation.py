"""Training on a part of the samples and testing on the rest: cv:K and holdout:SHARE.

The splits are stratified and shuffled, the same for the same seed: rows that are
grouped by their source make unshuffled folds lie. Where the data say which rows belong
together, none of a group is tested by a machine that has seen another. The scaler is
fitted within each training part. What does not depend on C (the scaling, the kernel
matrices of a part) is made once for a kernel setting, and the machine of one C starts
that of the next.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.errors import SettingsError
from msvm_select.left_out import deciding
from msvm_select.metrics.base import Answers, lead
from msvm_select.records import Floats, Gram, Ints, Scaling

Split = tuple[Ints, Ints]
DEFAULT_K = 5
DEFAULT_SHARE = 0.25


class _Splitting(Criterion):
    """The share of tested samples that a machine trained without them gets wrong."""

    kind = "estimate"
    machines: str  # what is trained, for the notes

    @abstractmethod
    def splits(self, y: Ints, groups: Ints | None = None) -> Sequence[Split]:
        """(training rows, test rows) of each machine."""

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """Errors / tested; ``carry`` holds the parts with their machines."""
        parts: Sequence[Part]
        y, groups = cell.data.y, cell.data.groups
        parts = carry or [Part.of(cell, split) for split in self.splits(y, groups)]
        parts = tuple(part.trained(cell) for part in parts)
        errors = sum(part.errors for part in parts)
        tested = sum(part.y_test.size for part in parts)
        notes = _complaints(parts, self.machines)
        answers = pooled(cell, parts) if cell.needs else None
        return Score({self.column: errors / tested}, parts, notes, answers=answers)


class CrossValidation(_Splitting):
    """K folds, each tested by the machine trained on the others."""

    name = "cv"
    column = "cv_error"
    applies = "always; other folds give another value"
    cost = "K times the training"

    def __init__(self, K: int = DEFAULT_K, seed: int = 0) -> None:
        """``K`` folds, at least 2."""
        self.K, self.seed, self.machines = K, seed, f"folds of cv:{K}"

    @classmethod
    def parse(cls, argument: str | None, seed: int) -> CrossValidation:
        """``cv:K``; K = 5 when left out."""
        try:
            K = DEFAULT_K if argument is None else int(argument)
        except ValueError:
            K = 0
        if K < 2:
            raise SettingsError(
                f"cv:{argument}: the number of folds must be a whole number of at "
                "least 2, as in cv:5."
            )
        return cls(K, seed)

    def splits(self, y: Ints, groups: Ints | None = None) -> Sequence[Split]:
        """Those of ``folds``."""
        return folds(y, self.K, self.seed, groups)


class Holdout(_Splitting):
    """A share of the samples, tested by the machine trained on the others."""

    name = "holdout"
    column = "holdout_error"
    applies = "always; another share gives another value"
    cost = "one more training"

    def __init__(self, share: float = DEFAULT_SHARE, seed: int = 0) -> None:
        """``share`` of the samples to test with, between 0 and 1."""
        self.share, self.seed = share, seed
        self.machines = f"machines of holdout:{share:g}"

    @classmethod
    def parse(cls, argument: str | None, seed: int) -> Holdout:
        """``holdout:SHARE``; 0.25 when left out."""
        try:
            share = DEFAULT_SHARE if argument is None else float(argument)
        except ValueError:
            share = 0.0
        if not 0.0 < share < 1.0:
            raise SettingsError(
                f"holdout:{argument}: the share must lie between 0 and 1, as in "
                "holdout:0.25."
            )
        return cls(share, seed)

    def splits(self, y: Ints, groups: Ints | None = None) -> Sequence[Split]:
        """That of ``holdout``."""
        return [holdout(y, self.share, self.seed, groups)]


def folds(y: Ints, K: int, seed: int, groups: Ints | None = None) -> list[Split]:
    """K pairs (training rows, test rows); each row is tested once.

    The shuffled samples are dealt out class by class, each class going on where the
    last one stopped: a class's counts in two folds differ by at most one, and so do the
    folds' sizes. A class with fewer than K samples is missing from some test parts; one
    with a single sample is missing from the training part when it is tested. With
    ``groups`` (m,) see ``_folds_of_groups``.
    """
    if groups is not None:
        fold = _folds_of_groups(y, K, seed, groups)
    elif y.size < K:
        raise SettingsError(f"cv:{K} has more folds than there are samples ({y.size}).")
    else:
        fold = np.empty(y.size, dtype=np.int64)
        fold[_shuffled_by_class(y, seed)] = np.arange(y.size) % K
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(K)]


def _folds_of_groups(y: Ints, K: int, seed: int, groups: Ints) -> Ints:
    """The fold (m,) of each row; those of a group share it.

    Group after group, those that weigh most on some class first, goes into the fold
    where the classes are then spread most evenly over the folds: the least sum of
    squares of the shares that the folds have of each class.
    """
    count = int(groups.max()) + 1
    if count < K:
        raise SettingsError(f"cv:{K} has more folds than there are groups ({count}).")
    shares = np.zeros((count, int(y.max()) + 1))
    np.add.at(shares, (groups, y), 1.0)
    shares /= np.maximum(shares.sum(axis=0), 1.0)
    order = np.random.default_rng(seed).permutation(count)
    order = order[np.argsort(-shares[order].max(axis=1), kind="stable")]
    fold, sizes = np.empty(count, np.int64), np.zeros(K, np.int64)
    held = np.zeros((K, shares.shape[1]))
    for left, g in zip(range(count, 0, -1), order, strict=True):
        cost = ((2.0 * held + shares[g]) * shares[g]).sum(axis=1)
        if left == np.count_nonzero(sizes == 0):  # every fold gets a group
            cost[sizes > 0] = np.inf
        at = int(cost.argmin())
        fold[g], held[at] = at, held[at] + shares[g]
        sizes[at] += 1
    return np.asarray(fold[groups])


def holdout(y: Ints, share: float, seed: int, groups: Ints | None = None) -> Split:
    """(training rows, test rows), about ``share`` of each class in the test part.

    Every class keeps a sample to be trained with. With ``groups`` (m,) whole groups are
    tested, which need not leave every class its share.
    """
    if groups is not None:
        K = max(2, min(round(1.0 / min(share, 1.0 - share)), int(groups.max()) + 1))
        first = _folds_of_groups(y, K, seed, groups) == 0
        tested = first if share <= 0.5 else ~first
        return np.flatnonzero(~tested), np.flatnonzero(tested)
    order = _shuffled_by_class(y, seed)
    tested = np.zeros(y.size, dtype=np.bool_)
    for rows in np.split(order, np.flatnonzero(np.diff(y[order])) + 1):
        tested[rows[: min(round(share * rows.size), rows.size - 1)]] = True
    if not tested.any():
        raise SettingsError(
            f"holdout:{share:g} leaves nothing to test: the classes are too small."
        )
    return np.flatnonzero(~tested), np.flatnonzero(tested)


def _shuffled_by_class(y: Ints, seed: int) -> Ints:
    """The rows, shuffled, class after class."""
    order = np.random.default_rng(seed).permutation(y.size)
    return np.asarray(order[np.argsort(y[order], kind="stable")])


@dataclass(frozen=True, eq=False)
class Part:
    """One split, ready to be trained at every C.

    ``y`` holds the training classes as 0..Q-1 of those present; ``y_test`` likewise,
    with -2 for a class that nothing was trained of: it is always an error. ``tested``
    are the test rows, and ``classes`` the codes of the classes present.
    """

    gram: Gram
    y: Ints
    Q: int
    cross: Floats
    y_test: Ints
    tested: Ints
    classes: Ints
    weights: Floats | None = None
    machine: Any = None

    @classmethod
    def of(cls, cell: Cell, split: Split) -> Part:
        """The split's kernel matrices; the scaler is fitted on its training rows."""
        train, test = split
        train = train[np.argsort(cell.data.y[train], kind="stable")]  # no second copy
        classes, y = np.unique(cell.data.y[train], return_inverse=True)
        position = np.full(cell.data.Q, -2)
        position[classes] = np.arange(classes.size)
        gram, cross = _matrices(cell, train, test)
        codes = y.astype(np.int64)
        weights = cell.solution.dual.weights
        own = None if weights is None else weights[train]
        y_test = position[cell.data.y[test]]
        return cls(gram, codes, classes.size, cross, y_test, test, classes, own)

    def trained(self, cell: Cell) -> Part:
        """With the machine at the cell's C, started from that of the last C."""
        if self.Q == 1:  # nothing to train: everything is of that class
            return self
        C = cell.machine.C_of(cell.solution)
        machine = cell.machine.train(
            cell.solver, self.gram, self.y, self.Q, C, self.machine, cell.mercer,
            weights=self.weights,
        )  # fmt: skip
        return replace(self, machine=machine)

    @cached_property
    def labels(self) -> Ints:
        """The class of each test sample, as ``y`` has them."""
        if self.machine is None:
            return np.zeros(self.y_test.size, np.int64)
        labels: Ints = self.machine.labels(self.cross)
        return labels

    @property
    def errors(self) -> int:
        """Test samples that are wrong; a tie counts, and so does an unknown class."""
        return int((self.labels != self.y_test).sum())

    def answers(self, Q: int, every: bool) -> tuple[Ints, Floats, Floats]:
        """Of each test sample the class; with ``every`` also all outputs, the margin.

        A class that nothing was trained of has the output -inf.
        """
        outputs = np.full((self.y_test.size, Q), -np.inf)
        margin = np.where(self.labels == self.y_test, 1.0, -1.0)
        predicted = np.where(self.labels < 0, -1, self.classes[self.labels])
        if self.machine is None:
            outputs[:, self.classes] = 0.0
        if self.machine is None or not every:
            return predicted, outputs, margin
        outputs[:, self.classes] = self.machine.outputs_at(self.cross)
        return predicted, outputs, self._margins(outputs)

    def _margins(self, outputs: Floats) -> Floats:
        """By the outputs; by votes the decision that counts."""
        known, at = self.y_test >= 0, np.arange(self.y_test.size)
        own = np.where(known, self.classes[self.y_test], 0)
        margin = np.where(known, lead(outputs)[at, own], -np.inf)
        f = self.machine.margins_at(self.cross, self.y_test)
        if f is not None:
            some = np.flatnonzero(known)
            margin[some] = deciding(f[some], self.y_test[some], self.labels[some])
        return margin


def pooled(cell: Cell, parts: Sequence[Part]) -> Answers:
    """The answers of all parts together."""
    every = cell.needs == "outputs"
    told = [part.answers(cell.data.Q, every) for part in parts]
    predicted, outputs, margin = (
        np.concatenate(column) for column in zip(*told, strict=True)
    )
    rows = np.concatenate([part.tested for part in parts])
    own, groups = (
        None if table is None else table[rows]
        for table in (cell.data.weights, cell.data.groups)
    )
    return Answers.of(cell.data.y[rows], predicted, outputs, margin, own, groups)


def _complaints(parts: Sequence[Part], what: str) -> tuple[str, ...]:
    """What to tell of machines that did not converge."""
    failed = [p.machine for p in parts if p.machine and not p.machine.converged]
    if not failed:
        return ()
    worst = max(failed, key=lambda machine: machine.gap)
    return (f"{len(failed)} of {len(parts)} {what} not converged ({worst.reason})",)


def _matrices(cell: Cell, train: Ints, test: Ints) -> tuple[Gram, Floats]:
    """The Gram matrix of the training rows, and k(test row, training row)."""
    X, kernel = cell.data.X, cell.kernel
    if not kernel.is_vector_kernel:
        return kernel.gram(X[np.ix_(train, train)]), X[np.ix_(test, train)]
    weights = cell.data.weights
    own = None if weights is None else weights[train]
    scaling = Scaling.fit(X[train], cell.scaling.kind, own)
    A, B = scaling.apply(X[train]), scaling.apply(X[test])
    kernel = kernel.on(A)
    return kernel.gram(A), kernel.between(B, A)
