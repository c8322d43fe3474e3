"""Exchanges on the tableau: the optimum without one sample, some microseconds each.

See ``tableau`` for G, X, S: rows of [G, -X] belong to M, rows of [-X', -S] to N. A
*state* is which variables of M are held at a bound by a force, which of N are shifted
until r = 0 (moving), and which shifts are given (moved).
Forces f and shifts d solve the small system

    [ G_JJ  -X_J  ] [f]   [ target - alpha ]
    [ -X_J' -S_JJ ] [d] = [ -r             ],

and everything else follows by G, X and S.  Three roads to the right state:

*All at once* (``_exchange``): put every wrong variable right, solve again.  Two to four
turns where it works; where it does not, the number of wrong ones shows it at once.
 *By steps* (``_by_steps``): alpha_p goes from its value to 0 along lambda in [0, 1], in
steps that grow as long as exchanging all at once leads to the end of each.
 *Let down* (``_let_down``): the same path, from one stop to the next.
The solution is affine in lambda until one variable comes to its bound; that one is
exchanged, and on.  Every point of the path is an optimum, so it cannot run away.  Where
the variable that leaves was the last free tie between two groups of classes, the system
without it is singular: alpha stands still while the biases slide, until another
variable takes the tie over.

At a small C most alpha are at C, and where a sample leaves, the biases move against its
class, whichever sample of it that is. So one that follows a sample of its class that
had to be let down begins at the end of that one, and most settle there all at once, the
more so the nearer it is (``in_a_row``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from msvm_select.records import Floats
from msvm_select.solvers.compiled import BARE, bare, inner, kernel, subtract_four

SETTLED, NEEDS_ROW, UNSETTLED = 0, 1, 2
MOST_TURNS = 10  # of the exchange of all
STUBBORN = 1  # of them in which no fewer are wrong
STUBBORN_NEAR = 3  # the same from the end of another sample
MANY_WRONG = 20  # wrong in the first turn: with more, a shorter step costs less,
MANY_BY_CLASS = 4  # unless there are no more than so many for each class
SOME_WRONG, MORE_WRONG = 10, 1.5  # later: so many, or so many times the fewest so far
AHEAD = 0.8  # of the rest of a path: who would stop it there is made ready
MOST_STOPS = 200  # of the path
MOST_STUCK = 20  # of them in one place
MOST_IN_VAIN = 4  # unsettled samples of a class in a row: the rest of it is not tried
MOST_UNKNOWNS = 304  # unknowns of a small system: a multiple of eight
AT_A_GLANCE = 64  # variables that are looked at together whether one of them is wrong
SLACK = 1e-9  # of r, and of alpha by its scale, that counts as on the bound
LOOSE = 1e300  # of biases that nothing ties
LEAST_PIVOT = 1e-3  # of its row: one of the diagonal that is less is not used
FIRST_STEP = 0.2  # of the path
LONGER = 2.0  # times a step that succeeded: the next one
SHORTER = 0.5  # times one that failed
SHORTEST = 0.005  # below it, the path goes from stop to stop
AT_ONE_PLACE = 0.05  # in a shorter step, any number may be wrong in the first turn
NO_PIVOT = 1e-10  # a pivot below it, where the diagonal is 1, is zero


class Whole(NamedTuple):
    """The whole table, and what a row of it is made of that nobody has asked for yet.

    rows[at[v]] is the row of v, of ``filled[0]`` so far; those of M are the first. K
    (m, m) makes those of N, or is empty: they come from outside. ``ties`` (classes - 1,
    2): variables of M that tie a new class to those before, and whether their head is
    the new one. tau and F (Q, m), b (Q,) are room.
    """

    rows: Floats
    at: NDArray[np.int64]
    sample: NDArray[np.int64]
    head: NDArray[np.int64]
    y: NDArray[np.int64]
    K: Floats
    ties: NDArray[np.int64]
    tau: Floats
    F: Floats
    b: Floats
    listed: NDArray[np.int64]
    filled: NDArray[np.int64]
    inside: int


class Table(NamedTuple):
    """The tableau as the kernels see it.

    Variables are numbered, those of M first, ``inside`` in all. z is alpha of one of M
    and r of one of N: ``start`` at the full optimum. rows[at[v]] says how z answers a
    force on v of M, or a shift of v of N; at[v] < 0 where nobody has asked for it yet.
    falls[i]: how z answers where all variables of the i-th sample that are not in M go
    to 0, or to ``rest[p]``, which is what the box of sample p shrinks to where one of
    several samples leaves that are trained as one. top: the largest alpha of each.
    ``whole``: what rows are made of.
    """

    rows: Floats
    at: NDArray[np.int64]
    falls: Floats
    start: Floats
    alpha: Floats
    top: Floats
    scale: Floats
    sample: NDArray[np.int64]
    head: NDArray[np.int64]
    inside: int
    small: float
    whole: Whole
    rest: Floats


class State(NamedTuple):
    """Which variable is where.

    The ``unknowns`` are those of M that a force holds at a bound and those of N that
    are shifted until r = 0; place[v] < 0 for others. target[v]: z of an unknown. What
    is no unknown is right where low <= z <= high; the variables of the sample that
    leaves always are (``frozen``: those of N; its others are unknowns). given[v]: how
    far one of N is shifted that is no unknown, ``shifted`` if at all; ``base``: z with
    these shifts. The places in ``sizes`` are named below.
    """

    unknowns: NDArray[np.int64]
    place: NDArray[np.int64]
    target: Floats
    low: Floats
    high: Floats
    given: Floats
    shifted: NDArray[np.int64]
    frozen: NDArray[np.int64]
    base: Floats
    force: Floats
    speed: Floats
    slope: Floats
    trial: Floats
    scale: Floats
    sizes: NDArray[np.int64]


class Room(NamedTuple):
    """Where the numbers of a state stand, a row of each kind.

    The kernels do not ask for memory, so that numba need not count who holds an array:
    that took most of their time. ``span`` (Q + 1, Q) and ``group`` (Q,) are for biases,
    ``known`` (Q,) for alpha of the sample that leaves.
    """

    state: Floats
    listed: NDArray[np.int64]
    scale: Floats
    sizes: NDArray[np.int64]
    frozen: NDArray[np.int64]
    span: Floats
    group: NDArray[np.int64]
    known: Floats


class Last(NamedTuple):
    """A state: that of the last sample that had to be let down, or where a step begins.

    Its unknowns with their targets, then what is shifted and by how much. ``counts``:
    of the former, of both, and the class of the sample, or -1.
    """

    which: NDArray[np.int64]
    value: Floats
    counts: NDArray[np.int64]


UNKNOWNS, SHIFTED, FROZEN, INDEX, SAMPLE, MOVED = range(6)
"""How many there are of three kinds, the row of falls, the sample, if base moved"""


@njit(**BARE, fastmath={"contract"})
def _subtract(out, factor, row, first, end):
    """out[first:end] -= factor * row[first:end]; unsigned, or it is not vectorised."""
    start = np.uint64(first)
    for k in range(end - first):
        j = np.uint64(k) + start
        out[j] -= factor * row[j]


@bare
def _is_no_pivot(row, c, size):
    """Whether what stands on the diagonal is nothing, beside 1 or the rest of its row.

    Without branches, so that it is vectorised.
    """
    pivot, larger = abs(row[c]), 0
    for i in range(c + 1, size):
        larger += LEAST_PIVOT * abs(row[i]) >= pivot
    return larger > 0 or pivot <= NO_PIVOT


@bare
def _by_symmetry(M, x, size, width):
    """Eliminate as many as the diagonal has sound pivots for; -> how many.

    It takes half the products: only what is above the diagonal, and at last all of the
    rest. Four at a time, in rows of ``width``, filled up to a multiple of eight by 0;
    what that leaves below the diagonal is not looked at.
    """
    for c in range(0, size, 4):
        last = size - 1
        j, k, l = min(c + 1, last), min(c + 2, last), min(c + 3, last)
        A, B, C, D = M[c], M[j], M[k], M[l]
        s, t, u, v = 0.0, 0.0, 0.0, 0.0  # 1 / pivot of those that are known
        end = c + 4
        for i in range(c, size):
            row = M[i]
            e, f, g, h = s * A[i], t * B[i], u * C[i], v * D[i]
            if i > c:
                for first in range(i // 8 * 8, width, 8):
                    subtract_four(row, first, e, A, f, B, g, C, h, D)
                for r in range(2):
                    own = x[r]
                    own[i] -= (e * own[c] + f * own[j]) + (g * own[k] + h * own[l])
            if i >= end:
                continue
            if _is_no_pivot(row, i, size):
                end = i
            elif i == c:
                s = 1.0 / row[i]
            elif i == j:
                t = 1.0 / row[i]
            elif i == k:
                u = 1.0 / row[i]
            else:
                v = 1.0 / row[i]
        if end < min(c + 4, size):
            for i in range(end, size):
                for q in range(end, i):
                    M[i, q] = M[q, i]
            return end
    return size


@bare
def _solve_small(M, x, size, scale):
    """x <- M^-1 x (two right-hand sides); whether every pivot was sound.

    Forces and shifts are of different scales: that of a variable's own stiffness,
    before the constraints and the other free variables have taken what they can. A
    pivot that is nothing by that scale is rounding.
    """
    width = (size + 7) // 8 * 8
    for i in range(size):
        for j in range(size):
            M[i, j] *= scale[i] * scale[j]
        for j in range(size, width):
            M[i, j] = 0.0
        x[0, i] *= scale[i]
        x[1, i] *= scale[i]
    for c in range(_by_symmetry(M, x, size, width), size):
        at, best = c, abs(M[c, c])
        for i in range(c + 1, size):
            if abs(M[i, c]) > best:
                at, best = i, abs(M[i, c])
        if best <= NO_PIVOT:
            return False
        if at != c:
            for j in range(c, size):
                M[c, j], M[at, j] = M[at, j], M[c, j]
            for e in range(2):
                x[e, c], x[e, at] = x[e, at], x[e, c]
        pivot = 1.0 / M[c, c]
        for i in range(c + 1, size):
            f = M[i, c] * pivot
            if f != 0.0:
                _subtract(M[i], f, M[c], c + 1, size)
                x[0, i] -= f * x[0, c]
                x[1, i] -= f * x[1, c]
    for c in range(size - 1, -1, -1):
        pivot = 1.0 / M[c, c]
        first, second = x[0, c] * pivot, x[1, c] * pivot
        for i in range(c):
            x[0, i] -= M[i, c] * first
            x[1, i] -= M[i, c] * second
        x[0, c], x[1, c] = first * scale[c], second * scale[c]
    return True


@njit(**BARE, fastmath={"contract"})
def _add(out, factor, row):
    """out += factor * row, without a temporary."""
    for i in range(out.size):
        out[i] += factor * row[i]


@njit(**BARE, fastmath={"contract"})
def _add_four(out, a, first, b, second, c, third, d, fourth):
    """out += a * first + b * second + c * third + d * fourth, in one pass."""
    for i in range(out.size):
        out[i] += a * first[i] + b * second[i] + c * third[i] + d * fourth[i]


@njit(**BARE, fastmath={"contract"})
def _add_eight(out, a, A, b, B, c, C, d, D, e, E, f, F, g, G, h, H):
    """Likewise of eight."""
    for i in range(out.size):
        out[i] += (a * A[i] + b * B[i] + c * C[i] + d * D[i]) + (
            e * E[i] + f * F[i] + g * G[i] + h * H[i]
        )


@bare
def _sum(out, first, part, second):
    """out = first + part * second."""
    for i in range(out.size):
        out[i] = first[i] + part * second[i]


@bare
def _fill(out, value):
    """out[:] = value; an array expression takes numba ten times as long to compile."""
    for i in range(out.size):
        out[i] = value


@bare
def _copy(out, row):
    """out[:] = row."""
    for i in range(out.size):
        out[i] = row[i]


@bare
def _outside(z, low, high, slack):
    """How many of these are wrong: without branches, so that it is vectorised."""
    count = 0
    for v in range(z.size):
        count += (z[v] < low[v] - slack) | (z[v] > high[v] + slack)
    return count


@bare
def _will_be_outside(z, speed, room, low, high):
    """How many of these come to their limit within ``room``."""
    count = 0
    for v in range(z.size):
        end = z[v] + room * speed[v]
        count += (end < low[v]) | (end > high[v])
    return count


@bare
def _slack(T, v):
    """How far z of v may be beyond its limit."""
    return T.small if v < T.inside else SLACK


@bare
def _end_of_block(T, first):
    """Where the block ends that begins there: none has variables of both M and N."""
    last = T.inside if first < T.inside else T.alpha.size
    return min(first + AT_A_GLANCE, last)


@bare
def _free_limits(T, st, v):
    """The limits of v where it is no unknown: its box, or the sign of its r."""
    st.place[v] = -1
    if v < T.inside:
        st.low[v], st.high[v] = 0.0, T.top[v]
    else:
        value = T.alpha[v] + st.given[v]
        st.low[v] = 0.0 if value > 0.0 else -np.inf
        st.high[v] = 0.0 if value < T.top[v] else np.inf


@bare
def _shift(T, st, v, d):
    """Shift v of N, which is no unknown (any more), by d in all."""
    if d == st.given[v]:
        return
    _add(st.base, d - st.given[v], T.rows[T.at[v]])
    st.sizes[MOVED] = 1
    if st.given[v] == 0.0:
        st.shifted[st.sizes[SHIFTED]] = v
        st.sizes[SHIFTED] += 1
    elif d == 0.0:
        k = 0
        while st.shifted[k] != v:
            k += 1
        st.sizes[SHIFTED] -= 1
        st.shifted[k] = st.shifted[st.sizes[SHIFTED]]
    st.given[v] = d


@bare
def _enter(T, st, v, target):
    """Make v an unknown, z of which is to be the target."""
    if st.given[v] != 0.0:
        _shift(T, st, v, 0.0)
    st.place[v] = st.sizes[UNKNOWNS]
    st.unknowns[st.sizes[UNKNOWNS]] = v
    st.sizes[UNKNOWNS] += 1
    st.target[v] = target
    st.low[v], st.high[v] = -np.inf, np.inf


@bare
def _leave(T, st, v, value):
    """v is no unknown any more; one of N has this alpha."""
    k = st.place[v]
    st.sizes[UNKNOWNS] -= 1
    last = st.unknowns[st.sizes[UNKNOWNS]]
    st.unknowns[k], st.place[last] = last, k
    if v >= T.inside:
        _shift(T, st, v, value - T.alpha[v])
    _free_limits(T, st, v)


@bare
def _bound(T, v, upper):
    """The bound of alpha."""
    return T.top[v] if upper else 0.0


@bare
def _turn(T, st, v, upper):
    """Exchange one variable, which is, or will be, at its upper bound or not."""
    if st.place[v] >= 0:
        _leave(T, st, v, _bound(T, v, upper))
    else:
        _enter(T, st, v, _bound(T, v, upper) if v < T.inside else 0.0)


@bare
def _begin(T, st, p, index, own):
    """The state in which sample p, of these variables, is asked to go to its rest.

    That is 0, and each of its variables is held there. Where it is not, those are held
    that are beyond.
    """
    for k in range(st.sizes[SHIFTED]):
        v = st.shifted[k]
        st.given[v] = 0.0
        _free_limits(T, st, v)
    for k in range(st.sizes[UNKNOWNS]):
        _free_limits(T, st, st.unknowns[k])
    for k in range(st.sizes[FROZEN]):
        _free_limits(T, st, st.frozen[k])
    if st.sizes[MOVED]:
        _copy(st.base, T.start)
    _fill(st.sizes, 0)
    st.sizes[INDEX], st.sizes[SAMPLE] = index, p
    for k in range(own.size):
        v = own[k]
        if T.rest[p] > 0.0:
            if v < T.inside and T.alpha[v] > T.rest[p]:
                _enter(T, st, v, T.rest[p])
            else:
                _free_limits(T, st, v)
        elif v < T.inside:
            _enter(T, st, v, 0.0)
        else:
            st.low[v], st.high[v] = -np.inf, np.inf
            st.frozen[st.sizes[FROZEN]] = v
            st.sizes[FROZEN] += 1


@bare
def _leaves(T, st, v):
    """Whether v is of the sample that goes."""
    return T.sample[v] == st.sizes[SAMPLE]


@bare
def _is_gone(T, st, v):
    """Whether it is of one that goes altogether."""
    return _leaves(T, st, v) and T.rest[st.sizes[SAMPLE]] <= 0.0


@bare
def _narrow(T, own, rest, known):
    """Shrink the box of a sample, of these variables; -> what it was.

    Their alpha are ``known`` from there on.
    """
    top = 0.0
    for k in range(own.size):
        v = own[k]
        top, T.top[v], known[k] = T.top[v], rest, T.alpha[v]
        if v >= T.inside:
            T.alpha[v] = min(T.alpha[v], rest)
    return top


@bare
def _widen(T, st, own, top, known):
    """Undo that."""
    for k in range(own.size):
        v = own[k]
        T.top[v], T.alpha[v] = top, known[k]
        if st.place[v] < 0:
            _free_limits(T, st, v)


@bare
def _flow(W, i, k, d):
    """Send d more from the class of sample i to k."""
    W.tau[W.y[i], i] += d
    W.tau[k, i] -= d


@bare
def _weighted_rows(out, weight, K, at):
    """out = sum_i weight_i K_i, of those whose weight is not 0; ``at`` is room."""
    count = 0
    for i in range(weight.size):
        if weight[i] != 0.0:
            at[count] = i
            count += 1
    _fill(out, 0.0)
    j = 0
    while j + 8 <= count:
        a, b, c, d = at[j], at[j + 1], at[j + 2], at[j + 3]
        e, f, g, h = at[j + 4], at[j + 5], at[j + 6], at[j + 7]
        _add_eight(
            out, weight[a], K[a], weight[b], K[b], weight[c], K[c], weight[d], K[d],
            weight[e], K[e], weight[f], K[f], weight[g], K[g], weight[h], K[h],
        )  # fmt: skip
        j += 8
    for k in range(j, count):
        _add(out, weight[at[k]], K[at[k]])


@bare
def _complete(W, out):
    """r of N, where ``out`` has alpha of M, and tau what moves of N; tau is emptied.

    F = K tau, and b such that r of the ties stays 0: r_ik = F_k + b_k - F_y - b_y.
    """
    y, F, b, own = W.y, W.F, W.b, W.tau[0]
    for u in range(W.inside):
        _flow(W, W.sample[u], W.head[u], out[u])
    for k in range(b.size):
        _weighted_rows(F[k], W.tau[k], W.K, W.listed)
    _fill(b, 0.0)
    for t in range(W.ties.shape[0]):
        u, to_head = W.ties[t, 0], W.ties[t, 1]
        i, k = W.sample[u], W.head[u]
        slope = F[y[i], i] - F[k, i]
        if to_head:
            b[k] = b[y[i]] + slope
        else:
            b[y[i]] = b[k] - slope
    for i in range(y.size):
        own[i] = F[y[i], i] + b[y[i]]
    for v in range(W.inside, out.size):
        i, k = W.sample[v], W.head[v]
        out[v] = F[k, i] + b[k] - own[i]
    for k in range(b.size):
        _fill(W.tau[k], 0.0)


@bare
def _new_row(W, v):
    """Make the row of v of N; whether K is there, and room for it."""
    place = W.filled[0]
    if W.K.shape[0] == 0 or place >= W.rows.shape[0]:
        return False
    out = W.rows[place]
    for u in range(W.inside):
        out[u] = W.rows[u, v]
    _flow(W, W.sample[v], W.head[v], 1.0)
    _complete(W, out)
    W.at[v] = place
    W.filled[0] = place + 1
    return True


@bare
def _has_rows(T, st, needed):
    """Whether every row that the unknowns ask for is there, or can be made."""
    whole = True
    for j in range(st.sizes[UNKNOWNS]):
        v = st.unknowns[j]
        if T.at[v] < 0 and not _new_row(T.whole, v):
            needed[v], whole = True, False
    return whole


@bare
def _matrix(T, st, M):
    """The small system's matrix, and the scale of its unknowns."""
    count = st.sizes[UNKNOWNS]
    for i in range(count):
        v = st.unknowns[i]
        st.scale[i] = T.scale[v]
        row, out = T.rows[T.at[v]], M[i]
        for j in range(count):
            out[j] = row[st.unknowns[j]]


