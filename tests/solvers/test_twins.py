"""Samples at one place: found, trained as one, and the same machine as without that."""

from __future__ import annotations

import numpy as np
import pytest

from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import REPAIRED, RETRAINED
from msvm_select.machines.losses import Hinge
from msvm_select.machines.weston_watkins import WestonWatkins
from msvm_select.records import Dual, Gram
from msvm_select.solvers.exact import exchange
from msvm_select.solvers.exact.classes import ClassFactor
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.exact.twins import Twins, first_at_place
from msvm_select.solvers.exact.workbench import Bench
from msvm_select.solvers.leave_out import tableau
from tests.conftest import blobs
from tests.solvers.test_leave_one_out import (
    assert_same_answers,
    standardised,
    trained,
)


def some_twice(seed: int, m: int = 60, Q: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Some samples two to four times, in any order; a few of them of another class."""
    draw, problem = np.random.default_rng(seed), standardised(blobs(m, Q, seed=seed))
    again = draw.integers(0, m, m // 3)
    y = np.r_[problem.y, problem.y[again]]
    y[m : m + 3] = (y[m : m + 3] + 1) % Q
    order = draw.permutation(y.size)
    return problem.X[np.r_[np.arange(m), again]][order], y[order]


@pytest.mark.parametrize("kernel", [Rbf(0.5), Rbf(1e-4), Linear()])
def test_who_is_at_one_place_is_found(kernel) -> None:
    """By K, or by its factor: as the rows of X say."""
    X, _ = some_twice(1)
    _, first, kind = np.unique(X, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(first_at_place(kernel.gram(X)), first[kind.ravel()])
    alone = kernel.gram(np.unique(X, axis=0))
    np.testing.assert_array_equal(first_at_place(alone), np.arange(alone.m))


def test_a_kernel_that_is_constant_has_one_place() -> None:
    """And K = 0, too."""
    for K in (np.ones((6, 6)), np.zeros((6, 6))):
        np.testing.assert_array_equal(first_at_place(Gram(K)), np.zeros(6))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.05, 1, 50.0])
def test_the_machine_is_that_of_all_samples(C, weighted, monkeypatch) -> None:
    """Outputs, biases, alpha and the certificate, with weights or without."""
    for seed in range(4):
        X, y = some_twice(seed)
        weights = np.random.default_rng(seed).uniform(0.2, 3.0, y.size)
        dual = Dual(Rbf(0.4).gram(X), y, 5, C, weights=weights if weighted else None)
        found = Exact().solve(dual)
        with monkeypatch.context() as patch:
            patch.setattr(Twins, "of", lambda dual: None)
            whole = Exact().solve(dual)
        assert abs(found.gap) <= 1e-10
        assert found.flow_imbalance <= 1e-12
        assert (found.alpha <= dual.box[:, None]).all()
        np.testing.assert_allclose(found.F, whole.F, atol=1e-8)
        np.testing.assert_allclose(found.b, whole.b, atol=1e-8)
        np.testing.assert_allclose(found.alpha, whole.alpha, atol=1e-6)


def test_of_twins_no_factor_is_singular(monkeypatch) -> None:
    """Each has the small ridge: twins that stay apart would ask for a larger one."""
    sharp: list[bool] = []
    make = ClassFactor._with.__func__

    def noted(cls, *given, **kinds):
        sharp.append(kinds["sharp"])
        return make(cls, *given, **kinds)

    monkeypatch.setattr(ClassFactor, "_with", classmethod(noted))
    for other in ("_dense_operations", "_common_operations"):
        monkeypatch.setattr(exchange, other, lambda *given: np.inf)
    problem = standardised(blobs(240, 12, seed=5))
    X, y = np.r_[problem.X, problem.X[:40]], np.r_[problem.y, problem.y[:40]]
    found = Exact().solve(Dual(Rbf(0.5).gram(X), y, 12, 2.0))
    assert found.converged
    assert sharp
    assert all(sharp)


def test_what_is_sorted_for_one_C_serves_the_next(monkeypatch) -> None:
    """Also when samples are left out: both is done among the merged ones."""
    made: list[int] = []
    make = Bench.of.__func__

    def noted(cls, dual):
        made.append(dual.m)
        return make(cls, dual)

    monkeypatch.setattr(Bench, "of", classmethod(noted))
    X, y = some_twice(2)
    gram, kind, last = Rbf(0.5).gram(X), WestonWatkins(Hinge()), None
    for C in (0.1, 1.0, 3.0):
        last = kind.train(Exact(), gram, y, 5, C, last)
        kind.leave_out(Exact(), last)
    assert len(made) == 1
    assert made[0] < y.size


@pytest.mark.parametrize("weights", [None, "one a kind", "any"])
@pytest.mark.parametrize(("gamma", "C"), [(0.02, 30.0), (0.4, 0.2), (0.4, 5.0)])
@pytest.mark.parametrize("many", [False, True])
def test_who_has_twins_is_left_out_alone(gamma, C, weights, many, monkeypatch) -> None:
    """As by retraining, also where boxes differ, or where many variables are free."""
    if many:
        monkeypatch.setattr(tableau, "ALL_WATCHED", -1)
        monkeypatch.setattr(tableau, "TOGETHER_FROM", 0)
    for seed in range(3):
        X, y = some_twice(seed)
        gram = Rbf(gamma).gram(X)
        draw = np.random.default_rng(seed).uniform(0.5, 2.0, y.size)
        w = {None: None, "any": draw, "one a kind": draw[first_at_place(gram)]}[weights]
        machine = trained(Dual(gram, y, 5, C, weights=w))
        found = Exact().leave_out(machine, every_margin=True)
        expected = by_hand(machine.dual)
        assert_same_answers(found, expected)
        asked = np.arange(y.size) % 3 == 0
        some = Exact().leave_out(machine, every_margin=True, only=asked)
        np.testing.assert_allclose(some.margin[asked], found.margin[asked], atol=1e-7)


def by_hand(dual: Dual) -> np.ndarray:
    """Every sample left out of the data, and the others trained."""
    margins = np.full((dual.m, dual.Q), np.nan)
    for p in range(dual.m):
        left = np.delete(np.arange(dual.m), p)
        weights = None if dual.weights is None else dual.weights[left]
        K = np.ascontiguousarray(dual.gram.matrix[np.ix_(left, left)])
        machine = trained(Dual(Gram(K), dual.y[left], dual.Q, dual.C, weights=weights))
        h = dual.gram.matrix[p, left] @ machine.tau + machine.b
        margins[p] = h[dual.y[p]] - h
        margins[p, dual.y[p]] = np.inf
    return margins


@pytest.mark.parametrize("road", ["dense", "rows", "together"])
def test_of_twins_none_is_retrained(road, monkeypatch) -> None:
    """Overlapping classes at a large C: who leaves takes its box along, and no more."""
    if road != "dense":
        monkeypatch.setattr(tableau, "ALL_WATCHED", -1)
        monkeypatch.setattr(tableau, "TOGETHER_FROM", 0 if road == "together" else 1e9)
    draw = np.random.default_rng(0)
    X = draw.standard_normal((160, 2))
    y = (X[:, 0] + 1.5 * draw.standard_normal(160) > 0.0).astype(np.int64)
    y[X[:, 1] + draw.standard_normal(160) > 1.0] = 2
    X, y = np.r_[X, X[:30], X[:10]], np.r_[y, y[:30], y[:10]]
    machine = trained(Dual(Rbf(0.02).gram(X), y, 3, 30.0))
    found = Exact().leave_out(machine, every_margin=True)
    assert not (found.road == RETRAINED).any()
    assert (found.road[:30] == REPAIRED).any()
    assert_same_answers(found, by_hand(machine.dual))


def test_rounding_in_a_trained_machine_does_not_hold_the_biases() -> None:
    """What stays of the box is just what is asked: the centre of the biases counts."""
    X = np.array([2.0, 1.0, 2.0, 2.0, 2.0, 1.0, 2.0, 1.0, 2.0])[:, None]
    y = np.array([2, 1, 1, 1, 2, 1, 0, 2, 1])
    machine = trained(Dual(Rbf(0.25).gram(X), y, 3, 0.125))
    found = Exact().leave_out(machine, every_margin=True)
    np.testing.assert_allclose(found.margins[1], [1.5, np.inf, 0.5], atol=1e-8)


@pytest.mark.parametrize(("seed", "C"), [(8, 1 / 16), (13, 2.0), (107, 1 / 16)])
def test_places_of_two_classes_are_proven_as_well(seed, C, monkeypatch) -> None:
    """An arc that the factor lacks may have tied the classes: K tells, asked or not."""
    monkeypatch.setattr(tableau, "ALL_WATCHED", -1)
    monkeypatch.setattr(tableau, "WITH_TWINS", -1)
    monkeypatch.setattr(tableau, "TOGETHER_FROM", 0)
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 3, (24, 2)).astype(float)
    y = np.r_[np.arange(4), draw.integers(0, 4, 20)]
    machine = trained(Dual(Rbf(0.5).gram(X), y, 4, C))
    asked = Exact().leave_out(machine)
    proven = Exact().leave_out(machine, every_margin=True)
    known = ~asked.untold
    np.testing.assert_allclose(asked.margin[known], proven.margin[known], atol=1e-7)
