"""Exchanges on the tableau: the optimum without one sample, some microseconds each.

See ``tableau`` for G, X, S: rows of [G, -X] belong to M, rows of [-X', -S] to N. A
*state* is which variables of M are held at a bound by a force, which of N are shifted
until r = 0 (moving), and which shifts are given (moved).
Forces f and shifts d solve the small system

    [ G_JJ  -X_J  ] [f]   [ target - alpha ]
    [ -X_J' -S_JJ ] [d] = [ -r             ],

and everything else follows by G, X and S.  Two roads to the right state:

*All at once* (``_exchange``): put every wrong variable right, solve again.  Two to four
turns where it works; where it does not, the number of wrong ones shows it at once.
 *Let down* (``_let_down``): alpha_p goes from its value to 0 along lambda in [0, 1].
The solution is affine in lambda until one variable comes to its bound; that one is
exchanged, and on.  Every point of the path is an optimum, so it cannot run away.  Where
the variable that leaves was the last free tie between two groups of classes, the system
without it is singular: alpha stands still while the biases slide, until another
variable takes the tie over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from msvm_select.records import Floats
from msvm_select.solvers.compiled import INNER, inner, kernel

SETTLED, NEEDS_ROW, UNSETTLED = 0, 1, 2
MOST_TURNS = 10  # of the exchange of all
STUBBORN = 1  # of them in which no fewer are wrong
AHEAD = 0.8  # of the rest of a path: who would stop it there is made ready
MOST_STOPS = 200  # of the path
MOST_STUCK = 20  # of them in one place
MOST_UNKNOWNS = 160  # unknowns of a small system
REACH = 0.75  # of the largest response: so much nearer to it, a variable is looked at
NARROW = 0.6  # of all variables, beyond which all are
MOST_ROWS = 400  # rows of the narrowed table
SLACK = 1e-9  # of r, and of alpha by its scale, that counts as on the bound
LOOSE = 1e300  # of biases that nothing ties
NO_PIVOT = 1e-10  # a pivot below it, where the diagonal is 1, is zero


class Table(NamedTuple):
    """The tableau as the kernels see it.

    Variables are numbered, those of M first: rows[at[v]] says how alpha_M and r_N (one
    after the other) answer a force on v of M, or a shift of v of N; at[v] < 0 where
    nobody has asked for it yet. falls[i]: how they answer where all variables of the
    i-th sample that are not in M go to 0. box: the largest alpha of each sample.
    Of a narrowed table, ``number`` are the numbers that its variables have among all;
    its rows are the entries of these in ``source[source_at[number]]``, made when they
    are listed first, ``filled[0]`` so far.
    """

    rows: Floats
    at: NDArray[np.int64]
    falls: Floats
    alpha_M: Floats
    alpha_N: Floats
    r_N: Floats
    scale_M: Floats
    scale_N: Floats
    rows_M: NDArray[np.int64]
    cols_M: NDArray[np.int64]
    rows_N: NDArray[np.int64]
    cols_N: NDArray[np.int64]
    box: Floats
    small: float
    source: Floats
    source_at: NDArray[np.int64]
    number: NDArray[np.int64]
    filled: NDArray[np.int64]


class State(NamedTuple):
    """Which variable is where.

    ``sizes``: the numbers of held and of moving ones, and the place of the sample.
    """

    held: NDArray[np.bool_]
    target: Floats
    moving: NDArray[np.bool_]
    moved: Floats
    frozen_M: NDArray[np.bool_]
    frozen_N: NDArray[np.bool_]
    at_M: NDArray[np.int64]
    at_N: NDArray[np.int64]
    sizes: NDArray[np.int64]
    base: Floats
    slope: Floats
    scale: Floats


@njit(**INNER, fastmath={"contract"})
def _subtract(out, factor, row, first, end):
    """out[first:end] -= factor * row[first:end]; unsigned, or it is not vectorised."""
    start = np.uint64(first)
    for k in range(end - first):
        j = np.uint64(k) + start
        out[j] -= factor * row[j]


@inner
def _solve_small(M, x, size, scale):
    """x <- M^-1 x (two right-hand sides); whether every pivot was sound.

    Forces and shifts are of different scales: that of a variable's own stiffness,
    before the constraints and the other free variables have taken what they can. A
    pivot that is nothing by that scale is rounding.
    """
    for i in range(size):
        for j in range(size):
            M[i, j] *= scale[i] * scale[j]
        x[0, i] *= scale[i]
        x[1, i] *= scale[i]
    for c in range(size):
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
        for e in range(2):
            s = x[e, c]
            for j in range(c + 1, size):
                s -= M[c, j] * x[e, j]
            x[e, c] = s / M[c, c]
    for i in range(size):
        x[0, i] *= scale[i]
        x[1, i] *= scale[i]
    return True


@njit(**INNER, fastmath={"contract"})
def _add(out, factor, row):
    """out += factor * row, without a temporary."""
    for i in range(out.size):
        out[i] += factor * row[i]


@inner
def _fill(out, value):
    """out[:] = value; an array expression takes numba ten times as long to compile."""
    for i in range(out.size):
        out[i] = value


@inner
def _copy(out, row):
    """out[:] = row."""
    for i in range(out.size):
        out[i] = row[i]


@inner
def _begin(T, st, p, index):
    """The state in which sample p, and nothing else, is asked to go to 0."""
    st.sizes[2] = index
    _fill(st.target, 0.0)
    _fill(st.moving, False)
    _fill(st.moved, 0.0)
    for v in range(T.alpha_M.size):
        st.frozen_M[v] = T.rows_M[v] == p
        st.held[v] = st.frozen_M[v]
    for v in range(T.alpha_N.size):
        st.frozen_N[v] = T.rows_N[v] == p
        if st.frozen_N[v]:
            st.moved[v] = -T.alpha_N[v]


@inner
def _pick(out, row, number):
    """out[:] = row[number]."""
    for c in range(out.size):
        out[c] = row[number[c]]


@inner
def _made(T, v, needed):
    """Make the row of v of a narrowed table; whether there is what it is made of."""
    number = T.number
    source = T.source_at[number[v]]
    if source < 0:
        needed[number[v]] = True
        return False
    k = T.filled[0]
    if k >= T.rows.shape[0]:
        return False
    _pick(T.rows[k], T.source[source], number)
    T.at[v] = k
    T.filled[0] = k + 1
    return True


@inner
def _list(T, st, needed):
    """List the unknowns; whether every row that they ask for is there."""
    n, n_held, n_moving, whole = T.alpha_M.size, 0, 0, True
    for v in range(n):
        if st.held[v]:
            st.at_M[n_held] = v
            n_held += 1
            if T.at[v] < 0:
                whole = _made(T, v, needed) and whole
    for v in range(T.alpha_N.size):
        if st.moving[v] or (st.moved[v] != 0.0 and not st.frozen_N[v]):
            if st.moving[v]:
                st.at_N[n_moving] = v
                n_moving += 1
            if T.at[n + v] < 0:
                whole = _made(T, n + v, needed) and whole
    st.sizes[0], st.sizes[1] = n_held, n_moving
    return whole


@inner
def _bases(T, st):
    """alpha_M and r_N by the given shifts: base + lambda slope, p's in the slope."""
    n = T.alpha_M.size
    _copy(st.base[:n], T.alpha_M)
    _copy(st.base[n:], T.r_N)
    _copy(st.slope, T.falls[st.sizes[2]])
    for v in range(T.alpha_N.size):
        d = st.moved[v]
        if d != 0.0 and not st.frozen_N[v]:
            _add(st.base, d, T.rows[T.at[n + v]])


