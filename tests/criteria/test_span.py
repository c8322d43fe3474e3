"""The heuristics: predicted left-out margins, and the softened radius-margin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from msvm_select import run_sweep
from msvm_select.columns import COLUMNS
from msvm_select.criteria import span as span_module
from msvm_select.criteria.base import KINDS, Cell
from msvm_select.criteria.radius_margin import RadiusMarginL1
from msvm_select.criteria.span import Span, predicted_margins
from msvm_select.errors import SettingsError
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import PREDICTED
from msvm_select.names import CRITERIA, LOSSES
from msvm_select.records import Dataset, Scaling
from msvm_select.results.reread import read_results
from msvm_select.show.answers.sweep import sheet
from msvm_select.solution import Solution
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.qp import Qp
from tests.conftest import DATA, PROBLEMS, Problem, blobs, render, run


def trained(problem: Problem, kernel: Kernel, C: float, loss: str = "l1") -> Solution:
    """The machine, certified."""
    machine = LOSSES[loss]()
    dual = machine.dual(kernel.gram(problem.X), problem.y, problem.Q, C)
    solution = Exact().solve(dual)
    assert solution.converged
    return solution


def cell_of(problem: Problem, solution: Solution, kernel: Kernel) -> Cell:
    """What a criterion is given."""
    names = tuple(str(k) for k in range(problem.Q))
    features = tuple(f"x{j}" for j in range(problem.X.shape[1]))
    data = Dataset(problem.X, problem.y, names, features)
    return Cell(data, Scaling.fit(problem.X, "none"), kernel, Exact(), solution)


@pytest.mark.parametrize("name", ["two", "three", "six", "tiny"])
@pytest.mark.parametrize("kernel", [Linear(), Rbf(0.3), Rbf(5.0)], ids=repr)
@pytest.mark.parametrize(("loss", "C"), [("l1", 0.5), ("l1", 50.0), ("l2", 0.5)])
def test_a_prediction_that_holds_is_exact(name, kernel, loss, C):
    """Where no variable changes sides, the left-out machine is the predicted one."""
    solution = trained(PROBLEMS[name], kernel, C, loss)
    exact = Exact().leave_out(solution, every_margin=True)
    predicted = predicted_margins(solution)
    held = (exact.road == PREDICTED) & solution.b_unique
    assert predicted[held] == pytest.approx(exact.margins[held], rel=1e-3, abs=1e-3)
    assert held.any() or loss == "l1"
    idle = ~solution.is_support_vector & solution.b_unique
    assert predicted[idle] == pytest.approx(exact.margins[idle], abs=1e-9)


@pytest.mark.parametrize("machine", ["ww", "ovo"])
def test_the_rate_counts_by_weight(machine):
    """A sample of weight 2 counts twice, as in the rate of leave-one-out."""
    data = blobs(40, 3, spread=1.6, seed=5).dataset()
    weights = np.where(np.arange(data.m) % 3 == 0, 2.0, 1.0)
    grid = {"C": 1.0, "gamma": 0.05, "machine": machine, "criteria": "span,loo"}
    row = run_sweep(replace(data, weights=weights), **grid).best
    of_all = row.span_rate * weights.sum()
    assert of_all == pytest.approx(round(of_all), abs=1e-9)
    assert row.span_rate == pytest.approx(row.loo_rate, abs=0.1)
    plain = row.span_rate * data.m
    assert plain != pytest.approx(round(plain), abs=1e-9)


def test_the_formula_for_samples_with_free_variables_only(three):
    """m_P = 1 - (G_PP)^-1 alpha_P, with G read off the KKT matrix written out."""
    solution = trained(three, Rbf(0.5), 1.0, "l2")
    alpha, y, Q = solution.alpha, three.y, 3
    i, k = np.nonzero(alpha > 0.0)
    A = np.eye(Q)[y[i]] - np.eye(Q)[k]
    H = solution.dual.gram.matrix[np.ix_(i, i)] * (A @ A.T)
    KKT = np.block([[H, A[:, 1:]], [A[:, 1:].T, np.zeros((Q - 1, Q - 1))]])
    G = np.linalg.inv(KKT)[: i.size, : i.size]
    predicted = predicted_margins(solution)
    for p in np.unique(i):
        P = np.flatnonzero(i == p)
        by_hand = 1.0 - np.linalg.solve(G[np.ix_(P, P)], alpha[i[P], k[P]])
        assert predicted[p, k[P]] == pytest.approx(by_hand, abs=1e-6)


def test_span_is_near_leave_one_out_and_of_any_solver():
    """Within two errors on iris; no solver needs to offer anything."""
    problem = PROBLEMS["iris"]
    solution = trained(problem, Rbf(0.5), 1.0, "l2")
    cell = cell_of(problem, solution, Rbf(0.5))
    share = Span().score(cell).columns["span_rate"]
    exact = Exact().leave_out(solution).errors / problem.y.size
    assert share == pytest.approx(exact, abs=2 / problem.y.size)
    other = cell_of(problem, Qp().solve(solution.dual), Rbf(0.5))
    assert Span().score(other).columns["span_rate"] == share


def test_what_nothing_can_replace_counts_as_an_error():
    """The only sample of a class, and the two samples of two classes."""
    problem = Problem(np.array([[0.0], [1.0]]), np.array([0, 1]), 2)
    solution = trained(problem, Linear(), 100.0)
    assert Span().score(cell_of(problem, solution, Linear())).columns == {
        "span_rate": 1.0
    }
    three = Problem(np.array([[0.0], [1.0], [1.5]]), np.array([0, 1, 1]), 2)
    margins = predicted_margins(trained(three, Linear(), 100.0))
    assert margins[0].min() == -np.inf


def test_a_face_too_large_has_no_estimate(three, monkeypatch):
    """The column is empty, rather than the memory full."""
    monkeypatch.setattr(span_module, "MOST_FREE", 2)
    solution = trained(three, Rbf(0.5), 1.0)
    score = Span().score(cell_of(three, solution, Rbf(0.5)))
    assert score.columns == {"span_rate": None}


def test_an_indefinite_matrix_has_no_estimate():
    """The column is empty, and the other cells go on."""
    path = str(DATA / "iris.csv")
    kernel = "--kernel sigmoid --gamma 1 --coef0 -1 --allow-indefinite --C 1,100"
    arguments = ["sweep", path, *kernel.split(), "--criteria", "sv-rate,span", "-q"]
    found = run(*arguments, "--format", "csv")
    assert found.exit_code in (0, 5)
    assert len(found.stdout.splitlines()) == 3


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_with_two_classes_it_is_that_of_chung_et_al(two, C):
    """(R^2 + 1/C') (||w||^2 + 2 C' sum xi) of the ordinary SVM at C' = 2C."""
    svm = SVC(kernel="linear", C=2.0 * C, tol=1e-10).fit(two.X, two.y)
    sign = np.where(two.y == 1, 1.0, -1.0)
    xi = np.maximum(0.0, 1.0 - sign * svm.decision_function(two.X)).sum()
    D = 2.0 * radius(two.X)
    by_hand = (D**2 / 4 + 1 / (2 * C)) * ((svm.coef_**2).sum() + 4.0 * C * xi)
    cell = cell_of(two, trained(two, Linear(), C), Linear())
    found = RadiusMarginL1().score(cell).columns["radius_margin_l1"]
    assert found == pytest.approx(by_hand, rel=1e-3)


