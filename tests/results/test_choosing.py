"""Which cell is taken of a ranking, and where that is told."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from msvm_select import load_csv, run_sweep
from msvm_select.cli import cli
from msvm_select.errors import DataError, SettingsError
from msvm_select.names import RULES
from msvm_select.results import Results, rank
from msvm_select.results.choosing import chosen, standard_error
from msvm_select.results.reread import read_results
from msvm_select.row import Row
from msvm_select.settings import settings_from
from msvm_select.show.answers.sweep import sheet, summary
from tests.conftest import render

IRIS = Path(__file__).parents[2] / "data" / "iris.csv"


def row(C: float, gamma: float | None, loo_rate: float, **columns: Any) -> Row:
    """A trained rbf cell of 100 samples."""
    point = {"kernel": "rbf", "C": C, "gamma": gamma, "n_samples": 100}
    return Row(**{**point, "loo_rate": loo_rate, "n_classes": 3, **columns})


# The standard error at 0.10 is 0.03.
ROWS = (
    row(1.0, 2.0, 0.10),
    row(8.0, 0.5, 0.10),
    row(32.0, 0.125, 0.129),
    row(2.0, 0.125, 0.131),
    row(0.1, 0.01, 0.0, status="not_converged"),
)


def ranked(*rows: Row, by: str = "loo", **settings: Any) -> Results:
    """Results of these rows."""
    return Results(rank(rows, by), by, settings=settings)


def run(*arguments: object) -> Result:
    """The command line as typed."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("rule", "C", "gamma", "eligible"),
    [("best", 1.0, 2.0, 2), ("simplest", 8.0, 0.5, 2), ("1se", 32.0, 0.125, 3)],
)
def test_each_rule_takes_its_cell(
    rule: str, C: float, gamma: float, eligible: int
) -> None:
    """The first; the smoothest kernel of the ties; that of one standard error."""
    choice = chosen(ranked(*ROWS), rule).choice
    assert choice is not None
    assert (choice.row.C, choice.row.gamma) == (C, gamma)
    assert (choice.tied, choice.eligible) == (2, eligible)


def test_of_equal_kernels_the_smaller_box_is_the_simpler() -> None:
    """A linear machine is simpler than any Gaussian, whatever C."""
    linear = [row(C, None, 0.1, kernel="linear") for C in (64.0, 16.0)]
    found = chosen(ranked(*ROWS, *linear), "simplest").chosen
    assert found is not None
    assert (found.kernel, found.C) == ("linear", 16.0)


def test_the_standard_error_is_of_the_samples_that_were_judged() -> None:
    """sqrt(p(1 - p)/m); of a share held out, as many as that are."""
    assert standard_error(ranked(*ROWS), 0.1) == pytest.approx(0.03)
    held_out = [row(1.0, 1.0, 0.0, holdout_error=0.1)]
    for by, criteria in (("holdout:0.25", ()), ("holdout", ("loo", "holdout"))):
        results = ranked(*held_out, by=by, criteria=criteria)
        assert standard_error(results, 0.1) == pytest.approx(0.06)
    with pytest.raises(SettingsError, match="holdout:SHARE"):
        standard_error(ranked(*held_out, by="holdout"), 0.1)


def test_one_standard_error_of_no_error_is_none() -> None:
    """At an error rate of 0 only ties are left."""
    choice = chosen(ranked(row(1.0, 1.0, 0.0), row(1.0, 0.5, 0.01)), "1se").choice
    assert choice is not None
    assert (choice.row.gamma, choice.eligible, choice.limit) == (1.0, 1, 0.0)


def test_one_standard_error_needs_an_error_rate_and_samples() -> None:
    """Refused for bounds, with those that are rates, and where m is not told."""
    with pytest.raises(SettingsError, match=r"'sv-rate' is none: rank by .*'cv'"):
        settings_from({"criteria": "sv-rate", "select": "1se"})
    assert settings_from({"criteria": "cv:3", "select": "1se"}).select == "1se"
    with pytest.raises(SettingsError, match="n_samples is not there"):
        chosen(ranked(row(1.0, 1.0, 0.1, n_samples=0)), "1se")
    with pytest.raises(SettingsError, match="did you mean '1se'"):
        settings_from({"select": "1s"})


def test_nothing_is_chosen_where_nothing_counts() -> None:
    """No choice, and the summary says that there is no best either."""
    for rule in RULES:
        results = chosen(ranked(ROWS[-1]), rule)
        assert results.choice is None
        assert results.chosen is None
        assert "No cell has a score" in summary(results)


