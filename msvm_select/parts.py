"""Machines of several parts: two-class machines, and a decision made of theirs.

A part is the ordinary machine of two classes at C, as LIBSVM and scikit-learn have it,

    min  1/2 ||w||^2 + C sum_i xi_i   s.t.  s_i f(x_i) >= 1 - xi_i,  xi_i >= 0,

which is the Weston-Watkins machine of its two classes at C/2. (With weights, C of
sample i is C w_i.) So each part is a
``Dual``, and what it says of itself (gap, violation, objective) is what that says.

What the parts know stands in tables (m, Q). ``alpha[i, k]`` is the alpha of sample i

    one-versus-one:  in the pair of its class and k, nothing at k = y_i;
    one-versus-all:  in the machine of class k against the rest.

``f[i, k]`` is the decision of that part at x_i, towards the class of the sample in a
pair, towards k against the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from msvm_select.left_out import (
    BY_TRAINING,
    NOT_A_SV,
    REPAIRED,
    SINGLE,
    Asked,
    Led,
    LeftOut,
    Voted,
    first_of_largest,
    graded_votes,
    pairs_lost,
)
from msvm_select.records import Blocks, Dual, Floats, Gram, Ints, Mask, Work, ridge_of
from msvm_select.solution import Solution

if TYPE_CHECKING:  # what turns labels into problems
    from msvm_select.machines.base import Loss

BLOCK = 2**22  # numbers in the largest table of a block of rows
NOBODY: Floats = np.empty((0, 0))  # asks for a table


FACTS = ("sum", "square", "slack", "kkt", "b", "width", "gap")
"""Of a part: sum alpha, ||w||^2, sum xi, largest violation, b, its room, the gap."""


class Part(NamedTuple):
    """The samples of a part, which of them are its first class, and its two columns.

    ``first``: the column in which those of the first class keep their alpha.
    """

    rows: Ints
    positive: Mask
    first: int
    second: int


class Told(NamedTuple):
    """What a solver found of all parts: tables (m, Q), and a row of FACTS a part."""

    alpha: Floats
    f: Floats
    facts: Floats
    steps: int
    newton: int
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Parts(ABC):
    """The training problems of all parts; ``C`` is that of each of them.

    Samples that are ``gone`` (m,) are in no part, and keep their rows in the tables.
    """

    gram: Gram
    y: Ints
    Q: int
    C: float
    loss: Loss
    certain: bool = True
    weights: Floats | None = None
    gone: Mask | None = None
    kind: ClassVar[str]

    @property
    def m(self) -> int:
        """The number of samples."""
        return int(self.y.size)

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of parts."""

    @abstractmethod
    def part(self, t: int) -> Part:
        """Its samples and signs."""

    @cached_property
    def flat(self) -> tuple[Ints, Ints, Ints, Ints]:
        """All parts in four arrays, as the compiled kernels take them.

        The samples of all, those of the first class before the others; where each part
        begins, and the end; how many of the first class it has; its two columns.
        """
        parts = [self.part(t) for t in range(self.count)]
        sizes = [part.rows.size for part in parts]
        rows = np.concatenate([part.rows for part in parts])
        ones = np.array([part.positive.sum() for part in parts], dtype=np.int64)
        columns = np.array([(p.first, p.second) for p in parts], dtype=np.int64)
        return rows, np.concatenate([[0], np.cumsum(sizes)]), ones, columns

    @property
    def places(self) -> tuple[Ints, Ints, Mask]:
        """Of each sample of each part, in the order of ``flat``, its row, its column
        in the tables, and whether it is of the first class.
        """
        rows, starts, ones, columns = self.flat
        sizes = np.diff(starts)
        positive = np.arange(rows.size) < np.repeat(starts[:-1] + ones, sizes)
        first, second = np.repeat(columns, sizes, axis=0).T
        return rows, np.where(positive, first, second), positive

    def towards(self, table: Floats) -> Floats:
        """Decisions towards the first class of a part, turned as ``f`` has them."""
        return table

    def gram_of(self, part: Part) -> Gram:
        """The Gram matrix of a part."""
        return self.gram.of(part.rows)

    @property
    def one_by_one(self) -> bool:
        """Whether the kernels of two classes cannot train them, several in a call."""
        return not self.certain

    def dual(self, t: int) -> Dual:
        """Part ``t`` as the machine of two outputs."""
        part = self.part(t)
        codes = np.where(part.positive, 0, 1).astype(np.int64)
        gram, own = self.gram_of(part), self.weights
        weights = None if own is None else own[part.rows]
        return self.loss.dual(gram, codes, 2, 0.5 * self.C, weights)

    def start(self, t: int, dual: Dual, alpha: Floats) -> Solution:
        """Where the training of a part may begin: at these alpha."""
        part = self.part(t)
        half = 0.5 * self.own(part, alpha)
        tau = np.where(part.positive, half, -half)[:, None] * np.array([1.0, -1.0])
        return Solution(dual, tau, dual.gram.product(tau))

    def own(self, part: Part, table: Floats) -> Floats:
        """What a table holds of the samples of a part."""
        columns = np.where(part.positive, part.first, part.second)
        return np.asarray(table[part.rows, columns])

    def put(self, part: Part, table: Any, values: Any) -> None:
        """Keep what belongs to the samples of a part."""
        columns = np.where(part.positive, part.first, part.second)
        table[part.rows, columns] = values

    @cached_property
    def box(self) -> Floats:
        """The largest alpha (m,); with the quadratic loss one that none reaches."""
        weights = np.ones(self.m) if self.weights is None else self.weights
        if self.loss.name == "l1":
            return self.C * weights
        return np.full(self.m, self.C * weights.sum())

    @property
    def ridged(self) -> bool:
        """Whether the loss is the quadratic one."""
        return self.loss.name != "l1"

    @cached_property
    def ridge(self) -> Floats:
        """What the quadratic loss adds to the diagonal of K (m,): 1/(C w_i)."""
        if not self.ridged:
            return np.zeros(self.m)
        return ridge_of(self.C, self.m, self.weights)

    @abstractmethod
    def decided(self, K: Floats, alpha: Floats, b: Floats) -> tuple[Ints, Floats]:
        """The class of new samples by K (p, m), and how they were decided (p, Q).

        One against one: the votes. One against the rest: the outputs.
        """

    @abstractmethod
    def outputs(self, machine: Composed) -> Floats:
        """Likewise (m, Q) of the training samples, from what the parts know of them."""

    @abstractmethod
    def predicted(self, machine: Composed) -> Ints:
        """The class (m,) of each training sample."""

    @abstractmethod
    def outputs_at(self, K: Floats, machine: Composed) -> Floats:
        """What new samples are ranked by (p, Q): the largest is the answer.

        One against one: votes and confidences. One against the rest: the outputs.
        """

    @abstractmethod
    def margins_at(self, K: Floats, y: Ints, machine: Composed) -> Floats | None:
        """(p, Q): the decisions of the pairs of new samples' own classes y (p,).

        None where the outputs tell.
        """

    @abstractmethod
    def graded(self, machine: Composed) -> Floats:
        """The same (m, Q) of the training samples."""

    @abstractmethod
    def in_training(self, machine: Composed, every: bool) -> LeftOut:
        """The answers for its own samples, as if they had been left out."""

    @abstractmethod
    def judged(self, found: LeftOut, machine: Composed, asked: Asked) -> LeftOut:
        """The answers of the whole from those of the parts (tables of ``found``)."""