@bare
def _unknowns(T, st, M, x):
    """Forces and shifts x[0] + lambda x[1]; whether the system is regular."""
    slope = T.falls[st.sizes[INDEX]]
    _matrix(T, st, M)
    for i in range(st.sizes[UNKNOWNS]):
        v = st.unknowns[i]
        x[0, i] = st.target[v] - st.base[v]
        x[1, i] = -slope[v]
        if v < T.inside and _leaves(T, st, v):  # to (1 - lambda) of what is too much
            beyond = max(T.alpha[v] - T.rest[st.sizes[SAMPLE]], 0.0)
            x[0, i] += beyond
            x[1, i] -= beyond
    return _solve_small(M, x, st.sizes[UNKNOWNS], st.scale)


@bare
def _answer(T, st, x, z):
    """Add to z what the forces and shifts x do to it."""
    count, j = st.sizes[UNKNOWNS], 0
    while j + 4 <= count:
        a, b = T.at[st.unknowns[j]], T.at[st.unknowns[j + 1]]
        c, d = T.at[st.unknowns[j + 2]], T.at[st.unknowns[j + 3]]
        _add_four(
            z, x[j], T.rows[a], x[j + 1], T.rows[b],
            x[j + 2], T.rows[c], x[j + 3], T.rows[d],
        )  # fmt: skip
        j += 4
    for k in range(j, count):
        _add(z, x[k], T.rows[T.at[st.unknowns[k]]])


