"""A whole sweep with exact leave-one-out against scikit-learn's 5-fold grid search."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_score
from sklearn.svm import SVC

from msvm_select import load_csv, run_sweep
from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import BY_TRAINING, NOT_A_SV, PREDICTED, REPAIRED, RETRAINED
from msvm_select.records import Dataset
from msvm_select.results.ranking import Results
from msvm_select.solvers.exact.solver import Exact
from tests.bench.grid import CS, DATA, GAMMAS, least, load
from tests.bench.train import chain

PROBES = ((2.0, 2.0**-3), (2.0**-3, 2.0**-7), (2.0**9, 2.0))


def sweep(data: Dataset) -> Results:
    """What ``msvm-select sweep`` does: Mercer's test, training, every sample out."""
    return run_sweep(data, kernel="rbf", C=CS, gamma=GAMMAS, criteria="loo")


def run(names: Sequence[str], reps: int) -> None:
    """Two ratios a data set, then where the samples went."""
    sweep(load_csv(DATA / "iris.csv"))  # compiled before the clock runs
    for name in names:
        X, y, _ = load(name)
        grid = {"C": [2.0 * C for C in CS], "gamma": GAMMAS}
        search = GridSearchCV(SVC(), grid, cv=5, n_jobs=1, refit=False)
        data, work = load_csv(DATA / f"{name}.csv"), partial(search.fit, X, y)
        results = sweep(data)
        times = [  # by turns: a slow moment of the machine is one for both
            (least(1, work)[0], least(1, partial(sweep, data))[0]) for _ in range(reps)
        ]
        peer, time = np.min(times, axis=0).tolist()
        print(
            f"{name}: {time / peer:.2f} x 5-fold GridSearchCV "
            f"({time:.2f} s / {peer:.2f} s), "
            f"1/{left_out_by_peer(X, y) / time:.1f} of its leave-one-out; "
            f"best {results.best.loo_errors} errors"
        )
        print("    " + roads(name))


def left_out_by_peer(X: np.ndarray, y: np.ndarray) -> float:
    """scikit-learn's leave-one-out on three cells, scaled to 35."""

    def probes() -> None:
        for C, g in PROBES:
            cross_val_score(SVC(C=2.0 * C, gamma=g), X, y, cv=LeaveOneOut())

    return least(1, probes)[0] / len(PROBES) * 35


def roads(name: str) -> str:
    """How many samples went which way, over the cells that were trained."""
    X, y, Q = load(name)
    count: Counter[str] = Counter()
    for g in GAMMAS:
        for s in chain(Rbf(g), X, y, Q, CS):
            if s.work.iterations + s.work.newton == 0:
                continue
            out = Exact().leave_out(s)
            count["support vectors"] += s.n_sv
            count["decided without work"] += out.count(BY_TRAINING, NOT_A_SV)
            count["predicted"] += out.count(PREDICTED)
            count["repaired"] += out.count(REPAIRED)
            count["retrained"] += out.count(RETRAINED)
            count["changes"] += int(out.exchanges.sum())
    changes = count.pop("changes") / max(1, count["repaired"])
    said = ", ".join(f"{what} {n}" for what, n in count.items())
    return f"{said}; {changes:.1f} changes a repair"
