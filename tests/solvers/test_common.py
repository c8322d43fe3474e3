"""One inverse for all classes: where few arcs lack, and from a smaller C."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import PREDICTED
from msvm_select.records import Dual
from msvm_select.solvers.exact import exchange, solver
from msvm_select.solvers.exact.classes import by_classes
from msvm_select.solvers.exact.common import (
    CommonFactor,
    FewHeld,
    common_operations,
)
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.leave_out import tableau
from tests.conftest import blobs
from tests.solvers.test_classes import PROBLEMS, dual_of
from tests.solvers.test_leave_one_out import (
    assert_same_answers,
    by_retraining,
    judged,
    random_problem,
    standardised,
)


@pytest.fixture
def system():
    """K, classes, free arcs (a few lack, and all of one sample), a right-hand side."""
    rng = np.random.default_rng(3)
    Q, m = 5, 40
    y = np.sort(np.arange(m) % Q)
    free = rng.random((Q, m)) < 0.9
    free[:, 7] = False
    free[y, np.arange(m)] = False
    owed = rng.normal(size=Q)
    gram = Rbf(0.8).gram(rng.normal(size=(m, 4)))
    return gram, y, free, rng.normal(size=(Q, m)), owed - owed.mean()


def test_the_step_is_that_of_the_factors_by_class(system):
    """As are the biases, up to what is added to all."""
    gram, y, free, g, owed = system
    factor = CommonFactor.of(gram, free, None)
    assert 7 not in factor.rows
    step, b = factor.solve(y, free, g, owed)
    expected, level, _ = by_classes(gram, y, free, g, owed)
    np.testing.assert_allclose(step, expected, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(b - b.mean(), level - level.mean(), atol=1e-10)
    assert not step[~free].any()


def test_a_factor_serves_on_while_samples_go(system):
    """One of more samples solves the same system; one of fewer does not hold."""
    gram, y, free, g, owed = system
    whole = CommonFactor.of(gram, np.arange(5)[:, None] != y, None)
    assert whole.holds(free)
    assert not CommonFactor.of(gram, free, None).holds(np.arange(5)[:, None] != y)
    step, _ = whole.solve(y, free, g, owed)
    expected, _ = CommonFactor.of(gram, free, None).solve(y, free, g, owed)
    np.testing.assert_allclose(step, expected, rtol=0.0, atol=1e-10)
    assert common_operations(free, whole) <= common_operations(free, None)


def test_a_matrix_that_is_singular_has_none(system):
    """Twins of two classes leave no solution that K bears out."""
    _, y, free, g, owed = system
    gram = Rbf(0.8).gram(np.zeros((40, 4)))
    with pytest.raises(np.linalg.LinAlgError):
        CommonFactor.of(gram, free, None).solve(y, free, g, owed)


@pytest.mark.parametrize("gamma", [0.5, 4.0])
@pytest.mark.parametrize("road", ["common", "none"])
def test_along_C_as_from_nothing(gamma, road):
    """A machine begun at a smaller C is the one trained without: outputs and biases."""
    data = standardised(blobs(50, 5, seed=31))
    gram, last = Rbf(gamma).gram(data.X), None
    inf = {"none": np.inf, "common": 0.0}[road]
    for C in (0.1, 1.0, 20.0):
        with (
            patch.object(exchange, "common_operations", lambda *_: inf),
            patch.object(solver, "EXCHANGE_FROM", 5),
            patch.object(solver, "FEW_AT_TOP", 1.0),
        ):
            last = Exact().solve(Dual(gram, data.y, data.Q, C), last)
        with patch.object(solver, "EXCHANGE_FROM", 10**9):
            cold = Exact().solve(Dual(gram, data.y, data.Q, C))
        assert last.converged
        assert last.gap <= 1e-10
        np.testing.assert_allclose(last.F, cold.F, rtol=0.0, atol=1e-8)
        np.testing.assert_allclose(last.b, cold.b, rtol=0.0, atol=1e-7)


def with_twins(draw: np.random.Generator) -> tuple:
    """K of 40 samples of which ten stand twice, a gradient that their F explains."""
    Q, m = 5, 40
    X = draw.normal(size=(m, 4))
    X[30:] = X[:10]
    y = np.arange(m) % Q
    y[30:] = y[:10]
    order = np.argsort(y, kind="stable")
    gram, y = Rbf(0.8).gram(X[order]), y[order]
    F = (gram.matrix @ draw.normal(size=(m, Q))).T
    free = draw.random((Q, m)) < 0.9
    free[y, np.arange(m)] = False
    return gram, y, free, 1.0 - F[y, np.arange(m)] + F


@pytest.mark.parametrize("road", ["common", "by class"])
def test_twins_are_solved_to_rounding(road):
    """The flow is balanced and no gain is left, though K has no inverse."""
    gram, y, free, g = with_twins(np.random.default_rng(8))
    owed = np.zeros(5)
    if road == "common":
        step, b = CommonFactor.of(gram, free, None).solve(y, free, g, owed)
    else:
        step, b, _ = by_classes(gram, y, free, g, owed)
    tau = -step
    tau[y, np.arange(y.size)] = step.sum(axis=0)
    F = tau @ gram.matrix
    left = g - (F[y, np.arange(y.size)] - F) - (b[y] - b[:, None])
    assert np.abs(left[free]).max() < 1e-10
    assert np.abs(tau.sum(axis=1)).max() < 1e-11 * np.abs(tau).max()


@pytest.fixture
def by_inverse(monkeypatch):
    """However many arcs are held; the samples that K^-1 settles are listed."""
    monkeypatch.setattr("msvm_select.solvers.exact.common.MOST_HELD", (1.0, np.inf))
    monkeypatch.setattr(tableau, "ALL_WATCHED", -1)
    found: list[int] = []
    without = FewHeld.without

    def noted(self, samples, answer, *others):
        def also(some, *told):
            found.extend(some.tolist())
            answer(some, *told)

        without(self, samples, also, *others)

    monkeypatch.setattr(FewHeld, "without", noted)
    return found


@pytest.mark.parametrize("name", ["five", "twelve", "tiny", "duplicates"])
@pytest.mark.parametrize(("gamma", "C"), [(6.0, 0.1), (6.0, 50.0), (60.0, 3.0)])
def test_left_out_by_the_inverse_as_by_retraining(name, gamma, C, by_inverse):
    """The same answers at rough kernels, also with alpha at C and at 0 beside."""
    dual = dual_of(PROBLEMS[name], gamma, C)
    left_out = judged(dual)
    assert_same_answers(left_out, by_retraining(dual))
    if gamma == 60.0 and name != "duplicates":  # these make K singular
        assert len(by_inverse) >= 0.5 * left_out.count(PREDICTED) > 0


@pytest.mark.parametrize("seed", range(40, 60))
def test_left_out_by_the_inverse_on_random_problems(seed, by_inverse):
    """Likewise: any kernel, classes of one sample, twins of other classes."""
    dual, _ = random_problem(seed)
    assert_same_answers(judged(dual), by_retraining(dual))


def test_where_all_arcs_are_free_no_table_is_built(by_inverse, monkeypatch):
    """K near the identity: all are settled, in several threads as in one."""
    monkeypatch.setattr(tableau, "build", None)
    monkeypatch.setattr("msvm_select.solvers.exact.common.ALPHA_AT_ONCE", 500.0)
    dual = dual_of(PROBLEMS["five"], 60.0, 100.0)
    full = Exact().solve(dual)
    one, two = (Exact().leave_out(full, jobs=jobs) for jobs in (1, 2))
    assert len(by_inverse) == 2 * dual.m
    assert_same_answers(one, by_retraining(dual))
    np.testing.assert_array_equal(one.margins, two.margins)


def test_many_held_arcs_are_another_roads(by_inverse, monkeypatch):
    """Its systems would cost more than they save."""
    monkeypatch.setattr("msvm_select.solvers.exact.common.MOST_HELD", (0.05, 0.5))
    judged(dual_of(PROBLEMS["five"], 0.7, 3.0))
    assert not by_inverse
