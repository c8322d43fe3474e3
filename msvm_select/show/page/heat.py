"""The heat maps of the page, to be painted with any of the scores.

The drawing is the same for every score. A *painting* holds the style and the text of
each cell, in the order of the rows; the page's script swaps paintings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from msvm_select.columns import STATES, Row
from msvm_select.results.ranking import Results
from msvm_select.show.charts.heat import (
    HeatCell,
    HeatMap,
    HeatPanel,
    heat_map_of,
)
from msvm_select.show.charts.scale import SHADES, colour, hexadecimal, ink_on
from msvm_select.show.page.markup import Html, el, joined
from msvm_select.show.page.words import brief, compact

WIDE, HIGH = 42, 26  # a cell, in pixels of a small screen
FOOT = 34  # below the cells: the values of C, and its name
ROOM = 5  # characters of a value
DIGIT = 6.4  # pixels, about, of a character
MARKS = {
    "ambiguous": "~{}",
    "inapplicable": "{}",
    "not_converged": "!{}",
    "none": "\N{EN DASH}",
    "failed": "\N{MULTIPLICATION SIGN}",
}


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
        return {replace(row, rank=None): i for i, row in enumerate(self.results.rows)}

    def place(self, row: Row | None) -> int | None:
        """Where a row of the map stands in the results."""
        return None if row is None else self.places.get(replace(row, rank=None))

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
        if (scale := self.chart.scale) is None:
            return "no value counts", ""
        low, high = self._shown(scale.low), self._shown(scale.high)
        return low, "" if low == high else high

    def legend(self) -> str:
        """What the shades stand for."""
        return f"{self.chart.label.titled}{' (logarithmic)' * self.chart.is_log}"

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
    return joined(_figure(painting, panel, here) for panel in painting.chart.panels)


def style() -> str:
    """A rule of style for each shade: of its cells, and of the text on them."""
    return "\n".join(
        f".s{level} rect{{fill:{hexadecimal(colour(level))}}}"
        f".s{level} text{{fill:{ink_on(colour(level))}}}"
        for level in range(SHADES)
    )


def ramp() -> Html:
    """The shades in a row, the brightest first."""
    cells = (
        el("g", el("rect", x=5 * level, y=0, width=5, height=12), class_=f"s{level}")
        for level in range(SHADES)
    )
    width = 5 * SHADES
    hidden = {"aria_hidden": "true", "class_": "ramp"}
    return el(
        "svg", *cells, viewBox=f"0 0 {width} 12", width=width, height=12, **hidden
    )


def marks(paintings: Iterable[Painting]) -> Html | None:
    """What the marks mean that some cell has by some score."""
    found = {state for painting in paintings for state in painting.chart.states}
    told = [state for state in STATES if state in found and state in MARKS]
    if not told:
        return None
    parts = (
        el("li", el("b", MARKS[state].format("1"), class_=state), f" {STATES[state]}")
        for state in told
    )
    return el("ul", *parts, class_="marks")


def _figure(painting: Painting, panel: HeatPanel, chosen: int | None) -> Html:
    up = f" {panel.name} over C" if panel.name else None
    caption = el("figcaption", el("b", panel.title), up)
    drawing = _drawing(painting, panel, chosen)
    box = el("div", drawing, class_="scroll", data_kernel=panel.kernel)
    return el("figure", caption, box)


def _drawing(painting: Painting, panel: HeatPanel, chosen: int | None) -> Html:
    """The smaller values below, C to the right."""
    names = [brief(value) if panel.name else "" for value in panel.values]
    left = round(DIGIT * max(map(len, names))) + 8
    top = len(names) - 1
    lines = [
        _line(painting, panel, i, names[i], left, HIGH * (top - i), chosen)
        for i in reversed(range(len(names)))
    ]
    width, height = left + WIDE * len(panel.Cs) + 2, HIGH * len(names) + FOOT
    return el(
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


def _line(
    painting: Painting,
    panel: HeatPanel,
    i: int,
    name: str,
    left: int,
    y: int,
    chosen: int | None,
) -> Html:
    """One kernel setting."""
    head = el(
        "text", name, x=left - 6, y=y + HIGH / 2 + 4, class_="name", role="rowheader"
    )
    cells = [
        _cell(painting, cell, left + WIDE * j, y, chosen)
        for j in range(len(panel.Cs))
        if (cell := panel.cells.get((i, j))) is not None
    ]
    return el("g", head, *cells, role="row")


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
