"""Many classes and rows in the machine of all classes, beside scikit-learn.

Cells one by one, the whole grid of vowel, and by which powers of the rows and of the
classes time and memory grow, in training and in leaving out. Times are CPU times.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CDLL
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

from msvm_select import load_csv, run_sweep
from msvm_select.kernels.rbf import Rbf
from msvm_select.machines.losses import Hinge
from msvm_select.machines.weston_watkins import WestonWatkins
from msvm_select.solvers.exact.solver import Exact
from tests.bench.grid import CS, DATA, GAMMAS, load
from tests.bench.grid import least as least_of

LETTER = (8.0, 0.125)
BY_ROWS = (500, 1000, 2000, 4000)
BY_CLASSES = (3, 6, 12, 26)
OLD_BY_ROWS = (250, 500, 750)  # the road of all variables at once: minutes beyond
OLD_BY_CLASSES = (3, 6, 12)

least = partial(least_of, clock=process_time)


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
    cell("letter", 600, *LETTER, 1)
    X, y, Q = load("vowel")
    ours, gap = least(reps, lambda: grid(X, y, Q))
    peer, _ = least(reps, lambda: by_peer(X, y))
    print(
        f"vowel, 35 cells, training / SVC: {ours / peer:.1f} ({ours:.1f} s / "
        f"{peer:.1f} s), worst gap {gap:.0e}",
        flush=True,
    )
    sweeps(X, y)
    for name, rows, C, gamma in (
        ("digits", 1797, 8.0, 2.0**-7), ("letter", 1000, *LETTER),
        ("letter", 2000, *LETTER),
    ):  # fmt: skip
        told(name, rows, cell(name, rows, C, gamma, reps))
    X, y, Q = some("letter", 5000)
    peer, _ = least(1, lambda: SVC(C=LETTER[0], gamma=LETTER[1]).fit(X, y))
    ours, machine, peak = measured(lambda: trained(X, y, Q, *LETTER))
    print(
        f"letter, 5000 rows, training / SVC: {ours / peer:.1f} ({ours:.1f} s / "
        f"{peer:.1f} s), gap {machine.gap:.0e}, memory {peak:.0f} MB",
        flush=True,
    )
    exponents()


def sweeps(X: Any, y: Any) -> None:
    """The grid with leave-one-out, whole and as a race, against a grid search."""
    grid = {"C": [2.0 * C for C in CS], "gamma": GAMMAS}
    search = GridSearchCV(SVC(), grid, cv=5, n_jobs=1, refit=False)
    peer, _ = least(1, lambda: search.fit(X, y))
    data = load_csv(DATA / "vowel.csv")
    sweep = partial(run_sweep, data, kernel="rbf", C=CS, gamma=GAMMAS, criteria="loo")
    for how, work in (("", sweep), (" and --race 3", partial(sweep, race=3))):
        ours, found = least(1, work)
        errors = "no" if found.best is None else found.best.loo_errors
        print(
            f"vowel, 35 cells with leave-one-out{how} / GridSearchCV(cv=5): "
            f"{ours / peer:.1f} ({ours:.1f} s / {peer:.1f} s), best {errors} errors",
            flush=True,
        )


def exponents() -> None:
    """Of time and memory, by the factor of each class and by that of all variables."""
    letter = partial(cell, "letter", C=LETTER[0], gamma=LETTER[1], reps=1, peer=False)
    powers("by classes, rows", BY_ROWS, lambda m: letter(m))
    powers("by classes, classes", BY_CLASSES, lambda Q: letter(1000, classes=Q))
    with all_at_once():
        powers("all at once, rows", OLD_BY_ROWS, lambda m: letter(m))
        powers(
            "all at once, classes", OLD_BY_CLASSES, lambda Q: letter(1000, classes=Q)
        )


@contextmanager
def all_at_once() -> Iterator[None]:
    """The system of all free variables, nothing split by class."""
    exact, out = "msvm_select.solvers.exact.exchange", "msvm_select.solvers.leave_out"
    with (
        patch(f"{exact}.class_operations", lambda y, free: np.inf),
        patch(f"{exact}.LEAST_PRODUCTS", np.inf),
        patch(f"{out}.tableau.ALL_WATCHED", np.inf),
        patch(f"{out}.tableau.MOST_DENSE", np.inf),
    ):
        yield


def measured(work: Callable[[], Any]) -> tuple[float, Any, float]:
    """Seconds, the answer, and the memory in MB that it took at its peak (Linux)."""
    CDLL(None).malloc_trim(0)  # what is free but kept would hide what is taken
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    seconds, answer = least(1, work)
    return seconds, answer, resident("VmHWM") - before


def resident(what: str) -> float:
    """Memory of this process in MB: VmRSS now, VmHWM at its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(what))
    return float(line.split()[1]) / 1024.0


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


class Cell(NamedTuple):
    """Seconds and MB to train and to leave every sample out, seconds of 5 folds."""

    train: float
    out: float
    train_memory: float
    out_memory: float
    peer: float
    errors: int


def cell(
    name: str, rows: int, C: float, gamma: float, reps: int, classes: int = 10**6,
    peer: bool = True,
) -> Cell:  # fmt: skip
    """One cell by us, and by the peer."""
    X, y, Q = some(name, rows, classes)
    train = partial(trained, X, y, Q, C, gamma)
    first, machine, held = measured(train)
    leave_out = partial(WestonWatkins(Hinge()).leave_out, Exact(), machine)
    second, left_out, more = measured(leave_out)
    folds, times = np.nan, [(first, second)]
    if peer:  # by turns, so that a slow moment of the machine is one for both
        svc = SVC(C=C, gamma=gamma)
        work = train, leave_out, lambda: cross_val_score(svc, X, y, cv=5)
        rounds = [[least(1, one)[0] for one in work] for _ in range(reps)]
        times += [(one, other) for one, other, _ in rounds]
        folds = min(peer for *_, peer in rounds)
    trained_in, out = np.min(times, axis=0).tolist()
    return Cell(trained_in, out, held, more, folds, left_out.errors)


def told(name: str, rows: int, one: Cell) -> None:
    """A line of one cell."""
    print(
        f"{name}, {rows} rows, one cell with leave-one-out / 5 folds: "
        f"{(one.train + one.out) / one.peer:.1f} (training {one.train:.2f} s, "
        f"leave-one-out {one.out:.2f} s / {one.peer:.2f} s; {one.train_memory:.0f} and "
        f"{one.out_memory:.0f} MB), {one.errors} errors",
        flush=True,
    )


def powers(what: str, sizes: tuple[int, ...], make: Callable[[int], Cell]) -> None:
    """The cells, then the fitted exponents of their time and memory."""
    cells = []
    for size in sizes:
        cells.append(make(size))
        train, out, held, more, *_ = cells[-1]
        print(
            f"    letter, {what} {size}: training {train:.2f} s, {held:.0f} MB, "
            f"leave-one-out {out:.2f} s, {more:.0f} MB",
            flush=True,
        )
    train, out, held, more = (
        np.polyfit(np.log(sizes), np.log(np.maximum(own, 1e-3)), 1)[0]
        for own in list(zip(*cells, strict=True))[:4]
    )
    print(
        f"letter, {what} {', '.join(map(str, sizes))}: training grows by the power "
        f"{train:.1f}, its memory by {held:.1f}, leave-one-out by {out:.1f}, its "
        f"memory by {more:.1f}",
        flush=True,
    )
