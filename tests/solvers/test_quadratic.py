"""The quadratic loss: a hard margin with a ridge is what its primal says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from msvm_select import fit, load_csv, run_sweep
from msvm_select.criteria.base import Cell
from msvm_select.criteria.cross_validation import CrossValidation, folds
from msvm_select.criteria.leave_one_out import leave_each_out
from msvm_select.errors import SettingsError
from msvm_select.estimator import MSVMClassifier
from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.machines.losses import Quadratic
from msvm_select.machines.weston_watkins import WestonWatkins
from msvm_select.model.file import load_model
from msvm_select.names import SOLVERS
from msvm_select.records import Dataset, Dual, Floats, Gram, Ints, Scaling
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.qp import Qp
from tests.conftest import DATA, PROBLEMS, Problem, blobs, crossed, run, table

NEAR = 1e-6
KERNELS = {"linear": Linear(), "rbf": Rbf(0.3), "rough": Rbf(5.0)}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def dual_of(problem: Problem, kernel, C: float) -> Dual:
    """The augmented training problem."""
    return Quadratic().dual(kernel.gram(problem.X), problem.y, problem.Q, C)


def trained(dual: Dual, solver: Solver | None = None) -> Solution:
    """The machine, certified."""
    solution = (solver or Exact()).solve(dual)
    assert solution.converged, solution.reason
    return solution


def loss(xi: Floats, Q: int) -> float:
    """sum_i xi_i'(I - 11'/Q) xi_i; the own class has no slack."""
    return float((xi**2).sum() - (xi.sum(axis=1) ** 2).sum() / Q)


def primal(K: Floats, y: Ints, C: float, s: Solution) -> float:
    """1/2 sum_k ||w_k||^2 + C loss(xi) at the machine's w and b, xi made feasible."""
    own = np.arange(y.size), y
    h = K @ s.tau + s.b
    short = 1.0 - (h[own][:, None] - h)
    xi = (s.alpha + s.alpha.sum(axis=1, keepdims=True)) / (2.0 * C)
    xi = np.maximum(xi, short)
    xi[own] = 0.0
    return 0.5 * float(np.vdot(s.tau, K @ s.tau)) + C * loss(xi, s.dual.Q)


def least_primal(K: Floats, y: Ints, C: float, s: Solution) -> float:
    """The same with the best slacks for w and b, sample by sample."""
    own, Q = (np.arange(y.size), y), s.dual.Q
    h = K @ s.tau + s.b
    short = 1.0 - (h[own][:, None] - h)
    total = 0.5 * float(np.vdot(s.tau, K @ s.tau))
    for i in range(y.size):
        low = np.delete(short[i], y[i])
        found = minimize(
            lambda xi: (xi @ xi - xi.sum() ** 2 / Q, 2.0 * xi - 2.0 * xi.sum() / Q),
            np.maximum(low, 0.0), jac=True, bounds=[(a, None) for a in low],
            options={"ftol": 1e-15, "gtol": 1e-12},
        )  # fmt: skip
        total += C * float(found.fun)
    return total


def test_a_breach_stands_in_the_gap_as_a_square() -> None:
    """Beside the optimum the primal is no less than its best slacks cost, and near."""
    problem, C = PROBLEMS["three"], 10.0
    gaps = []
    for off in (1e-3, 1e-4):
        s = trained(dual_of(problem, Rbf(0.3), C))
        tau = s.tau * (1.0 + off * np.sin(np.arange(s.tau.shape[1])))
        tau[s.alpha <= 0.0] = 0.0
        tau[np.arange(problem.y.size), problem.y] = 0.0
        tau[np.arange(problem.y.size), problem.y] = -tau.sum(axis=1)
        near = replace(s, tau=tau, F=s.dual.gram.product(tau))
        K = Rbf(0.3).gram(problem.X).matrix
        least = least_primal(K, problem.y, C, near)
        assert least * (1.0 - 1e-9) <= near.primal_objective
        gaps.append((near.primal_objective - least) / least)
    assert gaps[0] > 30.0 * gaps[1]
    assert gaps[1] < 1e-6


