"""How sure a machine is, and how often it is right: the reliability diagram.

The samples stand in bins by the largest of their probabilities. A machine can be
trusted where what it claims is as often right: the dots lie on the diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from msvm_select.errors import DataError
from msvm_select.metrics.base import Answers
from msvm_select.metrics.calibration import BINS, Calibration, Reliability
from msvm_select.model.model import NO_PROBABILITIES, Model
from msvm_select.phrases import quoted
from msvm_select.records import Dataset

if TYPE_CHECKING:  # `rank` draws pages, and loads no solver
    from msvm_select.model.examined import LeftOutReport

TITLE = "how often it is right, by how sure it is"
ACROSS, UP = "largest probability", "share of samples predicted right"


@dataclass(frozen=True)
class Bin:
    """Largest probabilities from ``low`` to ``high``: their mean, and the share right.

    ``share`` is that of all samples.
    """

    low: float
    high: float
    claimed: float
    right: float
    samples: float
    share: float

    @property
    def name(self) -> str:
        """``0.8 to 0.9``."""
        return f"{self.low:.1f} to {self.high:.1f}"


@dataclass(frozen=True, eq=False)
class ReliabilityChart:
    """The bins that have samples, and ``told``: which samples these are."""

    name: str
    told: str
    reliability: Reliability

    @property
    def title(self) -> str:
        """With the name of the data."""
        return f"{self.name}: {TITLE}" if self.name else TITLE

    @property
    def verdict(self) -> str:
        """The calibration error, in words."""
        error = self.reliability.error
        return f"expected calibration error {error:.4f}, {self.told}"

    @property
    def bins(self) -> Iterator[Bin]:
        """From the least sure to the surest."""
        found, whole = self.reliability, self.reliability.weight.sum()
        for b in np.flatnonzero(found.weight):
            weight = float(found.weight[b])
            claimed, right = float(found.claimed[b]), float(found.right[b])
            yield Bin(b / BINS, (b + 1) / BINS, claimed, right, weight, weight / whole)


def reliability_of_each(report: LeftOutReport) -> ReliabilityChart:
    """Of every sample of a machine, judged without itself; not without its group."""
    data = report.data
    found = Calibration.of(Answers.left_out(report.left_out, data))
    how = "" if data.groups is None else " one by one, not by groups"
    told = f"on {data.m} samples that were left out{how}"
    return ReliabilityChart(data.name, told, found.reliability)


def reliability_of(model: Model, samples: Dataset | None = None) -> ReliabilityChart:
    """Of the left-out samples of the training, or of these, whose classes are known.

    >>> reliability_of(load_model("iris.json")).reliability.error
    """
    if model.calibration is None:
        raise DataError(NO_PROBABILITIES)
    if samples is None:
        told = f"on {model.training.m} samples that were left out"
        return ReliabilityChart(
            model.training.data, told, model.calibration.reliability
        )
    if not samples.y.size:
        raise DataError(
            f"{samples.name} has no class column {quoted(str(model.columns.target))}: "
            "without it nobody knows which predictions are right (--target names it)."
        )
    p = model.probabilities(samples)
    code = {name: k for k, name in enumerate(model.classes)}
    y = np.array([code.get(samples.classes[k], -1) for k in samples.y])
    found = Reliability.of(y, p.argmax(axis=1), p, samples.weights)
    return ReliabilityChart(
        samples.name, f"on {y.size} samples of known classes", found
    )
