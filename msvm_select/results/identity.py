"""What results came from: a summary of the data, the versions of what computed them.

Of the data also the *majority baseline*: how often it is wrong to ignore the features
and always say the largest class.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from msvm_select.phrases import quoted
from msvm_select.records import Dataset

PACKAGES = ("msvm-select", "numpy", "scipy", "numba", "osqp", "qpsolvers")


@dataclass(frozen=True)
class Baseline:
    """Always the largest class: ``wrong`` of ``m`` samples are of another one."""

    name: str
    wrong: int
    m: int

    @property
    def rate(self) -> float:
        """The error rate."""
        return self.wrong / self.m

    @property
    def text(self) -> str:
        """One sentence, without its full stop."""
        return (
            f"Always saying {quoted(self.name)}, the largest class, is wrong for "
            f"{self.wrong} of {self.m} samples ({100.0 * self.rate:.1f} %)"
        )


def baseline_of(classes: Mapping[str, int]) -> Baseline | None:
    """From the number of samples of each class; None without any."""
    m = sum(classes.values())
    if m == 0:
        return None
    name = max(classes, key=lambda name: classes[name])
    return Baseline(name, m - classes[name], m)


def data_summary(data: Dataset) -> dict[str, Any]:
    """Name, sizes, features, how many samples each class has, how it was read."""
    counts = np.bincount(data.y, minlength=data.Q).tolist()
    reading = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in data.reading.items()
    }
    return {
        "name": data.name,
        "n_samples": data.m,
        "n_features": int(data.X.shape[1]),
        "n_classes": data.Q,
        "target": data.target,
        "features": list(data.features),
        "classes": dict(zip(data.classes, counts, strict=True)),
        **({"reading": reading} if reading else {}),
    }


def versions() -> dict[str, str]:
    """Of Python, of this program and of the packages that compute."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