def test_nearly_no_ridge_converges() -> None:
    """Where alpha is a million times the margins, rounding does not spoil the gap."""
    glass = load_csv(DATA / "glass.csv")
    some = glass.rows(np.arange(0, glass.m, 3))
    rows = run_sweep(some, kernel="linear", loss="l2", C="1e7", criteria="sv-rate").rows
    assert rows[0].status == "ok"
    assert abs(rows[0].gap) < 1e-10


@every_kernel
@pytest.mark.parametrize("name", ["two", "three", "six", "duplicates", "tiny"])
@pytest.mark.parametrize("C", [1e-3, 0.5, 20.0, 512.0])
def test_primal_equals_dual(name, kernel, C):
    """The objective written directly, without any ridge, has the dual's value."""
    problem = PROBLEMS[name]
    s = trained(dual_of(problem, kernel, C))
    K = kernel.gram(problem.X).matrix
    above = primal(K, problem.y, C, s) - s.dual_objective
    scale = max(1.0, s.dual_objective)
    assert -1e-9 * scale < above < 1e-7 * scale
    assert s.gap < 1e-8
    assert (s.dual.weight, s.n_bounded) == (C, 0)
    assert s.alpha.max() < s.dual.C * (problem.Q - 1) / problem.Q


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_trains_it(name, three):
    """All find the same optimum, each to the gap that it promises."""
    dual = dual_of(three, Rbf(0.3), 2.0)
    best = trained(dual)
    found = trained(dual, SOLVERS[name](gap=1e-8))
    assert found.dual_objective == pytest.approx(best.dual_objective, rel=1e-7)
    assert found.decisions == pytest.approx(best.decisions, abs=1e-3)


@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
def test_two_classes_are_the_l2_svm(two, C):
    """1/2 ||w||^2 + C sum xi^2 with a free bias, minimised by another's hands."""
    X, sign = two.X, np.where(two.y == 0, 1.0, -1.0)

    def objective(v: Floats) -> tuple[float, Floats]:
        xi = np.maximum(0.0, 1.0 - sign * (X @ v[:-1] + v[-1]))
        pull = -2.0 * C * sign * xi
        slope = np.append(v[:-1] + X.T @ pull, pull.sum())
        return 0.5 * float(v[:-1] @ v[:-1]) + C * float(xi @ xi), slope

    start = np.zeros(X.shape[1] + 1)
    best = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    s = trained(dual_of(two, Linear(), C))
    f = X @ best.x[:-1] + best.x[-1]
    assert s.decisions[:, 0] - s.decisions[:, 1] == pytest.approx(f, abs=1e-5)
    assert 2.0 * s.dual_objective == pytest.approx(best.fun, rel=1e-8)


def by_force(problem: Problem, kernel, C: float, solver: Solver) -> Floats:
    """The margins (m, Q) of machines trained without each sample from nothing."""
    K, y = kernel.gram(problem.X).matrix, problem.y
    margins = np.full((y.size, problem.Q), -np.inf)
    for p in np.flatnonzero(np.bincount(y)[y] > 1):
        rest = np.delete(np.arange(y.size), p)
        gram = Gram(whole=np.ascontiguousarray(K[np.ix_(rest, rest)]))
        machine = trained(Quadratic().dual(gram, y[rest], problem.Q, C), solver)
        h = K[p, rest] @ machine.tau + machine.b
        margins[p] = h[y[p]] - h
    margins[np.arange(y.size), y] = np.inf
    return margins


FEW = {
    "two": blobs(18, 2, seed=21),
    "three": blobs(20, 3, seed=22),
    "five": blobs(20, 5, seed=23),
}


@pytest.mark.parametrize(
    ("problem", "kernel", "C"), crossed(FEW, KERNELS, [0.05, 2.0, 200.0])
)
def test_leave_one_out_equals_brute_force(problem, kernel, C):
    """By an interior-point method, from nothing, and the left-out sample sees K only.

    No machine without a sample reaches the box, so that hard margin is no assumption.
    """
    slow = by_force(problem, kernel, C, Qp(backend="clarabel"))
    dual = dual_of(problem, kernel, C)
    fast = Exact().leave_out(trained(dual), every_margin=True)
    known = np.isfinite(slow)
    assert np.array_equal(np.isfinite(fast.margins), known)
    assert fast.margins[known] == pytest.approx(slow[known], abs=1e-6, rel=1e-6)
    sure = np.abs(slow.min(axis=1)) > NEAR
    assert np.array_equal(fast.wrong[sure], (slow.min(axis=1) <= 0.0)[sure])
    assert not fast.at_top.any()
    some = Exact().leave_out(trained(dual))
    assert np.array_equal(some.wrong, fast.wrong)


