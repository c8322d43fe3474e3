"""Values -> one of a few shades, the best the brightest; even steps of lightness.

The shades run from a dark blue over grey to a bright yellow: they keep their order in
grey, and for whoever sees no difference of red and green.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

SHADES = 24
STOPS = (
    (0, 34, 78), (18, 53, 112), (59, 73, 108), (87, 93, 109), (112, 113, 115),
    (138, 134, 120), (165, 156, 116), (195, 179, 105), (225, 204, 85), (254, 232, 56),
)  # fmt: skip
WIDE = 10.0  # largest / smallest beyond which steps are of the logarithm


@dataclass(frozen=True)
class Scale:
    """From the least value, the brightest shade, to the largest, the darkest."""

    low: float
    high: float
    logarithmic: bool

    @classmethod
    def over(cls, values: Iterable[float], wide: float = WIDE) -> Scale:
        """The scale that holds all of these."""
        held = list(values)
        low, high = min(held), max(held)
        return cls(low, high, low > 0.0 and high / low > wide)

    def share(self, value: float) -> float:
        """How far the value is from ``low`` (0) to ``high`` (1)."""
        if self.low == self.high:
            return 0.0
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def shade(self, value: float) -> int:
        """0 for the darkest .. SHADES - 1 for the brightest."""
        return round((1.0 - self.share(value)) * (SHADES - 1))


def colour(shade: int) -> tuple[int, int, int]:
    """Red, green and blue of a shade, between the stops."""
    at = shade / (SHADES - 1) * (len(STOPS) - 1)
    i = min(int(at), len(STOPS) - 2)
    pairs = zip(STOPS[i], STOPS[i + 1], strict=True)
    red, green, blue = (round(a + (b - a) * (at - i)) for a, b in pairs)
    return red, green, blue


def ink(background: tuple[int, int, int]) -> str:
    """Black or white, whichever is told better from the background."""
    light = luminance(background)
    return "#000" if (light + 0.05) ** 2 > 0.05 * 1.05 else "#fff"


def luminance(colour: tuple[int, int, int]) -> float:
    """The relative luminance of sRGB, 0 .. 1."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255.0 for value in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def style() -> str:
    """A rule of style for each shade: of its cells, and of the text on them."""
    rules = []
    for shade in range(SHADES):
        background = colour(shade)
        red, green, blue = background
        rules.append(
            f".s{shade} rect{{fill:#{red:02x}{green:02x}{blue:02x}}}"
            f".s{shade} text{{fill:{ink(background)}}}"
        )
    return "\n".join(rules)
