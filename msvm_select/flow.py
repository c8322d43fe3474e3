"""alpha is a flow on the classes, and the biases are its potentials.

Which b, among all that are optimal: the centre rule. At the optimum

    alpha_ik < C_i  =>  b_{y_i} - b_k >= g_ik,
    alpha_ik > 0  =>  b_{y_i} - b_k <= g_ik,

so the arc gains  G_ab = max( max_{i in C_a, alpha_ib < C_i} g_ib,
max_{j in C_b, alpha_ja > 0} -g_ja )  say  b_a - b_b >= G_ab.  Closed under paths they
give D[k, l] = max(b_k - b_l), and  b_k = 1/(2Q) sum_l (D[k, l] - D[l, k])  is feasible,
sums to zero, is the unique b where there is one and the midpoint for Q = 2; it does not
depend on the road that the solver took.

Away from the optimum the gains contradict each other around some cycle. They are then
all lowered by the largest mean gain of a cycle, the least amount that reconciles them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from msvm_select.records import Floats, Ints, Mask

UNIQUE_BELOW = 1e-7


@dataclass(frozen=True, eq=False)
class Potentials:
    """The biases b (Q,), D[k, l] = max(b_k - b_l), and the largest mean cycle gain."""

    b: Floats
    span: Floats
    cycle_gain: float

    @cached_property
    def width(self) -> float:
        """The longest interval that the optimal values of some b_k - b_l fill."""
        present = np.isfinite(self.b)
        span = self.span[np.ix_(present, present)]
        return float(np.max(span + span.T, initial=0.0))

    @property
    def unique(self) -> bool:
        """Whether no difference of biases can move (beyond rounding)."""
        return self.width < UNIQUE_BELOW


def arc_gains(alpha: Floats, gradient: Floats, y: Ints, box: Floats) -> Floats:
    """G (P, P): b_a - b_b >= G_ab for the P classes present; -inf says nothing."""
    order, count = y.argsort(kind="stable"), np.bincount(y)
    classes = np.flatnonzero(count)
    first = (np.cumsum(count) - count)[classes]
    g, a = gradient[order], alpha[order]
    up = np.where(a < box[order, None], g, -np.inf)
    down = np.where(a > 0.0, -g, -np.inf)
    raised = np.maximum.reduceat(up, first, axis=0)[:, classes]
    lowered = np.maximum.reduceat(down, first, axis=0)[:, classes]
    gains = np.maximum(raised, lowered.T)
    gains.flat[:: classes.size + 1] = 0.0
    return np.asarray(gains)


def largest_mean_cycle(gains: Floats) -> float:
    """The largest mean gain of a cycle of two or more arcs (Karp's recurrence)."""
    Q = gains.shape[0]
    arcs_into = gains.T.copy()
    arcs_into.flat[:: Q + 1] = -np.inf
    walk = np.zeros((Q + 1, Q))
    for t in range(Q):
        (arcs_into + walk[t]).max(axis=1, out=walk[t + 1])
    last = walk[Q]
    reached = last > -np.inf
    if not reached.all():
        if not reached.any():
            return -np.inf
        last, walk = last[reached], walk[:, reached]
    means = (last - walk[:Q]) / np.arange(Q, 0, -1)[:, None]
    return float(means.min(axis=0).max())


def closure(span: Floats) -> Floats:
    """The lengths of the shortest paths over the lengths of the arcs (all pairs)."""
    for j in range(span.shape[0]):
        span = np.minimum(span, span[:, j, None] + span[j])
    return span


def centre(alpha: Floats, gradient: Floats, y: Ints, box: Floats) -> Potentials:
    """The centre of the optimal biases; an absent class gets -inf.

    alpha, gradient: (m, Q), both zero at the own class; box (m,).
    """
    Q = alpha.shape[1]
    present = np.bincount(y, minlength=Q) > 0
    gains = arc_gains(alpha, gradient, y, box)
    P = gains.shape[0]
    cycle_gain = largest_mean_cycle(gains) if P > 1 else 0.0
    span = max(0.0, cycle_gain) - gains.T
    span.flat[:: P + 1] = 0.0
    span = closure(span)
    # Only a flow out of balance leaves a pair of classes without any path.
    closed = np.where(np.isfinite(span), span, 0.0)
    middle = (closed.sum(axis=1) - closed.sum(axis=0)) / (2 * P)
    if P == Q:
        return Potentials(middle, span, cycle_gain)
    b = np.full(Q, -np.inf)
    b[present] = middle
    whole = np.full((Q, Q), np.inf)
    whole[np.ix_(present, present)] = span
    return Potentials(b, whole, cycle_gain)


def within(alpha: Floats, y: Ints, box: Floats) -> Floats:
    """A feasible alpha (Q, m) in its box (m,), near the given one.

    What a class s sent along s -> k beyond it is sent by its free samples, or else
    taken off k -> s, the way back; where neither suffices, all begins at zero.
    """
    rest = np.minimum(alpha, box)
    owed = alpha - rest
    for s in np.unique(y[owed.any(axis=0)]):
        mine = np.flatnonzero(y == s)
        for k, amount in enumerate(owed[:, mine].sum(axis=1)):
            if amount <= 0.0:
                continue
            back = np.flatnonzero(y == k)
            left = _pour(rest[k], mine, amount, box, only_free=True)
            left = _pour(rest[s], back, -left, box, only_free=True)
            left = _pour(rest[s], back, left, box, only_free=False)
            left = _pour(rest[k], mine, -left, box, only_free=False)
            if left > 0.0:
                return np.zeros_like(alpha)
    return rest


def ties_all(alpha: Floats, y: Ints, box: Floats) -> bool:
    """Whether the free variables tie all classes together; alpha (Q, m), box (m,).

    Then b is what they say, whoever of the others is left out. Where they do not, b may
    hang on the constraint of a single sample, even one with alpha = 0.
    """
    cols, rows = np.nonzero((alpha > 0.0) & (alpha < box))
    tied = np.zeros((alpha.shape[0], alpha.shape[0]), bool)
    tied[y[rows], cols] = tied[cols, y[rows]] = True
    present = np.bincount(y, minlength=len(tied)) > 0
    reached, fewer = np.arange(len(tied)) == y[0], -1
    while fewer < (fewer := int(reached.sum())):
        reached |= tied[reached].any(axis=0)
    return bool(reached[present].all())


def spanning(tails: Ints, heads: Ints, present: Mask) -> list[tuple[int, bool]]:
    """Arcs (tail, head) that tie all classes present together, one for each but one.

    With each, whether its head is the class that those before it do not tie. Empty
    where no such arcs are there.
    """
    Q = present.size
    pairs, which = np.unique(tails * Q + heads, return_index=True)
    left = np.column_stack([pairs // Q, pairs % Q, which]).tolist()
    tied, found, before = {int(present.argmax())}, list[tuple[int, bool]](), -1
    while before < (before := len(found)):
        for tail, head, v in left:
            if (tail in tied) != (head in tied):
                found.append((v, tail in tied))
                tied |= {tail, head}
    return found if len(tied) == np.count_nonzero(present) else []


def _pour(
    row: Floats, where: Ints, amount: float, box: Floats, *, only_free: bool
) -> float:
    """Add (amount > 0) or take (< 0) among the entries listed; what is left over."""
    if not amount:
        return amount
    if only_free:
        where = where[(row[where] > 0.0) & (row[where] < box[where])]
    if not where.size:
        return amount
    room = box[where] - row[where] if amount > 0.0 else row[where]
    used = np.minimum(room.cumsum(), abs(amount))
    used[1:] -= used[:-1].copy()
    full = used >= room
    moved = row[where] + np.copysign(used, amount)
    row[where] = np.where(full, box[where] if amount > 0.0 else 0.0, moved)
    left = abs(amount) - float(used.sum())
    return float(np.copysign(left, amount)) if left > 1e-12 * abs(amount) else 0.0
