"""``msvm-select loo`` as a user meets it, and what it tells while it runs."""

from __future__ import annotations

import json
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from msvm_select import load_csv
from msvm_select.cli import cli, talk
from msvm_select.columns import Row
from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import ROADS
from msvm_select.model.examined import LeftOutReport, leave_one_out
from msvm_select.names import FORMATS, SOLVERS
from msvm_select.settings import settings_from
from msvm_select.show.answers.cell import in_words, left_out_sheet
from msvm_select.train.along_C import train_cell
from msvm_select.train.events import CellDone, CellProgress, CellStarted, Started
from tests.conftest import IRIS, rows_of
from tests.conftest import run as command
from tests.model.test_model import Idle

run = partial(command, "loo")

CELL = ("--C", 1, "--gamma", 0.25)
ODD = "name,x,class\nann,0,a|b\nbob,0.1,a|b\ncat,1,c\ndan,1.1,c\neve,9,alone\n"


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of whoever runs the tests."""
    for name in ("C", "KERNEL", "GAMMA", "SOLVER", "SCALE", "FORMAT", "JOBS"):
        monkeypatch.delenv(f"MSVM_SELECT_{name}", raising=False)


@pytest.fixture(scope="module")
def report() -> LeftOutReport:
    """The same cell, through Python."""
    settings = settings_from({"C": 1, "gamma": 0.25})
    return leave_one_out(train_cell(load_csv(IRIS), settings), settings)


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Ids, a label with a bar, a class of one sample."""
    path = tmp_path / "odd.csv"
    path.write_text(ODD)
    return path


def test_the_table_shows_what_went_wrong(report: LeftOutReport) -> None:
    """The wrong samples by line, the confusion matrix, the totals; exit 0."""
    result = run(IRIS, *CELL)
    assert result.exit_code == 0, result.stderr
    head, *others = result.stdout.splitlines()
    assert head.split() == ["line", "class", "predicted", "margin", "road", "wrong"]
    errors = report.left_out.errors
    wrong = [line.split() for line in others[:errors]]
    lines = np.flatnonzero(report.left_out.wrong) + 2
    assert [int(fields[0]) for fields in wrong] == lines.tolist()
    assert all(fields[-1] == "yes" for fields in wrong)
    assert f"{150 - errors} samples that are right are not shown" in result.stdout
    assert f"Leave-one-out: {errors} of 150 wrong" in result.stdout
    for words in ("class \\ predicted", "Training: ", "relative gap"):
        assert words in result.stdout
    assert "Roads" not in result.stdout  # in JSON
    assert result.stderr.startswith("iris: 150 samples")


def test_all_shows_every_sample() -> None:
    """As many rows as samples, and no word of hidden ones."""
    shown = run(IRIS, *CELL, "--all", "-q")
    assert shown.stdout.index("class \\ predicted") > 0
    assert len(shown.stdout.split("\n\n")[0].splitlines()) == 151
    assert "not shown" not in shown.stdout
    assert shown.stderr == ""


def test_every_format_holds_every_sample(report: LeftOutReport) -> None:
    """csv, tsv, ndjson and json have the same columns and values, unrounded."""
    document = json.loads(run(IRIS, *CELL, "--format", "json").stdout)
    expected = [dict(row) for row in left_out_sheet(report).rows]
    assert document["rows"] == expected
    lines = run(IRIS, *CELL, "--format", "ndjson").stdout.splitlines()
    assert [json.loads(line) for line in lines] == expected
    found = run(IRIS, *CELL, "--format", "csv")
    assert tuple(rows_of(found.stdout)[0]) == tuple(left_out_sheet(report).names)
    margins = [float(row["margin"]) for row in rows_of(found.stdout)]
    assert margins == report.left_out.margin.tolist()
    assert "Leave-one-out: " in found.stderr
    tabs = run(IRIS, *CELL, "--format", "tsv").stdout
    assert tabs.replace("\t", ",") == found.stdout
    assert run(IRIS, *CELL, "--format", "markdown").stdout.count("\n") == 152
    for_people = {"table", "csv", "tsv", "json", "ndjson", "markdown"}
    assert set(FORMATS) == {*for_people, "github", "junit", "parquet"}


