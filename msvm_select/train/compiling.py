"""What a training compiles when it is the first on a machine, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from msvm_select.errors import MsvmError
from msvm_select.geometry.ball import pair_steps
from msvm_select.geometry.spans import predict_parts
from msvm_select.metrics import loops
from msvm_select.phrases import between
from msvm_select.solvers.exact.cycles import cycle_steps
from msvm_select.solvers.leave_out.exchanges import exchange_each
from msvm_select.solvers.two_class import paths
from msvm_select.train.events import Started

BUSY = 2.0  # how much longer all takes, at most, where others work on the machine too
BALLS = ("radius-margin", "vc")  # what the names of criteria that need them begin with


def noted(event: Started) -> Started:
    """The event, with what this machine compiles first."""
    return event if event.is_remote else replace(event, note=compiling_note(event))


def compiling_note(event: Started) -> str:
    """``Compiling ..., once on this machine``, with how long; nothing to say: empty."""
    parts = [(name, seconds) for name, seconds, kernel in _used(event) if _new(kernel)]
    if not parts:
        return ""
    names = " and ".join(name for name, _ in parts)
    took = sum(seconds for _, seconds in parts)
    told = between(took, BUSY * took)
    return f"Compiling {names}, once on this machine; it takes {told} ..."


def _used(event: Started) -> Iterator[tuple[str, int, Any]]:
    """The parts that the sweep will call: name, seconds, its last compiled kernel."""
    exact, parts = event.solver == "exact", event.machine != "ww"
    if exact and parts:
        yield "the solver", 30, paths.train_parts
    elif event.solver in ("exact", "smo"):
        yield "the solver", 20 if exact else 5, cycle_steps
    if exact and (not event.criteria or "loo" in event.criteria):
        one = paths.leave_out_parts if parts else exchange_each
        yield "leave-one-out", 40 if parts else 30, one
    if parts and "span" in event.criteria:
        yield "the spans", 4, predict_parts
    if any(name.startswith(BALLS) for name in event.criteria):
        yield "the balls", 1, pair_steps
    for metric, kernel in (("log-loss", loops.temper), ("auc", loops.areas)):
        if metric in event.metrics:
            yield f"the metric {metric}", 2, kernel


def _new(kernel: Any) -> bool:
    """Whether the cache has nothing of it, or nothing that this version can read.

    The index names the types that a kernel was compiled for. Where an older version had
    one in a module that is gone, numba would end at every call: the index is emptied.
    """
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    try:
        return file is not None and not file._load_index()
    except OSError:
        return True
    except Exception as error:  # whatever unpickling raises
        _empty(file, error)
        return True


def _empty(file: Any, error: Exception) -> None:
    try:
        file.flush()
    except OSError:
        raise MsvmError(
            f"{file._index_path}: another version of msvm-select compiled this, and it "
            f"cannot be read here ({error}): delete the file, or let NUMBA_CACHE_DIR "
            "name a folder that can be written to."
        ) from error
