"""Steps along pairs of points towards the centre of the smallest enclosing ball.

Compiled, since each of the thousands of steps is a few loops over the points, and the
ball of the support vectors must cost less than training them (numba for the same reason
as in the solvers).
"""

from __future__ import annotations

import numpy as np
from numba import njit

TINY = 1e-300


@njit(cache=True, nogil=True, error_model="numpy")
def pair_steps(K, diagonal, beta, q, least, most):
    """Move weight beta between two points at a time, in place; -> the steps made.

    q = K beta is kept up to date.  The farthest point i takes weight from the support
    point j that gains most: with d = ||Phi(x_i) - c||^2 - ||Phi(x_j) - c||^2 and
    eta = ||Phi(x_i) - Phi(x_j)||^2, t = min(beta_j, d / (2 eta)) gains t (d - t eta).
    Ends when no support point is nearer than the farthest point by more than ``least``.
    """
    m = beta.size
    for step in range(most):
        i, far, near = 0, -np.inf, np.inf
        for k in range(m):
            d = diagonal[k] - 2.0 * q[k]
            if d > far:
                i, far = k, d
            if beta[k] > 0.0 and d < near:
                near = d
        if far - near <= least:
            return step
        Ki = K[i]
        j, most_gain, t = -1, 0.0, 0.0
        for k in range(m):
            d = far - diagonal[k] + 2.0 * q[k]
            if beta[k] > 0.0 and d > 0.0:
                eta = max(diagonal[i] + diagonal[k] - 2.0 * Ki[k], TINY)
                move = min(beta[k], d / (2.0 * eta))
                gain = move * (d - move * eta)
                if gain > most_gain:
                    j, most_gain, t = k, gain, move
        if j < 0:
            return step
        beta[i] += t
        beta[j] = 0.0 if t >= beta[j] else beta[j] - t
        Kj = K[j]
        for k in range(m):
            q[k] += t * (Ki[k] - Kj[k])
    return most
