"""One turn of many left-out samples: small systems solved, wrong bounds put right.

See ``together`` for what these loops compute.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from msvm_select.records import Floats
from msvm_select.solvers.compiled import BARE, bare, kernel

HELD, AT_TOP, FROZEN, MOVING = 1, 2, 3, 4  # a variable that is as it was: 0
SLACK = 1e-9  # of r, and of alpha by its scale, that counts as on the bound
NO_PIVOT = 1e-10  # a pivot below it, where the diagonal is 1, is zero
CONSISTENT = 1e-9  # of the condition of a variable that depends on others


class Parts(NamedTuple):
    """The full machine and its factor, as the loops see them.

    Variable (k, i) is number k m + i. entry: its entry of the factor, or -1. loc, row,
    cls: sample, place among the samples with a free arc, and class of an entry; var:
    its variable, or -1. place (Q, m): the entry of a class and sample, or -1, and
    ``inside`` whether there is one. first[k]: the first entry of a class. R (m,
    entries): R_k between entries of S_k, K[i, S_k] R_k for other samples i. K_S (m,
    entries): K between all samples and the entries', or empty.
    side: 1 for what is at 0 and not free, -1 at C; ``loose``: neither of these, and not
    free. low, high (Q m): between which alpha of an entry's variable may fall, at the
    place of the entry; elsewhere anything may be. (Of samples at one place, only the
    first has entries, and a variable may be that of another.)
    """

    y: NDArray[np.int64]
    K: Floats
    K_S: Floats
    R: Floats
    entry: NDArray[np.int64]
    place: NDArray[np.int64]
    inside: NDArray[np.bool_]
    loc: NDArray[np.int64]
    row: NDArray[np.int64]
    cls: NDArray[np.int64]
    first: NDArray[np.int64]
    var: NDArray[np.int64]
    alpha: Floats
    r: Floats
    side: NDArray[np.int8]
    loose: NDArray[np.int64]
    low: Floats
    high: Floats
    box: Floats
    small: float


@bare
def _bound(P, s, v):
    """The value that a status asks of a variable."""
    return P.box[v % P.y.size] if s == AT_TOP else 0.0


@bare
def _changed(stat, words, found):
    """Which variables have another status, in ``found``; -> how many.

    ``words``: the same eight at a time, as far as that goes.
    """
    count = 0
    for w in range(words.size + 1):
        if w == words.size or words[w] != 0:
            end = stat.size if w == words.size else 8 * w + 8
            for v in range(8 * w, end):
                if stat[v] != 0:
                    found[count] = v
                    count += 1
    return count


@kernel
def list_unknowns(P, stat, share, lists, counts, x, at, needed):
    """The unknowns of each sample, then what is given; marks those that lack a row.

    stat (p, Q m); share: the part of alpha_p that is left. lists (p, most) has the
    numbers of the variables, counts (p, 2) how many; x (p, most) the given shifts.
    """
    most, changed = lists.shape[1], np.empty(stat.shape[1], np.int64)
    for s in range(stat.shape[0]):
        words = stat[s, : stat.shape[1] // 8 * 8].view(np.int64)
        n, found = 0, changed[: _changed(stat[s], words, changed)]
        for v in found:
            if (stat[s, v] == MOVING or P.entry[v] >= 0) and n < most:
                lists[s, n] = v
                n += 1
        counts[s, 0] = n
        for v in found:
            t = stat[s, v]
            if t != MOVING and P.entry[v] < 0 and n < most:
                goal = share[s] * P.alpha[v] if t == FROZEN else _bound(P, t, v)
                if goal != P.alpha[v]:
                    lists[s, n] = v
                    x[s, n] = goal - P.alpha[v]
                    n += 1
        counts[s, 1] = n
        for j in range(n):
            if at[lists[s, j]] < 0:
                needed[lists[s, j]] = True


@njit(**BARE, fastmath={"contract", "reassoc", "nsz"})
def _dot(a, b):
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@njit(**BARE, fastmath={"contract"})
def _add(out, factor, row):
    for i in range(out.size):
        out[i] += factor * row[i]


@njit(**BARE, fastmath={"contract", "reassoc", "nsz"})
def _dot_eight(a, b, c, d, row, other):
    s, t, u, v = 0.0, 0.0, 0.0, 0.0
    w, x, y, z = 0.0, 0.0, 0.0, 0.0
    for i in range(row.size):
        s += a[i] * row[i]
        t += b[i] * row[i]
        u += c[i] * row[i]
        v += d[i] * row[i]
        w += a[i] * other[i]
        x += b[i] * other[i]
        y += c[i] * other[i]
        z += d[i] * other[i]
    return s, t, u, v, w, x, y, z


@bare
def _products(V, Z, at, n, D):
    """D (n, all): v_a' z_b for a up to b, and what else four by two at a time give."""
    last = at.size - 1
    for first in range(0, n, 4):
        a, b = V[at[first]], V[at[min(first + 1, n - 1)]]
        c, d = V[at[min(first + 2, n - 1)]], V[at[min(first + 3, n - 1)]]
        for j in range(first, at.size, 2):
            found = _dot_eight(a, b, c, d, Z[at[j]], Z[at[min(j + 1, last)]])
            for i in range(min(4, n - first)):
                D[first + i, j] = found[i]
                if j < last:
                    D[first + i, j + 1] = found[4 + i]