@inner
def _matrix(T, st, M):
    """The small system's matrix, and the scale of its unknowns."""
    n, n_held, n_moving = T.alpha_M.size, st.sizes[0], st.sizes[1]
    for i in range(n_held):
        v = st.at_M[i]
        st.scale[i] = T.scale_M[v]
        row = T.rows[T.at[v]]
        for j in range(n_held):
            M[i, j] = row[st.at_M[j]]
    for i in range(n_moving):
        row = T.rows[T.at[n + st.at_N[i]]]
        st.scale[n_held + i] = T.scale_N[st.at_N[i]]
        for j in range(n_held):
            M[n_held + i, j] = M[j, n_held + i] = row[st.at_M[j]]
        for j in range(n_moving):
            M[n_held + i, n_held + j] = row[n + st.at_N[j]]


@inner
def _unknowns(T, st, M, x):
    """Forces and shifts x[0] + lambda x[1]; whether the system is regular."""
    n, n_held, n_moving = T.alpha_M.size, st.sizes[0], st.sizes[1]
    _matrix(T, st, M)
    for i in range(n_held):
        v = st.at_M[i]
        if st.frozen_M[v]:  # to (1 - lambda) of its value
            x[0, i] = T.alpha_M[v] - st.base[v]
            x[1, i] = -T.alpha_M[v] - st.slope[v]
        else:
            x[0, i] = st.target[v] - st.base[v]
            x[1, i] = -st.slope[v]
    for i in range(n_moving):
        v = n + st.at_N[i]
        x[0, n_held + i] = -st.base[v]
        x[1, n_held + i] = -st.slope[v]
    return _solve_small(M, x, n_held + n_moving, st.scale)


