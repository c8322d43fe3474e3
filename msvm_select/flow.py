"""alpha is a flow on the classes: to take a sample out, and keep the flow balanced."""

from __future__ import annotations

import numpy as np

from msvm_select.records import Floats, Ints


def without(alpha: Floats, y: Ints, C: float, p: int) -> Floats:
    """A feasible alpha (Q, m) with alpha_p = 0, near the given one.

    What p sent along y_p -> k is sent by free samples of its class, or else taken off
    k -> y_p, the way back; where neither suffices, all begins at zero.
    """
    rest = alpha.copy()
    owed, rest[:, p] = alpha[:, p].copy(), 0.0
    own = y == y[p]
    own[p] = False
    for k in np.flatnonzero(owed > 0.0):
        mine, back = np.flatnonzero(own), np.flatnonzero(y == k)
        left = _pour(rest[k], mine, owed[k], C, only_free=True)
        left = _pour(rest[y[p]], back, -left, C, only_free=True)
        left = _pour(rest[y[p]], back, left, C, only_free=False)
        left = _pour(rest[k], mine, -left, C, only_free=False)
        if left > 0.0:
            return np.zeros_like(alpha)
    return rest


def ties_all(alpha: Floats, y: Ints, C: float) -> bool:
    """Whether the free variables tie all classes together; alpha is (Q, m).

    Then b is what they say, whoever of the others is left out. Where they do not, b may
    hang on the constraint of a single sample, even one with alpha = 0.
    """
    cols, rows = np.nonzero((alpha > 0.0) & (alpha < C))
    group = np.arange(alpha.shape[0])
    for tail, head in np.unique(np.stack([y[rows], cols]), axis=1).T:
        group[group == group[tail]] = group[head]
    return bool(np.unique(group[np.unique(y)]).size == 1)


def _pour(
    row: Floats, where: Ints, amount: float, C: float, *, only_free: bool
) -> float:
    """Add (amount > 0) or take (< 0) among the entries listed; what is left over."""
    if only_free:
        where = where[(row[where] > 0.0) & (row[where] < C)]
    room = C - row[where] if amount > 0.0 else row[where]
    used = np.diff(np.minimum(np.cumsum(room), abs(amount)), prepend=0.0)
    full = used >= room
    moved = row[where] + np.copysign(used, amount)
    row[where] = np.where(full, C if amount > 0.0 else 0.0, moved)
    left = abs(amount) - float(used.sum())
    return float(np.copysign(left, amount)) if left > 1e-12 * abs(amount) else 0.0
