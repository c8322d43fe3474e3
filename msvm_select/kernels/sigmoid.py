"""The sigmoid kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from msvm_select.kernels.base import Kernel
from msvm_select.records import Floats


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(gamma <x, z> + coef0), not positive semi-definite in general."""

    gamma: float = 1.0
    coef0: float = 0.0

    name: ClassVar[str] = "sigmoid"
    positive: ClassVar[frozenset[str]] = frozenset({"gamma"})

    @property
    def always_psd(self) -> bool:
        """Never certain: each Gram matrix has to be tested."""
        return False

    @property
    def roughness(self) -> tuple[float, ...]:
        """By gamma, after every Gaussian."""
        return (3.0, self.gamma, self.coef0)

    def between(self, X: Floats, Z: Floats) -> Floats:
        """tanh(gamma <x, z> + coef0) for the rows of X and of Z."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = X @ Z.T
            K *= self.gamma
            K += self.coef0
            return np.asarray(np.tanh(K, out=K))
