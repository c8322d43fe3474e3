"""Metrics that count: errors, by class or as they cost."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from msvm_select.errors import DataError, SettingsError
from msvm_select.metrics import loops
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

    def of(self, answers: Answers) -> tuple[float, Floats]:
        """Of the classes that have samples; one that loses its last counts no more."""
        a, without = answers, np.empty(answers.units)
        value = loops.mean_rate(a.y, a.weights, a.wrong, a.Q, *a.by_unit, without)
        return value, without


class MacroF1(Metric):
    """The mean over the classes of F_1 = 2 TP / (2 TP + FP + FN): 1 is the best.

    Of the classes that some sample has, or is taken for.
    """

    name, column, needs = "macro-f1", "macro_f1", "predicted"

    def of(self, answers: Answers) -> tuple[float, Floats]:
        """It changes for the class of a sample and for the one it is taken for."""
        a, without = answers, np.empty(answers.units)
        value = loops.mean_f1(a.y, a.predicted, a.weights, a.Q, *a.by_unit, without)
        return value, without


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
