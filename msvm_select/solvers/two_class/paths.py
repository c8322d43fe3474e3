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

import numpy as np
from numba import njit

from msvm_select.solvers.compiled import INNER, kernel

# Sums may be taken in another order than they are written: that makes them fast.
inner = njit(**INNER, fastmath={"reassoc", "contract"})

MOST_PIVOTS = 64  # variables that change their status on one factor
MOST_CORNERS = 400  # of one path
MOST_FACTORS = 60  # factors of one training
SMO_FIRST, SMO_FACTOR = 0.1, 0.1  # violation at which pair steps stop; finer each time
SINGULAR = 1e-13  # of the largest K_ii: a pivot below it is rounding
NO_BEND = 1e-11  # of K_ii: a curvature below it is none
DONE = 1e-11  # violation that counts as rounding
CHUNK = 256  # samples whose columns are made at once
RESIDUE = 1e-10  # of a variable's range, or of the largest: so near to a bound is at it
ROUGH = 1e-9  # residual of the inverse beyond which every answer is checked by K
TRUE = 1e-8  # violation up to which an answer so checked stands
CLEAR = 1e-6  # a decision below it is trained again
STILL = 1e-11  # a change of e over a whole path that is rounding
OK, LONG, BAD = 0, 1, 2  # how a path ended
SUM, SQUARE, SLACK, KKT, STEPS, CORNERS, BIAS, WIDTH, FREE, TOP, GAP, N_STATS = range(
    12
)
NOT_A_SV, BY_TRAINING, PREDICTED, REPAIRED, RETRAINED, SINGLE = range(6)


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
    """R, v of the bordered system from the factor of K~_FF."""
    X = np.zeros((n, n))
    for a in range(n):
        row = X[a]
        row[a] = 1.0
        for c in range(a):
            f = L[a, c]
            other = X[c]
            for b in range(c + 1):
                row[b] -= f * other[b]
        f = 1.0 / L[a, a]
        for b in range(a + 1):
            row[b] *= f
    inverse = np.dot(X.T, X)
    total = 0.0
    for a in range(n):
        s = 0.0
        for b in range(n):
            s += inverse[a, b]
        v[a] = s
        total += s
    for a in range(n):
        for b in range(n):
            R[a, b] = inverse[a, b] - v[a] * v[b] / total
    for a in range(n):
        v[a] /= total
    return shift - 1.0 / total


@inner
def _solve(M, x, n):
    """x <- M^-1 x by elimination with row exchanges; whether M was regular."""
    for c in range(n):
        at, best = c, abs(M[c, c])
        for i in range(c + 1, n):
            if abs(M[i, c]) > best:
                at, best = i, abs(M[i, c])
        if best <= 1e-14:
            return False
        if at != c:
            for j in range(c, n):
                M[c, j], M[at, j] = M[at, j], M[c, j]
            x[c], x[at] = x[at], x[c]
        for i in range(c + 1, n):
            f = M[i, c] / M[c, c]
            if f != 0.0:
                for j in range(c + 1, n):
                    M[i, j] -= f * M[c, j]
                x[i] -= f * x[c]
    for c in range(n - 1, -1, -1):
        s = x[c]
        for j in range(c + 1, n):
            s -= M[c, j] * x[j]
        x[c] = s / M[c, c]
    return True


@inner
def _column(K, F, nF, at, R, v, corner, j, out):
    """Column j of T: the response of beta_F and e_N to input j."""
    m = K.shape[0]
    if at[j] >= 0:  # its input is e_j
        q = at[j]
        for t in range(m):
            out[t] = v[q]
        for a in range(nF):
            f = R[a, q]
            row = K[F[a]]
            for t in range(m):
                out[t] += f * row[t]
        for a in range(nF):
            out[F[a]] = -R[a, q]
        return
    Kj = K[j]
    u = np.empty(nF)
    shift, off = -corner, 1.0
    for a in range(nF):
        s = -v[a]
        row = R[a]
        for b in range(nF):
            s -= row[b] * Kj[F[b]]
        u[a] = s
        off += s
        shift -= v[a] * Kj[F[a]]
    for a in range(nF):  # the sum stays 0 to the last bit, however rough R is
        u[a] -= off * v[a]
    for t in range(m):
        out[t] = -Kj[t] - shift
    for a in range(nF):
        f = u[a]
        row = K[F[a]]
        for t in range(m):
            out[t] -= f * row[t]
    for a in range(nF):
        out[F[a]] = u[a]


