"""Grids that widen themselves where the best value is on their edge."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from msvm_select import load_csv, run_sweep
from msvm_select.columns import Row
from msvm_select.results.choosing import edges
from msvm_select.results.ranking import Results, rank
from msvm_select.settings import Settings, settings_from
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.loop import Extension, gather, iterate
from msvm_select.train.events import Event, GramTested, Progress, Started, Widened
from tests.conftest import IRIS, Problem, run

Value = Callable[[Row], float | None]


def played(value: Value, **values: Any) -> tuple[Extension, list[Event]]:
    """A sweep whose score is a function of the cell; nothing is trained."""
    settings = settings_from({"criteria": "sv-rate", **values})
    told: list[Event] = []

    def sweep(part: Settings, progress: Progress) -> Iterator[Row]:
        kernels = part.kernels()
        progress(Started("play", 10, 2, 2, len(kernels), len(part.C), "exact"))
        for kernel in kernels:
            progress(GramTested(kernel, 1.0, False))
            for C in part.C:
                row = Row(kernel=kernel.name, C=C, **kernel.parameters)
                score = value(row)
                status = "failed" if score is None else "ok"
                yield Row(**{**vars(row), "sv_rate": score, "status": status})

    return Extension(sweep, settings, told.append), told


def widened(told: list[Event]) -> list[tuple[str, tuple[float, ...]]]:
    """What the grids got, in order."""
    return [(e.name, e.values) for e in told if isinstance(e, Widened)]


def log_distance(C: float, gamma: float | None = None) -> Value:
    """Least at this cell, growing by the octave."""

    def value(row: Row) -> float:
        there = abs(math.log2(row.C / C))
        return there if gamma is None else there + abs(math.log2(row.gamma / gamma))

    return value


@pytest.mark.parametrize(
    ("grid", "at", "new"),
    [
        ("2^-3:2^3:4", 2.0**6, [(32.0, 128.0)]),
        ("2^-3:2^3:4", 2.0**9, [(32.0, 128.0), (512.0, 2048.0)]),
        ("2^-3:2^3:4", 2.0**-5, [(2.0**-7, 2.0**-5)]),
        ("1:3:+1", 4.0, [(4.0, 5.0)]),
        ("1:3:+1", 0.5, [(0.25, 0.5)]),
        ("2:6:+2", 1.0, [(0.5, 1.0)]),
        ("1,2,10", 40.0, [(50.0, 250.0)]),
        ("1,2,10", 0.5, [(0.25, 0.5)]),
        ("1,2,10", 2.0, []),
    ],
)
def test_a_grid_grows_in_its_own_steps(
    grid: str, at: float, new: list[tuple[float, ...]]
) -> None:
    """Geometric, arithmetic or a list, two values a round, until the best is within."""
    extension, told = played(log_distance(at), C=grid, extend=9)
    rows = list(extension)
    assert widened(told) == [("C", values) for values in new]
    old = settings_from({"C": grid}).C
    assert extension.settings.C == tuple(sorted({*old, *sum(new, ())}))
    assert sorted(row.C for row in rows) == list(extension.settings.C)


def test_both_grids_grow_and_stay_a_product() -> None:
    """Every cell of the whole grid comes once, whichever parameter grew first."""
    extension, told = played(
        log_distance(64.0, 64.0), C="1,2,4", gamma="1,4,16", extend=5
    )
    rows = list(extension)
    grid = extension.settings
    assert {name for name, _ in widened(told)} == {"C", "gamma"}
    assert grid.gamma is not None
    assert len(rows) == len(grid.C) * len(grid.gamma)
    cells = {(row.C, row.gamma) for row in rows}
    assert cells == {(C, gamma) for C in grid.C for gamma in grid.gamma}


def test_only_kernels_that_take_a_parameter_are_widened_by_it() -> None:
    """No cell comes twice, and a kernel with a default of its own keeps to it."""

    def value(row: Row) -> float:
        far = abs(math.log2(row.C / 2.0**12))
        is_rbf = row.kernel == "rbf"
        return far + (abs(math.log2(row.gamma / 64.0)) if is_rbf else 50.0)

    kernels = "linear,polynomial,rbf"
    extension, told = played(value, kernel=kernels, gamma="around", extend=3)
    rows = list(extension)
    assert {name for name, _ in widened(told)} == {"C", "gamma"}
    assert len({(row.kernel, row.gamma, row.C) for row in rows}) == len(rows)
    gammas = {k: {r.gamma for r in rows if r.kernel == k} for k in kernels.split(",")}
    assert (gammas["linear"], gammas["polynomial"]) == ({None}, {1.0})
    assert max(gammas["rbf"]) >= 64.0
    assert {row.C for row in rows if row.kernel == "linear"} == set(
        extension.settings.C
    )
    ranked_rows = rank(rows, "sv-rate")
    settings = {"gamma": extension.settings.gamma, "C": extension.settings.C}
    poly = [row for row in ranked_rows if row.kernel == "polynomial"]
    found = edges(Results(tuple(poly), "sv-rate", settings=settings))
    assert "gamma" not in {edge.name for edge in found}
    alone, _ = played(value, kernel="linear,rbf", gamma="1,4", extend=2)
    linear = [row.C for row in alone if row.kernel == "linear"]
    assert len(linear) == len(set(linear))


def test_it_ends_when_the_rounds_are_used_up() -> None:
    """Zero rounds change nothing; each round is counted for who listens."""
    extension, told = played(lambda row: -row.C, C="1,2,4", extend=2)
    list(extension)
    assert [e.round for e in told if isinstance(e, Widened)] == [1, 2]
    assert extension.settings.C[-1] == 64.0
    extension, told = played(lambda row: -row.C, C="1,2,4")
    assert len(list(extension)) == 3
    assert widened(told) == []


def test_it_ends_where_a_value_from_within_does_as_well() -> None:
    """A flat end is no edge, nor is one whose new cells fail."""
    extension, told = played(lambda row: max(1.0, 8.0 - row.C), C="1,2,4", extend=9)
    list(extension)
    assert widened(told) == [("C", (8.0, 16.0))]
    extension, told = played(
        lambda row: -row.C if row.C <= 4.0 else None, C="1,2,4", extend=9
    )
    list(extension)
    assert widened(told) == [("C", (8.0, 16.0))]


@pytest.mark.parametrize(
    ("values", "value", "name", "end"),
    [
        ({"C": "1,1000"}, lambda row: -row.C, "C", 1e9),
        ({"C": "1,1000"}, lambda row: row.C, "C", 1e-9),
        ({"C": "4"}, lambda row: row.C, "C", 4.0),
        (
            {"kernel": "polynomial", "degree": "1,2", "C": "1"},
            lambda row: -row.degree,
            "degree",
            10.0,
        ),
    ],
)
def test_it_never_goes_beyond_sensible_values(
    values: dict[str, str], value: Value, name: str, end: float
) -> None:
    """However far the best value lies; one value alone has no edge."""
    extension, _ = played(value, extend=99, **values)
    list(extension)
    grid = getattr(extension.settings, name)
    assert end in (grid[0], grid[-1])


def test_too_large_a_grid_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends as it was, with what was trained."""
    monkeypatch.setattr("msvm_select.settings.settings.MOST_CELLS", 5)
    extension, told = played(lambda row: -row.C, C="1,2,4", extend=9)
    assert len(list(extension)) == 5
    assert widened(told) == [("C", (8.0, 16.0))]


