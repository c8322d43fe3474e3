"""The criteria along C: rates, bounds and indices, each in its own panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msvm_select.columns import column_of
from msvm_select.show.charts.curves import Curve, Curves
from msvm_select.show.charts.scale import Grid
from msvm_select.show.figures.look import (
    FAINT,
    GREY,
    Size,
    colour_of,
    label,
    marker_of,
    plain_logarithms,
    short,
    value_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 8.6  # inches
HIGH = {"rates": 2.9, "bounds": 2.9, "indices": 2.2}
POINTS = ("cv", "holdout")  # criteria whose values depend on how one shuffles
TITLES = {
    "rates": "error rate, %",
    "bounds": "bound, % of samples",
    "indices": "index, no unit",
}


def curves(chart: Curves, size: Size | None = None) -> Figure:
    """A panel for each kind of criterion that there is, C across all of them."""
    from matplotlib.figure import Figure

    kinds = [kind for kind in HIGH if getattr(chart, kind)]
    heights = [HIGH[kind] for kind in kinds]
    figure = Figure(figsize=size or (WIDE, 0.9 + sum(heights)), layout="constrained")
    panels = figure.subplots(
        len(kinds), 1, sharex=True, squeeze=False, height_ratios=heights
    )[:, 0]
    grid = Grid(chart.Cs)
    for kind, axes in zip(kinds, panels, strict=True):
        _panel(axes, kind, chart, grid)
    value_axis(panels[-1], grid, 0.6 * figure.get_figwidth())
    name = f"{short(chart.name)}: " if chart.name else ""
    figure.suptitle(f"{name}criteria along C, {chart.setting}", x=0.01, ha="left")
    return figure


def _panel(axes: Axes, kind: str, chart: Curves, grid: Grid) -> None:
    axes.set_ylabel(TITLES[kind])
    if kind != "rates":
        axes.set_yscale("log", nonpositive="mask")
    axes.grid(axis="y", color=FAINT, linewidth=0.5, zorder=0)
    if kind == "bounds":
        _vacuous(axes)
    known: list[Curve] = getattr(chart, kind)
    for index, curve in enumerate(known):
        _draw(axes, curve, index, chart, grid)
    _choice(axes, chart, grid)
    _troubles(axes, chart, grid)
    if kind == "rates":
        axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])  # a marker at 0 is whole
    else:
        plain_logarithms(axes.yaxis)
    if any(not curve.applies for curve in known):
        axes.plot([], [], color=GREY, linestyle=(0, (2, 2)), label="does not apply")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), alignment="left")


def _draw(axes: Axes, curve: Curve, index: int, chart: Curves, grid: Grid) -> None:
    """Steps for leave-one-out, points for what is shuffled, lines for the others."""
    look: dict[str, Any] = {"color": colour_of(index), "marker": marker_of(index)}
    if curve.column == "loo_rate":
        _steps(axes, curve, chart, grid, look)
    elif column_of(curve.column).criterion in POINTS:
        look |= {"linestyle": "none", "markersize": 5.5, "markerfacecolor": "white"}
        axes.plot(grid.places, curve.values, label=curve.name, zorder=4, **look)
    else:
        _line(axes, curve, grid, {**look, "markersize": 4.0})


def _steps(
    axes: Axes, curve: Curve, chart: Curves, grid: Grid, look: dict[str, Any]
) -> None:
    """Exact at each C that was tried; the band is as wide as samples are ambiguous."""
    edges = grid.edges
    twice = [value for value in curve.values for _ in range(2)]
    corners = [edge for pair in zip(edges, edges[1:], strict=False) for edge in pair]
    axes.plot(corners, twice, color=look["color"], linewidth=2.0, zorder=3)
    axes.plot(grid.places, curve.values, linestyle="none", markersize=4.5, **look)
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


def _vacuous(axes: Axes) -> None:
    """A bound of 100 % says nothing."""
    axes.axhline(100.0, color="black", linewidth=0.8, label="100 %: vacuous above")


def _choice(axes: Axes, chart: Curves, grid: Grid) -> None:
    if chart.chosen is None:
        return
    at = grid.places[chart.Cs.index(chart.chosen)]
    told = f"{chart.verdict}: C={label(chart.chosen)}"
    axes.axvline(at, color="black", linewidth=1.0, linestyle=":", zorder=1, label=told)


def _troubles(axes: Axes, chart: Curves, grid: Grid) -> None:
    """A cross at the foot for each C whose machine failed or did not converge."""
    at = [grid.places[chart.Cs.index(C)] for C in chart.troubled]
    if at:
        axes.plot(
            at, [0.03] * len(at), "x", color="black", markersize=6.0,
            transform=axes.get_xaxis_transform(), label="failed or not converged",
        )  # fmt: skip
