"""What a sweep would go through: its grid, its memory, its time.

Nothing is trained but small parts of the data, for the estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from msvm_select.errors import KernelError
from msvm_select.geometry.pair_steps import pair_steps
from msvm_select.kernels.base import Kernel
from msvm_select.memory import training_bytes
from msvm_select.records import Dataset
from msvm_select.settings import Settings
from msvm_select.solvers.exact.cycles import cycle_steps
from msvm_select.solvers.leave_out.exchanges import exchange_each
from msvm_select.sweep.cost import Estimate, estimate
from msvm_select.train.events import Started
from msvm_select.train.prepare import (
    LOOKED_AT,
    Prepared,
    is_near_identity,
    prepared,
)

BALLS = ("radius-margin", "vc")  # what the names of criteria that need them begin with
PROGRAM = 200e6  # bytes of Python and its packages
FACTORS = 4  # of the size of the free variables squared
FREE, MOST_FREE = 3, 6000  # variables in a factor: as a rule a sample; at the most


@dataclass(frozen=True, eq=False)
class Plan:
    """A sweep before it is run; ``note`` says what must be compiled first."""

    data: Dataset
    settings: Settings
    kernels: tuple[Kernel, ...]
    time: Estimate | None  # None where it is not known before compiling
    note: str = ""
    too_rough: tuple[Kernel, ...] = ()  # their matrices are nearly the identity

    @property
    def cells(self) -> int:
        """How many machines there are to train."""
        return len(self.kernels) * len(self.settings.C)

    @property
    def gram_bytes(self) -> int:
        """Of one Gram matrix."""
        return 8 * self.data.m**2

    @property
    def peak_bytes(self) -> int:
        """What the whole may come to, roughly: every job has matrices of its own."""
        m, Q = self.data.m, self.data.Q
        factor = 8 * min(m * min(Q - 1, FREE), MOST_FREE) ** 2
        jobs = min(self.settings.jobs, len(self.kernels))
        return int(PROGRAM + jobs * (training_bytes(m) + FACTORS * factor))


def plan(data: Dataset, settings: Settings) -> Plan:
    """The sweep that ``run_sweep`` would do; nothing is compiled for it."""
    ready = prepared(data, settings)
    note = compiling_note(ready.started(ranked=True))
    time = None if note else estimate(data, settings, ready.kernels)
    return Plan(data, settings, ready.kernels, time, note, tuple(_too_rough(ready)))


def _too_rough(ready: Prepared) -> Iterator[Kernel]:
    """The kernel settings that are hopeless, judged by some of the samples."""
    some = ready.X[:: max(1, ready.data.m // LOOKED_AT)]
    for kernel in ready.kernels if ready.kernels[0].is_vector_kernel else ():
        with suppress(KernelError):
            if is_near_identity(kernel.gram(some)):
                yield kernel


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
        yield "leave-one-out", 12, exchange_each
    if any(name.startswith(BALLS) for name in event.criteria):
        yield "the balls", 2, pair_steps


def _new(kernel: Any) -> bool:
    """Whether the cache has nothing of it."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    try:
        return file is not None and not file._load_index()
    except OSError:
        return True
