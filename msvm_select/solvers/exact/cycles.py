"""Steps along cycles of the class graph: first-order training, and the way in for
Newton.
 alpha is a flow on the complete graph of the Q classes (alpha_ik runs y_i -> k), so
every feasible direction is a sum of cycles. A variable gives its arc a gain: raising
alpha_ib (i in C_a, alpha_ib < C) serves a -> b with g_ib, lowering alpha_ja > 0 (j in
C_b) serves it with -g_ja. With G_ab the largest gain of an arc, a cycle of positive
total gain can raise the dual; its curvature, realised by samples i_1, i_2, .., is sum_t
||Phi(i_t) - Phi(i_{t-1})||^2, since sample i_t moves by +1 in its arc's tail class and
by -1 in its head class.

One step: the two-cycle a -> b -> a of the largest gain; its first variable is the best
of its arc, its second maximises gain^2 / curvature (the choice of the second variable
by curvature halves the steps and more). Only when no two-cycle gains, the cycle of
largest mean gain (Karp) is taken: a point can be optimal along all pairs and not
optimal.

Arrays are class-sorted: samples of class a are off[a]:off[a + 1], and A = alpha, F are
(Q, m), so that each block of an arc is one run of memory. Only the arcs that touch a
class whose F moved are looked at again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from msvm_select.solvers.compiled import BARE, bare, inner, kernel

NONE = -1e300  # the gain of an arc that no variable can serve
SLACK_ROUNDING = (
    1e-6  # slacks below it may be those of free variables, left by rounding
)
ULPS = 1e-15  # and what stretching them leaves
FLAT = 1e-12  # the least curvature that a step divides by


@njit(**BARE, fastmath={"nnan", "nsz"})
def _block_gains(A, F, off, box, a, b):
    """Over i in C_a: largest g_ib with alpha_ib < box, largest -g_ib with > 0."""
    Ab, Fa, Fb = A[b], F[a], F[b]
    rise = NONE
    fall = NONE
    for i in range(off[a], off[a + 1]):
        g = 1.0 - Fa[i] + Fb[i]
        up = g if Ab[i] < box[i] else NONE
        down = -g if Ab[i] > 0.0 else NONE
        rise = max(rise, up)
        fall = max(fall, down)
    return rise, fall


@inner
def _kernel_row(K, Z, i, out):
    """Row i of the kernel matrix: of K, or of Z Z' where K is empty."""
    if K.shape[0] > 0:
        return K[i]
    m, r = Z.shape
    for j in range(m):
        s = 0.0
        for c in range(r):
            s += Z[i, c] * Z[j, c]
        out[j] = s
    return out


@bare
def _locate(A, F, off, box, a, b, gain, rises):
    """The sample whose variable serves arc a -> b with this gain."""
    if rises:
        for i in range(off[a], off[a + 1]):
            if A[b, i] < box[i] and 1.0 - F[a, i] + F[b, i] >= gain:
                return i
        first, last, own, other = off[a], off[a + 1], b, a
    else:
        for j in range(off[b], off[b + 1]):
            if A[a, j] > 0.0 and -(1.0 - F[b, j] + F[a, j]) >= gain:
                return j
        first, last, own, other = off[b], off[b + 1], a, b
    # fused multiply-adds may round the scan and this search apart: take the largest
    best, at = NONE, first
    for i in range(first, last):
        g = 1.0 - F[other, i] + F[own, i]
        if rises and A[own, i] < box[i] and g > best:
            best, at = g, i
        if not rises and A[own, i] > 0.0 and -g > best:
            best, at = -g, i
    return at


@bare
def _partner(Ku, kuu, diag, A, F, off, box, a, b, gain):
    """The variable of arc b -> a with the best gain^2 / curvature beside sample u."""
    best = -1.0
    at = -1
    rises = True
    for i in range(off[b], off[b + 1]):
        total = gain + 1.0 - F[b, i] + F[a, i]
        if A[a, i] < box[i] and total > 0.0:
            curve = max(kuu + diag[i] - 2.0 * Ku[i], FLAT)
            if total * total > best * curve:
                best, at, rises = total * total / curve, i, True
    for i in range(off[a], off[a + 1]):
        total = gain - 1.0 + F[a, i] - F[b, i]
        if A[b, i] > 0.0 and total > 0.0:
            curve = max(kuu + diag[i] - 2.0 * Ku[i], FLAT)
            if total * total > best * curve:
                best, at, rises = total * total / curve, i, False
    return at, rises


