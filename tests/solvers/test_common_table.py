"""The table that the inverse of K makes, where few arcs are not free."""

from __future__ import annotations

import numpy as np
import pytest

from msvm_select.kernels.rbf import Rbf
from msvm_select.records import Dual, Gram
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.leave_out import tableau
from tests.conftest import blobs
from tests.solvers.test_leave_one_out import (
    assert_same_answers,
    by_retraining,
    random_problem,
    trained,
)


@pytest.mark.parametrize(("Q", "C", "gamma"), [(3, 0.5, 0.6), (5, 0.3, 1.0)])
def test_it_is_that_of_the_dense_road(
    monkeypatch: pytest.MonkeyPatch, Q: int, C: float, gamma: float
) -> None:
    """Every row, those of variables at a bound too, and how r falls with a sample."""
    common, held = tableau._of_common_inverse, []

    def both(gram: Gram, Q: int, arcs: tableau._Arcs) -> tableau.Tableau:
        one, other = common(gram, Q, arcs), tableau._dense(gram, Q, arcs)
        assert other is not None
        at_bounds = np.arange(one.alpha_M.size, one.width)
        rows = np.vstack((other.kept[: other.given], other.respond(at_bounds)))
        assert one.kept == pytest.approx(rows, abs=1e-9 * np.abs(rows).max())
        samples = np.arange(gram.m)
        assert one.fall(samples) == pytest.approx(other.fall(samples), abs=1e-9)
        held.append(at_bounds.size)
        return one

    monkeypatch.setattr(tableau, "_of_common_inverse", both)
    problem = blobs(24, Q, seed=3)
    dual = Dual(Rbf(gamma).gram(problem.X), problem.y, Q, C)
    Exact().leave_out(Exact().solve(dual), every_margin=True)
    assert len(held) == 1
    assert held[0] > 0


@pytest.mark.parametrize(
    ("road", "seed"),
    [("common", 437), ("common", 999), ("classes", 20), ("classes", 36)],
)
def test_what_no_inverse_of_all_says_is_proven(
    monkeypatch: pytest.MonkeyPatch, road: str, seed: int
) -> None:
    """Where few alpha are free, and the other margins are not asked for, either."""
    common = property(lambda arcs: road == "common")
    monkeypatch.setattr(tableau._Arcs, "common_is_cheaper", common)
    monkeypatch.setattr(tableau, "A_WHOLE_CLASS", -1e12)
    dual, _ = random_problem(seed)
    left_out, expected = Exact().leave_out(trained(dual)), by_retraining(dual)
    expected[left_out.untold] = np.nan
    assert_same_answers(left_out, expected)
