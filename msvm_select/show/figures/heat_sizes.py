"""What of a heat map depends on the size that its cells come out at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msvm_select.show.charts.heat import HeatCell, HeatMap, HeatPanel
from msvm_select.show.figures.scales import Scale, label, thinned
from msvm_select.show.figures.style import ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIGIT = 0.0088  # inches of width a point of font size


def fit_to_size(
    figure: Figure,
    axes: Axes,
    panel: HeatPanel,
    chart: HeatMap,
    colour_of: Callable[[HeatCell], Any],
) -> None:
    """What depends on the size of the cells: the numbers and the labels that fit."""
    across, up = Scale(panel.Cs), Scale(panel.values)
    box = axes.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    _thin_labels(axes, panel, box.width, box.height)
    x, y = across.edges, up.edges
    wide = box.width * min(b - a for a, b in zip(x, x[1:], strict=False))
    high = box.height * min(b - a for a, b in zip(y, y[1:], strict=False))
    texts = {
        at: chart.label.shown(cell.value)
        for at, cell in panel.cells.items()
        if cell.state == "ok" and cell.value is not None
    }
    longest = max(map(len, texts.values()), default=0)
    font = _font(wide / (x[-1] - x[0]), high / (y[-1] - y[0]), longest)
    for (i, j), text in texts.items() if font else ():
        colour = colour_of(panel.cells[i, j])
        place = ((x[j] + x[j + 1]) / 2.0, (y[i] + y[i + 1]) / 2.0)
        axes.text(
            *place, text, ha="center", va="center", fontsize=font, color=ink_on(colour)
        )


def flatten(axes: Axes, share: float) -> None:
    """A panel of fewer lines than its neighbour: no higher than it needs."""
    if share < 1.0:
        box = axes.get_window_extent()
        axes.set_box_aspect(share * box.height / box.width)
        axes.set_anchor("N")


def _font(wide: float, high: float, longest: int) -> float | None:
    """The largest font size whose longest number fits the smallest cell, if any."""
    for points in (8.0, 7.0, 6.0, 5.0):
        if points * DIGIT * (longest + 0.6) <= wide and points / 72.0 * 1.2 <= high:
            return points
    return None


def _thin_labels(axes: Axes, panel: HeatPanel, wide: float, high: float) -> None:
    """Labels that do not touch: turned where they are long, some left out if many."""
    heads = [label(C) for C in panel.Cs]
    across, up = Scale(panel.Cs).places, Scale(panel.values).places
    need = 9.0 * DIGIT * (max(map(len, heads)) + 1)
    turned = need * len(heads) > wide
    keep = thinned(len(heads), int(wide / 0.17) if turned else len(heads))
    axes.set_xticks([across[j] for j in keep])
    axes.set_xticklabels([heads[j] for j in keep], rotation=90 if turned else 0)
    if panel.name:
        rows = thinned(len(up), int(high / 0.15))
        axes.set_yticks([up[i] for i in rows])
        axes.set_yticklabels([label(panel.values[i]) for i in rows])
