"""Frank-Wolfe, the method of MSVMpack: a linear problem shows the way.

    u  <- argmax { <g, u> : 0 <= u_ik <= C, sum_i tau_ik(u) = 0 for each class k }
    alpha <- alpha + theta (u - alpha),
    theta = min(1, <g, u - alpha> / sum_k ||w_k(u) - w_k(alpha)||^2)

g is the slope of J at alpha, u a corner of what is feasible, theta the best step
towards it. <g, u - alpha> is never below J* - J(alpha): each step knows how far it is
at most from the optimum. Corners are far away, so that the steps zigzag, and the error
falls as 1/t only.
"""

from __future__ import annotations

import numpy as np

from msvm_select.errors import SolverError
from msvm_select.lessons.base import Steps, at, slope, tau_of
from msvm_select.records import Dual, Floats
from msvm_select.solution import Solution

ENOUGH = 1e-6  # of J: a bound on the distance that ends it


def frank_wolfe(dual: Dual, most: int = 200) -> Steps:
    """A step is one linear problem, solved by HiGHS, and one exact line search."""
    own = np.zeros((dual.m, dual.Q), dtype=bool)
    own[np.arange(dual.m), dual.y] = True
    i, k = np.nonzero(~own)
    columns = np.arange(i.size)
    balance = np.zeros((dual.Q, i.size))
    balance[dual.y[i], columns] += 1.0
    balance[k, columns] -= 1.0
    alpha = np.zeros((dual.m, dual.Q))
    F = np.zeros((dual.m, dual.Q))
    for step in range(1, most + 1):
        g = slope(dual, F)[i, k]
        way = -alpha
        way[i, k] += _corner(g, balance, dual.box[i])
        ahead = float(g @ way[i, k])
        toward = tau_of(dual, way)
        move = dual.gram.product(toward)
        curve = float(np.vdot(toward, move))
        theta = min(1.0, ahead / curve) if curve > 0.0 else 1.0
        alpha, F = alpha + theta * way, F + theta * move
        J = float(alpha.sum()) - 0.5 * float(np.vdot(tau_of(dual, alpha), F))
        ended = ahead <= ENOUGH * max(1.0, abs(J))
        b = Solution(dual, tau_of(dual, alpha), F).b
        yield at(dual, step, alpha, b, ended)
        if ended:
            return


def _corner(g: Floats, balance: Floats, box: Floats) -> Floats:
    """The largest <g, u> over what is feasible."""
    from scipy.optimize import linprog

    zero = np.zeros(len(balance))
    ends = [(0.0, float(most)) for most in box]
    found = linprog(-g, A_eq=balance, b_eq=zero, bounds=ends, method="highs")
    if found.x is None:
        raise SolverError(f"frank-wolfe: the linear problem failed: {found.message}")
    return np.asarray(found.x)
