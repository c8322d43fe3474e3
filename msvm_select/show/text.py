"""Charts in characters: heat maps, confusion matrices, the reliability diagram."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap

from msvm_select.show.charts.heat import Confusion, HeatCell, HeatMap, HeatPanel
from msvm_select.show.charts.reliability import ReliabilityChart
from msvm_select.show.sheet import aligned

SHADES = " ░▒▓█"
ASCII_SHADES = " .:oO"
MARKS = {
    "ambiguous": "~",
    "bounded": ">",
    "inapplicable": "/",
    "none": "-",
    "not_converged": "!",
    "failed": "x",
}
CHOSEN = "*"
CLAIM = "|"
BLOCKS = 3  # more than these and only the shades are shown


def heat_text(chart: HeatMap, width: int = 80, shades: str = SHADES) -> str:
    """The map as lines of at most ``width`` characters, with what its marks mean.

    The less ink, the better the value; the numbers stand beside it where they fit.
    """
    lines = wrap(f"{chart.name}: {chart.label.titled}".removeprefix(": "), width)
    for panel in chart.panels:
        upward = f", {panel.name} up" if panel.name else ""
        lines += ["", f"{panel.title}: C across{upward}"]
        lines += _panel_lines(panel, chart, width, shades)
    lines.append("")
    for text in _legend(chart, shades):
        lines += wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _panel_lines(
    panel: HeatPanel, chart: HeatMap, width: int, shades: str
) -> Iterator[str]:
    names = [f"{value:.6g}" if panel.name else "" for value in panel.values]
    left = max(len(text) for text in (panel.name or "C", *names))
    heads = [f"{C:.6g}" for C in panel.Cs]
    long = (_text(cell, chart, shades) for cell in panel.cells.values())
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
                _text(panel.cells.get((i, j)), chart, shades, numbers) for j in block
            )
            yield f"{names[i]:>{left}} |{''.join(f'{text:>{each}}' for text in texts)}"


def _head(heads: list[str], block: range, each: int) -> str:
    """The values of C over their columns, or where they go from and to."""
    if each == 1:
        return f"C = {heads[block[0]]} to {heads[block[-1]]}, {len(block)} values"
    return "".join(f"{heads[j]:>{each}}" for j in block)


def _text(
    cell: HeatCell | None, chart: HeatMap, shades: str, numbers: bool = True
) -> str:
    """One cell: its mark, or its shade, before its number."""
    if cell is None:
        return ""
    chosen = CHOSEN if cell.row is chart.chosen else ""
    mark = MARKS.get(cell.state, "")
    level = chart.level(cell, len(shades))
    if level is None or cell.counted is None:
        bound = cell.value if cell.state == "bounded" and numbers else None
        return mark if bound is None else f"{mark}{chart.label.shown(bound)}"
    if not numbers:
        return chosen or mark or shades[level]
    return f"{chosen}{mark}{shades[level]}{chart.label.shown(cell.counted)}"


def _legend(chart: HeatMap, shades: str) -> Iterator[str]:
    if chart.scale is not None and chart.ends is not None:
        first, last = map(chart.label.shown, chart.ends)
        by = ", by its logarithm" if chart.scale.is_log else ""
        ink = f"'{shades[0]}' {first} to '{shades[-1]}' {last} {chart.label.unit}"
        more = "smaller" if chart.label.largest else "larger"
        yield f"{ink.strip()}{by}: the more ink, the {more}"
    if chart.chosen is not None:
        yield f"{CHOSEN} {chart.verdict}"
    for state, meaning in chart.marked.items():
        yield f"{MARKS[state]} {meaning}"


def reliability_text(
    chart: ReliabilityChart, width: int = 80, shades: str = SHADES
) -> str:
    """A bar a bin: how often it is right, with a mark where it claims to be."""
    heads = ["probability", "samples", "claimed", "right"]
    rows = [
        [one.name, f"{one.samples:g}", f"{one.claimed:.3f}", f"{one.right:.3f}"]
        for one in chart.bins
    ]
    lines = aligned([heads, *rows], [True, False, False, False]).splitlines()
    room = max(10, width - max(map(len, lines)) - 4)
    bars = ["", *(_bar(one.right, one.claimed, room, shades[-1]) for one in chart.bins)]
    table = [f"{line}  {bar}" for line, bar in zip(lines, bars, strict=True)]
    told = f"{chart.verdict}; {CLAIM} where the bar would end if that were so"
    whole = [*wrap(chart.title, width), "", *table, "", *wrap(told, width)]
    return "\n".join(line.rstrip() for line in whole) + "\n"


def _bar(right: float, claimed: float, room: int, ink: str) -> str:
    bar = list((ink * round(right * room)).ljust(room + 1))
    bar[round(claimed * room)] = CLAIM
    return "".join(bar).rstrip()


def confusion_text(chart: Confusion) -> str:
    """True classes down, predictions across; zeros off the diagonal as dots."""
    rows = [
        [name, *(str(n) if n or k == l else "." for l, n in enumerate(counts))]
        for k, (name, counts) in enumerate(chart.lines)
    ]
    headings = ["class \\ predicted", *chart.predicted]
    return aligned([headings, *rows], [True] + [False] * len(chart.predicted))
