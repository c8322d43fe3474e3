"""``run_sweep(executor=..)``: any executor, the same rows."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import (
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from msvm_select.columns import Row
from msvm_select.errors import SettingsError
from msvm_select.records import Dataset
from msvm_select.results.ranking import Results
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.loop import run_sweep
from msvm_select.train.events import GramTested

GRID: dict[str, Any] = {"C": "0.5,10,1000", "gamma": "0.1,0.5,5", "criteria": "loo"}


class Elsewhere(Executor):
    """What a process or another machine does: all goes there and back as bytes."""

    def __init__(self) -> None:
        """``sizes``: of the tasks, in bytes."""
        self.sizes: list[int] = []

    def submit(self, task: Callable[..., Any], /, *more: Any, **how: Any) -> Any:
        """At once, on a copy."""
        sent = pickle.dumps((task, more, how))
        self.sizes.append(len(sent))
        here, arguments, named = pickle.loads(sent)
        future: Future[Any] = Future()
        future.set_result(pickle.loads(pickle.dumps(here(*arguments, **named))))
        return future


def untimed(results: Results) -> tuple[Row, ...]:
    """The rows, but for what differs from run to run."""
    return tuple(replace(row, seconds=None) for row in results.rows)


@pytest.mark.parametrize(
    "values",
    [{}, {"machine": "ovo", "criteria": "loo,cv:3"}, {"race": 2}, {"jobs": 2}],
    ids=str,
)
def test_rows_are_the_same_elsewhere(data: Dataset, values: dict[str, Any]) -> None:
    """Nothing is lost on the way: rows, what Mercer's test found, the choice."""
    whole = run_sweep(data, **{**GRID, **values})
    there = Elsewhere()
    found = run_sweep(data, executor=there, **{**GRID, **values})
    assert len(there.sizes) == 3
    if "race" in values:  # the others may be bounded otherwise
        assert untimed(found)[:2] == untimed(whole)[:2]
        return
    assert untimed(found) == untimed(whole)
    assert found.gram == whole.gram
    assert found.settings == whole.settings


def test_threads_a_journal_and_a_grid_that_widens(
    data: Dataset, tmp_path: Path
) -> None:
    """All that a sweep does goes on: events, resuming, rounds of widening."""
    heard: list[Any] = []
    grid = {**GRID, "C": "0.01,0.1", "extend": 2}
    with ThreadPoolExecutor(2) as pool:
        file = tmp_path / "run.ndjson"
        found = run_sweep(
            data, executor=pool, journal=Journal(file), progress=heard.append, **grid
        )
        again = run_sweep(data, executor=pool, journal=Journal(file, True), **grid)
    assert untimed(found) == untimed(run_sweep(data, **grid)) == untimed(again)
    assert len(found.settings["C"]) > 2
    assert sum(isinstance(event, GramTested) for event in heard) >= 3


def test_a_task_that_dies_raises(data: Dataset) -> None:
    """And the tasks behind it are cancelled."""

    class Dying(ThreadPoolExecutor):
        def submit(self, *_: Any, **__: Any) -> Any:
            future: Future[Any] = Future()
            if not waiting:
                future.set_exception(OSError("the node is gone"))
            waiting.append(future)
            return future

    waiting: list[Future[Any]] = []
    with pytest.raises(OSError, match="the node is gone"):
        run_sweep(data, executor=Dying(1), **GRID)
    assert [future.cancelled() for future in waiting] == [False, True, True]


def test_a_time_budget_takes_no_executor(data: Dataset) -> None:
    """It goes cell by cell."""
    with ThreadPoolExecutor(1) as pool, pytest.raises(SettingsError, match="executor"):
        run_sweep(data, executor=pool, time_budget="1s", **GRID)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["processes", "loky"])
def test_processes(data: Dataset, kind: str) -> None:
    """Those of the standard library, begun anew, and those of joblib."""
    if kind == "loky":
        loky = pytest.importorskip("joblib.externals.loky")
        pool = loky.get_reusable_executor(max_workers=2)
    else:
        fresh = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(2, mp_context=fresh)
    with pool:
        found = run_sweep(data, executor=pool, **GRID)
    assert untimed(found) == untimed(run_sweep(data, **GRID))
