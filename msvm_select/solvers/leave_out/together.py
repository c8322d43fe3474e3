"""Many samples left out together: the wrong bounds of each put right in turns.

As in ``exchanges``, forces on free variables and shifts of others solve a small system
for each sample. Here no row of a tableau is made. What an unknown a does to the sums of
the samples, v_a, and z_a = T^-1 v_a, is kept instead, and the entries of the system are

    M_ab = D_ab - v_a' z_b + q_a' B q_b,       q_a = U' z_a - (what a does to 1'd_k),

D_ab being what class k alone answers (R_k, P_k = R_k K[S_k, others]) and B the system of
b; rows of V are (v_a, q_a), those of Z (z_a, -B q_a). The answer of all variables follows for many samples at once by a product with R_k and
one with K[S_k, others] for each class; so nothing is left unwatched, at the price of
sum_k |S_k| m multiplications a sample and turn.

Where the turns do not come to an end, alpha_p goes to 0 in smaller steps: at each the
optimum is found from that of the step before, until it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solvers.compiled import INNER, inner, kernel
from msvm_select.solvers.exact.classes import ClassFactor

HELD, AT_TOP, FROZEN, MOVING = 1, 2, 3, 4  # a variable that is as it was: 0
MOST_UNKNOWNS = 200  # of a small system
FEW_OUTSIDE = 0.5  # of the samples: outputs of these alone are made
MOST_NUMBERS = 1e6  # in the outputs of the samples that are worked on at once
MOST_KEPT = 2.5e8  # in what is kept beside a factor (2 GB)
SHARP = 1e-10  # an error of the factor that needs no refinement
SLACK = 1e-9  # of r, and of alpha by its scale, that counts as on the bound
NO_PIVOT = 1e-10  # a pivot below it, where the diagonal is 1, is zero
CONSISTENT = 1e-9  # of the condition of a variable that depends on others
MOST_TURNS = 15  # at one step
STUBBORN = 3  # of them in which no fewer are wrong
SHORTEN = 0.3  # of a step that failed: the next one
SHORTEST = 0.005  # a step: beyond it, another road is taken


class Parts(NamedTuple):
    """What the compiled loops see. Variable (k, i) is number k m + i.

    entry[v]: its entry of the factor, or -1; at[v]: its row in V and Z, or -1. loc, row,
    cls: sample, place among the samples with a free arc, and class of an entry; place:
    (Q, m) the entry of a class and sample; first[k]: the first entry of a class.
    R (m, entries): R_k between entries of S_k, and K[i, S_k] R_k for other samples i;
    K_S (m, entries): K between all samples and those of the entries. side: 1 for what is
    at 0 and not free, -1 at C; ``loose``: what is neither of these, nor free.
    """

    y: NDArray[np.int64]
    K: Floats
    K_S: Floats
    R: Floats
    entry: NDArray[np.int64]
    place: NDArray[np.int64]
    loc: NDArray[np.int64]
    row: NDArray[np.int64]
    cls: NDArray[np.int64]
    first: NDArray[np.int64]
    var: NDArray[np.int64]
    alpha: Floats
    r: Floats
    side: Floats
    loose: NDArray[np.int64]
    box: Floats
    TU: Floats
    small: float


@inner
def _bound(P, s, v):
    """The value that a status asks of a variable."""
    return P.box[v % P.y.size] if s == AT_TOP else 0.0


@kernel
def list_unknowns(P, stat, share, lists, counts, x, at, needed):
    """The unknowns of each sample, then what is given; marks those that lack a row.

    stat (p, Q m); share: the part of alpha_p that is left. lists (p, most) has the
    numbers of the variables, counts (p, 2) how many; x (p, most) the given shifts.
    """
    for s in range(stat.shape[0]):
        n = 0
        most = lists.shape[1]
        for v in range(stat.shape[1]):
            t = stat[s, v]
            if t != 0 and (t == MOVING or P.entry[v] >= 0) and n < most:
                lists[s, n] = v
                n += 1
        counts[s, 0] = n
        for v in range(stat.shape[1]):
            t = stat[s, v]
            if t != 0 and t != MOVING and P.entry[v] < 0 and n < most:
                goal = share[s] * P.alpha[v] if t == FROZEN else _bound(P, t, v)
                if goal != P.alpha[v]:
                    lists[s, n] = v
                    x[s, n] = goal - P.alpha[v]
                    n += 1
        counts[s, 1] = n
        for j in range(n):
            if at[lists[s, j]] < 0:
                needed[lists[s, j]] = True


@njit(**INNER, fastmath={"contract", "reassoc", "nsz"})
def _dot(a, b):
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@njit(**INNER, fastmath={"contract"})
def _add(out, factor, row):
    for i in range(out.size):
        out[i] += factor * row[i]


@inner
def _apart(P, k, i, j):
    """K_ij less what the entries of class k make up for; i, j outside S_k."""
    if P.place[k, i] >= 0 or P.place[k, j] >= 0:
        return 0.0
    part = slice(P.first[k], P.first[k + 1])
    return P.K[i, j] - _dot(P.K_S[i, part], P.R[j, part])


@inner
def _by_shift(P, e, k, head, i):
    """What class k alone answers at its entry e, in alpha, to a shift of (head, i)."""
    if k == head:
        if P.place[k, i] >= 0:
            return -1.0 if P.place[k, i] == e else 0.0
        return -P.R[i, e]
    return P.R[i, e] if P.place[k, i] < 0 else 0.0


@inner
def _direct(P, changed, n, D, whose):
    """D (n, all) less what it holds, between the first n of ``changed`` and all.

    Only the upper triangle. ``whose`` (3, all): room for entry, class and sample.
    """
    m = P.y.size
    for j in range(changed.size):
        v = changed[j]
        whose[0, j], whose[1, j], whose[2, j] = P.entry[v], v // m, v % m
    for i in range(n):
        e, k, p = whose[0, i], whose[1, i], whose[2, i]
        a = P.y[p]
        for j in range(i, changed.size):
            f, l, h = whose[0, j], whose[1, j], whose[2, j]
            b = P.y[h]
            d = -D[i, j]
            if e >= 0 and f >= 0:
                if k == l:
                    d += P.R[P.loc[f], e]
            elif e >= 0:
                if k == l or k == b:
                    d += _by_shift(P, e, k, l, h)
            elif f >= 0:
                if k == l or l == a:
                    d += _by_shift(P, f, l, k, p)
            else:
                if k == l:
                    d -= _apart(P, k, p, h)
                elif k == b:
                    d += _apart(P, k, p, h)
                if a == b:
                    d -= _apart(P, a, p, h)
                elif a == l:
                    d += _apart(P, a, p, h)
            D[i, j] = d


@inner
def _solve(M, x, size, scale, order):
    """x <- M^-1 x; whether there is an x.

    Of variables that depend on each other (samples at one place) all but one have 0.
    """
    for i in range(size):
        for j in range(size):
            M[i, j] *= scale[i] * scale[j]
        x[i] *= scale[i]
        order[i] = i
    c, rank = 0, size
    while c < rank:
        at, best = c, abs(M[c, c])
        for i in range(c + 1, size):
            if abs(M[i, c]) > best:
                at, best = i, abs(M[i, c])
        if best <= NO_PIVOT:  # the column goes to the end
            rank -= 1
            for i in range(size):
                M[i, c], M[i, rank] = M[i, rank], M[i, c]
            order[c], order[rank] = order[rank], order[c]
            continue
        if at != c:
            for j in range(c, size):
                M[c, j], M[at, j] = M[at, j], M[c, j]
            x[c], x[at] = x[at], x[c]
        for i in range(c + 1, size):
            f = M[i, c] / M[c, c]
            if f != 0.0:
                _add(M[i, c + 1 : size], -f, M[c, c + 1 : size])
                x[i] -= f * x[c]
        c += 1
    for i in range(rank, size):
        if abs(x[i]) > CONSISTENT:
            return False
        x[i] = 0.0
    for c in range(rank - 1, -1, -1):
        t = x[c]
        for j in range(c + 1, rank):
            t -= M[c, j] * x[j]
        x[c] = t / M[c, c]
    for i in range(size):  # M is done with
        M[0, order[i]] = x[i]
    for i in range(size):
        x[i] = M[0, i] * scale[i]
    return True


@kernel
def solve_each(P, stat, share, lists, counts, x, at, V, Z, rest, level, sound):
    """The unknowns x of each sample, (lambda, -b), and what R_k is to answer.

    level (p, samples with a free arc + Q); rest (p, entries): the right-hand sides t -
    lambda - b - K (given shifts).
    """
    m, most = P.y.size, lists.shape[1]
    M, goal, scale = np.empty((most, most)), np.empty(most), np.empty(most)
    order, whose = np.empty(most, np.int64), np.empty((3, most), np.int64)
    left, right = np.empty((most, V.shape[1])), np.empty((most, V.shape[1]))
    for s in range(stat.shape[0]):
        n, both = counts[s]
        for j in range(both):
            _copy(left[j], V[at[lists[s, j]]])
            _copy(right[j], Z[at[lists[s, j]]])
        D = np.dot(left[:n], right[:both].T)
        _direct(P, lists[s, :both], n, D, whose)
        for i in range(n):
            v = lists[s, i]
            t = stat[s, v]
            if t == MOVING:
                goal[i] = -P.r[v]
            elif t == FROZEN:
                goal[i] = (share[s] - 1.0) * P.alpha[v]
            else:
                goal[i] = _bound(P, t, v) - P.alpha[v]
            for j in range(i, n):
                M[i, j] = M[j, i] = D[i, j]
            for j in range(n, both):
                goal[i] -= D[i, j] * x[s, j]
            own = P.R[P.loc[P.entry[v]], P.entry[v]] if P.entry[v] >= 0 else 0.0
            own = own if own > 0.0 else 2.0 * P.K[v % m, v % m]
            scale[i] = 1.0 / np.sqrt(max(own, 1e-300))
        sound[s] = both < most and _solve(M, goal, n, scale, order)
        if sound[s]:
            _copy(x[s, :n], goal[:n])
            for j in range(both):
                _add(level[s], x[s, j], right[j])
            _asked(P, lists[s, :both], x[s], level[s], rest[s])


@inner
def _asked(P, changed, x, level, rest):
    """What R_k is to answer: lambda and b are taken out of z and q first."""
    m, rows = P.y.size, P.TU.shape[0]
    b = level[rows:]
    for i in range(rows):
        level[i] += _dot(P.TU[i], b)
    for e in range(P.row.size):
        rest[e] = b[P.cls[e]] - level[P.row[e]]
    for j in range(changed.size):
        v = changed[j]
        if P.entry[v] >= 0:
            rest[P.entry[v]] -= x[j]
        else:
            i = v % m
            for k, change in ((v // m, -x[j]), (P.y[i], x[j])):
                part = slice(P.first[k], P.first[k + 1])
                _add(rest[part], -change, P.K_S[i, part])


@inner
def _completed(P, s, lists, both, x, F, level, b, outputs):
    """The change of the outputs: F, and what the given shifts do."""
    m, Q = P.y.size, b.size
    for k in range(Q):
        _copy(outputs[k], F[k, s])
        for e in range(P.first[k], P.first[k + 1]):
            outputs[k, P.loc[e]] = -level[s, P.row[e]] - b[k]
    for j in range(both):
        v = lists[s, j]
        e = P.entry[v]
        if e >= 0:
            outputs[v // m, P.loc[e]] -= x[s, j]
        else:
            for k, change in ((v // m, -x[s, j]), (P.y[v % m], x[s, j])):
                _add(outputs[k], change, P.K[v % m])
                for e in range(P.first[k], P.first[k + 1]):
                    outputs[k, P.loc[e]] -= change * P.K_S[v % m, e]


@inner
def _copy(out, row):
    for i in range(out.size):
        out[i] = row[i]


@njit(**INNER, fastmath={"contract"})
def _slopes(side, r, own, outputs, b, w):
    """w = side (r - own + outputs + b): beyond 0 it is wrong."""
    for i in range(w.size):
        w[i] = side[i] * (r[i] - own[i] + outputs[i] + b)


@inner
def _wrong_alpha(P, s, stat, lists, counts, x, d):
    """Exchange what left its box, and what is held against its force; -> how many."""
    m, made = P.y.size, 0
    for e in range(P.var.size):
        v = P.var[e]
        if v >= 0 and stat[s, v] == 0:
            a, top = P.alpha[v] - d[s, e], P.box[v % m]
            if a < -P.small or a > top + P.small:
                stat[s, v] = HELD if a < 0.0 else AT_TOP
                made += 1
    for j in range(counts[s, 0]):
        v = lists[s, j]
        t = stat[s, v]
        if P.entry[v] >= 0:
            pull = x[s, j] if t == AT_TOP else -x[s, j]
            if t != FROZEN and pull > SLACK:
                stat[s, v] = 0
                made += 1
        else:
            value, top = P.alpha[v] + x[s, j], P.box[v % m]
            if value < -P.small or value > top + P.small:
                stat[s, v] = HELD if value < 0.0 else AT_TOP
                if _bound(P, stat[s, v], v) == P.alpha[v]:
                    stat[s, v] = 0
                made += 1
    return made


@inner
def _wrong_slope(P, s, v, stat, own, outputs, b):
    """Let v move where its r has the wrong sign; -> whether it has."""
    m = P.y.size
    i, t = v % m, stat[s, v]
    r = P.r[v] - own[i] + outputs[v // m, i] + b[v // m]
    a = P.alpha[v] if t == 0 else _bound(P, t, v)
    if t >= FROZEN or not ((a < P.box[i] and r > SLACK) or (a > 0.0 and r < -SLACK)):
        return 0
    stat[s, v] = MOVING
    return 1


@kernel
def judge_each(P, stat, lists, counts, x, d, F, level, wrong, end, alpha, change):
    """Exchange what is wrong, how many each; of those right, alpha and the outputs.

    F (Q, p, m) is what the entries do to the outputs. ``end``: whose alpha (p, Q m) and
    change of the outputs (p, Q, m) are asked for where nothing is wrong.
    """
    m, Q, rows = P.y.size, F.shape[0], P.TU.shape[0]
    outputs, own, w = np.empty((Q, m)), np.empty(m), np.empty(m)
    for s in range(stat.shape[0]):
        n, both = counts[s]
        b = -level[s, rows:]
        _completed(P, s, lists, both, x, F, level, b, outputs)
        for i in range(m):
            own[i] = outputs[P.y[i], i] + b[P.y[i]]
        made = _wrong_alpha(P, s, stat, lists, counts, x, d)
        for k in range(Q):
            part = slice(k * m, (k + 1) * m)
            _slopes(P.side[part], P.r[part], own, outputs[k], b[k], w)
            for i in range(m):
                if w[i] > SLACK and stat[s, k * m + i] == 0:
                    stat[s, k * m + i] = MOVING
                    made += 1
        for j in range(n, both):
            made += _wrong_slope(P, s, lists[s, j], stat, own, outputs, b)
        for v in P.loose:
            if stat[s, v] == 0:
                made += _wrong_slope(P, s, v, stat, own, outputs, b)
        wrong[s] = made
        if made == 0 and end[s]:
            _write(P, s, stat, lists, n, x, d, alpha[s])
            for k in range(Q):
                _copy(change[s, k], outputs[k])


@inner
def _write(P, s, stat, lists, n, x, d, A):
    """alpha (Q m,) of the sample's machine."""
    for v in range(A.size):
        A[v] = P.alpha[v] if stat[s, v] == 0 else _bound(P, stat[s, v], v)
    for e in range(P.var.size):
        v = P.var[e]
        if v >= 0 and stat[s, v] == 0:
            A[v] = P.alpha[v] - d[s, e]
    for j in range(n):
        v = lists[s, j]
        if stat[s, v] == MOVING:
            A[v] = P.alpha[v] + x[s, j]
    for v in range(A.size):  # a residue beside a bound would count as free
        top = P.box[v % P.y.size]
        if A[v] < P.small:
            A[v] = 0.0
        elif A[v] > top - P.small:
            A[v] = top


