"""The system split by class against the dense one, in training and in leaving out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from msvm_select.geometry.arcs import Arcs
from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import RETRAINED
from msvm_select.records import Dual, Floats, Mask
from msvm_select.solvers.exact import classes
from msvm_select.solvers.exact.exchange import Problem, refined
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.exact.together import Together
from msvm_select.solvers.leave_out import tableau
from tests.conftest import blobs, crossed, with_duplicates, with_tiny_classes
from tests.solvers.test_leave_one_out import (
    assert_same_answers,
    by_retraining,
    judged,
    random_problem,
    standardised,
    trained,
)

PROBLEMS = {
    "two": standardised(blobs(30, 2, seed=21)),
    "five": standardised(blobs(40, 5, seed=22)),
    "twelve": standardised(blobs(36, 12, seed=23)),
    "tiny": standardised(with_tiny_classes(blobs(20, 3, seed=24))),
    "duplicates": standardised(with_duplicates(blobs(20, 4, seed=25))),
}
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
GAMMAS = (0.05, 0.7, 6.0)
every_rbf = pytest.mark.parametrize("gamma", GAMMAS)


def dual_of(problem, gamma: float, C: float) -> Dual:
    """The problem at one cell."""
    return Dual(Rbf(gamma).gram(problem.X), problem.y, problem.Q, C)


@pytest.fixture
def always(monkeypatch):
    """Split by class however few variables are free, and watch few of the others."""
    monkeypatch.setattr(tableau, "ALL_WATCHED", -1)
    monkeypatch.setattr(tableau, "WITH_TWINS", -1)
    monkeypatch.setattr(tableau, "WATCHED", 0.5)
    monkeypatch.setattr(tableau, "LEAST_WATCHED", 3)


def test_classes_of_the_same_samples_share_one_inverse():
    """Where every arc is free the closed form solves the system as a whole does."""
    rng = np.random.default_rng(5)
    m, Q = 30, 4
    gram, y = Rbf(0.5).gram(rng.normal(size=(m, 5))), np.sort(np.arange(m) % Q)
    factor = classes.ClassFactor.of(gram, y, np.arange(Q)[:, None] != y)
    assert factor.alike
    assert all(R is factor.own[0] for R in factor.own)
    t, s = rng.normal(size=(factor.size, 3)), rng.normal(size=(Q, 3))
    s -= s.mean(axis=0)
    d, b = factor.solve(t, s)
    size = Q * m
    system = np.zeros((size + Q + m, size + Q + m))
    system[:size, :size] = np.kron(np.eye(Q), gram.matrix)
    system[:size, size : size + Q] = np.kron(np.eye(Q), np.ones((m, 1)))
    system[:size, size + Q :] = np.kron(np.ones((Q, 1)), np.eye(m))
    system[size:] = system[:, size:].T
    right = np.vstack([t, s, np.zeros((m, 3))])
    known = np.linalg.lstsq(system, right, rcond=1e-13)[0]
    assert np.abs(known[:size] - d).max() < 1e-10
    assert np.ptp(b - known[size : size + Q], axis=0).max() < 1e-10


def test_some_classes_of_the_same_samples_share_theirs(monkeypatch):
    """The others keep their own, and nothing is lost."""
    monkeypatch.setattr(classes, "FEW_LACKING", 0.0)
    rng = np.random.default_rng(6)
    m, Q = 24, 3
    gram, y = Rbf(0.5).gram(rng.normal(size=(m, 5))), np.sort(np.arange(m) % Q)
    free = np.arange(Q)[:, None] != y
    free[0, 20:] = False
    factor = classes.ClassFactor.of(gram, y, free)
    assert not factor.alike
    assert factor.own[1] is factor.own[2]
    assert factor.own[0].shape != factor.own[1].shape
    assert factor.error < 1e-10


@every_problem
@every_rbf
def test_one_system_solved_in_two_ways(problem, gamma):
    """The step and the biases of the dense system; what is left of it is rounding.

    The gradient is one that some outputs explain: of twins no other has a solution.
    """
    rng = np.random.default_rng(7)
    order = np.argsort(problem.y, kind="stable")
    y, gram = problem.y[order], Rbf(gamma).gram(problem.X[order])
    free = rng.random((problem.Q, y.size)) < 0.4
    free[y, np.arange(y.size)] = False
    F, owed = (
        (gram.matrix @ rng.normal(size=free.T.shape)).T,
        rng.normal(size=problem.Q),
    )
    g = F[y, np.arange(y.size)] - F
    owed -= owed.mean()
    found, b, _ = classes.by_classes(gram, y, free, g, owed)
    arcs = Arcs.where(free.T, y)
    step, right = found[arcs.heads, arcs.rows], g[arcs.heads, arcs.rows]
    H, A = arcs.hessian(gram, problem.Q), arcs.incidence(problem.Q)
    scale = max(1.0, np.abs(found).max())
    assert np.abs(H @ step + A @ b - right).max() <= 1e-11 * scale
    assert np.abs(A.T @ step + owed).max() <= 1e-11 * scale
    if np.linalg.cond(H) < 1e6:
        whole = np.block([[H, A], [A.T, np.zeros((problem.Q, problem.Q))]])
        expected = np.linalg.lstsq(whole, np.r_[right, -owed], rcond=1e-14)[0]
        both = np.r_[step, b - b.mean()]
        np.testing.assert_allclose(both, expected, rtol=0.0, atol=1e-9 * scale)


def test_the_inverses_of_classes_that_lack_few_samples():
    """Those of the blocks themselves, though they are made from that of all."""
    draw = np.random.default_rng(4)
    X, y = draw.normal(size=(60, 4)), np.sort(draw.integers(0, 5, 60))
    free = draw.random((5, 60)) < 0.96
    free[y, np.arange(60)] = False
    gram = Rbf(0.7).gram(X)
    factor = classes.ClassFactor.of(gram, y, free)
    assert not factor.alike
    assert factor.whole is not None
    for k, at in enumerate(factor.members):
        block, one = gram.block(factor.rows[at], factor.rows[at]), np.eye(at.size)
        np.testing.assert_allclose(factor.answer(k, block), one, atol=1e-11)
        R = factor.columns(k, np.arange(at.size))
        np.testing.assert_allclose(R @ block, one, atol=1e-11)
        np.testing.assert_allclose(R.sum(axis=1), factor.U[at, k], atol=1e-10)
    total = np.zeros((factor.rows.size, factor.rows.size))
    for k, at in enumerate(factor.members):
        total[np.ix_(at, at)] += factor.columns(k, np.arange(at.size))
    np.testing.assert_allclose(factor.T @ total, np.eye(len(total)), atol=1e-11)
    known = factor.whole.R @ factor.T
    np.testing.assert_allclose(factor.whole.by_total, known, atol=1e-11)
    assert factor.error < 1e-10


@pytest.mark.parametrize(
    ("problem", "gamma", "C"), crossed(PROBLEMS, GAMMAS, [0.1, 3.0, 1e3])
)
def test_left_out_by_classes_as_by_retraining(problem, gamma, C, always):
    """The same answers as training without each sample from nothing."""
    dual = dual_of(problem, gamma, C)
    assert_same_answers(judged(dual), by_retraining(dual))


@pytest.mark.parametrize("seed", range(12))
def test_left_out_by_classes_on_random_problems(seed, always):
    """Likewise: any kernel, classes of one sample, twins of other classes."""
    dual, _ = random_problem(seed)
    assert_same_answers(judged(dual), by_retraining(dual))


@pytest.mark.parametrize("gamma", [0.05, 0.7])
def test_twins_of_other_classes_are_not_all_trained_anew(gamma, always):
    """Samples at one place that are of two classes: the factor takes the first one."""
    draw = np.random.default_rng(5)
    y = draw.integers(0, 6, 90)
    X = draw.normal(size=(90, 4)) + 1.4 * draw.normal(size=(6, 4))[y]
    X[50:56] = X[40:46]
    dual = Dual(Rbf(gamma).gram(X), y, 6, 8.0)
    left_out = judged(dual)
    assert_same_answers(left_out, by_retraining(dual, some=slice(40, 56)))
    assert_same_answers(left_out, by_retraining(dual, some=slice(0, None, 9)))
    assert np.count_nonzero(left_out.road == RETRAINED) <= 0.2 * dual.m


@pytest.mark.parametrize("seed", [20, 189, 291, 488])
def test_alpha_that_are_rounding_do_not_hold_the_biases(seed, always):
    """Where the biases of a left-out machine are no single point, the centre counts."""
    dual, _ = random_problem(seed)
    assert_same_answers(judged(dual), by_retraining(dual))


def test_what_was_not_watched_is_found(always, monkeypatch):
    """With nearly nothing watched the answers stay, and few are trained anew."""
    monkeypatch.setattr(tableau, "WATCHED", 0.01)
    dual = dual_of(PROBLEMS["five"], 0.7, 3.0)
    left_out = judged(dual)
    assert_same_answers(left_out, by_retraining(dual))
    again = np.count_nonzero(left_out.road == RETRAINED)
    assert again <= 0.2 * dual.m


def test_training_takes_the_classes_where_they_are_cheaper(monkeypatch):
    """A machine with many free variables and classes: the same optimum either way."""
    dual = dual_of(PROBLEMS["twelve"], 6.0, 3.0)
    expected = trained(dual)
    called = []

    def noted(*given):
        called.append(1)
        return classes.by_classes(*given)

    monkeypatch.setattr("msvm_select.solvers.exact.exchange.by_classes", noted)
    monkeypatch.setattr("msvm_select.solvers.exact.exchange.LEAST_PRODUCTS", np.inf)
    monkeypatch.setattr(
        "msvm_select.solvers.exact.exchange.class_operations", lambda y, free: -1.0
    )
    found = Exact().solve(dual)
    assert called
    assert found.gap <= 1e-8
    np.testing.assert_allclose(found.F, expected.F, atol=1e-7)


class Face(NamedTuple):
    """The solution of a face that is not that of the optimum."""

    free: Mask
    alpha: Floats
    breach: Floats
    factor: classes.ClassFactor


def wrong_face(machine, turned) -> Face:
    """Of the optimum's face with some statuses turned (class-sorted samples)."""
    dual = machine.dual
    y, gram, alpha = dual.y, dual.gram, machine.alpha.T.copy()
    others = np.ones(alpha.shape, bool)
    others[y, np.arange(y.size)] = False
    free = ((alpha > 0.0) & (alpha < dual.box)) ^ (turned & others)
    alpha = np.where(free, alpha, np.where(alpha > 0.5 * dual.box, dual.box, 0.0))
    some = Problem(gram, y, dual.Q, dual.box)
    g = 1.0 - some.gradient_of(some.outputs(alpha))
    owed = some.tau(alpha).sum(axis=0)
    step, b, factor = classes.by_classes(gram, y, free, g, owed)
    alpha = alpha + step
    breach = 1.0 - some.gradient_of(some.outputs(alpha)) - (b[y] - b[:, None])
    return Face(free, alpha, breach, factor)


