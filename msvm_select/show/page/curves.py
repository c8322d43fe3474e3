"""The curves of the page: each score along C, one kernel setting of them bold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msvm_select.columns import Row, column_of
from msvm_select.results.ranking import Results
from msvm_select.show.charts.curves import Curve, by_setting, curve_of
from msvm_select.show.charts.scale import Grid, Scale
from msvm_select.show.page.markup import Html, el, joined
from msvm_select.show.page.words import brief, compact

WIDTH, HEIGHT = 320, 178
LEFT, RIGHT, TOP, BOTTOM = 46, 304, 14, 144
TICKS = 5
MOST = 7  # values of C below the axis
WIDE = 100.0  # largest / smallest beyond which an axis is logarithmic


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
        if self.scale.is_log:
            first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
            step = 1 + (last - first) // TICKS
            return [10.0**power for power in range(first, last + 1, step)]
        size = round_step((high - low) / TICKS)
        first, last = math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9)
        return [size * i for i in range(first, last + 1)]


@dataclass(frozen=True)
class Line:
    """One kernel setting of a panel: its values of C and its curve over them."""

    Cs: tuple[float, ...]
    curve: Curve

    @property
    def points(self) -> list[tuple[float, float, bool]]:
        """C, value and whether it counts; without value, NaN."""
        return list(zip(self.Cs, self.curve.values, self.curve.counts, strict=True))


def round_step(step: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is no smaller."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(n * power for n in (1.0, 2.0, 5.0, 10.0) if n * power >= step * 0.999)


def curves(results: Results, columns: Iterable[str], chosen: Row | None) -> Html:
    """A small picture a score, over the same C."""
    return joined([_dots(), *(_panel(results, column, chosen) for column in columns)])


def _panel(results: Results, column: str, chosen: Row | None) -> Html:
    groups = list(by_setting(results).values())
    lines = [Line(tuple(r.C for r in rows), curve_of(rows, column)) for rows in groups]
    values = [v for line in lines for v in line.curve.values if math.isfinite(v)]
    if not values:
        return joined([])
    Cs = tuple(sorted({row.C for row in results.rows}))
    across, up = Axis(Grid(Cs).scale, LEFT, RIGHT), Axis(_upward(values), BOTTOM, TOP)
    drawn = [
        el(
            "g",
            el("path", d=_path(line, across, up)),
            _hollow(line, across, up),
            class_="line on" if i == 0 else "line",
            data_setting=i,
        )
        for i, line in enumerate(lines)
    ]
    label = column_of(column)
    picture = el(
        "svg",
        _grid(Cs, across, up),
        *reversed(drawn),
        _ring(chosen, column, across, up),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="curve",
        role="img",
        aria_label=f"{label.titled} along C; the values are in the table",
    )
    remark = " (logarithmic)" if up.scale.is_log else ""
    return el("figure", el("figcaption", label.titled + remark), picture)


def _upward(values: Sequence[float]) -> Scale:
    """From 0, unless the values span so much that logarithms tell them better."""
    found = Scale.over(values, WIDE)
    return found if found.is_log else Scale(min(0.0, found.low), found.high or 1.0)


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
    if chosen is None or not math.isfinite(y := curve_of([chosen], column).values[0]):
        return None
    return el("circle", cx=across(chosen.C), cy=up(y), r=6, class_="ring")


def _hollow(line: Line, across: Axis, up: Axis) -> Html | None:
    """The values of bounds that do not apply, each by itself."""
    points = [
        f"M{across(C):.1f} {up(value):.1f}h0"
        for C, value, counts in line.points
        if math.isfinite(value) and not counts
    ]
    return el("path", d="".join(points), class_="hollow") if points else None


def _path(line: Line, across: Axis, up: Axis) -> str:
    """A line through the values; it breaks where there is none."""
    parts, pen = [], "M"
    for C, value, _ in line.points:
        if not math.isfinite(value):
            pen = "M"
            continue
        end = "h0" if pen == "M" else ""
        parts.append(f"{pen}{across(C):.1f} {up(value):.1f}{end}")
        pen = "L"
    return "".join(parts)


def _grid(Cs: Sequence[float], across: Axis, up: Axis) -> Html:
    """Thin rules with their values, and the names of the axes."""
    rules = []
    for value in up.ticks():
        y = up(value)
        rules.append(el("path", d=f"M{LEFT} {y:.1f}H{RIGHT}"))
        rules.append(el("text", compact(value, 4), x=LEFT - 6, y=y + 3.5, class_="up"))
    for value in Cs[:: 1 + (len(Cs) - 1) // MOST]:
        x = across(value)
        rules.append(el("path", d=f"M{x:.1f} {BOTTOM}v4"))
        rules.append(el("text", brief(value), x=x, y=BOTTOM + 16))
    axis = el("text", "C", x=(LEFT + RIGHT) / 2, y=BOTTOM + 31, class_="axis")
    return el("g", *rules, axis, class_="grid")
