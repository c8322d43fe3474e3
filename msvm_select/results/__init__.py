"""The rows of a sweep: ranked, chosen from, compared, read back from a file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msvm_select.results.ranking import Results, rank, ranking_column

__all__ = [
    "Results",
    "rank",
    "ranking_column",
]

_HOMES = {
    "Results": "ranking",
    "rank": "ranking",
    "ranking_column": "ranking",
}


def __getattr__(name: str) -> Any:
    """One of the names above, from its module, which is imported now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
