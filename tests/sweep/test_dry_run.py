from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from msvm_select import load_csv
from msvm_select.errors import SolverError
from msvm_select.footprint import Footprint, grown
from msvm_select.names import SOLVERS
from msvm_select.records import Dataset
from msvm_select.settings import settings_from
from msvm_select.show.answers import plan as plan_answer
from msvm_select.sweep import plan as planning
from msvm_select.sweep.costs import Estimate
from msvm_select.sweep.plan import estimate, part_of
from msvm_select.train.prepare import prepared
from tests.conftest import DATA, IRIS, run

GRID = ("--C", "0.1,1,10", "--gamma", "0.25,1", "--solver", "qp", "--criteria", "vc")


@pytest.fixture
def guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """An estimate of 4 to 9 s, by 80 samples, that takes no time."""
    monkeypatch.setattr(planning, "estimate", lambda *_: Estimate(4.0, 9.0, 80))
    monkeypatch.setattr(planning, "compiling_note", lambda started: "")


@pytest.mark.usefixtures("guess")
def test_the_grid_is_printed() -> None:
    """Sizes, kernels, C, cells, criteria, memory and time; on stdout, exit 0."""
    result = run(
        "sweep", IRIS, *GRID, "--kernel", "rbf", "--kernel", "linear", "--dry-run"
    )
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = dict.fromkeys(line[:10].strip() for line in result.stdout.splitlines())
    assert list(lines) == [
        *("data", "kernels", "", "C", "cells", "criteria", "solver", "memory", "time")
    ]
    assert "iris: 150 samples, 4 features, 3 classes" in result.stdout
    assert "rbf gamma 0.25, 1\n          linear\n" in result.stdout
    assert "cells     9\n" in result.stdout
    assert "180 kB a Gram matrix" in result.stdout
    assert result.stdout.endswith("time      4 to 10 s, judged by 80 of the samples\n")


@pytest.mark.usefixtures("guess")
def test_the_lines_fit_a_terminal() -> None:
    """80 columns, though the grid is long; no value is broken."""
    result = run("sweep", IRIS, "--C", "2^-9:2^9:40", "--dry-run")
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.usefixtures("guess")
def test_it_can_be_read_by_a_program() -> None:
    """As JSON, with nothing rounded."""
    result = run("sweep", IRIS, *GRID, "--dry-run", "--format", "json")
    document = json.loads(result.stdout)
    assert document["kernels"] == [
        {"kernel": "rbf", "gamma": gamma} for gamma in (0.25, 1.0)
    ]
    assert document["C"] == [0.1, 1.0, 10.0]
    assert (document["cells"], document["gram_bytes"]) == (6, 8 * 150**2)
    assert document["peak_bytes"] > document["gram_bytes"]
    assert document["seconds"] == [4.0, 9.0]


@pytest.mark.usefixtures("guess")
def test_a_shard_counts_its_own_cells() -> None:
    """The parts of the grid make the whole; one too many is empty."""
    cells = []
    for number in (1, 2, 3):
        line = (*GRID, "--shard", f"{number}/3", "--dry-run", "--format", "json")
        document = json.loads(run("sweep", IRIS, *line).stdout)
        cells += [(k["gamma"], C) for k in document["kernels"] for C in document["C"]]
    assert sorted(cells) == [(g, C) for g in (0.25, 1.0) for C in (0.1, 1.0, 10.0)]
    last = run("sweep", IRIS, *GRID, "--shard", "7/7", "--dry-run")
    assert "7/7, empty: there are more parts than cells" in last.stdout


@pytest.mark.usefixtures("guess")
def test_nothing_is_swept_or_written(tmp_path: Path) -> None:
    """No file, whatever files are asked for."""
    out = tmp_path / "out.csv"
    line = ("sweep", IRIS, *GRID, "-o", out, "--journal", tmp_path / "journal")
    result = run(*line, "--dry-run")
    assert result.exit_code == 0
    assert "rank" not in result.stdout.split()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("guess")