def radius(X) -> float:
    """Of the smallest ball around the rows, by steps towards the farthest of them."""
    centre = X.mean(axis=0)
    for t in range(1, 20_000):
        farthest = X[((X - centre) ** 2).sum(axis=1).argmax()]
        centre = centre + (farthest - centre) / (t + 1)
    return float(np.sqrt(((X - centre) ** 2).sum(axis=1).max()))


def test_with_more_classes_it_is_the_analogue(three):
    """Q (D^2 + 1/C) (sum_k ||w_k||^2 + 2C sum xi), smooth in C."""
    values = []
    for C in (1.0, 1.001):
        solution = trained(three, Linear(), C)
        w = three.X.T @ solution.tau
        h = three.X @ w + solution.b
        short = 1.0 - h[np.arange(40), three.y][:, None] + h
        short[np.arange(40), three.y] = 0.0
        xi = np.maximum(short, 0.0).sum()
        D = 2.0 * radius(three.X)
        by_hand = 3 * (D**2 + 1 / C) * ((w**2).sum() + 2 * C * xi)
        cell = cell_of(three, solution, Linear())
        values.append(RadiusMarginL1().score(cell).columns["radius_margin_l1"])
        assert values[-1] == pytest.approx(by_hand, rel=1e-3)
    assert values[0] != values[1]
    assert values[0] == pytest.approx(values[1], rel=0.01)