@bare
def _put_right(T, st, x, z):
    """Exchange every wrong variable of the state at lambda = 1; -> how many."""
    first, wrong, before = 0, 0, st.sizes[UNKNOWNS]
    while first < z.size:
        end = _end_of_block(T, first)
        slack = _slack(T, first)
        if _outside(z[first:end], st.low[first:end], st.high[first:end], slack):
            for v in range(first, end):
                if z[v] < st.low[v] - slack or z[v] > st.high[v] + slack:
                    _turn(T, st, v, z[v] > 0.0)
                    wrong += 1
        first = end
    for j in range(before - 1, -1, -1):  # who leaves makes room for the last one
        v = st.unknowns[j]
        if v >= T.inside:
            value = T.alpha[v] + x[j]
            if value < -T.small or value > T.top[v] + T.small:
                _turn(T, st, v, value > 0.0)
                wrong += 1
        elif not _is_gone(T, st, v):
            pull = x[j] if st.target[v] > 0.0 else -x[j]
            if pull > SLACK:
                _turn(T, st, v, False)
                wrong += 1
    return wrong


@bare
def _say(span, tail, head, value, top, r, small):
    """What one variable says of the biases: b_tail - b_head may change by [.., ..]."""
    if value < top - small:  # by no less than r
        span[head, tail] = min(span[head, tail], -r)
    if value > small:  # by no more than r
        span[tail, head] = min(span[tail, head], r)


