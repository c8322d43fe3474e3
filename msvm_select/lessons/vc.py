"""``teach vc`` (Vitay, part 1; Vert, 2.4): which labellings of points a line makes.

A set of points is shattered where each of its 2^m labellings is that of some
sign(<w, x> + b). In R^d hyperplanes shatter some d + 1 points and no d + 2: their VC
dimension is d + 1. With a margin gamma and points in a ball of radius R it is at most
min(ceil(R^2 / gamma^2), d) + 1. (The lecture's formula lacks the square of gamma.)

A labelling is separable where the linear problem  min 0,  t_i (<w, x_i> + b) >= 1  has
a solution.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from msvm_select.lessons.base import Lesson
from msvm_select.records import Floats, Plain
from msvm_select.show.figures.drawing import Drawing, Series
from msvm_select.show.sheet import Look, Sheet

POINTS: dict[str, tuple[tuple[float, float], ...]] = {
    "2 points": ((0, 0), (1, 0)),
    "3 points in a triangle": ((0, 0), (1, 0), (0, 1)),
    "3 points in a row": ((0, 0), (1, 0), (2, 0)),
    "4 points in a square": ((0, 0), (1, 0), (0, 1), (1, 1)),
    "4 points, one within": ((0, 0), (2, 0), (0, 2), (0.5, 0.5)),
}


def separable(X: Floats, t: Floats) -> bool:
    """Whether some line has all points with t_i = 1 on one side, the others beyond."""
    from scipy.optimize import linprog

    ones = np.ones((len(X), 1))
    A = -t[:, None] * np.hstack([X, ones])
    free = [(None, None)] * A.shape[1]
    found = linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=-ones[:, 0], bounds=free)
    return bool(found.status == 0)


def labellings(X: Floats) -> tuple[int, list[tuple[int, ...]]]:
    """How many of the 2^m are separable, and those that are not."""
    every = list(product((-1, 1), repeat=len(X)))
    never = [t for t in every if not separable(X, np.array(t, dtype=np.float64))]
    return len(every) - len(never), never


def lesson(argument: str = "") -> Lesson:
    """Each set of points: how many labellings a line makes, and one of the others."""
    rows: list[dict[str, Plain]] = []
    for name, points in POINTS.items():
        count, never = labellings(np.array(points, dtype=np.float64))
        rows.append(
            {
                "points": name,
                "labellings": 2 ** len(points),
                "made": count,
                "shattered": not never,
                "not_made": " ".join(f"{t:+d}" for t in never[0]) if never else "",
            }
        )
    columns = [Look("points", left=True), Look("labellings"), Look("made", "by a line")]
    columns += [Look("shattered"), Look("not_made", "one that is not", left=True)]
    square = np.array(POINTS["4 points in a square"], dtype=np.float64)
    t = np.array(labellings(square)[1][0])
    sheet = Sheet(
        columns=columns,
        rows=rows,
        shown=[look.name for look in columns],
        below=["", "some 3 points are shattered, no 4 are: the VC dimension is 3"],
    )
    series = [
        Series("+1", square[t > 0, 0], square[t > 0, 1], line=False),
        Series("-1", square[t < 0, 0], square[t < 0, 1], line=False),
    ]
    drawing = Drawing("No line makes this labelling", "x1", "x2", series, equal=True)
    return Lesson(sheet, drawing)
