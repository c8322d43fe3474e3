"""The bounds of the lecture notes, against numbers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from msvm_select.columns import Row
from msvm_select.criteria.base import Constants
from msvm_select.criteria.risk_bounds import (
    Compression,
    VcDimension,
    VcTerms,
    compression,
    compression_bound,
    vc,
    vc_risk,
)
from msvm_select.kernels.inner_products import Linear, Polynomial
from msvm_select.kernels.rbf import Rbf
from msvm_select.machines.losses import Quadratic
from msvm_select.records import Dataset, Dual, Scaling
from msvm_select.results.ranking import rank
from msvm_select.solvers.qp import Qp
from tests.conftest import Problem
from tests.criteria.test_criteria import Cell, at, cell_of


def star() -> Problem:
    """(2, 0), (2.5, 0), (3, 0), turned by 0, 120 and 240 degrees, a class an arm."""
    turns = np.deg2rad([0.0, 120.0, 240.0])
    u = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    X = np.concatenate([2.0 * u, 2.5 * u, 3.0 * u])
    return Problem(X, np.tile(np.arange(3), 3), 3)


def raw(problem: Problem, kernel=None, C: float = 100.0) -> Cell:
    """A cell of the samples as they are."""
    kernel = kernel or Linear()
    features = tuple(f"x{j}" for j in range(problem.X.shape[1]))
    data = Dataset(problem.X, problem.y, tuple("abc"[: problem.Q]), features)
    scaling = Scaling.fit(data.X, "none")
    dual = Dual(kernel.gram(data.X), problem.y, problem.Q, C)
    return Cell(data, scaling, kernel, Qp(), Qp().solve(dual))


def test_the_compression_bound_by_hand() -> None:
    """s = 2, m = 10, delta = 0.05: (2 (1 + ln 5) + ln 200) / 8."""
    expected = (2.0 * (1.0 + math.log(5.0)) + math.log(200.0)) / 8.0
    assert compression_bound(2, 10, 0.05) == pytest.approx(expected)
    assert expected == pytest.approx(1.314650, abs=1e-6)
    assert compression_bound(0, 10, 0.05) == pytest.approx(math.log(200.0) / 10.0)
    assert compression_bound(10, 10, 0.05) == math.inf


def test_the_compression_bound_counts_sets_of_samples() -> None:
    """Its first term is no less than the logarithm of m over s."""
    for m, s in ((10, 3), (50, 20), (150, 149)):
        sets = compression_bound(s, m, 1.0) * (m - s) - math.log(m)
        assert sets >= math.log(math.comb(m, s))


def test_the_compression_column(three) -> None:
    """s is the number of support vectors; nothing where all samples are."""
    cell = cell_of(three, Rbf(0.01), C=5.0)
    terms = compression(cell)
    assert terms.n_sv == cell.solution.n_sv < three.y.size
    assert terms.applicable == cell.solution.b_unique
    assert Compression().score(cell).columns == {"compression_bound": terms.value}
    assert terms.vacuous == (terms.value >= 1.0)
    everyone = cell_of(three, Rbf(300.0), C=1.0)
    assert everyone.solution.n_sv == three.y.size
    assert Compression().score(everyone).columns == {"compression_bound": None}


def test_the_support_vectors_alone_make_the_machine(three) -> None:
    """What the bound rests on: training on them gives w and b again."""
    cell = cell_of(three, Rbf(0.01), C=5.0)
    keep = np.flatnonzero(cell.solution.is_support_vector)
    dual = cell.solution.dual
    some = Problem(dual.gram.matrix[np.ix_(keep, keep)], three.y[keep], 3)
    again = raw(some, C=5.0).solver.solve(
        Dual(replace(dual.gram, whole=some.X), some.y, 3, 5.0)
    )
    assert cell.solution.b_unique
    assert np.abs(again.outputs - cell.solution.outputs[keep]).max() < 1e-5
    assert (np.delete(cell.solution.margins, keep) >= 1.0 - 1e-6).all()


def test_the_vc_dimension_of_the_star() -> None:
    """w_k = u_k / 3: gamma^2 = 3, and R = 3 around all nine: min(3, 2) + 1."""
    terms = vc(raw(star()))
    assert terms.margin == pytest.approx(math.sqrt(3.0), rel=1e-6)
    assert terms.radius == pytest.approx(3.0, rel=1e-6)
    assert terms.dimension == 2
    assert terms.vc_dimension == 3.0
    assert replace(terms, dimension=None).vc_dimension == 4.0
    assert terms.applicable
    assert terms.train_error == 0.0


def test_two_points_of_two_classes() -> None:
    """At distance 2: w_1 - w_2 = 1, gamma = 1 is half of it, R = 1: ceil(1) + 1 = 2."""
    two = Problem(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]), 2)
    terms = vc(raw(two))
    assert (terms.radius, terms.margin) == pytest.approx((1.0, 1.0), rel=1e-6)
    assert terms.vc_dimension == 2.0


def test_the_unit_of_length_does_not_matter() -> None:
    """R^2 / gamma^2 has no unit, as R^2 / (2 gamma) would have."""
    small, large = star(), star()
    large = replace(large, X=1000.0 * large.X)
    values = [replace(vc(raw(p)), dimension=None).vc_dimension for p in (small, large)]
    assert values[0] == values[1]


def test_the_vc_risk_by_hand() -> None:
    """e = 0.1, v = 3, m = 100, delta = 0.05; more than 2m dimensions count as 2m."""
    inside = (3.0 * (1.0 + math.log(200.0 / 3.0)) - math.log(0.0125)) / 100.0
    assert vc_risk(0.1, 3.0, 100, 0.05) == pytest.approx(0.1 + math.sqrt(inside))
    assert vc_risk(0.1, 3.0, 100, 0.05) == pytest.approx(0.54700, abs=1e-5)
    assert vc_risk(0.0, 1e9, 100, 0.05) == vc_risk(0.0, 200.0, 100, 0.05) > 1.0
    assert VcTerms(3.0, 1e-9, None, 0.0, 100, 0.05, True).vacuous
    assert not VcTerms(1.0, 1.0, None, 0.0, 1000, 0.05, True).vacuous


def test_the_vc_column_and_its_ball_along_C(three) -> None:
    """The ball is made once a kernel setting; the margin is that of each C."""
    cell, carry = cell_of(three, Rbf(0.3)), None
    balls = []
    for C in (0.01, 1.0, 100.0):
        cell = at(cell, C)
        score = VcDimension().score(cell, carry)
        assert score.columns == {"vc_dimension": vc(cell).vc_dimension}
        carry = score.carry
        balls.append(carry[1])
    assert balls[0] is balls[1] is balls[2]


def test_where_it_applies(three) -> None:
    """Only where every sample has the margin, which is told and ranked by."""
    assert not vc(cell_of(three, Rbf(0.3), C=0.01)).applicable
    assert vc(cell_of(three, Rbf(3.0), C=1e4)).applicable
    rows = [
        Row(C=1.0, vc_dimension=2.0, separable=False),
        Row(C=2.0, vc_dimension=9.0, separable=True),
    ]
    assert [row.C for row in rank(rows, "vc")] == [2.0, 1.0]


def test_the_dimension_of_the_feature_space_counts(three) -> None:
    """That of the kernel, or what is said; the rbf's is not finite."""
    cell = cell_of(three, Polynomial(1.0, 2.0), C=1.0)
    assert vc(cell).dimension == 10
    assert vc(cell_of(three, Rbf(0.3))).dimension is None
    said = replace(cell, constants=Constants(dimension=4))
    assert vc(said).vc_dimension <= 5.0


def test_delta_counts() -> None:
    """A smaller delta makes both risks larger."""
    cell = raw(star())
    surer = replace(cell, constants=Constants(delta=0.001))
    assert vc(surer).vc_risk > vc(cell).vc_risk
    assert vc(surer).vc_dimension == vc(cell).vc_dimension


def test_the_quadratic_loss_takes_the_augmented_ball() -> None:
    """Its radius is no smaller and its margin no larger than without the ridge."""
    cell = raw(star())
    dual = Quadratic().dual(cell.solution.dual.gram, cell.solution.dual.y, 3, 2.0)
    terms = vc(replace(cell, solution=cell.solver.solve(dual)))
    assert terms.radius > vc(cell).radius
    assert terms.applicable
