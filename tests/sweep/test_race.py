"""The race: the best cells are what they are without it, the others only bounded."""

from __future__ import annotations

import gc
import json
import weakref
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from msvm_select.columns import Row, lower_bound, state_of
from msvm_select.errors import SettingsError
from msvm_select.left_out import HopelessError
from msvm_select.records import Dataset
from msvm_select.results.choosing import chosen
from msvm_select.results.ranking import Results, rank
from msvm_select.results.reread import read_results
from msvm_select.settings import settings_from
from msvm_select.show.answers.sweep import sheet
from msvm_select.show.charts.curves import curves_of
from msvm_select.show.charts.heat import heat_map_of
from msvm_select.show.page.page import Report, render
from msvm_select.show.text import heat_text
from msvm_select.solvers.leave_out import every_sample
from msvm_select.sweep import heats
from msvm_select.sweep.cells import Chain
from msvm_select.sweep.heats import Entrant, _Heat, _Told
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.loop import gather, iterate, run_sweep
from msvm_select.sweep.race import Race, middle_first
from msvm_select.train.events import CellDone, CellStarted, Event
from tests.conftest import IRIS, blobs, rows_of, run, with_duplicates, with_tiny_classes

GRID: dict[str, Any] = {"C": "0.1,1,10,100", "gamma": "0.05,0.5,3", "extend": 0}


def plain(row: Row) -> Row:
    """Without what a race, or a run, has for itself.

    Which samples are trained anew may depend on who was left out before them.
    """
    own = {"seconds": None, "loo_errors_low": None, "loo_errors_high": None}
    return replace(row, loo_retrained=None, **own)


def some_data(seed: int) -> Dataset:
    """Small, with 2 to 5 classes, some with duplicates or classes of one sample."""
    draw = np.random.default_rng(seed)
    m, Q = int(draw.integers(24, 60)), int(draw.integers(2, 6))
    problem = blobs(m, Q, spread=float(draw.uniform(0.5, 3.0)), seed=seed)
    if seed % 3 == 1:
        problem = with_duplicates(problem)
    if seed % 4 == 2:
        problem = with_tiny_classes(problem)
    return problem.dataset()


def check(seed: int) -> int:
    """A random sweep with and without a race; how many cells lost it."""
    draw = np.random.default_rng(seed)
    N = int(draw.integers(1, 5))
    values = dict(GRID)
    values["select"] = ("best", "simplest", "1se")[seed % 3]
    values["loss"] = "l2" if seed % 7 == 3 else "l1"
    values["machine"] = "ovo" if seed % 11 == 5 else "ww"
    values["solver"] = "smo" if seed % 13 == 6 else "exact"
    values["jobs"] = 2 if seed % 5 == 4 else 1
    values["extend"] = 1 if seed % 6 == 5 else 0
    data = some_data(seed)
    whole, raced = run_sweep(data, **values), run_sweep(data, **values, race=N)
    assert len(whole.rows) == len(raced.rows)
    best = [plain(row) for row in raced.rows[:N]]
    assert best == [plain(row) for row in whole.rows[:N]]
    assert plain(raced.chosen) == plain(whole.chosen)
    exact = {row.cell: row.loo_errors for row in whole.rows}
    for row in raced.rows:
        if row.status == "ok":
            assert row.loo_errors_low <= exact[row.cell] <= row.loo_errors_high
        if row.loo_errors is not None:
            assert row.loo_errors_low == row.loo_errors_high == exact[row.cell]
        else:
            assert row.loo_rate is None
    return sum(state_of(row, "loo_rate") == "bounded" for row in raced.rows)


def test_the_best_are_what_they_are_without_a_race() -> None:
    """Winner, N best, choice by each rule; what is bounded lies between its bounds."""
    assert sum(map(check, range(1, 8))) > 21


@pytest.mark.slow
def test_the_best_are_what_they_are_in_many_sweeps() -> None:
    """The same of 200."""
    assert sum(map(check, range(100, 300))) > 600


@pytest.fixture(scope="module")
def raced() -> Results:
    """Iris: three exact cells at least, and many that lost."""
    return run_sweep(str(IRIS), **GRID, race=3, criteria="loo,radius-margin-count")


