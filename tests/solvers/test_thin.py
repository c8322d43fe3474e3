"""Rough kernels: what is left of K and of its inverses beside the diagonal."""

from __future__ import annotations

import numpy as np
import pytest

from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import RETRAINED
from msvm_select.records import Dual, Gram
from msvm_select.solvers.exact import thin
from msvm_select.solvers.leave_out import tableau
from tests.solvers.test_leave_one_out import assert_same_answers, by_retraining, judged


def points(m: int) -> np.ndarray:
    """In pairs and in one group of five, far from all others."""
    X = np.arange(m)[:, None] * 10.0
    X[1::2] = X[0::2] + 0.4
    X[:5] = np.linspace(0.0, 1.0, 5)[:, None]
    return X


def test_what_is_left_is_the_matrix_and_its_inverse():
    """Both as numpy has them; and they are thin indeed."""
    K = Rbf(2.0).gram(points(100)).matrix
    left, inverse = thin.thinned(K), thin.inverse_of(K, 1e-13)
    assert left.nnz < 0.04 * K.size
    assert inverse.nnz < 0.04 * K.size
    np.testing.assert_allclose(left.toarray(), K, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(inverse.toarray() @ K, np.eye(100), atol=1e-9)
    total = np.zeros((102, 102))
    thin.add_to(total, np.arange(2, 102), inverse)
    np.testing.assert_array_equal(total[2:, 2:], inverse.toarray())
    np.testing.assert_array_equal(
        thin.columns_of(inverse, np.array([3, 7])), total[2:, [5, 9]]
    )


def test_what_is_not_thin_stays():
    """A smooth kernel, a small matrix, and one that is not definite."""
    smooth = Rbf(1e-6).gram(points(100)).matrix
    assert thin.thinned(smooth) is smooth
    assert thin.thinned(np.eye(10)).shape == (10, 10)
    assert isinstance(thin.thinned(np.eye(10)), np.ndarray)
    twins = np.kron(np.eye(50), np.ones((2, 2)))
    with pytest.raises(np.linalg.LinAlgError):
        thin.inverse_of(twins - 0.1 * np.eye(100), 0.0)
    gram = Gram(factor=points(100))
    assert thin.thin_gram(gram) is gram


def test_products_are_those_of_the_matrix():
    """K tau, of one and of many."""
    gram = Rbf(2.0).gram(points(100))
    found, tau = thin.thin_gram(gram), np.random.default_rng(0).normal(size=(3, 100, 4))
    assert isinstance(found, thin.ThinGram)
    np.testing.assert_allclose(found.product(tau[0]), gram.product(tau[0]), atol=1e-14)
    np.testing.assert_allclose(found.products(tau), gram.products(tau), atol=1e-14)


@pytest.mark.parametrize("C", [0.3, 5.0])
def test_left_out_of_a_rough_kernel_as_by_retraining(C, monkeypatch):
    """Every sample a support vector, every arc free, pairs that hang together."""
    monkeypatch.setattr(tableau, "ALL_WATCHED", -1)
    draw = np.random.default_rng(1)
    X, y = points(110), draw.integers(0, 3, 110)
    dual = Dual(Rbf(2.0).gram(X), y, 3, C)
    found = judged(dual)
    assert_same_answers(found, by_retraining(dual))
    assert np.count_nonzero(found.road == RETRAINED) <= 5
