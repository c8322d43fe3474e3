"""Many samples left out together: the wrong bounds of each put right in turns.

As in ``exchanges``, forces on free variables and shifts of others solve a small system
for each sample (``turns``). Here no row of a tableau is made. What an unknown a does to
the sums of the samples, v_a, and z_a = T^-1 v_a, are kept instead, and the entries of
the system are

    M_ab = D_ab - v_a' z_b + q_a' B q_b,    q_a = U' z_a - (what a does to 1'd_k),

D_ab being what class k alone answers (by R_k, and P_k = R_k K[S_k, others]) and B the
system of b. Rows of V are (v_a, q_a), those of Z (z_a, -B q_a). How all variables
answer follows for many samples at once by a product with R_k and P_k for each class
(``_ByClass``), or with one inverse for all classes where few arcs are not free
(``_ByWhole``). So nothing is left unwatched, at the price of sum_k |S_k| m
multiplications a sample and turn, or of m^2.

Where the turns do not come to an end, alpha_p goes to 0 in smaller steps: at each the
optimum is found from that of the step before.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solvers.exact.classes import ClassFactor
from msvm_select.solvers.exact.common import Answer
from msvm_select.solvers.exact.turns import (
    FROZEN,
    Parts,
    answer_each,
    asked_of,
    forces_each,
    judge_each,
    list_unknowns,
    shifts_each,
    solve_each,
)

MOST_CHANGED = 400  # unknowns of a small system
MOST_PUT_RIGHT = 500  # the same where there is one only,
TURNS_PUT_RIGHT = 60  # and its turns
LIKELY_NEEDED = 1.25  # of the entries: of so many variables V and Z are asked for
IN_A_BATCH = 4e6  # in the outputs of the samples that are worked on at once,
MOST_IN_A_BATCH = 96  # and how many of these: some are for other threads
MOST_KEPT = 2.5e8  # in what is kept beside a factor (2 GB)
LEAST_ROOM = 2000  # rows of V and Z, each, that fit there
SHARP_FACTOR = 1e-10  # an error of the factor that needs no refinement
TURNS_A_STEP = 15  # at one step
PATIENT = 3  # of them in which no fewer are wrong
SHORTEN = 0.3  # of a step that failed: the next one
SHORTEST = 0.005  # a step: beyond it, another road is taken
BEYOND = 1.1, 2.0  # of what is wrong: so far the other way it begins
READ_BY_ONE = 50  # rows of R that the loops read for a machine, and what they save
FAR = 0.2  # -r of samples that are not near the margin
MOSTLY = 0.5  # of all samples near: then all are


def nearest(alpha: Floats, r: Floats) -> Ints | None:
    """The support vectors and samples near the margin; None where these are most.

    alpha, r: (Q, m); r of what is no variable is -inf.
    """
    near = alpha.any(axis=0)
    if np.count_nonzero(near) <= MOSTLY * near.size:
        near |= r.max(axis=0) > -FAR
    few = np.count_nonzero(near) <= MOSTLY * near.size
    return np.flatnonzero(near) if few else None


class Together:
    """A face and its factor; machines of which few variables have another status."""

    def __init__(
        self, factor: ClassFactor, gram: Gram, y: Ints, alpha: Floats, r: Floats,
        entry: Ints, box: Floats, *, room: int, asked: int,
    ) -> None:  # fmt: skip
        """alpha, r, entry: (Q, m); ``room``: for so many rows of V and Z, each.

        ``asked``: how many machines are asked for.
        """
        self.factor, self.y = factor, y
        size, m, Q = factor.size, y.size, factor.Q
        K, row = gram.matrix, np.concatenate(factor.members)
        place = factor.places(m)
        loc, first = factor.rows[row], np.r_[0, [p.stop for p in factor.parts]]
        by_whole = None if factor.whole is None else _ByWhole(gram, factor)
        K_S = K.take(loc, axis=1) if by_whole is None else np.empty((0, 0))
        self.V, self.filled, self.room = np.empty((0, factor.rows.size + Q)), 0, room
        self.Z, self.at = self.V, np.full(Q * m, -1)
        var = np.full(size, -1)
        numbers = np.flatnonzero(entry.ravel() >= 0)
        var[entry.ravel()[numbers]] = numbers
        at_zero, at_top = alpha <= 0.0, alpha >= box
        rest = (entry < 0) & (np.arange(Q)[:, None] != y)
        side = np.where(rest, at_zero * 1 - at_top, 0).astype(np.int8)
        loose = np.flatnonzero(rest & ~at_zero & ~at_top)
        small = 1e-9 * min(float(box[box > 0.0].min()), float(alpha.max()))
        cls, known = np.repeat(np.arange(Q), np.diff(first)), np.flatnonzero(var >= 0)
        low, high = np.full(Q * m, -np.inf), np.full(Q * m, np.inf)
        at, value = cls[known] * m + loc[known], alpha.ravel()[var[known]]
        low[at], high[at] = value - box[var[known] % m] - small, value + small
        self.P = Parts(
            y, K, K_S, np.empty((m, size)), entry.ravel(), place, place >= 0, loc, row,
            cls, first, var,
            alpha.ravel(), r.ravel(), side.ravel(), loose,
            low, high, box, small,
        )  # fmt: skip
        many = READ_BY_ONE * asked > alpha.size
        self.answered = by_whole or _ByClass(factor, self.P, many)

    @classmethod
    def of(
        cls, factor: ClassFactor, gram: Gram, *others: Any, asked: int,
        most: float = MOST_KEPT,
    ) -> Together | None:  # fmt: skip
        """None where the factor is not sharp, or thin, or what is kept too large."""
        kept = float(factor.size) * gram.m * (2.0 if factor.whole is None else 1.0)
        room = int((most - kept) / (2.0 * (factor.rows.size + factor.Q)))
        if factor.alike or room < LEAST_ROOM or factor.error > SHARP_FACTOR:
            return None  # where all are alike, rows are cheap
        if not all(isinstance(R, np.ndarray) for R in (factor.T, *factor.own)):
            return None
        return cls(factor, gram, *others, room=room, asked=asked)

    def need(self, wanted: Ints) -> None:
        """V and Z of these variables."""
        self.answered.fill(self.P, wanted)
        for some, make in (
            (wanted[self.P.entry[wanted] >= 0], self._of_forces),
            (wanted[self.P.entry[wanted] < 0], self._of_shifts),
        ):
            if some.size:
                rows = slice(self.filled, self.filled + some.size)
                self._grow(rows.stop)
                self.V[rows] = 0.0
                make(some, self.V[rows], self.Z[rows])
                s = self.factor.rows.size
                self.V[rows, s:] += self.Z[rows, :s] @ self.factor.U  # z becomes q, too
                self.Z[rows, s:] = self.V[rows, s:] @ -self.factor.unbias
                self.at[some] = np.arange(rows.start, rows.stop)
                self.filled = rows.stop

    def _of_forces(self, wanted: Ints, v: Floats, z: Floats) -> None:
        """v and z of free variables, in which class k answers by R_k alone."""
        factor, s = self.factor, self.factor.rows.size
        entry, head = self.P.entry[wanted], wanted // self.y.size
        for k, (at, part) in enumerate(zip(factor.members, factor.parts, strict=True)):
            here = np.flatnonzero(head == k)
            if here.size:
                answer = factor.columns(k, entry[here] - part.start).T
                v[np.ix_(here, at)] = -answer
                v[here, s + k] = factor.U[self.P.row[entry[here]], k]
                z[here, :s] = -self._spread(k, entry[here], answer)

    def _spread(self, k: int, entries: Ints, answer: Floats) -> Floats:
        """R_k T^-1 in the rows of some entries, of which ``answer`` is R_k."""
        factor = self.factor
        if factor.whole is None:
            return np.asarray(answer @ factor.T[factor.members[k]])
        rows, whole = self.P.row[entries], factor.whole
        found, lacking = whole.by_total[rows], whole.R[rows].take(whole.gone[k], axis=1)
        found[:, whole.some] -= lacking @ whole.below[k]
        return np.asarray(found)

    def _of_shifts(self, wanted: Ints, v: Floats, z: Floats) -> None:
        """Likewise of others."""
        s = self.factor.rows.size
        shifts_each(self.P, wanted, v, s)
        z[:, :s] = v[:, :s] @ self.factor.T

    def _grow(self, size: int) -> None:
        """Room for so many rows; what nobody fills, the system does not give."""
        if size > self.V.shape[0]:
            likely = min(self.at.size, int(LIKELY_NEEDED * self.P.row.size))
            most = max(size, min(self.room, max(2 * size, likely)))
            for name in ("V", "Z"):
                held = getattr(self, name)
                more = np.empty((most, held.shape[1]))
                more[: self.filled] = held[: self.filled]
                setattr(self, name, more)

    def without(
        self, samples: Ints, answer: Answer, jobs: int = 1,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """``answer(samples, alpha, changes of F, exchanges)`` of those found.

        alpha and the changes are (samples, Q, m), and are gone after the call.
        ``meanwhile`` is called after a turn.
        """
        if 2 * self.filled > self.room:  # those before had others
            self.at[:], self.filled = -1, 0
        n, Q, m = samples.size, self.factor.Q, self.y.size
        stat = np.zeros((n, Q * m), np.int8)
        stat[np.arange(n)[:, None], (np.arange(Q)[:, None] * m + samples).T] = FROZEN
        stat[np.arange(n), self.y[samples] * m + samples] = 0
        run = _Run(self, stat, lambda at, *found: answer(samples[at], *found))
        with ThreadPoolExecutor(jobs) as pool:
            while run.active.any():
                run.turn(pool if jobs > 1 else None)
                meanwhile()

    def put_right(self) -> Floats | None:
        """The optimal alpha (Q, m), where the face is not far from its own.

        What was found is the optimum of a problem with another gradient and flow, where
        each alpha beyond its box, and each r on the wrong side, is a little inside.
        With the share ``left`` of that difference the face has alpha + left way, and
        all else that is known of it holds. So the steps of a left-out sample, whose
        alpha_p goes to 0, lead here from there to the problem itself.
        """
        P, (way, turn) = self.P, _way_from_right(self.P)
        shift, known = np.zeros(way.size), np.flatnonzero(P.var >= 0)
        shift[P.cls[known] * P.y.size + P.loc[known]] = way[P.var[known]]

        def at(left: float) -> Parts:
            return P._replace(
                alpha=P.alpha + left * way, r=P.r + left * turn,
                low=P.low + left * shift, high=P.high + left * shift,
            )  # fmt: skip

        return self._along(at, np.zeros(self.at.size, np.int8))

    def _along(self, at: Callable[[float], Parts], stat: Any) -> Floats | None:
        """The optimal alpha (Q, m) of ``at(0)``, in steps; ``stat``: what begins it."""
        P, found = self.P, list[Floats]()

        def keep(which: Ints, alpha: Floats, *rest: Any) -> None:
            found.append(alpha[0].copy())

        run = _Run(self, stat[None], keep, MOST_PUT_RIGHT)
        for _ in range(TURNS_PUT_RIGHT):
            if not run.active.any():
                break
            self.P = at(1.0 - run.aim[0])
            run.turn(None)
        self.P = P
        return found[0] if found else None


def _way_from_right(P: Parts) -> tuple[Floats, Floats]:
    """What to add to alpha and r, so that each is inside, or on the right side."""
    share = np.random.default_rng(0).uniform(*BEYOND, P.r.size)
    top = np.tile(P.box, P.r.size // P.y.size)
    inside = P.alpha + share * (np.clip(P.alpha, 0.0, top) - P.alpha)
    way = np.where(P.side == 0.0, np.clip(inside, 0.0, top) - P.alpha, 0.0)
    return way, np.where(P.side * P.r > 0.0, -share * P.r, 0.0)


def _read_by(P: Parts, wanted: Ints) -> Mask:
    """Which rows of R the loops read for these variables, by class (Q, m).

    Those of their sample, in their own class and that of a shifted sample.
    """
    sample, asked = wanted % P.y.size, np.zeros(P.place.shape, bool)
    asked[wanted // P.y.size, sample] = True
    shift = sample[P.entry[wanted] < 0]
    asked[P.y[shift], shift] = True
    return asked


class _ByClass:
    """How alpha of the entries and all outputs answer, by the factor of each class.

    Forces t_k = b_k - lambda - (unknowns of class k) - K (shifts) make d_k = R_k t_k,
    and K[others, S_k] d_k in the outputs of the other samples. For many that is one
    product with R; for few, R is made only where the loops read it.
    """

    def __init__(self, factor: ClassFactor, P: Parts, many: bool) -> None:
        """With all of R, if ``many``."""
        self.factor, self.many = factor, many
        if many:
            for k in range(factor.Q):
                self._fill(P, k, slice(None))

    def fill(self, P: Parts, wanted: Ints) -> None:
        """What the loops read in R of these variables."""
        if not self.many:
            for k, asked in enumerate(_read_by(P, wanted)):
                self._fill(P, k, np.flatnonzero(asked))

    def _fill(self, P: Parts, k: int, rows: Any) -> None:
        """Some rows of class k: K[i, S_k] R_k, or R_k where i is in S_k."""
        part, own = self.factor.parts[k], self.factor.own[k]
        P.R[rows, part] = P.K_S[rows, part] @ own
        place = P.place[k, rows]
        inside = np.arange(P.y.size)[rows][place >= 0]
        P.R[inside, part] = own[place[place >= 0] - part.start]

    def __call__(
        self, P: Parts, lists: Ints, counts: Ints, x: Floats, level: Floats,
        found: Floats,
    ) -> None:  # fmt: skip
        """found (Q, p, m): alpha where a sample has an entry, and outputs elsewhere."""
        forces = np.empty((len(lists), P.row.size))
        forces_each(P, lists, counts, x, level, forces)
        for k, (out, part) in enumerate(zip(found, self.factor.parts, strict=True)):
            if self.many:
                np.matmul(forces[:, part], P.R[:, part].T, out=out)
            else:
                d = forces[:, part] @ self.factor.own[k]
                np.matmul(d, P.K_S[:, part].T, out=out)
                out[:, P.loc[part]] = d


class _ByWhole:
    """The same by R, the inverse of all samples J with a free arc.

    With D the samples that S_k lacks, and t_k on all of J,

        d_k = R t_k - R_D f,    f = R_DD^-1 (R t_k)_D,

    so that d_k is 0 in D. There the outputs are (K d_k)_D = (t_k)_D - f. All classes
    share R lambda.
    """

    def __init__(self, gram: Gram, factor: ClassFactor) -> None:
        """R and K_oJ R as columns, and how both answer K (a shift of any sample)."""
        assert factor.whole is not None
        self.factor, self.whole, rows = factor, factor.whole, factor.rows
        outside = np.delete(np.arange(gram.m), rows)
        K_oJ = gram.block(outside, rows)
        self.R = np.empty((rows.size, gram.m))
        self.R[:, rows] = self.whole.R
        self.R[:, outside] = self.whole.R @ K_oJ.T
        self.shifts = np.zeros((gram.m, gram.m))
        self.shifts[rows, rows] = 1.0
        self.shifts[np.ix_(rows, outside)] = K_oJ.T
        self.shifts[outside] = K_oJ @ self.R
        self.sums = self.R.sum(axis=0)
        known = zip(self.whole.inner, self.whole.gone, strict=True)
        self.inner = [block @ self.R[gone] for block, gone in known]

    def fill(self, P: Parts, wanted: Ints) -> None:
        """What the loops read in R of these variables: their sample in their classes.

        For sample i and class k that is R_k between i and S_k, or K[i, S_k] R_k.
        """
        asked, rows = _read_by(P, wanted), self.factor.rows
        for k, (kept, part) in enumerate(
            zip(self.factor.members, self.factor.parts, strict=True)
        ):
            gone, inner = self.whole.gone[k], self.inner[k]
            asked[k, rows[gone]], lacking = False, asked[k, rows[gone]]
            i = np.flatnonzero(asked[k])
            known = self.whole.R[gone].take(kept, axis=1)
            P.R[i, part] = self.R[kept[:, None], i].T - inner[:, i].T @ known
            P.R[rows[gone[lacking]], part] = -inner[lacking].take(rows[kept], axis=1)

    def __call__(
        self, P: Parts, lists: Ints, counts: Ints, x: Floats, level: Floats,
        found: Floats,
    ) -> None:  # fmt: skip
        """found (Q, p, m), as by class."""
        rows, by_all = self.factor.rows, level[:, : len(self.R)] @ self.R
        ways = self.R, self.shifts, self.sums
        answer_each(P, lists, counts, x, level, by_all, *ways, found)
        for k, (out, gone) in enumerate(zip(found, self.whole.gone, strict=True)):
            if gone.size:
                f = out[:, rows[gone]] @ self.whole.inner[k]
                out -= f @ self.R[gone]
                out[:, rows[gone]] = -f
                asked_of(P, lists, counts, x, level, k, gone, rows[gone], out)


class _Run:
    """Machines on their way, by the status of their variables."""

    def __init__(
        self, engine: Together, stat: Any, answer: Answer, widest: int = MOST_CHANGED
    ) -> None:
        n = len(stat)
        self.engine, self.answer, self.widest = engine, answer, widest
        self.stat, self.kept = stat, stat.copy()
        self.reached, self.aim, self.step = np.zeros(n), np.ones(n), np.ones(n)
        self.turns, self.vain, self.made = np.zeros((3, n), np.int64)
        self.best = np.full(n, self.stat.shape[1])
        self.active = np.ones(n, bool)
        few = int(np.clip(IN_A_BATCH // self.stat.shape[1], 1, MOST_IN_A_BATCH))
        self.few = min(n, few)
        self.rooms: list[Floats] = []  # where threads compute; new ones take long

    def turn(self, pool: ThreadPoolExecutor | None) -> None:
        """One exchange of every active sample."""
        now = np.flatnonzero(self.active)
        starts = range(0, now.size, self.few)
        parts = [_Some(self, now[i : i + self.few]) for i in starts]
        self.engine.need(np.flatnonzero(sum(part.needed for part in parts)))
        each = map if pool is None else pool.map
        wrong, sound = np.hstack(list(each(self._exchange, parts)))
        sound = sound > 0
        there = sound & (wrong == 0)
        self.active[now[there & (self.aim[now] >= 1.0)]] = False
        self._go_on(now[there & (self.aim[now] < 1.0)])
        self.vain[now] += wrong >= self.best[now]
        self.best[now] = np.minimum(self.best[now], wrong)
        long = (self.vain[now] > PATIENT) | (self.turns[now] >= TURNS_A_STEP)
        self._shorten(now[~there & (~sound | long)])

    def _go_on(self, some: Ints) -> None:
        """A step was made: the next may be longer."""
        self.kept[some] = self.stat[some]
        self.reached[some] = self.aim[some]
        self.step[some] *= 2.0
        self._aim(some)

    def _shorten(self, some: Ints) -> None:
        """A step failed: from where it began, a shorter one."""
        self.stat[some] = self.kept[some]
        self.step[some] = SHORTEN * (self.aim[some] - self.reached[some])
        self._aim(some)
        self.active[some[self.step[some] < SHORTEST]] = False

    def _aim(self, some: Ints) -> None:
        """Begin a step."""
        self.aim[some] = np.minimum(1.0, self.reached[some] + self.step[some])
        self.turns[some] = self.vain[some] = 0
        self.best[some] = self.stat.shape[1]

    def _exchange(self, some: _Some) -> tuple[Ints, Ints]:
        """-> how many were wrong, and whether the systems were sound."""
        engine, at, stat, n = self.engine, some.at, some.stat, some.at.size
        P, Q, m = engine.P, engine.factor.Q, engine.y.size
        level, sound = np.zeros((n, engine.V.shape[1])), np.zeros(n, bool)
        solve_each(
            P, stat, some.share, some.lists, some.counts, some.x,
            engine.at, engine.V, engine.Z, level, sound,
        )  # fmt: skip
        rows = engine.factor.rows.size
        level[:, :rows] += level[:, rows:] @ engine.factor.TU.T
        room = self.rooms.pop() if self.rooms else np.empty((3, self.few * Q * m))
        F, alpha, change = room[:, : n * Q * m]
        F, alpha = F.reshape(Q, n, m), alpha.reshape(n, Q * m)
        change = change.reshape(n, Q, m)
        engine.answered(P, some.lists, some.counts, some.x, level, F)
        wrong, end = np.zeros(n, np.int64), sound & (some.share <= 0.0)
        judge_each(
            P, stat, some.lists, some.counts, some.x, F, level,
            wrong, end, alpha, change,
        )  # fmt: skip
        self.stat[at] = stat
        self.turns[at] += 1
        self.made[at] += wrong
        done = np.flatnonzero(end & (wrong == 0))
        if done.size:
            A, moved = alpha.reshape(n, Q, m)[: done.size], change[: done.size]
            self.answer(at[done], A, moved, self.made[at[done]])
        self.rooms.append(room)
        return wrong, sound.astype(np.int64)


class _Some:
    """Samples of a run that are worked on at once, and their unknowns."""

    def __init__(self, run: _Run, at: Ints) -> None:
        self.at, self.stat, self.share = at, run.stat[at], 1.0 - run.aim[at]
        self.lists = np.zeros((at.size, run.widest), np.int64)
        self.counts = np.zeros((at.size, 2), np.int64)
        self.x = np.zeros((at.size, run.widest))
        self.needed = np.zeros(self.stat.shape[1], bool)
        list_unknowns(
            run.engine.P, self.stat, self.share, self.lists, self.counts, self.x,
            run.engine.at, self.needed,
        )  # fmt: skip