def test_a_config_can_be_tried() -> None:
    """``run`` has it too."""
    result = run("run", DATA.parent / "configs" / "iris.toml", "--dry-run")
    assert "cells     35\n" in result.stdout


@pytest.mark.usefixtures("guess")
def test_what_cannot_be_swept_cannot_be_planned(tmp_path: Path) -> None:
    """Data of one class: exit 3; a backend that is not there: exit 2."""
    data = tmp_path / "one.csv"
    data.write_text("a,class\n1,x\n2,x\n")
    assert run("sweep", data, "--dry-run").exit_code == 3
    line = ("sweep", IRIS, "--solver", "qp", "--qp-backend", "none", "--dry-run")
    assert run(*line).exit_code == 2


def test_nothing_is_compiled_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a new machine the time is not known, and the line says what comes first."""

    def never(*arguments: object) -> None:
        raise AssertionError

    monkeypatch.setattr(planning, "estimate", never)
    monkeypatch.setattr(planning, "compiling_note", lambda started: "Compiling ...")
    result = run("sweep", IRIS, *GRID, "--dry-run")
    assert "time      not known yet. Compiling ...\n" in result.stdout


def test_more_jobs_need_more_memory() -> None:
    """Each kernel setting under way has a Gram matrix of its own."""
    data = load_csv(IRIS)
    peaks = [
        prepared(data, settings).footprint.peak_bytes()
        for jobs in (1, 2)
        if (settings := settings_from({"gamma": "1,2,3", "jobs": jobs}))
    ]
    assert peaks[1] > peaks[0] > 2 * 8 * 150**2


def test_folds_leaving_out_and_the_quadratic_loss_are_counted() -> None:
    """Each holds what it holds; a file in the order of its classes needs one less."""
    plain = Footprint(2000, 3, leaves_out=False)
    assert plain.matrices == 2.0
    assert Footprint(2000, 3, in_order=True, leaves_out=False).matrices == 2.0  # test
    assert Footprint(5000, 3, in_order=True).matrices == 1.0
    assert Footprint(2000, 3, folds=(5,)).matrices == pytest.approx(2.0 + 3.2 + 0.8)
    assert Footprint(2000, 3, loss="l2", Cs=2).matrices == 5.0
    out = Footprint(2000, 3)
    assert out.peak_bytes(500, 400) > plain.peak_bytes(500, 400)
    assert out.peak_bytes(3000, 1500) > out.peak_bytes(500, 400)
    assert Footprint(2000, 3, needs_none=True).gram_bytes == 0


def test_what_would_fit_does() -> None:
    """The number of rows that a refusal names is the largest that is not refused."""
    needed = Footprint(9000, 4, machine="ova", jobs=2)
    m = needed.most_samples(1e9)
    assert 0 < m < 9000
    assert replace(needed, m=m).certain_bytes <= 1e9
    assert replace(needed, m=m + 1).certain_bytes > 1e9


def test_counts_grow_by_a_power_of_the_samples() -> None:
    """That of the last two parts, within reason; a share of all grows with them."""
    assert grown([(100, 50.0), (400, 100.0)], 1600) == pytest.approx(200.0)
    assert grown([(100, 5.0), (200, 100.0)], 400) == pytest.approx(200.0)
    assert grown([(100, 90.0)], 1000, share=1.0) == pytest.approx(900.0)
    assert grown([(100, 0.0)], 1000) == 0.0


def test_one_machine_for_each_pair_needs_little_memory() -> None:
    """Beyond 3,000 samples it has no matrix of all samples, but blocks of two classes.

    One machine of all classes has that of the samples that matter, where it can.
    """
    data = many(20_000)

    def planned(m: int = 20_000, **values: Any) -> Footprint:
        settings = settings_from({"gamma": 1.0, **values})
        return prepared(many(m), settings).footprint

    pairs, whole = planned(machine="ovo"), planned(machine="ww", loss="l2")
    assert planned(machine="ww").gram_bytes == 8 * 2500**2
    largest = int(np.sort(np.bincount(data.y))[-2:].sum())
    assert (pairs.gram_bytes, whole.gram_bytes) == (8 * largest**2, 8 * 20_000**2)
    assert pairs.peak_bytes() < 1e9 < 9e9 < whole.peak_bytes()
    assert planned(machine="ova").gram_bytes == 8 * 2500**2
    assert planned(2000, machine="ovo").gram_bytes == 8 * 2000**2


def test_loading_counts_once() -> None:
    """The first cell that is tried is of a few samples, and has all loading in it."""
    settings = settings_from({"gamma": "0.1,1", "solver": "qp", "criteria": "sv-rate"})
    trials = planning._trials(many(600, 20), settings, settings.kernels(), 60.0)
    first, second = next(trials), next(trials)
    assert (first[1], second[1]) == (40, 40)
    assert first[0] == second[0]
    data = replace(many(600, 20), y=np.arange(600) % 2 * 19)
    assert next(planning._trials(data, settings, settings.kernels(), 60.0))[1] == 40


def test_a_part_has_every_class() -> None:
    """Its share of each, two at the least, and the same samples every time."""
    data = load_csv(DATA / "glass.csv")
    part = part_of(data, 40)
    assert part.m == 40
    assert np.bincount(part.y, minlength=6).min() >= 2
    assert (part.X == part_of(data, 40).X).all()
    assert (part_of(data, data.m).X == data.X).all()


def test_an_estimate_is_a_range_and_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Low below high, from a part of the data; by itself, whatever the solver."""
    monkeypatch.setattr(planning, "PATIENCE", 60.0)
    monkeypatch.setattr(planning, "WORK", 0.3)
    data = load_csv(IRIS)
    settings = settings_from({"gamma": "0.1,1", "criteria": "sv-rate"})
    found = estimate(data, settings, settings.kernels())
    assert found.low > 0.0
    if found.high is not None:  # a machine that is hard at work is sure of nothing
        assert found.low < found.high <= 4.0 * found.low
    assert 40 <= found.samples <= 150


