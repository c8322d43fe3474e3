"""The compression bound: a machine is a function of its support vectors alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from msvm_select.criteria.base import Cell, Criterion, Score


@dataclass(frozen=True)
class CompressionTerms:
    """Every term of the bound: s support vectors of m samples.

    It applies where training on the support vectors alone gives the same machine: w is
    the same, always, and b where it is unique. The other samples have margin 1 or more
    and are right, whatever C. Kernel, C and scaling must be fixed beforehand.
    """

    n_sv: int
    m: int
    delta: float
    applicable: bool

    @property
    def value(self) -> float:
        """The bound on the risk, with probability 1 - delta; inf at s = m."""
        return compression_bound(self.n_sv, self.m, self.delta)

    @property
    def vacuous(self) -> bool:
        """Whether it says no more than that a risk is at most 1."""
        return self.value >= 1.0


class Compression(Criterion):
    """1/(m - s) ( s (1 + ln(m/s)) + ln(m/delta) ) with s support vectors."""

    name: ClassVar[str] = "compression"
    column: ClassVar[str] = "compression_bound"
    kind: ClassVar[str] = "bound"
    applies: ClassVar[str] = "of the risk, at any C, where b is unique"
    cost: ClassVar[str] = "nothing"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The bound; nothing where every sample is a support vector."""
        value = compression(cell).value
        return Score({self.column: value if math.isfinite(value) else None})


def compression(cell: Cell) -> CompressionTerms:
    """All terms of the bound for a trained cell."""
    solution = cell.solution
    return CompressionTerms(
        n_sv=solution.n_sv,
        m=solution.dual.m,
        delta=cell.constants.delta,
        applicable=solution.b_unique,
    )


def compression_bound(s: int, m: int, delta: float) -> float:
    """1/(m - s) ( s (1 + ln(m/s)) + ln(m/delta) ); its limits at s = 0 and s = m.

    s (1 + ln(m/s)) >= ln binom(m, s) counts the sets of s samples, ln(m/delta) the s.
    """
    if s == m:
        return math.inf
    sets = s * (1.0 + math.log(m / s)) if s > 0 else 0.0
    return (sets + math.log(m / delta)) / (m - s)
