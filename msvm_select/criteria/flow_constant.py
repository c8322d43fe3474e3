"""The constant K of the radius-margin bound, by the flow between the classes.

    K = sqrt( max over (i, k) with alpha_ik > 0 of  K_lambda,ik K_mu,ik )

are optima of two quadratic programs in m Q variables each.  Their objective
sum_l (sum_j lambda_jl)^2 sees lambda only through the flow between the classes, so with

    F[c, l] = sum_{i in C_c} alpha_il,    s_i = sum_l alpha_il,

the first is a circulation on Q nodes, whatever m is:

    M_i = alpha_ik^2 K_lambda,ik
        = min sum_l (sum_c f[c, l])^2   over circulations f with
          alpha_il <= f[y_i, l] <= F[y_i, l],   0 <= f[c, l] <= F[c, l],

which does not depend on k.  M_i >= s_i^2 + sum_l alpha_il^2, with equality where
alpha_il <= F[l, y_i] for all l: nearly always.  Where one class alone cannot send back
all that it got, a water level says who passes on the rest; else the program is solved.
No arc carries more than sqrt(Q) s_i, and M_i <= Q s_i^2.  The second program has the
optimum 2.  So  K = sqrt( 2 max_i M_i / min_k alpha_ik^2 ), and K = 2 for Q = 2.

K grows like 1 / min alpha.  An alpha below 1e-6 of the largest is ignored there, as it
is not told from 0 by a machine trained to a relative gap of 1e-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from msvm_select.criteria.box_qp import minimise
from msvm_select.errors import SolverError
from msvm_select.records import Floats, Ints
from msvm_select.solution import Solution

K_MU = 2.0
IGNORED = 1e-6  # of the largest alpha
BRIM = 1e-9  # of s_i: an arc filled to the brim


@dataclass(frozen=True)
class Constant:
    """K, and the sample and the class that attain it."""

    K: float
    sample: int
    against: int


class FlowConstant:
    """M_i of every support vector, solved for only where it is asked for.

    A program may fail. Its M_i is then not known, and ``missing`` says why.
    """

    def __init__(self, solution: Solution) -> None:
        """alpha of the support vectors, and the flow F between the classes."""
        self.rows: Ints = np.flatnonzero(solution.is_support_vector)
        self.alpha = solution.alpha[self.rows]
        self.y = solution.dual.y[self.rows]
        Q = solution.dual.Q
        self.F = np.zeros((Q, Q))
        np.add.at(self.F, self.y, self.alpha)
        self.s = self.alpha.sum(axis=1)
        self._M = self.s**2 + (self.alpha**2).sum(axis=1)
        room = self.F[:, self.y].T + BRIM * self.s[:, None]
        self._open = (self.alpha > room).any(axis=1)
        self._failed = np.zeros(self.rows.size, np.bool_)
        self.missing = ""

    @property
    def open(self) -> int:
        """How many M_i are not known yet: their program is still to be solved."""
        return int(self._open.sum())

    @cached_property
    def M(self) -> Floats:
        """M_i of each support vector, in the order of ``rows``; nan: not known."""
        for i in np.flatnonzero(self._open):
            self._settle(int(i))
        return np.where(self._failed, np.nan, self._M)

    @property
    def at_most(self) -> Floats:
        """M_i, or where it is not known Q s_i^2, which it does not exceed."""
        return np.where(np.isnan(self.M), self.F.shape[0] * self.s**2, self.M)

    @cached_property
    def constant(self) -> Constant | None:
        """K; only the programs that could raise it are solved.

        None without alpha, and where a program failed that could raise it.
        """
        if self.rows.size == 0:
            return None
        counted = self.alpha >= IGNORED * float(self.alpha.max())
        least = np.where(counted, self.alpha, np.inf).min(axis=1)
        most = self.F.shape[0] * (self.s / least) ** 2
        highest = float((self._M / least**2).max())
        for i in np.flatnonzero(self._open & (most > highest)):
            highest = max(highest, self._settle(int(i)) / float(least[i]) ** 2)
        if (self._failed & (most > highest)).any():
            return None
        at = int((self._M / least**2).argmax())
        k = int(np.where(counted[at], self.alpha[at], np.inf).argmin())
        return Constant(float(np.sqrt(K_MU * highest)), int(self.rows[at]), k)

    def _settle(self, i: int) -> float:
        """M_i of one support vector; what it is at least, if its program fails."""
        if self._open[i]:
            self._open[i] = False
            alpha, own = self.alpha[i], int(self.y[i])
            try:
                M = by_water_level(self.F, alpha, own)
                if M is None:
                    M = float((least_flow(self.F, alpha, own).sum(axis=0) ** 2).sum())
                self._M[i] = M
            except SolverError as error:
                self._failed[i], self.missing = True, str(error)
        return float(self._M[i])


def by_water_level(F: Floats, alpha: Floats, own: int) -> float | None:
    """M_i where one class a alone holds a rest e = alpha_a - F[a, y]; None if unsure.

    The others take x_b <= min(F[a, b], F[b, y] - alpha_b) of it, sum x_b = e, so that
    sum (alpha_b + x_b)^2 is least: up to one level.  Two hops add two heights; they are
    no better unless a full b and one that a has no arc left to lie below the level.
    """
    back = F[:, own] - alpha
    back[own] = 0.0
    (held,) = np.nonzero(back < 0.0)
    if held.size != 1:
        return None
    a, rest = int(held[0]), -float(back[held[0]])
    others = np.delete(np.arange(alpha.size), [a, own])
    base, room, arc = alpha[others], back[others], F[a, others]
    most = np.minimum(room, arc)
    heights = np.sort(np.concatenate([base, base + most]))
    volumes = np.clip(heights[:, None] - base, 0.0, most).sum(axis=1)
    if volumes[-1] < rest:
        return None
    level = float(np.interp(rest, volumes, heights))
    x = np.clip(level - base, 0.0, most)
    full, cut = (x < arc) & (x >= room), (x >= arc) & (x < room)
    height = base + x
    two_hops = height[full].min(initial=np.inf) + height[cut].min(initial=np.inf)
    if two_hops < level:
        return None
    return float((height**2).sum() + alpha[a] ** 2 + alpha.sum() ** 2)


def least_flow(F: Floats, alpha: Floats, own: int) -> Floats:
    """f (Q, Q) of the program of M_i: alpha (Q,) of a sample of class ``own``."""
    Q, s = alpha.size, float(alpha.sum())
    tails, heads = np.nonzero(~np.eye(Q, dtype=np.bool_))
    lo = np.where(tails == own, alpha[heads] / s, 0.0)
    hi = np.maximum(lo, np.minimum(F[tails, heads] / s, np.sqrt(Q)))
    into = np.eye(Q)[heads]
    balance = (np.eye(Q)[tails] - into)[:, 1:]
    H = 2.0 * into @ into.T
    f = np.zeros((Q, Q))
    found = minimise(H, np.zeros(lo.size), balance, np.zeros(Q - 1), lo, hi)
    f[tails, heads] = s * found.x
    return f
