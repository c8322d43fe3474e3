"""The heat map of a criterion over C x a kernel parameter, the chosen cell marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msvm_select.show.charts.heat import PLAIN, HeatCell, HeatMap, HeatPanel
from msvm_select.show.charts.scale import SHADES, Scale, compact, shade
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
    "bounded": "--",
    "inapplicable": "//",
    "none": "",
    "not_converged": "\\\\",
    "failed": "xx",
}
BLANK = "#F0F0F0"  # a cell without a number
INK = "#707070"  # of its hatching
# Black and white around the chosen cell: it shows on every colour.
FRAME = [
    {"fill": False, "edgecolor": ink, "linewidth": width, "zorder": 5, "clip_on": False}
    for width, ink in ((4.5, "white"), (2.2, "black"))
]
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
    if chart.scale is not None and chart.scale.low < chart.scale.high:
        _colour_bar(figure, chart, chart.scale, [axes for axes, _ in drawn])
    _words(figure, chart)
    figure.draw_without_rendering()  # from now on the cells have their sizes
    for n, (axes, panel) in enumerate(drawn):
        share = len(panel.values) / heights[n // columns]
        if share < 1.0:  # than its neighbour: no higher than it needs
            box = axes.get_window_extent()
            axes.set_box_aspect(share * box.height / box.width)
            axes.set_anchor("N")
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
    from matplotlib.patches import Rectangle

    x, y = panel.across.edges, panel.up.edges
    for (i, j), cell in panel.cells.items():
        looks = [_filling(cell, chart)]
        if cell.row is chart.chosen:
            looks += FRAME
        for look in looks:
            size = x[j + 1] - x[j], y[i + 1] - y[i]
            axes.add_patch(Rectangle((x[j], y[i]), *size, **look))
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.across.scale.titled("C"))
    axes.set_ylabel(panel.up.scale.titled(panel.name) if panel.name else "")
    _label(axes, panel, range(len(panel.Cs)), range(len(panel.values)))


def _label(
    axes: Axes, panel: HeatPanel, columns: range, lines: range, turned: bool = False
) -> None:
    """These columns and lines by their values; the only line has none."""
    up = lines if panel.name else range(0)
    axes.set_yticks([panel.up.places[i] for i in up])
    axes.set_yticklabels([compact(panel.values[i]) for i in up])
    axes.set_xticks([panel.across.places[j] for j in columns])
    heads = [compact(panel.Cs[j]) for j in columns]
    axes.set_xticklabels(heads, rotation=90 if turned else 0)


def _filling(cell: HeatCell, chart: HeatMap) -> dict[str, Any]:
    """Its colour, and the hatching that says why there is no number."""
    hatch, painted = HATCHES.get(cell.state), chart.shade(cell)
    if painted is None:
        return {"facecolor": BLANK, "edgecolor": INK, "hatch": hatch, "linewidth": 0.0}
    face, ink = painted
    if hatch is None:
        return {"facecolor": face, "edgecolor": face, "linewidth": 0.3}
    return {"facecolor": face, "edgecolor": ink, "hatch": hatch, "linewidth": 0.0}


def _colour_bar(figure: Figure, chart: HeatMap, scale: Scale, axes: list[Axes]) -> None:
    """The shades between the least and the largest value."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, LogNorm, Normalize

    ends = [chart.label.factor * value for value in (scale.low, scale.high)]
    norm = (LogNorm if scale.is_log else Normalize)(ends[0], ends[1])
    levels = range(SHADES)[:: -1 if chart.label.largest else 1]  # upwards
    shades = ListedColormap([shade(level)[0] for level in levels])
    many = len(axes) > 2
    bar = figure.colorbar(
        ScalarMappable(norm, shades), ax=axes, pad=0.02, shrink=0.6 if many else 1.0
    )
    bar.set_label(chart.label.titled)
    if scale.is_log:
        plain_logarithms(bar.ax.yaxis)
    bar.outline.set_linewidth(0.5)


def _words(figure: Figure, chart: HeatMap) -> None:
    """The title, and below what is marked and hatched."""
    from matplotlib.patches import Patch

    title = f"{short(chart.name)}: {chart.label.text}" if chart.name else ""
    figure.suptitle(title or chart.label.text, x=0.01, ha="left")
    handles = [
        Patch(facecolor=BLANK, edgecolor=INK, hatch=2 * HATCHES[state], label=meaning)
        for state, meaning in chart.marked.items()
    ]
    if chart.chosen is not None:
        frame = Patch(facecolor="none", edgecolor="black", lw=2.0, label=chart.verdict)
        handles.insert(0, frame)
    if handles:
        figure.legend(handles=handles, loc="outside lower left")


def _fit_to_size(figure: Figure, axes: Axes, panel: HeatPanel, chart: HeatMap) -> None:
    """What depends on the size of the cells: the numbers and the labels that fit."""
    box = axes.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    longest = max(len(compact(C)) for C in panel.Cs)
    turned = 9.0 * DIGIT * (longest + 1) * len(panel.Cs) > box.width
    most = int(box.width / 0.17) if turned else len(panel.Cs)
    lines = thinned(len(panel.values), int(box.height / 0.15))
    _label(axes, panel, thinned(len(panel.Cs), most), lines, turned)
    x, y = panel.across.edges, panel.up.edges
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
