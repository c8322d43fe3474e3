"""Logarithms of the covering numbers N(gamma/4, Delta_gamma H, 2m) of the machine.

H holds the machines of Q classes with sqrt(sum_k ||w_k||^2) <= Lambda_w, all |b_k| <=
beta, and ||Phi(x)|| <= Lambda_Phi for every x. Two bounds are known; both begin with

    Q ln(2 ceil(4 beta / gamma) + 1)        (Proposition 2: a cover of the biases).

N itself overflows at once, so that all is done in logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from msvm_select.records import Floats

HIGHEST_DIMENSION = 1e200  # one beyond it is told from no other, and overflows
SMALLEST = 1e-300  # so that nothing is divided by 0
LAST_DIGITS = 1e-11  # relative, of Newton's method: not to miss a whole number by it


@dataclass(frozen=True)
class Machines:
    """The class H: its bounds Lambda_w, Lambda_Phi and beta, for m samples."""

    Q: int
    m: int
    Lambda_w: float
    Lambda_Phi: float
    beta: float

    def biases(self, gamma: Floats) -> Floats:
        """Q ln(2 ceil(4 beta / gamma) + 1)."""
        grid = 2.0 * np.ceil(4.0 * self.beta / gamma) + 1.0
        return np.asarray(self.Q * np.log(grid))


def finite_dimension(machines: Machines, gamma: Floats, d: int) -> Floats:
    """Theorem 3, ln N where the feature space has the finite dimension d.

    ln N = biases + Q d ln(32 Lambda_w Lambda_Phi / gamma)

    Where the machine is next to nothing the last term would be negative: it counts the
    balls of a cover, of which there is one at least.
    """
    scale = 32.0 * machines.Lambda_w * machines.Lambda_Phi
    if scale <= 0.0:
        return machines.biases(gamma)
    exponent = float(machines.Q * min(d, HIGHEST_DIMENSION))
    balls = exponent * (math.log(scale) - np.log(gamma))
    return np.asarray(machines.biases(gamma) + np.maximum(balls, 0.0))


def any_dimension(machines: Machines, gamma: Floats, c: float) -> Floats:
    """Theorem 2, ln N whatever the feature space, with the logarithm of Lemma 1 kept.

    ln N = biases + ln 2 (n* - 1),   n* = min{ n : n >= A^2 log2(1 + 2Qm / n) },

    A = 8 c Lambda_w Lambda_Phi / gamma. The printed form is never smaller.
    """
    A = 8.0 * c * machines.Lambda_w * machines.Lambda_Phi / gamma
    n = least_whole(A, 2.0 * machines.Q * machines.m)
    return np.asarray(machines.biases(gamma) + math.log(2.0) * (n - 1.0))


def any_dimension_as_printed(machines: Machines, gamma: Floats, c: float) -> Floats:
    """Theorem 2 with log2(1 + y) <= y / ln 2, and a whole exponent:

    ln N = biases + ln 2 ( ceil( A sqrt(2Qm / ln 2) ) - 1 ).
    """
    A = 8.0 * c * machines.Lambda_w * machines.Lambda_Phi / gamma
    exponent = np.ceil(A * math.sqrt(2.0 * machines.Q * machines.m / math.log(2.0)))
    return np.asarray(
        machines.biases(gamma) + math.log(2.0) * np.maximum(exponent - 1.0, 0.0)
    )


def least_whole(A: Floats, M: float) -> Floats:
    """min{ n = 1, 2, .. : n >= A^2 log2(1 + M / n) }, for each A.

    With u = M / n the border is u ln(1 + u) = s, s = M ln 2 / A^2. The start is within
    11 % of that u for every s; three steps of Newton's method bring it to 1e-11.
    """
    highest = M * math.log1p(M)  # there n = 1
    square = np.maximum(A * A, M * math.log(2.0) / highest)
    s = np.maximum(M * math.log(2.0) / square, SMALLEST)
    u = s / np.log1p(s / np.log1p(np.sqrt(s)))
    for _ in range(3):
        grown = np.log1p(u)
        u -= (u * grown - s) / (grown + u / (1.0 + u))
    n = np.ceil(M / u * (1.0 - LAST_DIGITS))
    return np.asarray(np.maximum(n, 1.0))
