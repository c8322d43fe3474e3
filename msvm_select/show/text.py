"""Heat maps of characters, for a terminal without a screen behind it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from textwrap import wrap

from msvm_select.show.charts.heat import (
    STATES,
    HeatCell,
    HeatMap,
    HeatPanel,
)

SHADES = " ░▒▓█"
ASCII_SHADES = " .:oO"
MARKS = {
    "ambiguous": "~",
    "inapplicable": "/",
    "none": "-",
    "not_converged": "!",
    "failed": "x",
}
CHOSEN = "*"
BLOCKS = 3  # more than these and only the shades are shown
ROUNDING = 1e-9  # a value at a step is above it
STEEP = 20.0  # the ratio from which on values are told apart by their logarithms


def heat_text(chart: HeatMap, width: int = 80, shades: str = SHADES) -> str:
    """The map as lines of at most ``width`` characters, with what its marks mean.

    The more ink, the larger the value; the numbers stand beside it where they fit.
    """
    shade = shader(chart.values, len(shades))
    lines = wrap(f"{chart.name}: {chart.label.titled}".removeprefix(": "), width)
    for panel in chart.panels:
        upward = f", {panel.name} up" if panel.name else ""
        lines += ["", f"{panel.title}: C across{upward}"]
        lines += _panel_lines(panel, chart, width, lambda v: shades[shade(v)])
    lines.append("")
    for text in _legend(chart, shades):
        lines += wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def is_steep(values: Iterable[float]) -> bool:
    """Whether values are better told apart by their logarithms."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return low > 0.0 and high / low > STEEP


def shader(values: tuple[float, ...], levels: int) -> Callable[[float], int]:
    """value -> 0 .. levels - 1, in even steps between the least and the largest."""
    scale: Callable[[float], float] = math.log if is_steep(values) else float
    low, high = min(map(scale, values), default=0.0), max(map(scale, values), default=0)
    step = (high - low) / levels

    def level(value: float) -> int:
        if step <= 0.0:
            return 0
        return min(levels - 1, int((scale(value) - low) / step + ROUNDING))

    return level


def _panel_lines(
    panel: HeatPanel, chart: HeatMap, width: int, shade: Callable[[float], str]
) -> Iterator[str]:
    names = [f"{value:.6g}" if panel.name else "" for value in panel.values]
    left = max(len(text) for text in (panel.name or "C", *names))
    heads = [f"{C:.6g}" for C in panel.Cs]
    long = (_text(cell, chart, shade) for cell in panel.cells.values())
    each = max(map(len, (*heads, *long))) + 1
    room = max(1, width - left - 4)
    per_block = max(1, room // each)
    numbers = math.ceil(len(heads) / per_block) <= BLOCKS
    if not numbers:
        per_block, each = room, 1
    count = math.ceil(len(heads) / per_block)
    size = math.ceil(len(heads) / count)
    for first in range(0, len(heads), size):
        block = range(first, min(first + size, len(heads)))
        yield f"{panel.name or 'C':>{left}} |{_head(heads, block, each)}"
        for i in reversed(range(len(names))):
            texts = (
                _text(panel.cells.get((i, j)), chart, shade, numbers) for j in block
            )
            yield f"{names[i]:>{left}} |{''.join(f'{text:>{each}}' for text in texts)}"


def _head(heads: list[str], block: range, each: int) -> str:
    """The values of C over their columns, or where they go from and to."""
    if each == 1:
        return f"C = {heads[block[0]]} to {heads[block[-1]]}, {len(block)} values"
    return "".join(f"{heads[j]:>{each}}" for j in block)


def _text(
    cell: HeatCell | None,
    chart: HeatMap,
    shade: Callable[[float], str],
    numbers: bool = True,
) -> str:
    """One cell: its mark, or its shade, before its number."""
    if cell is None:
        return ""
    chosen = CHOSEN if cell.row is chart.chosen else ""
    mark = MARKS.get(cell.state, "")
    if cell.value is None or cell.state not in ("ok", "ambiguous"):
        return mark
    if not numbers:
        return chosen or mark or shade(cell.value)
    return f"{chosen}{mark}{shade(cell.value)}{chart.label.shown(cell.value)}"


def _legend(chart: HeatMap, shades: str) -> Iterator[str]:
    if chart.values:
        low, high = (chart.label.shown(f(chart.values)) for f in (min, max))
        by = ", by its logarithm" if is_steep(chart.values) else ""
        ink = f"'{shades[0]}' {low} to '{shades[-1]}' {high} {chart.label.unit}".strip()
        yield f"{ink}{by}: the more ink, the larger"
    if chart.chosen is not None:
        yield f"{CHOSEN} {chart.verdict}"
    for state in chart.states:
        if state in MARKS:
            yield f"{MARKS[state]} {STATES[state]}"
