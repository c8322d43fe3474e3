"""Small problems that have many optimal alpha: twins, lattices, few dimensions."""

from __future__ import annotations

import numpy as np

from msvm_select.kernels.base import Kernel
from msvm_select.kernels.inner_products import Linear, Polynomial
from msvm_select.kernels.rbf import Rbf
from msvm_select.records import Floats, Ints

KERNELS: tuple[Kernel, ...] = (
    Linear(),
    Rbf(0.5),
    Polynomial(gamma=1.0, degree=2.0),
    Linear(),
)


def degenerate(seed: int) -> tuple[Floats, Ints, int, Kernel, float]:
    """X, y, Q, a kernel and C."""
    rng = np.random.default_rng(seed)
    m, n, Q = (int(rng.integers(*ends)) for ends in ((5, 30), (1, 4), (2, 5)))
    X = [
        lambda: rng.normal(size=(m, n)),
        lambda: rng.integers(-2, 3, (m, n)).astype(float),
        lambda: np.tile(rng.normal(size=(m - m // 2, n)), (2, 1))[:m],
        lambda: rng.integers(0, 2, (m, n + 2)).astype(float),
    ][seed % 4]()
    y = np.arange(m) % Q
    if rng.random() < 0.6:
        y = np.digitize(X @ rng.normal(size=X.shape[1]), np.linspace(-1.0, 1.0, Q - 1))
    y = np.unique(y, return_inverse=True)[1]
    if y.max() == 0:
        y = np.arange(m) % 2
    kernel = KERNELS[int(rng.integers(0, 4))]
    C = float(rng.choice([0.05, 1.0, 100.0, 1e4]))
    return X, y.astype(np.int64), int(y.max()) + 1, kernel, C
