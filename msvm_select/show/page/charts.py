"""The charts of the page: heat maps, curves, the confusion matrix.

The heat maps can be painted with any of the scores. Their drawing is the same for every
score. A *painting* holds the style and the text of each cell, in the order of the rows;
the page's script swaps paintings.

Each score has its curves along C, and the page's script makes one kernel setting bold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msvm_select.columns import STATES, Row
from msvm_select.results.ranking import Results
from msvm_select.show.charts.curves import Bundle, Curve, bundles_of
from msvm_select.show.charts.heat import (
    Confusion,
    HeatCell,
    HeatMap,
    HeatPanel,
    heat_map_of,
)
from msvm_select.show.charts.scale import SHADES, Scale, brief, compact, shade
from msvm_select.show.page.markup import Html, el, joined, scrolling, table

WIDE, HIGH = 42, 26  # a cell, in pixels of a small screen
FOOT = 34  # below the cells: the values of C, and its name
ROOM = 5  # characters of a value
DIGIT = 6.4  # pixels, about, of a character
MARKS = {
    "ambiguous": "~{}",
    "bounded": "\N{GREATER-THAN OR EQUAL TO}{}",
    "inapplicable": "{}",
    "not_converged": "!{}",
    "none": "\N{EN DASH}",
    "failed": "\N{MULTIPLICATION SIGN}",
}
WIDTH, HEIGHT = 320, 178  # of a picture of curves
LEFT, RIGHT, TOP, BOTTOM = 46, 304, 14, 144
TICKS = 5
MOST = 7  # values of C below the axis
LONG = 14  # characters of a class that has room for them


@dataclass(frozen=True, eq=False)
class Painting:
    """How each row's cell looks by one score."""

    results: Results
    column: str

    @cached_property
    def chart(self) -> HeatMap:
        """The map of every cell."""
        return heat_map_of(self.results, self.column, most=None)

    @cached_property
    def places(self) -> dict[Row, int]:
        """Where a row stands in the results, whatever rank another score gives it."""
        return {row.at_rank(None): i for i, row in enumerate(self.results.rows)}

    def place(self, row: Row | None) -> int | None:
        """Where a row of the map stands in the results."""
        return None if row is None else self.places.get(row.at_rank(None))

    def style(self, cell: HeatCell) -> str:
        """The shade of a value that counts, and its state where there is a mark."""
        level = self.chart.level(cell)
        if level is None:
            return cell.state
        return f"s{level} {cell.state}" if cell.state in MARKS else f"s{level}"

    def text(self, cell: HeatCell) -> str:
        """The value in few characters, with the mark of its state."""
        if cell.value is None or cell.state in ("none", "failed"):
            return MARKS["failed" if cell.state == "failed" else "none"]
        return MARKS.get(cell.state, "{}").format(self._shown(float(cell.value)))

    def ends(self) -> tuple[str, str]:
        """The texts at the bright and at the dark end of the scale."""
        if (ends := self.chart.ends) is None:
            return "no value counts", ""
        first, last = map(self._shown, ends)
        return first, "" if first == last else last

    def legend(self) -> str:
        """What the shades stand for."""
        titled = self.chart.label.titled
        return titled if self.chart.scale is None else self.chart.scale.titled(titled)

    def data(self) -> dict[str, Any]:
        """All of it, for the page's script."""
        cells = {self.place(cell.row): cell for cell in self.chart.cells}
        known = [cells.get(i) for i in range(len(self.results.rows))]
        return {
            "legend": self.legend(),
            "ends": self.ends(),
            "styles": [self.style(cell) if cell else "" for cell in known],
            "texts": [self.text(cell) if cell else "" for cell in known],
            "first": self.place(self.chart.best),
        }

    def _shown(self, value: float) -> str:
        """A value in as many characters as a cell has room for."""
        label = self.chart.label
        text = label.shown(value)
        return text if len(text) <= ROOM else compact(label.factor * value, 2)


def heat_maps(painting: Painting, chosen: Row | None) -> Html:
    """One map a panel, painted with its score."""
    here = painting.place(chosen)
    return joined(_map(painting, panel, here) for panel in painting.chart.panels)


