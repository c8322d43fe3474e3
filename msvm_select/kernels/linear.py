"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from msvm_select.kernels.base import Kernel
from msvm_select.records import Floats, Gram


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = <x, z>."""

    name: ClassVar[str] = "linear"

    @property
    def roughness(self) -> tuple[float, ...]:
        """The smoothest of all."""
        return (0.0,)

    def between(self, X: Floats, Z: Floats) -> Floats:
        """<x, z> for the rows of X and of Z."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(X @ Z.T)

    def dimension(self, n: int) -> int:
        """n: the features themselves."""
        return n

    def gram(self, X: Floats) -> Gram:
        """K = X X', kept as its factor X where that is much the smaller."""
        m, n = X.shape
        if 4 * n >= m:
            return super().gram(X)
        gram = Gram(factor=np.ascontiguousarray(X))
        with np.errstate(over="ignore", invalid="ignore"):
            self.finite(gram.diagonal[:, None])
        return gram
