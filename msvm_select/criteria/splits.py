"""Stratified and shuffled splits of the samples, the same for the same seed."""

from __future__ import annotations

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.records import Ints

Split = tuple[Ints, Ints]


def folds(y: Ints, K: int, seed: int) -> list[Split]:
    """K pairs (training rows, test rows); each row is tested once.

    The shuffled samples are dealt out class by class, each class going on where the
    last one stopped: a class's counts in two folds differ by at most one, and so do the
    folds' sizes. A class with fewer than K samples is missing from some test parts; one
    with a single sample is missing from the training part when it is tested.
    """
    if y.size < K:
        raise SettingsError(f"cv:{K} has more folds than there are samples ({y.size}).")
    fold = np.empty(y.size, dtype=np.int64)
    fold[_shuffled_by_class(y, seed)] = np.arange(y.size) % K
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(K)]


def holdout(y: Ints, share: float, seed: int) -> Split:
    """(training rows, test rows), about ``share`` of each class in the test part.

    Every class keeps a sample to be trained with.
    """
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