@inner
def _answer(T, st, x, z):
    """Add to z = (alpha_M, r_N) what the forces and shifts x do to them."""
    n, n_held, n_moving = T.alpha_M.size, st.sizes[0], st.sizes[1]
    for j in range(n_held):
        _add(z, x[j], T.rows[T.at[st.at_M[j]]])
    for j in range(n_moving):
        _add(z, x[n_held + j], T.rows[T.at[n + st.at_N[j]]])


@inner
def _put_right(T, st, x, a, r):
    """Exchange every wrong variable of the state at lambda = 1; -> how many."""
    n_held, n_moving = st.sizes[0], st.sizes[1]
    wrong = 0
    for v in range(T.alpha_M.size):
        top = T.box[T.rows_M[v]]
        if not st.held[v] and (a[v] < -T.small or a[v] > top + T.small):
            st.held[v], st.target[v] = True, 0.0 if a[v] < 0.0 else top
            wrong += 1
    for j in range(n_held):
        v = st.at_M[j]
        pull = x[j] if st.target[v] > 0.0 else -x[j]
        if not st.frozen_M[v] and pull > SLACK:
            st.held[v] = False
            wrong += 1
    for v in range(T.alpha_N.size):
        if not st.moving[v] and not st.frozen_N[v]:
            value = T.alpha_N[v] + st.moved[v]
            below = value < T.box[T.rows_N[v]]
            if (below and r[v] > SLACK) or (value > 0.0 and r[v] < -SLACK):
                st.moving[v], st.moved[v] = True, 0.0
                wrong += 1
    for j in range(n_moving):
        v = st.at_N[j]
        value, top = T.alpha_N[v] + x[n_held + j], T.box[T.rows_N[v]]
        if value < -T.small or value > top + T.small:
            st.moving[v] = False
            st.moved[v] = (0.0 if value < 0.0 else top) - T.alpha_N[v]
            wrong += 1
    return wrong


@inner
def _say(span, tail, head, value, top, r, small):
    """What one variable says of the biases: b_tail - b_head may change by [.., ..]."""
    if value < top - small:  # by no less than r
        span[head, tail] = min(span[head, tail], -r)
    if value > small:  # by no more than r
        span[tail, head] = min(span[tail, head], r)


@inner
def _tied(T, st, x, a, y, present):
    """Whether free variables tie all classes together: then b is unique."""
    group = np.arange(present.size)
    apart = -1
    for k in range(present.size):
        apart += 1 if present[k] else 0
    for v in range(T.alpha_M.size):
        top = T.box[T.rows_M[v]]
        if apart > 0 and not st.held[v] and T.small < a[v] < top - T.small:
            apart -= _join(group, y[T.rows_M[v]], T.cols_M[v])
    for j in range(st.sizes[1]):
        v = st.at_N[j]
        value, top = T.alpha_N[v] + x[st.sizes[0] + j], T.box[T.rows_N[v]]
        if apart > 0 and T.small < value < top - T.small:
            apart -= _join(group, y[T.rows_N[v]], T.cols_N[v])
    return apart == 0


@inner
def _join(group, a, b):
    """Merge the groups of two classes; 1 if they were apart."""
    old, new = group[a], group[b]
    if old == new:
        return 0
    for k in range(group.size):
        if group[k] == old:
            group[k] = new
    return 1


