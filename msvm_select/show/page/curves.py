"""Results -> each score along C: every kernel setting a thin line, one of them bold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from msvm_select.results.labels import label_of
from msvm_select.results.ranking import Results
from msvm_select.row import Row, Setting
from msvm_select.show.charts.heat import state_of
from msvm_select.show.page.markup import Html, el, joined
from msvm_select.show.page.shading import Scale
from msvm_select.show.page.values import (
    brief,
    compact,
    scores,
    text,
)

WIDTH, HEIGHT = 320, 178
LEFT, RIGHT, TOP, BOTTOM = 46, 304, 14, 144
TICKS = 5
MOST = 7  # values of C below the axis
WIDE = 100.0  # largest / smallest beyond which an axis is logarithmic
SHOWN = ("ok", "ambiguous", "inapplicable")


@dataclass(frozen=True)
class Axis:
    """Values -> pixels from ``start`` to ``end``."""

    scale: Scale
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value lies."""
        return self.start + self.scale.share(value) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """A few round values within the axis."""
        low, high = self.scale.low, self.scale.high
        if low == high:
            return [low]
        if self.scale.logarithmic:
            first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
            step = 1 + (last - first) // TICKS
            return [10.0**power for power in range(first, last + 1, step)]
        size = round_step((high - low) / TICKS)
        first, last = math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9)
        return [size * i for i in range(first, last + 1)]


def round_step(step: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is no smaller."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(n * power for n in (1.0, 2.0, 5.0, 10.0) if n * power >= step * 0.999)


def settings_of(results: Results) -> dict[Setting, list[Row]]:
    """The rows of each kernel setting, C ascending: the chosen one, then by rank."""
    found: dict[Setting, list[Row]] = {}
    chosen = results.chosen
    if chosen is not None:
        found[chosen.setting] = []
    for row in results.rows:
        found.setdefault(row.setting, []).append(row)
    return {key: sorted(rows, key=lambda row: row.C) for key, rows in found.items()}


def named(row: Row) -> str:
    """A kernel setting in a list to choose from."""
    return ", ".join([row.kernel, *(f"{p} = {text(row, p)}" for p in row.parameters)])


def curves(results: Results, chosen: Row | None) -> Html:
    """A small picture a score, over the same C."""
    return joined(
        [_dots(), *(_panel(results, column, chosen) for column in scores(results))]
    )


def _panel(results: Results, column: str, chosen: Row | None) -> Html:
    label = label_of(column)
    groups = settings_of(results)
    points = [row for rows in groups.values() for row in rows if _is_shown(row, column)]
    if not points:
        return joined([])
    across = Axis(_C_scale(results), LEFT, RIGHT)
    up = Axis(_score_scale(points, column), BOTTOM, TOP)
    lines = [
        el(
            "g",
            el("path", d=_path(rows, column, across, up)),
            _hollow(rows, column, across, up),
            class_="line on" if i == 0 else "line",
            data_setting=i,
        )
        for i, rows in enumerate(groups.values())
    ]
    picture = el(
        "svg",
        _grid(results, across, up),
        *reversed(lines),
        _ring(chosen, column, across, up),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="curve",
        role="img",
        aria_label=f"{label.titled} along C; the values are in the table",
    )
    remark = " (logarithmic)" if up.scale.logarithmic else ""
    return el("figure", el("figcaption", label.titled + remark), picture)


def _dots() -> Html:
    """What the bold line has at its values; hollow where a bound does not apply."""
    dots = (
        el(
            "marker",
            el("circle", r=2.6),
            id=f"dot-{kind}",
            markerUnits="userSpaceOnUse",
            markerWidth=9,
            markerHeight=9,
            viewBox="-4.5 -4.5 9 9",
        )
        for kind in ("full", "hollow")
    )
    return el("svg", *dots, width=0, height=0, aria_hidden="true", class_="dots")


def _ring(chosen: Row | None, column: str, across: Axis, up: Axis) -> Html | None:
    """Around the value of the chosen cell."""
    if chosen is None or not _is_shown(chosen, column):
        return None
    y = up(label_of(column).factor * float(getattr(chosen, column)))
    return el("circle", cx=across(chosen.C), cy=y, r=6, class_="ring")


def _hollow(rows: Sequence[Row], column: str, across: Axis, up: Axis) -> Html | None:
    """The values of bounds that do not apply, each by itself."""
    factor = label_of(column).factor
    points = [
        f"M{across(row.C):.1f} {up(factor * float(getattr(row, column))):.1f}h0"
        for row in rows
        if state_of(row, column) == "inapplicable"
    ]
    return el("path", d="".join(points), class_="hollow") if points else None


def _is_shown(row: Row, column: str) -> bool:
    return state_of(row, column) in SHOWN


def _C_scale(results: Results) -> Scale:
    values = [row.C for row in results.rows]
    low, high = min(values), max(values)
    return Scale(low, high, low > 0.0 and high >= 10.0 * low)


def _score_scale(rows: Sequence[Row], column: str) -> Scale:
    """From 0, unless the values span so much that their logarithm is told better."""
    factor = label_of(column).factor
    values = [factor * float(getattr(row, column)) for row in rows]
    found = Scale.over(values, WIDE)
    if found.logarithmic:
        return found
    return Scale(min(0.0, found.low), found.high or 1.0, False)


def _path(rows: Sequence[Row], column: str, across: Axis, up: Axis) -> str:
    """A line through the values; it breaks where there is none."""
    factor = label_of(column).factor
    parts, pen = [], "M"
    for row in rows:
        if not _is_shown(row, column):
            pen = "M"
            continue
        y = up(factor * float(getattr(row, column)))
        parts.append(f"{pen}{across(row.C):.1f} {y:.1f}{'h0' if pen == 'M' else ''}")
        pen = "L"
    return "".join(parts)


def _some(values: set[float]) -> list[float]:
    """As many as can be written below an axis."""
    return sorted(values)[:: 1 + (len(values) - 1) // MOST]


def _grid(results: Results, across: Axis, up: Axis) -> Html:
    """Thin rules with their values, and the names of the axes."""
    rules = []
    for value in up.ticks():
        y = up(value)
        rules.append(el("path", d=f"M{LEFT} {y:.1f}H{RIGHT}"))
        rules.append(el("text", compact(value, 4), x=LEFT - 6, y=y + 3.5, class_="up"))
    for value in _some({row.C for row in results.rows}):
        x = across(value)
        rules.append(el("path", d=f"M{x:.1f} {BOTTOM}v4"))
        rules.append(el("text", brief(value), x=x, y=BOTTOM + 16))
    axis = el("text", "C", x=(LEFT + RIGHT) / 2, y=BOTTOM + 31, class_="axis")
    return el("g", *rules, axis, class_="grid")
