"""The loop over C is one, whoever trains: sweep, fit, paths, experiment."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from msvm_select.errors import KernelError
from msvm_select.experiment import experiment_settings, train_set
from msvm_select.kernels import mercer
from msvm_select.model.fitting import fit_settings
from msvm_select.names import SOLVERS
from msvm_select.records import Dataset, Dual
from msvm_select.settings import Settings, settings_from
from msvm_select.show.charts.samples import paths_of
from msvm_select.solution import Solution
from msvm_select.sweep.loop import iterate
from msvm_select.train.along_C import Failed, Trained, along_C, train_cell
from msvm_select.train.events import CellDone, CellStarted, Event, GramTested, Started
from msvm_select.train.prepare import prepared
from tests.conftest import Recording

Train = Callable[[Dataset, Settings, Any], object]


def swept(data: Dataset, settings: Settings, progress: Any) -> object:
    """A whole sweep."""
    return list(iterate(data, settings, progress))


def drawn(data: Dataset, settings: Settings, progress: Any) -> object:
    """The samples along C."""
    return paths_of(data, settings, progress=progress)


ALL: dict[str, Train] = {"sweep": swept, "fit": fit_settings, "paths": drawn}


def settings(**values: Any) -> Settings:
    """One kernel setting, by the recording solver."""
    plain = {"solver": "recording", "criteria": "sv-rate", "gamma": 10, "C": "100"}
    return settings_from({**plain, **values})


@pytest.mark.parametrize("name", ALL)
def test_large_matrices_that_theory_vouches_for_are_tested_nowhere(
    name: str,
    data: Dataset,
    asked: list[tuple[Dual, Solution | None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond MANY samples no command computes eigenvalues of an rbf kernel."""
    monkeypatch.setattr(mercer, "MANY", data.m - 1)
    heard: list[Event] = []
    ALL[name](data, settings(), heard.append)
    (test,) = (event for event in heard if isinstance(event, GramTested))
    assert math.isnan(test.smallest_eigenvalue)
    assert not test.indefinite


@pytest.mark.parametrize("name", ["sweep", "paths"])
def test_beyond_hard_margin_nothing_is_trained(
    name: str, data: Dataset, asked: list[tuple[Dual, Solution | None]]
) -> None:
    """The machine of C = 100 is that of 200 and 400, for rows and for lines."""
    ALL[name](data, settings(C="100,200,400"), lambda event: None)
    assert [dual.C for dual, _ in asked] == [100.0]


@pytest.mark.parametrize("name", ["sweep", "paths"])
@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_each_training_starts_at_the_last_solution(
    name: str, loss: str, data: Dataset, asked: list[tuple[Dual, Solution | None]]
) -> None:
    """A start is feasible for the new dual; with --no-warm-start there is none."""
    grid = {"C": "0.01,0.1,1", "gamma": 1, "loss": loss}
    ALL[name](data, settings(**grid), lambda event: None)
    assert [start is None for _, start in asked] == [True, False, False]
    for dual, start in asked[1:]:
        assert start is not None
        assert start.alpha.max() <= start.dual.C
        same = np.array_equal(start.dual.ridge, dual.ridge)
        assert same or not start.dual.ridge.any()
    asked.clear()
    ALL[name](data, settings(**grid, warm_start=False), lambda event: None)
    assert [start for _, start in asked] == [None] * 3


def test_the_experiment_runs_through_the_same_loop(
    asked: list[tuple[Dual, Solution | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each C warm, nothing beyond hard margin trained again, every event told."""
    monkeypatch.setitem(SOLVERS, "exact", Recording)
    heard: list[Event] = []
    train_set(experiment_settings(C="0.001,0.002"), 5, 0, heard.append)
    assert [start is None for _, start in asked] == [True, False]
    cell = [CellStarted, CellDone]
    assert [type(event) for event in heard] == [Started, GramTested, *cell, *cell]


def test_what_cannot_be_trained_is_a_value(data: Dataset) -> None:
    """The loop yields failures; who trains one cell raises them, with the way out."""
    sigmoid = settings_from({"kernel": "sigmoid", "gamma": 1, "coef0": 1, "C": "1,2"})
    ready = prepared(data, sigmoid)
    cells = list(along_C(ready, ready.kernels[0]))
    assert [type(cell) for cell in cells] == [Failed, Failed]
    one = settings_from({"C": 1}, sigmoid)
    with pytest.raises(KernelError, match="--allow-indefinite"):
        train_cell(data, one)
    allowed = settings_from({"allow_indefinite": True}, one)
    trained = train_cell(data, allowed)
    assert isinstance(trained, Trained)
    assert "no bound holds" in trained.warning


def test_who_trains_elsewhere_hears_the_same(data: Dataset) -> None:
    """The events and cells of one setting do not depend on who draws them."""
    both = settings_from({"C": "0.1,1", "gamma": "0.5,1"})
    ready = prepared(data, both)
    told: list[float] = []
    cells = [along_C(ready, k, lambda event: None) for k in ready.kernels]
    for pair in zip(*cells, strict=True):  # two settings in turns
        told += [cell.solution.dual_objective for cell in pair]  # type: ignore[union-attr]
    alone = [list(along_C(ready, k)) for k in ready.kernels]
    assert told == [
        cell.solution.dual_objective  # type: ignore[union-attr]
        for pair in zip(*alone, strict=True)
        for cell in pair
    ]


def test_nothing_is_copied_where_the_gram_matrix_is_indefinite(
    data: Dataset, asked: list[tuple[Dual, Solution | None]]
) -> None:
    """Neither a cell nor a fold of it: one and three trainings at each of three C."""
    grid = {"kernel": "sigmoid", "gamma": 0.1, "coef0": 0, "C": "1e3,1e4,1e5"}
    values = {**grid, "criteria": "cv:3", "allow_indefinite": True}
    rows = list(iterate(data, settings(**values)))
    assert [row.n_bounded for row in rows] == [0, 0, 0]
    assert len(asked) == 3 * (1 + 3)