@dataclass(frozen=True, eq=False)
class Pairs(Parts):
    """One machine for each pair of classes; most votes win, or the first class."""

    kind: ClassVar[str] = "ovo"

    @cached_property
    def order(self) -> Ints:
        """The samples, class after class."""
        order = np.asarray(self.y.argsort(kind="stable"))
        return order if self.gone is None else order[~self.gone[order]]

    @cached_property
    def offsets(self) -> Ints:
        """Where each class begins in ``order``, and the end."""
        counts = np.bincount(self.y[self.order], minlength=self.Q)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @cached_property
    def pairs(self) -> Ints:
        """(first, second) of the classes that have samples, in LIBSVM's order."""
        there = np.flatnonzero(np.diff(self.offsets) > 0)
        a, b = np.triu_indices(there.size, 1)
        return np.stack([there[a], there[b]], axis=1).astype(np.int64)

    @cached_property
    def flat(self) -> tuple[Ints, Ints, Ints, Ints]:
        """As of any parts; of thousands of pairs at once."""
        begins, counts = self.offsets[self.pairs], np.diff(self.offsets)[self.pairs]
        sizes = counts.ravel()
        ahead = np.cumsum(sizes) - sizes
        at = np.arange(sizes.sum()) + np.repeat(begins.ravel() - ahead, sizes)
        ends = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
        columns = np.ascontiguousarray(self.pairs[:, ::-1])
        return self.order[at], ends, np.ascontiguousarray(counts[:, 0]), columns

    def towards(self, table: Floats) -> Floats:
        """Towards the class of each sample: -f where that is the second of the pair."""
        second = self.y[:, None] > np.arange(self.Q)
        return np.where(second, -table, table)

    @property
    def count(self) -> int:
        """Q(Q - 1)/2."""
        return int(self.pairs.shape[0])

    def rows_of(self, k: int) -> Ints:
        """The samples of a class."""
        return np.asarray(self.order[self.offsets[k] : self.offsets[k + 1]])

    def part(self, t: int) -> Part:
        """Class a against class b."""
        a, b = (int(k) for k in self.pairs[t])
        rows = np.concatenate([self.rows_of(a), self.rows_of(b)])
        positive = np.arange(rows.size) < self.offsets[a + 1] - self.offsets[a]
        return Part(rows, positive, b, a)

    def decided(self, K: Floats, alpha: Floats, b: Floats) -> tuple[Ints, Floats]:
        """f > 0 is a vote for the first class of a pair, else for the second."""
        p, held = K.shape[0], self.supports(alpha)
        nobody, votes = np.full(p, -1), np.zeros((p, self.Q))
        K = np.ascontiguousarray(K)
        self._count(K, np.arange(p), held, alpha, b, held, nobody, votes, np.empty(p))
        return votes.argmax(axis=1).astype(np.int64), votes

    def supports(self, alpha: Floats) -> Ints:
        """The support vectors, class after class."""
        return np.asarray(self.order[(alpha != 0.0).any(axis=1)[self.order]])

    def votes_of_others(
        self, alpha: Floats, b: Floats, rows: Ints, towards: Floats = NOBODY
    ) -> tuple[Floats, Floats]:
        """(rows, Q): for some samples, by the pairs without the class of the sample.

        And the smallest |f| of these pairs (rows,). To ``towards`` (rows, Q) is added
        what these decisions add up to, towards each class.
        """
        held, votes = self.supports(alpha), np.zeros((rows.size, self.Q))
        least, gram, own = np.empty(rows.size), self.gram, self.y[rows]
        if not isinstance(gram, Blocks):
            self._count(
                gram.matrix, rows, held, alpha, b, held, own, votes, least, towards
            )
            return votes, least
        step, here = max(1, BLOCK // max(1, held.size)), np.arange(held.size)
        for first in range(0, rows.size, step):
            some = slice(first, first + step)
            K = np.ascontiguousarray(gram.block(rows[some], held))
            self._count(
                K, np.arange(K.shape[0]), here, alpha, b, held, own[some],
                votes[some], least[some], towards[some],
            )  # fmt: skip
        return votes, least

    def _count(
        self, K: Floats, rows: Ints, columns: Ints, alpha: Floats, b: Floats,
        held: Ints, own: Ints, votes: Floats, least: Floats, towards: Floats = NOBODY,
    ) -> None:  # fmt: skip
        from msvm_select.votes import count_votes

        biases = np.full((self.Q, self.Q), np.nan)
        biases[self.pairs[:, 0], self.pairs[:, 1]] = b
        starts = np.searchsorted(self.y[held], np.arange(self.Q + 1))
        count_votes(
            K, rows, columns, alpha[held], starts, biases, own, votes, least, towards
        )

    @cached_property
    def there(self) -> Mask:
        """(m, Q): whether there is a pair of the class of the sample and another."""
        found = np.broadcast_to(np.diff(self.offsets) > 0, (self.m, self.Q)).copy()
        found[np.arange(self.m), self.y] = False
        return found

    def own_votes(self, decisions: Floats) -> tuple[Ints, Mask]:
        """How many pairs of its class a sample wins (m,), to which classes it loses.

        By decisions (m, Q) as ``f`` has them; one that is NaN is no vote.
        """
        there = self.there & np.isfinite(decisions)
        lost = there & pairs_lost(self.y, decisions)
        return (there & ~lost).sum(axis=1), lost

    def voted(self, machine: Composed, decisions: Floats) -> Ints:
        """The class with the most votes; the pairs of its own class decide so.

        A sample that wins all of these is of its class: no other can have as many.
        """
        won, lost = self.own_votes(decisions)
        winner = self.y.copy()
        open_ones = np.flatnonzero(won < self.there.sum(axis=1))
        votes = machine.votes_of_others(open_ones) + lost[open_ones]
        none = won[open_ones] + lost[open_ones].sum(axis=1) == 0  # its class is gone
        own = np.where(none, -1, won[open_ones])
        votes[np.arange(open_ones.size), self.y[open_ones]] = own
        winner[open_ones] = votes.argmax(axis=1)
        return winner

    def outputs(self, machine: Composed) -> Floats:
        """The votes of all pairs."""
        won, lost = self.own_votes(machine.part_decisions)
        votes = machine.votes_of_others(np.arange(self.m)) + lost
        votes[np.arange(self.m), self.y] = won
        return np.asarray(votes)

    def predicted(self, machine: Composed) -> Ints:
        """By votes, most of which need not be counted."""
        return self.voted(machine, machine.part_decisions)

    def tau(self, alpha: Floats) -> Floats:
        """(m, Q): K tau is what the decisions towards each class add up to, less b."""
        tau = -alpha
        tau[np.arange(self.m), self.y] = alpha.sum(axis=1)
        return np.asarray(tau)

    def sums_of(self, b: Floats) -> Floats:
        """What the biases of the pairs of each class add up to, towards it (Q,)."""
        first, second = self.pairs.T
        towards = np.bincount(first, b, self.Q) - np.bincount(second, b, self.Q)
        return np.asarray(towards)

    def absent(self, h: Floats) -> Floats:
        """Outputs without those of classes that have no sample."""
        h[:, np.diff(self.offsets) == 0] = -np.inf
        return h

    def outputs_at(self, K: Floats, machine: Composed) -> Floats:
        """Votes of new samples, with their confidences."""
        _, votes = self.decided(K, machine.alpha, machine.b)
        sums = K @ self.tau(machine.alpha) + self.sums_of(machine.b)
        return self.absent(graded_votes(votes, sums))

    def margins_at(self, K: Floats, y: Ints, machine: Composed) -> Floats:
        """f of the pairs of y, towards it; NaN where there is no such pair."""
        alpha, biases = machine.alpha, np.full((self.Q, self.Q), np.nan)
        first, second = self.pairs.T
        biases[first, second], biases[second, first] = machine.b, -machine.b
        f = np.full((y.size, self.Q), np.nan)
        of_class = self.y[:, None] == np.arange(self.Q)
        for k in np.unique(y[y >= 0]):
            some = np.flatnonzero(y == k)
            own, others = of_class[:, k, None] * alpha, of_class * alpha[:, k, None]
            f[some] = K[some] @ (own - others) + biases[k]
        return f

    def graded(self, machine: Composed) -> Floats:
        """Those of training."""
        return self.graded_by(machine.part_decisions, machine)[0]

    def graded_by(self, decisions: Floats, machine: Composed) -> tuple[Floats, Ints]:
        """Where the pairs of its own class decide so of each sample; the class voted.

        Without any, because the sample is single in its class, that class is absent.
        """
        from msvm_select.votes import grade

        votes, towards = (table.copy() for table in machine.told_by_others)
        graded, there = np.empty(votes.shape), np.diff(self.offsets) > 0
        decisions = np.ascontiguousarray(decisions)
        grade(self.y, decisions, there, votes, towards, graded)
        return graded, votes.argmax(axis=1)

    def in_training(self, machine: Composed, every: bool) -> LeftOut:
        """All pairs judge it as they are."""
        at, none = np.arange(self.m), np.zeros(self.m, np.int64)
        margins = np.where(self.there, machine.part_decisions, np.nan)
        margins[at, self.y] = np.inf
        return Voted(
            y=self.y, margins=margins, road=none, exchanges=none, at_top=none > 0,
            votes=machine.predicted, nearest=machine.least_of_others,
            graded=machine.graded if every else None,
        )  # fmt: skip

    def judged(self, found: LeftOut, machine: Composed, asked: Asked) -> LeftOut:
        """The pairs of p's class judge it without it, all others as they are."""
        margins = found.margins.copy()
        single = np.bincount(self.y, minlength=self.Q)[self.y] == 1
        known = np.where(single[:, None], np.nan, margins)
        if (only := asked.get("only")) is not None:
            known[~only] = 1.0  # right, so that nobody counts the votes of others
        graded = None
        if asked.get("every_margin"):
            graded, votes = self.graded_by(known, machine)
        else:
            votes = self.voted(machine, known)
        margins[np.arange(self.m), self.y] = np.inf
        return Voted(
            y=self.y, margins=margins, road=found.road, exchanges=found.exchanges,
            at_top=found.at_top, unsure=found.unsure, votes=votes,
            nearest=machine.least_of_others, graded=graded,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rests(Parts):
    """One machine for each class, against all others; the largest output wins."""

    kind: ClassVar[str] = "ova"

    @property
    def count(self) -> int:
        """Q."""
        return self.Q

    def part(self, t: int) -> Part:
        """Class t against the rest."""
        positive = self.y == t
        rows = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)])
        rows = rows if self.gone is None else rows[~self.gone[rows]]
        return Part(rows, positive[rows], t, t)

    @cached_property
    def signs(self) -> Floats:
        """(m, Q): 1 for the class itself, -1 for the rest."""
        return np.where(self.y[:, None] == np.arange(self.Q), 1.0, -1.0)

    def gram_of(self, part: Part) -> Gram:
        """All samples are in a part: where K is not held, that of a part is not."""
        return self.gram.part(part.rows)

    @property
    def one_by_one(self) -> bool:
        """Where K is not held."""
        return not self.certain or isinstance(self.gram, Blocks)

    def decided(self, K: Floats, alpha: Floats, b: Floats) -> tuple[Ints, Floats]:
        """The first of the largest outputs."""
        h = K @ (self.signs * alpha) + b
        return first_of_largest(h), h

    def outputs(self, machine: Composed) -> Floats:
        """Every part knows those of all samples."""
        return machine.part_decisions

    def predicted(self, machine: Composed) -> Ints:
        """The first of the largest outputs."""
        return first_of_largest(machine.part_decisions)

    def outputs_at(self, K: Floats, machine: Composed) -> Floats:
        """Those that decide."""
        return self.decided(K, machine.alpha, machine.b)[1]

    def margins_at(self, K: Floats, y: Ints, machine: Composed) -> None:
        """The outputs tell."""

    def graded(self, machine: Composed) -> Floats:
        """Likewise."""
        return machine.part_decisions

    def in_training(self, machine: Composed, every: bool) -> LeftOut:
        """Every part as it is."""
        at, none, h = np.arange(self.m), np.zeros(self.m, np.int64), machine.graded
        margins = h[at, self.y][:, None] - h
        margins[at, self.y] = np.inf
        return Led(self.y, margins, none, none, none > 0)

    def judged(self, found: LeftOut, machine: Composed, asked: Asked) -> LeftOut:
        """Every part is without p: its outputs tell."""
        at, y, h = np.arange(self.m), self.y, found.margins
        single = (np.bincount(y, minlength=self.Q) == 1)[y]
        h = np.where(single[:, None], 0.0, h)  # no part of its own class is left
        margins = h[at, y][:, None] - h
        margins[single] = -np.inf
        margins[at, y] = np.inf
        road = np.where(single, SINGLE, found.road)
        return Led(y, margins, road, found.exchanges, found.at_top, found.unsure)


