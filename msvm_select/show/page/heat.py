"""Results -> a map of each kernel over C, to be painted with any of its scores.

The drawing is the same for every score; a *painting* holds the class of style and the
text of each cell, in the order of the rows, and is all that changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from msvm_select.results.labels import Label, label_of
from msvm_select.results.ranking import Results
from msvm_select.row import PARAMETERS, Row
from msvm_select.show.charts.heat import STATES, state_of
from msvm_select.show.page.markup import Html, el, joined
from msvm_select.show.page.shading import SHADES, Scale
from msvm_select.show.page.values import (
    brief,
    compact,
    scores,
    setting_order,
    text,
)

WIDE, HIGH = 42, 26  # a cell, in pixels of a small screen
FOOT = 34  # below the cells: the values of C, and its name
ROOM = 5  # characters of a value
DIGIT = 6.4  # pixels, about, of a character
COUNTED = ("ok", "ambiguous")
MARKS = {
    "ambiguous": "{}*",
    "inapplicable": "{}",
    "not_converged": "~{}",
    "none": "\N{EN DASH}",
    "failed": "\N{MULTIPLICATION SIGN}",
}


@dataclass(frozen=True, eq=False)
class Painting:
    """How each row's cell looks by one score."""

    results: Results
    column: str

    @cached_property
    def label(self) -> Label:
        """What the score is called."""
        return label_of(self.column)

    @cached_property
    def scale(self) -> Scale | None:
        """Over the values that count; None where none does."""
        rows = self.results.rows
        held = [self._value(r) for r in rows if state_of(r, self.column) in COUNTED]
        return Scale.over(held) if held else None

    def style(self, row: Row) -> str:
        """The shade of a value that counts, and its state where there is a mark."""
        state = state_of(row, self.column)
        if state not in COUNTED or self.scale is None:
            return state
        shade = f"s{self.scale.shade(self._value(row))}"
        return shade if state == "ok" else f"{shade} {state}"

    def text(self, row: Row) -> str:
        """The value in few characters, with the mark of its state."""
        value = getattr(row, self.column)
        state = state_of(row, self.column)
        form = MARKS.get(state, "{}") if value is not None else MARKS["none"]
        if state == "failed":
            form = MARKS["failed"]
        return form.format("" if value is None else self.shown(float(value)))

    def shown(self, value: float) -> str:
        """A value in as many characters as a cell has room for."""
        text = self.label.shown(value)
        return text if len(text) <= ROOM else compact(self.label.factor * value, 2)

    def ends(self) -> tuple[str, str]:
        """The texts at the bright and at the dark end of the scale."""
        if self.scale is None:
            return "no value counts", ""
        low, high = self.shown(self.scale.low), self.shown(self.scale.high)
        return low, "" if low == high else high

    def data(self) -> dict[str, Any]:
        """All of it, for the page's script."""
        rows = self.results.rows
        return {
            "legend": self.legend(),
            "ends": self.ends(),
            "styles": [self.style(row) for row in rows],
            "texts": [self.text(row) for row in rows],
            "first": self.first(),
        }

    def first(self) -> int | None:
        """Which row is the best by this score."""
        best = self.results.ranked(self.column).best
        if best is None:
            return None
        places = enumerate(replace(row, rank=1) for row in self.results.rows)
        return next((i for i, row in places if row == replace(best, rank=1)), None)

    def legend(self) -> str:
        """What the shades stand for."""
        steps = self.scale is not None and self.scale.logarithmic
        return f"{self.label.titled}{' (logarithmic)' if steps else ''}"

    def _value(self, row: Row) -> float:
        return float(getattr(row, self.column))


def paintings(results: Results) -> dict[str, dict[str, Any]]:
    """By column, for every score that the rows have."""
    return {column: Painting(results, column).data() for column in scores(results)}


def heat_maps(results: Results, chosen: Row | None) -> Html:
    """One map a kernel, painted with the score that was ranked by."""
    columns = scores(results)
    painting = Painting(results, columns[0])
    kernels = dict.fromkeys(row.kernel for row in results.rows)
    return joined(_figure(painting, kernel, chosen) for kernel in kernels)


def ramp() -> Html:
    """The shades in a row, the brightest first."""
    cells = (
        el("g", el("rect", x=5 * i, y=0, width=5, height=12), class_=f"s{shade}")
        for i, shade in enumerate(reversed(range(SHADES)))
    )
    width = 5 * SHADES
    hidden = {"aria_hidden": "true", "class_": "ramp"}
    return el(
        "svg", *cells, viewBox=f"0 0 {width} 12", width=width, height=12, **hidden
    )


