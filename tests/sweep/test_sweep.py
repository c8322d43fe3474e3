"""The loop: its order, its warm starts, its copied rows, its failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import getsource
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from msvm_select import load_csv
from msvm_select.columns import COLUMNS, RANKED_BY, Row, column_of
from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.errors import DataError, SettingsError, SolverError
from msvm_select.handover import Hands, interleave
from msvm_select.kernels.mercer import smallest_eigenvalue
from msvm_select.names import CRITERIA, SOLVERS
from msvm_select.records import Dataset, Dual
from msvm_select.settings import settings_from
from msvm_select.solution import Solution
from msvm_select.solvers.qp import Qp
from msvm_select.sweep.cells import Chain
from msvm_select.sweep.loop import gather, iterate, run_sweep
from msvm_select.train.along_C import along_C
from msvm_select.train.events import (
    CellDone,
    CellStarted,
    GramTested,
    Scored,
    Started,
)
from tests.conftest import PROBLEMS, Recording

PLAIN = {"solver": "qp", "criteria": "sv-rate"}


class Failing(Qp):
    """A solver that has no answer at C = 1 and stops short at C = 2."""

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """As qp does, but for two values of C."""
        if dual.C == 1.0:
            raise SolverError("there is none")
        solution = super().solve(dual, start)
        if dual.C == 2.0:
            return replace(solution, converged=False, reason="stopped short")
        return solution


def sweep(data: Dataset, **values: Any) -> tuple[Row, ...]:
    """The ranked rows, by the solver qp and by sv-rate unless others are named."""
    return run_sweep(data, **{**PLAIN, **values}).rows


def untimed(rows: Iterator[Row] | tuple[Row, ...]) -> list[Row]:
    """The rows without what differs from run to run."""
    return [replace(row, seconds=None) for row in rows]


def test_every_cell_is_a_certified_row(data: Dataset) -> None:
    """C x gamma rows, each with its point, its certificate and its score."""
    rows = sweep(data, C="0.1,1", gamma="0.1,1,10")
    assert {(row.gamma, row.C) for row in rows} == {
        (gamma, C) for gamma in (0.1, 1.0, 10.0) for C in (0.1, 1.0)
    }
    for row in rows:
        assert (row.status, row.solver, row.n_samples) == ("ok", "qp", data.m)
        assert row.gap is not None
        assert row.gap <= 1e-8
        assert row.sv_rate == row.n_sv / data.m  # type: ignore[operator]
        assert row.separable is (row.train_errors == 0)
        assert type(row.separable) is bool


def test_the_grid_ascends_and_each_start_is_the_last_solution(
    data: Dataset, asked: list[tuple[Dual, Solution | None]]
) -> None:
    """Within a kernel setting; the first of each setting starts cold."""
    sweep(data, solver="recording", C="1,0.01,0.1", gamma="0.1,1")
    assert [dual.C for dual, _ in asked] == [0.01, 0.1, 1.0] * 2
    starts = [start.dual.C if start else None for _, start in asked]
    assert starts == [None, 0.01, 0.1] * 2


def test_the_gram_matrix_is_made_once_a_setting(
    data: Dataset, asked: list[tuple[Dual, Solution | None]]
) -> None:
    """All values of C share one Gram."""
    sweep(data, solver="recording", C="0.01,0.1", gamma="0.1,1")
    grams = [dual.gram for dual, _ in asked]
    assert grams[0] is grams[1]
    assert grams[2] is grams[3]
    assert grams[1] is not grams[2]


def test_cold_equals_warm(
    data: Dataset, asked: list[tuple[Dual, Solution | None]]
) -> None:
    """Without warm starts every training begins at nothing and ends at the same."""
    warm = sweep(data, C="0.01,1,100", gamma=1)
    cold = sweep(data, solver="recording", C="0.01,1,100", gamma=1, warm_start=False)
    assert [start for _, start in asked] == [None] * 3
    for a, b in zip(warm, cold, strict=True):
        assert a.dual_objective == pytest.approx(b.dual_objective, rel=1e-7)
        assert (a.C, a.n_sv, a.sv_rate) == (b.C, b.n_sv, b.sv_rate)


def test_beyond_hard_margin_rows_are_copied(
    data: Dataset, asked: list[tuple[Dual, Solution | None]]
) -> None:
    """No training, no cost: the same numbers at its own C, with a gap that holds."""
    rows = sweep(data, solver="recording", C="100,200,400", gamma=10)
    assert [dual.C for dual, _ in asked] == [100.0]
    first, *copies = sorted(rows, key=lambda row: row.C)
    assert first.n_bounded == 0
    for copy in copies:
        assert copy.iterations == 0
        assert copy.gap is not None
        assert copy.gap <= 1e-8
        for column in ("dual_objective", "sum_alpha", "n_sv", "norm_w", "sv_rate"):
            assert getattr(copy, column) == getattr(first, column)


def test_a_copy_that_does_not_hold_is_trained_on(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rest of sum xi, weighed by a larger C, sends it to the solver again."""

    class Loose(Recording):
        def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
            self.asked.append((dual, start))
            full = Qp().solve(dual, None)
            return replace(full, tau=full.tau * (1 - 1e-5), F=full.F * (1 - 1e-5))

    Loose.asked.clear()
    monkeypatch.setitem(SOLVERS, "loose", Loose)
    sweep(data, solver="loose", gap=1e-3, C="100,1e6", gamma=10)
    assert [dual.C for dual, _ in Loose.asked] == [100.0, 1e6]
    start = Loose.asked[1][1]
    assert start is not None
    assert start.dual.C == 1e6  # so that alpha is not scaled away from the optimum