def cell_of(problem: Problem, kernel, C: float, solver: Solver) -> Cell:
    """A trained cell of the quadratic loss."""
    names = tuple(str(k) for k in range(problem.Q))
    features = tuple(f"x{j}" for j in range(problem.X.shape[1]))
    data = Dataset(problem.X, problem.y, names, features)
    scaling = Scaling.fit(problem.X, "none")
    solution = trained(dual_of(problem, kernel, C), solver)
    machine = WestonWatkins(Quadratic())
    return Cell(data, scaling, kernel, solver, solution, machine=machine)


def test_solvers_without_a_road_of_their_own_leave_out_alike():
    """Retraining by any solver gives the answers of the exact one."""
    problem = blobs(16, 3, seed=25)
    exact = Exact().leave_out(trained(dual_of(problem, Rbf(0.3), 1.0)))
    retrained = leave_each_out(cell_of(problem, Rbf(0.3), 1.0, Qp()))
    assert np.array_equal(exact.wrong, retrained.wrong)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_folds_are_trained_with_the_same_loss(three, C):
    """Errors by hand: the machine of the training rows alone, its own box and ridge."""
    cell = cell_of(three, Rbf(0.5), C, Exact())
    K, wrong = Rbf(0.5).gram(three.X).matrix, 0
    for train, test in folds(three.y, 4, seed=0):
        gram = Gram(whole=np.ascontiguousarray(K[np.ix_(train, train)]))
        s = trained(Quadratic().dual(gram, three.y[train], 3, C))
        h = K[np.ix_(test, train)] @ s.tau + s.b
        wrong += sum(
            h[i, k] <= max(np.delete(h[i], k)) for i, k in enumerate(three.y[test])
        )
    score = CrossValidation(4).score(cell)
    assert score.columns == {"cv_error": wrong / three.y.size}
    again = CrossValidation(4).score(
        cell_of(three, Rbf(0.5), 2 * C, Exact()), score.carry
    )
    fresh = CrossValidation(4).score(cell_of(three, Rbf(0.5), 2 * C, Exact()))
    assert again.columns == fresh.columns


def test_the_start_at_the_next_C_is_feasible_and_good(three):
    """In the box, balanced, with a larger dual value than the old alpha as it is."""
    last = trained(dual_of(three, Rbf(0.3), 1.0))
    dual = dual_of(three, Rbf(0.3), 4.0)
    assert last.at(dual, 1e-8) is None
    start = last.start_of(dual)
    assert start.F == pytest.approx(dual.gram.product(start.tau))
    assert start.flow_imbalance < 1e-12
    assert 0.0 <= start.alpha.min() <= start.alpha.max() < dual.C
    same = replace(last, dual=dual, F=dual.gram.product(last.tau))
    assert start.dual_objective >= same.dual_objective
    warm, cold = Exact().solve(dual, start), trained(dual)
    assert warm.dual_objective == pytest.approx(cold.dual_objective, rel=1e-8)


@pytest.mark.parametrize("depth", [-3.0, 0.0, 1e-12])
def test_the_start_of_an_indefinite_matrix_keeps_its_box(depth):
    """t = sum alpha / sum_k ||w_k||^2 has no sense where that sum is next to 0."""
    y, alpha = np.array([0, 1]), np.array([1.0, 1.0])
    tau = np.array([[1.0, -1.0], [-1.0, 1.0]])
    gram = Gram(whole=np.diag([depth - 0.5, depth - 0.5]))
    old, new = (Quadratic().dual(gram, y, 2, C) for C in (0.5, 1.0))
    start = Solution(old, tau, old.gram.product(tau)).start_of(new)
    assert 0.0 < start.sum_alpha <= new.C * alpha.size * (1.0 + 1e-12)
    assert start.F == pytest.approx(new.gram.product(start.tau))


