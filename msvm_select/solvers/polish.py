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

That need not end where H_MM is singular: more free variables than dimensions. So each
search is for the optimum of the dual less delta/2 ||alpha - start||^2, with delta tiny
at first, ten times as large after a search that does not end and a tenth after one that
does: the proximal point method, whose fixed point is the optimum itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from msvm_select.geometry.arcs import Arcs
from msvm_select.records import Dual, Floats, Mask, Work
from msvm_select.solution import Solution
from msvm_select.solvers.base import RESIDUE

ROUNDS = 15  # of one search; one that ends takes 2 to 10
SOLVES = 600
EFFORT = 3e11  # the sum of n^3 over the systems of n free variables: some seconds
LEAST_DELTA = 1e-11
LEAST_DAMPING = 1e-4
BALANCED = 1e-9


def every_arc(dual: Dual) -> Arcs:
    """All m (Q - 1) variables."""
    return Arcs.where(np.arange(dual.Q) != dual.y[:, None], dual.y)


def polish(dual: Dual, alpha: Floats, b: Floats, gap: float) -> Solution:
    """The best certified machine near alpha (arcs,), with the biases b (Q,)."""
    search = Search(dual, every_arc(dual))
    alpha = np.clip(alpha, 0.0, search.box)
    best = search.certified(alpha)
    unit = _unit(alpha, search.box)
    tiny = LEAST_DELTA * max(float(dual.gram.diagonal.max()), np.finfo(float).tiny)
    delta = tiny
    while search.effort < EFFORT and search.solves < SOLVES:
        found, found_b, settled = search.run(alpha, b, delta)
        best = min(best, search.certified(found), key=_shortfall)
        if _shortfall(best) <= gap:
            break
        if settled:
            alpha, b, delta = found, found_b, max(tiny, delta / 10.0)
        else:
            delta = max(10.0 * delta, LEAST_DAMPING / unit)
    return search.tidied(best)


@dataclass(eq=False)
class Search:
    """The primal-dual active set method on one dual, and what it has cost so far."""

    dual: Dual
    arcs: Arcs
    solves: int = 0
    effort: float = 0.0

    @cached_property
    def box(self) -> Floats:
        """The largest alpha of each arc."""
        return self.dual.box[self.arcs.rows]

    def run(
        self, start: Floats, b: Floats, delta: float
    ) -> tuple[Floats, Floats, bool]:
        """alpha, b of the dual less delta/2 ||alpha - start||^2; whether it ended."""
        alpha, free = start, np.zeros(0, dtype=np.bool_)
        for _ in range(ROUNDS):
            last = free
            g = self._gradient(alpha) - delta * (alpha - start)
            r = g - (b[self.arcs.tails] - b[self.arcs.heads])
            free, alpha = _snapped(alpha, r, self.box)
            self.solves += 1
            self.effort += float(free.sum()) ** 3
            if self.effort > EFFORT:
                break
            g = self._gradient(alpha) - delta * (alpha - start)
            alpha, b = self._stationary(alpha, b, free, g, delta)
            if np.array_equal(free, last) and self._inside(alpha):
                return np.clip(alpha, 0.0, self.box), b, True
        return np.clip(alpha, 0.0, self.box), b, False

    def _stationary(
        self, alpha: Floats, b: Floats, free: Mask, g: Floats, delta: float
    ) -> tuple[Floats, Floats]:
        """alpha and b once the free variables solve their equations, others held."""
        some = self.arcs[free]
        if some.size == 0:
            return alpha, b
        A = some.incidence(self.dual.Q)
        used = _independent(some, self.dual.Q)
        n, q = some.size, int(used.sum())
        system = np.zeros((n + q, n + q))
        system[:n, :n] = some.hessian(self.dual.gram, self.dual.Q)
        system[np.arange(n), np.arange(n)] += delta
        system[:n, n:], system[n:, :n] = A[:, used], A[:, used].T
        imbalance = self._tau(alpha).sum(axis=0)
        target = np.concatenate([g[free] - A @ b, -imbalance[used]])
        step = np.linalg.solve(system, target)
        alpha, b = alpha.copy(), b.copy()
        alpha[free] += step[:n]
        b[used] += step[n:]
        return alpha, b

    def _tau(self, alpha: Floats) -> Floats:
        """tau (m, Q) of alpha (arcs,)."""
        tau = np.zeros((self.dual.m, self.dual.Q))
        tau[self.arcs.rows, self.arcs.heads] = -alpha
        tau[np.arange(self.dual.m), self.dual.y] = -tau.sum(axis=1)
        return tau

    def _gradient(self, alpha: Floats) -> Floats:
        """g = 1 - (F_{i,y_i} - F_ik) of each arc."""
        arcs = self.arcs
        F = self.dual.gram.product(self._tau(alpha))
        return np.asarray(1.0 - F[arcs.rows, arcs.tails] + F[arcs.rows, arcs.heads])

    def _inside(self, alpha: Floats) -> bool:
        """Whether alpha keeps its box, but for rounding."""
        slack = 1e-9 * self.box
        return bool(((alpha >= -slack) & (alpha <= self.box + slack)).all())

    def certified(self, alpha: Floats) -> Solution:
        """The machine of alpha."""
        tau = self._tau(alpha)
        F = self.dual.gram.product(tau)
        return Solution(self.dual, tau, F, Work(newton=self.solves))

    def tidied(self, best: Solution) -> Solution:
        """With residues beside a bound, which would pin the biases, put there.

        Unless the certificate suffers.
        """
        alpha, top = best.alpha[self.arcs.rows, self.arcs.heads], self.box
        low, high = alpha < RESIDUE * _unit(alpha, top), alpha > top * (1.0 - RESIDUE)
        found = self.certified(np.where(low, 0.0, np.where(high, top, alpha)))
        return found if _shortfall(found) <= max(2 * _shortfall(best), 1e-10) else best


