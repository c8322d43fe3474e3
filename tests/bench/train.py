"""Training: our 35 cells at gap 1e-8 against 35 SVC at scikit-learn's default 1e-3."""

from collections.abc import Sequence

import numpy as np
from sklearn.svm import SVC

from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.records import Dual, Floats, Ints
from msvm_select.solution import Solution
from msvm_select.solvers.exact.solver import Exact
from tests.bench.grid import CS, GAMMAS, least, load

LINEAR_CS = tuple(np.geomspace(1e-4, 1.0, 20))


def chain(
    kernel: Rbf | Linear, X: Floats, y: Ints, Q: int, Cs: Sequence[float], *,
    gap: float = 1e-8, warm: bool = True,
) -> list[Solution]:  # fmt: skip
    """What a sweep does at one kernel setting; without warm starts each is cold."""
    gram, solver = kernel.gram(X), Exact(gap=gap)
    done: list[Solution] = []
    for C in Cs:
        dual = Dual(gram, y, Q, float(C))
        last = done[-1] if warm and done else None
        done.append((last and last.at(dual, gap)) or solver.solve(dual, start=last))
    return done


def ours(X: Floats, y: Ints, Q: int, *, warm: bool = True) -> list[Solution]:
    """All 35 cells."""
    return [s for g in GAMMAS for s in chain(Rbf(g), X, y, Q, CS, warm=warm)]


def theirs(X: Floats, y: Ints) -> None:
    """35 trainings by scikit-learn, C doubled: its machines are ours at half C."""
    for g in GAMMAS:
        for C in CS:
            SVC(C=2.0 * C, gamma=g).fit(X, y)


def work(cells: list[Solution]) -> str:
    """Steps, Newton systems, the worst gap."""
    steps = sum(s.work.iterations for s in cells)
    newton = sum(s.work.newton for s in cells)
    return f"{steps} steps, {newton} Newton systems, worst gap {worst(cells):.0e}"


def worst(cells: list[Solution]) -> float:
    """The worst gap of all."""
    return max(abs(s.gap) for s in cells)


def run(names: Sequence[str], reps: int) -> None:
    """A line a data set, warm against cold, then the linear kernel."""
    chain(Rbf(0.5), *load("iris"), CS)  # compiled before the clock runs
    for name in names:
        X, y, Q = load(name)
        peer, _ = least(reps, lambda X=X, y=y: theirs(X, y))
        time, cells = least(reps, lambda X=X, y=y, Q=Q: ours(X, y, Q))
        cold, cold_cells = least(1, lambda X=X, y=y, Q=Q: ours(X, y, Q, warm=False))
        copied = sum(s.work.iterations + s.work.newton == 0 for s in cells)
        print(
            f"{name}: {time / peer:.2f} x scikit-learn "
            f"({time * 1e3:.0f} ms / {peer * 1e3:.0f} ms for 35 cells); "
            f"{work(cells)}; {copied} rows copied"
        )
        print(f"    cold: {cold / time:.1f} x the warm time; {work(cold_cells)}")
    linear(reps)


def linear(reps: int) -> None:
    """3000 x 2, three classes, 20 values of C, gap 1e-6."""
    X, y, Q = load("three_gaussians")
    peer, _ = least(
        reps, lambda: [SVC(C=2.0 * C, kernel="linear").fit(X, y) for C in LINEAR_CS]
    )
    time, cells = least(reps, lambda: chain(Linear(), X, y, Q, LINEAR_CS, gap=1e-6))
    print(
        f"three_gaussians, linear: {time / peer:.2f} x scikit-learn "
        f"({time * 1e3:.0f} ms / {peer * 1e3:.0f} ms for 20 cells); {work(cells)}"
    )