@bare
def _room(A, box, a, b, i, rises):
    """How far the variable of sample i on arc a -> b can go."""
    return box[i] - A[b, i] if rises else A[a, i]


@bare
def _move(A, box, a, b, i, rises, t):
    """Send t along arc a -> b by sample i; what comes to a bound is put on it."""
    if rises:
        value = A[b, i] + t
        A[b, i] = box[i] if value >= box[i] * (1.0 - 1e-14) else value
    else:
        value = A[a, i] - t
        A[a, i] = 0.0 if value <= A[a, i] * 1e-14 else value


@bare
def _scan_all(A, F, off, box, rise, fall):
    """The gains of every arc."""
    Q = A.shape[0]
    for a in range(Q):
        for b in range(Q):
            if a != b:
                rise[a, b], fall[b, a] = _block_gains(A, F, off, box, a, b)


@bare
def _rescan(A, F, off, box, rise, fall, c, other):
    """The gains of the arcs that touch class c, and not the other one."""
    for k in range(A.shape[0]):
        if k not in (c, other):
            rise[c, k], fall[k, c] = _block_gains(A, F, off, box, c, k)
            rise[k, c], fall[c, k] = _block_gains(A, F, off, box, k, c)


@bare
def _best_pair(rise, fall):
    """The two-cycle of the largest total gain."""
    best = NONE
    pa, pb = 0, 1
    for a in range(rise.shape[0]):
        for b in range(a):
            gain = max(rise[a, b], fall[a, b]) + max(rise[b, a], fall[b, a])
            if gain > best:
                best, pa, pb = gain, a, b
    return best, pa, pb


