"""Values -> places, shades and short texts: one rule of each for every renderer.

The palette (viridis) runs from a bright yellow, the best value, over green to a dark
violet. It keeps its order in grey print and for colour-blind readers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

SHADES = 24
STEEP = 10.0  # largest / smallest beyond which shades are steps of the logarithm
WIDE = 100.0  # and beyond which an axis of values is logarithmic
ROUNDING = 1e-9  # a value on a step belongs above it
EVEN = 1e-9
EXPONENT = re.compile(r"e\+?(-?)0*")
Colour = tuple[int, int, int]
STOPS: tuple[Colour, ...] = (
    (253, 231, 37), (194, 223, 35), (134, 213, 73), (82, 197, 105), (42, 176, 127),
    (30, 155, 138), (37, 133, 142), (45, 112, 142), (56, 88, 140), (67, 62, 133),
    (72, 33, 115), (68, 1, 84),
)  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """From the least value to the largest, in even steps or in those of logarithms."""

    low: float
    high: float
    is_log: bool = False

    @classmethod
    def over(cls, values: Iterable[float], steep: float = STEEP) -> Scale:
        """The scale of these values, logarithmic where they span more than ``steep``.

        >>> Scale.over([1.0, 100.0])
        Scale(low=1.0, high=100.0, is_log=True)
        """
        held = list(values)
        low, high = min(held), max(held)
        return cls(low, high, low > 0.0 and high / low > steep)

    @classmethod
    def upward(cls, values: Iterable[float]) -> Scale:
        """That of an axis: from 0, unless logarithms tell the values better."""
        found = cls.over(values, WIDE)
        return found if found.is_log else cls(min(0.0, found.low), found.high or 1.0)

    def titled(self, name: str) -> str:
        """With a word where the distances are those of the logarithms."""
        return f"{name} (logarithmic)" if self.is_log else name

    def ticks(self, most: int) -> list[float]:
        """A few round values from ``low`` to ``high``."""
        low, high = self.low, self.high
        if low == high:
            return [low]
        if self.is_log:
            first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
            step = 1 + (last - first) // most
            return [10.0**power for power in range(first, last + 1, step)]
        least = (high - low) / most
        power = 10.0 ** math.floor(math.log10(least))
        size = next(n * power for n in (1, 2, 5, 10) if n * power >= least * 0.999)
        first, last = math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9)
        return [size * i for i in range(first, last + 1)]

    def share(self, value: float) -> float:
        """How far the value is from ``low`` (0) to ``high`` (1)."""
        if self.low == self.high:
            return 0.0
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def level(self, value: float, levels: int) -> int:
        """0 for the least value .. levels - 1 for the largest, in even steps."""
        return min(levels - 1, int(self.share(value) * levels + ROUNDING))


@dataclass(frozen=True)
class Grid:
    """Where the values of a grid stand on an axis: at their log2, or as they are.

    A grid whose steps are more even in logarithms is drawn in logarithms.
    """

    values: tuple[float, ...]

    @cached_property
    def is_log(self) -> bool:
        """Whether the steps of the logarithms are the more even ones."""
        if len(self.values) < 2 or min(self.values) <= 0.0:
            return False
        if len(self.values) == 2:
            return self.values[1] > 3.0 * self.values[0]
        logarithms = [math.log2(value) for value in self.values]
        return _unevenness(logarithms) <= _unevenness(self.values)

    @property
    def scale(self) -> Scale:
        """From the first value to the last."""
        return Scale(min(self.values), max(self.values), self.is_log)

    @cached_property
    def places(self) -> tuple[float, ...]:
        """Of every value; a single one, which may be nothing, stands at 0."""
        if len(self.values) < 2:
            return (0.0,)
        return tuple(math.log2(v) if self.is_log else v for v in self.values)

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """Of the cells around the places: half-way between, and as far beyond."""
        p = self.places
        if len(p) < 2:
            return (-0.5, 0.5)
        between = [(a + b) / 2.0 for a, b in zip(p, p[1:], strict=False)]
        return (2.0 * p[0] - between[0], *between, 2.0 * p[-1] - between[-1])


def colour(level: int) -> Colour:
    """Red, green and blue of a shade, 0 for the brightest .. SHADES - 1."""
    at = level / (SHADES - 1) * (len(STOPS) - 1)
    i = min(int(at), len(STOPS) - 2)
    pairs = zip(STOPS[i], STOPS[i + 1], strict=True)
    red, green, blue = (round(a + (b - a) * (at - i)) for a, b in pairs)
    return red, green, blue


def shade(level: int) -> tuple[str, str]:
    """The colour of a shade, and the ink on it, as style sheets and matplotlib take."""
    background = colour(level)
    return "#{:02x}{:02x}{:02x}".format(*background), ink_on(background)


def ink_on(background: Colour) -> str:
    """Black or white, whichever has the greater contrast with the background."""
    light = luminance(background)
    return "#000" if (light + 0.05) ** 2 > 0.05 * 1.05 else "#fff"


def luminance(colour: Colour) -> float:
    """The relative luminance of sRGB, 0 .. 1."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255.0 for value in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def compact(value: float, digits: int = 6) -> str:
    """A number in few characters: ``2.1e6``, ``1e-7``."""
    return EXPONENT.sub(r"e\1", f"{value:.{digits}g}")


def brief(value: float) -> str:
    """A parameter beside an axis: three digits, if they fit in six characters."""
    text = compact(value, 3)
    return text if len(text) <= 6 else EXPONENT.sub(r"e\1", f"{value:.1e}")


def _unevenness(values: Sequence[float]) -> float:
    """The largest step by the smallest; 1 for an even grid."""
    steps = [b - a for a, b in zip(values, values[1:], strict=False)]
    return round(max(steps) / max(min(steps), EVEN * max(steps)), 6)
