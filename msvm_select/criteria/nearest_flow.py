"""How near a flow of the other support vectors comes to a sample in feature space.

    min_u || Phi(x_p) t - sum_a u_a Phi(x_a) d_a ||^2
    s.t.  sum_a u_a d_a = t,   0 <= u <= cap

over the arcs a = (x_i, y_i -> k) with alpha_ik > 0, i != p, where d_a = e_{y_i} - e_k
and t (Q,) sums to zero.  Nearly all arcs carry nothing at the optimum.  So it is found
over a few arcs, those near x_p and those that the last such program used, and over
more of them as long as one has a negative slope.  Each try is an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select.criteria.box_qp import minimise
from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solution import Solution

STEEP = 1e-10  # of ||t||^2 k(x_p, x_p): a slope that is worth another try
MORE = 40  # arcs that a try adds at most
LITTLE = 1e-6  # a flow that the next program need not begin with


class Arcs:
    """The arcs y_i -> k with alpha_ik > 0, and K between their samples."""

    def __init__(self, solution: Solution) -> None:
        """``rows`` and ``heads`` are i and k of each arc, ``tails`` is y_i."""
        y, self.Q = solution.dual.y, solution.dual.Q
        self.rows, self.heads = np.nonzero(solution.alpha > 0.0)
        self.tails: Ints = y[self.rows]
        self.alpha = solution.alpha[self.rows, self.heads]
        support, self.at = np.unique(self.rows, return_inverse=True)
        self.place = {int(p): at for at, p in enumerate(support)}
        self.K = _block(solution.dual.gram, support)
        eye = np.eye(self.Q)
        self.directions = eye[self.tails] - eye[self.heads]

    def squared_distances(self, p: int) -> Floats:
        """||Phi(x_p) - Phi(x_a)||^2 for every arc."""
        at, diagonal = self.place[p], self.K.diagonal()
        found: Floats = (diagonal[at] + diagonal - 2.0 * self.K[at])[self.at]
        return found

    def near(self, p: int, t: Floats, cap: Floats) -> Mask:
        """For every pair of classes the nearest arcs, so many that some flow is t.

        As t has one source or one sink, the flow may lead straight from class to class,
        but where the arcs between two of them have no room for it.
        """
        straight = np.minimum(np.maximum(t, 0.0)[:, None], np.maximum(-t, 0.0))
        pair = self.tails * self.Q + self.heads
        room = np.bincount(pair, np.minimum(cap, 1.0), self.Q**2)
        need = straight.ravel()
        if (room < need).any():
            need = np.ones(need.size)
        order = np.lexsort((self.squared_distances(p), cap <= 0.0, pair))
        ahead = np.cumsum(np.minimum(cap[order], 1.0))
        ahead = np.append(0.0, ahead[:-1])
        first = np.diff(pair[order], prepend=-1) > 0
        ahead -= ahead[np.flatnonzero(first)[np.cumsum(first) - 1]]
        chosen = np.zeros(order.size, np.bool_)
        chosen[order] = first | (ahead < need[pair[order]])
        return chosen & (cap > 0.0)


@dataclass(frozen=True, eq=False)
class Flow:
    """The square of the distance, and the arcs that carry something."""

    square: float
    used: Mask


def nearest_flow(
    arcs: Arcs, p: int, t: Floats, cap: Floats, enough: float, used: Mask | None = None
) -> Flow:
    """The flow nearest to Phi(x_p) t, or the first below ``enough``.

    ``cap`` (arcs,) is 0 on those of p, and leaves some flow; ``used`` is of another
    sample.
    """
    chosen = arcs.near(p, t, cap)
    if used is not None:
        chosen |= used & (cap > 0.0)
    own = float(arcs.K[arcs.place[p], arcs.place[p]] * (t @ t))
    while True:
        S = np.flatnonzero(chosen)
        u, square, slope = _over_some(arcs, p, t, cap, S)
        slope[chosen | (cap <= 0.0)] = 0.0
        steepest = np.argsort(slope)[:MORE]
        steepest = steepest[slope[steepest] < -STEEP * own]
        if own + square < enough or steepest.size == 0:
            carrying = np.zeros(chosen.size, np.bool_)
            carrying[S] = u > LITTLE
            return Flow(own + square, carrying)
        chosen[steepest] = True


def _over_some(
    arcs: Arcs, p: int, t: Floats, cap: Floats, S: Ints
) -> tuple[Floats, float, Floats]:
    """u on the arcs S; the objective without ||Phi(x_p) t||^2; every arc's slope."""
    cross = arcs.K[arcs.place[p], arcs.at] * (arcs.directions @ t)
    d, at = arcs.directions[S], arcs.at[S]
    H = arcs.K[np.ix_(at, at)] * (d @ d.T)
    zero = np.zeros(S.size)
    found = minimise(2.0 * H, -2.0 * cross[S], d[:, 1:], t[1:], zero, cap[S])
    tau = np.zeros((arcs.K.shape[0], arcs.Q))
    np.add.at(tau, at, found.x[:, None] * d)
    G = arcs.K @ tau
    slope = 2.0 * (G[arcs.at, arcs.tails] - G[arcs.at, arcs.heads] - cross)
    slope += arcs.directions[:, 1:] @ found.nu
    return found.x, float(found.x @ (H @ found.x - 2.0 * cross[S])), slope


def _block(gram: Gram, rows: Ints) -> Floats:
    """K between some samples."""
    if gram.factor is not None:
        return np.asarray(gram.factor[rows] @ gram.factor[rows].T)
    return np.asarray(gram.matrix[np.ix_(rows, rows)])