def dataset() -> Dataset:
    """Three classes as they would have been read."""
    problem = blobs(30, 3, seed=31)
    return Dataset(problem.X, problem.y, ("a", "b", "c"), ("x", "y", "z"))


def test_it_is_not_for_the_quadratic_loss():
    """There the bound itself applies; the message says so before any training."""
    with pytest.raises(SettingsError, match="not for the loss l2, but for l1"):
        run_sweep(dataset(), criteria="radius-margin-l1", loss="l2")


def test_extra_columns_follow_the_schema_and_only_when_asked_for(tmp_path):
    """In every format and in a frame; they are read again and ranked by."""
    asked = run_sweep(dataset(), C="0.1,10", criteria="span,radius-margin-l1,sv-rate")
    plain = run_sweep(dataset(), C="0.1,10", criteria="sv-rate")
    extra = ("span_rate", "radius_margin_l1")
    assert asked.columns == (*COLUMNS, *extra)
    assert plain.columns == COLUMNS
    assert list(asked.to_frame().columns) == [*COLUMNS, *extra]
    assert list(sheet(asked).document["rows"][0]) == [*COLUMNS, *extra]
    assert list(sheet(plain).document["rows"][0]) == list(COLUMNS)
    for name in ("csv", "tsv", "json", "ndjson"):
        path = tmp_path / f"r.{name}"
        path.write_text(render(asked, name))
        again = read_results(path).ranked("radius-margin-l1")
        assert again.columns == asked.columns
        assert [r.C for r in again.rows] == [
            r.C for r in asked.ranked("radius_margin_l1").rows
        ]
    assert {row.span_rate for row in plain.rows} == {None}


def test_a_column_that_was_asked_for_is_there_though_empty(monkeypatch):
    """Whoever reads it by name finds it."""
    monkeypatch.setattr(span_module, "MOST_FREE", -1)
    results = run_sweep(dataset(), C="1", criteria="sv-rate,span")
    assert results.columns[-1] == "span_rate"
    assert render(results, "csv").splitlines()[1].endswith(",")


def test_every_criterion_says_what_it_is():
    """Its kind, when it applies and what it costs; the command shows all of it."""
    found = run("show", "criteria")
    assert found.exit_code == 0
    for name, kind in CRITERIA.items():
        assert kind.kind in KINDS
        assert set(kind.losses) <= set(LOSSES)
        assert kind.applies
        assert kind.cost
        summary = CRITERIA.summary(name)
        facts = f"{kind.kind}; {kind.applies}; costs {kind.cost}"
        assert f"{name} {summary} {facts}" in " ".join(found.stdout.split())
    assert max(map(len, found.stdout.splitlines())) <= 88


def test_the_command_line_ranks_by_a_heuristic():
    """And shows its column."""
    line = ["sweep", str(DATA / "iris.csv"), "--C", "1,8", "--gamma", "0.5", "-q"]
    found = run(*line, "--rank-by", "span")
    assert found.exit_code == 0
    assert "span_rate" in found.stdout.splitlines()[0]
    assert "best by span" in found.stdout
