"""What ``msvm-select --version`` prints: this program and what it stands on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    *("numpy", "scipy", "numba", "osqp", "qpsolvers", "click", "pandas", "rich"),
    *("matplotlib", "scikit-learn"),
)


def versions_text() -> str:
    """A line each, this program first; packages are asked for, not imported."""
    lines = [
        ("msvm-select", version("msvm-select")),
        ("Python", platform.python_version()),
        *((package, _version(package)) for package in PACKAGES),
        ("platform", f"{platform.system()} {platform.release()} {platform.machine()}"),
    ]
    return "\n".join(f"{name} {found}" for name, found in lines)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
