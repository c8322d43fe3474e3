"""Axes along a grid: values at even distances, labelled as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

EVEN = 1e-9
DIGIT = 0.08  # inches of width of a character on an axis


@dataclass(frozen=True)
class Scale:
    """Where the values of a grid stand: at their log2, or as they are.

    A grid that is rather geometric is drawn by its logarithms.
    """

    values: tuple[float, ...]

    @cached_property
    def is_log(self) -> bool:
        """Whether the steps of the logarithms are the more even ones."""
        if len(self.values) < 2:
            return False
        if min(self.values) <= 0.0:
            return False
        if len(self.values) == 2:
            return self.values[1] > 3.0 * self.values[0]
        return _unevenness([math.log2(v) for v in self.values]) <= _unevenness(
            self.values
        )

    def at(self, value: float) -> float:
        """The place of a value."""
        return math.log2(value) if self.is_log else value

    @cached_property
    def places(self) -> tuple[float, ...]:
        """Of every value; a single one, which may be nothing, stands at 0."""
        if len(self.values) < 2:
            return (0.0,)
        return tuple(self.at(value) for value in self.values)

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """Of the cells around the places: half-way between, and as far beyond."""
        p = self.places
        if len(p) < 2:
            return (-0.5, 0.5)
        between = [(a + b) / 2.0 for a, b in zip(p, p[1:], strict=False)]
        return (2.0 * p[0] - between[0], *between, 2.0 * p[-1] - between[-1])


def label(value: float) -> str:
    """A value of a grid, as short as it can be and true."""
    text = f"{value:.6g}"
    return text.replace("e-0", "e-").replace("e+0", "e")


def value_axis(axes: Axes, scale: Scale, wide: float) -> None:
    """The values of C below the axes, as many as fit so many inches."""
    heads = [label(value) for value in scale.values]
    keep = thinned(len(heads), int(wide / (DIGIT * (max(map(len, heads)) + 1))))
    axes.set_xlim(scale.edges[0], scale.edges[-1])
    axes.set_xticks([scale.places[j] for j in keep])
    axes.set_xticklabels([heads[j] for j in keep])
    axes.set_xlabel(axis_name("C", scale))


def axis_name(name: str, scale: Scale) -> str:
    """With a word where the distances are those of the logarithms."""
    return f"{name} (logarithmic)" if scale.is_log else name


def plain_logarithms(axis: Axis) -> None:
    """Ticks at 1, 2 and 5 times the powers of ten, or at these alone, as one types."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = sorted(axis.get_view_interval())
    few = low > 0.0 and high / low < 1000.0
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, place: label(value)))
    axis.set_minor_locator(NullLocator())


def thinned(count: int, most: int) -> range:
    """The indices of at most so many of a row of labels, evenly, from the first on."""
    return range(0, count, max(1, math.ceil(count / max(1, most))))


def _unevenness(values: Sequence[float]) -> float:
    """The largest step by the smallest; 1 for an even grid."""
    steps = [b - a for a, b in zip(values, values[1:], strict=False)]
    return round(max(steps) / max(min(steps), EVEN * max(steps)), 6)
