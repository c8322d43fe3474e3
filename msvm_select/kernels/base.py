"""The contract of a kernel: X, Z -> Gram matrix, k(x_i, z_j) in row i, column j."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from msvm_select.columns import PARAMETERS, Setting
from msvm_select.errors import KernelError, SettingsError
from msvm_select.records import Floats, Gram, symmetric

LARGEST = 1e100  # |k(x, z)|: the bounds take its square, and may not overflow


@dataclass(frozen=True)
class Kernel(ABC):
    """One kernel setting. A subclass's fields are its parameters (gamma, degree, ..).

    ``always_psd`` says whether theory makes every Gram matrix positive semi-definite.
    ``of`` is what the rows of X are: features, which can be scaled, kernel values, or
    sequences. ``approximable``: Z Z' of few columns may stand for K, see ``low_rank``.
    """

    name: ClassVar[str]
    of: ClassVar[str] = "features"
    is_vector_kernel: ClassVar[bool] = True
    positive: ClassVar[frozenset[str]] = frozenset()
    approximable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse parameters that no kernel of this name can have."""
        for name, value in self.parameters.items():
            if not math.isfinite(value):
                raise SettingsError(f"{self.name}: {name} = {value} is not finite.")
            if name in self.positive and value <= 0:
                raise SettingsError(
                    f"{self.name}: {name} = {value} must be greater than 0."
                )

    @property
    def always_psd(self) -> bool:
        """Whether Mercer's condition holds whatever the data are."""
        return True

    @property
    @abstractmethod
    def roughness(self) -> tuple[float, ...]:
        """Orders settings from the smoothest to the roughest, for breaking ties."""

    @abstractmethod
    def between(self, X: Floats, Z: Floats) -> Floats:
        """k(x, z) for the rows of X (m, n) and of Z (p, n): (m, p)."""

    def gram(self, X: Floats) -> Gram:
        """The Gram matrix of the rows of X, exactly symmetric; KernelError if huge."""
        return Gram(whole=self.finite(symmetric(self.between(X, X))))

    def on(self, X: Floats) -> Kernel:
        """The kernel of these samples; most are the same for all."""
        return self

    @property
    def facts(self) -> dict[str, Any]:
        """What a row tells of the kernel matrix of the samples, by column."""
        return {}

    def finite(self, K: Floats) -> Floats:
        """K itself, where no value is beyond LARGEST; a KernelError otherwise."""
        if K.min(initial=0.0) >= -LARGEST and K.max(initial=0.0) <= LARGEST:
            return K  # neither holds where there is a NaN
        i, j = np.argwhere(~(np.abs(K) <= LARGEST))[0]
        raise KernelError(
            f"The {self.name} kernel has the value {K[i, j]:.3g} between the samples "
            f"{i + 1} and {j + 1}: scale the features (--scale standard) or choose "
            "smaller parameters."
        )

    def dimension(self, n: int) -> int | None:
        """That of the feature space over n features; None where it is not finite."""
        return None

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name, in order."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def setting(self) -> Setting:
        """As the rows of its cells have it."""
        return self.name, *map(self.parameters.get, PARAMETERS)

    def __str__(self) -> str:
        """``rbf gamma=0.5``, for a person."""
        values = (f"{name}={value:.6g}" for name, value in self.parameters.items())
        return " ".join([self.name, *values])
