"""Many classes and rows in the machine of all classes, beside scikit-learn.

Cells one by one, the whole grid of vowel, and by which powers of the rows and of the
classes training and leaving out grow.
"""

import resource
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from msvm_select.kernels.rbf import Rbf
from msvm_select.machines.losses import Hinge
from msvm_select.machines.weston_watkins import WestonWatkins
from msvm_select.solvers.exact.solver import Exact
from tests.bench import loo
from tests.bench.grid import CS, GAMMAS, least, load

ROWS = (500, 1000, 2000)
CLASSES = (3, 6, 12, 26)
LETTER = (8.0, 0.125)


def some(name: str, rows: int, classes: int = 10**6) -> tuple[Any, Any, int]:
    """So many rows of the first classes, always the same."""
    X, y, _ = load(name)
    X, y = X[y < classes], y[y < classes]
    chosen = np.random.default_rng(0).permutation(y.size)[:rows]
    labels, y = np.unique(y[chosen], return_inverse=True)
    return X[chosen], y.astype(np.int64), labels.size


def run(reps: int) -> None:
    """Every section, a line each."""
    cell("letter", 200, 1.0, 0.5, 1)  # compiled before the clock runs
    X, y, Q = load("vowel")
    ours, gap = least(reps, lambda: grid(X, y, Q))
    peer, _ = least(reps, lambda: by_peer(X, y))
    print(
        f"vowel, 35 cells, training / SVC: {ours / peer:.1f} ({ours:.1f} s / "
        f"{peer:.1f} s), worst gap {gap:.0e}",
        flush=True,
    )
    loo.run(["vowel"], 1)
    for name, rows, C, gamma in (
        ("digits", 1797, 8.0, 2.0**-7), ("letter", 1000, *LETTER),
        ("letter", 2000, *LETTER),
    ):  # fmt: skip
        told(name, rows, *cell(name, rows, C, gamma, reps))
    rows = [cell("letter", m, *LETTER, 1) for m in ROWS]
    powers("rows", ROWS, rows)
    few = [cell("letter", 1000, *LETTER, 1, Q) for Q in CLASSES]
    powers("classes", CLASSES, few)
    X, y, Q = some("letter", 5000)
    peer, _ = least(1, lambda: SVC(C=LETTER[0], gamma=LETTER[1]).fit(X, y))
    ours, machine = least(1, lambda: trained(X, y, Q, *LETTER))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"letter, 5000 rows, training / SVC: {ours / peer:.1f} ({ours:.1f} s / "
        f"{peer:.1f} s), gap {machine.gap:.0e}, peak memory of the process "
        f"{memory:.2f} GB",
        flush=True,
    )


def trained(X: Any, y: Any, Q: int, C: float, gamma: float) -> Any:
    """One machine from nothing."""
    return WestonWatkins(Hinge()).train(Exact(), Rbf(gamma).gram(X), y, Q, C)


def grid(X: Any, y: Any, Q: int) -> float:
    """Every cell, one after another along C; the worst gap."""
    worst = 0.0
    for gamma in GAMMAS:
        gram, last = Rbf(gamma).gram(X), None
        for C in CS:
            last = WestonWatkins(Hinge()).train(Exact(), gram, y, Q, C, last)
            worst = max(worst, last.gap)
    return worst


def by_peer(X: Any, y: Any) -> None:
    """An SVC a cell."""
    for gamma in GAMMAS:
        for C in CS:
            SVC(C=C, gamma=gamma).fit(X, y)


def cell(
    name: str, rows: int, C: float, gamma: float, reps: int, classes: int = 10**6
) -> tuple[float, float, float, int]:
    """Seconds to train, to leave every sample out, of 5 folds of the peer; errors."""
    X, y, Q = some(name, rows, classes)
    train, machine = least(reps, lambda: trained(X, y, Q, C, gamma))
    kind = WestonWatkins(Hinge())
    out, found = least(reps, lambda: kind.leave_out(Exact(), machine))
    peer, _ = least(reps, lambda: cross_val_score(SVC(C=C, gamma=gamma), X, y, cv=5))
    return train, out, peer, found.errors


def told(
    name: str, rows: int, train: float, out: float, peer: float, errors: int
) -> None:
    """A line of one cell."""
    print(
        f"{name}, {rows} rows, one cell with leave-one-out / 5 folds: "
        f"{(train + out) / peer:.1f} (training {train:.2f} s, leave-one-out "
        f"{out:.2f} s / {peer:.2f} s), {errors} errors",
        flush=True,
    )


def powers(what: str, sizes: tuple[int, ...], cells: list[Any]) -> None:
    """The fitted exponents of time."""
    train, out = (
        np.polyfit(np.log(sizes), np.log([cell[i] for cell in cells]), 1)[0]
        for i in (0, 1)
    )
    print(
        f"letter, {what} {', '.join(map(str, sizes))}: training grows by the power "
        f"{train:.1f}, leave-one-out by {out:.1f}",
        flush=True,
    )