def test_a_grid_of_sigma_grows_as_sigma() -> None:
    """The largest sigma is the smallest gamma."""
    extension, told = played(
        lambda row: row.gamma, sigma="0.3,0.6,1.2", C=1.0, extend=1
    )
    list(extension)
    assert widened(told) == [("sigma", (2.4, 4.8))]
    assert extension.settings.gamma is None


def test_who_listens_hears_of_the_rounds_and_of_no_gram_matrix_twice() -> None:
    """One start; each round with its reason and its number of cells."""
    extension, told = played(log_distance(32.0), C="1,2,4", gamma="1,2", extend=3)
    list(extension)
    assert [type(e) for e in told].count(Started) == 1
    assert [type(e) for e in told].count(GramTested) == 2
    rounds = [e for e in told if isinstance(e, Widened)]
    assert rounds[0] == Widened(
        1, 3, "C", (8.0, 16.0), "the best C = 4 is the largest of its grid", 4
    )


def test_the_rows_are_those_of_one_sweep_of_the_whole_grid() -> None:
    """But for rounding; and the provenance has both grids."""
    data = load_csv(IRIS)
    asked = {"kernel": "linear", "C": "2^-9:2^-7:2", "criteria": "sv-rate"}
    found = run_sweep(data, extend=3, **asked)
    whole = run_sweep(data, **{**asked, "C": list(found.settings["C"])})
    assert found.settings["extended_from"] == {"C": (2.0**-9, 2.0**-7)}
    assert len(found.settings["C"]) > 2
    assert edges(found) == () or len(found.rows) == 8
    assert [(r.C, r.n_sv) for r in found.rows] == [(r.C, r.n_sv) for r in whole.rows]
    for one, other in zip(found.rows, whole.rows, strict=True):
        assert one.dual_objective == pytest.approx(other.dual_objective, rel=1e-7)
    assert "extended_from" not in whole.settings


