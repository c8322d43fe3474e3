"""The only loop over a grid: kernel settings outside, C ascending inside."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msvm_select.sweep.extend import Extension
    from msvm_select.sweep.journal import Journal
    from msvm_select.sweep.loop import gather, iterate, run_sweep

__all__ = [
    "Extension",
    "Journal",
    "gather",
    "iterate",
    "run_sweep",
]

_HOMES = {
    "Extension": "extend",
    "Journal": "journal",
    "gather": "loop",
    "iterate": "loop",
    "run_sweep": "loop",
}


def __getattr__(name: str) -> Any:
    """One of the names above, from its module, which is imported now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
