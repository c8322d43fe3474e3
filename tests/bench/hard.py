"""Data that is hard in other ways than by its size, beside scikit-learn.

The grid goes by tens, so that each C is far from the one before. All data is made here:

* lamps: the seven segments of a digit, each wrong one time in ten, so that rows are
  equal within a class and across classes;
* survey: an age and short scales, with answers that they hardly foretell;
* pixels: a third of the rows are nearly those of others, as of neighbours in a picture;
* sites: 180 binary features, where with a rough kernel every row is a support vector;
* letter: some rows of it, 26 classes.

Then known data on a grid as wide as that of LIBSVM's grid.py, where most cells are
beyond the useful range: nearly every alpha is at C, or K is nearly singular, or nearly
the identity.
"""

import warnings
from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from msvm_select.kernels.rbf import Rbf
from msvm_select.machines.losses import Hinge
from msvm_select.machines.weston_watkins import WestonWatkins
from msvm_select.records import Scaling
from msvm_select.solvers.exact.solver import Exact
from tests.bench.grid import least as least_of
from tests.bench.growth import some

CS = (0.1, 1.0, 10.0, 100.0)
GAMMAS = (0.01, 0.1, 1.0, 10.0)  # divided by the number of features
WIDE_CS = (2.0**-5, 2.0**-1, 2.0**3, 2.0**9, 2.0**15)
WIDE_GAMMAS = (2.0**-15, 2.0**-10, 2.0**-5, 2.0**-1, 2.0**3)
KNOWN = {"glass": 214, "vehicle": 846, "vowel": 990, "digits": 1000, "letter": 500}
Grid = tuple[tuple[float, ...], tuple[float, ...]]
Labelled = tuple[NDArray[np.float64], NDArray[np.int64]]

least = partial(least_of, clock=process_time)


def lamps(m: int = 500) -> Labelled:
    """Ten digits as they are shown, some lamps wrong."""
    shown = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111"
    on = np.array([list(map(int, digit)) for digit in (*shown.split(), "1111011")])
    draw = np.random.default_rng(0)
    y = draw.integers(0, 10, m)
    return (on[y] ^ (draw.random((m, 7)) < 0.1)).astype(float), y


def survey(m: int = 1000) -> Labelled:
    """Three kinds of answers, from an age, three scales and four crosses."""
    draw = np.random.default_rng(0)
    u = draw.normal(size=(m, 3))
    age = np.clip(np.round(32.0 + 8.0 * u[:, 0]), 16, 49)
    scales = np.clip(np.round(2.0 + 0.8 * u + draw.normal(size=(m, 3))), 0, 3)
    level = np.array([1.0, -0.7, 0.3, 1.5])
    crosses = u[:, [0, 1, 2, 0]] + draw.normal(size=(m, 4)) > level
    kinds = np.stack([u[:, 0] - 0.3, u[:, 1], u[:, 2] - 0.5 * u[:, 0]], axis=1)
    y = (kinds + 1.5 * draw.normal(size=(m, 3))).argmax(axis=1)
    return np.column_stack([age, scales, crosses.astype(float)]), y


def pixels(m: int = 1500) -> Labelled:
    """Seven classes of 16 features; a third of the rows are nearly another one's."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 7, m)
    hidden = 1.1 * draw.normal(size=(7, 4))[y] + 0.5 * draw.normal(size=(m, 4))
    X = np.tanh(0.4 * hidden @ draw.normal(size=(4, 16)))
    X += 0.01 * draw.normal(size=(m, 16))
    of, who = draw.integers(0, m, m // 3), draw.permutation(m)[: m // 3]
    X[who], y[who] = X[of] + 1e-4 * draw.normal(size=(who.size, 16)), y[of]
    return X, y


def sites(m: int = 1500) -> Labelled:
    """Three classes, each with its own share of ones at 180 places."""
    draw = np.random.default_rng(0)
    y = draw.choice(3, m, p=[0.24, 0.24, 0.52])
    often = np.where((draw.random((3, 180)) < 0.3)[y], 0.6, 0.2)
    return (draw.random((m, 180)) < often).astype(float), y


def letter(m: int = 500) -> Labelled:
    """Always the same rows."""
    X, y, _ = some("letter", m)
    return X, y


SETS: tuple[Callable[[], Labelled], ...] = (lamps, survey, pixels, sites, letter)


def run() -> None:
    """A line a data set."""
    warnings.filterwarnings("ignore", "The least populated class")
    one_grid("", lamps(200), tens(7), say=False)  # compiled before the clock runs
    one_grid("", letter(200), tens(16), say=False)
    for make in SETS:
        X, y = make()
        one_grid(make.__name__, (X, y), tens(X.shape[1]))
    for name, rows in KNOWN.items():
        X, y, _ = some(name, rows)
        one_grid(f"{name} (wide)", (X, y), (WIDE_GAMMAS, WIDE_CS))


def tens(features: int) -> Grid:
    """gamma and C by tens."""
    return tuple(gamma / features for gamma in GAMMAS), CS


def one_grid(name: str, data: Labelled, grid: Grid, say: bool = True) -> None:
    """Every cell trained along C and left out, against five folds of it."""
    X, y = Scaling.fit(data[0], "standard").apply(data[0]), data[1]
    kind, solver, cells, Q = WestonWatkins(Hinge()), Exact(), [], int(y.max()) + 1
    for gamma in grid[0]:
        gram, last = Rbf(gamma).gram(X), None
        for C in grid[1]:
            train = partial(kind.train, solver, gram, y, Q, C, last)
            ours, last = least(1, train)
            out, _ = least(1, partial(kind.leave_out, solver, last))
            svc = SVC(C=C, gamma=gamma)
            peer, _ = least(1, partial(cross_val_score, svc, X, y, cv=5))
            cells.append((ours, out, peer, C, gamma))
    if not say:
        return
    train, out, peer = np.sum(cells, axis=0)[:3]
    times = np.array([one[0] + one[1] for one in cells])
    *_, C, gamma = cells[int(times.argmax())]
    print(
        f"{name}, {y.size} rows, {Q} classes, {len(cells)} cells with leave-one-out / "
        f"5 folds: {(train + out) / peer:.1f} (training {train:.1f} s, leave-one-out "
        f"{out:.1f} s / {peer:.1f} s); the dearest cell, C {C:g} gamma {gamma:.2g}, "
        f"{times.max():.2f} s, {times.max() / np.median(times):.0f} times the median",
        flush=True,
    )
