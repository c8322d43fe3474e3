"""Metrics that count: errors, by class or as they cost."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from msvm_select.errors import DataError, SettingsError
from msvm_select.metrics.base import Answers, Mean, Metric
from msvm_select.phrases import did_you_mean, listed
from msvm_select.records import Floats


class Error(Mean):
    """The share of samples that are wrong."""

    name, column, needs = "error", "", "wrong"

    def losses(self, answers: Answers) -> Floats:
        """1 where it is wrong."""
        return answers.wrong.astype(np.float64)


class Cost(Mean):
    """The mean of what it costs to take a sample of one class for another.

    A sample that is taken for no class costs the most that its class can.
    """

    name, column, needs = "cost", "cost", "predicted"

    def __init__(self, costs: Floats) -> None:
        """``costs`` (Q, Q): of a sample of the row's class taken for the column's."""
        self.costs = costs

    @classmethod
    def parse(cls, argument: str | None, classes: Sequence[str]) -> Cost:
        """``cost:FILE``."""
        if not argument:
            raise SettingsError(
                "The metric cost takes a file: cost:costs.csv, a csv with a row and "
                "a column for each class."
            )
        return cls(read_costs(argument, classes))

    def losses(self, answers: Answers) -> Floats:
        """What each sample costs."""
        worst = np.column_stack([self.costs, self.costs.max(axis=1)])
        Q = answers.Q
        known = (answers.predicted >= 0) & (answers.predicted < Q)
        return np.asarray(worst[answers.y, np.where(known, answers.predicted, Q)])


class BalancedError(Metric):
    """The mean over the classes of the share of each that is wrong."""

    name, column, needs = "balanced-error", "balanced_error", "wrong"

    def value(self, answers: Answers) -> float:
        """Of the classes that have samples."""
        return float(np.nanmean(answers.class_errors))

    def without_each(self, answers: Answers) -> Floats:
        """Only the share of the sample's own class changes, which may lose its last."""
        rates, sizes = answers.class_errors, answers.sizes
        own, w, y = answers.class_errors[answers.y], answers.weights, answers.y
        left = sizes[y] - w
        gone = np.bincount(y, minlength=answers.Q)[y] == 1
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = (own * sizes[y] - w * answers.wrong) / left
        others = np.nansum(rates) - own + np.where(gone, 0.0, rate)
        count = np.count_nonzero(sizes) - gone
        return np.asarray(others / np.maximum(count, 1))


class MacroF1(Metric):
    """The mean over the classes of F_1 = 2 TP / (2 TP + FP + FN): 1 is the best.

    Of the classes that some sample has, or is taken for.
    """

    name, column, needs = "macro-f1", "macro_f1", "predicted"

    def value(self, answers: Answers) -> float:
        """As scikit-learn's f1_score(average="macro")."""
        hits, sums = self._counts(answers)
        return float(np.mean(2.0 * hits[sums > 0.0] / sums[sums > 0.0]))

    def _counts(self, answers: Answers) -> tuple[Floats, Floats]:
        """TP (Q,), and 2 TP + FP + FN."""
        taken = answers.confusion.sum(axis=0)
        return answers.confusion.diagonal(), answers.sizes + taken

    def without_each(self, answers: Answers) -> Floats:
        """F_1 changes for the class of the sample and the one it is taken for."""
        (hits, sums), Q = self._counts(answers), answers.Q
        y, w, wrong = answers.y, answers.weights, answers.wrong
        least = 1e-12 * w.sum()  # what is left of a class that is gone
        f = np.divide(2.0 * hits, sums, out=np.zeros(Q), where=sums > 0.0)
        total, count = np.full(y.size, f.sum()), np.count_nonzero(sums)
        there = np.full(y.size, count)
        known = (answers.predicted >= 0) & (answers.predicted < Q)
        other = np.where(known, answers.predicted, y)
        own = np.where(wrong, w, 2.0 * w)
        for k, less, hit, some in (
            (y, own, np.where(wrong, 0.0, w), np.ones(y.size, dtype=np.bool_)),
            (other, w, np.zeros(y.size), wrong & known),
        ):
            left = np.where(some, sums[k] - less, 1.0)
            gone = some & (left <= least)
            anew = 2.0 * (hits[k] - hit) / np.where(gone, 1.0, left)
            total += np.where(some, np.where(gone, 0.0, anew) - f[k], 0.0)
            there = there - gone
        return np.asarray(total / np.maximum(there, 1))


def read_costs(path: str, classes: Sequence[str]) -> Floats:
    """(Q, Q), by class: a header that names the classes, then a row for each of them.

    The first field of a row is the class that a sample has; the others are what it
    costs to take it for the class of the header.
    """
    header, *rows = _lines(path)
    names = header[1:]
    _check_names(path, "column", names, classes)
    _check_names(path, "row", [row[0] for row in rows], classes)
    costs = np.empty((len(classes), len(classes)))
    for row in rows:
        if len(row) != len(header):
            raise DataError(
                f"{path}: the row of {row[0]!r} has {len(row) - 1} costs, and there "
                f"are {len(names)} classes in the header."
            )
        for name, text in zip(names, row[1:], strict=True):
            cost = _number(path, row[0], name, text)
            costs[classes.index(row[0]), classes.index(name)] = cost
    return costs


def _lines(path: str) -> list[list[str]]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path} is no table of costs: it is not UTF-8 text.") from None
    except OSError as error:
        near = [str(other) for other in Path(path).parent.glob("*")]
        hint = did_you_mean(path, near)
        raise DataError(f"{path}: {error.strerror}{hint}.") from None
    lines = [
        [field.strip() for field in line] for line in csv.reader(text.splitlines())
    ]
    lines = [line for line in lines if any(line)]
    if len(lines) < 2:
        raise DataError(
            f"{path} is no table of costs: it needs a header with the classes, and a "
            "row for each of them."
        )
    return lines


def _check_names(
    path: str, what: str, names: Sequence[str], classes: Sequence[str]
) -> None:
    """Each class once, and no other."""
    for name in names:
        if name not in classes:
            hint = did_you_mean(name, classes)
            raise DataError(f"{path}: {name!r} is no class of the data{hint}.")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    lacking = [name for name in classes if name not in names]
    for told, some in (("has more than one", twice), ("lacks the", lacking)):
        if some:
            raise DataError(f"{path} {told} {what} for {listed(some)}.")


def _number(path: str, own: str, name: str, text: str) -> float:
    try:
        cost = float(text)
    except ValueError:
        cost = math.nan
    if not math.isfinite(cost):
        raise DataError(
            f"{path}: the cost of {own!r} taken for {name!r} is {text!r}, no number."
        )
    return cost
