"""What the samples, or the classes, are along C: few by name, the others in grey."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.records import Floats
from msvm_select.show.charts.paths import QUANTITIES, Paths, matter
from msvm_select.show.charts.scale import Grid
from msvm_select.show.figures.look import (
    GREY,
    Size,
    colour_of,
    marker_of,
    short,
    value_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (8.0, 4.6)  # inches
LINES_APART, NAMES_APART = 0.06, 0.1  # of the height; what is farther is as good
WIDER = 1.3  # names are wider than high, and so is the picture
TITLES = {
    "alpha": "alpha along C",
    "outputs": "outputs along C",
    "norm": "norms along C",
}


def paths(chart: Paths, size: Size | None = None) -> Figure:
    """A line a sample; those that matter in the colour of their class, by name."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or SIZE, layout="constrained")
    axes = figure.subplots()
    grid = Grid(chart.Cs)
    named = matter(chart)
    _others(axes, chart, grid, set(named))
    for i in named:
        _line(axes, chart, grid, i)
    for told, value in chart.guides.items():
        axes.axhline(value, color="black", linewidth=0.8, linestyle=":", zorder=1)
        axes.annotate(
            told, (0.005, value), xycoords=("axes fraction", "data"), va="bottom",
            xytext=(0, 1), textcoords="offset points", fontsize=7.5,
            path_effects=_halo(), zorder=5,
        )  # fmt: skip
    value_axis(axes, grid, figure.get_figwidth() * 0.8)
    axes.set_ylabel(QUANTITIES[chart.of])
    axes.set_title(f"{short(chart.name)}: {TITLES[chart.of]}, {chart.setting}")
    axes.margins(y=0.05)
    _names(axes, chart, grid, named)
    _legend(axes, chart, named)
    return figure


def _others(axes: Axes, chart: Paths, grid: Grid, named: set[int]) -> None:
    from matplotlib.collections import LineCollection

    rest = [i for i in range(len(chart.lines)) if i not in named]
    if not rest:
        return
    x = np.array(grid.places)
    segments = [np.column_stack([x, chart.lines[i]]) for i in rest]
    lines = LineCollection(segments, colors=GREY, linewidths=0.6, alpha=0.45)
    axes.add_collection(lines)
    axes.autoscale_view()
    axes.plot([], [], color=GREY, linewidth=0.6, label=f"the other {len(rest)}")


def _line(axes: Axes, chart: Paths, grid: Grid, i: int) -> None:
    group = chart.groups[i]
    few = max(1, len(grid.places) // 8)
    axes.plot(
        grid.places, chart.lines[i], color=colour_of(group), marker=marker_of(group),
        markersize=3.5, markevery=(i % few, few), linewidth=1.3, zorder=3,
    )  # fmt: skip


def _names(axes: Axes, chart: Paths, grid: Grid, named: list[int]) -> None:
    """On the lines themselves, each where it is farthest from the others' names."""
    low, high = axes.get_ylim()
    heights = (chart.lines[named] - low) / (high - low)
    for i, j in zip(named, name_places(heights), strict=True):
        axes.text(
            grid.places[j], chart.lines[i, j], short(chart.names[i], 16),
            ha="center", va="center", fontsize=8.0, color=colour_of(chart.groups[i]),
            path_effects=_halo(), zorder=6,
        )  # fmt: skip


def name_places(heights: Floats) -> list[int]:
    """For each line (lines, places), of heights 0 to 1, the place to name it at.

    The one that is farthest from the other lines there and from the names before it.
    """
    lines, places = heights.shape
    across = np.linspace(0.0, 1.0, places)
    taken: list[tuple[float, float]] = []
    chosen: list[int] = []
    for i in range(lines):
        away = np.abs(np.delete(heights, i, axis=0) - heights[i])
        free = np.minimum(away.min(axis=0, initial=1.0) / LINES_APART, 1.0)
        for x, y in taken:
            far = np.hypot((across - x) * WIDER, heights[i] - y)
            free = np.minimum(free, far / NAMES_APART)
        free[[0, -1]] *= 0.5  # a name at an end is half outside
        j = int(free.argmax())
        chosen.append(j)
        taken.append((float(across[j]), float(heights[i, j])))
    return chosen


def _halo() -> list[Any]:
    """White around letters that stand on lines."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.2, foreground="white")]


def _legend(axes: Axes, chart: Paths, named: list[int]) -> None:
    """The classes of the named samples; a norm's lines bear their names."""
    if chart.of != "norm":
        for k in sorted({chart.groups[i] for i in named}):
            look: dict[str, Any] = {"color": colour_of(k), "marker": marker_of(k)}
            name = short(chart.classes[k])
            axes.plot([], [], markersize=3.5, label=name, **look)
    if chart.open_Cs:
        places = [Grid(chart.Cs).places[chart.Cs.index(C)] for C in chart.open_Cs]
        axes.plot(
            places, [0.02] * len(places), "x", color="black", markersize=6.0,
            transform=axes.get_xaxis_transform(), label="did not converge",
        )  # fmt: skip
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), alignment="left")