Answer = Callable[[int, Floats, Floats, int], None]


class Together:
    """A factor of the full machine, and the samples that are left out of it."""

    def __init__(
        self, factor: ClassFactor, gram: Gram, y: Ints, alpha: Floats, r: Floats,
        entry: Ints, box: Floats,
    ) -> None:  # fmt: skip
        """alpha, r, entry: (Q, m)."""
        self.factor, self.y = factor, y
        size, m, Q, s = factor.size, y.size, factor.Q, factor.rows.size
        K = gram.matrix
        R = np.zeros((m, size))
        V, Z = np.zeros((size, s + Q)), np.empty((size, s + Q))
        row = np.concatenate(factor.members)
        loc, first = factor.rows[row], np.r_[0, [p.stop for p in factor.parts]]
        K_S = np.ascontiguousarray(K[:, loc])
        self.onto: list[Any] = []
        for k, (at, part) in enumerate(zip(factor.members, factor.parts, strict=True)):
            inverse, inside = factor.inverses[k], np.zeros(m, bool)
            inside[loc[part]] = True
            others = np.flatnonzero(~inside)
            between = K_S[others, part]
            R[others, part] = between @ inverse
            R[loc[part], part] = inverse
            V[part, at] = -inverse
            V[part, s + k] = factor.U[at, k]
            Z[part, :s] = -(inverse @ factor.T[at])
            few = others.size <= FEW_OUTSIDE * m
            self.onto.append((others, between) if few else (None, K_S[:, part]))
        self.V, self.Z, self.filled = V, Z, size
        self._with_biases(slice(0, size))
        var = np.full(size, -1)
        numbers = np.flatnonzero(entry.ravel() >= 0)
        var[entry.ravel()[numbers]] = numbers
        self.at = entry.ravel().copy()
        at_zero, at_top = alpha <= 0.0, alpha >= box
        rest = (entry < 0) & (np.arange(Q)[:, None] != y)
        side = np.where(rest, at_zero * 1.0 - at_top, 0.0)
        loose = np.flatnonzero(rest & ~at_zero & ~at_top)
        small = 1e-9 * min(float(box.min()), float(alpha.max()))
        self.P = Parts(
            y, K, K_S, R, entry.ravel(), factor.places(m), loc, row,
            np.repeat(np.arange(Q), np.diff(first)), first, var,
            alpha.ravel(), r.ravel(), side.ravel(), loose, box, factor.TU, small,
        )  # fmt: skip

    @classmethod
    def of(cls, factor: ClassFactor, gram: Gram, *others: Any) -> Together | None:
        """None where the factor is not sharp, or thin, or what is kept too large."""
        kept = 2.0 * factor.size * (gram.m + factor.rows.size)
        whole = all(isinstance(R, np.ndarray) for R in (factor.T, *factor.inverses))
        if not whole or kept > MOST_KEPT or factor.error > SHARP:
            return None
        return cls(factor, gram, *others)

    def need(self, wanted: Ints) -> None:
        """V and Z of these shifts."""
        if not wanted.size:
            return
        P, factor, m = self.P, self.factor, self.y.size
        v = np.zeros((wanted.size, self.V.shape[1]))
        i, head = wanted % m, wanted // m
        for k, (at, part) in enumerate(zip(factor.members, factor.parts, strict=True)):
            for sign, mine in ((1.0, head == k), (-1.0, self.y[i] == k)):
                here = np.flatnonzero(mine)
                there = P.place[k, i[here]]
                own, out = here[there >= 0], here[there < 0]
                v[own, P.row[there[there >= 0]]] += sign
                response = P.R[i[out], part]
                v[np.ix_(out, at)] += sign * response
                v[out, factor.rows.size + k] -= sign * (response.sum(axis=1) - 1.0)
        self._grow(self.filled + wanted.size)
        rows = slice(self.filled, self.filled + wanted.size)
        self.V[rows] = v
        self.Z[rows, : factor.rows.size] = v[:, : factor.rows.size] @ factor.T
        self._with_biases(rows)
        self.at[wanted] = np.arange(rows.start, rows.stop)
        self.filled = rows.stop

    def _with_biases(self, rows: slice) -> None:
        """q of these, from z and what they do to the sums of the classes; and -B q."""
        s = self.factor.rows.size
        self.V[rows, s:] += self.Z[rows, :s] @ self.factor.U
        self.Z[rows, s:] = self.V[rows, s:] @ -self.factor.unbias

    def answered(self, rest: Floats) -> tuple[Floats, Floats]:
        """d = R_k rest_k (p, entries) and K[:, S_k] d_k, (Q, p, m)."""
        d, F = np.empty_like(rest), np.empty((self.factor.Q, len(rest), self.y.size))
        for k, part in enumerate(self.factor.parts):
            others, between = self.onto[k]
            d[:, part] = answer = rest[:, part] @ self.factor.inverses[k]
            if others is None:
                np.matmul(answer, between.T, out=F[k])
            else:
                F[k][:, others] = answer @ between.T
        return d, F

    def _grow(self, size: int) -> None:
        """Room for so many rows."""
        if size > self.V.shape[0]:
            more = size + size // 2 - self.V.shape[0]
            self.V, self.Z = (
                np.vstack([held, np.empty((more, held.shape[1]))])
                for held in (self.V, self.Z)
            )

    def without(self, samples: Ints, answer: Answer, jobs: int = 1) -> None:
        """``answer(p, alpha, change of F, exchanges)``, (Q, m), of those found."""
        run = _Run(self, samples, answer)
        with ThreadPoolExecutor(jobs) as pool:
            while run.active.any():
                run.turn(pool if jobs > 1 else None)


