"""Left-out answers -> how often each class was taken for each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select.left_out import LeftOut
from msvm_select.records import Ints

UNDECIDED = "?"
TINTS = (0.0, 0.05, 0.15, 0.30)  # shares of a class that goes wrong, from faint to full


@dataclass(frozen=True, eq=False)
class Confusion:
    """counts (Q, Q + 1): samples of class k predicted as l; last, the undecided."""

    classes: tuple[str, ...]
    counts: Ints

    @property
    def predicted(self) -> tuple[str, ...]:
        """The columns to show: the classes, and ``?`` if some sample is undecided."""
        undecided = (UNDECIDED,) if self.counts[:, -1].any() else ()
        return (*self.classes, *undecided)

    @property
    def errors(self) -> int:
        """How many samples are not predicted as their own class."""
        return int(self.counts.sum() - self.counts.diagonal().sum())

    @property
    def lines(self) -> list[tuple[str, list[int]]]:
        """Each true class with its counts, in the columns of ``predicted``."""
        shown = self.counts[:, : len(self.predicted)].tolist()
        return list(zip(self.classes, shown, strict=True))

    def tint(self, k: int, l: int) -> int:
        """How much of class k is taken for l, 0 (nothing) .. 4; of others than k."""
        share = self.counts[k, l] / max(1, self.counts[k].sum())
        return sum(share > least for least in TINTS)


def confusion_of(classes: tuple[str, ...], left_out: LeftOut) -> Confusion:
    """The counts of all samples.

    >>> confusion_of(data.classes, report.left_out).lines
    """
    Q = len(classes)
    counts = np.zeros((Q, Q + 1), np.int64)
    np.add.at(counts, (left_out.y, left_out.predicted), 1)
    return Confusion(classes, counts)