def test_a_bounded_cell_comes_after_the_exact_ones(raced: Results) -> None:
    """By what it has at least; it has no state that counts."""
    states = [state_of(row, "loo_rate") for row in raced.rows]
    lost = states.count("bounded")
    assert lost
    assert states == ["ok"] * (len(states) - lost) + ["bounded"] * lost
    lows = [row.loo_errors_low for row in raced.rows[-lost:]]
    assert lows == sorted(lows)
    row = raced.rows[-1]
    assert lower_bound(row, "loo_errors") == row.loo_errors_low
    assert lower_bound(row, "loo_rate") == row.loo_errors_low / 150
    assert lower_bound(row, "radius_margin_count") is None
    assert raced.rows[0].loo_errors is not None
    assert lower_bound(raced.rows[0], "loo_errors") is None
    again = raced.ranked("radius-margin-count")
    assert {row.loo_errors for row in again.rows} == {r.loo_errors for r in raced.rows}


def test_a_table_shows_what_it_is_at_least(raced: Results) -> None:
    """And says how many there are; a program finds nothing, and the two bounds."""
    row = raced.rows[-1]
    table = sheet(raced).render("table", width=200)
    lost = sum(row.loo_errors is None for row in raced.rows)
    assert f">= {row.loo_errors_low / 150:.4g}" in table
    assert f">= {row.loo_errors_low} " in table
    assert (
        f"{lost} of 12 cells lost the race (>=): judged only until they could not be "
        "among the 3 best." in table
    )
    assert ">= " in sheet(raced).render("markdown", width=200).replace("&gt;", ">")
    last = rows_of(sheet(raced).render("csv"))[-1]
    assert last["loo_errors"] == last["loo_rate"] == ""
    assert int(last["loo_errors_low"]) < int(last["loo_errors_high"])
    document = json.loads(sheet(raced).render("json"))
    assert document["settings"]["race"] == 3
    assert document["rows"][-1]["loo_errors"] is None


def test_without_a_race_there_are_no_bounds() -> None:
    """Neither columns nor a word."""
    results = run_sweep(str(IRIS), C=1, gamma=1)
    assert "loo_errors_low" not in results.columns
    assert "race" not in sheet(results).render("table")


@pytest.mark.parametrize("ending", ["csv", "json", "ndjson"])
def test_a_file_comes_back_as_it_was(
    raced: Results, tmp_path: Path, ending: str
) -> None:
    """And ranks and is chosen from as before."""
    file = tmp_path / f"raced.{ending}"
    file.write_text(sheet(raced).render(ending))
    back = read_results(file).ranked("loo")
    assert [plain(row) for row in back.rows] == [plain(row) for row in raced.rows]
    told = run("rank", file, "--by", "loo", "--format", "csv")
    assert rows_of(told.stdout) == rows_of(sheet(raced).render("csv"))


def test_one_standard_error_says_what_it_could_not_choose(raced: Results) -> None:
    """In a race for the best alone; one for 1se judges all that may be chosen."""
    low = raced.rows[0].loo_errors + 1
    near = replace(raced.rows[-1], loo_errors_low=low)
    found = chosen(replace(raced, rows=(*raced.rows[:-1], near)), "1se")
    notes = "\n".join(sheet(found).notes)
    assert "that lost the race may lie within one standard error" in notes
    assert found.chosen is not None
    assert found.chosen.loo_errors is not None
    whole = run_sweep(str(IRIS), **GRID, select="1se")
    again = run_sweep(str(IRIS), **GRID, select="1se", race=3)
    assert "standard error, too" not in "\n".join(sheet(again).notes)
    assert plain(again.chosen) == plain(whole.chosen)


def test_a_gate_looks_at_an_exact_cell(tmp_path: Path) -> None:
    """The chosen one, which is that without a race."""
    line = ["sweep", IRIS, "--C", "0.1,1,10,100", "--gamma", "0.05,0.5,3"]
    for gate, code in (("0.04", 0), ("0.01", 1)):
        found = run(*line, "--race", 1, "--fail-above", gate)
        assert found.exit_code == code, found.output
        assert found.exit_code == run(*line, "--fail-above", gate).exit_code


def test_charts_do_not_take_a_bound_for_a_value(raced: Results) -> None:
    """A map marks it, and gives it no shade; a curve breaks there."""
    chart = heat_map_of(raced, "loo")
    cells = [cell for cell in chart.cells if cell.state == "bounded"]
    assert cells
    assert all(cell.counted is None for cell in cells)
    assert "bounded" in chart.marked
    assert "> a bound from below: the cell lost the race" in heat_text(chart)
    assert f">{100.0 * lower_bound(raced.rows[-1], 'loo_rate'):.1f}" in heat_text(chart)
    row = raced.rows[-1]
    setting = {"kernel": row.kernel, "gamma": row.gamma or 0.0}
    (curve,) = [
        c for c in curves_of(raced, "loo", setting).rates if c.column == "loo_rate"
    ] or [None]
    if curve is not None:
        at = curve.Cs.index(row.C)
        assert np.isnan(curve.values[at])
        assert not curve.counts[at]


