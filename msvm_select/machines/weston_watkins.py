"""The machine of Weston and Watkins: one hinge for each pair of sample and class."""

from __future__ import annotations

import math
from typing import ClassVar

from msvm_select.errors import SettingsError
from msvm_select.machines.base import Machine
from msvm_select.records import Dual, Gram, Ints


class WestonWatkins(Machine):
    """h_k(x) = <w_k, Phi(x)> + b_k, k = 1..Q, trained all at once.

    Primal:  min 1/2 sum_k ||w_k||^2 + C sum_i sum_{k != y_i} xi_ik
             s.t. h_{y_i}(x_i) - h_k(x_i) >= 1 - xi_ik,  xi_ik >= 0.
    Dual:    max sum_ik alpha_ik - 1/2 sum_k ||w_k||^2,
             0 <= alpha_ik <= C,  alpha_{i,y_i} = 0,  and for each class k
             sum_{i in C_k} sum_l alpha_il = sum_i alpha_ik,
    where w_k = sum_i tau_ik Phi(x_i), tau_ik = -alpha_ik for k != y_i and
    tau_{i,y_i} = sum_l alpha_il. With Q = 2 it is the ordinary SVM at 2C.
    """

    name: ClassVar[str] = "l1"

    def dual(self, gram: Gram, y: Ints, Q: int, C: float) -> Dual:
        """The training problem for the labels y (m,) in 0..Q-1."""
        if not (math.isfinite(C) and C > 0.0):
            raise SettingsError(f"C = {C} must be a number greater than 0.")
        return Dual(gram, y, Q, C)