@pytest.fixture(params=[(seed, gamma) for seed in range(6) for gamma in (0.7, 0.1)])
def beside(request):
    """A trained machine of five classes, and a face beside that of its optimum."""
    seed, gamma = request.param
    problem = standardised(blobs(40, 5, seed=30 + seed))
    order = np.argsort(problem.y, kind="stable")
    gram = Rbf(gamma).gram(problem.X[order])
    machine = trained(Dual(gram, problem.y[order], problem.Q, 2.0))
    draw = np.random.default_rng(seed)
    turned = draw.random((problem.Q, problem.y.size)) < 0.04
    assert turned.any()
    return machine, wrong_face(machine, turned)


@pytest.mark.parametrize("asked", [1, 10**6])
def test_exchanges_around_a_factor_end_in_the_optimum(beside, asked):
    """With no factor but that of the wrong face; of a smooth kernel in steps alone.

    Whether rows of R are made as they are read, or all at once.
    """
    machine, face = beside
    y, gram, box = machine.dual.y, machine.dual.gram, machine.dual.box
    entry = np.where(face.free, face.factor.places(y.size), -1)
    given = (gram, y, face.alpha, face.breach, entry, box)
    engine = Together.of(face.factor, *given, asked=asked)
    assert engine is not None
    found = engine.put_right()
    assert found is not None
    np.testing.assert_allclose(found, machine.alpha.T, atol=1e-8)


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_few_digits_first_where_gradients_are_conjugate(C, monkeypatch):
    """Of a rough kernel: the optimum of the direct road, to the last digit."""
    dual = dual_of(PROBLEMS["twelve"], 6.0, C)
    expected = trained(dual)
    monkeypatch.setattr("msvm_select.solvers.exact.exchange.LEAST_PRODUCTS", -1)
    monkeypatch.setattr("msvm_select.solvers.exact.exchange.CHEAPER", 1e-3)
    found = Exact().solve(dual)
    assert found.gap <= 1e-10
    np.testing.assert_allclose(found.F, expected.F, atol=1e-9)


def test_nothing_is_refined_where_nothing_is_free() -> None:
    """At a tiny C every alpha is C: the point stays."""
    y = np.arange(6) % 3
    problem = Problem(Rbf(1.0).gram(np.arange(6.0)[:, None]), y, 3, np.full(6, 1e-3))
    alpha = np.where(np.arange(3)[:, None] != y, 1e-3, 0.0)
    F = problem.outputs(alpha)
    again, same = refined(problem, alpha, F)
    np.testing.assert_array_equal(again, alpha)
    np.testing.assert_array_equal(same, F)
