"""``teach disk`` (Vert, example 5): a disk that a plane of the feature space cuts off.

    phi(x) = (x_1^2, x_1 x_2, x_2^2),   w = (1, 0, 1),   b = -R^2:
    f(x) = <w, phi(x)> + b = x_1^2 + x_2^2 - R^2 < 0 within the disk of radius R.

No line of the plane separates the disk from what is around it; a plane in the three
dimensions of phi does, and the machine finds one from samples.
"""

from __future__ import annotations

import numpy as np

from msvm_select.kernels.inner_products import Linear
from msvm_select.lessons.base import Lesson
from msvm_select.names import SOLVERS
from msvm_select.records import Dual, Floats, Ints, Plain
from msvm_select.show.figures.drawing import Drawing, Series
from msvm_select.show.sheet import Look, Sheet
from msvm_select.solution import Solution

RADIUS, GAP, SIDE = 1.0, 0.1, 2.0
C = 1000.0


def samples(m: int = 80, seed: int = 0) -> tuple[Floats, Ints]:
    """X (m, 2) in a square, none within 0.1 of the circle; y = 1 outside."""
    X = np.random.default_rng(seed).uniform(-SIDE, SIDE, (8 * m, 2))
    far = np.abs(np.hypot(*X.T) - RADIUS) > GAP
    X = X[far]
    inside = np.hypot(*X.T) < RADIUS
    half = [np.flatnonzero(inside == which)[: m // 2] for which in (True, False)]
    X = X[np.concatenate(half)]
    return X, (np.hypot(*X.T) > RADIUS).astype(np.int64)


def phi(X: Floats) -> Floats:
    """(x_1^2, x_1 x_2, x_2^2) of each row."""
    x1, x2 = X.T
    return np.stack([x1**2, x1 * x2, x2**2], axis=1)


def plane(Z: Floats, y: Ints) -> tuple[Floats, float, Solution]:
    """w and b of f = h_1 - h_0 in the features Z, and the machine."""
    found = SOLVERS["exact"]().solve(Dual(Linear().gram(Z), y, 2, C))
    W = Z.T @ found.tau
    return W[:, 1] - W[:, 0], float(found.b[1] - found.b[0]), found


def lesson(argument: str = "") -> Lesson:
    """A line, the plane of the notes, and the plane that is trained."""
    X, y = samples()
    _, _, line = plane(X, y)
    w, b, found = plane(phi(X), y)
    notes = phi(X) @ np.array([1.0, 0.0, 1.0]) - RADIUS**2
    rows: list[dict[str, Plain]] = [
        {"features": "x1, x2", "w": "trained", "errors": line.train_errors},
        {
            "features": "x1^2, x1 x2, x2^2",
            "w": "(1, 0, 1), b = -1",
            "errors": int(((notes > 0.0) != (y == 1)).sum()),
        },
        {
            "features": "x1^2, x1 x2, x2^2",
            "w": "trained",
            "errors": found.train_errors,
        },
    ]
    columns = [Look("features", left=True), Look("w", left=True), Look("errors")]
    shape = ", ".join(f"{part / w[0]:.3f}" for part in w)
    sheet = Sheet(
        columns=columns,
        rows=rows,
        shown=["features", "w", "errors"],
        above=[f"{y.size} samples, inside and outside the circle of radius 1", ""],
        below=[
            "",
            f"trained: w ~ ({shape}), b ~ {b / w[0]:.3f}, up to a factor;",
            f"2 / ||w|| = {2.0 / np.linalg.norm(w):.3f}, {found.n_sv} support vectors",
        ],
    )
    t = np.linspace(0.0, 2.0 * np.pi, 200)
    series = [
        Series("inside", X[y == 0, 0], X[y == 0, 1], line=False),
        Series("outside", X[y == 1, 0], X[y == 1, 1], line=False),
        Series("f = 0, trained", *_curve(w, b, t)),
    ]
    return Lesson(sheet, Drawing("A disk", "x1", "x2", series, equal=True))


def _curve(w: Floats, b: float, t: Floats) -> tuple[Floats, Floats]:
    """Where f = 0, by the angle t: r^2 <w, phi(cos t, sin t)> = -b."""
    way = np.stack([np.cos(t), np.sin(t)], axis=1)
    r = np.sqrt(-b / (phi(way) @ w))
    return r * way[:, 0], r * way[:, 1]
