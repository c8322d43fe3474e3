"""``msvm-select DATA``: a file in the place of a command is checked and swept."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest

from msvm_select.cli import cli
from msvm_select.results.reread import read_results
from tests.conftest import IRIS, run

FEW = ("--C", "1,4", "--gamma", "0.25")


@pytest.fixture
def iris(tmp_path: Path) -> Path:
    """A copy that files may stand beside."""
    return Path(shutil.copy(IRIS, tmp_path / "iris.csv"))


def beside(file: Path) -> list[str]:
    """The names of the other files there."""
    return sorted(path.name for path in file.parent.iterdir() if path != file)


def test_it_checks_and_sweeps_and_says_how_to_go_on(iris: Path) -> None:
    """The table alone is on stdout; the line that it ends with trains that cell."""
    head, *rows = iris.read_text().splitlines(keepends=True)
    iris.write_text("".join([head, *rows[::5]]))
    done = run(iris, "--top", 3)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("rank ")
    assert "classes: setosa 10, versicolor 10, virginica 10" in done.stderr
    assert "sepal_width_cm" in done.stderr
    assert "cells: 35 (kernels: 5, C: 7)" in done.stderr
    assert beside(iris) == ["iris.sweep.html", "iris.sweep.ndjson"]
    for name in beside(iris):
        assert f"Written: {iris.with_name(name)}\n" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("To go on: ")
    words = shlex.split(last)
    fitted = run(*words[words.index("fit") :])
    assert fitted.exit_code == 0, fitted.output
    best = read_results(iris.with_name("iris.sweep.ndjson")).chosen
    assert best is not None
    assert f"rank 1: {best.cell}" in fitted.stderr
    assert iris.with_name("iris.model.json").is_file()


def test_called_again_it_continues(iris: Path) -> None:
    """From its own journal; the page is written anew, and nothing else."""
    first, again = run(iris, *FEW), run(iris, *FEW)
    assert first.stdout == again.stdout
    assert "iris.sweep.ndjson has 2 finished cells" in again.stderr
    wider = run(iris, "--C", "1,2,4", "--gamma", "0.25")
    assert "has 2 finished cells of a smaller grid" in wider.stderr
    assert beside(iris) == ["iris.sweep.html", "iris.sweep.ndjson"]


def test_what_is_odd_about_the_data_is_told_once(iris: Path) -> None:
    """The check tells it, and the sweep does not again."""
    iris.write_text(iris.read_text().replace("5.1,", ",", 1))
    done = run(iris, *FEW, "--missing", "drop")
    assert done.exit_code == 0, done.output
    assert done.stderr.count("rows left out") == 1


def test_no_file_of_another_is_overwritten(iris: Path) -> None:
    """A page of somebody, a journal of other settings: the next number is taken."""
    theirs = iris.with_name("iris.sweep.html")
    theirs.write_text("mine")
    first = run(iris, *FEW)
    assert first.exit_code == 0
    assert theirs.read_text() == "mine"
    other = run(iris, *FEW, "--scale", "none")
    assert other.exit_code == 0
    assert beside(iris) == [
        *("iris.sweep-2.html", "iris.sweep-2.ndjson"),
        *("iris.sweep-3.html", "iris.sweep-3.ndjson"),
        "iris.sweep.html",
    ]
    iris.with_name("iris.model.json").write_text("mine")
    assert run(iris, *FEW).stderr.endswith("iris.model-2.json\n")


def test_it_takes_the_options_of_sweep(iris: Path) -> None:
    """How to read the data comes again in the last line, as does the rule."""
    reading = ("--target", "class", "--drop", "petal_width_cm")
    done = run(iris, *FEW, *reading, "--select", "simplest")
    last = done.stderr.splitlines()[-1]
    assert "--target class --drop petal_width_cm --select simplest -o" in last
    named = run(iris, *FEW, "--journal", iris.with_name("j"), "-q")
    assert (named.exit_code, named.stderr) == (0, "")
    assert "j" in beside(iris)
    shown = run(iris, "--show-config")
    assert 'gamma = ["around"]' in shown.stdout
    before = beside(iris)
    assert "cells     2\n" in run(iris, *FEW, "--dry-run").stdout
    assert beside(iris) == before


def test_a_folder_that_cannot_be_written(
    iris: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files come to the current one, and a line says so."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != iris.parent)
    done = run(iris, *FEW)
    assert done.exit_code == 0, done.output
    assert f"Note: {iris.parent} cannot be written" in done.stderr
    assert len(list(here.iterdir())) == 2


@pytest.mark.parametrize(
    ("word", "code", "message"),
    [
        ("none.csv", 3, "none.csv: no such file"),
        ("./none", 3, "no such file"),
        (".", 3, ". is a folder; name a file in it"),
        ("-", 2, "standard input is no file that a page and a journal could"),
        ("/dev/null", 2, "msvm-select sweep /dev/null"),
        ("swep", 2, "No such command 'swep' (did you mean 'sweep'?)"),
        ("", 2, "No such command ''"),
    ],
)
def test_what_is_no_file_keeps_its_message(word: str, code: int, message: str) -> None:
    """A command that was misspelt, a file that is not there, a folder, a stream."""
    done = run(word)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr


def test_a_near_name_is_offered(iris: Path) -> None:
    """As the commands do that read a file."""
    done = run(iris.with_name("iris.cvs"))
    assert (done.exit_code, "did you mean 'iris.csv'" in done.stderr) == (3, True)


def test_a_command_wins_over_a_file_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is meant by ./show."""
    shutil.copy(IRIS, tmp_path / "show")
    monkeypatch.chdir(tmp_path)
    assert "Missing argument 'TOPIC" in run("show").stderr
    assert run("./show", *FEW).exit_code == 0
    assert (tmp_path / "show.sweep.html").is_file()


def test_the_help_has_the_name_in_its_place(iris: Path) -> None:
    """``msvm-select DATA --help``."""
    assert "msvm-select data/iris.csv" in run("--help").stdout
    assert " DATA [OPTIONS]\n" in run(iris, "--help").stdout
    assert "DATA" not in cli.list_commands(None)  # type: ignore[arg-type]


def test_unusable_data_are_told_as_check_does(tmp_path: Path) -> None:
    """Exit 3, nothing is written."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2.5\n2,3.25\nx,1.75\n")
    done, checked = run(path), run("check", path)
    assert done.exit_code == checked.exit_code == 3
    assert done.stderr == checked.stderr
    assert beside(path) == []


def test_a_journal_is_ranked_when_it_is_read(iris: Path) -> None:
    """``fit --from JOURNAL`` takes the best cell, not the one that was done first."""
    journal = iris.with_name("j.ndjson")
    grid = ("--C", "0.001,8", "--gamma", "0.25")
    swept = run("sweep", iris, *grid, "--journal", journal, "--format", "json")
    best = json.loads(swept.stdout)["chosen"]
    fitted = run("fit", iris, "--from", journal, "-o", iris.with_name("m.json"))
    assert f"rank 1: rbf gamma={best['gamma']:g} C={best['C']:g}" in fitted.stderr
