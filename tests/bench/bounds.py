"""The bounds as a share of training; K by the flow form against the full programs."""

import time
from collections.abc import Sequence

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from msvm_select import load_csv, run_sweep
from msvm_select.criteria.flow_constant import FlowConstant
from msvm_select.kernels.rbf import Rbf
from msvm_select.train.events import Stopwatch
from tests.bench.grid import CS, DATA, GAMMAS, least, load
from tests.bench.train import chain, ours
from tests.criteria.test_radius_margin import paper_program

CRITERIA = "radius-margin,guaranteed-risk"


def sweep(name: str, criteria: str) -> Stopwatch:
    """A sweep with these criteria, and what each of them took."""
    watch = Stopwatch()
    data = load_csv(DATA / f"{name}.csv")
    run_sweep(data, kernel="rbf", C=CS, gamma=GAMMAS, criteria=criteria, progress=watch)
    return watch


def run(names: Sequence[str], reps: int) -> None:
    """A line a data set, then the flow form on glass."""
    sweep("iris", CRITERIA)  # compiled before the clock runs
    for name in names:
        X, y, Q = load(name)
        train, _ = least(reps, lambda X=X, y=y, Q=Q: ours(X, y, Q))
        watches = [sweep(name, CRITERIA).seconds for _ in range(reps)]
        cost = {what: min(w[what] for w in watches) for what in CRITERIA.split(",")}
        grid = {"C": [2.0 * C for C in CS], "gamma": GAMMAS}
        search = GridSearchCV(SVC(), grid, cv=5, n_jobs=1, refit=False)
        peer, _ = least(reps, lambda X=X, y=y, search=search: search.fit(X, y))
        whole, _ = least(reps, lambda name=name: sweep(name, "radius-margin"))
        shares = ", ".join(f"{what} {t / train:.2f}" for what, t in cost.items())
        print(
            f"{name}: {shares} x training ({train * 1e3:.0f} ms); whole sweep with "
            f"radius-margin {whole / peer:.2f} x 5-fold GridSearchCV"
        )
    flow_form()
    count("iris")


def flow_form() -> None:
    """K of one cell of glass, by the flow form and by the programs in m Q variables."""
    X, y, Q = load("glass")
    s = chain(Rbf(0.125), X, y, Q, CS[:5])[-1]
    short, _ = least(5, lambda: FlowConstant(s).constant)
    arcs = np.argwhere(s.alpha >= 1e-4 * s.alpha.max())
    some = arcs[:: max(1, len(arcs) // 10)][:10]
    start = time.perf_counter()
    for i, k in some:
        paper_program(s, int(i), int(k), full=True)
    long = (time.perf_counter() - start) / len(some) * int((s.alpha > 0.0).sum())
    print(
        f"K on glass: flow form {short * 1e3:.1f} ms, full programs {long:.1f} s "
        f"({len(some)} timed and scaled): {long / short:.0f} times"
    )


def count(name: str) -> None:
    """B* over the grid: a criterion of its own."""
    start = time.perf_counter()
    seconds = sweep(name, "radius-margin-count").seconds
    spent = sum(seconds.values())
    whole = time.perf_counter() - start
    print(f"B* on {name}: {spent:.2f} s of a sweep of {whole:.2f} s")
