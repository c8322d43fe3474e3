"""Spans of two-class machines, compiled: many parts in one call.

With the free variables F of an optimum, K~ = K_FF + t 1 1' = L L' (where sum beta is
held, t changes no solution), w = L^-1 1 and tau = w'w, the inverse of [K_FF 1; 1' 0]
has the upper left block R = K~^-1 - K~^-1 1 1' K~^-1 / tau. A free p has the span
1 / R_pp: without it the others give its output s_p f(x_p) the value 1 - a_p / R_pp.
The span of p at its bound is, with z = L^-1 (k_p + t 1),

    S_p = K_pp + t - z'z + (1 - z'w)^2 / tau,

and its output falls by a_p S_p.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

BLOCK = 32  # rows that are solved for at once
inner = njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


@inner
def _factored(A: Any) -> bool:  # pragma: no cover (compiled)
    """A (n, n) becomes L below its diagonal; False where it is not definite."""
    n = A.shape[0]
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        for a in range(first, n):
            row = A[a]
            for b in range(first, min(a + 1, last)):
                s, other = row[b], A[b]
                for c in range(first, b):
                    s -= row[c] * other[c]
                if b < a:
                    row[b] = s / other[b]
                elif s > 0.0:
                    row[b] = np.sqrt(s)
                else:
                    return False
        rest, size = n - last, last - first
        if rest == 0:
            break
        below, turned = np.empty((rest, size)), np.empty((size, rest))
        for a in range(rest):
            for c in range(size):
                below[a, c] = turned[c, a] = A[last + a, first + c]
        product = np.dot(below, turned)
        for a in range(rest):
            for b in range(a + 1):
                A[last + a, last + b] -= product[a, b]
    return True


@inner
def _solved(L: Any, B: Any) -> None:  # pragma: no cover (compiled)
    """B becomes L^-1 B."""
    n = L.shape[0]
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        if first:
            left = np.empty((last - first, first))
            for a in range(first, last):
                for c in range(first):
                    left[a - first, c] = L[a, c]
            product = np.dot(left, B[:first])
            for a in range(first, last):
                for k in range(B.shape[1]):
                    B[a, k] -= product[a - first, k]
        for a in range(first, last):
            row = B[a]
            for c in range(first, a):
                f, other = L[a, c], B[c]
                for k in range(row.size):
                    row[k] -= f * other[k]
            f = 1.0 / L[a, a]
            for k in range(row.size):
                row[k] *= f


@inner
def _one_part(
    K: Any, at: Any, begin: Any, end: Any, alpha: Any, box: Any, ridge: Any, out: Any,
    damp: Any, rigid: Any,
) -> bool:  # fmt: skip # pragma: no cover (compiled)
    """The outputs of one part, see ``predict_parts``."""
    free, held = np.empty(end - begin, np.int64), np.empty(end - begin, np.int64)
    n, bound, most = 0, 0, 0.0
    for p in range(begin, end):
        if alpha[p] >= box[p]:
            held[bound] = p
            bound += 1
        elif alpha[p] > 0.0:
            free[n] = p
            n += 1
    if n == 0:  # nothing ties b, which stays where it is
        for b in range(bound):
            p = held[b]
            out[p] -= alpha[p] * (K[at[p], at[p]] + ridge[p])
        return True
    for a in range(n):
        i = free[a]
        most = max(most, K[at[i], at[i]] + ridge[i])
    A, B = np.empty((n, n)), np.zeros((n, n + bound + 1))
    for a in range(n):
        row, source = A[a], K[at[free[a]]]
        for b in range(n):
            row[b] = source[at[free[b]]] + most
        row[a] += ridge[free[a]] + damp * most
        B[a, a] = B[a, n] = 1.0
        for b in range(bound):
            B[a, n + 1 + b] = source[at[held[b]]] + most
    if not _factored(A):
        return False
    _solved(A, B)
    square, along = np.zeros(B.shape[1]), np.zeros(B.shape[1])
    for a in range(n):
        row, f = B[a], B[a, n]
        for k in range(row.size):
            square[k] += row[k] * row[k]
            along[k] += f * row[k]
    tau = square[n]
    for a in range(n):
        R = square[a] - along[a] * along[a] / tau
        out[free[a]] = 1.0 - alpha[free[a]] / R if R * most > rigid else -np.inf
    for b in range(bound):
        p, k = held[b], n + 1 + b
        own = K[at[p], at[p]] + ridge[p] + most
        out[p] -= alpha[p] * (own - square[k] + (1.0 - along[k]) ** 2 / tau)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def predict_parts(
    K: Any, at: Any, starts: Any, alpha: Any, box: Any, ridge: Any, out: Any,
    damp: float, rigid: float,
) -> bool:  # fmt: skip # pragma: no cover (compiled)
    """s_p f(x_p) without p, of each sample p of each part, as its span predicts it.

    Part t has the samples starts[t] to starts[t + 1], with their rows of K in ``at``;
    ``out`` holds s_p f(x_p) of training. K_FF gets ``damp`` times its largest K_ii on
    the diagonal; -inf where R_pp times that is below ``rigid``: nothing can take the
    place of p. False where K_FF has no factor.
    """
    for t in range(starts.size - 1):
        begin, end = starts[t], starts[t + 1]
        if not _one_part(K, at, begin, end, alpha, box, ridge, out, damp, rigid):
            return False
    return True