def marks(results: Results) -> Html | None:
    """What the marks mean that some cell has by some score."""
    rows, columns = results.rows, scores(results)
    found = {state_of(row, column) for row in rows for column in columns}
    told = [state for state in STATES if state in found and state in MARKS]
    if not told:
        return None
    parts = (
        el("li", el("b", MARKS[state].format("1"), class_=state), f" {STATES[state]}")
        for state in told
    )
    return el("ul", *parts, class_="marks")


def _figure(painting: Painting, kernel: str, chosen: Row | None) -> Html:
    rows = [row for row in painting.results.rows if row.kernel == kernel]
    used = [p for p in PARAMETERS if any(getattr(r, p) is not None for r in rows)]
    varied = [p for p in used if len({getattr(r, p) for r in rows}) > 1] or used
    fixed = [f"{p} = {text(rows[0], p)}" for p in used if p not in varied]
    title = ", ".join([kernel, *fixed])
    drawing = _drawing(painting, rows, varied, chosen)
    caption = el("figcaption", el("b", title), f" {', '.join(varied)} over C")
    box = el("div", drawing, class_="scroll", data_kernel=kernel)
    return el("figure", caption if varied else el("figcaption", el("b", title)), box)


def _drawing(
    painting: Painting, rows: Sequence[Row], varied: Sequence[str], chosen: Row | None
) -> Html:
    """Smooth below, rough above; C to the right."""
    Cs = sorted({row.C for row in rows})
    lines: dict[tuple[float, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (setting_order(row), row.C)):
        lines.setdefault(setting_order(row), []).append(row)
    names = [_name(line[0], varied) for line in lines.values()]
    left = round(DIGIT * max(map(len, names))) + 8
    body = [
        _line(painting, line, name, Cs, left, HIGH * (len(lines) - 1 - i), chosen)
        for i, (line, name) in enumerate(zip(lines.values(), names, strict=True))
    ]
    width, height = left + WIDE * len(Cs) + 2, HIGH * len(lines) + FOOT
    return el(
        "svg",
        *reversed(body),
        _foot(Cs, left, HIGH * len(lines)),
        class_="heat",
        role="grid",
        aria_label=f"{rows[0].kernel}: {painting.label.text} over C; the arrow keys "
        "go from cell to cell",
        viewBox=f"0 0 {width} {height}",
        style=f"--natural:{width}px",
    )


def _line(
    painting: Painting,
    line: Sequence[Row],
    name: str,
    Cs: Sequence[float],
    left: int,
    y: int,
    chosen: Row | None,
) -> Html:
    """One kernel setting."""
    middle = y + HIGH / 2 + 4
    cells = [
        _cell(painting, row, left + WIDE * Cs.index(row.C), y, row is chosen)
        for row in line
    ]
    head = el("text", name, x=left - 6, y=middle, class_="name", role="rowheader")
    return el("g", head, *cells, role="row")


def _name(row: Row, parameters: Sequence[str]) -> str:
    """The values of a kernel setting, to three digits."""
    return ", ".join(brief(getattr(row, name)) for name in parameters)


def _cell(painting: Painting, row: Row, x: int, y: int, chosen: bool) -> Html:
    at = _position(painting.results.rows, row)
    return el(
        "g",
        el("rect", x=x + 1, y=y + 1, width=WIDE - 2, height=HIGH - 2),
        el("text", painting.text(row), x=x + WIDE / 2, y=y + HIGH / 2 + 4),
        class_=f"cell {painting.style(row)}",
        role="gridcell",
        tabindex=-1,
        data_row=at,
        data_chosen=chosen,
    )


def _foot(Cs: Sequence[float], left: int, y: int) -> Html:
    """The values of C below their columns, and the name of the axis."""
    labels = [
        el("text", brief(C), x=left + WIDE * (i + 0.5), y=y + 14, role="columnheader")
        for i, C in enumerate(Cs)
    ]
    axis = el("text", "C", x=left + WIDE * len(Cs) / 2, y=y + 29, class_="axis")
    return el("g", el("g", *labels, role="row"), axis, class_="foot")


def _position(rows: Sequence[Row], row: Row) -> int:
    """Where a row stands: ranked rows are numbered from 1."""
    return row.rank - 1 if row.rank is not None else rows.index(row)