@inner
def _follow(
    K,
    lo,
    hi,
    F,
    nF,
    at,
    R,
    v,
    corner,
    T,
    slot,
    used,
    side,
    z,
    D,
    p,
    start,
):
    """From an optimum to the optimum at the end of the path; -> how it ended, corners.

    z: beta of the free F, e of the others (m,); side: 1 at hi, -1 at lo, 0 free;
    D: what the outputs change over the whole path before any pivot; p: the sample that
    is left out, or -1, and ``start`` its beta, if it is one of F. Columns of T are made
    as they are needed: slot[j] is that of j, or -1; used[0] the number of those made.
    At the end beta and e of all stand in ``beta`` and ``e``.
    """
    m = K.shape[0]
    act = np.empty(MOST_PIVOTS + 2, np.int64)
    w = np.empty(MOST_PIVOTS + 2)
    c = np.empty(MOST_PIVOTS + 2)
    x = np.empty(MOST_PIVOTS + 2)
    M = np.empty((MOST_PIVOTS + 2, MOST_PIVOTS + 2))
    where = np.full(m, -1)
    d = np.empty(m)
    nA = 0
    free = nF
    if p >= 0 and at[p] >= 0:
        act[0], w[0], where[p] = p, 0.0, 0
        nA, free = 1, nF - 1
    still = 0.0  # of beta
    for a in range(nF):
        still = max(still, abs(z[F[a]]))
    still *= STILL
    t = 0.0
    corners = 0
    ended = LONG
    turn = -1  # who changes its status next
    leaves = False
    while corners < MOST_CORNERS:
        # who changes its status, first: it may need a partner
        partner = -1
        if turn >= 0:
            corners += 1
            i = turn
            if leaves:
                if free == 1:  # the last that holds b: b slides until another does
                    up = side[i] > 0
                    slide = np.inf
                    for j in range(m):
                        if j in (i, p) or lo[j] == hi[j]:
                            continue
                        value = z[j] if where[j] < 0 else w[where[j]]
                        if up and side[j] < 0 and -value < slide:
                            slide, partner = -value, j
                        elif not up and side[j] > 0 and value < slide:
                            slide, partner = value, j
                    if partner < 0:
                        ended = BAD
                        break
                    slide = max(slide, 0.0) if up else -max(slide, 0.0)
                    for j in range(m):
                        if where[j] < 0 and at[j] < 0:
                            z[j] += slide
                    for a in range(nA):
                        if at[act[a]] >= 0:
                            w[a] += slide
                    enters, exits, left_at = partner, i, slide
                else:
                    enters, exits, left_at = -1, i, 0.0
            else:
                # the curvature along beta_i, all others that are free following
                if where[i] < 0:
                    if slot[i] < 0:
                        if used[0] >= T.shape[0]:
                            break
                        _column(K, F, nF, at, R, v, corner, i, T[used[0]])
                        slot[i] = used[0]
                        used[0] += 1
                    Ti = T[slot[i]]
                    for a in range(nA):
                        x[a] = -Ti[act[a]]
                else:
                    for a in range(nA):
                        x[a] = 0.0
                    x[where[i]] = 1.0
                for a in range(nA):
                    for b in range(nA):
                        M[a, b] = T[slot[act[b]], act[a]]
                if nA and not _solve(M, x, nA):
                    ended = BAD
                    break
                if where[i] < 0:
                    bend = -Ti[i]
                    for a in range(nA):
                        bend -= x[a] * T[slot[act[a]], i]
                else:
                    bend = -x[where[i]]
                enters, exits, left_at = i, -1, 0.0
                if bend <= NO_BEND * K[i, i]:
                    # nothing bends: move until another free variable comes to a bound
                    sign = 1.0 if side[i] < 0 else -1.0
                    for j in range(m):
                        d[j] = Ti[j] if where[i] < 0 else 0.0
                    for a in range(nA):
                        f = x[a]
                        row = T[slot[act[a]]]
                        for j in range(m):
                            d[j] += f * row[j]
                    best, who = hi[i] - lo[i], i
                    for a in range(nF):
                        j = F[a]
                        if where[j] < 0 and abs(d[j]) > 1e-9:
                            s = sign * d[j]
                            room = ((hi[j] if s > 0.0 else lo[j]) - z[j]) / s
                            if room < best:
                                best, who = max(room, 0.0), j
                    for a in range(nA):
                        j = act[a]
                        if at[j] < 0 and abs(x[a]) > 1e-9:
                            s = sign * x[a]
                            room = ((hi[j] if s > 0.0 else lo[j]) - w[a]) / s
                            if room < best:
                                best, who = max(room, 0.0), j
                    for a in range(nF):
                        j = F[a]
                        if where[j] < 0:
                            z[j] += best * sign * d[j]
                    for a in range(nA):
                        if at[act[a]] < 0:
                            w[a] += best * sign * x[a]
                    if who == i:
                        side[i] = -side[i]
                        enters = -1
                    else:
                        exits = who
                        value = z[who] if where[who] < 0 else w[where[who]]
                        middle = 0.5 * (lo[who] + hi[who])
                        side[who] = 1 if value > middle else -1
                        # i goes on from where it is now
                        begin = lo[i] if side[i] < 0 else hi[i]
                        x[0] = begin + sign * best
            # carry the exchange out
            if enters >= 0:
                i = enters
                value = hi[i] if side[i] > 0 else lo[i]
                if exits >= 0 and partner < 0:
                    value = x[0]
                side[i] = 0
                free += 1
                if where[i] < 0:  # one of N is freed
                    if nA >= MOST_PIVOTS:
                        break
                    act[nA], w[nA], where[i] = i, value, nA
                    z[i] = 0.0
                    nA += 1
                else:  # one of F comes back
                    a = where[i]
                    nA -= 1
                    act[a], w[a] = act[nA], w[nA]
                    where[act[a]] = a
                    where[i] = -1
                    z[i] = value
            if exits >= 0:
                i = exits
                free -= 1
                if where[i] < 0:  # one of F is held at its bound
                    if nA >= MOST_PIVOTS:
                        break
                    act[nA], w[nA], where[i] = i, left_at, nA
                    z[i] = hi[i] if side[i] > 0 else lo[i]
                    nA += 1
                else:
                    a = where[i]
                    nA -= 1
                    act[a], w[a] = act[nA], w[nA]
                    where[act[a]] = a
                    where[i] = -1
                    z[i] = left_at
            for i in (enters, exits):
                if i >= 0 and slot[i] < 0 and where[i] >= 0:
                    if used[0] >= T.shape[0]:
                        break
                    _column(K, F, nF, at, R, v, corner, i, T[used[0]])
                    slot[i] = used[0]
                    used[0] += 1
            if used[0] >= T.shape[0]:
                break
        # the direction from here to the end
        for a in range(nA):
            i = act[a]
            c[a] = -D[i]
            for b in range(nA):
                M[a, b] = T[slot[act[b]], i]
        if p >= 0 and at[p] >= 0:
            c[0] -= start  # p is the first pivoted one, and stays the first
        if nA and not _solve(M, c, nA):
            ended = BAD
            break
        for j in range(m):
            d[j] = D[j]
        for a in range(nA):
            f = c[a]
            row = T[slot[act[a]]]
            for j in range(m):
                d[j] += f * row[j]
        # how far
        theta, turn = 1.0 - t, -1
        for j in range(m):
            if where[j] >= 0 or j == p:
                continue
            s = d[j]
            if at[j] >= 0:
                if s > still:
                    r = (hi[j] - z[j]) / s
                elif s < -still:
                    r = (lo[j] - z[j]) / s
                else:
                    continue
            elif (side[j] > 0 and s < -STILL) or (side[j] < 0 and s > STILL):
                if lo[j] == hi[j]:
                    continue
                r = -z[j] / s
            else:
                continue
            if r < theta:
                theta, turn, leaves = r, j, at[j] >= 0
        for a in range(nA):
            j = act[a]
            s = c[a]
            if j == p:
                continue
            if at[j] < 0:
                if s > still:
                    r = (hi[j] - w[a]) / s
                elif s < -still:
                    r = (lo[j] - w[a]) / s
                else:
                    continue
            elif (side[j] > 0 and s < -STILL) or (side[j] < 0 and s > STILL):
                r = -w[a] / s
            else:
                continue
            if r < theta:
                theta, turn, leaves = r, j, at[j] < 0
        theta = max(theta, 0.0)
        for j in range(m):
            z[j] += theta * d[j]
        for a in range(nA):
            w[a] += theta * c[a]
        t += theta
        if turn < 0:
            ended = OK
            break
        if leaves:
            slope = d[turn] if where[turn] < 0 else c[where[turn]]
            side[turn] = 1 if slope > 0.0 else -1
    # all beta into z of F and w of N; e likewise: handed out through D and d
    for j in range(m):
        a = where[j]
        if at[j] >= 0:
            D[j] = z[j] if a < 0 else (hi[j] if side[j] > 0 else lo[j])
            z[j] = 0.0 if a < 0 else w[a]
        else:
            D[j] = (hi[j] if side[j] > 0 else lo[j]) if a < 0 else w[a]
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
def _snap(lo, hi, beta):
    """To its bound what rounding has left beside it: it would tie b, and must not."""
    largest = 0.0
    for f in beta:
        largest = max(largest, abs(f))
    for t in range(beta.size):
        near = RESIDUE * min(hi[t] - lo[t], largest)
        if beta[t] - lo[t] <= near:
            beta[t] = lo[t]
        elif hi[t] - beta[t] <= near:
            beta[t] = hi[t]


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
    at = np.empty(m, np.int64)
    F = np.empty(m, np.int64)
    side = np.empty(m, np.int64)
    z, D = np.empty(m), np.empty(m)
    slot = np.empty(m, np.int64)
    used = np.zeros(1, np.int64)
    best, vain = np.inf, 0
    for _ in range(MOST_FACTORS):
        steps += _pair_steps(K, lo, hi, beta, g, eps, 100 * m + 10000)
        low, high = _interval(lo, hi, beta, g, -1)
        excess = _excess(beta)
        if low - high <= DONE and excess == 0.0:
            break
        if low - high < 1e-6:  # what is left may be rounding
            vain = 0 if low - high < 0.5 * best else vain + 1
            best = min(best, low - high)
            if vain > 2:
                break
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
                F[n] = t
                n += 1
        L = np.empty((n, n))
        n, moved, shift = _factor(K, g, lo, hi, beta, F, n, L)
        if moved:
            _product(K, beta, s, g)
        R, v = np.empty((n, n)), np.empty(n)
        corner = _inverse(L, n, shift, R, v)
        for t in range(m):
            at[t] = slot[t] = -1
            side[t] = 1 if beta[t] >= hi[t] else -1
        for a in range(n):
            at[F[a]] = a
            side[F[a]] = 0
        # the path of the labels: e of the start is 0 where a condition is broken
        rest = np.empty(n)
        for a in range(n):
            rest[a] = g[F[a]] - b
        for t in range(m):
            e = g[t] - b
            D[t] = 0.0
            z[t] = e
            if at[t] >= 0:
                z[t] = beta[t]
            elif (side[t] > 0 and e < 0.0) or (side[t] < 0 and e > 0.0):
                z[t], D[t] = 0.0, e
        # and its sum, as far as rounding has let it go, comes back to 0
        tilt, off = -corner * excess, excess
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
        for t in range(m):
            D[t] -= tilt
        for a in range(n):
            f = moves[a]
            row = K[F[a]]
            for t in range(m):
                D[t] -= f * row[t]
        for a in range(n):
            D[F[a]] = moves[a]
        used[0] = 0
        T = np.empty((3 * MOST_PIVOTS, m))
        ended, made = _follow(
            K, lo, hi, F, n, at, R, v, corner, T, slot, used, side, z, D, -1, 0.0
        )
        corners += made + 1
        for t in range(m):
            beta[t] = min(max(D[t], lo[t]), hi[t])
        _snap(lo, hi, beta)
        _product(K, beta, s, g)
    return steps, corners


