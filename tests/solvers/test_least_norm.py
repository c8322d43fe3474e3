"""Where many alpha are optimal, all solvers and orders of the rows end at one."""

from __future__ import annotations

import numpy as np
import pytest

from msvm_select.kernels.inner_products import Linear, Polynomial
from msvm_select.kernels.rbf import Rbf
from msvm_select.names import SOLVERS
from msvm_select.records import Dual
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.least_norm import least_norm, nearest_to_zero
from tests.conftest import table
from tests.solvers.degenerate import degenerate

SIX = np.array([[x, y] for x in (-1.0, 1.0) for y in (-1.0, 0.0, 1.0)])


@pytest.mark.parametrize("solver", ["exact", "qp"])
def test_six_points_share_the_weight(solver):
    """Two columns of three points: any split is optimal, a third each is least."""
    y = (SIX[:, 0] > 0.0).astype(np.int64)
    found = SOLVERS[solver](1e-8).solve(Dual(Linear().gram(SIX), y, 2, 10.0))
    own = found.alpha[np.arange(6), 1 - y]
    assert own == pytest.approx(np.full(6, 1.0 / 12.0), abs=1e-9)
    assert found.n_sv == 6


def test_twins_carry_the_same():
    """A point that stands twice, as rows 101 and 142 of iris do."""
    X, y = table("iris")
    found = Exact().solve(Dual(Rbf(1.0).gram(X), y, 3, 100.0))
    assert (X[101] == X[142]).all()
    assert found.alpha[101] == pytest.approx(found.alpha[142], rel=1e-6)
    assert found.gap < 1e-10


def test_samples_that_depend_on_no_other_are_not_looked_at(monkeypatch):
    """Twins among many: their alpha is what a look at all variables finds."""
    X, y = table("iris")
    X, y = np.r_[X, X[::30]], np.r_[y, y[::30]]
    dual = Dual(Rbf(1.0).gram(X), y, 3, 4.0)
    found = Exact().solve(dual)
    everything = lambda gram, rows, size: np.ones(rows.size, bool)  # noqa: E731
    monkeypatch.setattr("msvm_select.solvers.least_norm._entangled", everything)
    again = Dual(Rbf(1.0).gram(X), y, 3, 4.0)  # nothing is known of this matrix
    other = Exact().solve(again)
    assert found.alpha[:150:30] == pytest.approx(found.alpha[150:], rel=1e-6)
    assert found.alpha == pytest.approx(other.alpha, abs=1e-8)


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_alpha_does_not_depend_on_the_order_of_the_rows(first):
    """Nor n_sv and n_bounded, on small problems with twins and points of a lattice."""
    for seed in range(first, first + 40):
        X, y, Q, kernel, C = degenerate(seed)
        one = Exact().solve(Dual(kernel.gram(X), y, Q, C))
        order = np.random.default_rng(seed).permutation(y.size)
        other = Exact().solve(Dual(kernel.gram(X[order]), y[order], Q, C))
        unit = float(one.alpha.max()) or 1.0
        there = pytest.approx(one.alpha[order] / unit, abs=1e-6)
        assert other.alpha / unit == there, seed
        assert (other.n_sv, other.n_bounded) == (one.n_sv, one.n_bounded), seed
        assert other.gap <= 1e-8, seed


@pytest.mark.parametrize("seed", range(12))
def test_the_reference_solver_ends_at_the_same_alpha(seed):
    """An interior point, which has no vertices to end in."""
    X, y, Q, kernel, C = degenerate(seed)
    one, other = (
        SOLVERS[name](1e-8).solve(Dual(kernel.gram(X), y, Q, C))
        for name in ("exact", "qp")
    )
    unit = float(one.alpha.max()) or 1.0
    if other.converged:
        assert other.alpha / unit == pytest.approx(one.alpha / unit, abs=1e-5)


def test_a_unique_alpha_is_left_alone():
    """With a kernel that tells all samples apart, the very arrays are kept."""
    X, y = table("wine")
    for kernel in (Rbf(0.5), Polynomial(gamma=0.5, degree=3.0)):
        found = Exact().solve(Dual(kernel.gram(X), y, 3, 1.0))
        assert found.dual.gram.positive_definite
        assert least_norm(found) is found


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_point_is_the_nearest(seed):
    """It keeps B'x and its box, and no step along the null space of B' is shorter."""
    rng = np.random.default_rng(seed)
    n, q = 12, int(rng.integers(2, 10))
    basis = np.linalg.qr(rng.normal(size=(n, q)))[0]
    start = np.clip(rng.normal(size=n), 0.0, 1.0)
    x = nearest_to_zero(basis, start, np.ones(start.size))
    assert x is not None
    assert basis.T @ x == pytest.approx(basis.T @ start, abs=1e-10)
    assert x.min() >= 0.0
    assert x.max() <= 1.0
    null = np.linalg.svd(basis.T)[2][q:]
    for _ in range(200):
        z = np.clip(x + 0.05 * rng.normal(size=null.shape[0]) @ null, 0.0, 1.0)
        if np.abs(basis.T @ (z - x)).max() < 1e-12:
            assert z @ z >= x @ x - 1e-12
    assert x @ (start - x) >= -1e-10
