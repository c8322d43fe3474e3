"""Rows whose class may be a mistake: the machine without them calls them by another.

They stand by their left-out margins, the clearest error first. Beside each are its
weight in the solution, and the rows that speak against it: of another class than its
own, those that add most to what the predicted class k leads by,

    c_j = K_pj (tau_jk - tau_jy),   y the class of p,

in the machine of all samples. One against one it is the machine of k and y that counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from msvm_select.model.examined import LeftOutReport
from msvm_select.parts import Composed, Rests
from msvm_select.records import Floats, Ints
from msvm_select.solution import Solution

SPEAKERS = 3  # rows that are named, of those that speak against one


@dataclass(frozen=True, eq=False)
class Suspect:
    """A row: what it is called without it, and who speaks against it, loudest first.

    ``weight``: the sum of its alpha by the largest of any row; ``k``: the class that
    leads there, also where a tie leaves it without a prediction.
    """

    sample: int
    k: int
    margin: float
    weight: float
    against: Ints


def suspects(report: LeftOutReport) -> tuple[Suspect, ...]:
    """The rows that are wrong without themselves, the most suspicious first.

    >>> [data.lines[one.sample] for one in suspects(report)]
    """
    return tuple(_found(report))


def _found(report: LeftOutReport) -> Iterator[Suspect]:
    left, solution = report.left_out, report.solution
    y, weight = left.y, solution.alpha.sum(axis=1)
    weight = weight / max(float(weight.max(initial=0.0)), 1e-300)
    wrong = np.flatnonzero(left.wrong)
    margin = np.where(np.isnan(left.margin), -np.inf, left.margin)
    order = wrong[np.lexsort((-weight[wrong], margin[wrong]))]
    rivals = _rivals(report)
    for p in order.tolist():
        k = int(rivals[p])
        speak = _speech(solution, p, int(y[p]), k)
        speak[y == y[p]] = 0.0
        loudest = np.argsort(-speak, kind="stable")[:SPEAKERS]
        against = loudest[speak[loudest] > 0.0]
        yield Suspect(p, k, float(margin[p]), float(weight[p]), against)


def _rivals(report: LeftOutReport) -> Ints:
    """The class that each sample is called by; at a tie the first of the others."""
    left = report.left_out
    others = np.where(np.isnan(left.margins), np.inf, left.margins)
    others[np.arange(left.y.size), left.y] = np.inf
    return np.where(left.predicted >= 0, left.predicted, others.argmin(axis=1))


def _speech(solution: Solution | Composed, p: int, y: int, k: int) -> Floats:
    """c_j of every sample (m,)."""
    m = solution.dual.m
    K = solution.dual.gram.block(np.array([p]), np.arange(m))[0]
    if not isinstance(solution, Composed):
        return np.asarray(K * (solution.tau[:, k] - solution.tau[:, y]))
    parts, alpha = solution.parts, solution.alpha
    if isinstance(parts, Rests):
        signed = parts.signs * alpha
        return np.asarray(K * (signed[:, k] - signed[:, y]))
    return np.where(parts.y == k, K * alpha[:, y], 0.0)
