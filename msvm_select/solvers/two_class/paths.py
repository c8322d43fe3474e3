"""Two-class machines by the hundred: trained exactly, and left out exactly.

With beta_i = y_i a_i the machine of two classes (labels s_i = +-1) is

    max  sum_i s_i beta_i - 1/2 beta'K beta,  lo_i <= beta_i <= hi_i,  sum_i beta_i = 0,

lo = 0, hi = C for s = +1 and lo = -C, hi = 0 for s = -1. With e = s - K beta - b it is
optimal where e_i = 0 if beta_i is free, e_i >= 0 at hi, e_i <= 0 at lo.

Training takes steps along pairs (sequential minimal optimisation) until few conditions
are broken, and then *follows a path*: beta is the optimum for labels s~ that differ
from s only where a condition is broken; from s~ to s the optimum is piecewise linear,
and one variable changes its status at each corner. Leaving p out is a path, too: beta_p
goes from its value to 0. Every point of a path is an optimum, so it cannot run away,
and its end is exact.

*A path on one factor.* For the free variables F of the start let

    [ R  v ]   [ K_FF  1 ] ^-1
    [ v' * ] = [ 1'    0 ]

With inputs (e_F, beta_N), the outputs (beta_F, e_N) are linear: column j of the table T
is the response of all outputs to input j. A variable that changed its status is
*pivoted*: its output is held and its input follows. k pivoted variables P make one k x
k system T_PP c = -(rest), solved anew at each corner; k is small. The factor and the
columns of T belong to the full machine: all samples that are left out share them.

What numba's cache must see together stands together: all kernels are in this file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from msvm_select.records import Floats, Ints
from msvm_select.solvers.compiled import INNER, kernel

# Sums may be taken in another order than they are written: that makes them fast.
inner = njit(**INNER, fastmath={"reassoc", "contract"})

BLOCK = 32  # rows that are inverted at once
MOST_PIVOTS = 64  # variables that change their status on one factor
MOST_CORNERS = 400  # of one path
MOST_FACTORS = 60  # factors of one training
SMO_FIRST, SMO_FACTOR = 0.1, 0.1  # violation at which pair steps stop; finer each time
SINGULAR = 1e-13  # of the largest K_ii: a pivot below it is rounding
NO_BEND = 1e-11  # of K_ii: a curvature below it is none
DONE = 1e-11  # violation that counts as rounding
MOST_BASES = 3  # bases that settle less than half of what is left
SPARE = 2000  # samples up to which every column is kept
CHUNK = 256  # beyond: samples whose columns are made at once, and others kept
RESIDUE = 1e-10  # of a variable's range, or of the largest: so near to a bound is at it
PATH_RESIDUE = 1e-8  # likewise at the end of a path, whose factor is rougher
ROUGH = 1e-9  # residual of the inverse beyond which every answer is checked by K
TRUE = 1e-8  # violation up to which an answer so checked stands
CLEAR = 1e-6  # a decision below it is trained again
STILL = 1e-11  # a change of e over a whole path that is rounding
OK, LONG, BAD = 0, 1, 2  # how a path ended
SUM, SQUARE, SLACK, KKT, STEPS, CORNERS, BIAS, WIDTH, FREE, TOP, GAP, N_STATS = range(
    12
)
NOT_A_SV, BY_TRAINING, PREDICTED, REPAIRED, RETRAINED, SINGLE = range(6)


class Face(NamedTuple):
    """The free variables F of an optimum with R, v and the corner of the inverse.

    N: the others; ``at``: the position of a sample in F, or -1; K_FN: rows F, columns N
    of the kernel matrix.
    """

    F: Ints
    N: Ints
    at: Ints
    R: Floats
    v: Floats
    corner: float
    K_FN: Floats


@inner
def _pair_steps(K, lo, hi, beta, g, eps, most):
    """Steps along pairs from beta, g = s - K beta, to a violation of eps; -> steps."""
    m = g.size
    steps = 0
    i, top, low = -1, -np.inf, np.inf
    for t in range(m):
        if beta[t] < hi[t] and g[t] > top:
            top, i = g[t], t
        if beta[t] > lo[t] and g[t] < low:
            low = g[t]
    while steps < most and top - low > eps:
        Ki = K[i]
        kii = Ki[i]
        j, best = -1, 0.0
        for t in range(m):
            if beta[t] > lo[t]:
                gain = top - g[t]
                if gain > 0.0:
                    eta = kii + K[t, t] - 2.0 * Ki[t]
                    value = gain * gain / (eta if eta > 1e-12 else 1e-12)
                    if value > best:
                        best, j = value, t
        if j < 0:  # what is left to gain is rounding
            break
        eta = kii + K[j, j] - 2.0 * Ki[j]
        room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
        step = (top - g[j]) / (eta if eta > 1e-12 else 1e-12)
        at_i = at_j = False
        if step >= room_i:
            step, at_i = room_i, True
        if step >= room_j:
            at_i = at_i and room_i == room_j
            step, at_j = room_j, True
        beta[i] = hi[i] if at_i else beta[i] + step
        beta[j] = lo[j] if at_j else beta[j] - step
        Kj = K[j]
        for t in range(m):
            g[t] -= step * (Ki[t] - Kj[t])
        i, top, low = -1, -np.inf, np.inf
        for t in range(m):
            if beta[t] < hi[t] and g[t] > top:
                top, i = g[t], t
            if beta[t] > lo[t] and g[t] < low:
                low = g[t]
        steps += 1
    return steps


@inner
def _factor(K, g, lo, hi, beta, F, n, L):
    """L L' = K~_FF, F made independent on the way; -> how many are left, and moved.

    K~ = K + K_jj 1 1' has the same solutions where sum beta is held, and is of one size
    with the constraint. A variable that depends on those before it is pushed to a bound
    along a direction in which neither K beta nor the sum changes.
    """
    largest = 0.0
    for a in range(n):
        largest = max(largest, K[F[a], F[a]])
    largest = largest if largest > 0.0 else 1.0  # K may be 0
    moved = False
    a = 0
    while a < n:
        i = F[a]
        # one row of the factor, from the rows above it
        for b in range(a):
            s = K[i, F[b]] + largest
            for c in range(b):
                s -= L[a, c] * L[b, c]
            L[a, b] = s / L[b, b]
        d = K[i, i] + largest
        for c in range(a):
            d -= L[a, c] * L[a, c]
        if d > SINGULAR * largest:
            L[a, a] = np.sqrt(d)
            a += 1
            continue
        moved = True
        who = _push_by(K, g, lo, hi, beta, F, a, L, i, largest)
        for b in range(who, n - 1):
            F[b] = F[b + 1]
        n -= 1
        a = who
    return n, moved, largest


@inner
def _push_by(K, g, lo, hi, beta, F, n, L, j, shift):
    x = np.empty(n)
    for a in range(n):
        s = K[F[a], j] + shift
        for b in range(a):
            s -= L[a, b] * x[b]
        x[a] = s / L[a, a]
    for a in range(n - 1, -1, -1):
        x[a] /= L[a, a]
        for b in range(a):
            x[b] -= L[a, b] * x[a]
    rise = g[j]
    for a in range(n):
        rise -= x[a] * g[F[a]]
    sign = 1.0 if rise >= 0.0 else -1.0
    best = hi[j] - beta[j] if sign > 0.0 else beta[j] - lo[j]
    who = n
    for a in range(n):
        d = -sign * x[a]
        i = F[a]
        if abs(d) > 1e-9:
            room = (hi[i] - beta[i]) / d if d > 0.0 else (lo[i] - beta[i]) / d
            if room < best:
                best, who = max(room, 0.0), a
    beta[j] += sign * best
    for a in range(n):
        i = F[a]
        beta[i] = min(max(beta[i] - sign * best * x[a], lo[i]), hi[i])
    i = j if who == n else F[who]
    beta[i] = hi[i] if hi[i] - beta[i] < beta[i] - lo[i] else lo[i]
    return who


@inner
def _inverse(L, n, shift, R, v):
    """R, v of the bordered system from the factor of K~_FF; -> its corner.

    With X = L^-1, made by blocks, the inverse of K~_FF is X'X.
    """
    X = np.zeros((n, n))
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        for a in range(first, last):
            row = X[a]
            row[a] = 1.0
            for c in range(first, a):
                f = L[a, c]
                other = X[c]
                for b in range(first, c + 1):
                    row[b] -= f * other[b]
            f = 1.0 / L[a, a]
            for b in range(first, a + 1):
                row[b] *= f
    size = BLOCK
    while size < n:  # two blocks and what lies below the first make one
        for first in range(0, n - size, 2 * size):
            mid, last = first + size, min(first + 2 * size, n)
            above = np.ascontiguousarray(X[first:mid, first:mid])
            between = np.dot(np.ascontiguousarray(L[mid:last, first:mid]), above)
            below = np.ascontiguousarray(X[mid:last, mid:last])
            X[mid:last, first:mid] = -np.dot(below, between)
        size *= 2
    R[:] = 0.0
    for first in range(0, n, 4 * BLOCK):  # what lies right of these rows is 0
        last = min(first + 4 * BLOCK, n)
        rows = np.ascontiguousarray(X[first:last, :last])
        R[:last, :last] += np.dot(rows.T, rows)
    total = 0.0
    for a in range(n):
        s = 0.0
        for b in range(n):
            s += R[a, b]
        v[a] = s
        total += s
    for a in range(n):
        for b in range(n):
            R[a, b] -= v[a] * v[b] / total
    for a in range(n):
        v[a] /= total
    return shift - 1.0 / total


@inner
def _face(K, s, lo, hi, beta, g, free):
    """The face of these free variables; some may come to a bound on the way."""
    m, n = s.size, free.size
    L = np.empty((n, n))
    n, moved, shift = _factor(K, g, lo, hi, beta, free, n, L)
    if moved:
        _product(K, beta, s, g)
    F, N, at = free[:n], np.empty(m - n, np.int64), np.full(m, -1)
    R, v, K_FN = np.empty((n, n)), np.empty(n), np.empty((n, m - n))
    corner = _inverse(L, n, shift, R, v)
    for a in range(n):
        at[F[a]] = a
    c = 0
    for t in range(m):
        if at[t] < 0:
            N[c] = t
            c += 1
    for a in range(n):
        row, source = K_FN[a], K[F[a]]
        for c in range(m - n):
            row[c] = source[N[c]]
    return Face(F, N, at, R, v, corner, K_FN)


@inner
def _carried(face, u, shift, out):
    """The outputs where beta_F moves by u and every e_N by ``shift``."""
    F, N = face.F, face.N
    e = np.full(N.size, shift)
    for a in range(F.size):
        f, row = u[a], face.K_FN[a]
        for c in range(N.size):
            e[c] -= f * row[c]
    for c in range(N.size):
        out[N[c]] = e[c]
    for a in range(F.size):
        out[F[a]] = u[a]


@inner
def _need(K, face, j, T, slot, used):
    """Column j of T, if it is not there: the response of beta_F and e_N to input j."""
    if slot[j] >= 0:
        return
    out = T[used[0]]
    slot[j] = used[0]
    used[0] += 1
    F, R, v, n = face.F, face.R, face.v, face.F.size
    u = np.empty(n)
    q = face.at[j]
    if q >= 0:  # its input is e_j
        for a in range(n):
            u[a] = -R[a, q]
        _carried(face, u, v[q], out)
        return
    Kj = K[j]
    k = np.empty(n)
    for a in range(n):
        k[a] = Kj[F[a]]
    shift, off = -face.corner, 1.0
    for a in range(n):
        s = -v[a]
        for b in range(n):
            s -= R[a, b] * k[b]
        u[a] = s
        off += s
        shift -= v[a] * k[a]
    for a in range(n):  # the sum stays 0 to the last bit, however rough R is
        u[a] -= off * v[a]
    _carried(face, u, -shift, out)
    for t in face.N:
        out[t] -= Kj[t]


@inner
def _pivots(m):
    """Room for the variables that change their status on a path."""
    most = MOST_PIVOTS + 2
    return Pivots(
        np.empty(most, np.int64), np.empty(most), np.full(m, -1),
        np.empty((most, most)), np.empty((most, most)), np.zeros(1, np.int64),
    )  # fmt: skip


class Pivots(NamedTuple):
    """The variables that changed their status, and the inverse of T among them.

    act: who; w: the value of its input; where: the position of a sample in act, or -1;
    M = T_PP and its inverse; size: how many there are.
    """

    act: Ints
    w: Floats
    where: Ints
    M: Floats
    inverse: Floats
    size: Ints


@inner
def _solved(P, r, x):
    """x = M^-1 r, refined once."""
    n = P.size[0]
    for a in range(n):
        s = 0.0
        for b in range(n):
            s += P.inverse[a, b] * r[b]
        x[a] = s
    for a in range(n):
        s = r[a]
        for b in range(n):
            s -= P.M[a, b] * x[b]
        P.M[n, a] = s
    for a in range(n):
        s = 0.0
        for b in range(n):
            s += P.inverse[a, b] * P.M[n, b]
        x[a] += s


@inner
def _pivot_in(P, T, slot, i, value):
    """i changes its status, its input at ``value``; whether M stays regular."""
    n = P.size[0]
    row, M, inverse = T[slot[i]], P.M, P.inverse
    u, r = np.empty(n), np.empty(n)
    for a in range(n):
        M[a, n] = row[P.act[a]]
        M[n, a] = T[slot[P.act[a]], i]
    M[n, n] = rest = row[i]
    for a in range(n):
        s = q = 0.0
        for b in range(n):
            s += inverse[a, b] * M[b, n]
            q += inverse[b, a] * M[n, b]
        u[a], r[a] = s, q
    for a in range(n):
        rest -= M[n, a] * u[a]
    if not abs(rest) > 1e-14 * max(1.0, abs(M[n, n])):
        return False
    for a in range(n):
        f = u[a] / rest
        for b in range(n):
            inverse[a, b] += f * r[b]
        inverse[a, n] = -f
        inverse[n, a] = -r[a] / rest
    inverse[n, n] = 1.0 / rest
    P.act[n], P.w[n], P.where[i] = i, value, n
    P.size[0] = n + 1
    return True


@inner
def _pivot_out(P, i):
    """i has the status again that it began with; whether M stays regular."""
    a, n = P.where[i], P.size[0] - 1
    M, inverse = P.M, P.inverse
    if a != n:  # the last one takes its place
        for b in range(n + 1):
            M[a, b], M[n, b] = M[n, b], M[a, b]
            inverse[a, b], inverse[n, b] = inverse[n, b], inverse[a, b]
        for b in range(n + 1):
            M[b, a], M[b, n] = M[b, n], M[b, a]
            inverse[b, a], inverse[b, n] = inverse[b, n], inverse[b, a]
        P.act[a], P.w[a] = P.act[n], P.w[n]
        P.where[P.act[a]] = a
    rest = inverse[n, n]
    if not abs(rest) > 1e-14:
        return False
    for b in range(n):
        f = inverse[b, n] / rest
        for c in range(n):
            inverse[b, c] -= f * inverse[n, c]
    P.where[i] = -1
    P.size[0] = n
    return True


@inner
def _respond(P, T, slot, x, d):
    """d += the responses of all outputs to the inputs x of the pivoted."""
    for a in range(P.size[0]):
        f, row = x[a], T[slot[P.act[a]]]
        for j in range(d.size):
            d[j] += f * row[j]


@inner
def _slide(P, at, lo, hi, side, z, i, p):
    """The last free variable comes to its bound: b slides until another is free.

    -> that one, and by how much every e has risen.
    """
    up, least, partner = side[i] > 0, np.inf, -1
    for j in range(z.size):
        if j in (i, p) or lo[j] == hi[j] or side[j] == 0:
            continue
        value = z[j] if P.where[j] < 0 else P.w[P.where[j]]
        if up and side[j] < 0 and -value < least:
            least, partner = -value, j
        elif not up and side[j] > 0 and value < least:
            least, partner = value, j
    rise = max(least, 0.0) if up else -max(least, 0.0)
    if partner >= 0:
        for j in range(z.size):
            if P.where[j] < 0 and at[j] < 0:
                z[j] += rise
        for a in range(P.size[0]):
            if at[P.act[a]] >= 0:
                P.w[a] += rise
    return partner, rise


@inner
def _flat(P, T, slot, at, F, lo, hi, side, z, i, x, d):
    """beta_i moves where nothing bends, until a free variable comes to a bound.

    -> who came, and where beta_i is then. x: the inputs of the pivoted per unit.
    """
    sign = 1.0 if side[i] < 0 else -1.0
    for j in range(d.size):
        d[j] = T[slot[i], j] if P.where[i] < 0 else 0.0
    _respond(P, T, slot, x, d)
    best, who = hi[i] - lo[i], i
    for j in F:
        s = sign * d[j]
        if P.where[j] < 0 and abs(s) > 1e-9:
            room = ((hi[j] if s > 0.0 else lo[j]) - z[j]) / s
            if room < best:
                best, who = max(room, 0.0), j
    for a in range(P.size[0]):
        j, s = P.act[a], sign * x[a]
        if at[j] < 0 and abs(s) > 1e-9:
            room = ((hi[j] if s > 0.0 else lo[j]) - P.w[a]) / s
            if room < best:
                best, who = max(room, 0.0), j
    for j in F:
        if P.where[j] < 0:
            z[j] += best * sign * d[j]
    for a in range(P.size[0]):
        if at[P.act[a]] < 0:
            P.w[a] += best * sign * x[a]
    if who == i:
        side[i] = -side[i]
        return i, 0.0
    value = z[who] if P.where[who] < 0 else P.w[P.where[who]]
    side[who] = 1 if 2.0 * value > lo[who] + hi[who] else -1
    return who, (lo[i] if sign > 0.0 else hi[i]) + sign * best


@inner
def _bend(P, T, slot, i, r, x):
    """The curvature along beta_i, all free ones following; x: the pivoted inputs."""
    n = P.size[0]
    for a in range(n):
        r[a] = -T[slot[i], P.act[a]] if P.where[i] < 0 else 0.0
    if P.where[i] >= 0:
        r[P.where[i]] = 1.0
    _solved(P, r, x)
    if P.where[i] >= 0:
        return -x[P.where[i]]
    bend = -T[slot[i], i]
    for a in range(n):
        bend -= x[a] * T[slot[P.act[a]], i]
    return bend


@inner
def _free(P, T, slot, side, z, i, value):
    """i is free from now on, at ``value``."""
    side[i] = 0
    if P.where[i] < 0:
        z[i] = 0.0
        return _pivot_in(P, T, slot, i, value)
    z[i] = value
    return _pivot_out(P, i)


@inner
def _hold(P, T, slot, lo, hi, side, z, i, e):
    """i is held at the bound of its side from now on, with this e."""
    if P.where[i] < 0:
        z[i] = hi[i] if side[i] > 0 else lo[i]
        return _pivot_in(P, T, slot, i, e)
    z[i] = e
    return _pivot_out(P, i)


@inner
def _next(P, at, lo, hi, side, z, d, x, p, room, still):
    """Who comes first to a bound, or to e = 0; -> who, when, whether it leaves."""
    theta, turn, leaves = room, -1, False
    for j in range(z.size):
        s = d[j]
        if P.where[j] >= 0 or j == p:
            continue
        if at[j] >= 0:
            if abs(s) <= still:
                continue
            r = ((hi[j] if s > 0.0 else lo[j]) - z[j]) / s
        elif s * side[j] < -STILL and lo[j] < hi[j]:
            r = -z[j] / s
        else:
            continue
        if r < theta:
            theta, turn, leaves = r, j, at[j] >= 0
    for a in range(P.size[0]):
        j, s = P.act[a], x[a]
        if j == p:
            continue
        if at[j] < 0:
            if abs(s) <= still:
                continue
            r = ((hi[j] if s > 0.0 else lo[j]) - P.w[a]) / s
        elif s * side[j] < -STILL:
            r = -P.w[a] / s
        else:
            continue
        if r < theta:
            theta, turn, leaves = r, j, at[j] < 0
    return turn, max(theta, 0.0), leaves


@inner
def _follow(K, lo, hi, face, T, slot, used, side, z, D, p, start, P):
    """From an optimum to the optimum at the end of the path; -> how it ended, corners.

    z: beta of the free F, e of the others (m,); side: 1 at hi, -1 at lo, 0 free;
    D: what the outputs change over the whole path before any pivot; p: the sample that
    is left out, or -1, and ``start`` its beta, if it is one of F. Columns of T are made
    as they are needed: slot[j] is that of j, or -1; used[0] the number of those made.
    At the end beta of all stands in D, and e in z.
    """
    F, at, m = face.F, face.at, K.shape[0]
    d, x, r = np.empty(m), np.empty(MOST_PIVOTS + 2), np.empty(MOST_PIVOTS + 2)
    P.where[:] = -1
    P.size[0] = 0
    free, still, t, corners, ended = F.size, 0.0, 0.0, 0, LONG
    for j in F:
        still = max(still, STILL * abs(z[j]))
    if p >= 0 and at[p] >= 0:
        free -= 1
        if not _pivot_in(P, T, slot, p, 0.0):
            return BAD, 0
    while corners < MOST_CORNERS:
        for a in range(P.size[0]):
            r[a] = -D[P.act[a]] - (start if P.act[a] == p else 0.0)
        _solved(P, r, x)
        for j in range(m):
            d[j] = D[j]
        _respond(P, T, slot, x, d)
        i, theta, leaves = _next(P, at, lo, hi, side, z, d, x, p, 1.0 - t, still)
        for j in range(m):
            z[j] += theta * d[j]
        for a in range(P.size[0]):
            P.w[a] += theta * x[a]
        t += theta
        if i < 0:
            ended = OK
            break
        corners += 1
        if P.size[0] + 2 > MOST_PIVOTS or used[0] + 2 > T.shape[0]:
            break
        good = True
        _need(K, face, i, T, slot, used)
        if leaves:
            slope = d[i] if P.where[i] < 0 else x[P.where[i]]
            side[i] = 1 if slope > 0.0 else -1
            e = 0.0
            if free == 1:
                other, e = _slide(P, at, lo, hi, side, z, i, p)
                if other < 0:
                    return BAD, corners
                _need(K, face, other, T, slot, used)
                value = hi[other] if side[other] > 0 else lo[other]
                good = _free(P, T, slot, side, z, other, value)
                free += 1
            good = good and _hold(P, T, slot, lo, hi, side, z, i, e)
            free -= 1
        elif _bend(P, T, slot, i, r, x) > NO_BEND * K[i, i]:
            good = _free(P, T, slot, side, z, i, hi[i] if side[i] > 0 else lo[i])
            free += 1
        else:
            who, value = _flat(P, T, slot, at, F, lo, hi, side, z, i, x, d)
            if who != i:
                _need(K, face, who, T, slot, used)
                good = _hold(P, T, slot, lo, hi, side, z, who, 0.0)
                good = good and _free(P, T, slot, side, z, i, value)
        if not good:
            return BAD, corners
    for j in range(m):
        a, bound = P.where[j], hi[j] if side[j] > 0 else lo[j]
        if at[j] >= 0:
            D[j] = z[j] if a < 0 else bound
            z[j] = 0.0 if a < 0 else P.w[a]
        else:
            D[j] = bound if a < 0 else P.w[a]
    if p >= 0:
        D[p] = 0.0
    return ended, corners


@inner
def _product(K, beta, s, g):
    """g = s - K beta."""
    m = s.size
    for t in range(m):
        g[t] = s[t]
    for j in range(m):
        f = beta[j]
        if f != 0.0:
            row = K[j]
            for t in range(m):
                g[t] -= f * row[t]


@inner
def _interval(lo, hi, beta, g, p):
    """b lies in [low, high]: beta < hi asks for b >= g, beta > lo for b <= g."""
    low, high = -np.inf, np.inf
    for t in range(g.size):
        if t == p or lo[t] == hi[t]:
            continue
        if beta[t] < hi[t]:
            low = max(low, g[t])
        if beta[t] > lo[t]:
            high = min(high, g[t])
    return low, high


@inner
def _snap(lo, hi, beta, residue):
    """To its bound what rounding has left beside it: it would tie b, and must not.

    -> whether something moved.
    """
    largest, moved = 0.0, False
    for f in beta:
        largest = max(largest, abs(f))
    for t in range(beta.size):
        near = residue * min(hi[t] - lo[t], largest)
        if beta[t] - lo[t] <= near:
            moved = moved or beta[t] != lo[t]
            beta[t] = lo[t]
        elif hi[t] - beta[t] <= near:
            moved = moved or beta[t] != hi[t]
            beta[t] = hi[t]
    return moved


@inner
def _excess(beta):
    """sum beta; 0 where that is rounding."""
    total = size = 0.0
    for f in beta:
        total += f
        size += abs(f)
    return total if abs(total) > 1e-12 * size else 0.0


@inner
def _optimum(K, s, lo, hi, beta, g):
    """beta to the optimum from a feasible start, g = s - K beta; -> steps, corners."""
    m = s.size
    eps = SMO_FIRST
    steps = corners = 0
    free = np.empty(m, np.int64)
    side = np.empty(m, np.int64)
    z, D = np.empty(m), np.empty(m)
    slot = np.empty(m, np.int64)
    used, P = np.zeros(1, np.int64), _pivots(m)
    best, vain = np.inf, 0
    for _ in range(MOST_FACTORS):
        steps += _pair_steps(K, lo, hi, beta, g, eps, 100 * m + 10000)
        if _snap(lo, hi, beta, RESIDUE):
            _product(K, beta, s, g)
        low, high = _interval(lo, hi, beta, g, -1)
        excess, size = _excess(beta), 0.0
        for t in range(m):
            size = max(size, abs(beta[t]))
        if low - high <= DONE and excess == 0.0:
            break
        if low - high < 1e-6 and abs(excess) < 1e-9 * size:  # it may be rounding
            vain = 0 if low - high < 0.5 * best else vain + 1
            best = min(best, low - high)
            if vain > 2:
                break
        if abs(excess) > 1e-6 * size:  # a path that lost its way: back to pair steps
            _rebalance(lo, hi, beta)
            _product(K, beta, s, g)
            eps *= SMO_FACTOR
            continue
        eps *= SMO_FACTOR
        total, count = 0.0, 0
        for t in range(m):
            if lo[t] < beta[t] < hi[t]:
                total += g[t]
                count += 1
        b = total / count if count else 0.5 * (low + high)
        b = min(max(b, high), low)
        n = 0
        for t in range(m):
            e = g[t] - b
            wrong = (e > DONE and beta[t] < hi[t]) or (e < -DONE and beta[t] > lo[t])
            if lo[t] < hi[t] and (wrong or lo[t] < beta[t] < hi[t]):
                free[n] = t
                n += 1
        face = _face(K, s, lo, hi, beta, g, free[:n])
        F, at, R, v = face.F, face.at, face.R, face.v
        n = F.size
        # the path of the labels: e of the start is 0 where a condition is broken
        rest = np.empty(n)
        for a in range(n):
            rest[a] = g[F[a]] - b
        # and its sum, as far as rounding has let it go, comes back to 0
        tilt, off = -face.corner * excess, excess
        moves = np.empty(n)
        for a in range(n):
            f = -v[a] * excess
            for c in range(n):
                f += R[a, c] * rest[c]
            moves[a] = f
            off += f
            tilt += v[a] * rest[a]
        for a in range(n):
            moves[a] -= off * v[a]
        _carried(face, moves, -tilt, D)
        for t in range(m):
            slot[t] = -1
            side[t] = 0 if at[t] >= 0 else (1 if beta[t] >= hi[t] else -1)
            e = g[t] - b
            z[t] = beta[t] if at[t] >= 0 else e
            if e * side[t] < 0.0:
                z[t] = 0.0
                D[t] += e
        used[0] = 0
        T = np.empty((3 * MOST_PIVOTS, m))
        ended, made = _follow(K, lo, hi, face, T, slot, used, side, z, D, -1, 0.0, P)
        corners += made + 1
        total = 0.0
        for t in range(m):
            total += D[t]
        # rounding: pair steps go on from where they were
        if ended == BAD or not np.isfinite(total):
            continue
        for t in range(m):
            beta[t] = min(max(D[t], lo[t]), hi[t])
        _snap(lo, hi, beta, RESIDUE)
        _product(K, beta, s, g)
    return steps, corners


@inner
def _rebalance(lo, hi, beta):
    """Move some beta so that they add up to 0."""
    left = 0.0
    for f in beta:
        left -= f
    for t in range(beta.size):
        room = hi[t] - beta[t] if left > 0.0 else lo[t] - beta[t]
        step = min(left, room) if left > 0.0 else max(left, room)
        beta[t] += step
        left -= step
        if left == 0.0:
            break


@inner
def _retrained(K, s, lo, hi, beta, p):
    """The machine without p, trained from the full one; -> e_p, corners, beta."""
    low_p, high_p = lo[p], hi[p]
    lo[p] = hi[p] = 0.0
    x, g = beta.copy(), np.empty(s.size)
    x[p] = 0.0
    _rebalance(lo, hi, x)
    _product(K, x, s, g)
    _, corners = _optimum(K, s, lo, hi, x, g)
    low, high = _interval(lo, hi, x, g, p)
    lo[p], hi[p] = low_p, high_p
    return g[p] - 0.5 * (low + high), corners, x


@inner
def _tightness(K, face):
    """How far R and v are from the inverse: the residual for one right-hand side."""
    n = face.F.size
    r, x, shift, off = np.empty(n), np.empty(n), 0.0, 0.0
    for a in range(n):
        r[a] = 1.0 + ((a * 7919) % 13) / 13.0
    for a in range(n):
        s = 0.0
        for c in range(n):
            s += face.R[a, c] * r[c]
        x[a] = s
        off += s
        shift += face.v[a] * r[a]
    worst = abs(off)
    for a in range(n):
        row = K[face.F[a]]
        s = shift
        for c in range(n):
            s += row[face.F[c]] * x[c]
        worst = max(worst, abs(s - r[a]))
    return worst


@inner
def _columns_of(K, face, samples, T, slot):
    """The columns of T of all these samples, by one product."""
    F, N, R, v = face.F, face.N, face.R, face.v
    n, size = F.size, samples.size
    W, offset, bounded = np.empty((size, n)), np.empty(size), False
    slot[:] = -1
    for k in range(size):
        p = samples[k]
        slot[p] = k
        if face.at[p] < 0:
            bounded = True
            for a in range(n):
                W[k, a] = K[p, F[a]]
        else:
            for a in range(n):
                W[k, a] = R[face.at[p], a]
    turned = np.dot(W, R) if bounded else W
    for k in range(size):
        p = samples[k]
        if face.at[p] >= 0:
            offset[k] = v[face.at[p]]
            continue
        off, h = 1.0, face.corner
        for a in range(n):
            h += v[a] * W[k, a]
        for a in range(n):
            W[k, a] = turned[k, a] + v[a]
            off -= W[k, a]
        for a in range(n):
            W[k, a] += off * v[a]
        offset[k] = h
    e = np.dot(W, face.K_FN)
    for k in range(size):
        p, row = samples[k], T[k]
        for c in range(N.size):
            row[N[c]] = e[k, c] + offset[k]
        if face.at[p] < 0:
            for t in N:
                row[t] -= K[p, t]
        for a in range(n):
            row[F[a]] = -W[k, a]


@inner
def _told(lo, hi, beta, z, p):
    """By how much b moves to the centre of its interval, and whether some beta is at C.

    z: e of the others; 0 where a free variable holds b.
    """
    low, high, tied, top = -np.inf, np.inf, False, False
    for t in range(beta.size):
        if t == p or lo[t] == hi[t]:
            continue
        if lo[t] < beta[t] < hi[t]:
            tied = True
        elif beta[t] != 0.0:
            top = True
        if beta[t] < hi[t]:
            low = max(low, z[t])
        if beta[t] > lo[t]:
            high = min(high, z[t])
    return 0.0 if tied else 0.5 * (low + high), top


@inner
def _all_paths(K, s, lo, hi, beta, g, asked, back, home, out, road, exchanges, at_top):
    """Each sample of ``asked`` left out along its path; -> those it was too long for.

    beta is the optimum of all samples, or of all but ``back`` (-1: none is missing),
    whose box opens again on the way; where it was at C (``home``), it goes there.
    """
    m = s.size
    low_back, high_back = lo[max(back, 0)], hi[max(back, 0)]
    low, high = _interval(lo, hi, beta, g, back)
    free, n, b = np.empty(m, np.int64), 0, 0.5 * (low + high)
    for t in range(m):
        if lo[t] < beta[t] < hi[t]:
            free[n] = t
            n += 1
    if n == 0:  # the one that holds an end of the interval of b is taken for free
        for t in range(m):
            if t != back and beta[t] < hi[t] and g[t] == low and lo[t] < hi[t]:
                free[0], n, b = t, 1, low
                break
    face = _face(K, s, lo, hi, beta, g, free[:n])
    at, rough = face.at, _tightness(K, face)
    few = m <= SPARE
    chunk = asked.size if few else min(CHUNK, asked.size)
    T = np.empty(((m if few else chunk + CHUNK) + MOST_PIVOTS + 3, m))
    slot, side = np.empty(m, np.int64), np.empty(m, np.int64)
    used = np.zeros(1, np.int64)
    z, x = np.empty(m), np.empty(m)
    failed, P = np.empty(asked.size, np.int64), _pivots(m)
    lost = 0
    for first in range(0, asked.size, chunk):
        samples = asked[first : first + chunk]
        _columns_of(K, face, samples, T, slot)
        used[0] = samples.size
        for k in range(samples.size):
            p = samples[k]
            if used[0] + MOST_PIVOTS + 3 > T.shape[0]:
                for t in range(m):
                    if slot[t] >= samples.size:
                        slot[t] = -1
                used[0] = samples.size
            row, tied = T[k], at[p] >= 0
            for t in range(m):
                side[t] = 0 if at[t] >= 0 else (1 if beta[t] >= hi[t] else -1)
                z[t] = beta[t] if at[t] >= 0 else g[t] - b
                x[t] = 0.0 if tied else -beta[p] * row[t]
            if home != 0.0:  # it comes back as p leaves, and the sum stays as it is
                _need(K, face, back, T, slot, used)
                row = T[slot[back]]
                for t in range(m):
                    x[t] += home * row[t]
                lo[back] = hi[back] = home
            elif back >= 0 and side[back] * z[back] < 0.0:
                x[back] += z[back]  # its condition is broken: it comes back by a path
                z[back] = 0.0
            ended, corners = _follow(
                K, lo, hi, face, T, slot, used, side, z, x, p, beta[p], P
            )
            exchanges[p] += corners
            if home != 0.0:
                lo[back], hi[back] = low_back, high_back
                if home * z[back] < -STILL:
                    ended = BAD
            if ended != OK:
                failed[lost] = p
                lost += 1
                continue
            x[p] = 0.0
            _snap(lo, hi, x, PATH_RESIDUE)
            slide, at_top[p] = _told(lo, hi, x, z, p)
            e_p, sure = z[p] - slide, True
            if rough > ROUGH or abs(s[p] - e_p) < CLEAR:
                e_p, sure = _checked(K, s, lo, hi, x, p)
            if not sure:
                failed[lost] = p
                lost += 1
                continue
            out[p] = s[p] - e_p
            if corners and road[p] == PREDICTED:
                road[p] = REPAIRED
    return failed[:lost]


@inner
def _leave_out(K, s, lo, hi, beta0, g0, only, out, road, exchanges, at_top):
    """f(x_p) of the machine without p, for each p of ``only``.

    road: as in ``left_out``; exchanges: corners of the path; at_top: whether the
    machine without p has a variable at C.

    Where too many variables change their status at once, they are mostly the same for
    many samples: one of these is trained without, and the others go on from there.
    """
    m = s.size
    beta, g = beta0.copy(), g0.copy()
    low, high = _interval(lo, hi, beta, g, -1)
    ones, tied, top, total = 0, 0, False, 0.0
    for t in range(m):
        ones += s[t] > 0.0
        if lo[t] < beta[t] < hi[t]:
            tied += 1
            total += g[t]
        elif beta[t] != 0.0:
            top = True
    b = total / tied if tied else 0.5 * (low + high)
    asked, count = np.empty(m, np.int64), 0
    for p in range(m):
        out[p], exchanges[p], at_top[p] = s[p] - g[p] + b, 0, top
        if (ones if s[p] > 0.0 else m - ones) == 1:
            road[p] = SINGLE
            out[p] = -s[p] * np.inf
        elif beta[p] == 0.0:
            road[p] = NOT_A_SV
            if not tied and (g[p] <= low or g[p] >= high):
                low_p, high_p = _interval(lo, hi, beta, g, p)
                out[p] = s[p] - g[p] + 0.5 * (low_p + high_p)
        else:
            road[p] = BY_TRAINING if s[p] * out[p] <= 0.0 else PREDICTED
            if only[p]:
                asked[count] = p
                count += 1
    left, back, home, tries = asked[:count], -1, 0.0, 0
    while left.size:
        before = left.size
        if tries < MOST_BASES:
            left = _all_paths(
                K, s, lo, hi, beta, g, left, back, home, out, road, exchanges, at_top
            )
            tries = tries + 1 if 2 * left.size > before else tries
        if left.size == 0:
            return
        p = left[0]
        e_p, more, beta = _retrained(K, s, lo, hi, beta0, p)
        out[p] = s[p] - e_p
        exchanges[p] += more
        road[p] = RETRAINED if road[p] != BY_TRAINING else road[p]
        _product(K, beta, s, g)
        at_top[p] = _told(lo, hi, beta, g, p)[1]
        back, left = p, left[1:]
        home = 0.0 if lo[p] < beta0[p] < hi[p] else beta0[p]


@inner
def _checked(K, s, lo, hi, x, p):
    """e_p from K itself, and whether x is optimal by it."""
    g = np.empty(s.size)
    _product(K, x, s, g)
    low, high = _interval(lo, hi, x, g, p)
    total = size = 0.0
    for f in x:
        total += f
        size += abs(f)
    good = low - high <= TRUE and abs(total) <= TRUE * size
    return g[p] - 0.5 * (low + high), good


@inner
def _part(K, rows, ones, ridge, whole, box, A, first, second, lo, hi, s, beta):
    """K of the rows, the first ``ones`` of the class +1; their box, and beta from A."""
    n = rows.size
    for t in range(n):
        s[t] = 1.0 if t < ones else -1.0
        lo[t] = 0.0 if t < ones else -box[rows[t]]
        hi[t] = box[rows[t]] if t < ones else 0.0
        beta[t] = A[rows[t], first] if t < ones else -A[rows[t], second]
    if whole:
        return K
    block = np.empty((n, n))
    for i in range(n):
        source, row = K[rows[i]], block[i]
        for j in range(n):
            row[j] = source[rows[j]]
        row[i] += ridge[rows[i]]
    return block


@inner
def _certify(K, s, lo, hi, beta, g, b, stats):
    """What the part certifies of itself, in its own scale (``stats``)."""
    low, high = _interval(lo, hi, beta, g, -1)
    total = square = slack = paid = worst = 0.0
    free = top = 0.0
    small = 0.0
    for t in range(s.size):
        e = g[t] - b
        total += abs(beta[t])
        square += beta[t] * (s[t] - g[t])
        xi = s[t] * e
        slack += max(xi, 0.0)
        paid += (hi[t] - lo[t]) * max(xi, 0.0)
        if 0.0 < xi < 1e-6:
            small = max(small, xi)
        room = hi[t] - beta[t] if e > 0.0 else beta[t] - lo[t]
        worst = max(worst, min(abs(e), max(room, 0.0)))
        if lo[t] < beta[t] < hi[t]:
            free += 1.0
        elif beta[t] != 0.0:
            top += 1.0
    stretch = (1.0 + 1e-15) / (1.0 - small)
    stretched = 0.0
    for t in range(s.size):
        xi = max(0.0, 1.0 - stretch * (1.0 - s[t] * (g[t] - b)))
        stretched += (hi[t] - lo[t]) * xi
    dual = total - 0.5 * square
    primal = min(0.5 * square + paid, 0.5 * stretch**2 * square + stretched)
    stats[SUM], stats[SQUARE], stats[SLACK], stats[KKT] = total, square, slack, worst
    stats[BIAS], stats[WIDTH], stats[FREE], stats[TOP] = b, low - high, free, top
    stats[WIDTH] = high - low
    # half of both objectives is what the machine of two outputs has
    stats[GAP] = 0.5 * (primal - dual) / max(1.0, 0.5 * abs(dual))


@kernel
def train_parts(
    K, rows, starts, ones, columns, box, ridge, whole, scaled, A, f, stats, begin, end
):
    """The parts ``begin`` to ``end``, from A to their optimum.

    The samples of part t are rows[starts[t] : starts[t + 1]], the first ones[t] of them
    of its first class; A[i, columns[t, 0]] is the alpha of those, A[i, columns[t, 1]]
    that of the others, and f their decisions towards the first class. K is of all
    samples or (``whole``) of the only part, with its ridge. ``scaled``: A times it is
    the start.
    """
    for t in range(begin, end):
        own = rows[starts[t] : starts[t + 1]]
        first, second, n = columns[t, 0], columns[t, 1], own.size
        s, lo, hi = np.empty(n), np.empty(n), np.empty(n)
        beta, g = np.empty(n), np.empty(n)
        block = _part(
            K, own, ones[t], ridge, whole, box, A, first, second, lo, hi, s, beta
        )
        for i in range(n):
            beta[i] = min(max(beta[i] * scaled, lo[i]), hi[i])
        _product(block, beta, s, g)
        steps, corners = _optimum(block, s, lo, hi, beta, g)
        low, high = _interval(lo, hi, beta, g, -1)
        b = 0.5 * (low + high)
        _certify(block, s, lo, hi, beta, g, b, stats[t])
        stats[t, STEPS], stats[t, CORNERS] = steps, corners
        for i in range(n):
            k = first if i < ones[t] else second
            A[own[i], k] = abs(beta[i])
            f[own[i], k] = s[i] - g[i] + b


@kernel
def leave_out_parts(
    K,
    rows,
    starts,
    ones,
    columns,
    box,
    ridge,
    whole,
    A,
    only,
    f,
    road,
    exchanges,
    top,
    begin,
    end,
):
    """Each sample of ``only`` left out of its parts: f[i, k], towards the first."""
    for t in range(begin, end):
        own = rows[starts[t] : starts[t + 1]]
        first, second, n = columns[t, 0], columns[t, 1], own.size
        some, wanted = np.empty(n, np.bool_), 0
        for i in range(n):
            some[i] = only[own[i]]
            wanted += some[i]
        if wanted == 0:
            continue
        s, lo, hi = np.empty(n), np.empty(n), np.empty(n)
        beta, g = np.empty(n), np.empty(n)
        block = _part(
            K, own, ones[t], ridge, whole, box, A, first, second, lo, hi, s, beta
        )
        _product(block, beta, s, g)
        out, at_top = np.empty(n), np.empty(n, np.bool_)
        how, made = np.empty(n, np.int64), np.empty(n, np.int64)
        _leave_out(block, s, lo, hi, beta, g, some, out, how, made, at_top)
        for i in range(n):
            k = first if i < ones[t] else second
            f[own[i], k] = out[i]
            road[own[i], k], exchanges[own[i], k] = how[i], made[i]
            top[own[i], k] = at_top[i]