def test_without_time_only_the_least_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell was done: what was waited for, for each cell of the grid."""
    monkeypatch.setattr(planning, "WORK", -1.0)
    data = load_csv(IRIS)
    settings = settings_from({"solver": "qp", "criteria": "sv-rate"})
    found = estimate(data, settings, settings.kernels())
    assert (found.high, found.samples) == (None, 0)
    assert found.low > 0.0
    needed = prepared(data, settings).footprint
    planned = planning.Plan(data, settings, settings.kernels(), needed, found)
    assert "at least" in plan_answer.sheet(planned).render("table")


def test_three_hundred_classes_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the time that is given, though a single training takes longer.

    It waits here: a real one would work on for minutes beside the other tests.
    """
    monkeypatch.setattr(planning, "PATIENCE", 0.5)
    over = Event()

    def solve(*_: object) -> None:
        over.wait(60.0)
        raise SolverError("the test is over")

    monkeypatch.setattr(SOLVERS["exact"], "solve", solve)
    draw = np.random.default_rng(0)
    y = np.arange(900) % 300
    classes = tuple(map(str, range(300)))
    data = Dataset(draw.standard_normal((900, 4)), y, classes, ("a", "b", "c", "d"))
    began = time.perf_counter()
    found = estimate(data, settings_from({}), settings_from({}).kernels())
    took = time.perf_counter() - began
    over.set()
    assert took < 20.0  # without the bound: minutes
    assert found.high is None


def test_what_is_too_rough_is_told(tmp_path: Path) -> None:
    """A gamma far beyond the scale of the data, before and during the sweep."""
    draw = np.random.default_rng(0)
    rows = [[*map(str, x), "ab"[i % 2]] for i, x in enumerate(draw.random((40, 30)))]
    names = [*(f"x{j}" for j in range(30)), "class"]
    data = tmp_path / "wide.csv"
    data.write_text("\n".join(map(",".join, [names, *rows])) + "\n")
    line = ("sweep", data, "--C", "1", "--gamma", "0.01,1")
    planned = run(*line, "--dry-run").stdout
    assert "rbf gamma=1 is far beyond the scale" in planned
    assert "rbf gamma=0.01" not in planned
    assert "rbf gamma=1 is far beyond the scale" in run(*line).stderr


