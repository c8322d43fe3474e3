"""The smallest enclosing ball, by its certificate, by hand and by an outside solver."""

from __future__ import annotations

import numpy as np
import pytest
import qpsolvers
import scipy.sparse as sp

from msvm_select.geometry.ball import smallest_ball
from msvm_select.kernels.inner_products import Linear, Polynomial
from msvm_select.kernels.rbf import Rbf
from msvm_select.records import Gram
from tests.conftest import table

POINTS = np.random.default_rng(3).standard_normal((300, 6))
TWICE = np.vstack([POINTS[:100], POINTS[:100], POINTS[:100]])
LATTICE = np.random.default_rng(4).integers(0, 3, (200, 4)).astype(float)
SETS = {"plain": POINTS, "duplicates": TWICE, "lattice": LATTICE}
KERNELS = [
    *(Rbf(gamma) for gamma in (1e-6, 1e-3, 0.03, 0.3, 1.0, 10.0)),
    *(Linear(), Polynomial(1.0, 3, 1.0)),
]


def whole(kernel, X) -> Gram:
    """The Gram matrix, never as a factor."""
    return Gram(whole=kernel.between(X, X))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_certificate(name, kernel):
    """Weights on the simplex; every point within; R^2 to a relative gap of 1e-8."""
    gram = whole(kernel, SETS[name])
    ball = smallest_ball(gram)
    assert ball.beta.min() >= 0.0
    assert ball.beta.sum() == pytest.approx(1.0, rel=1e-12)
    assert ball.gap <= 1e-8
    K, beta = gram.matrix, ball.beta
    distances = gram.diagonal - 2.0 * K @ beta + beta @ K @ beta
    value = beta @ gram.diagonal - beta @ K @ beta
    rounding = 1e-13 * gram.diagonal.max()
    assert distances.max() <= ball.diameter**2 / 4.0 + rounding
    assert distances.max() - value <= 1e-8 * value + rounding
    on_it = distances[ball.support]
    assert on_it.min() >= value * (1.0 - 1e-6) - rounding


@pytest.mark.parametrize("kernel", [Rbf(0.03), Rbf(0.5), Linear()], ids=str)
def test_an_outside_solver_agrees(kernel):
    """The dual as a quadratic program for an interior point."""
    gram = whole(kernel, POINTS[:80])
    found = qpsolvers.solve_qp(
        sp.csc_matrix(2.0 * gram.matrix), -gram.diagonal,
        A=sp.csc_matrix(np.ones((1, 80))), b=np.ones(1), lb=np.zeros(80),
        ub=np.ones(80), solver="clarabel", tol_gap_abs=1e-12, tol_gap_rel=1e-12,
    )  # fmt: skip
    value = gram.diagonal @ found - found @ gram.matrix @ found
    assert smallest_ball(gram).diameter == pytest.approx(2.0 * value**0.5, rel=1e-8)


def test_by_hand():
    """A segment, an obtuse triangle, a square with its centre, a simplex."""
    segment = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 0.5]])
    ball = smallest_ball(whole(Linear(), segment))
    assert ball.diameter == pytest.approx(4.0, rel=1e-10)
    assert ball.support.tolist() == [0, 1]
    square = np.array([[1.0, 1], [-1, 1], [1, -1], [-1, -1], [0, 0]]) + 7.0
    found = smallest_ball(whole(Linear(), square))
    assert found.diameter == pytest.approx(8.0**0.5, rel=1e-8)
    assert 4 not in found.support
    simplex = smallest_ball(Gram(whole=np.eye(40)))
    assert simplex.diameter == pytest.approx(2.0 * (39.0 / 40.0) ** 0.5, rel=1e-10)
    assert simplex.support.size == 40


@pytest.mark.parametrize("m", [1, 5])
def test_points_that_are_one(m):
    """One point, or several at one place, have the diameter 0."""
    point = np.full((m, 2), 3.0)
    for gram in (whole(Linear(), point), Gram(factor=point), whole(Rbf(1.0), point)):
        ball = smallest_ball(gram)
        assert ball.diameter == pytest.approx(0.0, abs=1e-6)
        assert ball.gap == 0.0


def test_a_factor_is_never_multiplied_out():
    """K = Z Z' gives the ball of K, without the m x m matrix."""
    Z = np.random.default_rng(0).standard_normal((3000, 5)) + 100.0
    gram = Gram(factor=Z)
    ball = smallest_ball(gram)
    assert "matrix" not in vars(gram)
    centre = ball.beta @ Z
    assert np.linalg.norm(Z - centre, axis=1).max() * 2 == pytest.approx(ball.diameter)
    assert ball.gap <= 1e-8
    some = np.arange(0, 3000, 10)
    expected = smallest_ball(whole(Linear(), Z[some] - 100.0))
    assert smallest_ball(gram, some).diameter == pytest.approx(expected.diameter)


@pytest.mark.parametrize(
    "kernel", [Rbf(0.1), Rbf(2.0), Polynomial(1.0, 2, 1.0)], ids=str
)
def test_warm_is_cold(kernel):
    """A start, of whichever points, saves work and changes nothing."""
    gram = whole(kernel, table("wine")[0])
    whole_ball = smallest_ball(gram)
    for some in (np.arange(0, 178, 2), np.arange(60), whole_ball.support):
        cold = smallest_ball(gram, some)
        again = smallest_ball(gram, some, cold)
        for warm in (smallest_ball(gram, some, whole_ball), again):
            assert warm.diameter == pytest.approx(cold.diameter, rel=1e-8)
            assert warm.gap <= 1e-8
            assert np.isin(warm.support, some).all()
        assert again.beta is cold.beta
    assert smallest_ball(gram, start=cold).diameter >= cold.diameter
    tied = smallest_ball(gram, whole_ball.support, whole_ball)
    assert tied.diameter == pytest.approx(whole_ball.diameter, rel=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_a_start_that_lost_a_point_is_solved_again(seed):
    """The start's other points need not be the best weights of what remains."""
    Z = np.random.default_rng(seed).standard_normal((12, 2))
    gram = Gram(factor=Z)
    whole_ball = smallest_ball(gram)
    some = np.setdiff1d(np.arange(12), whole_ball.support[:1])
    warm = smallest_ball(gram, some, whole_ball)
    assert warm.gap <= 1e-8
    assert warm.diameter == pytest.approx(smallest_ball(gram, some).diameter, rel=1e-8)
