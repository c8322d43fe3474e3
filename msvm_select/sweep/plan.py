"""What a sweep would go through: its grid, its memory, its time.

Nothing is trained but small parts of the data, for the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

from msvm_select.kernels.base import Kernel
from msvm_select.memory import training_bytes
from msvm_select.records import Dataset
from msvm_select.settings import Settings
from msvm_select.sweep.compiling import compiling_note
from msvm_select.sweep.estimate import Estimate, estimate
from msvm_select.train.prepare import prepared

PROGRAM = 200e6  # bytes of Python and its packages
FACTORS = 4  # of the size of the free variables squared
FREE, MOST_FREE = 3, 6000  # variables in a factor: as a rule a sample; at the most


@dataclass(frozen=True, eq=False)
class Plan:
    """A sweep before it is run; ``note`` says what must be compiled first."""

    data: Dataset
    settings: Settings
    kernels: tuple[Kernel, ...]
    time: Estimate | None
    note: str = ""

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
    return Plan(data, settings, ready.kernels, time, note)
