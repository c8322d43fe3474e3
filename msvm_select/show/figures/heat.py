"""The heat map of a criterion over C x a kernel parameter, the chosen cell marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msvm_select.show.charts.heat import PLAIN, HeatCell, HeatMap, HeatPanel
from msvm_select.show.charts.scale import SHADES, Grid, compact, shade
from msvm_select.show.figures.look import (
    Size,
    plain_logarithms,
    short,
    thinned,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
DIGIT = 0.0088  # inches of width a point of font size


def heat_map(chart: HeatMap, size: Size | None = None) -> Figure:
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
        len(rows), columns, squeeze=False,
        height_ratios=[height + 0.6 for height in heights],
    )  # fmt: skip
    places = [axes for line in grid for axes in line]
    for axes in places[len(chart.panels) :]:
        axes.remove()
    drawn = list(zip(places, chart.panels, strict=False))
    for axes, panel in drawn:
        _panel(axes, panel, chart)
    if len(set(chart.values)) > 1:
        _colour_bar(figure, chart, [axes for axes, _ in drawn])
    _words(figure, chart)
    figure.draw_without_rendering()  # from now on the cells have their sizes
    for n, (axes, panel) in enumerate(drawn):
        _flatten(axes, len(panel.values) / heights[n // columns])
        _fit_to_size(figure, axes, panel, chart)
    return figure


def _size(rows: list[tuple[HeatPanel, ...]], heights: list[int]) -> Size:
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


def _panel(axes: Axes, panel: HeatPanel, chart: HeatMap) -> None:
    """Every cell as a rectangle in its place."""
    across, up = Grid(panel.Cs), Grid(panel.values)
    for at, cell in panel.cells.items():
        _rectangle(axes, across, up, at, **_filling(cell, chart))
        if cell.row is chart.chosen:
            _frame(axes, across, up, at)
    axes.set(xlim=(across.edges[0], across.edges[-1]), ylim=(up.edges[0], up.edges[-1]))
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    axes.set_title(panel.title)
    axes.set_xlabel(across.scale.titled("C"))
    axes.set_ylabel(up.scale.titled(panel.name) if panel.name else "")
    axes.set_yticks(up.places if panel.name else ())
    axes.set_yticklabels([compact(v) for v in panel.values] if panel.name else ())
    axes.set_xticks(across.places)
    axes.set_xticklabels([compact(C) for C in panel.Cs])


def _frame(axes: Axes, across: Grid, up: Grid, at: tuple[int, int]) -> None:
    """Black and white around the chosen cell: it shows on every colour."""
    for width, ink in ((4.5, "white"), (2.2, "black")):
        look = {"edgecolor": ink, "linewidth": width, "zorder": 5, "clip_on": False}
        _rectangle(axes, across, up, at, fill=False, **look)


def _rectangle(
    axes: Axes, across: Grid, up: Grid, at: tuple[int, int], **look: Any
) -> None:
    from matplotlib.patches import Rectangle

    (i, j), x, y = at, across.edges, up.edges
    corner = (x[j], y[i])
    axes.add_patch(Rectangle(corner, x[j + 1] - x[j], y[i + 1] - y[i], **look))


def _filling(cell: HeatCell, chart: HeatMap) -> dict[str, Any]:
    """Its colour, and the hatching that says why there is no number."""
    hatch, painted = HATCHES.get(cell.state), chart.shade(cell)
    if painted is None:
        return {"facecolor": BLANK, "edgecolor": INK, "hatch": hatch, "linewidth": 0.0}
    face, ink = painted
    if hatch is None:
        return {"facecolor": face, "edgecolor": face, "linewidth": 0.3}
    return {"facecolor": face, "edgecolor": ink, "hatch": hatch, "linewidth": 0.0}


def _colour_bar(figure: Figure, chart: HeatMap, axes: list[Axes]) -> None:
    """The shades between the least and the largest value."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, LogNorm, Normalize

    shown = [chart.label.factor * value for value in chart.values]
    norm = (LogNorm if chart.is_log else Normalize)(min(shown), max(shown))
    shades = ListedColormap([shade(level)[0] for level in range(SHADES)])
    many = len(axes) > 2
    bar = figure.colorbar(
        ScalarMappable(norm, shades), ax=axes, pad=0.02, shrink=0.6 if many else 1.0
    )
    bar.set_label(chart.label.titled)
    if chart.is_log:
        plain_logarithms(bar.ax.yaxis)
    bar.outline.set_linewidth(0.5)