@bare
def _apart(P, k, i, j):
    """K_ij less what the entries of class k make up for; i, j outside S_k."""
    if P.place[k, i] >= 0 or P.place[k, j] >= 0:
        return 0.0
    part = slice(P.first[k], P.first[k + 1])
    if P.K_S.shape[0] > 0:
        return P.K[i, j] - _dot(P.K_S[i, part], P.R[j, part])
    left = P.K[i, j]
    for e in range(part.start, part.stop):
        left -= P.K[i, P.loc[e]] * P.R[j, e]
    return left


@bare
def _by_shift(P, e, k, head, i):
    """What class k alone answers at its entry e, in alpha, to a shift of (head, i)."""
    if k == head:
        if P.place[k, i] >= 0:
            return -1.0 if P.place[k, i] == e else 0.0
        return -P.R[i, e]
    return P.R[i, e] if P.place[k, i] < 0 else 0.0


@bare
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
                if k in (l, b):
                    d += _by_shift(P, e, k, l, h)
            elif f >= 0:
                if l in (k, a):
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


@bare
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
def shifts_each(P, wanted, v, rows):
    """Add v and what U' z lacks of shifts of these; v (wanted, rows + Q)."""
    m = P.y.size
    for j in range(wanted.size):
        i, out = wanted[j] % m, v[j]
        for k, sign in ((wanted[j] // m, 1.0), (P.y[i], -1.0)):
            if P.inside[k, i]:
                out[P.row[P.place[k, i]]] += sign
                continue
            total = -1.0
            for e in range(P.first[k], P.first[k + 1]):
                out[P.row[e]] += sign * P.R[i, e]
                total += P.R[i, e]
            out[rows + k] -= sign * total


@kernel
def solve_each(P, stat, share, lists, counts, x, at, V, Z, level, sound):
    """The unknowns x of each sample, and (lambda - T^-1 U b, -b).

    level: (p, samples with a free arc + Q).
    """
    m, most, size = P.y.size, lists.shape[1], counts.max()
    M, goal, scale = np.empty((size, size)), np.empty(size), np.empty(size)
    order, whose = np.empty(size, np.int64), np.empty((3, size), np.int64)
    D, rows = np.empty((size, size)), np.empty(size, np.int64)
    for s in range(stat.shape[0]):
        n, both = counts[s]
        for j in range(both):
            rows[j] = at[lists[s, j]]
        _products(V, Z, rows[:both], n, D)
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
                _add(level[s], x[s, j], Z[rows[j]])


@kernel
def forces_each(P, lists, counts, x, level, forces):
    """What R_k is to answer: -b - lambda - unknowns - K (shifts), (p, entries)."""
    m, rows = P.y.size, level.shape[1] - P.first.size + 1
    for s in range(lists.shape[0]):
        t = forces[s]
        for e in range(P.row.size):
            t[e] = level[s, rows + P.cls[e]] - level[s, P.row[e]]
        for j in range(counts[s, 1]):
            v = lists[s, j]
            if P.entry[v] >= 0:
                t[P.entry[v]] -= x[s, j]
            else:
                i = v % m
                for k, change in ((v // m, -x[s, j]), (P.y[i], x[s, j])):
                    part = slice(P.first[k], P.first[k + 1])
                    _add(t[part], -change, P.K_S[i, part])


@kernel
def answer_each(P, lists, counts, x, level, by_all, R, shifts, sums, found):
    """How all of one class would answer these forces, were all its arcs free.

    found (Q, p, m): R (p, m) times the forces; by_all: R lambda; sums: R 1; shifts (m,
    m): R K of one sample.
    """
    m, rows = P.y.size, level.shape[1] - P.first.size + 1
    for s in range(lists.shape[0]):
        for k in range(found.shape[0]):
            b, out = level[s, rows + k], found[k, s]
            for i in range(m):
                out[i] = b * sums[i] - by_all[s, i]
        for j in range(counts[s, 1]):
            v = lists[s, j]
            if P.entry[v] >= 0:
                _add(found[v // m, s], -x[s, j], R[P.row[P.entry[v]]])
            else:
                _add(found[v // m, s], x[s, j], shifts[v % m])
                _add(found[P.y[v % m], s], -x[s, j], shifts[v % m])


@kernel
def asked_of(P, lists, counts, x, level, k, gone, samples, found):
    """Add to the outputs of class k (p, m) what is asked of them where it has no arc.

    ``gone``: these ``samples``, by their place among those with a free arc.
    """
    m, rows = P.y.size, level.shape[1] - P.first.size + 1
    for s in range(lists.shape[0]):
        out = found[s]
        for c in range(gone.size):
            out[samples[c]] += level[s, rows + k] - level[s, gone[c]]
        for j in range(counts[s, 1]):
            v = lists[s, j]
            if P.entry[v] < 0 and (v // m == k or P.y[v % m] == k):
                change = x[s, j] if v // m == k else -x[s, j]
                for i in samples:
                    out[i] += change * P.K[v % m, i]


@njit(**BARE, fastmath={"contract"})
def _taken(out, found, inside, own, b):
    """out = found where the class has no entry, own - b where it has one."""
    for i in range(out.size):
        out[i] = own[i] - b if inside[i] else found[i]


@bare
def _completed(P, s, lists, both, x, F, level, b, own, outputs):
    """The change of the outputs: F, and what the given shifts do; ``own`` is room."""
    m, Q = P.y.size, b.size
    for e in range(P.row.size):
        own[P.loc[e]] = -level[s, P.row[e]]
    for k in range(Q):
        _taken(outputs[k], F[k, s], P.inside[k], own, b[k])
    for j in range(both):
        v = lists[s, j]
        e = P.entry[v]
        if e >= 0:
            outputs[v // m, P.loc[e]] -= x[s, j]
        else:
            for k, change in ((v // m, -x[s, j]), (P.y[v % m], x[s, j])):
                _add(outputs[k], change, P.K[v % m])
                for e in range(P.first[k], P.first[k + 1]):
                    outputs[k, P.loc[e]] -= change * P.K[v % m, P.loc[e]]


@bare
def _copy(out, row):
    for i in range(out.size):
        out[i] = row[i]


@njit(**BARE, fastmath={"contract"})
def _slopes(side, r, own, outputs, b, w):
    """w = side (r - own + outputs + b): beyond 0 it is wrong; -> how many are."""
    count = 0
    for i in range(w.size):
        w[i] = side[i] * (r[i] - own[i] + outputs[i] + b)
        count += w[i] > SLACK
    return count


@bare
def _outside(z, low, high):
    """How many are beyond a limit: without branches, so that it is vectorised."""
    count = 0
    for i in range(z.size):
        count += (z[i] < low[i]) | (z[i] > high[i])
    return count


@bare
def _wrong_alpha(P, s, stat, lists, counts, x, F):
    """Exchange what left its box, and what is held against its force; -> how many."""
    m, made = P.y.size, 0
    for k in range(F.shape[0]):
        here = slice(k * m, (k + 1) * m)
        fall, low, high = F[k, s], P.low[here], P.high[here]
        if _outside(fall, low, high):
            for i in range(m):
                above = fall[i] > high[i]
                if above or fall[i] < low[i]:
                    v = P.var[P.place[k, i]]
                    if stat[s, v] == 0:
                        stat[s, v] = HELD if above else AT_TOP
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


@bare
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
def judge_each(P, stat, lists, counts, x, F, level, wrong, end, alpha, change):
    """Exchange what is wrong, how many each; of those right, alpha and the outputs.

    F (Q, p, m): how the entries answer, and what they do to other outputs. ``end``:
    whose alpha (p, Q m) and change of the outputs (p, Q, m) are asked for where nothing
    is wrong; they stand one after another, from the first place on.
    """
    m, Q, rows, right = P.y.size, F.shape[0], level.shape[1] - F.shape[0], 0
    outputs, own, w = np.empty((Q, m)), np.empty(m), np.empty(m)
    for s in range(stat.shape[0]):
        n, both = counts[s]
        b = -level[s, rows:]
        _completed(P, s, lists, both, x, F, level, b, own, outputs)
        for i in range(m):
            own[i] = outputs[P.y[i], i] + b[P.y[i]]
        made = _wrong_alpha(P, s, stat, lists, counts, x, F)
        for k in range(Q):
            part = slice(k * m, (k + 1) * m)
            if not _slopes(P.side[part], P.r[part], own, outputs[k], b[k], w):
                continue
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
            _write(P, s, stat, lists, both, x, F, alpha[right])
            for k in range(Q):
                _copy(change[right, k], outputs[k])
            right += 1


@bare
def _write(P, s, stat, lists, both, x, F, A):
    """alpha (Q m,) of the sample's machine."""
    _copy(A, P.alpha)
    for e in range(P.var.size):
        if P.var[e] >= 0:
            A[P.var[e]] -= F[P.cls[e], s, P.loc[e]]
            _without_residue(P, A, P.var[e])
    for v in P.loose:
        _without_residue(P, A, v)
    for j in range(both):
        v = lists[s, j]
        moves = stat[s, v] == MOVING
        A[v] = P.alpha[v] + x[s, j] if moves else _bound(P, stat[s, v], v)
        _without_residue(P, A, v)


@bare
def _without_residue(P, A, v):
    """Put v at the bound that it is beside: it would count as free."""
    if A[v] < P.small:
        A[v] = 0.0
    elif A[v] > P.box[v % P.y.size] - P.small:
        A[v] = P.box[v % P.y.size]
