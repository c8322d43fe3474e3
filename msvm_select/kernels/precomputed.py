"""A Gram matrix that the user brings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select.errors import DataError
from msvm_select.kernels.base import Kernel
from msvm_select.records import Floats, Gram

SYMMETRY = 1e-10


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The features of sample i are its kernel values k(x_i, x_j), j = 1..m."""

    name = "precomputed"
    of = "kernel values"
    is_vector_kernel = False
    approximable = False

    @property
    def always_psd(self) -> bool:
        """Never certain: it may be any matrix."""
        return False

    @property
    def roughness(self) -> tuple[float, ...]:
        """Unknown, hence last."""
        return (4.0,)

    def between(self, X: Floats, Z: Floats) -> Floats:
        """X (p, m) itself: k(x_i, z_j) to all m training points.

        Z (m, .) is what was trained on; only the number of its rows counts.
        """
        if X.shape[1] != Z.shape[0]:
            raise DataError(
                f"A precomputed kernel needs one column for each of the {Z.shape[0]} "
                f"training samples; there are {X.shape[1]}."
            )
        return X

    def gram(self, X: Floats) -> Gram:
        """X (m, m) as the Gram matrix: square, finite and symmetric."""
        m, n = X.shape
        if m != n:
            raise DataError(
                f"A precomputed kernel needs as many columns as samples; there are "
                f"{m} samples and {n} columns besides the class."
            )
        self.finite(X)
        breach = np.abs(X - X.T)
        i, j = np.unravel_index(int(breach.argmax()), breach.shape)
        if breach[i, j] > SYMMETRY * np.abs(X).max():
            raise DataError(
                f"The precomputed kernel is not symmetric: k({i + 1}, {j + 1}) = "
                f"{X[i, j]} but k({j + 1}, {i + 1}) = {X[j, i]}."
            )
        return Gram(whole=(X + X.T) / 2.0)
