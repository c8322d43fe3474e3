"""The decision regions of a machine over two features, with its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.records import Floats
from msvm_select.show.figures.planes import Plane
from msvm_select.show.figures.style import colour_of, marker_of, short, tinted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.2, 5.0)  # inches
POINTS = 320  # of the grid, each way
AROUND = 0.06  # of the range, beyond the outermost samples
TINTS = (0.22, 0.12, 0.28, 0.17)  # neighbours differ in grey as well
ERROR = "#B00020"
MARGINS: Any = (0, (4, 2))


def boundary(
    plane: Plane, margins: bool = False, size: tuple[float, float] | None = None
) -> Figure:
    """Regions by class, samples by marker, support vectors ringed, errors crossed.

    ``margins``: also where a class leads by 1, as its support vectors must.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or SIZE, layout="constrained")
    axes = figure.subplots()
    _regions(axes, plane, margins)
    _samples(axes, plane)
    model = plane.model
    axes.set_xlabel(short(model.columns.features[0], 60))
    axes.set_ylabel(short(model.columns.features[1], 60))
    axes.set_title(f"{short(model.training.data)}: {model.kernel} C={model.C:.6g}")
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), alignment="left", markerscale=1.2
    )
    return figure


def leads(h: Floats) -> Floats:
    """By how much each class is ahead of the best other one: h_k - max_l h_l."""
    order = np.sort(h, axis=1)
    best, second = order[:, -1:], order[:, -2:-1]
    return np.asarray(np.where(h == best, h - second, h - best))


def _regions(axes: Axes, plane: Plane, margins: bool) -> None:
    """A light tint a class, a line where two are equally large."""
    seen = np.vstack([plane.X, plane.support])
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = AROUND * np.where(high > low, high - low, 1.0)
    x, y = (np.linspace(low[j] - room[j], high[j] + room[j], POINTS) for j in range(2))
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    ahead = leads(plane.model.outputs(grid.reshape(-1, 2)))
    for k in range(ahead.shape[1]):
        lead = ahead[:, k].reshape(grid.shape[:2])
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


def _samples(axes: Axes, plane: Plane) -> None:
    """The larger the classes, the smaller the markers."""
    m = len(plane.X)
    area = float(np.clip(3000.0 / max(m, 1), 8.0, 26.0))
    names = np.array(plane.labels)
    classes = plane.model.classes
    strange = [name for name in dict.fromkeys(plane.labels) if name not in classes]
    for k, name in enumerate((*classes, *strange)):
        X = plane.X[names == name] if plane.labels else plane.X[:0]
        axes.scatter(
            X[:, 0], X[:, 1], s=area, marker=marker_of(k), color=colour_of(k),
            edgecolor="white", linewidth=0.012 * area, zorder=3, label=short(name),
        )  # fmt: skip
    if not plane.labels:
        axes.scatter(
            plane.X[:, 0], plane.X[:, 1], s=area, color="white", edgecolor="black",
            linewidth=0.6, zorder=3, label="sample",
        )  # fmt: skip
    S = plane.support
    axes.scatter(
        S[:, 0], S[:, 1], s=2.6 * area + 8.0, facecolor="none", edgecolor="black",
        linewidth=0.7, zorder=4, label=f"support vector ({len(S)})",
    )  # fmt: skip
    if plane.meaning:
        X, count = plane.X[plane.wrong], int(plane.wrong.sum())
        axes.scatter(
            X[:, 0], X[:, 1], s=1.8 * area + 6.0, marker="x", color=ERROR,
            linewidth=1.3, zorder=5, label=f"{plane.meaning} ({count} of {m})",
        )  # fmt: skip