@bare
def _tied(T, st, x, z, y, present, group):
    """Whether free variables tie all classes together: then b is unique."""
    apart = -1
    for k in range(present.size):
        group[k] = k
        apart += 1 if present[k] else 0
    for v in range(T.inside):
        if apart == 0:
            return True
        if st.place[v] < 0 and T.small < z[v] < T.top[v] - T.small:
            apart -= _join(group, y[T.sample[v]], T.head[v])
    for j in range(st.sizes[UNKNOWNS]):
        v = st.unknowns[j]
        if v >= T.inside and T.small < T.alpha[v] + x[j] < T.top[v] - T.small:
            apart -= _join(group, y[T.sample[v]], T.head[v])
    return apart == 0


@bare
def _join(group, a, b):
    """Merge the groups of two classes; 1 if they were apart."""
    old, new = group[a], group[b]
    if old == new:
        return 0
    for k in range(group.size):
        if group[k] == old:
            group[k] = new
    return 1


@bare
def _to_centre(T, st, x, z, y, present, room):
    """How far each b is from the centre of the optimal ones, in the last row of span.

    (0 where b is unique.)
    """
    Q, change, span = present.size, room.span[present.size], room.span
    _fill(change, 0.0)
    if _tied(T, st, x, z, y, present, room.group):
        return
    for k in range(Q):
        _fill(span[k], LOOSE)
    for v in range(T.alpha.size):
        if _is_gone(T, st, v) or not present[T.head[v]]:
            continue
        j, r = st.place[v], 0.0
        if v < T.inside:
            value = z[v]
            if j >= 0:
                value, r = st.target[v], -x[j]
        else:
            value = T.alpha[v] + st.given[v]
            if j >= 0:
                value += x[j]
            else:
                r = z[v]
        _say(span, y[T.sample[v]], T.head[v], value, T.top[v], r, T.small)
    for k in range(Q):
        span[k, k] = 0.0
    for j in range(Q):
        for k in range(Q):
            for c in range(Q):
                span[k, c] = min(span[k, c], span[k, j] + span[j, c])
    classes = 0
    for k in range(Q):
        if present[k]:
            classes += 1
            for c in range(Q):
                if present[c]:
                    change[k] += 0.5 * (min(span[k, c], LOOSE) - min(span[c, k], LOOSE))
    for k in range(Q):
        change[k] /= classes