@dataclass(frozen=True, eq=False)
class Composed:
    """A trained machine of several parts, as one: what they certify, taken together.

    The gap and the violation are those of the worst part, support vectors the union,
    objective and sum of alpha the sums, and the biases are unique if all are.
    """

    parts: Parts
    found: Told
    work: Work = field(default_factory=Work)
    converged: bool = True
    reason: str = ""

    @property
    def alpha(self) -> Floats:
        """(m, Q), of the parts at C."""
        return self.found.alpha

    @cached_property
    def dual(self) -> Dual:
        """The samples, the labels and C, as those who ask for them know it."""
        parts = self.parts
        quadratic = parts.C if parts.ridged else None
        C = float(parts.box.max()) if parts.ridged else parts.C
        return Dual(parts.gram, parts.y, parts.Q, C, quadratic, parts.weights)

    @property
    def tau(self) -> Floats:
        """What a copy at another C shares with its original."""
        return self.found.alpha

    def _fact(self, name: str) -> Floats:
        return np.asarray(self.found.facts[:, FACTS.index(name)])

    @property
    def b(self) -> Floats:
        """The bias of each part."""
        return self._fact("b")

    @property
    def b_unique(self) -> bool:
        """Whether every part has only one optimal bias."""
        return bool((self._fact("width") < 1e-7).all())

    @property
    def gap(self) -> float:
        """The relative duality gap of the worst part."""
        return float(self._fact("gap").max(initial=0.0))

    @property
    def kkt_violation(self) -> float:
        """That of the worst part."""
        return float(self._fact("kkt").max(initial=0.0))

    @property
    def flow_imbalance(self) -> float:
        """The alpha of the two classes of a part have the same sum, but for this."""
        rows, column, positive = self.parts.places
        own, begins = self.alpha[rows, column], self.parts.flat[1][:-1]
        size = np.add.reduceat(own, begins)
        off = np.abs(np.add.reduceat(np.where(positive, own, -own), begins))
        return float((off / np.maximum(1.0, size)).max(initial=0.0))

    @property
    def sum_alpha(self) -> float:
        """Of the parts as machines of two outputs: half of LIBSVM's."""
        return 0.5 * float(self._fact("sum").sum())

    @property
    def squares(self) -> Floats:
        """||w||^2 of each part."""
        return self._fact("square")

    @property
    def norm_w_squared(self) -> float:
        """sum over parts of ||w_1||^2 + ||w_2||^2 = ||w||^2 / 2."""
        return 0.5 * float(self.squares.sum())

    @property
    def dual_objective(self) -> float:
        """The sum of those of the parts."""
        return self.sum_alpha - 0.5 * self.norm_w_squared

    @cached_property
    def is_support_vector(self) -> Mask:
        """Which samples are one of some part."""
        return np.asarray(self.alpha.any(axis=1))

    @property
    def n_sv(self) -> int:
        """The number of samples that are support vectors of some part."""
        return int(self.is_support_vector.sum())

    @property
    def n_bounded(self) -> int:
        """The number of samples with some alpha = C."""
        return int((self.alpha >= self.parts.box[:, None]).any(axis=1).sum())

    @property
    def hard_margin(self) -> bool:
        """Whether no alpha reaches C in any part."""
        return self.n_bounded == 0

    @cached_property
    def part_decisions(self) -> Floats:
        """The table ``f`` without the ridge, which no new sample would meet."""
        own = self.parts.ridge[:, None] * self.alpha
        if isinstance(self.parts, Rests):
            own *= self.parts.signs
        return self.found.f - own

    @cached_property
    def _counted(self) -> tuple[Floats, Floats, Mask]:
        """Votes of others (m, Q), their smallest |f|, and whose have been counted."""
        m, Q = self.parts.m, self.parts.Q
        return np.zeros((m, Q)), np.full(m, np.inf), np.zeros(m, dtype=np.bool_)

    def votes_of_others(self, rows: Ints) -> Floats:
        """(rows, Q): for some samples, by the pairs without the class of the sample."""
        assert isinstance(self.parts, Pairs)
        votes, least, known = self._counted
        new = rows[~known[rows]]
        votes[new], least[new] = self.parts.votes_of_others(self.alpha, self.b, new)
        known[new] = True
        return np.asarray(votes[rows])

    @cached_property
    def told_by_others(self) -> tuple[Floats, Floats]:
        """The same of all samples, and what those decisions add up to (m, Q)."""
        parts, (votes, least, known) = self.parts, self._counted
        assert isinstance(parts, Pairs)
        towards = np.zeros(votes.shape)
        votes[:], least[:] = parts.votes_of_others(
            self.alpha, self.b, np.arange(parts.m), towards
        )
        known[:] = True
        return votes, towards

    @property
    def least_of_others(self) -> Floats:
        """The smallest |f| of those pairs, as far as their votes were asked for."""
        return self._counted[1]

    @cached_property
    def predicted(self) -> Ints:
        """The class of each training sample."""
        return self.parts.predicted(self)

    @property
    def train_errors(self) -> int:
        """Training samples that are wrong."""
        return int((self.predicted != self.parts.y).sum())

    @cached_property
    def outputs(self) -> Floats:
        """Votes (one against one) or outputs (one against the rest), (m, Q)."""
        return self.parts.outputs(self)

    @property
    def decisions(self) -> Floats:
        """The same: no sample meets the ridge there."""
        return self.outputs

    def labels(self, K: Floats) -> Ints:
        """The class of each new sample, by its kernel values K (p, m)."""
        return self.parts.decided(K, self.alpha, self.b)[0]

    def outputs_at(self, K: Floats) -> Floats:
        """What new samples are ranked by (p, Q), by K (p, m): the largest wins.

        One against one: votes and confidences. One against the rest: the outputs.
        """
        return self.parts.outputs_at(K, self)

    @cached_property
    def graded(self) -> Floats:
        """The same (m, Q) of the training samples."""
        return self.parts.graded(self)

    def in_training(self, every: bool = True) -> LeftOut:
        """Its answers for its own samples; ``every``: with all outputs."""
        return self.parts.in_training(self, every)

    def margins_at(self, K: Floats, y: Ints) -> Floats | None:
        """(p, Q): the decisions of the pairs of new samples' own classes y (p,).

        None where the outputs tell.
        """
        return self.parts.margins_at(K, y, self)

    def part_solution(self, t: int) -> Solution:
        """Part ``t`` as a machine of two outputs."""
        return self.parts.start(t, self.parts.dual(t), self.alpha)

    def solutions(self) -> Iterator[tuple[Part, Solution]]:
        """Each part as a machine of two outputs, with the samples that it is of."""
        for t in range(self.parts.count):
            yield self.parts.part(t), self.part_solution(t)