def test_a_page_shows_it_as_a_bound(raced: Results) -> None:
    """In its table and its map, and says how many cells there are."""
    page = render(Report(raced, why_not="no samples"))
    low = raced.rows[-1].loo_errors_low
    assert f"\N{GREATER-THAN OR EQUAL TO}\N{NO-BREAK SPACE}{low}" in page
    assert "lost the race" in page


def test_two_runs_are_held_against_each_other(raced: Results, tmp_path: Path) -> None:
    """A cell that is bounded in one of them has not got worse."""
    whole = run_sweep(str(IRIS), **GRID, criteria="loo,radius-margin-count")
    files = [tmp_path / "whole.json", tmp_path / "raced.json"]
    for file, results in zip(files, (whole, raced), strict=True):
        file.write_text(sheet(results).render("json"))
    for before, after in (files, files[::-1]):
        found = run(
            "rank", after, "--by", "loo", "--against", before, "--format", "csv"
        )
        assert found.exit_code == 0, found.output
        moved = {row["moved"] for row in rows_of(found.stdout)}
        assert moved <= {"value lost", "value new"}


def test_a_race_goes_on_from_its_journal(tmp_path: Path) -> None:
    """Stopped anywhere, to the last bit; nothing that is there is done again."""
    data, settings = some_data(1), settings_from({**GRID, "race": 2})
    file = tmp_path / "run.ndjson"

    def rows(stop: int | None = None) -> list[Row]:
        with Journal(file, resume=file.exists()) as journal:
            found = list(islice(iterate(data, settings, journal=journal), stop))
        ranked = gather(data, settings, found).rows
        return [replace(row, seconds=None) for row in ranked]

    whole = rows()
    lines = file.read_bytes().splitlines(keepends=True)
    assert any(row.loo_errors is None for row in whole)
    for stop in range(1, len(whole)):
        file.write_bytes(b"".join(lines[: 1 + stop]))
        assert rows() == whole, stop


@pytest.mark.parametrize("race", [None, 5])
def test_a_cell_that_may_win_another_race_is_taken_up_again(
    tmp_path: Path, race: int | None
) -> None:
    """Of five where there was one of one, or of none; the others stay bounded."""
    data, file = some_data(2), tmp_path / "run.ndjson"
    first = run_sweep(data, **GRID, race=1, journal=Journal(file))
    second = run_sweep(data, **GRID, race=race, journal=Journal(file, resume=True))
    whole = run_sweep(data, **GRID)
    N = race or len(whole.rows)
    assert [plain(r) for r in second.rows[:N]] == [plain(r) for r in whole.rows[:N]]
    assert any(row.loo_errors is None for row in first.rows)
    back = read_results(file).ranked("loo")
    assert [plain(r) for r in back.rows[:N]] == [plain(r) for r in whole.rows[:N]]


def test_what_is_hopeless() -> None:
    """More errors than the last of the best; with 1se, out of its reach too."""
    race = Race(2)
    exact = [Row(loo_errors=e, loo_rate=e / 100, n_samples=100) for e in (9, 4, 30)]
    race.finished(exact[0])
    race.watch(100, 1)
    race.finished(Row(loo_errors_low=1, loo_errors_high=3))
    race.finished(replace(exact[1], status="failed"))
    race.watch(100, 1)
    race.finished(exact[1])
    race.watch(9, 50)
    race.watch(10, 0)  # all are judged
    with pytest.raises(HopelessError) as caught:
        race.watch(10, 50)
    assert (caught.value.low, caught.value.high) == (10, 60)
    assert race.is_open(Row(loo_errors_low=9))
    assert not race.is_open(Row(loo_errors_low=10))
    assert not race.is_open(exact[2])
    wide = Race(1, "1se")
    wide.finished(exact[0])
    wide.watch(11, 50)  # 9 + sqrt(9 * 0.91) = 11.9
    with pytest.raises(HopelessError):
        wide.watch(12, 50)