@bare
def _at_top(T, st, full):
    """Whether some alpha of this machine is at C; ``full``: how many of N are at first.

    (Of the unknowns of N none is: it would be at its bound.)
    """
    for j in range(st.sizes[UNKNOWNS]):
        v = st.unknowns[j]
        if v < T.inside and st.target[v] > 0.0:
            return True
        full -= v >= T.inside and T.alpha[v] >= T.top[v]
    for k in range(st.sizes[SHIFTED]):
        v = st.shifted[k]
        if T.alpha[v] + st.given[v] >= T.top[v]:
            return True
        full -= T.alpha[v] >= T.top[v]
    for k in range(st.sizes[FROZEN]):
        v = st.frozen[k]
        full -= T.alpha[v] >= T.top[v]
    return full > 0


@bare
def _exchange(T, st, M, x, z, needed, part, stubborn, most):
    """All at once, from the state, at lambda = part; -> (status, exchanges).

    z holds the end. ``stubborn``: so many turns may leave no fewer wrong; ``most``: so
    many may be wrong at first.
    """
    made, best, vain = 0, T.alpha.size + 1, 0
    for _ in range(MOST_TURNS):
        count = st.sizes[UNKNOWNS]
        if count > MOST_UNKNOWNS:
            break
        if not _has_rows(T, st, needed):
            return NEEDS_ROW, made
        if not _unknowns(T, st, M, x):
            break
        for j in range(count):
            x[0, j] += part * x[1, j]
        _sum(z, st.base, part, T.falls[st.sizes[INDEX]])
        _answer(T, st, x[0], z)
        wrong = _put_right(T, st, x[0], z)
        if wrong == 0:
            return SETTLED, made
        made += wrong
        if wrong > most:
            break
        vain = 0 if wrong < best else vain + 1
        best = min(best, wrong)
        if vain > stubborn:
            break
        most = max(SOME_WRONG, int(MORE_WRONG * best))
    return UNSETTLED, made


@bare
def _by_steps(T, st, M, x, z, own, p, index, needed, kept, many):
    """Down the path in steps, at the end of each all at once; -> (status, exchanges).

    Of hundreds of changes many are undone again on the way, and a step passes over
    these.
    """
    reached, step, made = 0.0, FIRST_STEP, 0
    kept.counts[0] = kept.counts[1] = 0
    while step >= SHORTEST:
        _begin_like(T, st, p, index, own, kept)
        aim = min(1.0, reached + step)
        # many that are wrong after so short a step come to their bounds at one place
        most = many if step >= AT_ONE_PLACE else T.alpha.size
        outcome, more = _exchange(T, st, M, x, z, needed, aim, STUBBORN, most)
        made += more
        if outcome == NEEDS_ROW or (outcome == SETTLED and aim >= 1.0):
            return outcome, made
        if outcome == SETTLED:
            _remember(T, st, kept)
            reached, step = aim, LONGER * step
        else:
            step = SHORTER * (aim - reached)
    return UNSETTLED, made


