"""Exact leave-one-out of a trained machine: who is free, who is decided, who is solved.

1. Not a support vector (alpha_p = 0): the machine stays, and its answer is that of
   training; only where no free variable ties two groups of classes, so that p itself
   may be what holds b, the centre is taken again without p.
2. sum_k alpha_pk m_pk <= 0: dropping p's loss can only lower this sum, so that some
   margin stays <= 0. An error, no work. (With ``margins`` it is solved all the same.)
3. The others are solved on the tableau (``tableau``, ``exchanges``), in chunks of
   samples whose rows fit into memory; where many variables are free, by products for
   many samples at once (``together``), and only what that leaves by rows. Where few are
   support vectors, all this takes place among those near the margin (``near``). Of
   several samples at one place, which are trained as one, who leaves takes its part of
   their box along.
4. What stays unsettled there (no tie between the classes, so that b is not unique; a
   margin so small that rounding could turn it; a tableau too large or singular) is
   trained without p from the full machine, the box of p shut, or what others leave of
   it.

Settled answers are proven by the conditions of the reduced problem; retrained ones by
their certificate. Where that stays above its gap, the answer says how far its margin
may be off, and counts as ambiguous where that reaches 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from msvm_select.flow import ties_all, within
from msvm_select.left_out import (
    BY_TRAINING,
    NOT_A_SV,
    PREDICTED,
    REPAIRED,
    RETRAINED,
    SINGLE,
    Holding,
    HopelessError,
    LeftOut,
    Tell,
    Watch,
    unwatched,
)
from msvm_select.records import TIE, Blocks, Floats, Ints, Mask
from msvm_select.solution import Solution
from msvm_select.solvers.base import RESIDUE, by_training
from msvm_select.solvers.exact.common import FewHeld
from msvm_select.solvers.exact.cycles import certify
from msvm_select.solvers.exact.together import Together
from msvm_select.solvers.exact.twins import Twins
from msvm_select.solvers.exact.workbench import Room, Training
from msvm_select.solvers.leave_out.exchanges import (
    NEEDS_ROW,
    SETTLED,
    Table,
    exchange_each,
    in_a_row,
)
from msvm_select.solvers.leave_out.near import BESIDE, Near, Proof
from msvm_select.solvers.leave_out.rows import Rows
from msvm_select.solvers.leave_out.tableau import build, few_held

A_BLOCK = 128, 256  # samples that one thread takes: at least, and at most
IN_A_BLOCK = 3e6  # in alpha of the machines without these, for which that is enough
BLOCKS_AT_ONCE = 2  # between two words of progress
IN_A_RACE = 32  # the same at first where somebody may end it
OWN = 0.5  # the part of K_pp that others do not make up for, roughly
MOST_MENDED = 6  # times that a machine is improved by its residual
MOST_PASSES = 4  # over samples that lack rows, where paths are long
TRIED = 16  # samples that tell whether the tableau settles most,
MOST_FAILED = 0.25  # of them: that many may fail
WATCHES = 5  # of watching more variables
SOUND = 1e-7  # gain of a cycle: beyond it, biases may be off
MOST_MISSED = 300  # of one sample
WRONG = 1e-7  # r of the wrong sign: it was missed
CLEAR = 1e-6  # a margin below is retrained: the tableau has some nine digits
OFF = 3e-9  # margins, by the rounding of a table: beyond it, K proves them
IN_DOUBT = 1e3  # times what margins may be off: below it, one is retrained
PROVEN_TOGETHER = 2e5  # numbers in alpha of machines whose others are looked at


def judge_every_sample(
    solution: Solution,
    train: Callable[[Training], Training],
    target: float,
    *,
    every_margin: bool,
    proven: bool = True,
    only: Mask | None,
    jobs: int,
    tell: Tell,
    watch: Watch = unwatched,
) -> LeftOut:
    """Every sample without itself, in the order of the data.

    ``train`` brings a Training to its optimum; ``every_margin`` also solves what the
    training margin decides, and if ``proven`` all margins are computed from K itself;
    with ``only`` (m,) just those are asked for; ``tell(done, of)`` hears how many are
    through, and ``watch(errors, left)`` may end it.
    """
    held = watch.held if isinstance(watch, Holding) else None
    work = held or _LeavingOut(solution, train, target)
    if isinstance(watch, Holding):
        watch.held = work
    asked = work.sort_out(every_margin)
    work.proves = every_margin and proven
    if only is not None:
        asked = asked[work.merged(only)[asked]]
    work.show(watch, asked)  # before anything is set up
    between = None
    if watch is not unwatched:
        asked = work.likely_errors_first(asked)
        between = partial(work.show, watch, asked)
    everyone, asked = asked, work.settle_by_inverse(asked, jobs, between)
    work.asked = asked.size
    if work.is_loose and not work.settles_most(asked, jobs):
        asked = asked[:0]
    chunk = BLOCKS_AT_ONCE * work.block
    if asked.size and work.kept is not None and work.kept.together is None:
        chunk = min(chunk, work.kept.at_once)
    if isinstance(work.bench.sorted_gram, Blocks):  # each is proven by all samples
        chunk = min(chunk, IN_A_RACE * 2)
    raced = watch is not unwatched and not held
    todo, first = work.unsettled(asked), min(chunk, IN_A_RACE) if raced else chunk
    for _ in range(WATCHES):
        for some in chunks(todo.size, first, chunk):
            tell(everyone.size - todo.size + some.start, everyone.size)
            work.show(watch, everyone)
            work.settle(todo[some], jobs, between)
            if first < chunk and not some.start and work.misses_some:
                missed = work.unsettled(todo[some])  # as the others would
                if missed.size and work.try_another():
                    work.settle(missed, jobs, between)
        todo, first = work.unsettled(asked), chunk
        work.asked = todo.size  # of another tableau
        if not (todo.size and work.try_another()):
            break
    todo = work.unsettled(everyone)
    for done, p in enumerate(todo):
        tell(everyone.size - todo.size + done, everyone.size)
        work.show(watch, everyone)
        work.retrain(int(p))
    if everyone.size:
        tell(everyone.size, everyone.size)
    return work.in_order()


def chunks(of: int, first: int, most: int) -> Iterator[slice]:
    """So many samples, some after the others: ever more, as a race is less likely lost.

    >>> [part.stop for part in chunks(100, 10, 30)]
    [10, 30, 60, 90, 120]
    """
    done, size = 0, first
    while done < of:
        yield slice(done, done + size)
        done, size = done + size, min(2 * size, most)


class Found(NamedTuple):
    """Machines without a sample: margins, exchanges, alpha, and what proves them."""

    samples: Ints
    margins: Floats
    made: Ints
    alphas: Floats
    proof: Proof


class _LeavingOut:
    """The class-sorted machine and the answers as they come."""

    def __init__(
        self, solution: Solution, train: Callable[[Training], Training], target: float
    ) -> None:
        self.twins = twins = Twins.of(solution.dual)
        count = np.ones(solution.dual.m)
        if twins is not None and twins.are_equal(solution.dual.box):
            solution, count = twins.together(solution), twins.count
        else:
            self.twins = None
        self.full = Training.at(solution)
        self.train, self.target = train, target
        self.bench, self.box = self.full.bench, self.full.box
        self.count = count[self.bench.order]
        self.rest = self.box * (1.0 - 1.0 / self.count)
        # the next C goes on from the factor of this training: it must not depend, not
        # even in its rounding, on whether samples were left out in between
        self.bench.rooms.append(self.full.room)
        self.full.room = Room()
        self.b = self.full.b
        m, Q = solution.dual.m, solution.dual.Q
        self.y = self.bench.y
        self.margins = np.full((m, Q), np.nan)
        self.road = np.full(m, RETRAINED)
        self.exchanges = np.zeros(m, np.int64)
        self.at_top = np.zeros(m, bool)
        self.unsure = np.zeros(m)
        self.missed = np.zeros((Q, m), bool)
        self.foreseen: dict[int, Floats] = {}
        self.last: tuple[int, Floats] | None = None  # who was retrained, and alpha
        self.proves, self.asked = False, m
        self.present = np.bincount(self.y, minlength=Q) > 0
        self.block = int(np.clip(IN_A_BLOCK // (m * Q), *A_BLOCK))

    def sort_out(self, every_margin: bool) -> Ints:
        """Answer what needs no work; -> the samples that do."""
        A, y, h = self.full.A, self.y, self.full.F + self.b[:, None]
        margins, decided, alone = by_training(y, A.T, h.T)
        alone &= self.count == 1.0
        idle = A.max(axis=0) <= 0.0
        self.road[idle], self.margins[idle] = NOT_A_SV, margins[idle]
        self.at_top[idle] = bool((A >= self.box).any())
        if not ties_all(A, y, self.box):
            holding = idle & ~alone & (self.count == 1.0) & self._holding()
            for p in np.flatnonzero(holding):
                self._centre_without(int(p))
        stays = ~idle & (A < self.rest * (1.0 - CLEAR)).all(axis=0)
        self.margins[stays], self.at_top[stays] = margins[stays], (A >= self.box).any()
        self.road[stays] = PREDICTED
        self.road[decided] = BY_TRAINING
        self.road[alone] = SINGLE
        self.margins[alone] = -np.inf
        self.margins[np.arange(y.size), y] = np.inf
        self.decided = decided & ~alone
        asked = ~idle & ~alone & ~stays
        return np.flatnonzero(asked if every_margin else asked & ~decided)

    def _holding(self) -> Mask:
        """Idle samples that may hold an end of the interval of a bias (m,)."""
        g = 1.0 - self.full.problem.gradient_of(self.full.F)
        g[self.full.A >= self.box] = -np.inf
        found = np.zeros(self.y.size, bool)
        offsets = self.bench.offsets
        for first, end in zip(offsets[:-1], offsets[1:], strict=True):
            if end > first:
                found[first + g[:, first:end].argmax(axis=1)] = True
        return found

    def _centre_without(self, p: int) -> None:
        """The machine stays, but the interval of its biases may be wider without p."""
        box = self.full.box.copy()
        box[p] = 0.0
        _, _, b = certify(self.full.A, self.full.F, self.bench.offsets, box)
        self._answer(p, self.full.F[:, p] + b)

    def _answer(self, p: int, h: Floats) -> None:
        """The margins from the outputs h (Q,); an absent class has none."""
        self.margins[p] = h[self.y[p]] - h
        self.margins[p, self.y[p]] = np.inf

    def settle_by_inverse(
        self, samples: Ints, jobs: int, between: Callable[[], None] | None
    ) -> Ints:
        """Where nearly every arc is free; -> those that another road may settle."""
        samples, near = self.unsettled(samples), self.near
        alone = near.rest[near.local(samples)] <= 0.0
        if not (near.all and alone.any()):
            return samples
        engine = few_held(near.gram, near.y, near.A, near.F, self.b, near.box)
        if engine is not None:
            with suppress(np.linalg.LinAlgError):
                self._settle_together(engine, samples[alone], jobs, between)
        left = self.unsettled(samples)
        return np.asarray([p for p in left.tolist() if p not in self.foreseen], int)

    def settle(
        self, samples: Ints, jobs: int, between: Callable[[], None] | None = None
    ) -> None:
        """On the tableau, where there is one; ``between`` is called now and then."""
        kept, samples = self.kept, self.near.local(samples)
        if kept is None:
            return
        if kept.together is not None:
            alone = self.near.rest[samples] <= 0.0
            some = self._settle_together(kept.together, samples[alone], jobs, between)
            samples = np.r_[some, samples[~alone]]
        for first in range(0, samples.size, kept.at_once):
            self._settle_by_rows(kept, samples[first : first + kept.at_once], jobs)

    def _settle_by_rows(self, kept: Rows, samples: Ints, jobs: int) -> None:
        """Pass after pass, as rows are made that were found missing."""
        if self.near.gram.whole is not None:
            samples = in_a_row(self.near.gram.matrix, self.near.y, samples)
        kept.need_those_of(samples)
        # How they are split does not depend on jobs, and so no digit does.
        blocks = 1 if kept.makes else -(-samples.size // self.block)  # they share rows
        parts = np.array_split(samples, blocks)
        with ThreadPoolExecutor(jobs) as pool:
            several = pool.map if jobs > 1 else map
            for turn in count(1):
                left = several(partial(self._pass, kept), parts)
                parts = [part for part in left if part.size]
                if not parts or (self.is_loose and turn >= MOST_PASSES):
                    break
                kept.make_needed()
        kept.store.forget(kept.most)

    def _settle_together(
        self, engine: Together | FewHeld, samples: Ints, jobs: int,
        between: Callable[[], None] | None,
    ) -> Ints:  # fmt: skip
        """By turns, many samples at once; -> those that are not settled so."""
        near, found = self.near, list[Found]()

        def answer(some: Ints, alphas: Floats, changes: Floats, made: Ints) -> None:
            margins, proof = self._certified(some, alphas, changes)
            sure = np.abs(margins.min(axis=1)) > CLEAR
            for i in np.flatnonzero(~sure):
                self.foreseen[int(near.rows[some[i]])] = near.lifted(alphas[i])
            if sure.any():
                own = some[sure], margins[sure], made[sure]
                if near.all:
                    found.append(Found(*own, alphas[:0], proof.of(sure)))
                elif sure.all() and alphas.size >= PROVEN_TOGETHER:  # not one is copied
                    self._keep_found([Found(*own, alphas, proof)])
                else:
                    found.append(Found(*own, alphas[sure], proof.of(sure)))

        def keep(least: float) -> None:
            if sum(part.alphas.size for part in found) >= least and found:
                self._keep_found(found)
                found.clear()

        def meanwhile() -> None:
            keep(PROVEN_TOGETHER if between is None and not near.all else 0.0)
            if between is not None:
                between()

        engine.without(samples, answer, jobs, meanwhile)
        keep(0.0)
        return samples[~self._through(samples)]

    def _through(self, samples: Ints) -> Mask:
        """Who is settled, or waits for more samples."""
        rows = self.near.rows[samples]
        known = np.isfinite(self.margins[rows]).any(axis=1)
        return np.asarray(known if self.near.all else known | self.near.waiting[rows])

    def _keep_found(self, found: list[Found]) -> None:
        """The answers of those beside whom the others stay idle."""
        near = self.near
        done, margins, made, alphas = (
            _joined(own) for own in list(zip(*found, strict=True))[:4]
        )
        if not near.all:
            proofs = zip(*(part.proof for part in found), strict=True)
            proof = Proof(*map(_joined, proofs))
            idle = near.others_idle(done, alphas, proof)
            done, margins, made = done[idle], margins[idle], made[idle]
        self._keep(near.rows[done], margins, made)

    def _keep(self, done: Ints, margins: Floats, exchanges: Ints) -> None:
        """The answers of samples that are through."""
        margins[:, ~self.present] = np.inf
        self.margins[done] = margins
        self.margins[done, self.y[done]] = np.inf
        self.exchanges[done] = exchanges
        road = np.where(exchanges == 0, PREDICTED, REPAIRED)
        self.road[done] = np.where(self.decided[done], BY_TRAINING, road)

    @cached_property
    def near(self) -> Near:
        """The samples among which the others are left out."""
        return Near.of(self.full, self.b, self.rest)

    @cached_property
    def kept(self) -> Rows | None:
        """Those of the tableau, made when they are asked for; None without one."""
        near = self.near
        tableau = build(
            near.gram, near.y, near.A, near.F, self.b, near.box, near.rest,
            self.asked, near.factor_of,
        )  # fmt: skip
        missed = self.missed[:, near.rows]  # where there were fewer samples
        self.missed = np.zeros(near.A.shape, bool)
        if tableau is not None and tableau.more is not None and missed.any():
            with suppress(np.linalg.LinAlgError):
                tableau = tableau.more(missed) or tableau
        if tableau is None:
            return None
        return Rows(tableau, near.y, near.box, self.present, self.asked)

    def _pass(self, kept: Rows, samples: Ints) -> Ints:
        """Try each sample; -> those that lack a row."""
        t, near = kept.tableau, self.near
        small = 1e-9 * min(float(self.box.min()), float(self.full.A.max()))
        falls = kept.falls
        if samples.size < len(falls):
            falls = falls[[kept.fall_of[p] for p in samples]]
        whole = kept.whole._replace(rows=kept.store.rows, at=kept.store.at)
        table = Table(
            whole.rows, whole.at, falls, kept.start, kept.alpha.copy(),
            near.box[kept.sample], np.r_[t.scale_M, t.scale_N],
            kept.sample, kept.head, whole.inside, small, whole, near.rest,
        )  # fmt: skip
        margins = np.full((samples.size, self.present.size), np.inf)
        exchanges, status = np.zeros((2, samples.size), np.int64)
        at_top = np.zeros(samples.size, np.bool_)
        off = t.error * float(self.full.A.max())  # margins, by rounding
        proves = self.proves or t.more is not None or not near.all or off > OFF
        alphas = np.empty((samples.size if proves else 0, t.width))
        exchange_each(
            table, near.y, self.present, samples,
            margins, exchanges, at_top, status, kept.needed, alphas,
        )  # fmt: skip
        settled = np.flatnonzero(status == SETTLED)
        if proves and settled.size:
            values = alphas[settled]
            margins[settled] = self._proven(kept, samples[settled], values)
            alphas[settled] = values
        doubt = CLEAR if proves else max(CLEAR, IN_DOUBT * off)
        sure = (status == SETTLED) & (np.abs(margins.min(axis=1)) > doubt)
        if not proves:
            self.at_top[near.rows[samples[sure]]] = at_top[sure]
        self._keep(near.rows[samples[sure]], margins[sure], exchanges[sure])
        self.road[near.rows[samples[status > NEEDS_ROW]]] = RETRAINED
        unclear = np.flatnonzero((status == SETTLED) & ~sure)
        if unclear.size and t.more is None:
            if not proves:
                alphas = self._alphas(table._replace(falls=falls), samples)
            self._foresee(kept, samples[unclear], alphas[unclear])
        return np.asarray(samples[status == NEEDS_ROW])

    def _alphas(self, table: Table, samples: Ints) -> Floats:
        """The variables of the machines without these, which are settled."""
        count, Q, near = samples.size, self.present.size, self.near
        values = np.empty((count, table.at.size))
        exchange_each(
            table, near.y, self.present, samples, np.empty((count, Q)),
            np.empty(count, np.int64), np.empty(count, np.bool_),
            np.empty(count, np.int64), np.zeros(table.at.size, np.bool_), values,
        )  # fmt: skip
        return values

    def _foresee(self, kept: Rows, samples: Ints, values: Floats) -> None:
        """Keep alpha without each of these, which is where its training begins."""
        near = self.near
        for p, found in zip(samples.tolist(), values, strict=True):
            A = near.A.copy()
            A[kept.head, kept.sample] = found
            A[:, p] = np.minimum(A[:, p], near.rest[p])
            self.foreseen[int(near.rows[p])] = near.lifted(A)

    def _proven(self, kept: Rows, samples: Ints, values: Floats) -> Floats:
        """The margins from the outputs of these machines; 0, so retrained, if it fails.

        The tableau is as exact as the inverse that it holds, and may not hold all
        variables; K alpha is as exact as K. An inverse of all that is not exact enough
        still improves them, step by step, and ``values`` with them.
        """
        t, near = kept.tableau, self.near
        alphas, changes, margins, proof = self._seen_by_K(kept, samples, values)
        if t.more is not None:
            for i in np.flatnonzero(~margins.any(axis=1)):
                F, b = near.F + changes[i], proof.b[i]
                self._note_missed(samples[i], alphas[i], F, b)
        if not near.all:
            some = np.flatnonzero(margins.any(axis=1))
            idle = near.others_idle(samples[some], alphas[some], proof.of(some))
            margins[some[~idle]] = 0.0
        left = np.flatnonzero(~margins.any(axis=1) & (near.rest[samples] <= 0.0))
        if near.all and t.more is None:
            self._mend(kept, samples, left, values, changes, margins, proof)
        return margins

    def _mend(
        self, kept: Rows, samples: Ints, left: Ints, values: Floats, changes: Floats,
        margins: Floats, proof: Proof,
    ) -> None:  # fmt: skip
        """Improve the machines that are ``left``, as long as their gap falls."""
        for _ in range(MOST_MENDED):
            if not left.size:
                break
            slopes = self._slopes(kept, changes[left], proof.b[left])
            found = kept.mended(samples[left], values[left], slopes)
            _, moved, told, other = self._seen_by_K(kept, samples[left], found)
            better = np.abs(other.facts[:, 0]) < np.abs(proof.facts[left, 0])
            left = left[better]
            values[left], changes[left] = found[better], moved[better]
            margins[left] = told[better]
            for known, new in zip(proof, other.of(better), strict=True):
                known[left] = new
            left = left[~margins[left].any(axis=1)]

    def _seen_by_K(
        self, kept: Rows, samples: Ints, values: Floats
    ) -> tuple[Floats, Floats, Floats, Proof]:
        """alpha, the changes of F, margins and proof of these machines."""
        near, each = self.near, np.arange(samples.size)
        alphas = np.empty((samples.size, *near.A.shape))
        alphas[:] = near.A
        alphas[:, kept.head, kept.sample] = values
        rest = near.rest[samples][:, None]  # of those that are not listed, too
        alphas[each, :, samples] = np.minimum(alphas[each, :, samples], rest)
        tau, _ = near.tau_of(alphas)
        moved = near.gram.products(tau.transpose(0, 2, 1))
        changes = np.ascontiguousarray(moved.transpose(2, 0, 1))
        return alphas, changes, *self._certified(samples, alphas, changes)

    def _slopes(self, kept: Rows, changes: Floats, b: Floats) -> Floats:
        """r (machines, width) of the variables of the tableau."""
        near, heads, rows = self.near, kept.head, kept.sample
        tails = near.y[rows]
        h = near.F + changes
        return 1.0 - h[:, tails, rows] + h[:, heads, rows] - b[:, tails] + b[:, heads]

    def _note_missed(self, p: int, A: Floats, F: Floats, b: Floats) -> None:
        """The variables whose r has the wrong sign in the machine without p."""
        y, box, here = self.near.y, self.near.box.copy(), np.arange(self.near.y.size)
        box[p] = self.near.rest[p]
        r = 1.0 - (F[y, here] - F) - (b[y] - b[:, None])
        r[y, here] = 0.0
        wrong = ((A < box) & (r > WRONG)) | ((A > 0.0) & (r < -WRONG))
        breach = np.abs(r[wrong])
        if breach.size > MOST_MISSED:  # the worst take others along
            wrong[wrong] = breach >= np.partition(breach, -MOST_MISSED)[-MOST_MISSED]
        self.missed |= wrong

    def _certified(
        self, samples: Ints, alphas: Floats, changes: Floats
    ) -> tuple[Floats, Proof]:
        """The margins in these machines, by alpha and the changes of F (p, Q, near).

        They are 0 where they are not proven, as far as those near go.
        """
        near, each = self.near, np.arange(samples.size)
        proof = near.proof(samples, alphas, changes)
        gap, cycle, adrift = proof.facts.T  # the gap takes the balance for granted
        sound = (np.abs(gap) <= self.target) & (cycle <= SOUND)
        sound &= adrift <= self.target
        self.at_top[near.rows[samples]] = proof.told[:, 0]
        for i in np.flatnonzero(sound & proof.told[:, 1]):
            box = near.box.copy()
            box[samples[i]] = near.rest[samples[i]]
            given = alphas[i], near.F + changes[i], box, proof.b[i]
            sound[i] = not self._pinned_by_residue(near, *given)
        h, y = proof.F + proof.b, near.y[samples]
        margins = h[each, y][:, None] - h
        margins[each, y] = np.inf
        margins[~sound] = 0.0
        return margins, proof

    def _pinned_by_residue(
        self, near: Near, A: Floats, F: Floats, box: Floats, b: Floats
    ) -> bool:
        """Whether alpha that may be rounding hold the biases in their place."""
        other = self._unpinned(near, A, F, box, b, BESIDE)
        return bool(np.abs(b - other)[self.present].max() > SOUND)

    def _unpinned(
        self, near: Near, A: Floats, F: Floats, box: Floats, b: Floats, part: float
    ) -> Floats:
        """The biases that are held by no alpha within this part of a bound."""
        beside = part * np.minimum(near.box, A.max())
        low, high = A < beside, A > box - beside
        if not ((low & (A > 0.0)) | (high & (A < box))).any():
            return b
        at = np.where(low, 0.0, np.where(high, box, A))
        if ties_all(at, near.y, box):
            return b
        return np.asarray(certify(at, F, near.offsets, box)[2])

    def try_another(self) -> bool:
        """Whether there is another tableau for those that failed, from now on.

        It watches the variables that were missed, or is among more samples; or, if none
        was missed, it is a sharper one, or among all.
        """
        if self.kept is None and self.near.all:
            return False
        kept, other = self.kept, None
        self.missed[self.near.y, np.arange(self.near.y.size)] = False
        if kept is not None and not self.near.missed.any():
            with suppress(np.linalg.LinAlgError):  # would these not fit into memory
                if kept.tableau.more is not None and self.missed.any():
                    other = kept.tableau.more(self.missed)
                    if other is not None and other.width == kept.tableau.width:
                        other = None
            if other is None and kept.tableau.sharper is not None:
                other = kept.tableau.sharper()
            self.missed[:] = False
        if other is not None:
            near = self.near
            self.kept = Rows(other, near.y, near.box, self.present, self.asked)
        elif not self.near.all:
            missed, self.missed = self.missed, np.zeros(self.full.A.shape, bool)
            self.missed[:, self.near.rows] = missed
            self.near = self.near.wider()
            del self.kept  # anew when it is asked for
        else:
            return False
        return True

    @cached_property
    def is_loose(self) -> bool:
        """Whether so few are free that paths go from bound to bound, and are long."""
        free = (self.full.A > 0.0) & (self.full.A < self.box)
        return bool(np.count_nonzero(free) < self.present.sum() - 1)

    def settles_most(self, samples: Ints, jobs: int) -> bool:
        """Whether the tableau settles most of a few of these.

        In vain it costs more than to train them anew.
        """
        few = self.unsettled(samples)
        few = few[:: -(-few.size // TRIED) or 1]
        self.settle(few, jobs)
        return bool(self.unsettled(few).size <= MOST_FAILED * few.size)

    @property
    def misses_some(self) -> bool:
        """Whether the tableau lacks variables that a sample may need."""
        return self.kept is not None and self.kept.tableau.more is not None

    def merged(self, which: Mask) -> Mask:
        """Of all samples in the order of the data, as those that stand for them."""
        if self.twins is None:
            return which[self.bench.order]
        found = np.zeros(self.twins.firsts.size, bool)
        found[self.twins.kind[which]] = True
        return found[self.bench.order]

    def likely_errors_first(self, asked: Ints) -> Ints:
        """By the margin of training, less what p's own alpha have in it."""
        A, y = self.full.A[:, asked], self.y[asked]
        h = self.full.F[:, asked] + self.b[:, None]
        own = A.sum(axis=0) + A
        margins = h[y, np.arange(y.size)] - h - OWN * self.full.diagonal[asked] * own
        margins[y, np.arange(y.size)] = np.inf
        return np.asarray(asked[np.argsort(margins.min(axis=0), kind="stable")])

    def show(self, watch: Watch, asked: Ints) -> None:
        """The errors so far, and how many of those asked for may yet be some."""
        if watch is unwatched:
            return
        left = self.unsettled(asked)
        left = left[~self.decided[left]]
        wrong = (self.road == BY_TRAINING) | ~(self.margins.min(axis=1) > TIE)
        wrong[left] = False
        try:
            watch(int(self.count @ wrong), int(self.count[left].sum()))
        except HopelessError as end:
            end.lasting = not (wrong & (self.at_top | (self.road == BY_TRAINING))).any()
            raise

    def unsettled(self, asked: Ints) -> Ints:
        """Which of those asked for have no margin yet."""
        known = np.isfinite(self.margins[asked]).any(axis=1)
        return np.asarray(asked[~known])

    def retrain(self, p: int) -> None:
        """Train without p: from what was foreseen, or else from the best start."""
        training = self._trained_on(p)
        if training is None:
            starts = [self._begun(A, p) for A in self._starts(p)]
            training = self.train(max(starts, key=Training.dual_value))
            if not training.certified(self.target):
                again = self.train(self._begun(np.zeros_like(training.A), p))
                training = min(training, again, key=lambda t: abs(t.gap))
            self.last = p, training.A
        self._take(p, training)

    def _starts(self, p: int) -> Iterator[Floats]:
        """The full machine without p; that without q, the last one, if of its class.

        There q takes the place of p, and p that which q has left empty.
        """
        box = self.box.copy()
        box[p] = self.rest[p]
        yield within(self.full.A, self.y, box)
        if self.last is not None:
            q, last = self.last
            if all(own[p] == own[q] for own in (self.y, self.box, self.rest)):
                A = last.copy()
                A[:, [p, q]] = last[:, [q, p]]
                yield A

    def _trained_on(self, p: int) -> Training | None:
        """From what was foreseen, if that leads to a machine beyond doubt."""
        A = self.foreseen.pop(p, None)
        if A is None:
            return None
        found = self.train(self._begun(A, p))
        sound = found.certified(self.target) and found.cycle <= SOUND
        near = Near(self.full, self.rest)
        pinned = self._pinned_by_residue(near, found.A, found.F, found.box, found.b)
        return found if sound and not pinned else None

    def _begun(self, A: Floats, p: int) -> Training:
        """A training without p, from A."""
        return Training.shut(self.full, A, p, float(self.rest[p]))

    def _take(self, p: int, training: Training) -> None:
        """The answer of the machine trained without p."""
        near = Near(self.full, self.rest)
        given = training.A, training.F, training.box, training.b
        self._answer(p, training.F[:, p] + self._unpinned(near, *given, RESIDUE))
        if not training.certified(self.target):
            self.unsure[p] = self._uncertainty(p, training)
        may_be = training.box > 0.0
        self.at_top[p] = bool((may_be & (training.A >= training.box)).any())
        self.road[p] = BY_TRAINING if self.decided[p] else RETRAINED

    def _uncertainty(self, p: int, training: Training) -> float:
        """How far a margin may be off at this gap: sqrt(2 gap) ||e_y - e_k|| ||Phi_p||.

        (The gap ball bounds w; for b, which it does not bound, as much again.)
        Nothing bounds it where K is indefinite, which k(x, x) < 0 shows.
        """
        if self.full.diagonal[p] < 0.0:
            return np.inf
        objective = max(1.0, float(training.A.sum()))
        ball = np.sqrt(2.0 * abs(training.gap) * objective)
        return float(2.0 * ball * np.sqrt(2.0 * self.full.diagonal[p]))

    def in_order(self) -> LeftOut:
        """Back in the order of the data."""
        back = np.argsort(self.bench.order)
        if self.twins is not None:
            back = back[self.twins.kind]
        return LeftOut(
            self.y[back], self.margins[back], self.road[back],
            self.exchanges[back], self.at_top[back], self.unsure[back],
        )  # fmt: skip


def _joined(parts: Sequence[Any]) -> Any:
    """One array after the other; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
