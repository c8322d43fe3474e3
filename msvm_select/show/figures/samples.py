"""What the samples, or the classes, are along C; a machine's regions and its samples.

Along C, few lines have names, and the others are grey. Figure 1 of the experiment has a
training set, Bayes' circles and the straight boundaries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.experiment import Classifier, TrainingSet, best_linear, boundaries
from msvm_select.records import Floats
from msvm_select.show.charts.samples import Paths, Plane
from msvm_select.show.figures.look import (
    GREY,
    Size,
    colour_of,
    crosses,
    legend_beside,
    look_of,
    short,
    value_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ALONG = (8.0, 4.6)  # inches
LINES_APART, NAMES_APART = 0.06, 0.1  # of the height; what is farther is as good
WIDER = 1.3  # names are wider than high, and so is the picture
ACROSS = (7.2, 5.0)  # inches
TINTS = (0.22, 0.12, 0.28, 0.17)  # neighbours differ in grey as well
ERROR = "#B00020"
MARGINS: Any = (0, (4, 2))
FIGURE_1 = (10.0, 5.2)  # inches
VIEW = (-20.0, 12.0, -17.0, 15.0)  # x1 from, to, x2 from, to
# Class by class: told apart by shape and by lightness, so that grey print will do.
MARKS = (("^", "0.0"), ("s", "0.45"), ("o", "0.75"))


def paths(chart: Paths, size: Size | None = None) -> Figure:
    """A line a sample; those that matter in the colour of their class, by name."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or ALONG, layout="constrained")
    axes = figure.subplots()
    grid = chart.grid
    named = chart.named
    _others(axes, chart)
    few = max(1, len(grid.places) // 8)
    for i in named:
        axes.plot(
            grid.places, chart.lines[i], **look_of(chart.groups[i]),
            markersize=3.5, markevery=(i % few, few), linewidth=1.3, zorder=3,
        )  # fmt: skip
    for told, value in chart.guides.items():
        axes.axhline(value, color="black", linewidth=0.8, linestyle=":", zorder=1)
        axes.annotate(
            told, (0.005, value), xycoords=("axes fraction", "data"), va="bottom",
            xytext=(0, 1), textcoords="offset points", fontsize=7.5,
            path_effects=_halo(), zorder=5,
        )  # fmt: skip
    value_axis(axes, grid, figure.get_figwidth() * 0.8)
    title, quantity = chart.told
    axes.set_ylabel(quantity)
    axes.set_title(f"{short(chart.name)}: {title}, {chart.setting}")
    axes.margins(y=0.05)
    _names(axes, chart)
    if chart.of != "norm":  # whose lines bear the names of the classes
        for k in sorted({chart.groups[i] for i in named}):
            axes.plot(
                [], [], markersize=3.5, label=short(chart.classes[k]), **look_of(k)
            )
    places = [grid.places[chart.Cs.index(C)] for C in chart.open_Cs]
    crosses(axes, places, 0.02, "did not converge")
    if axes.get_legend_handles_labels()[0]:
        legend_beside(axes)
    return figure


def _others(axes: Axes, chart: Paths) -> None:
    from matplotlib.collections import LineCollection

    rest = [i for i in range(len(chart.lines)) if i not in chart.named]
    if not rest:
        return
    x = np.array(chart.grid.places)
    segments = [np.column_stack([x, chart.lines[i]]) for i in rest]
    lines = LineCollection(segments, colors=GREY, linewidths=0.6, alpha=0.45)
    axes.add_collection(lines)
    axes.autoscale_view()
    axes.plot([], [], color=GREY, linewidth=0.6, label=f"the other {len(rest)}")


def _names(axes: Axes, chart: Paths) -> None:
    """On the lines themselves, each where it is farthest from the others' names."""
    low, high = axes.get_ylim()
    heights = (chart.lines[chart.named] - low) / (high - low)
    for i, j in zip(chart.named, name_places(heights), strict=True):
        axes.text(
            chart.grid.places[j], chart.lines[i, j], short(chart.names[i], 16),
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


def plane(chart: Plane, margins: bool = False, size: Size | None = None) -> Figure:
    """Regions by class, samples by marker, support vectors ringed, errors crossed.

    ``margins``: also where a class leads by 1, as its support vectors must.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or ACROSS, layout="constrained")
    axes = figure.subplots()
    _regions(axes, chart, margins)
    _samples(axes, chart)
    axes.set_xlabel(short(chart.features[0], 60))
    axes.set_ylabel(short(chart.features[1], 60))
    axes.set_title(f"{short(chart.name)}: {chart.cell}")
    legend_beside(axes, markerscale=1.2)
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
            X[:, 0], X[:, 1], s=area, **look_of(k), edgecolor="white",
            linewidth=0.012 * area, zorder=3, label=short(name),
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


def figure_1(one: TrainingSet) -> Figure:
    """Figure 1 of the experiment: left the training set, right what separates it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=FIGURE_1, layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    _points(left, one)
    _boundaries(right, one)
    for axes in (left, right):
        axes.set(xlim=VIEW[:2], ylim=VIEW[2:], aspect="equal", xlabel="x1")
        axes.set_ylabel("x2")
    return figure


def _points(axes: Axes, one: TrainingSet) -> None:
    """The widest class first, so that it hides none."""
    data = one.data
    for k in (2, 1, 0):
        X = data.X[data.y == k]
        mark, grey = MARKS[k]
        name = f"class {data.classes[k]}"
        axes.scatter(
            X[:, 0], X[:, 1], s=9, c=grey, marker=mark, linewidths=0, alpha=0.8,
            label=name,
        )  # fmt: skip
    axes.set_title(f"Training set, 3 x {data.m // 3} points (seed {one.seed})")
    axes.legend(loc="lower left", markerscale=2.0)


def _boundaries(axes: Axes, one: TrainingSet) -> None:
    """Circles thin, the best linear separator dashed, the machine thick."""
    kinds: tuple[tuple[str, Classifier, dict[str, Any]], ...] = (
        ("Bayes", Classifier.bayes(), {"color": "0.0", "lw": 1.0}),
        ("best linear", best_linear(), {"color": "0.0", "lw": 1.2, "ls": "--"}),
        (
            f"M-SVM, C = {one.selected.C:g}",
            one.selected.machine,
            {"color": "0.5", "lw": 3.0, "zorder": 1.0},
        ),
    )
    for name, classifier, style in kinds:
        for i, curve in enumerate(boundaries(classifier)):
            label = name if i == 0 else "_nolegend_"
            axes.plot(*curve.T, label=label, solid_capstyle="round", **style)
    for k, (x, y) in enumerate(one.data.X.reshape(3, -1, 2).mean(axis=1)):
        axes.text(x, y, one.data.classes[k], ha="center", va="center", fontsize=14)
    axes.set_title("Boundaries")
    axes.legend(loc="lower left")
