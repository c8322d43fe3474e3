"""A time budget: good cells first, an end in time, and the journal goes on."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from msvm_select.columns import Row
from msvm_select.errors import MsvmError, SettingsError
from msvm_select.records import Dataset
from msvm_select.settings import settings_from
from msvm_select.settings.values import duration
from msvm_select.sweep.budget import Budget, TimeIsUpError, batches, coarse
from msvm_select.sweep.headway import Headway
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.loop import iterate, run_sweep
from msvm_select.train.events import CellStarted, Event, Started
from tests.conftest import IRIS, run

GRID: dict[str, Any] = {"C": "2^-3:2^9:7", "gamma": "0.05,0.1,0.5,1,3", "extend": 0}
LONG = 3600.0


def numbers(row: Row) -> tuple[Any, ...]:
    """What is certified of a cell."""
    return row.cell, row.status, row.train_errors, row.loo_errors, row.n_classes


def near(one: float | None, other: float | None) -> bool:
    """But for the gap of the loosest solver; None is near None."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-2)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("1.5h", 5400), ("2 min", 120)]
    + [("45", 45), (45, 45), ("1d", 86400), ("0.5 sec", 0.5), ("1e2", 100)],
)
def test_a_time_is_typed_as_people_do(given: Any, seconds: float) -> None:
    """With units or as seconds."""
    assert duration(given, "time_budget") == pytest.approx(seconds)


@pytest.mark.parametrize("given", ["0", "-5", "10x", "m", "", "1:30", "0s", True])
def test_what_is_no_time_is_refused(given: Any) -> None:
    """By name."""
    with pytest.raises(SettingsError, match="time_budget"):
        duration(given, "time_budget")


def test_a_budget_that_suffices_changes_no_answer(data: Dataset) -> None:
    """The same cells, the same ranking; warm starts are others, answers are not."""
    whole = run_sweep(data, **GRID)
    for more in ({}, {"jobs": 2}, {"race": 2}):
        found = run_sweep(data, **GRID, time_budget=LONG, **more)
        N = 2 if "race" in more else len(whole.rows)
        assert len(found.rows) == len(whole.rows)
        ranked = [numbers(row) for row in found.rows[:N]]
        assert ranked == [numbers(row) for row in whole.rows[:N]]
        assert all(row.status == "ok" for row in found.rows)
        assert all(row.gap is not None and row.gap <= 1e-8 for row in found.rows)


@pytest.mark.parametrize(
    "values",
    [
        {"criteria": "cv:3,radius-margin,radius-margin-count,guaranteed-risk"},
        {"loss": "l2", "criteria": "loo,radius-margin"},
        {"machine": "ovo"},
        {"kernel": "linear", "gamma": None},
        {"kernel": "sigmoid", "gamma": "5", "coef0": "1"},
        {"solver": "smo"},
    ],
    ids=str,
)
def test_where_C_falls_training_begins_anew(
    data: Dataset, values: dict[str, Any]
) -> None:
    """What is carried along C holds only upward."""
    values = {**GRID, "C": "0.1,1,10,1000,1e5", "gamma": "0.1,5", **values}
    whole, found = (
        run_sweep(data, **values),
        run_sweep(data, **values, time_budget=LONG),
    )
    alike = {row.cell: row for row in whole.rows}
    for row in found.rows:
        other = alike[row.cell]
        assert row.status == other.status
        for name in ("loo_errors", "cv_error", "radius_margin_count"):
            assert row.value(name) == other.value(name)
        for name in ("dual_objective", "radius_margin", "guaranteed_risk"):
            assert near(row.value(name), other.value(name))


def test_good_cells_come_first() -> None:
    """A coarse grid, then around the best: the bottom of a valley is found early."""
    settings = [Row(kernel="rbf", gamma=2.0**i).setting for i in range(9)]
    Cs = [2.0**j for j in range(9)]
    rows: list[Row] = []
    order = []
    for batch in batches(settings, Cs, rows, "loo"):
        for i, j in batch:
            errors = abs(i - 6) + abs(j - 2)
            rate = {"loo_errors": errors, "loo_rate": errors / 100, "n_samples": 100}
            rows.append(Row(kernel="rbf", gamma=settings[i][1], C=Cs[j], **rate))
            order.append((i, j))
    assert len(set(order)) == len(order) == 81
    assert order.index((6, 2)) < 20
    assert set(order[:9]) == {(i, j) for i in (1, 4, 7) for j in (1, 4, 7)}


