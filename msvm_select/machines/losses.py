"""The losses: how the slacks of a machine are paid for, and the dual that follows."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.machines.base import Loss
from msvm_select.records import Dual, Floats, Gram, Ints, ridge_of


class Hinge(Loss):
    """One hinge for each pair of sample and other class.

    Primal:  min 1/2 sum_k ||w_k||^2 + C sum_i sum_{k != y_i} xi_ik
             s.t. h_{y_i}(x_i) - h_k(x_i) >= 1 - xi_ik,  xi_ik >= 0.
    (With weights, C of sample i is C w_i, here and below.)
    Dual:    max sum_ik alpha_ik - 1/2 sum_k ||w_k||^2,
             0 <= alpha_ik <= C,  alpha_{i,y_i} = 0,  and for each class k
             sum_{i in C_k} sum_l alpha_il = sum_i alpha_ik,
    where w_k = sum_i tau_ik Phi(x_i), tau_ik = -alpha_ik for k != y_i and
    tau_{i,y_i} = sum_l alpha_il. With Q = 2 it is the ordinary SVM at 2C.
    """

    name: ClassVar[str] = "l1"

    def dual(
        self, gram: Gram, y: Ints, Q: int, C: float, weights: Floats | None = None
    ) -> Dual:
        """The training problem for the labels y (m,) in 0..Q-1, with C_i = C w_i."""
        check_C(C)
        return Dual(gram, y, Q, C, weights=weights)


class Quadratic(Loss):
    """h_k(x) = <w_k, Phi(x)> + b_k with the slacks of a sample squared together.

    Primal:  min 1/2 sum_k ||w_k||^2 + C sum_i xi_i'(I - 11'/Q) xi_i
             s.t. h_{y_i}(x_i) - h_k(x_i) >= 1 - xi_ik,  xi_i in R^{Q-1}.
    Dual:    that of the hard margin (no box) in the kernel K + I/(2C).

    Give each sample a coordinate of its own, e_i / sqrt(2C), and w_k the weights v_ki
    there, whose sum over k is 0. Then xi_ik = (v_{i,y_i} - v_ik) / sqrt(2C), and 1/2
    sum_k v_ik^2 = C xi_i'(I - 11'/Q) xi_i: the loss is a part of the norm. At the
    optimum xi_ik = (alpha_ik + sum_l alpha_il) / (2C) >= 0. With Q = 2 it is the SVM
    1/2 ||w||^2 + C sum xi^2. A new sample is orthogonal to all these coordinates: it is
    classified by K alone, and so is a sample that is left out.

    The solvers want a box, and Cm is one that no alpha reaches (with weights, C times
    their sum). The point w = 0, b = 0, xi = 1 bounds the optimum by C m (Q - 1) / Q;
    there sum alpha is twice the optimum, and alpha, a circulation, has at most half of
    its sum on one arc. To leave samples out only lowers the optimum, so that this box
    holds for those machines too.
    """

    name: ClassVar[str] = "l2"

    def dual(
        self, gram: Gram, y: Ints, Q: int, C: float, weights: Floats | None = None
    ) -> Dual:
        """The training problem for the labels y (m,) in 0..Q-1, with C_i = C w_i."""
        check_C(C)
        K, box = gram.matrix.copy(), C * all_weight(y, weights)
        K[np.diag_indices_from(K)] += ridge_of(2.0 * C, y.size, weights)
        return Dual(Gram(whole=K), y, Q, box, quadratic=C, weights=weights)


def all_weight(y: Ints, weights: Floats | None) -> float:
    """The sum of the weights; m without any."""
    return float(y.size) if weights is None else float(weights.sum())


def check_C(C: float) -> None:
    """Refuse what is no weight."""
    if not (math.isfinite(C) and C > 0.0):
        raise SettingsError(f"C = {C} must be a number greater than 0.")