def _words(figure: Figure, chart: HeatMap) -> None:
    """The title, and below what is marked and hatched."""
    from matplotlib.patches import Patch

    title = f"{short(chart.name)}: {chart.label.text}" if chart.name else ""
    figure.suptitle(title or chart.label.text, x=0.01, ha="left")
    handles = [
        Patch(facecolor=BLANK, edgecolor=INK, hatch=HATCHES[state], label=meaning)
        for state, meaning in chart.marked.items()
    ]
    if chart.chosen is not None:
        frame = Patch(facecolor="none", edgecolor="black", lw=2.0, label=chart.verdict)
        handles.insert(0, frame)
    if handles:
        figure.legend(handles=handles, loc="outside lower left")


def _flatten(axes: Axes, share: float) -> None:
    """A panel of fewer lines than its neighbour: no higher than it needs."""
    if share < 1.0:
        box = axes.get_window_extent()
        axes.set_box_aspect(share * box.height / box.width)
        axes.set_anchor("N")


def _fit_to_size(figure: Figure, axes: Axes, panel: HeatPanel, chart: HeatMap) -> None:
    """What depends on the size of the cells: the numbers and the labels that fit."""
    box = axes.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    _thin_labels(axes, panel, box.width, box.height)
    x, y = Grid(panel.Cs).edges, Grid(panel.values).edges
    wide = box.width * min(b - a for a, b in zip(x, x[1:], strict=False))
    high = box.height * min(b - a for a, b in zip(y, y[1:], strict=False))
    texts = {
        at: (chart.label.shown(cell.counted), painted[1])
        for at, cell in panel.cells.items()
        if cell.state in PLAIN and cell.counted is not None
        if (painted := chart.shade(cell)) is not None
    }
    longest = max((len(text) for text, _ in texts.values()), default=0)
    font = _font(wide / (x[-1] - x[0]), high / (y[-1] - y[0]), longest)
    for (i, j), (text, ink) in texts.items() if font else ():
        place = ((x[j] + x[j + 1]) / 2.0, (y[i] + y[i + 1]) / 2.0)
        axes.text(*place, text, ha="center", va="center", fontsize=font, color=ink)


def _font(wide: float, high: float, longest: int) -> float | None:
    """The largest font size whose longest number fits the smallest cell, if any."""
    for points in (8.0, 7.0, 6.0, 5.0):
        if points * DIGIT * (longest + 0.6) <= wide and points / 72.0 * 1.2 <= high:
            return points
    return None


def _thin_labels(axes: Axes, panel: HeatPanel, wide: float, high: float) -> None:
    """Labels that do not touch: turned where they are long, some left out if many."""
    heads = [compact(C) for C in panel.Cs]
    across, up = Grid(panel.Cs).places, Grid(panel.values).places
    need = 9.0 * DIGIT * (max(map(len, heads)) + 1)
    turned = need * len(heads) > wide
    keep = thinned(len(heads), int(wide / 0.17) if turned else len(heads))
    axes.set_xticks([across[j] for j in keep])
    axes.set_xticklabels([heads[j] for j in keep], rotation=90 if turned else 0)
    if panel.name:
        rows = thinned(len(up), int(high / 0.15))
        axes.set_yticks([up[i] for i in rows])
        axes.set_yticklabels([compact(panel.values[i]) for i in rows])