@inner
def _to_centre(T, st, x, a, r, y, present):
    """How far each b is from the centre of the optimal ones (0 where b is unique)."""
    Q = present.size
    if _tied(T, st, x, a, y, present):
        return np.zeros(Q)
    n_held = st.sizes[0]
    span = np.full((Q, Q), LOOSE)
    force = np.zeros(T.alpha_M.size)
    for j in range(n_held):
        force[st.at_M[j]] = x[j]
    for v in range(T.alpha_M.size):
        if not st.frozen_M[v]:
            value, i = st.target[v] if st.held[v] else a[v], T.rows_M[v]
            _say(span, y[i], T.cols_M[v], value, T.box[i], -force[v], T.small)
    moving = 0
    for v in range(T.alpha_N.size):
        value = T.alpha_N[v] + st.moved[v]
        if st.moving[v]:
            value += x[n_held + moving]
            moving += 1
        if not st.frozen_N[v] and present[T.cols_N[v]]:
            i = T.rows_N[v]
            _say(span, y[i], T.cols_N[v], value, T.box[i], r[v], T.small)
    for k in range(Q):
        span[k, k] = 0.0
    for j in range(Q):
        for k in range(Q):
            for c in range(Q):
                span[k, c] = min(span[k, c], span[k, j] + span[j, c])
    change = np.zeros(Q)
    classes = 0
    for k in range(Q):
        if present[k]:
            classes += 1
            for c in range(Q):
                if present[c]:
                    change[k] += 0.5 * (min(span[k, c], LOOSE) - min(span[c, k], LOOSE))
    for k in range(Q):
        change[k] /= classes
    return change


@inner
def _at_top(T, st):
    """Whether some alpha of this machine is at C."""
    for v in range(T.alpha_M.size):
        if st.held[v] and st.target[v] > 0.0:
            return True
    for v in range(T.alpha_N.size):
        top = T.box[T.rows_N[v]]
        if not st.moving[v] and T.alpha_N[v] + st.moved[v] >= top:
            return True
    return False


@inner
def _exchange(T, st, M, x, z, needed):
    """All at once, from the state; -> (status, exchanges); z holds the end."""
    n = T.alpha_M.size
    made, best, vain = 0, T.alpha_M.size + T.alpha_N.size, 0
    for _ in range(MOST_TURNS):
        if not _list(T, st, needed):
            return NEEDS_ROW, made
        if st.sizes[0] + st.sizes[1] > MOST_UNKNOWNS:
            break
        _bases(T, st)
        if not _unknowns(T, st, M, x):
            break
        for j in range(st.sizes[0] + st.sizes[1]):
            x[0, j] += x[1, j]
        _copy(z, st.base)
        _add(z, 1.0, st.slope)
        _answer(T, st, x[0], z)
        wrong = _put_right(T, st, x[0], z[:n], z[n:])
        if wrong == 0:
            return SETTLED, made
        made += wrong
        vain = 0 if wrong < best else vain + 1
        best = min(best, wrong)
        if vain > STUBBORN:
            break
    return UNSETTLED, made


@inner
def _first_stop(T, st, now, x0, x1, a, a1, r, r1):
    """The first lambda > now at which a variable meets its bound or its sign.

    -> (lambda, kind 0: free of M, 1: held, 2: moving, 3: idle of N; index; upper?)
    """
    n_held, n_moving = st.sizes[0], st.sizes[1]
    first, kind, at, upper = 1.0, -1, -1, False
    # a slope below half the slack moves nothing beyond it, and may be rounding
    still = 0.5 * T.small
    for v in range(T.alpha_M.size):
        if not st.held[v] and abs(a1[v]) > still:
            top = a1[v] > 0.0
            meet = now + ((T.box[T.rows_M[v]] if top else 0.0) - a[v]) / a1[v]
            meet = max(meet, now)
            if meet < first:
                first, kind, at, upper = meet, 0, v, top
    for j in range(n_held):
        v = st.at_M[j]
        if not st.frozen_M[v]:
            fade = x1[j] if st.target[v] > 0.0 else -x1[j]
            if fade > 0.5 * SLACK:
                meet = -x0[j] / x1[j]
                meet = max(meet, now)
                if meet < first:
                    first, kind, at = meet, 1, v
    for j in range(n_moving):
        v, slope = st.at_N[j], x1[n_held + j]
        if abs(slope) > still:
            top = slope > 0.0
            end = T.box[T.rows_N[v]] if top else 0.0
            meet = (end - T.alpha_N[v] - x0[n_held + j]) / slope
            meet = max(meet, now)
            if meet < first:
                first, kind, at, upper = meet, 2, v, top
    for v in range(T.alpha_N.size):
        if not st.moving[v] and not st.frozen_N[v] and abs(r1[v]) > 0.5 * SLACK:
            value = T.alpha_N[v] + st.moved[v]
            below = value < T.box[T.rows_N[v]]
            if (r1[v] > 0.0 and below) or (r1[v] < 0.0 and value > 0.0):
                meet = now - r[v] / r1[v]
                near = meet > now or abs(r[v]) < 1e-6
                meet = max(meet, now)
                if near and meet < first:
                    first, kind, at = meet, 3, v
    return first, kind, at, upper