@inner
def _retrained(K, s, lo, hi, beta, p):
    """The machine without p, trained from the full one; -> e_p, corners, beta."""
    m = s.size
    low_p, high_p = lo[p], hi[p]
    lo[p] = hi[p] = 0.0
    x = beta.copy()
    left = x[p]  # what the others must take over
    x[p] = 0.0
    for t in range(m):
        room = hi[t] - x[t] if left > 0.0 else lo[t] - x[t]
        step = min(left, room) if left > 0.0 else max(left, room)
        x[t] += step
        left -= step
        if left == 0.0:
            break
    g = np.empty(m)
    _product(K, x, s, g)
    _, corners = _optimum(K, s, lo, hi, x, g)
    low, high = _interval(lo, hi, x, g, p)
    lo[p], hi[p] = low_p, high_p
    return g[p] - 0.5 * (low + high), corners, x


@inner
def _leave_out(K, s, lo, hi, beta0, g0, every, out, road, exchanges, at_top):
    """f(x_p) of the machine without p, for each p; NaN where training decides.

    road: as in ``left_out``; exchanges: corners of the path; at_top: whether the
    machine without p has a variable at C.
    """
    m = s.size
    beta, g = beta0.copy(), g0.copy()
    low, high = _interval(lo, hi, beta, g, -1)
    F = np.empty(m, np.int64)
    n, total, ones, top = 0, 0.0, 0, 0
    for t in range(m):
        ones += s[t] > 0.0
        if lo[t] < beta[t] < hi[t]:
            F[n] = t
            n += 1
            total += g[t]
        elif beta[t] != 0.0:
            top += 1
    tied = n > 0
    b = total / n if tied else 0.5 * (low + high)
    # what needs no work
    asked = np.empty(m, np.int64)
    count = 0
    for p in range(m):
        out[p] = s[p] - g[p] + b
        exchanges[p] = 0
        at_top[p] = top > 0
        if (ones if s[p] > 0.0 else m - ones) == 1:
            road[p] = SINGLE
            out[p] = -s[p] * np.inf
        elif beta[p] == 0.0:
            road[p] = NOT_A_SV
            if not tied and (g[p] <= low or g[p] >= high):
                low_p, high_p = _interval(lo, hi, beta, g, p)
                out[p] = s[p] - g[p] + 0.5 * (low_p + high_p)
        else:
            road[p] = PREDICTED
            if s[p] * out[p] <= 0.0:
                road[p] = BY_TRAINING
                if not every:
                    out[p] = np.nan
                    continue
            asked[count] = p
            count += 1
    if count == 0:
        return
    if n == 0:  # the one that holds an end of the interval of b is taken for free
        for t in range(m):
            if beta[t] < hi[t] and g[t] == low and lo[t] < hi[t]:
                F[0], n, b = t, 1, low
                break
    L = np.empty((n, n))
    n, moved, shift = _factor(K, g, lo, hi, beta, F, n, L)
    if moved:
        _product(K, beta, s, g)
    R, v = np.empty((n, n)), np.empty(n)
    corner = _inverse(L, n, shift, R, v)
    at = np.full(m, -1)
    base = np.empty(m, np.int64)
    K_F = np.empty((n, m))
    for a in range(n):
        at[F[a]] = a
        K_F[a] = K[F[a]]
    rough = 0.0  # of K_FF R + 1 v' = I
    K_FF = np.empty((n, n))
    for a in range(n):
        for c in range(n):
            K_FF[a, c] = K_F[a, F[c]]
    check = np.dot(K_FF, R)
    for a in range(n):
        for c in range(n):
            rough = max(rough, abs(check[a, c] + v[c] - (1.0 if a == c else 0.0)))
    for t in range(m):
        base[t] = 1 if beta[t] >= hi[t] else -1
        if at[t] >= 0:
            base[t] = 0
    slot = np.empty(m, np.int64)
    side = np.empty(m, np.int64)
    used = np.zeros(1, np.int64)
    z, D = np.empty(m), np.empty(m)
    most = min(CHUNK, count)
    spare = min(CHUNK, m) + MOST_PIVOTS + 3
    T = np.empty((most + spare, m))
    W = np.empty((most, n))
    for first in range(0, count, CHUNK):
        last = min(first + CHUNK, count)
        size = last - first
        for t in range(m):
            slot[t] = -1
        # the columns of all samples of the chunk, by one product
        for k in range(size):
            p = asked[first + k]
            slot[p] = k
            if at[p] >= 0:
                for a in range(n):
                    W[k, a] = R[at[p], a]
        for k in range(size):
            p = asked[first + k]
            if at[p] < 0:
                Kp = K[p]
                for a in range(n):
                    W[k, a] = Kp[F[a]]
        bounded = np.empty((size, n))
        for k in range(size):
            for a in range(n):
                bounded[k, a] = W[k, a]
        turned = np.dot(bounded, R)
        offset = np.empty(size)
        for k in range(size):
            p = asked[first + k]
            if at[p] >= 0:
                offset[k] = v[at[p]]
                continue
            off, h = 1.0, corner
            for a in range(n):
                h += v[a] * W[k, a]
            for a in range(n):
                W[k, a] = turned[k, a] + v[a]
                off -= W[k, a]
            for a in range(n):
                W[k, a] += off * v[a]
            offset[k] = h
        T[:size] = np.dot(W[:size], K_F)
        for k in range(size):
            p = asked[first + k]
            row = T[k]
            if at[p] >= 0:
                for t in range(m):
                    row[t] += offset[k]
                for a in range(n):
                    row[F[a]] = -W[k, a]
            else:
                Kp = K[p]
                for t in range(m):
                    row[t] += offset[k] - Kp[t]
                for a in range(n):
                    row[F[a]] = -W[k, a]
        used[0] = size
        for k in range(size):
            p = asked[first + k]
            if used[0] + MOST_PIVOTS + 3 > T.shape[0]:
                for t in range(m):
                    if slot[t] >= size:
                        slot[t] = -1
                used[0] = size
            start = beta[p]
            row = T[k]
            for t in range(m):
                side[t] = base[t]
                z[t] = beta[t] if at[t] >= 0 else g[t] - b
                D[t] = 0.0 if at[p] >= 0 else -start * row[t]
            ended, corners = _follow(
                K, lo, hi, F, n, at, R, v, corner, T, slot, used, side, z, D, p, start
            )
            e_p = z[p]
            exchanges[p] = corners
            sure = ended == OK
            if sure:
                D[p] = 0.0
                _snap(lo, hi, D)
                free, low, high = 0, -np.inf, np.inf
                for t in range(m):
                    if t == p:
                        continue
                    if lo[t] < D[t] < hi[t]:
                        free += 1
                        break
                if free == 0:
                    for t in range(m):
                        if t == p or lo[t] == hi[t]:
                            continue
                        if D[t] < hi[t]:
                            low = max(low, z[t])
                        if D[t] > lo[t]:
                            high = min(high, z[t])
                    e_p -= 0.5 * (low + high)
                if rough > ROUGH:
                    e_p, sure = _checked(K, s, lo, hi, D, p, e_p)
            if not sure or abs(s[p] - e_p) < CLEAR:
                e_p, more, x = _retrained(K, s, lo, hi, beta, p)
                for t in range(m):
                    D[t] = x[t]
                exchanges[p] += more
                if road[p] != BY_TRAINING:
                    road[p] = RETRAINED
            elif corners and road[p] != BY_TRAINING:
                road[p] = REPAIRED
            out[p] = s[p] - e_p
            at_top[p] = False
            for t in range(m):
                if D[t] != 0.0 and (D[t] >= hi[t] or D[t] <= lo[t]) and t != p:
                    at_top[p] = True
                    break