def test_the_summary_says_how_many_tie_and_why_another_was_taken() -> None:
    """One line for the best, a second one for another rule's cell."""
    results = ranked(*ROWS)
    best = "Best by loo: rbf gamma=2 C=1 (loo_rate = 0.1); 2 cells tie"
    assert summary(chosen(results)) == best
    assert summary(chosen(ranked(*ROWS[1:]))).endswith("(loo_rate = 0.1)")
    assert summary(chosen(results, "1se")).splitlines() == [
        best,
        "Chosen by 1se: rbf gamma=0.125 C=32 (loo_rate = 0.129); rank 3, the simplest "
        "of 3 within one standard error (up to 0.13)",
    ]
    assert "rank 2, the simplest of 2 that tie" in summary(chosen(results, "simplest"))


def test_the_table_marks_the_chosen_row_and_leaves_the_order() -> None:
    """The mark moves, the ranks do not; a row that is not shown is named."""
    results = chosen(ranked(*ROWS), "1se")
    lines = render(results, "table").splitlines()
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2", "*", "4"]
    assert "not shown: rbf gamma=0.125 C=32" in render(results.head(2), "table")
    assert render(chosen(ranked(*ROWS)), "table").splitlines()[1].startswith(" * 1")
    assert "; 2 cells tie" in render(chosen(ranked(*ROWS)), "table")


def test_ranking_again_forgets_the_choice() -> None:
    """It was one of another ranking."""
    again = chosen(ranked(*ROWS), "1se").ranked("C")
    assert again.choice is None
    assert again.chosen is again.best


def test_json_tells_the_choice_and_is_read_back(tmp_path: Path) -> None:
    """After the keys of version 1; the cell too, where its row was cut off."""
    results = chosen(ranked(*ROWS), "1se")
    found = sheet(results).document
    assert list(found)[-2:] == ["rows", "chosen"]
    told = {"select": "1se", "by": "loo", "rank": 3, "C": 32.0, "loo_rate": 0.129}
    assert told.items() <= found["chosen"].items()
    for top in (None, 1):
        path = tmp_path / "ranked.json"
        path.write_text(render(results.head(top), "json"))
        read = read_results(path)
        assert read.choice is not None
        assert read.choice.rule == "1se"
        assert (read.choice.row.rank, read.choice.row.C) == (3, 32.0)
        assert math.isclose(read.choice.limit, 0.13)


@pytest.mark.parametrize(
    "broken", [[], {"rank": True}, {"rank": 1}, {"rank": 1, "tied": "2"}]
)
def test_a_choice_that_is_none_is_refused(tmp_path: Path, broken: Any) -> None:
    """With the place."""
    found = sheet(chosen(ranked(*ROWS))).document
    if isinstance(broken, dict) and "tied" in broken:
        broken = {**found["chosen"], **broken}
    path = tmp_path / "ranked.json"
    path.write_text(json.dumps({**found, "chosen": broken}))
    with pytest.raises(DataError, match=r"ranked\.json, chosen"):
        read_results(path)


def test_a_sweep_chooses_as_it_is_told() -> None:
    """By keyword, by option and by environment; the rows are the same."""
    data = load_csv(IRIS)
    cells = {"C": "0.1,1,10", "gamma": "0.1,1", "criteria": "train-errors"}
    best = run_sweep(data, **cells)
    simple = run_sweep(data, select="simplest", **cells)
    assert [r.C for r in best.rows] == [r.C for r in simple.rows]
    assert best.settings == simple.settings
    line = ["sweep", IRIS, "--C", "0.1,1,10", "--gamma", "0.1,1", "--format", "json"]
    line += ["--criteria", "train-errors", "-q"]
    environment = {"MSVM_SELECT_SELECT": "simplest"}
    said = CliRunner(env=environment).invoke(cli, [str(word) for word in line])
    typed = run(*line, "--select", "simplest")
    assert json.loads(said.stdout)["chosen"] == json.loads(typed.stdout)["chosen"]
    assert json.loads(typed.stdout)["chosen"]["select"] == "simplest"


def test_rank_chooses_too(tmp_path: Path) -> None:
    """Of a csv by its rate; what a json was ranked by needs no --by."""
    path = tmp_path / "ranked.csv"
    path.write_text(render(ranked(*ROWS), "csv"))
    found = run("rank", path, "--select", "1se", "--format", "json", "-q")
    assert json.loads(found.stdout)["chosen"]["rank"] == 3
    by_box = tmp_path / "ranked.json"
    by_box.write_text(render(ranked(*ROWS, by="loo", rank_by="C"), "json"))
    assert "best by C" in run("rank", by_box).stdout
    refused = run("rank", path, "--by", "C", "--select", "1se")
    assert (refused.exit_code, refused.stdout) == (2, "")
