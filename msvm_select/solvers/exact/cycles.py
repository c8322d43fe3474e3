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

from msvm_select.solvers.compiled import INNER, inner, kernel

NONE = -1e300  # the gain of an arc that no variable can serve
SLACK_ROUNDING = (
    1e-6  # slacks below it may be those of free variables, left by rounding
)
ULPS = 1e-15  # and what stretching them leaves
FLAT = 1e-12  # the least curvature that a step divides by


@njit(**INNER, fastmath={"nnan", "nsz"})
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


@inner
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


@inner
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


@inner
def _room(A, box, a, b, i, rises):
    """How far the variable of sample i on arc a -> b can go."""
    return box[i] - A[b, i] if rises else A[a, i]


@inner
def _move(A, box, a, b, i, rises, t):
    """Send t along arc a -> b by sample i; what comes to a bound is put on it."""
    if rises:
        value = A[b, i] + t
        A[b, i] = box[i] if value >= box[i] * (1.0 - 1e-14) else value
    else:
        value = A[a, i] - t
        A[a, i] = 0.0 if value <= A[a, i] * 1e-14 else value


@inner
def _scan_all(A, F, off, box, rise, fall):
    """The gains of every arc."""
    Q = A.shape[0]
    for a in range(Q):
        for b in range(Q):
            if a != b:
                rise[a, b], fall[b, a] = _block_gains(A, F, off, box, a, b)


@inner
def _rescan(A, F, off, box, rise, fall, c):
    """The gains of the arcs that touch class c."""
    for k in range(A.shape[0]):
        if k != c:
            rise[c, k], fall[k, c] = _block_gains(A, F, off, box, c, k)
            rise[k, c], fall[c, k] = _block_gains(A, F, off, box, k, c)


@inner
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


@njit(**INNER, fastmath={"contract"})
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
        _rescan(A, F, off, box, rise, fall, a)
        _rescan(A, F, off, box, rise, fall, b)
        steps += 1
    return steps, _best_pair(rise, fall)[0]


@inner
def _largest_mean(gains, Q):
    """Karp: the largest mean gain of a cycle among the classes that have samples."""
    walk = np.full((Q + 1, Q), NONE)
    walk[0] = 0.0
    for t in range(Q):
        for a in range(Q):
            for b in range(Q):
                if a != b and gains[a, b] > NONE / 2 and walk[t, a] > NONE / 2:
                    walk[t + 1, b] = max(walk[t + 1, b], walk[t, a] + gains[a, b])
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
            for b in range(Q):
                if span[a, j] < -NONE / 2 and span[j, b] < -NONE / 2:
                    span[a, b] = min(span[a, b], span[a, j] + span[j, b])
    b_ = np.full(Q, -np.inf)
    n = present.sum()
    for a in range(Q):
        if present[a]:
            s = 0.0
            for b in range(Q):
                if present[b] and abs(span[a, b]) < -NONE / 2 > abs(span[b, a]):
                    s += span[a, b] - span[b, a]
            b_[a] = s / (2 * n)
    sum_alpha, square, stretch = 0.0, 0.0, 1.0
    for c in range(Q):
        for i in range(off[c], off[c + 1]):
            own = 0.0
            for k in range(Q):
                if k != c:
                    own += A[k, i]
                    square -= A[k, i] * F[k, i]
                    if present[k]:
                        xi = 1.0 - (F[c, i] + b_[c] - F[k, i] - b_[k])
                        if 0.0 < xi < SLACK_ROUNDING:
                            stretch = max(stretch, (1.0 + ULPS) / (1.0 - xi))
            sum_alpha += own
            square += own * F[c, i]
    dual = sum_alpha - 0.5 * square
    primal = min(
        _primal(F, off, box, present, b_, square, 1.0),
        _primal(F, off, box, present, b_, square, stretch),
    )
    return (primal - dual) / max(1.0, abs(dual)), cycle, b_


@inner
def _primal(F, off, box, present, b, square, stretch):
    """The primal objective at (w, b) times ``stretch``.

    A stretch that lifts the margins of the free variables over 1 spares the box times
    their rounding, at the price of their rounding times ||w||^2; both are primal
    points.
    """
    Q = F.shape[0]
    loss = 0.0
    for c in range(Q):
        for i in range(off[c], off[c + 1]):
            slack = 0.0
            for k in range(Q):
                if k != c and present[k]:
                    margin = F[c, i] + b[c] - F[k, i] - b[k]
                    slack += max(0.0, 1.0 - stretch * margin)
            loss += box[i] * slack
    return 0.5 * stretch * stretch * square + loss
