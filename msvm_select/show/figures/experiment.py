"""Figure 1: the training set; Bayes' circles and the straight boundaries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.experiment.exact_risk import PAIRS, Classifier, best_linear
from msvm_select.experiment.three_gaussians import TrainingSet
from msvm_select.records import Floats
from msvm_select.show.figures.look import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (10.0, 5.2)  # inches
VIEW = (-20.0, 12.0, -17.0, 15.0)  # x1 from, to, x2 from, to
# Class by class: told apart by shape and by lightness, so that grey print will do.
MARKS = (("^", "0.0"), ("s", "0.45"), ("o", "0.75"))
REACH = 200.0  # a ray goes on beyond the view


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
        style: dict[str, Any] = {
            "marker": mark,
            "c": grey,
            "linewidths": 0,
            "alpha": 0.8,
        }
        axes.scatter(X[:, 0], X[:, 1], s=9, label=name, **style)
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
        for i, curve in enumerate(curves(classifier)):
            label = name if i == 0 else "_nolegend_"
            axes.plot(
                curve[:, 0], curve[:, 1], label=label, solid_capstyle="round", **style
            )
    for k, (x, y) in enumerate(one.data.X.reshape(3, -1, 2).mean(axis=1)):
        axes.text(x, y, one.data.classes[k], ha="center", va="center", fontsize=14)
    axes.set_title("Boundaries")
    axes.legend(loc="lower left")


def curves(classifier: Classifier) -> list[Floats]:
    """The points (p, 2) of each pair's boundary; NaN where a third class is better."""
    return [
        np.where(_leads(classifier, curve, (a, b))[:, None], curve, np.nan)
        for a, b in PAIRS
        if (curve := _equal(classifier, a, b)) is not None
    ]


def _leads(classifier: Classifier, X: Floats, pair: tuple[int, int]) -> Floats:
    """Whether the two equal classes are the best ones at the points of their curve."""
    scores = classifier.scores(X)
    (third,) = {0, 1, 2} - set(pair)
    return np.asarray(scores[:, pair[0]] >= scores[:, third])


def _equal(classifier: Classifier, a: int, b: int) -> Floats | None:
    """Where the scores of two classes are equal: a circle, a line, or nothing."""
    q = float(classifier.q[a] - classifier.q[b])
    w = classifier.w[a] - classifier.w[b]
    constant = float(classifier.b[a] - classifier.b[b])
    size = float(w @ w)
    t = np.linspace(0.0, 1.0, 4001)
    if q != 0.0:
        centre = -0.5 * w / q
        square = float(centre @ centre) - constant / q
        if square <= 0.0:
            return None
        turn = 2.0 * np.pi * t
        around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        return np.asarray(centre + np.sqrt(square) * around)
    if size == 0.0:
        return None
    along = np.array([-w[1], w[0]]) / np.sqrt(size)
    foot = -constant * w / size
    return np.asarray(foot + REACH * (2.0 * t - 1.0)[:, None] * along)