@inner
def _look_ahead(T, st, now, a, a1, r, r1, needed):
    """Ask for the rows of those that may come next: a path without one begins anew."""
    n, room = T.alpha_M.size, AHEAD * (1.0 - now)
    for v in range(n):
        if T.source_at[T.number[v]] < 0 and not st.held[v]:
            end = a[v] + room * a1[v]
            if end < 0.0 or end > T.box[T.rows_M[v]]:
                needed[T.number[v]] = True
    for v in range(T.alpha_N.size):
        lacks = T.source_at[T.number[n + v]] < 0
        if lacks and not st.moving[v] and not st.frozen_N[v]:
            value, end = T.alpha_N[v] + st.moved[v], r[v] + room * r1[v]
            below = value < T.box[T.rows_N[v]]
            if (end > 0.0 and below) or (end < 0.0 and value > 0.0):
                needed[T.number[n + v]] = True


@inner
def _take_over(T, st, now, kind, at, upper, M, x, x0, x1, at_now):
    """Which variable ties the classes when (kind, at), at its bound, no longer can.

    Its r leaves 0 by its legal sign, no alpha moves, and the first other variable whose
    r or force comes to 0 is the one. -> (kind, index); kind -1 where there is none.
    """
    n, n_held, n_moving = T.alpha_M.size, st.sizes[0], st.sizes[1]
    sign = -1.0 if upper else 1.0  # of the force on it: r = -force
    _matrix(T, st, M)
    _fill(x[0], 0.0)
    _fill(x[1], 0.0)
    z = np.zeros(n + T.alpha_N.size)
    if kind == 0:
        row = T.rows[T.at[at]]
        for i in range(n_held):
            x[0, i] = -sign * row[st.at_M[i]]
        for i in range(n_moving):
            x[0, n_held + i] = -sign * row[n + st.at_N[i]]
        _add(z, sign, row)
    else:
        for i in range(n_moving):
            if st.at_N[i] == at:
                x[0, n_held + i] = -sign
    if not _solve_small(M, x, n_held + n_moving, st.scale):
        return -1, -1
    _answer(T, st, x[0], z)
    r = z[n:]
    first, kind, found = 1e300, -1, -1
    for j in range(n_held):
        v = st.at_M[j]
        if not st.frozen_M[v]:
            fade = x[0, j] if st.target[v] > 0.0 else -x[0, j]
            if fade > 1e-12:
                meet = abs(x0[j] + now * x1[j]) / fade
                if meet < first:
                    first, kind, found = meet, 1, v
    for v in range(T.alpha_N.size):
        if not st.moving[v] and not st.frozen_N[v] and v != at:
            value = T.alpha_N[v] + st.moved[v]
            below = value < T.box[T.rows_N[v]]
            if (r[v] > 1e-12 and below) or (r[v] < -1e-12 and value > 0.0):
                meet = abs(at_now[v] / r[v])
                if meet < first:
                    first, kind, found = meet, 3, v
    return kind, found


