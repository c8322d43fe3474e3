"""The criteria along C: rates, bounds and indices, each in its own panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msvm_select.show.charts.curves import Curve, Curves, Panel
from msvm_select.show.charts.scale import Grid, compact
from msvm_select.show.figures.look import (
    FAINT,
    GREY,
    Size,
    crosses,
    legend_beside,
    look_of,
    plain_logarithms,
    short,
    value_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 8.6  # inches
HIGH = {"rate": 2.9, "metric": 2.2, "bound": 2.9, "index": 2.2}


def curves(chart: Curves, size: Size | None = None) -> Figure:
    """A panel for each kind of criterion that there is, C across all of them."""
    from matplotlib.figure import Figure

    heights = [HIGH[panel.role] for panel in chart.panels]
    figure = Figure(figsize=size or (WIDE, 0.9 + sum(heights)), layout="constrained")
    panels = figure.subplots(
        len(heights), 1, sharex=True, squeeze=False, height_ratios=heights
    )[:, 0]
    for panel, axes in zip(chart.panels, panels, strict=True):
        _panel(axes, panel, chart)
    value_axis(panels[-1], chart.grid, 0.6 * figure.get_figwidth())
    name = f"{short(chart.name)}: " if chart.name else ""
    figure.suptitle(f"{name}criteria along C, {chart.setting}", x=0.01, ha="left")
    return figure


def _panel(axes: Axes, panel: Panel, chart: Curves) -> None:
    axes.set_ylabel(panel.title)
    if panel.is_log:
        axes.set_yscale("log", nonpositive="mask")
    axes.grid(axis="y", color=FAINT, linewidth=0.5, zorder=0)
    if (most := panel.vacuous) is not None:
        told = f"{most:.0f} %: vacuous above"
        axes.axhline(most, color="black", linewidth=0.8, label=told)
    for index, curve in enumerate(panel.curves):
        _draw(axes, curve, index, chart)
    if chart.chosen is not None:
        (at,) = chart.places([chart.chosen])
        told = f"{chart.verdict}: C={compact(chart.chosen)}"
        look: dict[str, Any] = {"color": "black", "linestyle": ":", "zorder": 1}
        axes.axvline(at, linewidth=1.0, label=told, **look)
    crosses(axes, chart.places(chart.troubled), 0.03, "failed or not converged")
    if panel.is_log:
        plain_logarithms(axes.yaxis)
    else:
        axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])  # a marker at 0 is whole
    if any(not curve.applies for curve in panel.curves):
        axes.plot([], [], color=GREY, linestyle=(0, (2, 2)), label="does not apply")
    legend_beside(axes)


def _draw(axes: Axes, curve: Curve, index: int, chart: Curves) -> None:
    """Steps for leave-one-out, points for what is shuffled, lines for the others."""
    look = look_of(index)
    if curve.kind == "steps":
        _steps(axes, curve, chart, look)
    elif curve.kind == "points":
        look |= {"linestyle": "none", "markersize": 5.5, "markerfacecolor": "white"}
        axes.plot(chart.grid.places, curve.values, label=curve.name, zorder=4, **look)
    else:
        _line(axes, curve, chart.grid, {**look, "markersize": 4.0})


def _steps(axes: Axes, curve: Curve, chart: Curves, look: dict[str, Any]) -> None:
    """Exact at each C that was tried; the band is as wide as samples are ambiguous."""
    edges = chart.grid.edges
    twice = [value for value in curve.values for _ in range(2)]
    corners = [edge for pair in zip(edges, edges[1:], strict=False) for edge in pair]
    axes.plot(corners, twice, color=look["color"], linewidth=2.0, zorder=3)
    axes.plot(chart.grid.places, curve.values, linestyle="none", markersize=4.5, **look)
    axes.plot([], [], linewidth=2.0, markersize=4.5, label=curve.name, **look)
    if any(low < high for low, high in chart.band):
        low, high = (
            [pair[side] for pair in chart.band for _ in range(2)] for side in (0, 1)
        )
        axes.fill_between(
            corners, low, high, color=GREY, alpha=0.45, linewidth=0.0,
            label="its ambiguous band",
        )  # fmt: skip


def _line(axes: Axes, curve: Curve, grid: Grid, look: dict[str, Any]) -> None:
    """Solid where both ends count, dashed and hollow where the bound does not apply."""
    x, y = grid.places, curve.values
    colour = look["color"]
    for a in range(len(x) - 1):
        solid = curve.counts[a] and curve.counts[a + 1]
        dashes: Any = "-" if solid else (0, (2, 2))
        axes.plot(x[a : a + 2], y[a : a + 2], color=colour, linestyle=dashes, zorder=2)
    for sound, face in ((True, colour), (False, "white")):
        at = [i for i, counts in enumerate(curve.counts) if counts == sound]
        axes.plot(
            [x[i] for i in at], [y[i] for i in at],
            linestyle="none", markerfacecolor=face, zorder=3, **look,
        )  # fmt: skip
    axes.plot([], [], label=curve.name, **look)
