"""Machines of parts beside scikit-learn: training, leave-one-out, letter whole."""

import resource
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from msvm_select import load_csv, run_sweep
from msvm_select.kernels.rbf import Rbf
from msvm_select.machines.composed import OneVersusAll, OneVersusOne
from msvm_select.machines.losses import Hinge
from msvm_select.records import Blocks
from msvm_select.solvers.exact.solver import Exact
from tests.bench.grid import CS, DATA, GAMMAS, least, load

LETTER = (8.0, 0.125)


def sweep(data: Any):
    """The grid with exact leave-one-out."""
    return run_sweep(data, machine="ovo", C=CS, gamma=GAMMAS, criteria="loo")


def trained(X, y, Q) -> float:
    """Every cell of the grid, one after another along C; the worst gap."""
    machine, solver, worst = OneVersusOne(Hinge()), Exact(), 0.0
    for gamma in GAMMAS:
        gram, last = Rbf(gamma).gram(X), None
        for C in CS:
            last = machine.train(solver, gram, y, Q, C, last)
            worst = max(worst, last.gap)
    return worst


def trained_by_peer(X, y) -> None:
    """An SVC a cell, at its own tolerance."""
    for gamma in GAMMAS:
        for C in CS:
            SVC(C=C, gamma=gamma).fit(X, y)


def one_cell(kind, gram, y, Q, C) -> int:
    """Trained, and every sample left out."""
    machine, solver = kind(Hinge()), Exact()
    return machine.leave_out(solver, machine.train(solver, gram, y, Q, C)).errors


def run(names: Sequence[str], reps: int) -> None:
    """A line a data set, then letter and one-versus-all."""
    sweep(load_csv(DATA / "iris.csv"))  # compiled before the clock runs
    for name in names:
        X, y, Q = load(name)
        peer, search = least(
            reps,
            lambda X=X, y=y: GridSearchCV(
                SVC(), {"C": CS, "gamma": GAMMAS}, cv=5, refit=False
            ).fit(X, y),
        )
        ours, results = least(reps, lambda X=X, y=y: sweep((X, y)))
        fits, _ = least(reps, lambda X=X, y=y: trained_by_peer(X, y))
        alone, gap = least(reps, lambda X=X, y=y, Q=Q: trained(X, y, Q))
        picked = search.best_params_
        told = {(r.C, r.gamma): r.loo_errors for r in results.rows}
        print(
            f"{name}: sweep with leave-one-out / GridSearchCV(cv=5) {ours / peer:.2f} "
            f"({ours:.2f} s / {peer:.2f} s); training / SVC {alone / fits:.2f} "
            f"(worst gap {gap:.0e}); best {results.best.loo_errors} errors, "
            f"GridSearchCV's cell {told[picked['C'], picked['gamma']]}",
            flush=True,
        )


def choice(names: Sequence[str], seeds: int = 5) -> None:
    """The exact leave-one-out errors of the cells that 5 shuffled folds pick.

    Beside those of the cell that leave-one-out picks itself.
    """
    grid = {"C": CS, "gamma": GAMMAS}
    for name in names:
        X, y, _ = load(name)
        results = sweep((X, y))
        told = {(r.C, r.gamma): r.loo_errors for r in results.rows}
        picked = []
        for seed in range(seeds):
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            search = GridSearchCV(SVC(), grid, cv=folds, refit=False).fit(X, y)
            cell = search.best_params_["C"], search.best_params_["gamma"]
            picked.append((told[cell], cell))
        best = results.best
        cells = ", ".join(f"{n} at C={c:g} gamma={g:g}" for n, (c, g) in picked)
        print(
            f"{name}: {y.size} samples, leave-one-out picks C={best.C:g} "
            f"gamma={best.gamma:g} with {best.loo_errors} errors; 5 folds by seed: "
            f"{cells}; on average {np.mean([n for n, _ in picked]):.1f}",
            flush=True,
        )


def letters(rows: int, reps: int) -> None:
    """One cell of letter with leave-one-out against one 5-fold cross-validation."""
    C, gamma = LETTER
    X, y, Q = load("letter")
    some = np.random.default_rng(0).permutation(y.size)[:rows]
    X, y, kernel = X[some], y[some], Rbf(gamma)
    blocks = Blocks(X=X, between=kernel.between, finite=kernel.finite)
    ours, errors = least(
        reps,
        lambda: one_cell(
            OneVersusOne, blocks if rows > 3000 else kernel.gram(X), y, Q, C
        ),
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    peer, score = least(
        reps, lambda: cross_val_score(SVC(C=C, gamma=gamma), X, y, cv=5).mean()
    )
    print(
        f"letter, {y.size} rows: {ours / peer:.2f} ({ours:.1f} s / {peer:.1f} s), "
        f"{errors} errors ({100 * errors / y.size:.2f} %; 5 folds "
        f"{100 - 100 * score:.2f} %), peak memory of the process {memory:.2f} GB",
        flush=True,
    )


def rests(name: str, reps: int) -> None:
    """One cell of one-versus-all likewise."""
    X, y, Q = load(name)
    C, gamma = 8.0, 1.0 / X.shape[1]
    ours, errors = least(
        reps, lambda: one_cell(OneVersusAll, Rbf(gamma).gram(X), y, Q, C)
    )
    peer, _ = least(
        reps,
        lambda: cross_val_score(OneVsRestClassifier(SVC(C=C, gamma=gamma)), X, y, cv=5),
    )
    print(
        f"one-versus-all, {name}: {ours / peer:.2f} ({ours:.2f} s / {peer:.2f} s), "
        f"{errors} errors",
        flush=True,
    )
