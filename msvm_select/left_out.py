"""Every sample judged by the machine trained without it, and how that was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypedDict

import numpy as np

from msvm_select.records import TIE, Floats, Ints, Mask

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
NEAR = 1e-6  # a decision of a pair so near to 0 may be another with LIBSVM

Tell = Callable[[int, int], None]
"""Hears how many samples are through, and of how many."""


Watch = Callable[[int, int], None]
"""Hears how many errors are known and how many samples are left; HopelessError ends it.

Those that are likely to be errors are then judged first."""


class Holding:
    """A watch that may ask again, of the same machine, where it has ended the judging.

    ``held``: what a solver had found till then, and goes on from.
    """

    held: Any = None

    def __call__(self, errors: int, left: int) -> None:
        """See ``Watch``."""


class HopelessError(Exception):
    """A cell that need not be judged to its end: ``low`` to ``high`` errors.

    ``lasting``: the machines behind these errors have no alpha at C, so that beyond
    hard margin the errors are there at every larger C, too.
    """

    lasting = False

    def __init__(self, low: int, high: int) -> None:
        """The errors that are known; those and the samples that are left."""
        super().__init__(f"{low} to {high} errors")
        self.low, self.high = low, high


def quiet(done: int, of: int) -> None:
    """Tell nobody."""


def unwatched(errors: int, left: int) -> None:
    """Go on to the end."""


class Asked(TypedDict, total=False):
    """How samples are to be left out, where it is not as usual.

    every_margin  those too that the training margin decides; with all outputs
    proven        by default; else margins may have some digits less
    only          (m,): what is told of the others means nothing
    jobs          threads, by default 1
    tell, watch   hear how far it is; ``watch`` may end it
    """

    every_margin: bool
    proven: bool
    only: Mask | None
    jobs: int
    tell: Tell
    watch: Watch


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
    at_top: Mask
    unsure: Floats | float = 0.0

    @cached_property
    def margin(self) -> Floats:
        """min_k of the margins."""
        return np.asarray(self.margins.min(axis=1))

    @cached_property
    def wrong(self) -> Mask:
        """Ties are errors, and so is what training already decided."""
        return np.asarray((self.road == BY_TRAINING) | ~(self.margin > TIE))

    @cached_property
    def untold(self) -> Mask:
        """Which samples training alone decided: of them no margin is known."""
        return np.asarray(np.isnan(self.margins).any(axis=1))

    @cached_property
    def outputs(self) -> Floats:
        """(m, Q): h_k of the machine without the sample, up to a constant in each row.

        -inf for a class that is absent there; NaN where training alone decided. For a
        sample that is single in its class the other classes have 0: nothing is trained.
        """
        at, h = np.arange(self.y.size), -self.margins
        h[at, self.y] = 0.0
        gone = self.road == SINGLE
        h[gone] = np.where(np.bincount(self.y, minlength=h.shape[1]) > 0, 0.0, -np.inf)
        h[at[gone], self.y[gone]] = -np.inf
        h[self.untold] = np.nan
        return h

    @cached_property
    def predicted(self) -> Ints:
        """The class that each machine gives its left-out sample; -1 at a tie.

        Where training alone decided, the other one of two classes, else -1: not known.
        """
        m = self.y.size
        first = np.where(np.isnan(self.margins), np.inf, self.margins).argmin(axis=1)
        smallest = self.margins[np.arange(m), first]
        tie = (self.margins == smallest[:, None]).sum(axis=1) > 1
        answer = np.where(smallest > 0.0, self.y, np.where(tie, -1, first))
        answer = np.where(np.abs(smallest) <= TIE, -1, answer)
        other = 1 - self.y if self.margins.shape[1] == 2 else np.full(m, -1)
        return np.asarray(np.where(self.untold, other, answer))

    @property
    def errors(self) -> int:
        """How many samples are wrong."""
        return int(self.wrong.sum())

    @cached_property
    def in_doubt(self) -> Mask:
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
        return sum(int((self.road == road).sum()) for road in roads)


def joined(answers: Iterable[tuple[Mask, LeftOut]]) -> LeftOut:
    """The answers of several, each for the samples that it is asked for (m,)."""
    (_, first), *others = answers = list(answers)
    held = {
        one.name: np.array(value)
        for one in fields(first)
        if np.ndim(value := getattr(first, one.name))
    }
    for asked, answer in others:
        for name, value in held.items():
            value[asked] = getattr(answer, name)[asked]
    return replace(first, **held)


def first_of_largest(h: Floats) -> Ints:
    """The class (p,) of the largest output, the first of those that tie."""
    tied = h >= h.max(axis=1, keepdims=True) - TIE
    return np.asarray(tied.argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Led(LeftOut):
    """Answers by outputs of which the first of the largest wins, as in scikit-learn."""

    @cached_property
    def predicted(self) -> Ints:
        """The class that leads; the first of those that tie."""
        leads = -self.margins
        leads[np.arange(self.y.size), self.y] = 0.0
        return first_of_largest(leads)

    @cached_property
    def wrong(self) -> Mask:
        """Where another class leads."""
        return np.asarray(self.predicted != self.y)


def pairs_lost(y: Ints, margins: Floats) -> Mask:
    """Which pairs of y_i and k decide for k, by their decisions (m, Q) towards y_i.

    LIBSVM gives a decision of 0 to the second class of the pair.
    """
    first = y[:, None] < np.arange(margins.shape[1])
    won = np.where(first, margins > 0.0, margins >= 0.0)
    return np.asarray(np.isfinite(margins) & ~won)


def graded_votes(votes: Floats, sums: Floats) -> Floats:
    """Votes (p, Q), and what their decisions add up to, brought between -1/3 and 1/3.

    ``sums`` (p, Q): of the decisions towards each class. The order is that of the
    votes; of classes that tie for the most votes the first, the answer, has the most.
    """
    h = votes + sums / (3.0 * (np.abs(sums) + 1.0))
    most = votes == votes.max(axis=1, keepdims=True)
    first = np.arange(votes.shape[0]), votes.argmax(axis=1)
    h[first] = np.where(most, h, -np.inf).max(axis=1)
    return np.asarray(h)


def deciding(margins: Floats, y: Ints, votes: Ints) -> Floats:
    """The decision (m,) that counts: of y_i and the class voted for, where it is wrong.

    Else the smallest of the pairs of y_i; NaN where none is left.
    """
    found = np.where(np.isnan(margins), np.inf, margins)
    turned = found[np.arange(y.size), votes]
    least = np.where(votes != y, turned, found.min(axis=1))
    return np.where(np.isfinite(least), least, np.nan)


@dataclass(frozen=True, eq=False)
class Voted(LeftOut):
    """Answers by votes: margins[i, k] is the decision of the pair of y_i and k.

    It counts towards y_i; NaN where no such pair is left. ``votes`` (m,) is the class
    with the most votes; ``nearest`` (m,) the smallest |f| of the pairs without y_i,
    known where i loses a pair of its own: only then do those matter.
    """

    votes: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    nearest: Floats = field(default_factory=lambda: np.empty(0))
    graded: Floats | None = None

    @cached_property
    def outputs(self) -> Floats:
        """``graded`` (m, Q), votes and confidences; NaN where nobody asked for them."""
        if self.graded is None:
            return np.full(self.margins.shape, np.nan)
        return self.graded

    @cached_property
    def lost(self) -> Mask:
        """(m, Q): which pairs of its class decide for the other class."""
        return pairs_lost(self.y, self.margins)

    @cached_property
    def margin(self) -> Floats:
        """The decision that counts: of y_i and the predicted class, where it is wrong.

        Else the smallest of the pairs of y_i; NaN where none is left.
        """
        return deciding(self.margins, self.y, self.votes)

    @property
    def predicted(self) -> Ints:
        """The class with the most votes; the first of several."""
        return self.votes

    @cached_property
    def wrong(self) -> Mask:
        """Where another class has the most votes."""
        return np.asarray(self.votes != self.y)

    @cached_property
    def in_doubt(self) -> Mask:
        """Where a decision lies within 1e-6 of 0, or within its own doubt."""
        near = np.abs(self.margins) < np.maximum(
            NEAR, np.asarray(self.unsure)[..., None]
        )
        others = self.lost.any(axis=1) & (self.nearest < NEAR)
        return np.asarray(near.any(axis=1) | others)