class _Run:
    """Some samples on their way."""

    def __init__(self, engine: Together, samples: Ints, answer: Answer) -> None:
        n, Q, m = samples.size, engine.factor.Q, engine.y.size
        self.engine, self.samples, self.answer = engine, samples, answer
        own = (np.arange(Q)[:, None] * m + samples).T
        self.stat = np.zeros((n, Q * m), np.int8)
        self.stat[np.arange(n)[:, None], own] = FROZEN
        self.stat[np.arange(n), engine.y[samples] * m + samples] = 0
        self.kept = self.stat.copy()
        self.reached, self.aim, self.step = np.zeros(n), np.ones(n), np.ones(n)
        self.turns, self.vain, self.made = np.zeros((3, n), np.int64)
        self.best = np.full(n, self.stat.shape[1])
        self.active = np.ones(n, bool)

    def turn(self, pool: ThreadPoolExecutor | None) -> None:
        """One exchange of every active sample."""
        now = np.flatnonzero(self.active)
        few = max(1, int(MOST_NUMBERS // self.stat.shape[1]))
        parts = [_Some(self, now[i : i + few]) for i in range(0, now.size, few)]
        self.engine.need(np.flatnonzero(sum(part.needed for part in parts)))
        each = map if pool is None else pool.map
        wrong, sound = np.hstack(list(each(self._exchange, parts)))
        sound = sound > 0
        there = sound & (wrong == 0)
        self.active[now[there & (self.aim[now] >= 1.0)]] = False
        self._go_on(now[there & (self.aim[now] < 1.0)])
        self.vain[now] += wrong >= self.best[now]
        self.best[now] = np.minimum(self.best[now], wrong)
        long = (self.vain[now] > STUBBORN) | (self.turns[now] >= MOST_TURNS)
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
        rest = np.zeros((n, engine.factor.size))
        solve_each(
            P, stat, some.share, some.lists, some.counts, some.x,
            engine.at, engine.V, engine.Z, rest, level, sound,
        )  # fmt: skip
        d, F = engine.answered(rest)
        wrong, end = np.zeros(n, np.int64), sound & (some.share <= 0.0)
        alpha, change = np.empty((n, Q * m)), np.empty((n, Q, m))
        judge_each(
            P, stat, some.lists, some.counts, some.x, d, F, level,
            wrong, end, alpha, change,
        )  # fmt: skip
        self.stat[at] = stat
        self.turns[at] += 1
        self.made[at] += wrong
        for i in np.flatnonzero(end & (wrong == 0)):
            p, A = at[i], alpha[i].reshape(Q, m)
            self.answer(int(self.samples[p]), A, change[i], int(self.made[p]))
        return wrong, sound.astype(np.int64)


class _Some:
    """Samples of a run that are worked on at once, and their unknowns."""

    def __init__(self, run: _Run, at: Ints) -> None:
        self.at, self.stat, self.share = at, run.stat[at], 1.0 - run.aim[at]
        self.lists = np.zeros((at.size, MOST_UNKNOWNS), np.int64)
        self.counts = np.zeros((at.size, 2), np.int64)
        self.x = np.zeros((at.size, MOST_UNKNOWNS))
        self.needed = np.zeros(self.stat.shape[1], bool)
        list_unknowns(
            run.engine.P, self.stat, self.share, self.lists, self.counts, self.x,
            run.engine.at, self.needed,
        )  # fmt: skip
