"""What a sweep is about to compile, which happens once on a machine.

Read off the index of numba's cache, which knows the source that it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msvm_select.geometry.pair_steps import pair_steps
from msvm_select.solvers.cycles import cycle_steps
from msvm_select.solvers.left_out import leave_out
from msvm_select.train.events import Started

BALLS = ("radius-margin", "vc")  # what the names of criteria that need them begin with


def compiling_note(event: Started) -> str:
    """``Compiling ..., once on this machine``, with how long; nothing to say: empty."""
    parts = [(name, seconds) for name, seconds, kernel in _used(event) if _new(kernel)]
    if not parts:
        return ""
    names = " and ".join(name for name, _ in parts)
    took = sum(seconds for _, seconds in parts)
    return f"Compiling {names}, once on this machine; it takes some {took} s ..."


def _used(event: Started) -> Iterator[tuple[str, int, Any]]:
    """The parts that the sweep will call: name, seconds, its last compiled kernel."""
    if event.solver in ("exact", "smo"):
        yield "the solver", 8 if event.solver == "exact" else 4, cycle_steps
    if event.solver == "exact" and (not event.criteria or "loo" in event.criteria):
        yield "leave-one-out", 12, leave_out
    if any(name.startswith(BALLS) for name in event.criteria):
        yield "the balls", 2, pair_steps


def _new(kernel: Any) -> bool:
    """Whether the cache has nothing of it."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    try:
        return file is not None and not file._load_index()
    except OSError:
        return True
