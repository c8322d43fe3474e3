"""Many samples: K in blocks gives the machine and the answers of K as a whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from msvm_select.kernels.rbf import Rbf
from msvm_select.records import Blocks, Dual, symmetric
from msvm_select.solvers.exact import shrinking
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.leave_out import tableau
from tests.conftest import blobs
from tests.solvers.test_leave_one_out import (
    assert_same_answers,
    by_retraining,
    judged,
    standardised,
    trained,
)

CLOUDS = standardised(blobs(75, 3, 2, 1.5, seed=31))
RBF = Rbf(0.5)


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """So that samples are outside of them."""
    monkeypatch.setattr(shrinking, "FIRST_SET", 15)
    monkeypatch.setattr(shrinking, "OF_A_CLASS", 4)
    monkeypatch.setattr(shrinking, "JOINING", 6)
    monkeypatch.setattr(shrinking, "FEWEST", 3)
    monkeypatch.setattr(tableau, "NEAR_MARGIN", 5)


def in_blocks(X) -> Blocks:
    """The Gram matrix that is never held."""
    return Blocks(X=X, between=RBF.between, finite=RBF.finite)


def both(C: float, weights=None) -> tuple[Dual, Dual]:
    """One problem with K whole and with K in blocks."""
    y, Q = CLOUDS.y, CLOUDS.Q
    whole = Dual(RBF.gram(CLOUDS.X), y, Q, C, weights=weights)
    return whole, replace(whole, gram=in_blocks(CLOUDS.X))


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_the_machine_is_that_of_the_whole_matrix(C):
    """Same outputs and biases, certified on all samples, alone and along C."""
    weights = np.random.default_rng(0).uniform(0.5, 2.0, CLOUDS.y.size)
    whole, blocks = both(C, weights)
    expected, found = trained(whole), trained(blocks)
    np.testing.assert_allclose(found.F, expected.F, atol=1e-7)
    np.testing.assert_allclose(found.b, expected.b, atol=1e-7)
    assert found.gap <= 1e-8
    further = Exact().solve(replace(blocks, C=2.0 * C), found)
    np.testing.assert_allclose(
        further.F, trained(replace(whole, C=2.0 * C)).F, atol=1e-7
    )


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_left_out_as_by_retraining(C):
    """Every answer, of samples inside the set and outside of it."""
    whole, blocks = both(C)
    assert_same_answers(judged(blocks), by_retraining(whole))


def test_nobody_asks_for_the_whole_matrix(monkeypatch):
    """Neither training nor leaving out; some have that of a few samples."""
    matrix = Blocks.matrix.func

    def of_few(gram):
        assert gram.m < CLOUDS.y.size
        return matrix(gram)

    monkeypatch.setattr(Blocks, "matrix", property(of_few))
    _, blocks = both(1.0)
    assert judged(blocks).y.size == CLOUDS.y.size


def test_products_and_halves_are_taken_in_blocks():
    """K tau of the rows that count; the mean of a matrix and its transpose."""
    draw = np.random.default_rng(2)
    tau = draw.normal(size=(CLOUDS.y.size, 3))
    tau[draw.random(CLOUDS.y.size) < 0.7] = 0.0
    K = RBF.gram(CLOUDS.X).matrix
    gram = in_blocks(CLOUDS.X)
    np.testing.assert_allclose(gram.product(tau), K @ tau, atol=1e-12)
    np.testing.assert_allclose(gram.product(0.0 * tau), 0.0 * tau)
    many = np.stack([tau, 2.0 * tau])
    np.testing.assert_allclose(gram.products(many), K @ many, atol=1e-12)
    A = draw.normal(size=(70, 70))
    np.testing.assert_allclose(symmetric(A.copy()), (A + A.T) / 2.0)
