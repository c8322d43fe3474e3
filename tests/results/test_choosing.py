"""Which cell is taken of a ranking, and where that is told."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from msvm_select import load_csv, run_sweep
from msvm_select.cli import cli
from msvm_select.columns import Row
from msvm_select.errors import DataError, SettingsError
from msvm_select.names import RULES
from msvm_select.results.choosing import chosen, edge_notes, standard_error
from msvm_select.results.notes import baseline_warning, class_note
from msvm_select.results.reread import read_results
from msvm_select.settings import settings_from
from msvm_select.show.answers.sweep import sheet, summary
from tests.conftest import IRIS, PROBLEMS, ranked, render, run


def row(C: float, gamma: float | None, loo_rate: float, **columns: Any) -> Row:
    """A trained rbf cell of 100 samples."""
    point = {"kernel": "rbf", "C": C, "gamma": gamma, "n_samples": 100}
    return Row(**{**point, "loo_rate": loo_rate, "n_classes": 3, **columns})


# The standard error at 0.10 is 0.03.
ROWS = (
    row(8.0, 2.0, 0.10, train_errors=0),
    row(2.0, 0.5, 0.10, train_errors=4),
    row(0.5, 0.125, 0.129, train_errors=9),
    row(0.25, 0.125, 0.131, train_errors=11),
    row(0.1, 0.01, 0.0, status="not_converged"),
)


@pytest.mark.parametrize(
    ("rule", "C", "gamma", "eligible"),
    [("best", 8.0, 2.0, 2), ("simplest", 2.0, 0.5, 2), ("1se", 0.5, 0.125, 3)],
)
def test_each_rule_takes_its_cell(
    rule: str, C: float, gamma: float, eligible: int
) -> None:
    """Ties: fewer training errors; the smaller C of the ties; of one standard error."""
    choice = chosen(ranked(*ROWS), rule).choice
    assert choice is not None
    assert (choice.row.C, choice.row.gamma) == (C, gamma)
    assert (choice.tied, choice.eligible) == (2, eligible)


def test_one_order_says_what_is_simpler() -> None:
    """The smaller C, then the smoother kernel: for ties and for every rule."""
    ties = [row(C, gamma, 0.1) for C in (4.0, 1.0) for gamma in (0.5, 2.0)]
    for rule in RULES:
        found = chosen(ranked(*ties, row(1.0, 8.0, 0.11)), rule).chosen
        assert found is not None
        assert (found.C, found.gamma) == (1.0, 0.5)


def test_the_standard_error_is_of_the_samples_that_were_judged() -> None:
    """sqrt(p(1 - p)/m); of a share held out, as many as that are."""
    tenth = row(1.0, 1.0, 0.1)
    assert standard_error(ranked(*ROWS), tenth) == pytest.approx(0.03)
    held_out = [row(1.0, 1.0, 0.0, holdout_error=0.1)]
    for by, criteria in (("holdout:0.25", ()), ("holdout", ("loo", "holdout"))):
        results = ranked(*held_out, by=by, criteria=criteria)
        assert standard_error(results, held_out[0]) == pytest.approx(0.06)
    with pytest.raises(SettingsError, match="holdout:SHARE"):
        standard_error(ranked(*held_out, by="holdout"), held_out[0])


def test_the_jackknife_is_that_of_the_criterion_it_was_computed_of() -> None:
    """The first with answers, in whichever column; a csv alone: of the only rate."""
    cell = row(1.0, 1.0, 0.1, cv_error=0.2, error_se=0.07)
    cell = Row.of(cell.values() | {"cv10_error": 0.2})
    for criteria, by, error in (
        (("loo", "cv:5"), "loo", 0.07),
        (("cv:10", "cv:5", "loo"), "cv:10", 0.07),
        (("cv:10", "cv:5", "loo"), "cv:5", 0.04),
        (("cv:10", "cv:5", "loo"), "loo", 0.03),
        ((), "loo", 0.03),
    ):
        results = ranked(cell, by=by, criteria=criteria)
        assert standard_error(results, cell) == pytest.approx(error)
    alone = row(1.0, 1.0, 0.1, error_se=0.07)
    assert standard_error(ranked(alone), alone) == pytest.approx(0.07)


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
    best = "Best by loo: rbf gamma=2 C=8 (loo_rate = 0.1); 2 cells tie"
    assert summary(chosen(results)) == best
    assert summary(chosen(ranked(*ROWS[1:]))).endswith("(loo_rate = 0.1)")
    assert summary(chosen(results, "1se")).splitlines() == [
        best,
        "Chosen by 1se: rbf gamma=0.125 C=0.5 (loo_rate = 0.129); rank 3, the simplest "
        "of 3 within one standard error (up to 0.13)",
    ]
    assert "rank 2, the simplest of 2 that tie" in summary(chosen(results, "simplest"))


def test_the_table_marks_the_chosen_row_and_leaves_the_order() -> None:
    """The mark moves, the ranks do not; a row that is not shown is named."""
    results = chosen(ranked(*ROWS), "1se")
    lines = render(results, "table").splitlines()
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2", "*", "4"]
    assert "not shown: rbf gamma=0.125 C=0.5" in render(results.head(2), "table")
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
    told = {"select": "1se", "by": "loo", "rank": 3, "C": 0.5, "loo_rate": 0.129}
    assert told.items() <= found["chosen"].items()
    for top in (None, 1):
        path = tmp_path / "ranked.json"
        path.write_text(render(results.head(top), "json"))
        read = read_results(path)
        assert read.choice is not None
        assert read.choice.rule == "1se"
        assert (read.choice.row.rank, read.choice.row.C) == (3, 0.5)
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


def test_one_rule_for_all_who_read_a_file(tmp_path: Path) -> None:
    """``rank``, ``fit --from`` and ``plot`` take the file's choice, or --select's."""
    swept = tmp_path / "swept.json"
    line = ["sweep", IRIS, "--C", "0.125,8", "--gamma", "0.125,0.5", "-q"]
    run(*line, "--select", "1se", "-o", swept)
    choice = json.loads(swept.read_text())["chosen"]
    assert (choice["select"], choice["rank"]) == ("1se", 3)
    ranked_again = run("rank", swept, "--format", "json", "-q")
    assert json.loads(ranked_again.stdout)["chosen"] == choice
    drawn = run("plot", swept, "--ascii").stdout
    assert f"chosen by loo, 1se: rbf gamma={choice['gamma']:g} C=0.125" in drawn
    fit = ("fit", IRIS, "--from", swept, "-o", tmp_path / "model.json")
    at = f"gamma={choice['gamma']:g} C={choice['C']:g}"
    assert f"rank 3: rbf {at} (chosen by 1se)" in run(*fit).stderr
    for command in (fit, ("loo", *fit[1:4]), ("margins", *fit[1:4])):
        told = run(*command, "--select", "best").stderr
        assert "rank 1: rbf gamma=0.125 C=8\n" in told
    both = run(*fit, "--select", "best", "--rank", "1")
    assert (both.exit_code, "give one" in both.stderr) == (2, True)
    alone = run("fit", IRIS, "--select", "best", "-o", tmp_path / "model.json")
    assert (alone.exit_code, "--from" in alone.stderr) == (2, True)
    other = run("rank", swept, "--by", "n_sv", "--format", "json", "-q")
    assert json.loads(other.stdout)["chosen"]["select"] == "best"


def test_the_chosen_cell_on_an_edge_is_warned_about() -> None:
    """1se takes the smallest C: if it is the smallest of the grid, a line says so."""
    found = chosen(ranked(*ROWS[:3]), "1se")
    notes = edge_notes(found)
    assert "The chosen C = 0.5 is the smallest of its grid; --C" in notes[-2]
    assert "The chosen gamma = 0.125 is the smallest of its grid" in notes[-1]
    assert not any("chosen" in note for note in edge_notes(chosen(ranked(*ROWS[:3]))))


def test_a_constant_classifier_is_told() -> None:
    """The majority baseline stands below the table; a best cell no better is warned of.

    Of cells that are wrong as often the one with fewer training errors is the best: it
    is not the constant classifier, which has the smallest C.
    """
    constant = row(0.25, 0.5, 0.375, n_samples=40, train_errors=15)
    learnt = [row(C, 0.5, 0.375, n_samples=40, train_errors=0) for C in (1.0, 2.0)]
    results = replace(
        ranked(constant, *learnt), data={"classes": {"a": 25, "b": 10, "c": 5}}
    )
    assert results.best is not None
    assert results.best.C == 1.0
    told = (
        "Always saying 'a', the largest class, is wrong for 15 of 40 samples (37.5 %)"
    )
    assert f"\n{told}.\n" in render(chosen(results), "table")
    assert baseline_warning(chosen(results)) == (
        "The best cell does no better than a constant answer. "
        f"{told}; its loo_rate is 0.375."
    )
    better = replace(results, rows=(replace(learnt[0], rank=1, loo_rate=0.35),))
    assert baseline_warning(chosen(better)) is None
    assert baseline_warning(chosen(ranked(constant))) is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (1, "'0' 1 of 4 (25 %), none in 19 classes"),
        (12, "'11' 1 of 4 (25 %), none in 8 classes"),
        (15, "'11' 1 of 4 (25 %), 3 more classes, none in 5 classes"),
        (20, "'11' 1 of 4 (25 %), 8 more classes"),
        (0, "Wrong by class: none in 20 classes"),
    ],
)
def test_of_many_classes_those_without_an_error_are_counted(
    wrong: int, said: str
) -> None:
    """Beyond twelve classes, only those with errors are named."""
    pairs = tuple((int(k < wrong), 4) for k in range(20))
    results = replace(
        ranked(row(1.0, 0.5, 0.1, by_class=pairs)),
        data={"classes": {str(k): 4 for k in range(20)}},
    )
    assert class_note(chosen(results)).endswith(said)


def test_cv_of_two_numbers_of_folds_has_two_columns(tmp_path: Path) -> None:
    """Ranked, drawn, judged, written and read back, kept in a journal."""
    swept, journal = tmp_path / "swept.json", tmp_path / "journal.ndjson"
    line = ["sweep", IRIS, "--C", "0.125,8", "--gamma", "0.125,0.5"]
    line += ["--criteria", "cv:5,cv:10", "--rank-by", "cv:10", "--journal", journal]
    done = run(*line, "-o", swept)
    assert done.exit_code == 0, done.stderr
    assert "(cv10_error = " in done.stderr
    read = read_results(swept)
    assert read.columns[-1] == "cv10_error"
    values = {(r.value("cv_error"), r.value("cv10_error")) for r in read.rows}
    assert all(None not in pair for pair in values)
    assert any(one != other for one, other in values)
    by = {
        name: run("rank", swept, "--by", name, "--format", "csv").stdout
        for name in ("cv:10", "cv10_error", "cv", "cv:5", "cv_error")
    }
    assert by["cv:10"] == by["cv10_error"]
    assert by["cv"] == by["cv:5"] == by["cv_error"]
    assert "cv10_error" in run("rank", swept).stdout
    assert "(cv:10)" in run("plot", swept, "--ascii").stdout
    gate = run("rank", swept, "--fail-above", "0", "-q")
    assert gate.stderr.startswith("Gate failed: cv10_error ")
    from_journal = run("rank", journal, "--format", "csv")
    assert from_journal.stdout == by["cv:10"]
    again = run(*line, "--resume", "--format", "csv")
    assert "4 finished cells" in again.stderr
    assert again.stdout == by["cv:10"]


def test_a_journal_is_a_file_of_results(tmp_path: Path) -> None:
    """With what its sweep was ranked by; a torn last line is not there yet."""
    journal, swept = tmp_path / "journal.ndjson", tmp_path / "swept.json"
    line = ["sweep", IRIS, "--C", "0.125,8", "--gamma", "0.5", "--criteria", "sv-rate"]
    run(*line, "--journal", journal, "-o", swept, "-q")
    constant = "Always saying 'setosa', the largest class, is wrong for 100 of 150"
    assert constant in run("rank", journal).stdout
    old = re.sub(r'"class_sizes": \[[^]]*\], ', "", journal.read_text())
    journal.write_text(old)  # as before the header told them
    assert "Always" not in run("rank", journal).stdout
    ranked_again = run("rank", journal, "--format", "csv")
    assert ranked_again.exit_code == 0, ranked_again.stderr
    assert ranked_again.stdout == run("rank", swept, "--format", "csv").stdout
    text = journal.read_text()
    journal.write_text(text[:-20])
    assert len(read_results(journal).rows) == 1
    assert len(read_results("-", text).rows) == 2
    journal.write_text(text.partition("\n")[0] + "\n")
    with pytest.raises(DataError, match="no finished cells yet"):
        read_results(journal)


def test_results_are_short_on_the_screen() -> None:
    """A line in a terminal; a table of the first look in a notebook."""
    results = chosen(ranked(*ROWS))
    assert repr(results) == ("Results(5 rows ranked by loo; best: rbf gamma=2 C=8)")
    page = results._repr_html_()
    assert page.startswith("<table")
    assert page.count("<tr") == 1 + 5
    assert "<th>loo_rate</th>" in page
    assert "status_reason" not in page
    odd = replace(ROWS[0], kernel="<b>")
    assert "<b>" not in ranked(odd, *ROWS)._repr_html_()


def test_what_was_asked_for_may_be_empty() -> None:
    """A ranking without a best row; what was not asked for is refused by name."""
    grid = {"C": "0.01", "gamma": "1e4"}  # everybody is a support vector
    data = PROBLEMS["three"].dataset()
    found = run_sweep(data, criteria="compression", **grid).ranked("compression")
    assert [row.compression_bound for row in found.rows] == [None]
    assert found.best is None
    with pytest.raises(SettingsError, match="'span': it was not asked for"):
        found.ranked("span")