def test_json_has_the_whole(report: LeftOutReport) -> None:
    """Data, settings, versions, a confusion matrix that adds up, the summary."""
    document = json.loads(run(IRIS, *CELL, "--format", "json").stdout)
    left = report.left_out
    assert document["schema_version"] == 1
    assert document["data"]["name"] == "iris"
    assert document["settings"]["solver"] == "exact"
    assert "criteria" not in document["settings"]
    assert "numpy" in document["versions"]
    confusion, summary = document["confusion"], document["summary"]
    matrix = np.array(confusion["matrix"])
    assert confusion["classes"] == ["setosa", "versicolor", "virginica"]
    assert matrix.sum(axis=1).tolist() == [50, 50, 50]
    assert matrix.trace() == 150 - left.errors
    assert confusion["undecided"] == [0, 0, 0]
    assert (summary["gamma"], summary["C"], summary["kernel"]) == (0.25, 1.0, "rbf")
    assert summary["loo_errors"] == left.errors
    assert summary["loo_rate"] == left.errors / 150
    assert list(summary["roads"]) == list(ROADS)
    assert sum(summary["roads"].values()) == 150


def test_the_counts_are_those_of_a_sweep() -> None:
    """The criterion loo and this command say the same."""
    swept = CliRunner().invoke(
        cli, ["sweep", str(IRIS), *map(str, CELL), "--criteria", "loo", "-q"]
        + ["--format", "csv"],
    )  # fmt: skip
    summary = json.loads(run(IRIS, *CELL, "--format", "json").stdout)["summary"]
    assert rows_of(swept.stdout)[0]["loo_errors"] == str(summary["loo_errors"])


