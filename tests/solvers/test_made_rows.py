"""Rows of the tableau that K makes while samples are left out, or before."""

from __future__ import annotations

import numpy as np
import pytest

from msvm_select.kernels.base import Kernel
from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import LeftOut
from msvm_select.records import Dual
from msvm_select.solution import Solution
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.leave_out import every_sample, tableau
from tests.conftest import blobs


def answers(
    found: Solution, monkeypatch: pytest.MonkeyPatch, most: int, ahead: float = np.inf
) -> LeftOut:
    """Every margin, where rows may be made up to so many samples.

    ``ahead``: so many numbers in rows are made at once, and before.
    """
    monkeypatch.setattr(tableau, "MADE_BY_K", most)
    monkeypatch.setattr("msvm_select.solvers.leave_out.rows.MADE_AHEAD", ahead)
    monkeypatch.setattr(tableau, "FAR_FEWER", np.inf)  # a common table has all rows
    return Exact().leave_out(found, every_margin=True)


@pytest.mark.parametrize(
    ("kernel", "Q", "C"), [(Rbf(0.3), 4, 2.0), (Rbf(1.0), 3, 0.3), (Linear(), 3, 1.0)]
)
def test_they_are_those_of_the_factor(
    monkeypatch: pytest.MonkeyPatch, kernel: Kernel, Q: int, C: float
) -> None:
    """All rows that were made, by the road that makes many at once."""
    held: list[every_sample.Rows] = []

    class Kept(every_sample.Rows):
        def __init__(self, *given) -> None:
            super().__init__(*given)
            held.append(self)

    monkeypatch.setattr(every_sample, "Rows", Kept)
    problem = blobs(40, Q, seed=5)
    found = Exact().solve(Dual(kernel.gram(problem.X), problem.y, Q, C))
    answers(found, monkeypatch, 500)
    (kept,) = held
    made = np.flatnonzero(kept.store.at >= kept.tableau.given)
    assert kept.makes
    assert made.size
    rows, theirs = kept.store.rows[kept.store.at[made]], kept.tableau.respond(made)
    assert rows == pytest.approx(theirs, abs=1e-9 * np.abs(theirs).max())


@pytest.mark.parametrize("seed", range(4))
def test_margins_are_those_without_them(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Whoever makes the rows, the machines without a sample are the same."""
    problem = blobs(30, 3, seed=seed)
    dual = Dual(Rbf(0.5).gram(problem.X), problem.y, 3, 10.0 ** (seed - 1))
    found = Exact().solve(dual)
    others = answers(found, monkeypatch, 0).margins
    for ahead in (0.0, np.inf):
        margins = answers(found, monkeypatch, 500, ahead).margins
        assert margins == pytest.approx(others, abs=1e-8)


def test_one_variable_that_is_not_free_among_eight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """X = KKT^-1 [H_MN; A_N'], one column of 64-byte rows: numpy negated it wrongly."""
    held: list[tableau.Tableau] = []
    dense = tableau._dense

    def kept(*given) -> tableau.Tableau | None:
        held.append(dense(*given))
        return held[-1]

    monkeypatch.setattr(tableau, "_dense", kept)
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], [5, 3])
    gram = Rbf(1.0).gram(rng.normal(size=(8, 2)) + y[:, None])
    answers(Exact().solve(Dual(gram, y, 2, 10.0)), monkeypatch, 500)
    (t,) = held
    rows = np.r_[t.rows_M, t.rows_N]
    arcs = np.where(y[rows, None] == [0, 1], 1.0, -1.0)
    H = gram.matrix[np.ix_(rows, rows)] * (arcs @ arcs.T)
    KKT = np.block([[H[:7, :7], arcs[:7]], [arcs[:7].T, np.zeros((2, 2))]])
    X = (np.linalg.pinv(KKT) @ np.r_[H[:7, 7], arcs[7]])[:7]
    assert t.kept[:7, 7] == pytest.approx(-X, abs=1e-9)