def test_the_command_says_each_round_and_where_it_ended(tmp_path: Path) -> None:
    """On stderr; the file has the grid as it was swept."""
    out = tmp_path / "wide.json"
    line = [
        "sweep",
        str(IRIS),
        "--kernel",
        "linear",
        "--C",
        "2^-9,2^-7",
        "-o",
        str(out),
    ]
    line += ["--criteria", "train-errors"]
    plain = run(*line)
    assert "--extend 1 looks beyond it" in plain.stderr
    wide = run(*line, "--extend", "1")
    assert "Round 1 of 1: the best C = 0.0078125 is the largest" in wide.stderr
    assert "--extend 2 looks beyond it" in wide.stderr
    settings = json.loads(out.read_text())["settings"]
    assert settings["extended_from"] == {"C": [2.0**-9, 2.0**-7]}
    assert settings["C"] == [2.0**-9, 2.0**-7, 2.0**-5, 2.0**-3]
    inside = run(*line, "--extend", "9")
    assert "The best value is within the grid now (C: " in inside.stderr
    again = [*line, "--C", "2^-9:2^13:12", "--extend", "9"]
    assert "Nothing to extend" in run(*again).stderr


def test_a_journal_keeps_the_rounds(tmp_path: Path) -> None:
    """Who goes on from it trains nothing again, and may ask for more rounds."""
    data = load_csv(IRIS)
    cells = {"kernel": "linear", "C": "2^-11,2^-9", "criteria": "sv-rate"}
    path = tmp_path / "iris.ndjson"

    def rows(rounds: int, resume: bool) -> list[Row]:
        settings = settings_from({**cells, "extend": rounds})
        with Journal(path, resume=resume) as journal:
            return list(Extension(partial(iterate, data, journal=journal), settings))

    first = rows(1, resume=False)
    again = rows(1, resume=True)
    more = rows(2, resume=True)
    assert first == again == more[:4]
    assert len(more) == 6
    assert len(path.read_text().splitlines()) == 1 + 6


@pytest.mark.parametrize("status", ["ok", "not_converged", "failed"])
def test_only_what_counts_from_within_does_as_well(status: str) -> None:
    """The same score of a machine that did not converge keeps no edge quiet."""
    scores = {1.0: ("ok", 0.1), 10.0: (status, 0.1), 100.0: ("ok", 0.3)}
    rows = [Row(C=C, status=s, loo_rate=rate) for C, (s, rate) in scores.items()]
    found = edges(Results(rank(rows, "loo"), "loo"))
    assert [edge.name for edge in found] == ([] if status == "ok" else ["C"])


def test_gathering_needs_no_extension() -> None:
    """Whoever sweeps by hand gives the settings alone."""
    data, settings = load_csv(IRIS), settings_from({"criteria": "sv-rate"})
    rows = [Row(kernel="rbf", gamma=1.0, sv_rate=0.5)]
    found = gather(data, settings, rows)
    assert found.rows == rank(rows, "sv-rate")
    assert "extended_from" not in found.settings


def test_without_a_grid_the_results_have_numbers(tmp_path: Path) -> None:
    """``run_sweep`` and the command alike; the file tells what the grid grew from."""
    data = Problem(*separated(24)).dataset()
    found = run_sweep(data, criteria="train-errors")
    gammas = found.settings["gamma"]
    assert len(gammas) >= 5
    assert {row.gamma for row in found.rows} == set(gammas)
    kept = run_sweep(data, criteria="train-errors", extend=0)
    assert len(kept.rows) == 35
    assert "extended_from" not in kept.settings
    told = settings_from({"criteria": "train-errors"})
    assert len({row.gamma for row in run_sweep(data, told).rows}) == 1


def test_the_command_without_a_grid_widens_it(tmp_path: Path) -> None:
    """Quietly where there is nothing to widen; ``--no-extend`` warns of the edge."""
    line = ("sweep", IRIS, "--criteria", "sv-rate", "-o", tmp_path / "a.json")
    done = run(*line)
    assert done.exit_code == 0, done.output
    assert "Round 1 of 2: the best gamma" in done.stderr
    settings = json.loads((tmp_path / "a.json").read_text())["settings"]
    assert settings["extended_from"]["gamma"] == [0.015625, 0.0625, 0.25, 1.0, 4.0]
    kept = run(*line, "--no-extend")
    assert "Round" not in kept.stderr
    assert "or --extend 1 looks beyond it" in kept.stderr
    assert "gamma" in json.loads((tmp_path / "a.json").read_text())["settings"]
    loo = run("sweep", IRIS, "--kernel", "linear", "--C", "1,8,64")
    assert "Nothing to extend" not in loo.stderr


def test_the_criteria_are_compared_over_several_gammas() -> None:
    """``compare`` without a grid, which it does not widen."""
    done = run("compare", IRIS, "--criteria", "sv-rate", "--format", "csv")
    assert "cells: 35 (kernels: 5, C: 7)" in done.stderr
    assert "Round" not in done.stderr


def separated(m: int) -> tuple[Any, Any, int]:
    """Two classes far apart, in two features."""
    X = np.random.default_rng(3).normal(size=(m, 2))
    y = np.arange(m) % 2
    return X + 4.0 * y[:, None], y, 2
