"""The heat map of a criterion over C x a kernel parameter, the chosen cell marked."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.show.charts.heat import (
    STATES,
    HeatCell,
    HeatMap,
    HeatPanel,
)
from msvm_select.show.figures.heat_sizes import fit_to_size, flatten
from msvm_select.show.figures.scales import Scale, axis_name, label, plain_logarithms
from msvm_select.show.figures.style import VALUES, ink_on, short
from msvm_select.show.text import is_steep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

HATCHES = {
    "ambiguous": ".",
    "inapplicable": "//",
    "none": "",
    "not_converged": "\\\\",
    "failed": "xx",
}
BLANK = "#F0F0F0"  # a cell without a number
INK = "#707070"  # of its hatching
CELL = (0.58, 0.34)  # inches, where there is room
LEAST, MOST = (4.6, 2.6), (13.0, 13.0)  # inches of the whole figure
AROUND = (2.2, 1.5)  # for the labels, the colour bar, the title and the legend
BETWEEN = 0.5  # inches from panel to panel
ABOVE = 4  # panels from which on there are two columns


def heat_map(chart: HeatMap, size: tuple[float, float] | None = None) -> Figure:
    """The panels below each other, C across, all in the same colours.

    >>> heat_map(heat_map_of(read_results("ranked.json"), "loo"))
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = 1 if len(chart.panels) < ABOVE else 2
    rows = [chart.panels[i : i + columns] for i in range(0, len(chart.panels), columns)]
    heights = [max(len(panel.values) for panel in row) for row in rows]
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06)
    figure = Figure(figsize=size or _size(rows, heights), layout=layout)
    grid: Any = figure.subplots(
        len(rows),
        columns,
        squeeze=False,
        gridspec_kw={"height_ratios": [height + 0.6 for height in heights]},
    )
    colours = _colours(chart)
    places = [axes for line in grid for axes in line]
    for axes in places[len(chart.panels) :]:
        axes.remove()
    drawn = list(zip(places, chart.panels, strict=False))
    for axes, panel in drawn:
        _panel(axes, panel, chart, colours)
    if len(set(chart.values)) > 1:
        _colour_bar(figure, chart, colours, [axes for axes, _ in drawn])
    _words(figure, chart)
    figure.draw_without_rendering()  # from now on the cells have their sizes
    for n, (axes, panel) in enumerate(drawn):
        flatten(axes, len(panel.values) / heights[n // columns])
        colour_of = partial(_colour_of, chart, colours)
        fit_to_size(figure, axes, panel, chart, colour_of)
    return figure


def _size(rows: list[tuple[HeatPanel, ...]], heights: list[int]) -> tuple[float, float]:
    columns = max(map(len, rows))
    across = columns * max(len(panel.Cs) for row in rows for panel in row)
    wanted = (
        AROUND[0] * (1.0 + columns) / 2.0 + CELL[0] * across,
        AROUND[1] + CELL[1] * sum(heights) + BETWEEN * len(rows),
    )
    width, height = (
        min(most, max(least, wish))
        for wish, least, most in zip(wanted, LEAST, MOST, strict=True)
    )
    return width, height


def _colours(chart: HeatMap) -> ScalarMappable:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    shown = [chart.label.factor * value for value in chart.values] or [0.0, 1.0]
    norm = LogNorm if is_steep(shown) else Normalize
    return ScalarMappable(norm(min(shown), max(shown)), VALUES)


def _panel(
    axes: Axes, panel: HeatPanel, chart: HeatMap, colours: ScalarMappable
) -> None:
    """Every cell as a rectangle in its place."""
    across, up = Scale(panel.Cs), Scale(panel.values)
    for (i, j), cell in panel.cells.items():
        _rectangle(axes, across, up, i, j, **_filling(cell, chart, colours))
    _mark(axes, panel, chart, across, up)
    axes.set(xlim=(across.edges[0], across.edges[-1]), ylim=(up.edges[0], up.edges[-1]))
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    axes.set_title(panel.title)
    axes.set_xlabel(axis_name("C", across))
    axes.set_ylabel(axis_name(panel.name, up) if panel.name else "")
    axes.set_yticks(up.places if panel.name else ())
    axes.set_yticklabels([label(v) for v in panel.values] if panel.name else ())
    axes.set_xticks(across.places)
    axes.set_xticklabels([label(C) for C in panel.Cs])


def _rectangle(
    axes: Axes, across: Scale, up: Scale, i: int, j: int, **look: Any
) -> None:
    from matplotlib.patches import Rectangle

    x, y = across.edges, up.edges
    corner = (x[j], y[i])
    axes.add_patch(Rectangle(corner, x[j + 1] - x[j], y[i + 1] - y[i], **look))


def _filling(cell: HeatCell, chart: HeatMap, colours: ScalarMappable) -> dict[str, Any]:
    """Its colour, and the hatching that says why there is no number."""
    hatch = HATCHES.get(cell.state)
    if cell.state not in ("ok", "ambiguous") or cell.value is None:
        return {"facecolor": BLANK, "edgecolor": INK, "hatch": hatch, "linewidth": 0.0}
    colour = _colour_of(chart, colours, cell)
    if hatch is None:
        return {"facecolor": colour, "edgecolor": colour, "linewidth": 0.3}
    ink = ink_on(colour)
    return {"facecolor": colour, "edgecolor": ink, "hatch": hatch, "linewidth": 0.0}


def _colour_of(chart: HeatMap, colours: ScalarMappable, cell: HeatCell) -> Any:
    assert cell.value is not None
    return colours.to_rgba(np.array([chart.label.factor * cell.value]))[0]


def _colour_bar(
    figure: Figure, chart: HeatMap, colours: ScalarMappable, axes: list[Axes]
) -> None:
    many = len(axes) > 2
    bar = figure.colorbar(colours, ax=axes, pad=0.02, shrink=0.6 if many else 1.0)
    bar.set_label(chart.label.titled)
    if is_steep(chart.values):
        plain_logarithms(bar.ax.yaxis)
    bar.outline.set_linewidth(0.5)


def _words(figure: Figure, chart: HeatMap) -> None:
    """The title, and below what is marked and hatched."""
    from matplotlib.patches import Patch

    title = f"{short(chart.name)}: {chart.label.text}" if chart.name else ""
    figure.suptitle(title or chart.label.text, x=0.01, ha="left")
    handles = [
        Patch(facecolor=BLANK, edgecolor=INK, hatch=HATCHES[state], label=STATES[state])
        for state in chart.states
        if state != "ok"
    ]
    if chart.chosen is not None:
        frame = Patch(facecolor="none", edgecolor="black", lw=2.0, label=chart.verdict)
        handles.insert(0, frame)
    if handles:
        figure.legend(handles=handles, loc="outside lower left")


def _mark(
    axes: Axes, panel: HeatPanel, chart: HeatMap, across: Scale, up: Scale
) -> None:
    """A frame of black and white around the chosen cell: it shows on every colour."""
    for (i, j), cell in panel.cells.items():
        if cell.row is chart.chosen:
            for width, colour in ((4.5, "white"), (2.2, "black")):
                _rectangle(
                    axes, across, up, i, j,
                    fill=False, edgecolor=colour, linewidth=width, zorder=5,
                    clip_on=False,
                )  # fmt: skip
