"""What lessons share: their answer; the dual's value and slope, what a step reached.

    J(alpha) = sum_ik alpha_ik - 1/2 sum_k ||w_k||^2,   0 <= alpha_ik <= C,
    tau_ik = -alpha_ik,  tau_{i,y_i} = sum_k alpha_ik,  F = K tau,
    g_ik = dJ/dalpha_ik = 1 - (F_{i,y_i} - F_ik).

With Q = 2 and the notes' H_ij = t_i t_j K_ij, J = sum alpha - alpha'H alpha: the notes
have 1/2 alpha'H alpha, so their kernel is twice ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from msvm_select.records import TIE, Dual, Floats
from msvm_select.show.figures.drawing import Drawing
from msvm_select.show.sheet import Sheet


@dataclass(frozen=True)
class Lesson:
    """The answer of ``teach``."""

    sheet: Sheet
    drawing: Drawing | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """What a procedure has after so many steps; ``ended``: it knows that it is done."""

    steps: int
    objective: float | None
    errors: int
    alpha: Floats
    b: Floats
    ended: bool = False


Steps = Iterator[Step]


def tau_of(dual: Dual, alpha: Floats) -> Floats:
    """tau (m, Q) of alpha (m, Q)."""
    tau = -alpha
    tau[np.arange(dual.m), dual.y] += alpha.sum(axis=1)
    return tau


def slope(dual: Dual, F: Floats) -> Floats:
    """g (m, Q); zero at the sample's own class."""
    own = np.arange(dual.m), dual.y
    g = 1.0 - F[own][:, None] + F
    g[own] = 0.0
    return np.asarray(g)


def value(alpha: Floats, tau: Floats, F: Floats) -> float:
    """J(alpha)."""
    return float(alpha.sum()) - 0.5 * float(np.vdot(tau, F))


def wrong(dual: Dual, h: Floats) -> int:
    """How many samples have another class as large as their own."""
    others = h.copy()
    others[np.arange(dual.m), dual.y] = -np.inf
    return int((h[np.arange(dual.m), dual.y] - others.max(axis=1) <= TIE).sum())


def at(
    dual: Dual, steps: int, alpha: Floats, b: Floats | None = None, ended: bool = False
) -> Step:
    """The step whose dual variables are alpha, with the biases b (default: 0)."""
    b = np.zeros(dual.Q) if b is None else b
    tau = tau_of(dual, alpha)
    F = dual.gram.product(tau)
    errors = wrong(dual, F + b)
    return Step(steps, value(alpha, tau, F), errors, alpha.copy(), b, ended)
