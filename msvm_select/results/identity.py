"""What results came from: a summary of the data, the versions of what computed them."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from msvm_select.records import Dataset

PACKAGES = ("msvm-select", "numpy", "scipy", "numba", "osqp", "qpsolvers")


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
