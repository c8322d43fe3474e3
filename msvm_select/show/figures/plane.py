"""The decision regions of a machine over two features, with its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.show.charts.plane import Plane
from msvm_select.show.figures.look import Size, colour_of, marker_of, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.2, 5.0)  # inches
TINTS = (0.22, 0.12, 0.28, 0.17)  # neighbours differ in grey as well
ERROR = "#B00020"
MARGINS: Any = (0, (4, 2))


def plane(chart: Plane, margins: bool = False, size: Size | None = None) -> Figure:
    """Regions by class, samples by marker, support vectors ringed, errors crossed.

    ``margins``: also where a class leads by 1, as its support vectors must.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or SIZE, layout="constrained")
    axes = figure.subplots()
    _regions(axes, chart, margins)
    _samples(axes, chart)
    axes.set_xlabel(short(chart.features[0], 60))
    axes.set_ylabel(short(chart.features[1], 60))
    axes.set_title(f"{short(chart.name)}: {chart.cell}")
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), alignment="left", markerscale=1.2
    )
    return figure


def tinted(colour: str, share: float) -> tuple[float, float, float]:
    """The colour on white paper, so much of it."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1.0 - share * (1.0 - part) for part in to_rgb(colour))
    return red, green, blue


def _regions(axes: Axes, chart: Plane, margins: bool) -> None:
    """A light tint a class, a line where two are equally large."""
    x, y = chart.x, chart.y
    for k, lead in enumerate(chart.leads):
        if not np.isfinite(lead).all() or lead.max() <= 0.0:
            continue
        tint = tinted(colour_of(k), TINTS[k % len(TINTS)])
        axes.contourf(x, y, lead, [0.0, np.inf], colors=[tint])
        if lead.min() < 0.0:
            axes.contour(x, y, lead, [0.0], colors="black", linewidths=0.9)
        if margins and lead.max() > 1.0 > lead.min():
            axes.contour(
                x, y, lead, [1.0], colors="black", linewidths=0.7, linestyles=[MARGINS]
            )
    if margins:
        axes.plot([], [], color="black", lw=0.7, ls=MARGINS, label="ahead by 1")
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))


def _samples(axes: Axes, chart: Plane) -> None:
    """The larger the classes, the smaller the markers."""
    m = len(chart.X)
    area = float(np.clip(3000.0 / max(m, 1), 8.0, 26.0))
    names = np.array(chart.labels)
    strange = [n for n in dict.fromkeys(chart.labels) if n not in chart.classes]
    for k, name in enumerate((*chart.classes, *strange)):
        X = chart.X[names == name] if chart.labels else chart.X[:0]
        axes.scatter(
            X[:, 0], X[:, 1], s=area, marker=marker_of(k), color=colour_of(k),
            edgecolor="white", linewidth=0.012 * area, zorder=3, label=short(name),
        )  # fmt: skip
    if not chart.labels:
        axes.scatter(
            chart.X[:, 0], chart.X[:, 1], s=area, color="white", edgecolor="black",
            linewidth=0.6, zorder=3, label="sample",
        )  # fmt: skip
    S = chart.support
    axes.scatter(
        S[:, 0], S[:, 1], s=2.6 * area + 8.0, facecolor="none", edgecolor="black",
        linewidth=0.7, zorder=4, label=f"support vector ({len(S)})",
    )  # fmt: skip
    if chart.meaning:
        X, count = chart.X[chart.wrong], int(chart.wrong.sum())
        axes.scatter(
            X[:, 0], X[:, 1], s=1.8 * area + 6.0, marker="x", color=ERROR,
            linewidth=1.3, zorder=5, label=f"{chart.meaning} ({count} of {m})",
        )  # fmt: skip