def pair_decisions(K: Floats, alpha: Floats, b: Floats, y: Ints, pairs: Ints) -> Floats:
    """f of each pair (p, pairs) by K (p, m) with samples of the classes y (m,)."""
    p, Q = K.shape[0], alpha.shape[1]
    sums, supports = np.zeros((Q, Q, p)), alpha.any(axis=1)
    for k in range(Q):
        held = np.flatnonzero((y == k) & supports)
        if held.size:
            sums[k] = alpha[held].T @ K[:, held].T
    first, second = pairs.T
    return np.asarray((sums[first, second] - sums[second, first]).T + b)


def votes_of(f: Floats, pairs: Ints, Q: int, there: Mask) -> Floats:
    """The votes (p, Q) of the decisions that are ``there``: f > 0 is for the first."""
    first, second = pairs.T
    won = np.zeros((f.shape[0], Q, Q), dtype=np.bool_)  # a sum along either class
    won[:, first, second] = (f > 0.0) & there
    votes = won.sum(axis=2, dtype=np.float64)
    won[:, first, second] = (f <= 0.0) & there
    votes += won.sum(axis=1, dtype=np.float64)
    return np.asarray(votes)


def sums_of(f: Floats, pairs: Ints, Q: int, there: Mask) -> Floats:
    """(p, Q): what those decisions add up to, towards each class."""
    first, second = pairs.T
    known = np.where(there, f, 0.0)
    towards = [
        known[:, first == k].sum(axis=1) - known[:, second == k].sum(axis=1)
        for k in range(Q)
    ]
    return np.stack(towards, axis=1)


def gathered(
    y: Any, margins: Floats, road: Any, exchanges: Any, top: Any, unsure: Any
) -> LeftOut:
    """Tables (m, Q) of what the parts found, the worst of each sample's parts."""
    # every decision was asked for, so training has decided none
    road = np.where(road == BY_TRAINING, REPAIRED, road)
    hard = np.where(road == SINGLE, NOT_A_SV, road).max(axis=1)
    return LeftOut(
        y, margins, np.where((road == SINGLE).any(axis=1), SINGLE, hard),
        exchanges.sum(axis=1), top.any(axis=1), unsure.max(axis=1),
    )  # fmt: skip