def many(m: int = 2000, Q: int = 26) -> Dataset:
    """So many samples of so many classes."""
    y = np.arange(m) % Q
    X = np.random.default_rng(0).normal(size=(m, 3))
    names = tuple(f"c{k:02}" for k in range(Q))
    return Dataset(X, y, names, ("a", "b", "c"), name="many")


@pytest.mark.parametrize(
    ("slow", "fast", "told"),
    [
        (Estimate(600.0, None, 80), Estimate(5.0, 20.0, 80), "5 to 20 s"),
        (Estimate(600.0, None, 80), Estimate(5.0, None, 80), ""),
        (Estimate(600.0, 900.0, 80), Estimate(200.0, 400.0, 80), ""),
        (Estimate(40.0, 90.0, 80), Estimate(1.0, 2.0, 80), ""),
    ],
)
def test_a_machine_that_takes_much_less_is_named(
    slow: Estimate, fast: Estimate, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where this one takes minutes, and only if the estimates are sure of both."""
    by_machine = {"ww": slow, "ovo": fast}
    monkeypatch.setattr(
        planning, "estimate", lambda data, settings, *_: by_machine[settings.machine]
    )
    monkeypatch.setattr(planning, "compiling_note", lambda started: "")
    plan = planning.plan(many(), settings_from({"gamma": "0.1,1"}))
    assert ("--machine ovo" in plan.quicker) is bool(told)
    assert told in plan.quicker
    shown = " ".join(plan_answer.sheet(plan).render("table").split())
    assert ("--machine ovo" in shown) is bool(told)
    for data, machine in ((many(), "ovo"), (many(180), "ww")):
        settings = settings_from({"gamma": 1, "machine": machine})
        assert planning.plan(data, settings).quicker == ""
    two = planning.plan(many(6000, 2), settings_from({"gamma": 1}))
    assert "--machine ovo" not in two.quicker
    hundreds = planning.plan(many(1200, 300), settings_from({"gamma": 1})).quicker
    assert ("--machine ovo" in hundreds) is (slow.low >= planning.MINUTES)


@pytest.mark.parametrize(
    ("values", "race", "span"),
    [
        ({}, True, True),
        ({"race": 3}, False, True),
        ({"criteria": "loo,span"}, True, False),
        ({"criteria": "cv:5,loo"}, False, True),
        ({"criteria": "cv:5"}, False, False),
    ],
    ids=str,
)
def test_less_judging_is_offered_where_it_takes_minutes(
    values: dict[str, Any], race: bool, span: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as it was not asked for, in the line that names the machine."""
    for low, told in ((600.0, True), (30.0, False)):
        found = Estimate(low, 2.0 * low, 80)
        monkeypatch.setattr(planning, "estimate", lambda *_, found=found: found)
        monkeypatch.setattr(planning, "compiling_note", lambda started: "")
        for data in (many(), many(6000, 2)):
            line = planning.plan(data, settings_from({"gamma": 1, **values})).quicker
            assert ("--race 3" in line) is (race and told)
            assert ("--criteria span" in line) is (span and told)
            many_rows = data.m >= planning.MANY_ROWS
            assert ("--subsample 2000" in line) is (many_rows and told)
            assert ("--rank 100" in line) is (many_rows and told)
            assert line.startswith("by estimate") is (
                (race or span or many_rows) and told
            )


def test_the_sweep_names_it_once_and_never_quietly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On stderr, beside the training; with --quiet it is not even thought about."""
    asked: list[Any] = []

    def quicker(ready: Any) -> str:
        asked.append(ready)
        return "This takes at least 10 min; with --machine ovo 9 s"

    monkeypatch.setattr(planning, "quicker", quicker)
    line = ("sweep", IRIS, "--gamma", "2^-7:2^1:5")
    assert run(*line).stderr.count("Note: This takes at least 10 min; with") == 1
    assert run(*line, "--quiet").stderr == ""
    assert len(asked) == 1
