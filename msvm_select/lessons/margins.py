"""``teach margins`` (Vitay, parts 1 to 4; Vert, 3 and 4.5): one machine, taken apart.

Functional margin of sample i against class k: h_{y_i}(x_i) - h_k(x_i); slack
xi_ik = max(0, 1 - it). Geometric margin: the functional one / ||w_{y_i} - w_k||, the
distance from the boundary of the two classes. With two classes and the notes' scale,
v = w_1 - w_0 and alpha_notes = 2 alpha, at hard margin

    alpha'H alpha = ||v||^2 = sum alpha_notes = 1 / gamma^2.

States (Vert, 4.5): alpha = 0 has slack 0; 0 < alpha < C lies on the margin; alpha = C
may have any slack. No strict inequality follows from alpha = 0 or alpha = C.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from msvm_select.lessons.base import Lesson
from msvm_select.records import Floats, Plain
from msvm_select.show.sheet import Look, Sheet, shown
from msvm_select.solution import Solution
from msvm_select.train.along_C import Trained

ON = 1e-6  # a slack or a surplus below it is 0
Line = tuple[str, str, Plain, str]
CONVENTIONS = (
    "VE: min ||v||^2 + C sum xi; lambda = 4 alpha, C = 4 times ours",
    "VI, LIBSVM: min 1/2 ||v||^2 + C sum xi; alpha = 2 alpha, C = 2 times ours",
    "RM, MS, ours: min 1/2 sum_k ||w_k||^2 + C sum xi_ik; v = w_1 - w_0",
)


def lesson(trained: Trained) -> Lesson:
    """Separability, margins, slacks, states, identities, conventions."""
    found = trained.solution
    dual = found.dual
    lines = [*_margins(found), *_slacks(found), *_states(found), *_identities(found)]
    names = ("of", "what", "value", "formula")
    rows = [dict(zip(names, line, strict=True)) for line in lines]
    looks = [Look(name, left=name != "value") for name in names]
    data = trained.cell.data
    sheet = Sheet(
        columns=looks,
        rows=rows,
        shown=names,
        above=[
            f"{data.name}: {dual.m} samples, {dual.Q} classes, {trained.kernel}, "
            f"C={shown(trained.C)}",
            "",
        ],
        below=["", "Conventions (two classes):", *CONVENTIONS],
    )
    return Lesson(sheet)


def functional(found: Solution) -> Floats:
    """h_{y_i} - h_k of each sample and other class (m (Q - 1),)."""
    own = np.arange(found.dual.m), found.dual.y
    margins = found.outputs[own][:, None] - found.outputs
    other = np.ones(margins.shape, dtype=bool)
    other[own] = False
    return np.asarray(margins[other])


def _margins(found: Solution) -> Iterator[Line]:
    margins = functional(found)
    least = float(margins.min())
    yield "margins", "separable", least > ON, "every h_y - h_k > 0"
    yield "margins", "functional, least", least, "min h_y - h_k"
    geometric = least_geometric(found)
    yield "margins", "geometric, least", geometric, "min (h_y - h_k) / ||w_y - w_k||"


def least_geometric(found: Solution) -> float:
    """The distance of the nearest sample from a boundary; below 0 beyond it."""
    S = found.tau.T @ found.F
    size = np.sqrt(np.add.outer(np.diag(S), np.diag(S)) - S - S.T)
    own = np.arange(found.dual.m), found.dual.y
    margins = found.outputs[own][:, None] - found.outputs
    far = np.full_like(margins, np.inf)
    there = size[found.dual.y] > 0.0
    return float(np.divide(margins, size[found.dual.y], out=far, where=there).min())


def _slacks(found: Solution) -> Iterator[Line]:
    xi = np.maximum(0.0, 1.0 - functional(found))
    for what, which in (
        ("0", xi <= ON),
        ("between 0 and 1", (xi > ON) & (xi <= 1.0)),
        ("above 1", xi > 1.0),
    ):
        yield "slacks", what, int(which.sum()), "xi = max(0, 1 - (h_y - h_k))"


def _states(found: Solution) -> Iterator[Line]:
    """How many (i, k) are in each state of alpha and margin."""
    own = np.zeros(found.alpha.shape, dtype=bool)
    own[np.arange(found.dual.m), found.dual.y] = True
    alpha = found.alpha[~own]
    box = np.repeat(found.dual.box, found.dual.Q - 1)
    margins = functional(found)
    places = (
        ("margin > 1", margins > 1.0 + ON),
        ("margin = 1", np.abs(margins - 1.0) <= ON),
        ("margin < 1", margins < 1.0 - ON),
    )
    states = (
        ("alpha = 0", alpha <= 0.0),
        ("0 < alpha < C", (alpha > 0.0) & (alpha < box)),
        ("alpha = C", alpha >= box),
    )
    for state, which in states:
        for place, there in places:
            count = int((which & there).sum())
            yield "states", f"{state}, {place}", count, "at the optimum"


def _identities(found: Solution) -> Iterator[Line]:
    norm = found.norm_w_squared
    yield "identity", "sum alpha", found.sum_alpha, "sum_ik alpha_ik"
    yield "identity", "alpha'H alpha", norm, "sum_k ||w_k||^2 = sum_ik tau_ik F_ik"
    if found.dual.Q != 2:
        return
    gamma = least_geometric(found)
    yield "notes", "||v||^2", 2.0 * norm, "v = w_1 - w_0"
    yield "notes", "sum alpha", 2.0 * found.sum_alpha, "alpha_notes = 2 alpha"
    if gamma > 0.0:
        yield "notes", "1 / gamma^2", 1.0 / gamma**2, "the least geometric margin"
    hard = found.hard_margin
    yield "notes", "all three equal", hard, "at hard margin: no alpha = C"