@inner
def _long_cycle(rise, fall, least, nodes):
    """A cycle of mean gain above ``least``: its length (0: none), classes in nodes.

    Longest paths by relaxation; an arc still relaxed after Q rounds hangs on a cycle.
    """
    Q = rise.shape[0]
    far = np.zeros(Q)
    before = np.full(Q, -1)
    last = -1
    for _ in range(Q + 1):
        last = -1
        for a in range(Q):
            for b in range(Q):
                if a != b:
                    reach = far[a] + max(rise[a, b], fall[a, b]) - least
                    if reach > far[b]:
                        far[b], before[b], last = reach, a, b
        if last < 0:
            return 0
    for _ in range(Q):
        last = before[last]
    length, node = 0, last
    while True:
        nodes[length] = node
        length += 1
        node = before[node]
        if node == last:
            break
    for t in range(length // 2):  # the walk went backwards
        nodes[t], nodes[length - 1 - t] = nodes[length - 1 - t], nodes[t]
    return length


@inner
def _follow(K, Z, diag, A, F, off, box, rise, fall, nodes, length):
    """One step along the cycle nodes[0] -> .. -> nodes[length - 1] -> nodes[0]."""
    m = A.shape[1]
    at = np.empty(length, np.int64)
    rows = np.empty((length, m))
    rises = np.empty(length, np.bool_)
    gain, room = 0.0, 1e300
    buffer = np.empty(m)
    for t in range(length):
        a, b = nodes[t], nodes[(t + 1) % length]
        rises[t] = rise[a, b] >= fall[a, b]
        best = max(rise[a, b], fall[a, b])
        at[t] = _locate(A, F, off, box, a, b, best, rises[t])
        row = _kernel_row(K, Z, at[t], buffer)
        for i in range(m):
            rows[t, i] = row[i]
        gain += best
        room = min(room, _room(A, box, a, b, at[t], rises[t]))
    curve = 0.0
    for t in range(length):
        i, j = at[t], at[t - 1]
        curve += max(diag[i] + diag[j] - 2.0 * rows[t, j], 0.0)
    step = min(gain / max(curve, FLAT), room)
    for t in range(length):
        a, b = nodes[t], nodes[(t + 1) % length]
        _move(A, box, a, b, at[t], rises[t], step)
        before, now = rows[t - 1], rows[t]
        for i in range(m):
            F[a, i] += step * (now[i] - before[i])


@njit(**BARE, fastmath={"contract"})
def _shift(Fa, Fb, Ku, Kv, t):
    """F_a += t (K_u - K_v), F_b -= the same."""
    for i in range(Fa.shape[0]):
        d = t * (Ku[i] - Kv[i])
        Fa[i] += d
        Fb[i] -= d


@kernel
def cycle_steps(K, Z, diag, A, F, off, box, least, long_least, most_steps):
    """Step along two-cycles until none gains more than ``least`` (an arc, on average).

    Then longer cycles that gain more than ``long_least`` an arc, which costs many
    steps: the caller decides whether Newton is the better road from there. -> (steps
    made, largest gain of a pair left).  A, F (Q, m) change in place.
    """
    Q, m = A.shape
    rise, fall = np.full((Q, Q), NONE), np.full((Q, Q), NONE)
    nodes = np.empty(Q + 1, np.int64)
    row_u, row_v = np.empty(m), np.empty(m)
    _scan_all(A, F, off, box, rise, fall)
    steps = 0
    while steps < most_steps:
        gain, a, b = _best_pair(rise, fall)
        if gain <= 2.0 * least:
            length = _long_cycle(rise, fall, long_least, nodes) if Q > 2 else 0
            if length == 0:
                break
            _follow(K, Z, diag, A, F, off, box, rise, fall, nodes, length)
            _scan_all(A, F, off, box, rise, fall)
            steps += 1
            continue
        u_rises = rise[a, b] >= fall[a, b]
        gain_u = max(rise[a, b], fall[a, b])
        u = _locate(A, F, off, box, a, b, gain_u, u_rises)
        Ku = _kernel_row(K, Z, u, row_u)
        v, v_rises = _partner(Ku, diag[u], diag, A, F, off, box, a, b, gain_u)
        if v < 0:  # the gain was rounding
            break
        if v_rises:
            gain = gain_u + 1.0 - F[b, v] + F[a, v]
        else:
            gain = gain_u - 1.0 + F[a, v] - F[b, v]
        t = gain / (2.0 * max(diag[u] + diag[v] - 2.0 * Ku[v], FLAT))
        t = min(t, _room(A, box, a, b, u, u_rises), _room(A, box, b, a, v, v_rises))
        _move(A, box, a, b, u, u_rises, t)
        _move(A, box, b, a, v, v_rises, t)
        _shift(F[a], F[b], Ku, _kernel_row(K, Z, v, row_v), t)
        _rescan(A, F, off, box, rise, fall, a, a)
        _rescan(A, F, off, box, rise, fall, b, a)
        steps += 1
    return steps, _best_pair(rise, fall)[0]


@bare
def _raise(out, level, row):
    """out = max(out, level + row)."""
    for i in range(out.size):
        out[i] = max(out[i], level + row[i])


@bare
def _lower(out, level, row):
    """out = min(out, level + row)."""
    for i in range(out.size):
        out[i] = min(out[i], level + row[i])


@inner
def _largest_mean(gains, Q):
    """Karp: the largest mean gain of a cycle among the classes that have samples.

    gains: NONE from a class to itself. (Sums of a few NONE are no more than NONE.)
    """
    walk = np.full((Q + 1, Q), NONE)
    walk[0] = 0.0
    for t in range(Q):
        for a in range(Q):
            _raise(walk[t + 1], walk[t, a], gains[a])
    best = NONE
    for b in range(Q):
        if walk[Q, b] > NONE / 2:
            least = -NONE
            for t in range(Q):
                if walk[t, b] > NONE / 2:
                    least = min(least, (walk[Q, b] - walk[t, b]) / (Q - t))
            best = max(best, least)
    return best


@kernel
def certify(A, F, off, box):
    """(relative duality gap, largest mean cycle gain, biases by the centre rule)."""
    return _certified(A, F, off, box)


@inner
def _certified(A, F, off, box):
    Q = A.shape[0]
    rise, fall = np.full((Q, Q), NONE), np.full((Q, Q), NONE)
    _scan_all(A, F, off, box, rise, fall)
    gains = np.maximum(rise, fall)
    present = off[1:] > off[:-1]
    for a in range(Q):
        if not present[a]:
            gains[a, :] = NONE
            gains[:, a] = NONE
    cycle = _largest_mean(gains, Q)
    span = np.full((Q, Q), -NONE)
    for a in range(Q):
        for b in range(Q):
            if a != b and gains[a, b] > NONE / 2:
                span[b, a] = max(cycle, 0.0) - gains[a, b]
        span[a, a] = 0.0
    for j in range(Q):
        for a in range(Q):
            _lower(span[a], span[a, j], span[j])
    b_ = np.full(Q, -np.inf)
    n = present.sum()
    for a in range(Q):
        if present[a]:
            s = 0.0
            for b in range(Q):
                if present[b] and abs(span[a, b]) < -NONE / 2 > abs(span[b, a]):
                    s += span[a, b] - span[b, a]
            b_[a] = s / (2 * n)
    sum_alpha, square, slack = 0.0, 0.0, 0.0
    for c in range(Q):
        here = slice(off[c], off[c + 1])
        for k in range(Q):
            if k != c:
                level = b_[c] - b_[k] if present[k] else 1.0 - NONE
                found = _sums(A[k, here], F[c, here], F[k, here], level)
                sum_alpha, square = sum_alpha + found[0], square + found[1]
                slack = max(slack, found[2])
    stretch = (1.0 + ULPS) / (1.0 - slack) if slack > 0.0 else 1.0
    dual = sum_alpha - 0.5 * square
    primal = _primal(F, off, box, present, b_, square, 1.0)
    if stretch != 1.0:
        primal = min(primal, _primal(F, off, box, present, b_, square, stretch))
    return (primal - dual) / max(1.0, abs(dual)), cycle, b_


@njit(**BARE, fastmath={"contract", "reassoc", "nnan", "nsz"})
def _sums(alpha, own, other, level):
    """Sums of alpha, and alpha (F_c - F_k); the largest slack that may be rounding."""
    total, square, slack = 0.0, 0.0, 0.0
    for i in range(alpha.size):
        difference = own[i] - other[i]
        total += alpha[i]
        square += alpha[i] * difference
        xi = 1.0 - (difference + level)
        slack = max(slack, xi if xi < SLACK_ROUNDING else 0.0)
    return total, square, slack


@njit(**BARE, fastmath={"contract", "reassoc", "nnan", "nsz"})
def _losses(own, other, level, box, stretch):
    """sum C_i max(0, 1 - stretch (h_c - h_k))."""
    loss = 0.0
    for i in range(own.size):
        loss += box[i] * max(0.0, 1.0 - stretch * (own[i] - other[i] + level))
    return loss


@bare
def _primal(F, off, box, present, b, square, stretch):
    """The primal objective at (w, b) times ``stretch``.

    A stretch that lifts the margins of the free variables over 1 spares the box times
    their rounding, at the price of their rounding times ||w||^2; both are primal
    points.
    """
    Q = F.shape[0]
    loss = 0.0
    for c in range(Q):
        here = slice(off[c], off[c + 1])
        for k in range(Q):
            if k != c and present[k]:
                loss += _losses(F[c, here], F[k, here], b[c] - b[k], box[here], stretch)
    return 0.5 * stretch * stretch * square + loss


@njit(**BARE, fastmath={"contract", "reassoc", "nnan", "nsz"})
def _counted(alpha, box, beside, largest):
    """Sum of alpha; how many are at the box, free, and almost at a bound."""
    total, top, free, near = 0.0, 0, 0, 0
    for i in range(alpha.size):
        a, some = alpha[i], beside * min(box[i], largest)
        inside = (a > 0.0) & (a < box[i])
        total += a
        top += (a > 0.0) & (a >= box[i])
        free += inside
        near += inside & ((a < some) | (a > box[i] - some))
    return total, top, free, near


@njit(**BARE, fastmath={"nnan", "nsz"})
def _maximum(row):
    largest = NONE
    for i in range(row.size):
        largest = max(largest, row[i])
    return largest


@bare
def _flow(A, off, box, beside, seen, firm, adrift):
    """-> sum of alpha, whether one is at its box, whether one is almost at a bound.

    ``seen`` (Q, Q): whether a free variable ties two classes, and ``firm`` one that is
    not almost at a bound; ``adrift`` (Q,): what flows out of a class less what flows
    into it.
    """
    Q, total, top, near, largest = A.shape[0], 0.0, 0, 0, 0.0
    for k in range(Q):
        largest = max(largest, _maximum(A[k]))
        adrift[k] = 0.0
        for c in range(Q):
            seen[c, k] = firm[c, k] = False
    for c in range(Q):
        here = slice(off[c], off[c + 1])
        for k in range(Q):
            if k != c:
                flow, at_top, free, almost = _counted(
                    A[k, here], box[here], beside, largest
                )
                top, near, total = top + at_top, near + almost, total + flow
                adrift[c] += flow
                adrift[k] -= flow
                if free:
                    seen[c, k] = seen[k, c] = True
                if free > almost:
                    firm[c, k] = firm[k, c] = True
    return total, top > 0, near > 0


@inner
def _ties(seen, off):
    """Whether all classes that have samples hang together."""
    Q = seen.shape[0]
    reached = np.zeros(Q, np.bool_)
    for c in range(Q):
        if off[c + 1] > off[c]:
            reached[c] = True
            break
    grows = True
    while grows:
        grows = False
        for a in range(Q):
            for b in range(Q):
                if reached[a] and seen[a, b] and not reached[b]:
                    reached[b] = grows = True
    alone = 0
    for c in range(Q):
        alone += off[c + 1] > off[c] and not reached[c]
    return alone == 0


@kernel
def certify_each(alphas, F, changes, off, box, left_out, rest, beside, facts, told, b):
    """What proves each machine without a sample: alphas, changes of F (p, Q, m).

    rest (m,): what stays of the box of each that is left out.

    facts (p, 3): gap, largest mean gain of a cycle, imbalance of the flow by its sum;
    told (p, 3): whether an alpha is at its box, whether some are almost at a bound and
    no others tie the classes, and whether these are tied; b (p, Q): the biases.
    """
    Q = F.shape[0]
    outputs, shut = np.empty(F.shape), box.copy()
    seen, firm = np.empty((Q, Q), np.bool_), np.empty((Q, Q), np.bool_)
    adrift = np.empty(Q)
    for s in range(left_out.size):
        A, p = alphas[s], left_out[s]
        for k in range(Q):
            for i in range(F.shape[1]):
                outputs[k, i] = F[k, i] + changes[s, k, i]
        shut[p] = rest[p]
        facts[s, 0], facts[s, 1], level = _certified(A, outputs, off, shut)
        b[s] = level
        total, told[s, 0], near = _flow(A, off, shut, beside, seen, firm, adrift)
        shut[p] = box[p]
        facts[s, 2] = np.abs(adrift).max() / max(total, 1e-300)
        told[s, 1] = near and not _ties(firm, off)
        told[s, 2] = _ties(seen, off)


@njit(**BARE, fastmath={"contract", "nnan", "nsz"})
def _largest_slope(own, F, change, b):
    """Over i: the largest 1 - own + F + change + b."""
    largest = NONE
    for i in range(own.size):
        largest = max(largest, 1.0 - own[i] + F[i] + change[i] + b)
    return largest


@njit(**BARE, fastmath={"contract", "reassoc", "nsz"})
def _turned(alpha, known, tau, total):
    """tau of a change of alpha, added to ``total`` of their own classes; -> its sum."""
    size = 0.0
    for i in range(alpha.size):
        change = alpha[i] - known[i]
        tau[i] = -change
        total[i] += change
        size += abs(change)
    return size


@kernel
def change_each(alphas, A, off, tau, size):
    """tau (Q, p, m) of the changes alphas - A, and the sum (p,) of these."""
    Q = A.shape[0]
    tau[:] = 0.0
    size[:] = 0.0
    for s in range(alphas.shape[0]):
        for c in range(Q):
            here = slice(off[c], off[c + 1])
            for k in range(Q):
                if k != c:
                    size[s] += _turned(
                        alphas[s, k, here], A[k, here], tau[k, s, here],
                        tau[c, s, here],
                    )  # fmt: skip


@njit(**BARE, fastmath={"contract"})
def _add(out, factor, row):
    for i in range(out.size):
        out[i] += factor * row[i]


@kernel
def add_few(tau, known, K, F):
    """F (Q, p, others) += tau K for the few entries of tau that are not ``known``."""
    Q, p, m = tau.shape
    for k in range(Q):
        for s in range(p):
            moved = tau[k, s]
            for i in range(m):
                if moved[i] != 0.0 and not known[k, i]:
                    _add(F[k, s], moved[i], K[i])


@kernel
def breach_each(F, changes, off, b, least, wrong, count):
    """How many idle samples have r >= ``least`` in each machine, marked in ``wrong``.

    F (Q, m), changes (Q, p, m), class-sorted; b (p, Q), -inf of absent classes; least
    (p,).
    """
    Q = F.shape[0]
    own = np.empty(F.shape[1])
    for s in range(b.shape[0]):
        for c in range(Q):
            here = slice(off[c], off[c + 1])
            for i in range(off[c], off[c + 1]):
                own[i] = F[c, i] + changes[c, s, i] + b[s, c]
            for k in range(Q):
                if k == c or b[s, k] < NONE / 2 or off[c + 1] == off[c]:
                    continue
                worst = _largest_slope(
                    own[here], F[k, here], changes[k, s, here], b[s, k]
                )
                if worst >= least[s]:
                    for i in range(off[c], off[c + 1]):
                        r = 1.0 - own[i] + F[k, i] + changes[k, s, i] + b[s, k]
                        if r >= least[s]:
                            wrong[i] = True
                            count[s] += 1