def test_rows_tell_the_C_that_was_asked_for(three):
    """C, the loss, no alpha at C; errors are those of the machine that predicts."""
    data = Dataset(three.X, three.y, ("a", "b", "c"), ("x", "y", "z"))
    values = {"C": "0.3,0.7,3", "gamma": 0.3, "criteria": "loo,sv-rate", "loss": "l2"}
    results = run_sweep(data, **values)
    assert sorted(row.C for row in results.rows) == [0.3, 0.7, 3.0]
    assert {(row.loss, row.n_bounded, row.status) for row in results.rows} == {
        ("l2", 0, "ok")
    }
    assert results.columns[-1] == "loss"
    assert results.settings["loss"] == "l2"
    for row in results.rows:
        model = fit(data, C=row.C, gamma=0.3, loss="l2")
        wrong = (model.predict(data) != np.array(data.classes)[data.y]).sum()
        assert (row.train_errors, model.C) == (wrong, row.C)
        assert row.gap <= 1e-8
    assert sum(row.train_errors for row in results.rows) > 0
    hinge = run_sweep(data, **{**values, "loss": "l1"})
    assert "loss" not in hinge.columns
    assert [r.loss for r in hinge.rows] == [None] * 3
    assert [r.loo_errors for r in hinge.rows] != [r.loo_errors for r in results.rows]


def test_jobs_and_warm_starts_change_nothing(three):
    """Rows are the same cold and in two threads."""
    data = Dataset(three.X, three.y, ("a", "b", "c"), ("x", "y", "z"))
    grid = {"C": "2^-3:2^9:7", "gamma": "0.1,1", "loss": "l2"}
    found = [
        {(r.gamma, r.C): (r.loo_errors, r.n_sv) for r in run_sweep(data, **other).rows}
        for other in (grid, {**grid, "warm_start": False}, {**grid, "jobs": 2})
    ]
    assert found[0] == found[1] == found[2]


def test_the_model_file_keeps_the_loss(three, tmp_path):
    """And a model of another loss is another model."""
    data = Dataset(three.X, three.y, ("a", "b", "c"), ("x", "y", "z"))
    model = fit(data, C=0.3, loss="l2")
    model.save(tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    assert (again.training.loss, again.C) == ("l2", 0.3)
    assert np.array_equal(again.outputs(data.X), model.outputs(data.X))
    assert np.abs(fit(data, C=0.3).outputs(data.X) - model.outputs(data.X)).max() > 1e-3
    with pytest.raises(SettingsError, match="did you mean"):
        fit(data, loss="l22")


def test_the_classifier_takes_the_loss(three):
    """The same decisions as those of ``fit``."""
    machine = MSVMClassifier(C=0.3, gamma=0.5, loss="l2").fit(three.X, three.y)
    s = trained(dual_of(three, Rbf(0.5), 0.3))
    assert machine.decision_function(three.X) == pytest.approx(s.decisions, abs=1e-7)


def test_the_command_line_tells_the_loss():
    """On stderr, and in a column after the schema's."""
    line = ["sweep", str(DATA / "iris.csv"), "--C", "1", "--gamma", "0.5"]
    found = run(*line, "--loss", "l2", "--format", "csv")
    assert found.exit_code == 0
    assert "; loss l2" in found.stderr
    header, row = found.stdout.splitlines()
    assert header.endswith(",seconds,loss")
    assert row.endswith(",l2")
    assert run(*line, "--loss", "l3").exit_code == 2


@pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="no precision beyond the plain one"
)
@pytest.mark.parametrize("gamma", [2.0**-9, 2.0**-7])
def test_a_huge_c_is_trained_to_its_last_digits(gamma):
    """alpha of a million that cancels loses digits; refinement gives them back."""
    X, y = table("glass")
    dual = Quadratic().dual(Rbf(gamma).gram(X), y, 6, 1e6)
    found = Exact().solve(dual)
    assert found.converged
    assert abs(found.gap) < 1e-8