def test_every_cell_of_a_usual_grid_is_beside_a_coarse_one() -> None:
    """And no grid is without one."""
    for count in range(1, 13):
        places = coarse(count)
        assert places
        assert max(places) < count
        if count <= 9:
            assert {i + d for i in places for d in (-1, 0, 1)} >= set(range(count))


def test_it_ends_in_time_with_what_there_is() -> None:
    """Though a step is under way that will not end; nothing at all is an error."""

    def items() -> Any:
        yield 1
        yield 2
        time.sleep(30.0)

    began, budget = time.monotonic(), Budget(0.3)
    assert list(budget.within(items())) == [1, 2]
    assert time.monotonic() - began < 5.0
    assert budget.is_up
    whole = Budget(60.0)
    assert list(whole.within([1, 2])) == [1, 2]
    assert not whole.is_up
    with pytest.raises(
        MsvmError, match="No cell was finished within .* 0.1 s: .*subsample"
    ):
        list(Budget(0.1).within(item for item in items() if item > 2))
    with pytest.raises(ZeroDivisionError):
        list(Budget(60.0).within(1 / n for n in (1, 0)))


def test_what_is_left_behind_ends_soon() -> None:
    """At the next that it tells of itself."""
    heard: list[Event] = []
    budget = Budget(60.0, until=time.monotonic() - 1.0)
    tell = budget.watched(heard.append)
    tell(Started("x", 1, 1, 1, 1, 1, "exact"))
    with pytest.raises(TimeIsUpError):
        tell(CellStarted(settings_from({}).kernels()[0], 1.0))
    assert len(heard) == 1


def test_the_journal_goes_on(data: Dataset, tmp_path: Path) -> None:
    """From a part of the cells to all, with and without a budget."""
    whole = run_sweep(data, **GRID)
    file = tmp_path / "run.ndjson"
    some = settings_from({**GRID, "time_budget": LONG})
    with Journal(file) as journal:
        rows = iterate(data, some, journal=journal)
        first = [next(rows) for _ in range(11)]
        rows.close()
    assert {round(row.gamma or 0.0, 3) for row in first[:6]} == {0.1, 1.0}
    lines = file.read_bytes()
    for budget in (None, LONG):
        file.write_bytes(lines)
        again = Journal(file, resume=True)
        found = run_sweep(data, **GRID, journal=again, time_budget=budget)
        assert [numbers(r) for r in found.rows] == [numbers(r) for r in whole.rows]
        kept = {row.cell: row for row in found.rows}
        assert all(replace(kept[row.cell], rank=None) == row for row in first)


def test_the_command_says_so(tmp_path: Path) -> None:
    """How many cells are done, and how to go on; the exit code is 0."""
    journal = tmp_path / "glass.ndjson"
    glass = IRIS.parent / "glass.csv"
    line = ["sweep", glass, "--gamma", "2^-7:2^1:17", "--C", "2^-3:2^9:49"]
    found = run(*line, "--time-budget", "2s", "--journal", journal)
    assert found.exit_code == 0, found.output
    assert "The time is up: " in found.stderr
    assert " of 833 cells are done." in found.stderr
    assert "To go on: " in found.stderr
    assert run(*line, "--time-budget", "0.001").exit_code == 1
    assert run("compare", IRIS, "--time-budget", "1m").exit_code == 2


def test_the_time_left_is_no_more_than_the_budget() -> None:
    """However much there is to do."""
    headway = Headway(began=0.0)
    began = Started("x", 9, 1, 2, 5, 7, "exact", rank_by="loo", time_budget=60.0)
    headway.hear(began, 0.0)
    facts = headway.facts(20.0)
    assert facts.left == 40.0
    assert facts.sure


def test_a_plan_names_what_it_does_not_estimate() -> None:
    """A race takes less, and a budget ends it."""
    line = ("sweep", IRIS, "--gamma", "0.1,1", "--dry-run")
    told = " ".join(run(*line, "--race", "3", "--time-budget", "10m").stdout.split())
    assert "; less with --race 3; --time-budget 10 min" in told
    assert "--race" not in run(*line).stdout