def _unit(alpha: Floats, box: Floats) -> float:
    """What makes alpha scale-free."""
    return min(float(box.max()), float(np.abs(alpha).max(initial=0.0))) or 1.0


def _snapped(alpha: Floats, r: Floats, box: Floats) -> tuple[Mask, Floats]:
    """Which variables are free, and alpha with the others exactly at their bounds.

    A variable is at the nearer bound, where its distance is less than its multiplier
    that pulls it there; it never goes from one bound to the other at once.
    """
    unit, near = _unit(alpha, box), alpha <= 0.5 * box
    lower = near & (alpha / unit + r <= 0.0)
    upper = ~near & ((alpha - box) / unit + r >= 0.0)
    return ~(lower | upper), np.where(lower, 0.0, np.where(upper, box, alpha))


def _independent(arcs: Arcs, Q: int) -> Mask:
    """The classes but one of each part that the arcs connect."""
    graph = coo_array((np.ones(arcs.size), (arcs.tails, arcs.heads)), shape=(Q, Q))
    _, part = connected_components(graph, directed=False)
    used = np.ones(Q, dtype=np.bool_)
    used[np.unique(part, return_index=True)[1]] = False
    return used


def _shortfall(solution: Solution) -> float:
    """How far from a certified optimum: the gap, or else an unbalanced flow.

    Both by the size of alpha, where that is below 1: at a small C all is small.
    """
    size = min(1.0, solution.sum_alpha) or 1.0
    imbalance = solution.flow_imbalance / size
    return max(abs(solution.gap) / size, imbalance if imbalance > BALANCED else 0.0)


def verdict(found: Solution, gap: float, work: Work, said: str = "") -> Solution:
    """``found`` with its work, and whether it reached ``gap`` with balanced flow."""
    if _shortfall(found) <= gap:
        return replace(found, work=work)
    size = min(1.0, found.sum_alpha) or 1.0
    what = f"gap {found.gap:.1e} where {gap * size:.0e} was asked"
    if found.flow_imbalance > BALANCED:
        what += f", flow out of balance by {found.flow_imbalance:.1e}"
    reason = "; ".join(filter(None, [what, said]))
    return replace(found, work=work, converged=False, reason=reason)