@inner
def _give_way(T, st, now, kind, at, from_top, M, x, x0, x1, at_now):
    """Which variable leaves when (kind, at) enters beside one that it depends on.

    Duplicate samples: alpha flows from one to the other and nothing else changes, until
    one is at its bound. -> (kind, index, upper?); kind -1 where there is none.
    """
    n, n_held, n_moving = T.alpha_M.size, st.sizes[0], st.sizes[1]
    sign = -1.0 if from_top else 1.0
    _matrix(T, st, M)
    _fill(x[0], 0.0)
    _fill(x[1], 0.0)
    z = np.zeros(n + T.alpha_N.size)
    if kind == 3:
        row = T.rows[T.at[n + at]]
        for i in range(n_held):
            x[0, i] = -sign * row[st.at_M[i]]
        for i in range(n_moving):
            x[0, n_held + i] = -sign * row[n + st.at_N[i]]
        _add(z, sign, row)
    else:
        for i in range(n_held):
            if st.at_M[i] == at:
                x[0, i] = sign
    if not _solve_small(M, x, n_held + n_moving, st.scale):
        return -1, -1, False
    _answer(T, st, x[0], z)
    a = z[:n]
    i = T.rows_N[at] if kind == 3 else T.rows_M[at]
    first, found_kind, found, upper = T.box[i], kind, at, not from_top
    for v in range(T.alpha_M.size):
        if not st.held[v] and abs(a[v]) > 1e-9:
            top = T.box[T.rows_M[v]]
            value = min(max(at_now[v], 0.0), top)
            meet = (top - value) / a[v] if a[v] > 0.0 else value / -a[v]
            if meet < first:
                first, found_kind, found, upper = meet, 0, v, a[v] > 0.0
    for j in range(n_moving):
        v, slope = st.at_N[j], x[0, n_held + j]
        if abs(slope) > 1e-9:
            value = T.alpha_N[v] + x0[n_held + j] + now * x1[n_held + j]
            top = T.box[T.rows_N[v]]
            value = min(max(value, 0.0), top)
            meet = (top - value) / slope if slope > 0.0 else value / -slope
            if meet < first:
                first, found_kind, found, upper = meet, 2, v, slope > 0.0
    if found == at and found_kind == kind:  # it crosses its whole box by itself
        found_kind = 2 if kind == 3 else 0
    return found_kind, found, upper


@inner
def _turn(T, st, kind, at, upper):
    """Exchange one variable."""
    if kind == 0:
        st.held[at], st.target[at] = True, T.box[T.rows_M[at]] if upper else 0.0
    elif kind == 1:
        st.held[at] = False
    elif kind == 2:
        st.moving[at] = False
        st.moved[at] = (T.box[T.rows_N[at]] if upper else 0.0) - T.alpha_N[at]
    else:
        st.moving[at], st.moved[at] = True, 0.0


@inner
def _partner_of(T, st, now, kind, at, upper, before, M, x, x0, x1, a, r, needed):
    """With which variable (kind, at) must be exchanged, where alone it cannot be.

    The state is first put back to before its turn; ``before``: its alpha then, if idle.
    """
    if kind == 0 or kind == 2:
        _turn(T, st, 1 if kind == 0 else 3, at, upper)
        _list(T, st, needed)
        heir, found = _take_over(T, st, now, kind, at, upper, M, x, x0, x1, r)
        return heir, found, False
    if kind == 1:
        from_top = st.target[at] > 0.0
        st.held[at] = True
    else:
        from_top = before > 0.0
        st.moving[at], st.moved[at] = False, before - T.alpha_N[at]
    _list(T, st, needed)
    return _give_way(T, st, now, kind, at, from_top, M, x, x0, x1, a)


@inner
def _let_down(T, st, M, x, z, needed):
    """Along the path, from its begin; -> (status, exchanges made).

    SETTLED: the state is that of the end, for the exchange to confirm.
    """
    n = T.alpha_M.size
    z1 = np.empty(z.size)
    a, r, a1, r1 = z[:n], z[n:], z1[:n], z1[n:]
    x0, x1 = np.empty(MOST_UNKNOWNS), np.empty(MOST_UNKNOWNS)
    now, made, stuck = 0.0, 0, 0
    if not _list(T, st, needed):
        return NEEDS_ROW, made
    _bases(T, st)
    if st.sizes[0] > MOST_UNKNOWNS or not _unknowns(T, st, M, x):
        return UNSETTLED, made
    _copy(a, T.alpha_M)
    _copy(r, T.r_N)
    while made < MOST_STOPS:
        _copy(z1, st.slope)
        _copy(x0, x[0])
        _copy(x1, x[1])
        _answer(T, st, x1, z1)
        stop, kind, at, upper = _first_stop(T, st, now, x0, x1, a, a1, r, r1)
        if kind < 0:
            return SETTLED, made
        stuck = stuck + 1 if stop <= now else 0
        if stuck > MOST_STUCK:
            return UNSETTLED, made
        _add(z, stop - now, z1)
        now = stop
        made += 1
        _look_ahead(T, st, now, a, a1, r, r1, needed)
        shifts = kind == 2 or (kind == 3 and st.moved[at] != 0.0)
        before = T.alpha_N[at] + st.moved[at] if kind == 3 else 0.0
        _turn(T, st, kind, at, upper)
        if not _list(T, st, needed):
            return NEEDS_ROW, made
        if st.sizes[0] + st.sizes[1] > MOST_UNKNOWNS:
            return UNSETTLED, made
        if shifts:
            _bases(T, st)
        if _unknowns(T, st, M, x):
            continue
        heir, found, top = _partner_of(
            T, st, now, kind, at, upper, before, M, x, x0, x1, a, r, needed
        )
        if heir < 0:
            return UNSETTLED, made
        _turn(T, st, kind, at, upper)
        _turn(T, st, heir, found, top)
        made += 1
        if not _list(T, st, needed):
            return NEEDS_ROW, made
        _bases(T, st)
        if st.sizes[0] + st.sizes[1] > MOST_UNKNOWNS or not _unknowns(T, st, M, x):
            return UNSETTLED, made
    return UNSETTLED, made


