"""What a sweep would go through: its grid, its memory, its time.

Nothing is trained but small parts of the data, for the estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from msvm_select.kernels.base import Kernel
from msvm_select.phrases import counted, sized
from msvm_select.records import Dataset
from msvm_select.row import SCHEMA_VERSION
from msvm_select.settings import Settings
from msvm_select.show.plain import json_document
from msvm_select.sweep.compiling import compiling_note
from msvm_select.sweep.durations import between
from msvm_select.sweep.estimate import Estimate, estimate
from msvm_select.train.prepare import prepared

PROGRAM = 200e6  # bytes of Python and its packages
GRAMS = 5  # matrices of the size of a Gram matrix that are alive at a time
FACTORS = 4  # of the size of the free variables squared
FREE, MOST_FREE = 3, 6000  # variables in a factor: as a rule a sample; at the most
WIDTH = 80


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
        return int(PROGRAM + jobs * (GRAMS * self.gram_bytes + FACTORS * factor))

    def render(self, format: str) -> str:
        """As JSON, or as lines of a name and what it stands for."""
        if format == "json":
            return json_document(self.document())
        lines = []
        for name, text in self._lines():
            first, *more = wrap(text, WIDTH - 10, break_on_hyphens=False) or [""]
            lines += [f"{name:<10}{first}", *(f"{'':<10}{line}" for line in more)]
        return "\n".join(lines) + "\n"

    def document(self) -> dict[str, Any]:
        """All of it by name; bytes and seconds are not rounded."""
        settings = self.settings
        seconds = self.time and [self.time.low, self.time.high]
        return {
            "schema_version": SCHEMA_VERSION,
            "data": self.data.name,
            "n_samples": self.data.m,
            "n_features": int(self.data.X.shape[1]),
            "n_classes": self.data.Q,
            "kernels": [
                {"kernel": kernel.name, **kernel.parameters} for kernel in self.kernels
            ],
            "C": list(settings.C),
            "cells": self.cells,
            "criteria": list(settings.criteria),
            "rank_by": settings.rank_by,
            "solver": settings.solver,
            "loss": settings.loss,
            "jobs": settings.jobs,
            "gram_bytes": self.gram_bytes,
            "peak_bytes": self.peak_bytes,
            "seconds": seconds,
        }

    def _lines(self) -> list[tuple[str, str]]:
        settings, data = self.settings, self.data
        n = data.X.shape[1]
        sizes = f"{data.m} samples, {counted(n, 'feature')}, {data.Q} classes"
        solver = f"{settings.solver}, loss {settings.loss}, jobs {settings.jobs}"
        ranked = f"{', '.join(settings.criteria)}; ranked by {settings.rank_by}"
        peak = f"about {sized(self.peak_bytes)} in all"
        return [
            ("data", f"{data.name}: {sizes}"),
            ("kernels", str(len(self.kernels))),
            *(("", text) for text in self._kernels()),
            ("C", f"{len(settings.C)}: {_listed(settings.C)}"),
            ("cells", str(self.cells)),
            ("criteria", ranked),
            ("solver", solver),
            ("memory", f"{sized(self.gram_bytes)} a Gram matrix; {peak}"),
            ("time", self._time()),
        ]

    def _kernels(self) -> Iterator[str]:
        """Each name with the grids that its settings are the product of."""
        for name in dict.fromkeys(kernel.name for kernel in self.kernels):
            alike = [kernel for kernel in self.kernels if kernel.name == name]
            grids = [
                f"{parameter} {_listed({k.parameters[parameter] for k in alike})}"
                for parameter in alike[0].parameters
            ]
            yield " ".join([name, "; ".join(grids)]).rstrip()

    def _time(self) -> str:
        if self.note:
            return f"not known yet. {self.note}"
        if self.time is None:
            return "not known: even a small part of the data takes long"
        part = self.time.samples
        of = "" if part == self.data.m else f", judged by {part} of the samples"
        return f"{between(self.time.low, self.time.high)}{of}"


def plan(data: Dataset, settings: Settings) -> Plan:
    """The sweep that ``run_sweep`` would do; nothing is compiled for it."""
    ready = prepared(data, settings)
    note = compiling_note(ready.started(ranked=True))
    time = None if note else estimate(data, settings, ready.kernels)
    return Plan(data, settings, ready.kernels, time, note)


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in sorted(values))
