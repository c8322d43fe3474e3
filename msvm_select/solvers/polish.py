"""From a solver's nearly optimal alpha to the optimum that it points at.

An interior-point or splitting method ends with every alpha_ik a little off its bound.
Each variable is compared with its multiplier r_ik = g_ik - (b_{y_i} - b_k), both made
scale-free, to tell which are at 0, which at C and which are free; the free ones and the
biases then solve

    [H_MM  A_M] [d ]   [g_M - A_M b      ]
    [A_M'   0 ] [db] = [-(flow imbalance)]        (A rows e_{y_i} - e_k)

which makes them stationary and restores the balance of flow. Where the answer leaves
the box or a bound has a multiplier of the wrong sign, the guess was wrong: it is taken
again from the new point (the primal-dual active set method) until nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from msvm_select.records import Dual, Floats, Ints, Work
from msvm_select.solution import Solution

ROUNDS = 40
RIDGE = 1e-11
LARGEST_SYSTEM = 6000
BALANCED = 1e-9

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Arcs:
    """The variables (i, k), k != y_i, by row: alpha_ik flows from ``own`` to k."""

    row: Ints
    own: Ints
    k: Ints

    @classmethod
    def of(cls, dual: Dual) -> Arcs:
        """All m (Q - 1) of them."""
        row, k = np.nonzero(np.arange(dual.Q) != dual.y[:, None])
        return cls(row, dual.y[row], k)

    def __getitem__(self, chosen: Mask) -> Arcs:
        """The arcs where ``chosen``."""
        return Arcs(self.row[chosen], self.own[chosen], self.k[chosen])

    @property
    def size(self) -> int:
        """How many."""
        return int(self.row.size)

    def tau(self, alpha: Floats, dual: Dual) -> Floats:
        """tau (m, Q) of alpha (arcs,)."""
        tau = np.zeros((dual.m, dual.Q))
        tau[self.row, self.k] = -alpha
        tau[np.arange(dual.m), dual.y] = -tau.sum(axis=1)
        return tau

    def incidence(self, Q: int) -> Floats:
        """A (arcs, Q): +1 at the own class, -1 at k."""
        A = np.zeros((self.size, Q))
        A[np.arange(self.size), self.own] = 1.0
        A[np.arange(self.size), self.k] = -1.0
        return A

    def hessian(self, dual: Dual) -> Floats:
        """H (arcs, arcs) = K_ij <e_{y_i} - e_k, e_{y_j} - e_l>."""
        A = self.incidence(dual.Q)
        if dual.gram.factor is not None:
            Z = dual.gram.factor[self.row]
            return np.asarray((Z @ Z.T) * (A @ A.T))
        return np.asarray(dual.gram.matrix[np.ix_(self.row, self.row)] * (A @ A.T))


def polish(dual: Dual, alpha: Floats, b: Floats, gap: float) -> Solution:
    """The best certified machine near alpha (arcs,), with the biases b (Q,)."""
    arcs = Arcs.of(dual)
    alpha = np.clip(alpha, 0.0, dual.C)
    best = _certified(dual, arcs, alpha, 0)
    g = best.gradient[arcs.row, arcs.k]
    previous = None
    for t in range(ROUNDS):
        free, alpha = _snapped(dual, arcs, alpha, g - (b[arcs.own] - b[arcs.k]))
        if free.sum() > LARGEST_SYSTEM:
            break
        alpha, b = _stationary(dual, arcs, alpha, b, free)
        found = _certified(dual, arcs, np.clip(alpha, 0.0, dual.C), t + 1)
        best = min(best, found, key=_shortfall)
        g = _gradient(dual, arcs, alpha)
        settled = previous is not None and np.array_equal(free, previous)
        if settled and _shortfall(best) <= gap:
            break
        previous = free
    return best


def _snapped(dual: Dual, arcs: Arcs, alpha: Floats, r: Floats) -> tuple[Mask, Floats]:
    """Which variables are free, and alpha with the others exactly at their bounds."""
    unit = min(dual.C, float(np.abs(alpha).max(initial=0.0))) or 1.0
    lower = alpha / unit + r <= 0.0
    upper = (alpha - dual.C) / unit + r >= 0.0
    alpha = np.where(lower, 0.0, np.where(upper, dual.C, alpha))
    return ~(lower | upper), alpha


def _stationary(
    dual: Dual, arcs: Arcs, alpha: Floats, b: Floats, free: Mask
) -> tuple[Floats, Floats]:
    """alpha and b once the free variables solve their equations, the others held."""
    some = arcs[free]
    if some.size == 0:
        return alpha, b
    tau = arcs.tau(alpha, dual)
    g = _gradient(dual, arcs, alpha)[free]
    A = some.incidence(dual.Q)
    used = _independent(some, dual.Q)
    H = some.hessian(dual)
    n, q = some.size, int(used.sum())
    system = np.zeros((n + q, n + q))
    system[:n, :n] = H
    system[np.arange(n), np.arange(n)] += RIDGE * float(np.diagonal(H).max())
    system[:n, n:], system[n:, :n] = A[:, used], A[:, used].T
    target = np.concatenate([g - A @ b, -tau.sum(axis=0)[used]])
    step = np.linalg.solve(system, target)
    alpha, b = alpha.copy(), b.copy()
    alpha[free] += step[:n]
    b[used] += step[n:]
    return alpha, b


def _independent(arcs: Arcs, Q: int) -> Mask:
    """The classes but one of each part that the arcs connect."""
    graph = coo_array((np.ones(arcs.size), (arcs.own, arcs.k)), shape=(Q, Q))
    _, part = connected_components(graph, directed=False)
    used = np.ones(Q, dtype=np.bool_)
    used[np.unique(part, return_index=True)[1]] = False
    return used


def _gradient(dual: Dual, arcs: Arcs, alpha: Floats) -> Floats:
    """g = 1 - (F_{i,y_i} - F_ik) of each arc."""
    F = dual.gram.product(arcs.tau(alpha, dual))
    return np.asarray(1.0 - F[arcs.row, arcs.own] + F[arcs.row, arcs.k])


def _certified(dual: Dual, arcs: Arcs, alpha: Floats, rounds: int) -> Solution:
    """The machine of alpha, clipped to its box."""
    tau = arcs.tau(alpha, dual)
    return Solution(dual, tau, dual.gram.product(tau), Work(newton=rounds))


def _shortfall(solution: Solution) -> float:
    """How far from a certified optimum: the gap, or else an unbalanced flow."""
    imbalance = solution.flow_imbalance
    return max(abs(solution.gap), imbalance if imbalance > BALANCED else 0.0)


def verdict(found: Solution, gap: float, work: Work, said: str = "") -> Solution:
    """``found`` with its work, and whether it reached ``gap`` with balanced flow."""
    if _shortfall(found) <= gap:
        return replace(found, work=work)
    what = f"gap {found.gap:.1e} where {gap:.0e} was asked"
    if found.flow_imbalance > BALANCED:
        what += f", flow out of balance by {found.flow_imbalance:.1e}"
    reason = "; ".join(filter(None, [what, said]))
    return replace(found, work=work, converged=False, reason=reason)