@bare
def _first_stop(T, st, now, x0, x1, z, z1):
    """The first lambda > now at which a variable meets its bound or its sign.

    -> (lambda, variable, upper?); the variable is -1 where there is none.
    """
    stop, at, upper = 1.0, -1, False
    # a slope below half the slack moves nothing beyond it, and may be rounding
    for j in range(st.sizes[UNKNOWNS]):
        v, meet, top = st.unknowns[j], 2.0, False
        if v >= T.inside:
            top = x1[j] > 0.0
            if abs(x1[j]) > 0.5 * T.small:
                meet = (_bound(T, v, top) - T.alpha[v] - x0[j]) / x1[j]
        elif not _leaves(T, st, v):
            fade = x1[j] if st.target[v] > 0.0 else -x1[j]
            if fade > 0.5 * SLACK:
                meet = -x0[j] / x1[j]
        meet = max(meet, now)
        if meet < stop:
            stop, at, upper = meet, v, top
    first = 0
    while first < z.size:
        end, still = _end_of_block(T, first), 0.5 * _slack(T, first)
        if _will_be_outside(
            z[first:end], z1[first:end], stop - now, st.low[first:end],
            st.high[first:end],
        ):  # fmt: skip
            for v in range(first, end):
                top = z1[v] > 0.0
                limit = st.high[v] if top else st.low[v]
                if abs(z1[v]) > still and abs(limit) < np.inf:
                    meet = now + (limit - z[v]) / z1[v]
                    near = v < T.inside or meet > now or abs(z[v]) < 1e-6
                    meet = max(meet, now)
                    if near and meet < stop:
                        stop, at, upper = meet, v, top
        first = end
    return stop, at, upper


@bare
def _look_ahead(T, st, now, z, z1, needed):
    """Ask for the rows of those that may come next: a path without one begins anew."""
    room, first = AHEAD * (1.0 - now), 0
    while first < z.size:
        end = _end_of_block(T, first)
        if _will_be_outside(
            z[first:end], z1[first:end], room, st.low[first:end], st.high[first:end]
        ):
            for v in range(first, end):
                later = z[v] + room * z1[v]
                if later < st.low[v] or later > st.high[v]:
                    needed[v] |= T.at[v] < 0
        first = end


@bare
def _take_over(T, st, now, at, upper, M, x, z_now):
    """Which variable ties the classes when ``at``, at its bound, no longer can.

    Its r leaves 0 by its legal sign, no alpha moves, and the first other variable whose
    r or force comes to 0 is the one; -1 where there is none.
    """
    sign = -1.0 if upper else 1.0  # of the force on it: r = -force
    _matrix(T, st, M)
    _fill(x[0], 0.0)
    _fill(x[1], 0.0)
    z = st.trial
    _fill(z, 0.0)
    if at < T.inside:
        row = T.rows[T.at[at]]
        for i in range(st.sizes[UNKNOWNS]):
            x[0, i] = -sign * row[st.unknowns[i]]
        _add(z, sign, row)
    else:
        x[0, st.place[at]] = -sign
    if not _solve_small(M, x, st.sizes[UNKNOWNS], st.scale):
        return -1
    _answer(T, st, x[0], z)
    first, found = 1e300, -1
    for j in range(st.sizes[UNKNOWNS]):
        v = st.unknowns[j]
        if v < T.inside and not _leaves(T, st, v):
            fade = x[0, j] if st.target[v] > 0.0 else -x[0, j]
            if fade > 1e-12:
                meet = abs(st.force[v] + now * st.speed[v]) / fade
                if meet < first:
                    first, found = meet, v
    for v in range(T.inside, z.size):
        limit = st.high[v] if z[v] > 0.0 else st.low[v]
        if abs(z[v]) > 1e-12 and limit == 0.0 and v != at:
            meet = abs(z_now[v] / z[v])
            if meet < first:
                first, found = meet, v
    return found


@bare
def _give_way(T, st, now, at, from_top, M, x, z_now):
    """Which variable leaves when ``at`` enters beside one that it depends on.

    Duplicate samples: alpha flows from one to the other and nothing else changes, until
    one is at its bound. -> (variable, upper?); -1 where there is none.
    """
    sign = -1.0 if from_top else 1.0
    _matrix(T, st, M)
    _fill(x[0], 0.0)
    _fill(x[1], 0.0)
    z = st.trial
    _fill(z, 0.0)
    if at >= T.inside:
        row = T.rows[T.at[at]]
        for i in range(st.sizes[UNKNOWNS]):
            x[0, i] = -sign * row[st.unknowns[i]]
        _add(z, sign, row)
    else:
        x[0, st.place[at]] = sign
    if not _solve_small(M, x, st.sizes[UNKNOWNS], st.scale):
        return -1, False
    _answer(T, st, x[0], z)
    first, found, upper = T.top[at], at, not from_top
    for v in range(T.inside):
        if st.place[v] < 0 and abs(z[v]) > 1e-9:
            value = min(max(z_now[v], 0.0), T.top[v])
            meet = (T.top[v] - value) / z[v] if z[v] > 0.0 else value / -z[v]
            if meet < first:
                first, found, upper = meet, v, z[v] > 0.0
    for j in range(st.sizes[UNKNOWNS]):
        v, slope = st.unknowns[j], x[0, j]
        if v >= T.inside and abs(slope) > 1e-9:
            value = T.alpha[v] + st.force[v] + now * st.speed[v]
            value = min(max(value, 0.0), T.top[v])
            meet = (T.top[v] - value) / slope if slope > 0.0 else value / -slope
            if meet < first:
                first, found, upper = meet, v, slope > 0.0
    return found, upper