def test_a_failed_cell_is_a_row_with_its_reason(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an answer ``failed``, short of its gap ``not_converged``; both last."""
    monkeypatch.setitem(SOLVERS, "failing", Failing)
    rows = sweep(data, solver="failing", C="0.5,1,2,4", gamma=1)
    assert [row.status for row in rows] == ["ok", "ok", "not_converged", "failed"]
    assert [row.status_reason for row in rows[2:]] == ["stopped short", "there is none"]
    assert rows[3].gap is None
    assert rows[2].gap is not None


def test_an_indefinite_kernel_is_refused_unless_allowed(data: Dataset) -> None:
    """Its cells fail and name the way out; allowed, the row says that nothing holds."""
    values = {"kernel": "sigmoid,rbf", "gamma": "scale", "coef0": 1, "C": "0.1,1"}
    rows = sweep(data, **values)
    assert [row.status for row in rows] == ["ok", "ok", "failed", "failed"]
    assert "--allow-indefinite" in rows[3].status_reason
    allowed = sweep(data, **values, allow_indefinite=True)
    for row in allowed:
        assert ("no bound holds" in row.status_reason) is (row.kernel == "sigmoid")


class Counting(Criterion):
    """Counts the cells along C, and fails at C = 2."""

    name: ClassVar[str] = "counting"
    column: ClassVar[str] = "vc_dimension"
    kind: ClassVar[str] = "index"
    summary: ClassVar[str] = "for a test"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """One more than for the C before."""
        if cell.solution.dual.C == 2.0:
            raise SolverError("not today")
        count = 1 + (carry or 0)
        return Score({self.column: float(count)}, count)


def test_a_criterion_finds_again_what_it_carried(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along C of one kernel setting, and not across settings; a failure is a row."""
    monkeypatch.setitem(CRITERIA, "counting", Counting)
    monkeypatch.setitem(RANKED_BY, "counting", column_of("vc_dimension"))
    rows = sweep(data, criteria="counting", C="0.5,1,2,4", gamma="0.1,1")
    found = {(row.gamma, row.C): row.vc_dimension for row in rows}
    assert [found[0.1, C] for C in (0.5, 1.0, 2.0, 4.0)] == [1.0, 2.0, None, 3.0]
    assert found[1.0, 0.5] == 1.0
    assert {row.status_reason for row in rows[-2:]} == {"counting: not today"}
    cold = sweep(data, criteria="counting", C="0.5,1", gamma=1, warm_start=False)
    assert [row.vc_dimension for row in cold] == [1.0, 1.0]


class Doubting(Criterion):
    """Has a score, and something to say against it."""

    name: ClassVar[str] = "doubting"
    column: ClassVar[str] = "vc_dimension"
    kind: ClassVar[str] = "index"
    summary: ClassVar[str] = "for a test"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """A number that rests on a machine short of its optimum."""
        return Score({self.column: 1.0}, notes=("1 of 3 folds not converged",))


def test_what_a_criterion_notes_counts_against_its_row(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The score is kept, the status says not_converged, the reason why."""
    monkeypatch.setitem(CRITERIA, "doubting", Doubting)
    monkeypatch.setitem(RANKED_BY, "doubting", column_of("vc_dimension"))
    monkeypatch.setitem(SOLVERS, "failing", Failing)
    rows = sweep(data, solver="failing", criteria="doubting", C="0.5,2", gamma=1)
    assert [row.vc_dimension for row in rows] == [1.0, 1.0]
    assert {row.status for row in rows} == {"not_converged"}
    assert {row.status_reason for row in rows} == {
        "1 of 3 folds not converged",
        "stopped short; 1 of 3 folds not converged",
    }


@pytest.mark.parametrize("jobs", [2, 3, 8])
def test_results_do_not_depend_on_jobs(data: Dataset, jobs: int) -> None:
    """The same rows in the same order, all but their times."""
    values = {"C": "0.1,1", "gamma": "0.1,1,10", "criteria": "sv-rate,cv:3"}
    alone = run_sweep(data, solver="exact", **values)
    several = run_sweep(data, solver="exact", jobs=jobs, **values)
    assert untimed(alone.rows) == untimed(several.rows)
    assert alone.settings == several.settings


def test_progress_hears_of_everything_in_order(data: Dataset) -> None:
    """Started, then for each setting its eigenvalue, then cell by cell."""
    heard: list[Any] = []
    settings = settings_from({**PLAIN, "C": "0.1,1", "gamma": "1,2"})
    rows = list(iterate(data, settings, heard.append))
    ranked = {"criteria": ("sv-rate",), "rank_by": "sv-rate", "C": (0.1, 1.0)}
    assert heard[0] == Started("three", data.m, 3, 3, 2, 2, "qp", **ranked)
    assert heard[0].cells == 4
    cell = [CellStarted, Scored, CellDone]
    each = [GramTested, *cell, *cell]
    assert [type(event) for event in heard[1:]] == each * 2
    assert [event.row for event in heard if isinstance(event, CellDone)] == rows
    scored = [event for event in heard if isinstance(event, Scored)]
    assert {event.criterion for event in scored} == set(settings.criteria)
    assert all(event.seconds > 0.0 for event in scored)
    tested = heard[1]
    scaled = (data.X - data.X.mean(0)) / data.X.std(0)
    expected = smallest_eigenvalue(tested.kernel.gram(scaled))
    assert tested.smallest_eigenvalue == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("jobs", [1, 2])
def test_whoever_stops_early_keeps_the_rows_that_are_done(
    data: Dataset, jobs: int
) -> None:
    """The rows come one by one, and can be ranked without the others."""
    settings = settings_from({**PLAIN, "C": "0.1,1", "gamma": "0.1,1,10", "jobs": jobs})
    rows = iterate(data, settings)
    results = gather(data, settings, [next(rows), next(rows)])
    rows.close()  # type: ignore[attr-defined]
    assert [row.rank for row in results.rows] == [1, 2]


def test_the_results_say_what_they_came_from(data: Dataset) -> None:
    """The data with their classes, the settings that decide, the versions."""
    results = run_sweep(data, **PLAIN, C=1, gamma=1)
    assert results.data["n_features"] == 3
    assert sum(results.data["classes"].values()) == data.m
    assert results.settings["C"] == (1.0,)
    assert "jobs" not in results.settings
    assert set(results.versions) >= {"python", "msvm-select", "numpy"}
    assert results.to_frame().shape == (1, len(COLUMNS))


def test_values_go_over_settings(data: Dataset) -> None:
    """``run_sweep(data, settings, C=..)`` changes C alone."""
    settings = settings_from({**PLAIN, "C": "1,2", "gamma": 3})
    results = run_sweep(data, settings, C=0.5)
    assert [(row.C, row.gamma) for row in results.rows] == [(0.5, 3.0)]


def test_permuting_the_samples_changes_nothing(data: Dataset) -> None:
    """The rows are the same up to rounding."""
    order = np.random.default_rng(1).permutation(data.m)
    other = replace(data, X=data.X[order], y=data.y[order])
    for a, b in zip(sweep(data, gamma=1), sweep(other, gamma=1), strict=True):
        assert (a.C, a.n_sv, a.train_errors) == (b.C, b.n_sv, b.train_errors)
        assert a.dual_objective == pytest.approx(b.dual_objective, rel=1e-8)


def test_data_without_classes_are_refused() -> None:
    """There is nothing to tell apart in them."""
    empty = replace(PROBLEMS["two"].dataset(), y=np.empty(0, dtype=np.int64))
    with pytest.raises(DataError, match="two classes"):
        run_sweep(empty)


def test_a_backend_that_is_not_there_is_refused_before_any_training(
    data: Dataset,
) -> None:
    """An error of the settings, not of each cell."""
    with pytest.raises(SettingsError, match="backend"):
        run_sweep(data, solver="qp", qp_backend="clarabelle")


@pytest.mark.parametrize("loop", [iterate, Chain.run, along_C])
def test_the_loop_stays_short(loop: Callable[..., object]) -> None:
    """The sweep, its chain of scores and the one loop over C fit on a page each."""
    assert len(getsource(loop).splitlines()) <= 45


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_interleave_keeps_each_stream_in_its_order(jobs: int) -> None:
    """Everything comes once, however many threads draw."""
    streams = [[(s, i) for i in range(20)] for s in range(4)]
    come = list(interleave(streams, Hands(jobs)))
    assert sorted(come) == [item for stream in streams for item in stream]
    for s, stream in enumerate(streams):
        assert [item for item in come if item[0] == s] == stream


@pytest.mark.parametrize("jobs", [1, 2])
def test_interleave_passes_a_bug_on(jobs: int) -> None:
    """An exception in a thread is raised where the items are drawn."""

    def broken() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(interleave([broken(), broken(), broken()], Hands(jobs)))


def test_no_bound_applies_where_the_gram_matrix_is_indefinite() -> None:
    """Allowed all the same, a row says that the radius-margin bound does not hold."""
    data = load_csv(Path(__file__).parents[2] / "data" / "iris.csv")
    grid: dict[str, Any] = {"kernel": "sigmoid", "gamma": 0.1, "coef0": 0.0, "C": 1.0}
    results = run_sweep(
        data, allow_indefinite=True, criteria="radius-margin", loss="l2", **grid
    )
    assert results.rows[0].status == "ok"
    assert results.rows[0].radius_margin_applicable is False
