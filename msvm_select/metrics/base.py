"""Metrics: what the pooled answers for samples that a machine never saw are worth.

Every sample has one answer: its class, and the outputs h_k, which decide it and are
known up to a constant in each row. A metric makes one number of all, and says how far
that may be off by the jackknife: from its values without each sample,

    se^2 = (n - 1)/n sum_i (t_i - mean t)^2,

which for a mean is the usual standard error. Samples of a group are not independent:
they leave together, and n is the number of groups. No metric is computed n times for
it: what those that leave add is taken away in closed form. Samples count by their
weights; one of weight 0 is not there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.left_out import LeftOut
from msvm_select.records import Dataset, Floats, Ints, Mask


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers for m samples, each by a machine that was trained without it.

    predicted: the class, or another number where it is none; outputs (m, Q): h_k up to
    a constant in each row, -inf for a class that was absent; margin: by how much the
    sample is right; unit: which samples leave together, 0 .. units - 1.
    """

    y: Ints
    predicted: Ints
    outputs: Floats
    margin: Floats
    weights: Floats
    unit: Ints
    units: int

    @classmethod
    def of(
        cls,
        y: Ints,
        predicted: Ints,
        outputs: Floats,
        margin: Floats | None = None,
        weights: Floats | None = None,
        groups: Ints | None = None,
    ) -> Answers:
        """Those with a weight; the margin is h_y - max_{k != y} h_k unless given.

        A margin is positive where the answer is right: a vote can go against it.
        """
        m = y.size
        if margin is None:
            margin = lead(outputs)[np.arange(m), y]
        right = predicted == y
        margin = np.where(right, np.maximum(margin, 0.0), np.minimum(margin, 0.0))
        w, unit = np.ones(m), np.arange(m) if groups is None else groups
        if weights is not None:
            some = weights > 0.0
            w, margin, outputs = weights[some], margin[some], outputs[some]
            y, predicted, unit = y[some], predicted[some], unit[some]
        units = y.size
        if groups is not None:
            left, unit = np.unique(unit, return_inverse=True)
            units = left.size
        elif units < m:
            unit = np.arange(units)
        return cls(y, predicted, outputs, margin, w, unit, units)

    @classmethod
    def left_out(cls, found: LeftOut, data: Dataset) -> Answers:
        """Those of leave-one-out, with the weights and the groups of the data."""
        return cls.of(
            found.y, found.predicted, found.outputs, found.margin,
            data.weights, data.groups,
        )  # fmt: skip

    @property
    def Q(self) -> int:
        """The number of classes."""
        return int(self.outputs.shape[1])

    @cached_property
    def wrong(self) -> Mask:
        """Which are errors."""
        return np.asarray(self.predicted != self.y)

    @cached_property
    def by_unit(self) -> tuple[Ints, Ints]:
        """The samples, unit after unit, and where each begins; with the end."""
        if self.units == self.y.size:
            return self.unit, np.arange(self.units + 1)
        counts = np.bincount(self.unit, minlength=self.units)
        return self.unit.argsort(kind="stable"), np.concatenate([[0], counts.cumsum()])


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


NEEDS = ("", "wrong", "predicted", "outputs")
"""What may be asked of an answer, each with all before it."""


class Metric(ABC):
    """One number of all answers.

    ``needs``: what must be known of each, one of NEEDS.
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
    def of(self, answers: Answers) -> tuple[float, Floats]:
        """The number, and what it is of all answers but each unit's (units,)."""

    def value(self, answers: Answers) -> float:
        """The number alone."""
        return self.of(answers)[0]

    def measured(self, answers: Answers) -> tuple[float, float]:
        """The number, and its standard error: NaN of a single unit."""
        value, without = self.of(answers)
        from msvm_select.metrics import loops

        return value, loops.jackknife(without)


class Mean(Metric):
    """A metric that is the mean of a loss of each sample."""

    @abstractmethod
    def losses(self, answers: Answers) -> Floats:
        """The loss (m,) of each sample."""

    def of(self, answers: Answers) -> tuple[float, Floats]:
        """sum_i w_i l_i / sum_i w_i."""
        a, without = answers, np.empty(answers.units)
        from msvm_select.metrics import loops

        return loops.mean_loss(self.losses(a), a.weights, a.unit, without), without