@bare
def _partner_of(T, st, now, at, entered, upper, before, M, x, z):
    """With which variable ``at`` must be exchanged, where alone it cannot be.

    The state is first put back to before its turn; ``before``: its alpha then.
    """
    inside = at < T.inside
    if inside == entered:  # it came to its bound
        _turn(T, st, at, upper)
        return _take_over(T, st, now, at, upper, M, x, z), False
    from_top = before > 0.0
    if inside:
        _enter(T, st, at, _bound(T, at, from_top))
    else:
        _leave(T, st, at, before)
    return _give_way(T, st, now, at, from_top, M, x, z)


@bare
def _let_down(T, st, M, x, z, lacking, needed):
    """Along the path, from its begin; -> (status, exchanges made).

    SETTLED: the state is that of the end, for the exchange to confirm. ``lacking``:
    whether some row is not there.
    """
    z1, now, made, stuck = st.slope, 0.0, 0, 0
    if not _has_rows(T, st, needed):
        return NEEDS_ROW, made
    if st.sizes[UNKNOWNS] > MOST_UNKNOWNS or not _unknowns(T, st, M, x):
        return UNSETTLED, made
    _copy(z, T.start)
    while made < MOST_STOPS:
        _copy(z1, T.falls[st.sizes[INDEX]])
        _answer(T, st, x[1], z1)
        for j in range(st.sizes[UNKNOWNS]):
            v = st.unknowns[j]
            st.force[v], st.speed[v] = x[0, j], x[1, j]
        stop, at, upper = _first_stop(T, st, now, x[0], x[1], z, z1)
        if at < 0:
            return SETTLED, made
        stuck = stuck + 1 if stop <= now else 0
        if stuck > MOST_STUCK:
            return UNSETTLED, made
        _add(z, stop - now, z1)
        now = stop
        made += 1
        if lacking:
            _look_ahead(T, st, now, z, z1, needed)
        before = st.target[at] if at < T.inside else T.alpha[at] + st.given[at]
        _turn(T, st, at, upper)
        entered = st.place[at] >= 0
        if not _has_rows(T, st, needed):
            return NEEDS_ROW, made
        if st.sizes[UNKNOWNS] > MOST_UNKNOWNS:
            return UNSETTLED, made
        if _unknowns(T, st, M, x):
            continue
        heir, top = _partner_of(T, st, now, at, entered, upper, before, M, x, z)
        if heir < 0:
            return UNSETTLED, made
        _turn(T, st, at, upper)
        _turn(T, st, heir, top)
        made += 1
        if not _has_rows(T, st, needed):
            return NEEDS_ROW, made
        if st.sizes[UNKNOWNS] > MOST_UNKNOWNS or not _unknowns(T, st, M, x):
            return UNSETTLED, made
    return UNSETTLED, made


@bare
def _write(T, st, x, z, out):
    """The alpha of every variable of this machine."""
    for v in range(T.inside):
        out[v] = z[v]
    for v in range(T.inside, out.size):
        out[v] = T.alpha[v] + st.given[v]
    for j in range(st.sizes[UNKNOWNS]):
        v = st.unknowns[j]
        out[v] = st.target[v] if v < T.inside else out[v] + x[j]
    for k in range(st.sizes[FROZEN]):
        out[st.frozen[k]] = 0.0
    for v in range(out.size):  # a residue beside a bound would count as free
        if out[v] < T.small:
            out[v] = 0.0
        elif out[v] > T.top[v] - T.small:
            out[v] = T.top[v]


@bare
def _slope_of(T, st, x, z, v):
    """r of v: 0 where it is free."""
    if v < T.inside:
        return -x[st.place[v]] if st.place[v] >= 0 else 0.0
    return z[v] if st.place[v] < 0 else 0.0


@bare
def _fresh(T, room):
    """A state in which no sample leaves."""
    width, numbers, listed = T.alpha.size, room.state, room.listed
    st = State(
        listed[0, :width], listed[1, :width], numbers[0, :width],
        numbers[1, :width], numbers[2, :width], numbers[3, :width],
        listed[2, :width], room.frozen, numbers[4, :width],
        numbers[5, :width], numbers[6, :width], numbers[7, :width],
        numbers[8, :width], room.scale, room.sizes,
    )  # fmt: skip
    _fill(st.given, 0.0)
    _fill(st.target, 0.0)
    for k in range(st.sizes.size):
        st.sizes[k] = 0
    for v in range(width):
        _free_limits(T, st, v)
    _copy(st.base, T.start)
    return st


@bare
def _by_sample(T, ends, which):
    """The variables of each sample: those of p are which[ends[p] : ends[p + 1]]."""
    _fill(ends, 0)
    for v in range(T.alpha.size):
        ends[T.sample[v] + 2] += 1
    for p in range(2, ends.size):
        ends[p] += ends[p - 1]
    for v in range(T.alpha.size):
        which[ends[T.sample[v] + 1]] = v
        ends[T.sample[v] + 1] += 1


@bare
def _remember(T, st, last):
    """Keep the state, without what its own sample makes of it, in ``last``."""
    count = 0
    for j in range(st.sizes[UNKNOWNS]):
        v = st.unknowns[j]
        if not _leaves(T, st, v):
            last.which[count], last.value[count] = v, st.target[v]
            count += 1
    last.counts[0] = count
    for k in range(st.sizes[SHIFTED]):
        v = st.shifted[k]
        last.which[count], last.value[count] = v, st.given[v]
        count += 1
    last.counts[1] = count