def style() -> str:
    """A rule of style for each shade: of its cells, and of the text on them."""
    shades = ((level, *shade(level)) for level in range(SHADES))
    return "\n".join(
        f".s{level} rect{{fill:{fill}}}.s{level} text{{fill:{ink}}}"
        for level, fill, ink in shades
    )


def ramp() -> Html:
    """The shades in a row, the brightest first."""
    cells = (
        el("g", el("rect", x=5 * level, y=0, width=5, height=12), class_=f"s{level}")
        for level in range(SHADES)
    )
    width = 5 * SHADES
    return el(
        "svg", *cells, viewBox=f"0 0 {width} 12", width=width, height=12,
        aria_hidden="true", class_="ramp",
    )  # fmt: skip


def marks(paintings: Iterable[Painting]) -> Html | None:
    """What the marks mean that some cell has by some score."""
    found = {state for painting in paintings for state in painting.chart.marked}
    parts = [
        el("li", el("b", MARKS[state].format("1"), class_=state), f" {meaning}")
        for state, meaning in STATES.items()
        if state in found
    ]
    return el("ul", *parts, class_="marks") if parts else None


def curves(results: Results, columns: Iterable[str]) -> Html:
    """A small picture a score, over the same C."""
    return joined([_dots(), *(_picture(one) for one in bundles_of(results, columns))])


def confusion(chart: Confusion) -> Html:
    """True classes down, the classes predicted without the sample across."""
    heads = [_class(name, "col") for name in (*chart.predicted, "wrong")]
    head = el("tr", el("th", "true class", scope="col"), *heads)
    body = []
    for k, (name, counts) in enumerate(chart.lines):
        total = sum(counts)
        entries = (_count(chart, k, l, n) for l, n in enumerate(counts))
        share = el("td", f"{total - counts[k]} of {total}", class_="sum")
        body.append(el("tr", _class(name, "row"), *entries, share))
    caption = "Class predicted without the sample"
    matrix = table(head, body, caption, caption_="above", id="confusion")
    return scrolling(matrix, "Confusion matrix")


def _map(painting: Painting, panel: HeatPanel, chosen: int | None) -> Html:
    """The smaller values below, C to the right."""
    names = [brief(value) if panel.name else "" for value in panel.values]
    left, top = round(DIGIT * max(map(len, names))) + 8, len(names) - 1
    lines = []
    for i in reversed(range(len(names))):
        y = HIGH * (top - i)
        place = {"x": left - 6, "y": y + HIGH / 2 + 4}
        head = el("text", names[i], **place, class_="name", role="rowheader")
        cells = (
            _cell(painting, cell, left + WIDE * j, y, chosen)
            for j in range(len(panel.Cs))
            if (cell := panel.cells.get((i, j))) is not None
        )
        lines.append(el("g", head, *cells, role="row"))
    width, height = left + WIDE * len(panel.Cs) + 2, HIGH * len(names) + FOOT
    drawing = el(
        "svg",
        *lines,
        _foot(panel, left, HIGH * len(names)),
        class_="heat",
        role="grid",
        aria_label=f"{panel.title}: {painting.chart.label.text} over C; the arrow keys "
        "go from cell to cell",
        viewBox=f"0 0 {width} {height}",
        style=f"--natural:{width}px",
    )
    up = f" {panel.name} over C" if panel.name else None
    caption = el("figcaption", el("b", panel.title), up)
    box = el("div", drawing, class_="scroll", data_kernel=panel.kernel)
    return el("figure", caption, box)


def _cell(
    painting: Painting, cell: HeatCell, x: int, y: int, chosen: int | None
) -> Html:
    at = painting.place(cell.row)
    return el(
        "g",
        el("rect", x=x + 1, y=y + 1, width=WIDE - 2, height=HIGH - 2),
        el("text", painting.text(cell), x=x + WIDE / 2, y=y + HIGH / 2 + 4),
        class_=f"cell {painting.style(cell)}",
        role="gridcell",
        tabindex=-1,
        data_row=at,
        data_chosen=at == chosen,
    )


