"""Files, DataFrames and arrays -> Dataset, to train on or to classify.

A file goes source (bytes, encoding) -> table (rows) -> roles (which column is what) ->
cells (numbers) -> samples (missing values, categories, classes); ``doubts`` gathers on
the way what is wrong, and where. ``read`` is the road for files, ``frames`` the one for
what Python holds; ``describe`` is what a person should know of its end.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msvm_select.data.read import (
        INPUT_FORMATS,
        MISSING_POLICIES,
        ReadOptions,
        load_csv,
        read_dataset,
        read_features,
    )

__all__ = [
    "INPUT_FORMATS",
    "MISSING_POLICIES",
    "ReadOptions",
    "load_csv",
    "read_dataset",
    "read_features",
]

_HOMES = {
    "INPUT_FORMATS": "read",
    "MISSING_POLICIES": "read",
    "ReadOptions": "read",
    "load_csv": "read",
    "read_dataset": "read",
    "read_features": "read",
}


def __getattr__(name: str) -> Any:
    """One of the names above, from its module, which is imported now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