@inner
def _write(T, st, x, a, out):
    """The alpha of every variable of this machine."""
    n = T.alpha_M.size
    for v in range(n):
        out[v] = a[v]
        if st.held[v]:
            out[v] = 0.0 if st.frozen_M[v] else st.target[v]
    moving = 0
    for v in range(T.alpha_N.size):
        out[n + v] = T.alpha_N[v] + st.moved[v]
        if st.moving[v]:
            out[n + v] += x[st.sizes[0] + moving]
            moving += 1
    for v in range(out.size):  # a residue beside a bound would count as free
        top = T.box[T.rows_M[v] if v < n else T.rows_N[v - n]]
        if out[v] < T.small:
            out[v] = 0.0
        elif out[v] > top - T.small:
            out[v] = top


@inner
def _concerned(T, st, z, number):
    """List the variables that a whole step z of the path brings near to a bound.

    -> how many of M, and in all. The others are looked at in the end.
    """
    n, s, count = T.alpha_M.size, T.alpha_N.size, 0
    most = 0.0
    for v in range(n):
        if not st.frozen_M[v]:
            most = max(most, abs(z[v]))
    for v in range(n):
        a = T.alpha_M[v]
        near = min(a, T.box[T.rows_M[v]] - a) - abs(z[v])
        if st.frozen_M[v] or near < REACH * most:
            number[count] = v
            count += 1
    inside, most = count, 0.0
    for v in range(s):
        if not st.frozen_N[v]:
            most = max(most, abs(z[n + v]))
    for v in range(s):
        near = abs(T.r_N[v]) - abs(z[n + v])
        if near < REACH * most and not st.frozen_N[v]:
            number[count] = n + v
            count += 1
    return inside, count


@inner
def _narrowed(T, index, number, inside, count, rows):
    """The table of these variables alone, for one sample."""
    n, others = T.alpha_M.size, count - inside
    alpha_M, scale_M = np.empty(inside), np.empty(inside)
    alpha_N, scale_N, r_N = np.empty(others), np.empty(others), np.empty(others)
    rows_M, rows_N = np.empty(inside, np.int64), np.empty(others, np.int64)
    falls = np.empty((1, count))
    for c in range(count):
        falls[0, c] = T.falls[index, number[c]]
    for c in range(inside):
        v = number[c]
        alpha_M[c], scale_M[c], rows_M[c] = T.alpha_M[v], T.scale_M[v], T.rows_M[v]
    for c in range(others):
        v = number[inside + c] - n
        alpha_N[c], scale_N[c], rows_N[c] = T.alpha_N[v], T.scale_N[v], T.rows_N[v]
        r_N[c] = T.r_N[v]
    most = min(MOST_ROWS, count)
    at, filled = np.full(count, -1), np.zeros(1, np.int64)
    return Table(
        rows[: most * count].reshape((most, count)), at, falls,
        alpha_M, alpha_N, r_N, scale_M, scale_N, rows_M, T.cols_M, rows_N, T.cols_N,
        T.box, T.small, T.source, T.source_at, number[:count], filled,
    )  # fmt: skip