@inner
def _checked(K, s, lo, hi, x, p, e_p):
    """e_p from K itself, and whether x is optimal by it."""
    g = np.empty(s.size)
    for t in range(s.size):
        x[t] = min(max(x[t], lo[t]), hi[t])
    x[p] = 0.0
    _product(K, x, s, g)
    low, high = _interval(lo, hi, x, g, p)
    b = 0.5 * (low + high)
    total = size = 0.0
    for f in x:
        total += f
        size += abs(f)
    good = low - high <= TRUE and abs(total) <= TRUE * max(size, 1e-300)
    return g[p] - b, good


@inner
def _part(K, rows, ones, ridge, whole, C, A, first, second, lo, hi, s, beta):
    """K of the rows, the first ``ones`` of the class +1; their box, and beta from A."""
    n = rows.size
    for t in range(n):
        s[t] = 1.0 if t < ones else -1.0
        lo[t] = 0.0 if t < ones else -C
        hi[t] = C if t < ones else 0.0
        beta[t] = A[rows[t], first] if t < ones else -A[rows[t], second]
    if whole:
        return K
    block = np.empty((n, n))
    for i in range(n):
        source, row = K[rows[i]], block[i]
        for j in range(n):
            row[j] = source[rows[j]]
        row[i] += ridge
    return block


