"""Figure 1: the training set; Bayes' circles and the straight boundaries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msvm_select.experiment import Classifier, TrainingSet, best_linear, boundaries
from msvm_select.show.figures.look import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (10.0, 5.2)  # inches
VIEW = (-20.0, 12.0, -17.0, 15.0)  # x1 from, to, x2 from, to
# Class by class: told apart by shape and by lightness, so that grey print will do.
MARKS = (("^", "0.0"), ("s", "0.45"), ("o", "0.75"))


def figure_bytes(one: TrainingSet, path: str | Path) -> bytes:
    """The figure of a training set, in the format of the file's ending."""
    return picture(lambda: draw(one), path).content


def draw(one: TrainingSet) -> Figure:
    """Left the training set; right what separates the classes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
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
