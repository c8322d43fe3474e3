"""The rows of a tableau that some sample asks for, each made once.

How rows are made by the factor of each class (``Responses``), where they are kept
(``Store``), and which of them a tableau holds ready for the kernels (``Rows``).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.flow import spanning
from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solvers.exact.classes import MOST_NUMBERS, ClassFactor
from msvm_select.solvers.exact.thin import kept_of
from msvm_select.solvers.leave_out.exchanges import Whole

if TYPE_CHECKING:  # which makes its rows by Responses
    from msvm_select.solvers.leave_out.tableau import Tableau

TINY = 1e-300
MOST_STORED = 4e7  # numbers in the rows that are kept
A_CHUNK = 0.25  # of them, those that a chunk of samples asks for
LIKELY = 0.1, 0.4  # r of variables whose rows are made unasked: of all, or by classes
EACH_ASKS = 30  # such rows for each sample that is left out, at the most
MADE_AHEAD = 1e4  # free variables times rows: with fewer, K makes them one by one
TOGETHER = 256  # rows that are made at once


class Responses:
    """How alpha of the free arcs and r of others answer a change of any of both.

    Arcs are (rows[v], cols[v]); the first n are those of the factor, which knows
    sample i as first[i]; an error of it beyond ``enough`` is refined away. Only outputs
    F_ik that some other arc asks for are computed: of the samples ``asked[k]``.
    """

    def __init__(
        self, factor: ClassFactor, gram: Gram, y: Ints,
        rows: Ints, cols: Ints, first: Ints, n: int, enough: float,
    ) -> None:  # fmt: skip
        """Find which outputs the others ask for."""
        self.factor, self.gram, self.y, self.n = factor, gram, y, n
        self.rough = factor.error > enough
        self.rows, self.cols = rows, cols
        self.scale = np.ones(n)
        self.entry = factor.places(y.size)[cols[:n], first[rows[:n]]]
        i, k = rows[n:], cols[n:]
        self.asked, self.parts = [], []
        self.own, self.other = np.zeros(i.size, np.int64), np.zeros(i.size, np.int64)
        begin, numbers = 0, 0
        for c, at in enumerate(factor.members):
            mine, theirs = y[i] == c, k == c
            asked = np.unique(i[mine | theirs])
            numbers += asked.size * at.size
            if numbers > MOST_NUMBERS:
                raise np.linalg.LinAlgError
            self.own[mine] = begin + np.searchsorted(asked, i[mine])
            self.other[theirs] = begin + np.searchsorted(asked, i[theirs])
            self.asked.append(asked)
            self.parts.append(slice(begin, begin + asked.size))
            begin += asked.size

    @cached_property
    def between(self) -> list[Any]:
        """K between the asked and the free, of each class."""
        gram, at = self.gram, [self.factor.rows[own] for own in self.factor.members]
        pairs = zip(self.asked, at, strict=True)
        return [kept_of(gram, gram.block(*pair)) for pair in pairs]

    def of(self, wanted: Ints) -> Floats:
        """(wanted, n + others): of a force on a free arc, of a shift of another."""
        n, y = self.n, self.y
        found = np.empty((wanted.size, self.rows.size))
        free = wanted < n
        found[free] = self.forced(wanted[free])
        i, k = self.rows[wanted[~free]], self.cols[wanted[~free]]
        tau, at = np.zeros((self.factor.Q, i.size)), np.arange(i.size)
        tau[y[i], at], tau[k, at] = 1.0, -1.0
        found[~free] = self.shifted(i, tau)
        return found

    def forced(self, arcs: Ints) -> Floats:
        """By a force of 1 on each of these free arcs."""
        factor, at, entries = self.factor, np.arange(arcs.size), self.entry[arcs]
        t = np.zeros((factor.size, arcs.size))
        t[entries, at] = -1.0
        w = np.zeros_like(t)
        for q, part in enumerate(factor.parts):
            here = np.flatnonzero(self.cols[arcs] == q)
            w[part, here] = -factor.columns(q, entries[here] - part.start)
        F = np.zeros((self.parts[-1].stop, arcs.size))
        found, b = self._answer(t, w, np.zeros((factor.Q, arcs.size)), F)
        # of its stiffness while the biases hold still: with them, the response of an
        # arc that alone ties two classes is 0, and its rounding would pass for it
        own = found[at, arcs] - (b * (factor.weight @ b)).sum(axis=0)
        self.scale[arcs] = 1.0 / np.sqrt(np.maximum(own, TINY))
        return found

    def shifted(self, samples: Ints, tau: Floats) -> Floats:
        """Where tau (Q, samples) is added to that of each sample."""
        factor = self.factor
        t = np.zeros((factor.size, samples.size))
        w = np.zeros_like(t)
        F = np.zeros((self.parts[-1].stop, samples.size))
        for q, (at, part) in enumerate(zip(factor.members, factor.parts, strict=True)):
            here = np.flatnonzero(tau[q])
            if here.size:
                i, change = samples[here], tau[q, here]
                block = self.gram.block(factor.rows[at], i) * -change
                t[part, here] = block
                w[part, here] = factor.answer(q, block)
                F[self.parts[q], here] = self.gram.block(self.asked[q], i) * change
        return self._answer(t, w, -tau, F)[0]

    def _answer(
        self, t: Floats, w: Floats, s: Floats, F: Floats
    ) -> tuple[Floats, Floats]:
        """For the right-hand sides t, w = R_k t_k, s; F: what the shifts do to it.

        -> (rows, how b moves).
        """
        n, factor, y = self.n, self.factor, self.y
        d, b, multiplier = factor.finish(w, s, multiplied=self.rough)
        if self.rough:
            d, b = factor.refined(t, s, d, b, multiplier)
        for q, part in enumerate(factor.parts):
            F[self.parts[q]] += self.between[q] @ d[part]
        found = np.empty((self.rows.size, t.shape[1]))
        np.negative(d[self.entry], out=found[:n])
        np.subtract(F[self.other], F[self.own], out=found[n:])
        found[n:] += b[self.cols[n:]] - b[y[self.rows[n:]]]
        return found.T, b


class Store:
    """Rows as they are asked for, each made once: ``rows[at[v]]`` is that of v."""

    def __init__(
        self,
        make: Callable[[Ints], Floats],
        width: int,
        kept: Floats | None = None,
        most: int = 0,
        given: int = 0,
    ) -> None:
        """The first, ``given`` ones of ``kept``, are there; room for ``most`` at once.

        (What nobody fills, the system does not give.)
        """
        self.make, self.at, self.most = make, np.full(width, -1), most
        self.rows = np.empty((0, width)) if kept is None else kept
        self.given = self.filled = given
        self.at[: self.given] = np.arange(self.given)

    def __call__(self, wanted: Ints) -> Floats:
        """Those of ``wanted``."""
        self.need(wanted)
        return np.asarray(self.rows[self.at[wanted]])

    def need(self, wanted: Ints) -> None:
        """Make those that are not there."""
        missing = np.unique(wanted[self.at[wanted] < 0])
        for first in range(0, missing.size, TOGETHER):
            some = missing[first : first + TOGETHER]
            begin, self.filled = self.filled, self.filled + some.size
            if self.filled > self.rows.shape[0]:
                grown = np.empty((max(2 * self.filled, self.most), self.rows.shape[1]))
                grown[:begin] = self.rows[:begin]
                self.rows = grown
            self.at[some] = np.arange(begin, self.filled)
            self.rows[begin : self.filled] = self.make(some)

    def forget(self, most: int) -> None:
        """Let go of all but those of the start where there are more than ``most``."""
        if self.filled - self.given > most:
            self.at[self.at >= self.given] = -1
            self.filled = self.given


class Rows:
    """The rows of the tableau that some sample asks for.

    The whole would be too large, and few are ever used.
    """

    def __init__(
        self, tableau: Tableau, y: Ints, box: Floats, present: Mask, asked: int
    ) -> None:
        """Those that are there from the start; so many samples ask for some."""
        self.tableau, self.top, t = tableau, box, tableau
        self.together = None if t.together is None else t.together(asked)
        self.most = int((1.0 - A_CHUNK) * MOST_STORED // max(1, t.width))
        shifts = max(1, (present.size - 1) * t.width)  # of one sample
        self.at_once = max(16, int(A_CHUNK * MOST_STORED // shifts))
        room = int(MOST_STORED // max(1, t.width))
        self.store = Store(
            t.respond, t.width, t.kept, t.kept.shape[0] + 2 * room, t.given
        )
        self.needed = np.zeros(t.width, bool)
        self.start, self.alpha = np.r_[t.alpha_M, t.r_N], np.r_[t.alpha_M, t.alpha_N]
        self.sample, self.head = np.r_[t.rows_M, t.rows_N], np.r_[t.cols_M, t.cols_N]
        ties = spanning(y[t.rows_M], t.cols_M, present) if t.K is not None else []
        self.makes = bool(ties)
        if self.makes and asked * t.alpha_M.size >= MADE_AHEAD:  # one for each sample
            self.store.need(self._near_the_margin(asked))
        self.whole = self._whole(y, present.size, ties)

    def _whole(self, y: Ints, Q: int, ties: list[tuple[int, bool]]) -> Whole:
        """As the kernels see it, with room to make rows in."""
        t = self.tableau
        K = t.K if self.makes and t.K is not None else np.empty((0, 0))
        return Whole(
            self.store.rows, self.store.at, self.sample, self.head, y, K,
            np.array(ties or np.empty((0, 2)), np.int64),
            np.zeros((Q, len(K))), np.empty((Q, len(K))), np.empty(Q),
            np.empty(len(K), np.int64), np.array([self.store.filled]), t.alpha_M.size,
        )  # fmt: skip

    def _near_the_margin(self, most: int) -> Ints:
        """So many variables of N, those whose r is nearest to 0."""
        n, r = self.tableau.alpha_M.size, np.abs(self.tableau.r_N)
        some = np.argpartition(r, most)[:most] if most < r.size else np.arange(r.size)
        return np.asarray(n + some)

    def mended(self, samples: Ints, values: Floats, slopes: Floats) -> Floats:
        """alpha (machines, width), so that r of those within their box becomes 0.

        These r are forces on M and what is shifted in N; whatever stays at its bound is
        held by the system of forces and shifts, as in ``exchanges``.
        """
        t = self.tableau
        n, top, values = t.alpha_M.size, self.top[self.sample], values.copy()
        inside = (values > 0.0) & (values < top) & (self.sample != samples[:, None])
        owed = np.where(inside, slopes, 0.0)
        moves = owed[:, :n] @ self.store.rows[:n]
        for i, move in enumerate(moves):
            which = np.r_[
                np.flatnonzero(~inside[i, :n]), n + np.flatnonzero(inside[i, n:])
            ]
            if which.size and (self.store.at[which] >= 0).all():
                rows = self.store.rows[self.store.at[which]]
                lacks = move[which] + np.where(which < n, 0.0, owed[i, which])
                with suppress(np.linalg.LinAlgError):
                    x = np.linalg.solve(rows[:, which], -lacks)
                    move += x @ rows
                    values[i, which] += np.where(which < n, 0.0, x)
            values[i, :n] += np.where(inside[i, :n], move[:n], 0.0)
        return np.clip(values, 0.0, top)

    def need_those_of(self, samples: Ints) -> None:
        """The variables that leaving these out will hold, and how their others fall.

        Also those that many ask for.
        """
        t = self.tableau
        if not self.makes:
            self.needed[: t.alpha_M.size] |= np.isin(t.rows_M, samples)
            most = min(self.most // 4, EACH_ASKS * samples.size)
            likely, far = self._near_the_margin(most), LIKELY[t.more is not None]
            self.needed[likely[np.abs(self.start[likely]) < far]] = True
            self.make_needed()
        self.falls = np.ascontiguousarray(t.fall(samples))
        self.fall_of = dict(zip(samples, count()))

    def make_needed(self) -> None:
        """Make what was found missing."""
        self.store.need(np.flatnonzero(self.needed))
        self.needed[:] = False