def test_ids_ties_and_a_class_of_one(odd: Path) -> None:
    """Rows go by their id; the only one of its class has no prediction or margin."""
    line = (odd, "--id-column", "name", "--gamma", 1, "--C", 10)
    found = rows_of(run(*line, "--format", "csv").stdout)
    assert [row["id"] for row in found] == ["ann", "bob", "cat", "dan", "eve"]
    alone = found[-1]
    assert (alone["predicted"], alone["margin"]) == ("?", "")
    assert (alone["road"], alone["wrong"]) == ("single in its class", "true")
    table = run(*line).stdout
    assert table.startswith("name")
    assert table.splitlines()[1].split()[:4] == ["eve", "alone", "?", "-"]
    assert "a\\|b" in run(*line, "--format", "markdown").stdout
    document = json.loads(run(*line, "--format", "json").stdout)
    assert document["confusion"]["classes"] == ["alone", "a|b", "c"]
    assert document["confusion"]["undecided"] == [1, 0, 0]
    assert document["rows"][-1]["margin"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--C", "0.1,1"), 2, "C has 2 values"),
        (("--gamma", "1:4:3"), 2, "let msvm-select sweep try them all"),
        (("--kernel", "rbf", "--kernel", "linear"), 2, "kernel has 2 values"),
        (("--solver", "exat"), 2, "did you mean 'exact'"),
        (("--format", "jsn"), 2, "did you mean 'json'"),
        (("-o", "x.xlsx"), 2, "stands for no format"),
        (("--jobs", "0"), 2, "jobs"),
        (("--target", "clas"), 3, "did you mean 'class'"),
    ],
)
def test_a_mistake_is_a_message_and_an_exit_code(
    arguments: tuple[str, ...], code: int, words: str
) -> None:
    """On stderr, with nothing on stdout."""
    result = run(IRIS, *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert words in result.stderr


def test_what_did_not_converge_is_not_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Exit 5 and the reason; nothing shown, nothing written."""
    monkeypatch.setitem(SOLVERS, "exact", Idle)
    out = tmp_path / "loo.csv"
    result = run(IRIS, *CELL, "-o", out)
    assert (result.exit_code, result.stdout) == (5, "")
    assert "did not converge: nothing was" in result.stderr
    assert not out.exists()


def test_a_file_is_written_and_the_totals_are_told(tmp_path: Path) -> None:
    """Nothing on stdout; the totals and the file's name on stderr."""
    out = tmp_path / "loo.tsv"
    result = run(IRIS, *CELL, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Leave-one-out: " in result.stderr
    assert result.stderr.endswith(f"Written: {out}\n")


def test_another_solver_gives_the_same_answers(tmp_path: Path) -> None:
    """By retraining, which the road says."""
    lines = IRIS.read_text().splitlines()
    path = tmp_path / "small.csv"
    path.write_text("\n".join([lines[0], *lines[1::5]]) + "\n")
    line = (path, *CELL, "--format", "csv")
    exact, other = (rows_of(run(*line, "--solver", s).stdout) for s in ("exact", "qp"))
    for name in ("predicted", "wrong"):
        assert [row[name] for row in exact] == [row[name] for row in other]
    assert any(row["road"] == "retrained" for row in other)


def test_steps_are_counted_in_words() -> None:
    """One step, several steps, and the other roads as they are."""
    repaired = ROADS.index("repaired")
    assert in_words(repaired, 1) == "repaired in 1 step"
    assert in_words(repaired, 7) == "repaired in 7 steps"
    assert in_words(0, 0) == "not a support vector"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set by hand."""
    now = [0.0]
    monkeypatch.setattr(talk.time, "monotonic", lambda: now[0])
    return now


def test_a_long_cell_tells_how_far_it_is(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    """Off a terminal: nothing at first, then a line in 5 s at most."""
    kernel = Rbf(0.5)
    listener = talk.Talk()
    listener(Started("data", 900, 2, 3, 1, 35, solver="qp"))
    listener(CellStarted(kernel, 8.0))
    capsys.readouterr()
    for clock[0] in np.arange(0.0, 16.0, 0.5):
        listener(CellProgress(kernel, 8.0, int(10 * clock[0]), 900))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"0 of 35 cells, {done // 10} s; {done} of 900 samples in rbf gamma=0.5 C=8"
        for done in (50, 100, 150)
    ]
    listener(CellDone(Row()))
    assert capsys.readouterr().err == ""
    listener.quiet = True
    clock[0] = 99.0
    listener(CellProgress(kernel, 8.0, 899, 900))
    assert capsys.readouterr().err == ""


def test_progress_may_come_from_any_thread(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    """Many threads at once, after the time of a line: one line."""
    kernel, listener = Rbf(0.5), talk.Talk()
    listener(CellStarted(kernel, 1.0))
    clock[0] = 6.0
    event = CellProgress(kernel, 1.0, 1, 2)
    threads = [threading.Thread(target=listener, args=(event,)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_rate_counts_samples_by_their_weights(tmp_path: Path) -> None:
    """In ``loo``, in its gate and in ``bound`` as in a sweep."""
    head, *rows = IRIS.read_text().splitlines()
    path = tmp_path / "weighed.csv"
    lines = [f"{row},{1 + i % 5}" for i, row in enumerate(rows)]
    path.write_text("\n".join([f"{head},w", *lines]))
    cell = (path, "--weight-column", "w", *CELL)
    asked = ("--criteria", "loo,sv-rate", "--format", "json")
    (row,) = json.loads(command("sweep", *cell, *asked).stdout)["rows"]
    assert row["loo_rate"] != row["loo_errors"] / 150
    found = run(*cell, "--format", "json", "--fail-above", row["loo_rate"])
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.stdout)["summary"]["loo_rate"] == row["loo_rate"]
    assert f"({100 * row['loo_rate']:.2f} % by their weights)" in run(*cell).stdout
    terms = json.loads(command("bound", *cell, "--format", "json").stdout)["rows"]
    told = {term["term"]: term["value"] for term in terms}
    assert {name: told[name] for name in ("loo_rate", "sv_rate")} == {
        name: row[name] for name in ("loo_rate", "sv_rate")
    }
