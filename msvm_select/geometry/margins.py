"""The pairwise margins of a trained machine, and Proposition 2 about them.

    delta_kl = min( min_{x in C_k} h_k(x) - h_l(x), min_{x in C_l} h_l(x) - h_k(x) ) - 1
    gamma_kl = (1 + delta_kl) / ||w_k - w_l||

gamma_kl is the distance, in feature space, of the closest sample of the two classes to
the hyperplane between them; negative where one of them lies beyond it. In a part of a
machine of parts w_k - w_l is its w, and h_k - h_l its decision.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from msvm_select.parts import Composed
from msvm_select.records import Floats, Ints
from msvm_select.solution import Solution

ALIKE = 1e-6  # functional margins that near each other are one
REST = -1  # in the place of a class: all others
SAME_WEIGHTS = 1e-12  # of the largest: w_k and w_l are the same


@dataclass(frozen=True, eq=False)
class PairMargin:
    """Classes k < l: gamma_kl, delta_kl, ||w_k - w_l||.

    ``closest_k`` holds the samples of class k with the least h_k - h_l (all within
    1e-6 of it), ``margin_k`` that difference; likewise for l.  gamma is infinite where
    w_k = w_l and the biases alone tell the classes apart, NaN where they do not.
    """

    k: int
    l: int
    gamma: float
    delta: float
    distance: float
    margin_k: float
    margin_l: float
    closest_k: Ints
    closest_l: Ints


def pair_margins(solution: Solution) -> tuple[PairMargin, ...]:
    """One a pair of classes that both have samples, in order."""
    h, y = solution.outputs, solution.dual.y
    distances = weight_distances(solution)
    present = np.unique(y)
    pairs = []
    for a, k in enumerate(present):
        for l in present[a + 1 :]:
            margin_k, closest_k = _closest(h[:, k] - h[:, l], y == k)
            margin_l, closest_l = _closest(h[:, l] - h[:, k], y == l)
            least, distance = min(margin_k, margin_l), float(distances[k, l])
            alike = math.inf if least > 0.0 else math.nan
            gamma = least / distance if distance > 0.0 else alike
            pair = PairMargin(
                int(k), int(l), gamma, least - 1.0, distance,
                margin_k, margin_l, closest_k, closest_l,
            )  # fmt: skip
            pairs.append(pair)
    return tuple(pairs)


def part_margins(machine: Composed) -> Iterator[PairMargin]:
    """One a part; against the rest, l is REST."""
    for part, solution in machine.solutions():
        (found,) = pair_margins(solution)
        rest = part.first == part.second
        yield replace(
            found,
            k=part.second,
            l=REST if rest else part.first,
            closest_k=part.rows[found.closest_k],
            closest_l=part.rows[found.closest_l],
        )


def _closest(difference: Floats, members: Ints) -> tuple[float, Ints]:
    """The least h_k - h_l over a class, and where it is attained."""
    rows = np.flatnonzero(members)
    least = float(difference[rows].min())
    return least, rows[difference[rows] <= least + ALIKE]


def weight_distances(solution: Solution) -> Floats:
    """||w_k - w_l|| (Q, Q), from <w_k, w_l> = tau_k' K tau_l."""
    inner = solution.tau.T @ solution.F
    inner = (inner + inner.T) / 2.0
    sizes = np.diagonal(inner)
    squared = np.add.outer(sizes, sizes) - 2.0 * inner
    squared[squared <= SAME_WEIGHTS * max(float(squared.max()), 0.0)] = 0.0
    return np.asarray(np.sqrt(squared))


@dataclass(frozen=True)
class Proposition2:
    """Four numbers that are one at the optimum.

    sum alpha (less C sum xi, 0 in the separable case) = alpha' H alpha
    = sum_k ||w_k||^2 = 1/Q sum_{k<l} ((1 + delta_kl) / gamma_kl)^2.
    """

    sum_alpha: float
    alpha_H_alpha: float
    sum_norms: float
    pairs: float

    @property
    def disagreement(self) -> float:
        """The largest difference of two of them, relative to the largest."""
        four = (self.sum_alpha, self.alpha_H_alpha, self.sum_norms, self.pairs)
        largest = max(map(abs, four))
        return (max(four) - min(four)) / largest if largest else 0.0


def proposition_2(solution: Solution) -> Proposition2:
    """The four numbers, each computed by its own formula.

    The slack's share of sum alpha is taken as sum alpha xi: where xi > 0, alpha = C.
    (1 + delta_kl) / gamma_kl is ||w_k - w_l||, whatever delta_kl is.
    """
    alpha, F, y = solution.alpha, solution.F, solution.dual.y
    own = F[np.arange(y.size), y][:, None]
    present = np.unique(y)
    squared = weight_distances(solution)[np.ix_(present, present)] ** 2
    return Proposition2(
        sum_alpha=float((alpha * (1.0 - solution.slacks)).sum()),
        alpha_H_alpha=float((alpha * (own - F)).sum()),
        sum_norms=float(np.trace(solution.tau.T @ F)),
        pairs=float(np.triu(squared).sum()) / present.size,
    )
