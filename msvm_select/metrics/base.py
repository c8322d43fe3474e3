"""Metrics: what the pooled answers for samples that a machine never saw are worth.

Every sample has one answer: its class, and the outputs h_k, which decide it and are
known up to a constant in each row. A metric makes one number of all, and says how far
that may be off by the jackknife: from its values without each sample,

    se^2 = (n - 1)/n sum_i (t_i - mean t)^2,

which for a mean is the usual standard error. No metric is computed n times for it: what
one sample adds is taken away in closed form. Samples count by their weights; one of
weight 0 is not there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.left_out import LeftOut
from msvm_select.records import Floats, Ints, Mask


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers for m samples, each by a machine that was trained without it.

    predicted: the class, or another number where it is none; outputs (m, Q): h_k up to
    a constant in each row, -inf for a class that was absent; margin: by how much the
    sample is right.
    """

    y: Ints
    predicted: Ints
    outputs: Floats
    margin: Floats
    weights: Floats

    @classmethod
    def of(
        cls,
        y: Ints,
        predicted: Ints,
        outputs: Floats,
        margin: Floats | None = None,
        weights: Floats | None = None,
    ) -> Answers:
        """Those with a weight; the margin is h_y - max_{k != y} h_k unless given.

        A margin is positive where the answer is right: a vote can go against it.
        """
        m = y.size
        if margin is None:
            margin = lead(outputs)[np.arange(m), y]
        right = predicted == y
        margin = np.where(right, np.maximum(margin, 0.0), np.minimum(margin, 0.0))
        w = np.ones(m) if weights is None else np.asarray(weights, dtype=np.float64)
        some = w > 0.0
        return cls(y[some], predicted[some], outputs[some], margin[some], w[some])

    @classmethod
    def left_out(cls, found: LeftOut, weights: Floats | None = None) -> Answers:
        """Those of leave-one-out."""
        return cls.of(found.y, found.predicted, found.outputs, found.margin, weights)

    @property
    def Q(self) -> int:
        """The number of classes."""
        return int(self.outputs.shape[1])

    @cached_property
    def wrong(self) -> Mask:
        """Which are errors."""
        return np.asarray(self.predicted != self.y)

    @cached_property
    def sizes(self) -> Floats:
        """The weight of each class (Q,)."""
        return np.asarray(np.bincount(self.y, self.weights, self.Q), dtype=np.float64)

    @cached_property
    def confusion(self) -> Floats:
        """(Q, Q): the weight of samples of each class by what they were taken for."""
        told = (self.predicted >= 0) & (self.predicted < self.Q)
        pair = self.y[told] * self.Q + self.predicted[told]
        counted = np.bincount(pair, self.weights[told], self.Q**2)
        return np.asarray(counted.reshape(self.Q, self.Q))

    @cached_property
    def class_errors(self) -> Floats:
        """(Q,): which share of each class is wrong; NaN for a class without samples."""
        with np.errstate(invalid="ignore"):
            return np.asarray(1.0 - self.confusion.diagonal() / self.sizes)


def lead(outputs: Floats) -> Floats:
    """(m, Q): h_k - max_{l != k} h_l, which no constant in a row changes."""
    first = outputs.argmax(axis=1)[:, None]
    largest = np.take_along_axis(outputs, first, axis=1)
    others = outputs.copy()
    np.put_along_axis(others, first, -np.inf, axis=1)
    second = others.max(axis=1, keepdims=True)
    margins = outputs - largest
    np.put_along_axis(margins, first, largest - second, axis=1)
    return np.asarray(margins)


class Metric(ABC):
    """One number of all answers.

    ``needs``: ``wrong``, ``predicted`` or ``outputs``, what must be known of each.
    """

    name: ClassVar[str]
    column: ClassVar[str]
    needs: ClassVar[str]

    @classmethod
    def parse(cls, argument: str | None, classes: Sequence[str]) -> Metric:
        """The metric as typed, ``name`` or ``name:argument``."""
        if argument is not None:
            raise SettingsError(f"The metric {cls.name} takes no {argument!r}.")
        return cls()

    @abstractmethod
    def value(self, answers: Answers) -> float:
        """The number."""

    @abstractmethod
    def without_each(self, answers: Answers) -> Floats:
        """The number (m,) of all answers but each."""

    def standard_error(self, answers: Answers) -> float:
        """By the jackknife; NaN where a single sample is left out of nothing."""
        n = answers.y.size
        if n < 2:
            return math.nan
        without = self.without_each(answers)
        spread = without - without.mean()
        return math.sqrt((n - 1) / n * float(spread @ spread))


class Mean(Metric):
    """A metric that is the mean of a loss of each sample."""

    @abstractmethod
    def losses(self, answers: Answers) -> Floats:
        """The loss (m,) of each sample."""

    def value(self, answers: Answers) -> float:
        """sum_i w_i l_i / sum_i w_i."""
        return float(np.average(self.losses(answers), weights=answers.weights))

    def without_each(self, answers: Answers) -> Floats:
        """Likewise of the others."""
        w = answers.weights
        terms = w * self.losses(answers)
        return np.asarray((terms.sum() - terms) / (w.sum() - w))
