"""Which b, among all that are optimal: the centre rule.

At the optimum the biases are node potentials of the flow alpha:

    alpha_ik < C  =>  b_{y_i} - b_k >= g_ik,      alpha_ik > 0  =>  b_{y_i} - b_k <= g_ik,

so the arc gains  G_ab = max( max_{i in C_a, alpha_ib < C} g_ib,
max_{j in C_b, alpha_ja > 0} -g_ja )  say  b_a - b_b >= G_ab.  Closed under paths they
give D[k, l] = max(b_k - b_l), and  b_k = 1/(2Q) sum_l (D[k, l] - D[l, k])  is feasible,
sums to zero, is the unique b where there is one and the midpoint for Q = 2; it does not
depend on the road that the solver took.

Away from the optimum the gains contradict each other around some cycle. They are then
all lowered by the largest mean gain of a cycle, the least amount that reconciles them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNIQUE_BELOW = 1e-7


@dataclass(frozen=True, eq=False)
class Potentials:
    """The biases b (Q,), D[k, l] = max(b_k - b_l), and the largest mean cycle gain."""

    b: NDArray[np.float64]
    span: NDArray[np.float64]
    cycle_gain: float

    @property
    def width(self) -> float:
        """The longest interval that the optimal values of some b_k - b_l fill."""
        present = np.isfinite(self.b)
        span = self.span[np.ix_(present, present)]
        return float(np.max(span + span.T, initial=0.0))

    @property
    def unique(self) -> bool:
        """Whether no difference of biases can move (beyond rounding)."""
        return self.width < UNIQUE_BELOW


def arc_gains(
    alpha: NDArray[np.float64],
    gradient: NDArray[np.float64],
    y: NDArray[np.int64],
    C: float,
) -> NDArray[np.float64]:
    """G (Q, Q): b_a - b_b >= G_ab; -inf where nothing is said."""
    Q = alpha.shape[1]
    up = np.where(alpha < C, gradient, -np.inf)
    down = np.where(alpha > 0.0, -gradient, -np.inf)
    gains = np.full((Q, Q), -np.inf)
    for a in range(Q):
        rows = y == a
        if rows.any():
            gains[a] = np.maximum(gains[a], up[rows].max(axis=0))
            gains[:, a] = np.maximum(gains[:, a], down[rows].max(axis=0))
    np.fill_diagonal(gains, 0.0)
    return gains


def largest_mean_cycle(gains: NDArray[np.float64]) -> float:
    """The largest mean gain of a cycle of two or more arcs (Karp's recurrence)."""
    Q = gains.shape[0]
    arcs = gains.copy()
    np.fill_diagonal(arcs, -np.inf)
    walk = np.full((Q + 1, Q), -np.inf)
    walk[0] = 0.0
    for t in range(Q):
        walk[t + 1] = (walk[t][:, None] + arcs).max(axis=0)
    steps = Q - np.arange(Q)
    reached = np.isfinite(walk[Q])
    if not reached.any():
        return -np.inf
    means = (walk[Q] - walk[:Q]) / steps[:, None]
    return float(means[:, reached].min(axis=0).max())


def centre(
    alpha: NDArray[np.float64],
    gradient: NDArray[np.float64],
    y: NDArray[np.int64],
    C: float,
) -> Potentials:
    """The centre of the optimal biases; an absent class gets -inf.

    alpha, gradient: (m, Q), both zero at the own class.
    """
    Q = alpha.shape[1]
    present = np.bincount(y, minlength=Q) > 0
    gains = arc_gains(alpha, gradient, y, C)[np.ix_(present, present)]
    cycle_gain = largest_mean_cycle(gains) if present.sum() > 1 else 0.0
    span = -(gains.T - max(0.0, cycle_gain))
    np.fill_diagonal(span, 0.0)
    for j in range(span.shape[0]):
        span = np.minimum(span, span[:, j, None] + span[None, j, :])
    closed = np.where(np.isfinite(span), span, 0.0)
    b = np.full(Q, -np.inf)
    b[present] = (closed.sum(axis=1) - closed.sum(axis=0)) / (2 * present.sum())
    whole = np.full((Q, Q), np.inf)
    whole[np.ix_(present, present)] = span
    return Potentials(b, whole, cycle_gain)