def _foot(panel: HeatPanel, left: int, y: int) -> Html:
    """The values of C below their columns, and the name of the axis."""
    labels = [
        el("text", brief(C), x=left + WIDE * (i + 0.5), y=y + 14, role="columnheader")
        for i, C in enumerate(panel.Cs)
    ]
    axis = el("text", "C", x=left + WIDE * len(panel.Cs) / 2, y=y + 29, class_="axis")
    return el("g", el("g", *labels, role="row"), axis, class_="foot")


@dataclass(frozen=True)
class Axes:
    """Where C and a value stand in a picture of curves."""

    across: Scale
    up: Scale

    def x(self, C: float) -> float:
        """Pixels from the left."""
        return LEFT + self.across.share(C) * (RIGHT - LEFT)

    def y(self, value: float) -> float:
        """Pixels from above."""
        return BOTTOM + self.up.share(value) * (TOP - BOTTOM)

    def at(self, C: float, value: float) -> str:
        """Both, as a path has them."""
        return f"{self.x(C):.1f} {self.y(value):.1f}"


def _picture(bundle: Bundle) -> Html:
    axes = Axes(bundle.across, bundle.up)
    drawn = []
    for i, curve in enumerate(bundle.curves):
        lines = [el("path", d=_path(curve, axes))]
        # the values of bounds that do not apply, each by itself
        alone = [f"M{axes.at(C, v)}h0" for C, v, counts in curve.points if not counts]
        if alone:
            lines.append(el("path", d="".join(alone), class_="hollow"))
        look = "line on" if i == 0 else "line"
        drawn.append(el("g", *lines, class_=look, data_setting=i))
    ring = None
    if bundle.chosen is not None:
        C, value = bundle.chosen
        ring = el("circle", cx=axes.x(C), cy=axes.y(value), r=6, class_="ring")
    titled = bundle.label.titled
    picture = el(
        "svg",
        _rules(bundle.Cs, axes),
        *reversed(drawn),
        ring,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="curve",
        role="img",
        aria_label=f"{titled} along C; the values are in the table",
    )
    return el("figure", el("figcaption", axes.up.titled(titled)), picture)


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


def _path(curve: Curve, axes: Axes) -> str:
    """A line through the values; it breaks where there is none."""
    parts, pen = [], "M"
    for C, value in zip(curve.Cs, curve.values, strict=True):
        if known := math.isfinite(value):
            parts.append(f"{pen}{axes.at(C, value)}{'h0' if pen == 'M' else ''}")
        pen = "L" if known else "M"
    return "".join(parts)


def _rules(Cs: tuple[float, ...], axes: Axes) -> Html:
    """Thin rules with their values, and the names of the axes."""
    rules = []
    for value in axes.up.ticks(TICKS):
        y = axes.y(value)
        rules.append(el("path", d=f"M{LEFT} {y:.1f}H{RIGHT}"))
        rules.append(el("text", compact(value, 4), x=LEFT - 6, y=y + 3.5, class_="up"))
    for value in Cs[:: 1 + (len(Cs) - 1) // MOST]:
        x = axes.x(value)
        rules.append(el("path", d=f"M{x:.1f} {BOTTOM}v4"))
        rules.append(el("text", brief(value), x=x, y=BOTTOM + 16))
    axis = el("text", "C", x=(LEFT + RIGHT) / 2, y=BOTTOM + 31, class_="axis")
    return el("g", *rules, axis, class_="grid")


def _class(name: str, scope: str) -> Html:
    """A name that may be cut where it is long; its title has all of it."""
    return el("th", name, scope=scope, title=name if len(name) > LONG else None)


def _count(chart: Confusion, k: int, l: int, count: int) -> Html:
    """A dot for none off the diagonal; a tint for how much of the class it is."""
    if k == l:
        return el("td", str(count), class_="right")
    if not count:
        return el("td", "\N{MIDDLE DOT}", class_="none")
    return el("td", str(count), class_=f"wrong w{chart.tint(k, l)}")