@inner
def _certify(K, s, lo, hi, beta, g, b, C, stats):
    """What the part certifies of itself, in its own scale (``stats``)."""
    low, high = _interval(lo, hi, beta, g, -1)
    total = square = slack = worst = 0.0
    free = top = 0.0
    small = 0.0
    for t in range(s.size):
        e = g[t] - b
        total += abs(beta[t])
        square += beta[t] * (s[t] - g[t])
        xi = s[t] * e
        slack += max(xi, 0.0)
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
        stretched += max(0.0, 1.0 - stretch * (1.0 - s[t] * (g[t] - b)))
    dual = total - 0.5 * square
    primal = min(0.5 * square + C * slack, 0.5 * stretch**2 * square + C * stretched)
    stats[SUM], stats[SQUARE], stats[SLACK], stats[KKT] = total, square, slack, worst
    stats[BIAS], stats[WIDTH], stats[FREE], stats[TOP] = b, low - high, free, top
    stats[WIDTH] = high - low
    # half of both objectives is what the machine of two outputs has
    stats[GAP] = 0.5 * (primal - dual) / max(1.0, 0.5 * abs(dual))


@kernel
def train_parts(
    K, rows, starts, ones, columns, C, ridge, whole, scaled, A, f, stats, begin, end
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
            K, own, ones[t], ridge, whole, C, A, first, second, lo, hi, s, beta
        )
        for i in range(n):
            beta[i] = min(max(beta[i] * scaled, lo[i]), hi[i])
        _product(block, beta, s, g)
        steps, corners = _optimum(block, s, lo, hi, beta, g)
        low, high = _interval(lo, hi, beta, g, -1)
        b = 0.5 * (low + high)
        _certify(block, s, lo, hi, beta, g, b, C, stats[t])
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
    C,
    ridge,
    whole,
    A,
    every,
    f,
    road,
    exchanges,
    top,
    begin,
    end,
):
    """Each sample left out of its parts: f[i, k] decides towards the first class."""
    for t in range(begin, end):
        own = rows[starts[t] : starts[t + 1]]
        first, second, n = columns[t, 0], columns[t, 1], own.size
        s, lo, hi = np.empty(n), np.empty(n), np.empty(n)
        beta, g = np.empty(n), np.empty(n)
        block = _part(
            K, own, ones[t], ridge, whole, C, A, first, second, lo, hi, s, beta
        )
        _product(block, beta, s, g)
        out, at_top = np.empty(n), np.empty(n, np.bool_)
        how, made = np.empty(n, np.int64), np.empty(n, np.int64)
        _leave_out(block, s, lo, hi, beta, g, every, out, how, made, at_top)
        for i in range(n):
            k = first if i < ones[t] else second
            f[own[i], k] = out[i]
            road[own[i], k], exchanges[own[i], k] = how[i], made[i]
            top[own[i], k] = at_top[i]