@bare
def _begin_like(T, st, p, index, own, last):
    """The state of another sample, with p in its place."""
    _begin(T, st, p, index, own)
    for k in range(last.counts[1]):
        v = last.which[k]
        if _leaves(T, st, v):
            continue
        if k < last.counts[0]:
            _enter(T, st, v, last.value[k])
        else:
            _shift(T, st, v, last.value[k])
            _free_limits(T, st, v)


@bare
def _is_repaired(T, st):
    """Whether a variable of another sample is not as in the full machine."""
    others = st.sizes[SHIFTED]
    for j in range(st.sizes[UNKNOWNS]):
        others += not _leaves(T, st, st.unknowns[j])
    return others > 0


@bare
def _judged(T, st, M, x, z, own, p, index, lacking, needed, last, kept, k):
    """Sample p, of class k, without itself, by the roads in their order.

    -> (status, exchanges). ``last`` is brought up to date where one has to be let down;
    ``kept`` is room for the state in which a step begins.
    """
    outcome, made, follows = UNSETTLED, 0, last.counts[2] == k
    many = max(MANY_WRONG, MANY_BY_CLASS * T.whole.b.size)
    if follows:
        _begin_like(T, st, p, index, own, last)
        outcome, made = _exchange(T, st, M, x, z, needed, 1.0, STUBBORN_NEAR, many)
        # what it took over counts as one, and none where that is the prediction
        made = made + 1 if outcome != SETTLED or _is_repaired(T, st) else 0
    if outcome == UNSETTLED:
        _begin(T, st, p, index, own)
        outcome, made = _exchange(T, st, M, x, z, needed, 1.0, STUBBORN, many)
        follows |= outcome == UNSETTLED
    if outcome == UNSETTLED:
        outcome, made = _by_steps(T, st, M, x, z, own, p, index, needed, kept, many)
    if outcome == UNSETTLED:
        _begin(T, st, p, index, own)
        outcome, made = _let_down(T, st, M, x, z, lacking, needed)
        if outcome != NEEDS_ROW:  # the end is proven by the exchange, or mended
            outcome, more = _exchange(T, st, M, x, z, needed, 1.0, STUBBORN, many)
            made += more
    if follows and outcome == SETTLED:
        _remember(T, st, last)
        last.counts[2] = k
    return outcome, made


@bare
def _each(
    T, y, present, samples, margins, exchanges, at_top, status, needed, alphas,
    M, x, z, which, ends, room, last, kept,
):  # fmt: skip
    """As ``exchange_each``, in this room."""
    st, full, lacking, top = _fresh(T, room), 0, False, 0.0
    last.counts[2], vain = -1, 0
    _by_sample(T, ends, which)
    for v in range(T.alpha.size):
        full += v >= T.inside and T.alpha[v] >= T.top[v]
        lacking |= T.at[v] < 0 and not T.whole.K.shape[0]
    for index in range(samples.size):
        p = samples[index]
        vain = vain if index > 0 and y[p] == y[samples[index - 1]] else 0
        if vain >= MOST_IN_VAIN:
            status[index] = UNSETTLED
            continue
        own = which[ends[p] : ends[p + 1]]
        if T.rest[p] > 0.0:
            top = _narrow(T, own, T.rest[p], room.known)
        status[index], exchanges[index] = _judged(
            T, st, M, x, z, own, p, index, lacking, needed, last, kept, y[p]
        )
        vain += status[index] == UNSETTLED
        if status[index] == SETTLED:
            vain = 0
            at_top[index] = _at_top(T, st, full)
            _to_centre(T, st, x[0], z, y, present, room)
            change = room.span[present.size]
            if alphas.shape[0] > 0:
                _write(T, st, x[0], z, alphas[index])
            for k in range(own.size):
                v = own[k]
                slide = change[y[p]] - change[T.head[v]]
                margins[index, T.head[v]] = 1.0 - _slope_of(T, st, x[0], z, v) + slide
        if T.rest[p] > 0.0:
            _widen(T, st, own, top, room.known)


@inner
def _remembered(width):
    """Room for a state that is remembered."""
    return Last(np.empty(width, np.int64), np.empty(width), np.empty(3, np.int64))


@kernel
def exchange_each(
    T, y, present, samples, margins, exchanges, at_top, status, needed, alphas
):
    """Each listed sample without itself: margins h_y - h_k (p, Q), and how it went.

    ``needed[v]`` is set where the row of v lacks; the caller makes it and calls again.
    Where the biases are not unique without p, the margins are those at their centre.
    After MOST_IN_VAIN unsettled samples of a class the rest of it is not tried.
    alphas (p, width), or empty: the variables of each machine.
    """
    width, Q = T.alpha.size, present.size
    room = Room(
        np.empty((9, width)), np.empty((3, width), np.int64),
        np.empty(MOST_UNKNOWNS), np.empty(6, np.int64), np.empty(Q, np.int64),
        np.empty((Q + 1, Q)), np.empty(Q, np.int64), np.empty(Q),
    )  # fmt: skip
    _each(
        T, y, present, samples, margins, exchanges, at_top, status, needed, alphas,
        np.empty((MOST_UNKNOWNS, MOST_UNKNOWNS)), np.empty((2, MOST_UNKNOWNS)),
        np.empty(width), np.empty(width, np.int64), np.empty(y.size + 2, np.int64),
        room, _remembered(width), _remembered(width),
    )  # fmt: skip


@kernel
def in_a_row(K, y, samples):
    """The samples, each followed by the nearest one that is left of its class.

    K (m, m). Who is near moves much the same variables where it leaves.
    """
    row = samples.copy()
    for at in range(1, row.size):
        p, found, least = row[at - 1], at, np.inf
        for j in range(at, row.size):
            i = row[j]
            far = K[i, i] - 2.0 * K[p, i]
            if y[i] == y[p] and far < least:
                found, least = j, far
        row[at], row[found] = row[found], row[at]
    return row
