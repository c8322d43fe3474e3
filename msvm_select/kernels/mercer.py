"""Mercer's test: is the Gram matrix positive semi-definite?

A Cholesky factor of K + s I, with s = 1e-8 max K_ii, proves K positive semi-definite up
to s; some Lanczos steps on its inverse then find the smallest eigenvalue (the largest
of the inverse, which is far from the others or so close to s that they do not matter).
Only where there is no such factor, so that K is indefinite, are eigenvalues computed.

Where there are many samples and theory vouches for the kernel, no test is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from msvm_select.records import Floats, Gram

INDEFINITE = (
    "the Gram matrix is indefinite (smallest eigenvalue {:.3g}), so that no optimum is "
    "certain and no bound holds"
)

MANY = 4000  # samples: the factor takes seconds, more and more of a sweep's time
EPSILON = float(np.finfo(float).eps)
SHIFT = 1e-8
LANCZOS_STEPS = 16


def smallest_eigenvalue(gram: Gram, always_psd: bool = False) -> float:
    """The smallest eigenvalue of K; 0 without work when K = Z Z' has rank < m.

    NaN where it would take long and theory, which says ``always_psd``, vouches for K.
    """
    from msvm_select.lapack import dpotrf, dpotrs

    if gram.factor is not None and gram.factor.shape[1] < gram.m:
        return 0.0
    if always_psd and gram.m > MANY:
        return math.nan
    scale = _power_of_four(float(gram.diagonal.max()))
    shift = SHIFT * (float(gram.diagonal.max()) / scale)
    if shift > 0.0:
        shifted = gram.matrix / scale
        shifted[np.diag_indices(gram.m)] += shift
        factor, info = dpotrf(shifted.T, lower=1, clean=0, overwrite_a=1)
        if info == 0:
            top = _largest(lambda v: dpotrs(factor, v, lower=1)[0], gram.m)
            return (1.0 / top - shift) * scale
    return float(np.linalg.eigvalsh(gram.matrix / scale)[0]) * scale


def _power_of_four(value: float) -> float:
    """Near ``value``: to divide by it keeps every digit, of a Cholesky factor too."""
    return math.ldexp(1.0, math.frexp(value)[1] // 2 * 2)


def is_indefinite(smallest: float, gram: Gram, always_psd: bool = False) -> bool:
    """Whether ``smallest`` is below 0 by more than rounding, 10 m eps max |K_ii|.

    NaN, for what was not computed, is not. Where theory vouches for K, the rounding of
    its entries counts too: those of a large gamma have few digits less than all, which
    clusters of nearly equal samples make visible.
    """
    scale = float(np.abs(gram.diagonal).max(initial=0.0))
    room = 1000.0 if always_psd else 10.0
    return smallest < -room * gram.m * EPSILON * scale


def _largest(product: Callable[[Floats], Floats], m: int) -> float:
    """The largest eigenvalue of a symmetric operator: Lanczos, reorthogonalised."""
    basis = np.random.default_rng(0).standard_normal((1, m))
    basis /= np.linalg.norm(basis)
    steps = min(LANCZOS_STEPS, m)
    T = np.zeros((steps, steps))
    for t in range(steps):
        w = product(basis[t])
        T[t, t] = basis[t] @ w
        for _ in range(2):  # once leaves rounding that grows, twice is enough
            w = w - basis.T @ (basis @ w)
        norm = float(np.linalg.norm(w))
        if t + 1 == steps or norm <= 1e-12 * T[0, 0]:
            return float(np.linalg.eigvalsh(T[: t + 1, : t + 1])[-1])
        T[t, t + 1] = T[t + 1, t] = norm
        basis = np.vstack([basis, w / norm])
    raise AssertionError("the loop returns at its last step")