def test_all_are_trained_first_and_the_best_judged_first() -> None:
    """A cell that could be won is judged before one that could not; copies follow."""
    events: list[tuple[str, float, float]] = []

    def hear(event: Event) -> None:
        if isinstance(event, CellStarted):
            events.append(("started", event.kernel.gamma, event.C))
        if isinstance(event, CellDone):
            events.append(("done", event.row.gamma, event.row.C))

    data = blobs(90, 3, spread=1.0, seed=3).dataset()
    grid = {"C": "1,1e3,1e4", "gamma": "1e-6,0.3,1000", "extend": 0}
    found = run_sweep(data, **grid, race=1, progress=hear)
    done = [event[1:] for event in events if event[0] == "done"]
    assert [event[0] for event in events[:9]] == ["started"] * 9
    best = found.rows[0]
    assert done[0] == (best.gamma, best.C)
    assert sum(row.loo_errors is not None for row in found.rows) < 5
    at = {place: i for i, place in enumerate(done)}
    assert at[1000.0, 1e4] == at[1000.0, 1e3] + 1


def test_a_heat_ends_after_some_samples() -> None:
    """Or at once, where the sure errors say enough; what it found ends the cell."""
    race, heat = Race(1), _Heat(Race(1))
    heat(0, 100)  # before anything is known
    heat(3, 90)
    heat(5, 70)
    with pytest.raises(HopelessError):
        heat(8, 60)
    assert heat.sure == 3
    assert (heat.end.low, heat.end.high) == (8, 68)
    race.finished(Row(loo_errors=7, loo_rate=0.07, n_samples=100))
    one = Entrant(Chain(None, None), [], (0, 1.0), 8, True, heat.sure, heat.end)
    with pytest.raises(HopelessError) as caught:
        _Told(one, race)(0, 100)
    assert caught.value is heat.end
    sure = _Heat(race)
    sure(0, 100)
    with pytest.raises(HopelessError):
        sure(8, 90)


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[Any]]:
    """Every machine whose samples were left out since."""
    made: list[weakref.ref[Any]] = []
    judge = every_sample._LeavingOut.__init__

    def noted(self: Any, *given: Any) -> None:
        made.append(weakref.ref(self))
        judge(self, *given)

    monkeypatch.setattr(every_sample._LeavingOut, "__init__", noted)
    return made


def test_a_cell_that_loses_lets_go_of_its_matrices(
    left: list[weakref.ref[Any]],
) -> None:
    """At once, and not when the collector comes round: a race has many cells."""
    data = blobs(90, 5, seed=3).dataset()
    gc.disable()
    try:
        found = run_sweep(data, **GRID, race=1)
        assert any(row.loo_errors is None for row in found.rows)
        assert left
        assert all(one() is None for one in left)
    finally:
        gc.enable()


def test_a_cell_goes_on_from_its_heat(
    left: list[weakref.ref[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not set up again, and its row is what it would be; the others let go."""
    data = blobs(90, 5, seed=3).dataset()
    found = run_sweep(data, **GRID, race=1)
    some = len(left)
    assert all(one() is None for one in left)
    monkeypatch.setattr(heats, "HEATS_KEPT", 0)
    again = run_sweep(data, **GRID, race=1)
    assert len(left) - some == some + 1
    assert [plain(row) for row in found.rows] == [plain(row) for row in again.rows]


def test_the_middle_comes_first() -> None:
    """Then its neighbours, one after the other."""
    assert middle_first([1, 2, 3, 4, 5]) == [3, 2, 4, 1, 5]
    assert middle_first([]) == []


def test_a_race_is_by_leave_one_out() -> None:
    """Ranked by anything else there are no best cells to be exact."""
    with pytest.raises(SettingsError, match="the best cells are those by loo"):
        settings_from({"race": 3, "criteria": "cv:5"})
    with pytest.raises(SettingsError, match="1 or more"):
        settings_from({"race": 0})


def test_a_race_is_of_sweeps_alone() -> None:
    """Elsewhere every cell is judged."""
    assert run("compare", IRIS, "--race", "3").exit_code == 2
    assert run("loo", IRIS, "--race", "3").exit_code == 2


def test_ranks_of_bounded_cells_hold_for_each_share() -> None:
    """Fewer errors of more samples is less, by rate."""
    rows = [
        Row(C=1.0, n_samples=100, loo_errors_low=20, loo_errors_high=40),
        Row(C=2.0, n_samples=100, loo_errors_low=10, loo_errors_high=90),
        Row(C=3.0, n_samples=100, loo_errors=30, loo_rate=0.3),
    ]
    assert [row.C for row in rank(rows, "loo")] == [3.0, 2.0, 1.0]