@inner
def _fresh(n, s):
    """A state of n variables of M and s of N, nothing in it yet."""
    return State(
        np.zeros(n, np.bool_), np.zeros(n), np.zeros(s, np.bool_), np.zeros(s),
        np.zeros(n, np.bool_), np.zeros(s, np.bool_),
        np.zeros(n, np.int64), np.zeros(s, np.int64), np.zeros(3, np.int64),
        np.zeros(n + s), np.zeros(n + s), np.zeros(MOST_UNKNOWNS),
    )  # fmt: skip


@inner
def _among_few(T, st, p, M, x, z, number, rows, needed):
    """Let sample p down among the variables that it concerns; -> (status, exchanges).

    SETTLED: ``st`` is the end, to be proven among all variables.
    """
    index, n = st.sizes[2], T.alpha_M.size
    if not _list(T, st, needed):
        return NEEDS_ROW, 0
    _bases(T, st)
    if st.sizes[0] > MOST_UNKNOWNS or not _unknowns(T, st, M, x):
        return UNSETTLED, 0
    _copy(z, st.slope)
    _answer(T, st, x[1], z)
    inside, count = _concerned(T, st, z, number)
    if count > NARROW * number.size or rows.size < min(MOST_ROWS, count) * count:
        return UNSETTLED, 0
    few = _narrowed(T, index, number, inside, count, rows)
    state = _fresh(inside, count - inside)
    _begin(few, state, p, 0)
    near = z[:count]
    outcome, made = _let_down(few, state, M, x, near, needed)
    if outcome == UNSETTLED:
        outcome, more = _exchange(few, state, M, x, near, needed)
        made += more
    if outcome == NEEDS_ROW and few.filled[0] == few.rows.shape[0] < count:
        return UNSETTLED, made  # there is no room for another row
    if outcome == SETTLED:
        _begin(T, st, p, index)
        for c in range(inside):
            st.held[number[c]], st.target[number[c]] = state.held[c], state.target[c]
        for c in range(count - inside):
            v = number[inside + c] - n
            st.moving[v], st.moved[v] = state.moving[c], state.moved[c]
    return outcome, made


@kernel
def exchange_each(
    T, y, present, samples, margins, exchanges, at_top, status, needed, alphas
):
    """Each listed sample without itself: margins h_y - h_k (p, Q), and how it went.

    ``needed[v]`` is set where the row of v lacks; the caller makes it and calls again.
    Where the biases are not unique without p, the margins are those at their centre.
    alphas (p, n + s), or empty: the variables of M, then of N, of each machine.
    """
    n, s = T.alpha_M.size, T.alpha_N.size
    st = _fresh(n, s)
    M, x = np.empty((MOST_UNKNOWNS, MOST_UNKNOWNS)), np.empty((2, MOST_UNKNOWNS))
    z, number = np.empty(n + s), np.empty(n + s, np.int64)
    rows = np.empty(int(min(MOST_ROWS, n + s) * (NARROW * (n + s) + 1.0)))
    a, r = z[:n], z[n:]
    for index in range(samples.size):
        p = samples[index]
        _begin(T, st, p, index)
        outcome, made = _exchange(T, st, M, x, z, needed)
        if outcome == UNSETTLED:
            _begin(T, st, p, index)
            outcome, made = _among_few(T, st, p, M, x, z, number, rows, needed)
            if outcome == SETTLED:  # as far as these few go
                outcome, more = _exchange(T, st, M, x, z, needed)
                made += more
        if outcome == UNSETTLED:
            _begin(T, st, p, index)
            outcome, made = _let_down(T, st, M, x, z, needed)
            if outcome != NEEDS_ROW:  # the end is proven by the exchange, or mended
                outcome, more = _exchange(T, st, M, x, z, needed)
                made += more
        status[index], exchanges[index] = outcome, made
        if outcome == SETTLED:
            at_top[index] = _at_top(T, st)
            change = _to_centre(T, st, x[0], a, r, y, present)
            if alphas.shape[0] > 0:
                _write(T, st, x[0], a, alphas[index])
            for j in range(st.sizes[0]):
                v = st.at_M[j]
                if st.frozen_M[v]:
                    slide = change[y[p]] - change[T.cols_M[v]]
                    margins[index, T.cols_M[v]] = 1.0 + x[0, j] + slide
            for v in range(s):
                if st.frozen_N[v]:
                    slide = change[y[p]] - change[T.cols_N[v]]
                    margins[index, T.cols_N[v]] = 1.0 - r[v] + slide
