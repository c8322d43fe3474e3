"""Criteria of machines of parts: bounds that hold, values by hand, what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from msvm_select.columns import Row
from msvm_select.criteria.guaranteed_risk import guaranteed_risk
from msvm_select.criteria.leave_one_out import leave_each_out
from msvm_select.criteria.radius_margin import over_parts
from msvm_select.criteria.radius_margin_count import flagged
from msvm_select.criteria.span import (
    predicted_errors,
    predicted_left_out,
    predicted_margins,
)
from msvm_select.errors import SettingsError
from msvm_select.geometry.ball import smallest_ball
from msvm_select.parts import gathered
from msvm_select.records import Blocks
from msvm_select.settings import settings_from
from msvm_select.sweep.cells import Scoring
from msvm_select.train.along_C import Trained, train_cell
from tests.conftest import PROBLEMS, Problem, blobs, slowly, table

EVERY = (
    "loo,train-errors,sv-rate,radius-margin,radius-margin-count,span,guaranteed-risk,"
    "compression,cv:3,holdout"
)


def cell_of(problem: Problem, machine: str, **values: Any) -> Trained:
    """One trained cell."""
    settings = settings_from({"machine": machine, "scale": "none", **values})
    return train_cell(problem.dataset(), settings)


def row_of(problem: Problem, machine: str, criteria: str = EVERY, **values: Any) -> Row:
    """Its row, by all criteria."""
    cell = cell_of(problem, machine, **values)
    settings = settings_from(
        {"machine": machine, "scale": "none", "criteria": criteria, **values}
    )
    scoring = Scoring(cell.kernel, settings, lambda event: None)
    return Row.of({**cell.point, **scoring.columns(cell)})


@pytest.mark.parametrize("machine", ["ovo", "ova"])
@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("seed", [*range(4), *map(slowly, range(4, 10))])
def test_no_bound_is_below_the_errors(machine: str, loss: str, seed: int) -> None:
    """Every error of leave-one-out is flagged by some part, where the bound applies."""
    rng = np.random.default_rng(seed)
    Q = int(rng.integers(2, 5))
    m, spread = int(rng.integers(4 * Q, 28)), rng.uniform(0.5, 4.0)
    problem = blobs(m, Q, n=int(rng.integers(1, 4)), spread=spread, seed=seed)
    C = 1e4 if loss == "l1" else 10.0 ** rng.uniform(-2, 3)
    kernel = {"kernel": "linear"} if seed % 3 == 0 else {"gamma": 10.0 ** (seed % 2)}
    cell = cell_of(problem, machine, C=C, loss=loss, **kernel).cell
    left = leave_each_out(cell)
    whole = over_parts(cell, left_out=left, flags=flagged)
    assert whole is not None
    if loss == "l2":
        assert whole.applicable
    if not whole.applicable:
        assert whole.counted is None
        return
    assert whole.counted is not None
    assert set(np.flatnonzero(left.wrong)) <= set(whole.counted.tolist())
    assert left.errors <= whole.counted.size <= whole.bound + 1e-6
    # the sum over parts by hand: D^2 ||w||^2 of each, at the hard margin
    solutions = [solution for _, solution in cell.solution.solutions()]
    by_hand = 0.0
    for solution in solutions:
        support = np.flatnonzero(solution.is_support_vector)
        D = smallest_ball(solution.dual.gram, support).diameter
        by_hand += D**2 * 2.0 * solution.norm_w_squared
    assert whole.bound == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_two_classes_are_those_of_weston_watkins(loss: str, two: Problem) -> None:
    """One pair of classes at C: all columns are those of the one machine at C/2."""
    C = 2000.0
    pair = row_of(two, "ovo", C=C, gamma=3.0, loss=loss)
    whole = row_of(two, "ww", C=C / 2, gamma=3.0, loss=loss)
    assert pair.radius_margin_applicable
    for name, value in whole.values().items():
        if name in ("C", "seconds", "iterations", "status_reason", "loo_retrained"):
            continue
        if name.startswith(("guaranteed", "gap", "kkt")):
            continue
        if isinstance(value, float):
            assert pair.value(name) == pytest.approx(value, rel=1e-6, abs=1e-9), name
        else:
            assert pair.value(name) == value, name


@pytest.mark.parametrize("machine", ["ovo", "ova"])
def test_what_a_row_says_of_parts(machine: str) -> None:
    """Columns hold the largest D, K = 2 and sums; values that cannot be are empty."""
    row = row_of(PROBLEMS["iris"], machine, C=1e5, gamma=1.0)
    assert row.status == "ok"
    assert row.radius_margin_applicable
    assert row.K == 2.0
    assert row.diameter <= row.diameter_all <= 2.0
    assert row.loo_errors <= row.radius_margin_count <= row.radius_margin
    assert row.radius_margin_q >= row.radius_margin * (1 - 1e-6)
    m = PROBLEMS["iris"].y.size
    assert row.sv_rate == row.n_sv / m >= row.loo_rate
    if machine == "ovo":
        assert row.guaranteed_risk is None
        assert "votes" in row.status_reason
    else:
        assert row.guaranteed_risk > 0.0
        assert row.status_reason == ""


@pytest.mark.parametrize("machine", ["ovo", "ova"])
@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("C", [0.05, 2.0, 1e3])
def test_the_spans_are_those_of_each_part(machine: str, loss: str, C: float) -> None:
    """Every output as the machine of two outputs predicts it, part by part.

    With weights, twins and a class of one sample; and from blocks of K.
    """
    problem = blobs(40, 3, spread=1.5, seed=5)
    problem.X[1], problem.X[3] = problem.X[0], problem.X[2]
    y = np.where(np.arange(40) == 7, 3, problem.y)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 40)
    data = replace(problem, y=y, Q=4).dataset()
    asked = {"machine": machine, "scale": "none", "C": C, "loss": loss, "gamma": 0.5}
    cell = train_cell(replace(data, weights=weights), settings_from(asked)).cell
    parts, kernel = cell.solution.parts, cell.kernel
    found = predicted_left_out(cell.solution)
    assert found is not None
    table = np.full((40, 4), np.nan)
    for part, solution in cell.solution.solutions():
        margins = predicted_margins(solution)
        assert margins is not None
        own = np.maximum(margins.min(axis=1), -1e300)
        parts.put(part, table, np.where(part.positive, own, -own))
    none = np.zeros(table.shape, np.int64)
    told = parts.towards(table), none, none, none > 0, np.zeros(table.shape)
    expected = parts.judged(gathered(y, *told), cell.solution, {})
    assert (found.predicted == expected.predicted).all()
    close = np.isclose(found.margins, expected.margins, rtol=1e-6, atol=1e-6)
    assert (close | np.isnan(expected.margins)).all()
    gram = Blocks(X=data.X, between=kernel.between, finite=lambda K: K)
    again = predicted_left_out(cell.machine.on(gram, cell.solution))
    assert again is not None
    assert np.allclose(again.margins, found.margins, 1e-6, 1e-6, equal_nan=True)


@pytest.mark.parametrize("machine", ["ovo", "ova"])
@pytest.mark.parametrize("C", [1.0, 1e5])
def test_span_predicts_the_votes(machine: str, C: float) -> None:
    """Near to the exact count; equal where no variable changes sides."""
    cell = cell_of(PROBLEMS["iris"], machine, C=C, gamma=0.5).cell
    found = leave_each_out(cell)
    assert predicted_errors(cell.solution) == pytest.approx(found.errors, abs=2)


def test_a_class_of_one_is_wrong_by_every_count() -> None:
    """No part can judge it rightly without it."""
    for machine in ("ovo", "ova"):
        cell = cell_of(PROBLEMS["tiny"], machine, C=10.0, gamma=0.5, loss="l2").cell
        left = leave_each_out(cell)
        alone = np.flatnonzero(np.bincount(cell.data.y)[cell.data.y] == 1)
        whole = over_parts(cell, left_out=left, flags=flagged)
        assert whole is not None
        assert whole.counted is not None
        assert set(alone) <= set(whole.counted.tolist())
        assert left.errors <= whole.counted.size
        assert predicted_errors(cell.solution) >= alone.size


def test_a_part_tells_why_no_bound_holds() -> None:
    """It is named, with the C that would do, as the user knows C."""
    cell = cell_of(PROBLEMS["iris"], "ovo", C=0.5, gamma=1.0).cell
    whole = over_parts(cell, flags=flagged)
    assert whole is not None
    assert not whole.applicable
    assert whole.counted is None
    assert whole.reason.startswith("not in 3 of 3 parts: a against b, ")
    hard = cell_of(PROBLEMS["iris"], "ovo", C=1e5, gamma=1.0).cell
    at = [s.sum_alpha for _, s in hard.solution.solutions()]
    near = cell_of(PROBLEMS["iris"], "ovo", C=1.01 * max(at), gamma=1.0).cell
    whole = over_parts(near)
    assert whole is not None
    assert whole.applicable


def test_bounds_begun_at_the_last_C_are_the_same() -> None:
    """Warm and cold; a copy beyond hard margin keeps its count."""
    cells = [
        cell_of(PROBLEMS["three"], "ovo", C=C, gamma=1.0, loss="l2").cell
        for C in (1.0, 8.0)
    ]
    first = over_parts(cells[0], flags=flagged)
    warm = over_parts(cells[1], first, flags=flagged)
    cold = over_parts(cells[1], flags=flagged)
    assert warm is not None
    assert cold is not None
    assert warm.bound == pytest.approx(cold.bound, rel=1e-7)
    assert (warm.counted == cold.counted).all()
    again = over_parts(cells[1], warm, flags=flagged)
    assert again is not None
    assert again.counted is warm.counted


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_the_guaranteed_risk_of_one_against_the_rest(loss: str) -> None:
    """Norm, biases and margins of h_k less the mean of all, computed from w itself."""
    X, y = table("iris")
    some = np.arange(0, 150, 5)
    problem = Problem(X[some], y[some], 3)
    cell = cell_of(problem, "ova", C=2.0, kernel="linear", loss=loss).cell
    terms = guaranteed_risk(cell)
    machine = cell.solution
    a = np.where(problem.y[:, None] == np.arange(3), machine.alpha, -machine.alpha)
    w = a.T @ problem.X
    b = machine.b
    h = problem.X @ w.T + b
    w, b = w - w.mean(axis=0), b - b.mean()
    assert terms.norm_w == pytest.approx(math.sqrt((w**2).sum()), rel=1e-6)
    assert terms.largest_b == pytest.approx(np.abs(b).max(), rel=1e-6)
    assert terms.Lambda_Phi == pytest.approx(np.linalg.norm(problem.X, axis=1).max())
    own = h[np.arange(30), problem.y]
    h[np.arange(30), problem.y] = -np.inf
    margins = 0.5 * (own - h.max(axis=1))
    assert terms.margin_risk == pytest.approx((margins < terms.gamma - 1e-9).mean())


@pytest.mark.parametrize("criterion", ["vc", "radius-margin-l1"])
@pytest.mark.parametrize("machine", ["ovo", "ova"])
def test_criteria_of_the_one_machine_are_refused(criterion: str, machine: str) -> None:
    """In words, before anything is trained."""
    with pytest.raises(SettingsError, match=f"{criterion} is not for the machine"):
        settings_from({"machine": machine, "criteria": criterion})
