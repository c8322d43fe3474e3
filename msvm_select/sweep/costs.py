"""What the cells of a sweep cost: one model for ``--dry-run`` and for the time left.

Cells near each other on the grid cost alike; rougher kernels cost more by some factor,
and more samples by a power. So the logarithm of

    seconds of a cell - what every cell takes at least

is taken for a Gaussian process over the place of the kernel setting, log C and log m:
straight lines of the usual slopes, and what departs from them, alike where cells are
near. Each cell that is told corrects it, and its variance says how far off a sum of
cells may be.

Beyond hard margin cells are copies and cost nothing. Hard margin comes at the largest
alpha of the machine there; rougher kernels come to it sooner, more samples later.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from msvm_select.footprint import Seen
from msvm_select.records import Floats
from msvm_select.train.events import CellDone

WIDEST = 4.0  # the largest figure of a range by the smallest
SURE = 1.25  # the factor that times differ by from run to run, either way
LATEST = 100  # told cells that count
ASKED = 300  # cells that are computed; each stands for those beside it
LEAST = 1e-4  # seconds; no cell counts as less
BASE = 0.9  # of the cheapest cell: what every cell takes
ROUGHER, POWER = math.log(3.5), 1.8  # the usual slopes: along all kernels; of log m
RISE = 0.15  # the power rises so, until the dense algebra dominates
SOONER = 64.0  # hard margin of the smoothest kernel by that of the roughest, as a rule
LATER = 0.4  # the power of m by which C at hard margin grows

# Variances: of the level; of a measurement; of the slopes, and of a bend; of a walk
# along the kernels, which goes on from where it is; of what a C has for itself.
LEVEL, NOISE = 100.0, 0.06
SLOPE_Z, SLOPE_M, BEND_M = 2.0, 0.1, 0.03
WALK, WALK_M, COLUMN, NEAR_Z = 0.6, 0.05, 1.0, 2.0


@dataclass(frozen=True)
class Estimate:
    """Seconds, judged by so many samples; ``high`` is None where nobody knows it.

    ``seen``: of each kernel setting and cell that was tried, what it was on each part
    of the samples.
    """

    low: float
    high: float | None
    samples: int = 0
    seen: tuple[tuple[tuple[Seen, ...], ...], ...] = ()

    @classmethod
    def of(cls, seconds: float, doubt: float, samples: int = 0) -> Estimate:
        """A range no wider than WIDEST, else what it takes at least.

        ``doubt`` is the standard deviation of the logarithm.
        """
        wide = SURE * math.exp(doubt)
        high = wide * seconds if wide**2 <= WIDEST else None
        return cls(seconds / wide, high, samples)


class Place(NamedTuple):
    """Where a cell is: the place of its kernel setting, smoothest first, and its C."""

    kernel: int
    C: float


@dataclass(eq=False)
class Costs:
    """Is told what some cells took, and says what others will, on the same machine.

    ``told``: kernel, log C, log m, seconds. ``hard`` and ``reached``: the C of hard
    margin, or one that was still below it, and m.
    """

    kernels: int
    Cs: Sequence[float]
    told: list[tuple[float, ...]] = field(default_factory=list)
    hard: dict[int, tuple[float, int]] = field(default_factory=dict)
    reached: dict[int, tuple[float, int]] = field(default_factory=dict)

    def tell(
        self, place: Place, samples: int, seconds: float, hard: float | None = None
    ) -> None:
        """A cell of so many samples took so long; ``hard``: see ``hard_margin``."""
        C, m = self.hard.get(place.kernel, (math.inf, 0))
        if m == samples and place.C > C:
            return  # a copy
        took = max(seconds, LEAST)
        if len(self.told) == 1:  # what is loaded at first use is not a cell's cost
            *first, loading = self.told[0]
            self.told[0] = (*first, min(loading, took))
        self.told.append((place.kernel, math.log(place.C), math.log(samples), took))
        if hard is None:
            self.reached[place.kernel] = (place.C, samples)
        else:
            self.hard[place.kernel] = (hard, samples)

    def seconds(self, places: Sequence[Place], samples: int) -> tuple[Floats, float]:
        """Of each cell, 0 where it is a copy; and the doubt of their sum."""
        last = {kernel: self._last(kernel, samples) for kernel, _ in places}
        trained = np.array([C <= last[kernel] for kernel, C in places], dtype=bool)
        costs = np.zeros(len(places))
        if not trained.any():
            return costs, 0.0
        where = [(k, math.log(C), math.log(samples)) for k, C in places]
        at = np.array(where)[trained]
        some = np.linspace(0, len(at) - 1, min(len(at), ASKED)).astype(int)
        found, variance = self._cells(at[some])
        costs[trained] = found[np.searchsorted(some, np.arange(len(at)))]
        share = found / found.sum()
        return costs, math.sqrt(max(0.0, float(share @ variance @ share)))

    def _cells(self, at: Floats) -> tuple[Floats, Floats]:
        """Seconds of the cells there, and the covariance of their logarithms."""
        told = np.array(self.told[-LATEST:])
        by, took = told[:, :3], told[:, 3]
        first, last = math.log(self.Cs[0]), math.log(self.Cs[-1])
        origin = np.array([0.0, first, by[-1, 2]])  # along the grid from 0 to 1
        spread = np.array([max(1, self.kernels - 1), last - first or 1.0, 1.0])
        by, at = (by - origin) / spread, (at - origin) / spread
        base = BASE * float(took.min())
        work = took - base
        known = _covariance(by, by) + np.diag(NOISE * (took / work) ** 2)
        near, lines = _covariance(at, by), np.log(work) - _usual(by)
        solved = np.linalg.solve(known, np.column_stack([lines, near.T]))
        found = np.exp(_usual(at) + near @ solved[:, 0])
        share = np.sqrt(found / (found + base))  # what all take is in less doubt
        variance = _covariance(at, at) - near @ solved[:, 1:]
        return found + base, np.asarray(variance * np.outer(share, share))

    def _last(self, kernel: int, samples: int) -> float:
        """The last C at which a machine is trained; a guess where none came so far."""
        found = [k for k in self.hard if k <= kernel]
        if not found:
            return math.inf
        C, m = self.hard[max(found)]
        if (max(found), m) != (kernel, samples):
            steps = (kernel - max(found)) / max(1, self.kernels - 1)
            C = max(C * (samples / m) ** LATER / SOONER**steps, min(1.0, C))
            reached, m = self.reached.get(kernel, (0.0, 0))
            C = max(C, reached * (1.0 + 1e-9)) if m == samples else C
        return min((c for c in self.Cs if c >= C), default=math.inf)


def as_a_rule(kernels: int) -> Floats:
    """What each kernel setting costs, smoothest first, before any cell is told."""
    return np.asarray(np.exp(ROUGHER * np.linspace(0.0, 1.0, kernels)))


def in_parallel(seconds: Iterable[float], jobs: int, cores: int | None = None) -> float:
    """So much for each kernel setting, ``jobs`` of them at the same time.

    Without ``cores``, those of this machine count.
    """
    each = [s for s in seconds if s > 0.0]
    at_once = max(1, min(jobs, len(each), cores or os.cpu_count() or 1))
    return max(sum(each) / at_once, max(each, default=0.0))


def hard_margin(cell: CellDone) -> float | None:
    """From which C on the cells of its kernel setting are copies, if it tells."""
    if cell.row.n_bounded != 0 or cell.row.loss is not None:
        return None
    if cell.trained is None:
        return cell.row.C
    indefinite = cell.trained.test.indefinite
    return None if indefinite else float(np.max(cell.trained.solution.alpha))


def _rising(m: Floats) -> Floats:
    """A parabola below the samples told last; beyond, soon as steep as it gets."""
    return np.asarray(m**2 / (1.0 + 2.0 * np.maximum(m, 0.0)))


def _usual(at: Floats) -> Floats:
    x, _, m = at.T
    return np.asarray(ROUGHER * x + POWER * m + RISE * _rising(m))


def _covariance(a: Floats, b: Floats) -> Floats:
    """Of the lines, and of what departs from them."""
    x, z, m = a.T[:, :, None]
    walk = np.minimum(x, b[:, 0])
    column = np.exp(-np.abs(z - b[:, 1]) / NEAR_Z)
    bend = _rising(m) * _rising(b[:, 2])
    lines = LEVEL + SLOPE_Z * z * b[:, 1] + SLOPE_M * m * b[:, 2] + BEND_M * bend
    return np.asarray(lines + walk * (WALK + WALK_M * m * b[:, 2]) + COLUMN * column)
