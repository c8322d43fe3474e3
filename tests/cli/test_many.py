"""``run`` with several data sets: a table each, one summary; failures stop nobody."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.exceptions import Exit

from msvm_select.cli import many, sweep
from tests.conftest import DATA, rows_of, run

GRID = "C = [1, 8]\ngamma = [0.05]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Configs for iris and wine, for a list, and two that are no good."""
    monkeypatch.chdir(tmp_path)
    for name in ("iris", "wine"):
        shutil.copy(DATA / f"{name}.csv", tmp_path)
        Path(f"{name}.toml").write_text(f'data = "{name}.csv"\n{GRID}')
    Path("list.toml").write_text(f'data = ["w*.csv", "iris.csv"]\n{GRID}')
    Path("gone.toml").write_text(f'data = "gone.csv"\n{GRID}')
    Path("bad.toml").write_text("C = [")
    return tmp_path


def summary(path: str = "out/summary.json") -> list[dict[str, Any]]:
    """The rows of the summary."""
    rows: list[dict[str, Any]] = json.loads(Path(path).read_text())["rows"]
    return rows


def untimed(path: str) -> Any:
    """The rows of results, without their time."""
    rows = json.loads(Path(path).read_text())["rows"]
    return [{**row, "seconds": 0} for row in rows]


@pytest.mark.parametrize("line", [("iris.toml", "wine.toml"), ("list.toml",)], ids=str)
def test_each_is_what_it_is_alone(line: tuple[str, ...]) -> None:
    """A file for each data set in the folder, and what was chosen in the summary."""
    found = run("run", *line, "-o", "out", "-q")
    assert found.exit_code == 0, found.stderr
    for name in ("iris", "wine"):
        assert run("run", f"{name}.toml", "-o", "alone.json", "-q").exit_code == 0
        assert untimed(f"out/{name}.json") == untimed("alone.json")
    rows = {row["data"]: row for row in summary()}
    assert rows.keys() == {"iris", "wine"}
    best = untimed("out/wine.json")[0]
    told = {key: rows["wine"][key] for key in ("kernel", "gamma", "C", "value")}
    value = {"value": best["loo_rate"]}
    assert told == {key: best[key] for key in ("kernel", "gamma", "C")} | value
    assert rows["wine"]["by"] == "loo_rate"
    assert rows["wine"]["seconds"] > 0
    assert "2 data sets: 2 ok" in found.stdout
    assert "seconds" in found.stdout


def test_failures_do_not_stop_the_others() -> None:
    """Data that are not there, a file that is no TOML; each is told, and counted."""
    line = ("gone.toml", "bad.toml", "iris.toml")
    found = run("run", *line)
    assert found.exit_code == 1
    assert "gone.csv: no such file" in found.stderr
    assert "* best by loo" in found.stdout
    assert "bad: bad.toml is not TOML" in found.stdout
    assert "1 bad data, 1 wrong settings, 1 ok" in found.stdout
    assert found.stdout.index("iris\n\nrank") < found.stdout.index("3 data sets: ")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (("gone.toml", "iris.toml"), 3),
        (("bad.toml", "iris.toml"), 2),
        (("gone.toml", "bad.toml"), 1),
        (("iris.toml", "wine.toml", "--fail-above", "0.001"), 1),
        (("iris.toml", "wine.toml", "--fail-above", "0.5"), 0),
    ],
)
def test_the_exit_code_is_the_one_they_share(line: tuple[str, ...], code: int) -> None:
    """Else 1; 0 where all is well."""
    assert run("run", *line, "-q", "-o", "out").exit_code == code
    assert {row["exit_code"] for row in summary()} - {0, 2, 3} <= {code}


def test_ctrl_c_stops_all_and_tells_of_what_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first is in the summary; the third is not begun."""
    begun = []

    def interrupted(data: str, *more: Any, **how: Any) -> None:
        begun.append(data)
        if len(begun) > 1:
            raise Exit(130)
        whole(data, *more, **how)

    whole = sweep.perform
    monkeypatch.setattr(sweep, "perform", interrupted)
    found = run("run", "iris.toml", "wine.toml", "gone.toml", "-o", "out", "-q")
    assert found.exit_code == 130
    assert begun == ["iris.csv", "wine.csv"]
    assert [row["data"] for row in summary()] == ["iris"]


def test_journals_and_pages_are_folders_too() -> None:
    """One file each; --resume trains nothing again."""
    line = ("run", "list.toml", "--journal", "kept", "--report", "pages", "-o", "out")
    assert run(*line, "-q").exit_code == 0
    names = {file.name for file in Path("kept").iterdir()}
    assert names == {"iris.ndjson", "wine.ndjson"}
    assert Path("pages/wine.html").is_file()
    again = run(*line, "--resume")
    assert again.stderr.count("has 2 finished cells") == 2


def test_names_are_of_their_own() -> None:
    """Two data sets of one name are told apart by their configs, else by number."""
    Path("more").mkdir()
    shutil.copy("iris.csv", "more/iris.csv")
    Path("two.toml").write_text('data = ["iris.csv", "more/iris.csv"]\n')
    names = [job.name for job in many.jobs_of(["iris.toml", "two.toml", "wine.toml"])]
    assert names == ["iris-iris", "iris-two", "iris-two-2", "wine"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("list.toml", "-o", "all.json"), "this is a folder"),
        (("list.toml", "--journal", "iris.csv"), "this is a folder"),
        (("list.toml", "--format", "csv"), "need -o FOLDER"),
        (("iris.toml", "wine.toml", "--data", "iris.csv"), "--data is for one config"),
        (("none.toml",), "No such file"),
    ],
)
def test_what_has_no_sense_is_refused(line: tuple[str, ...], said: str) -> None:
    """Before anything is trained."""
    found = run("run", *line)
    assert found.exit_code == 2
    assert said in found.stderr


def test_a_list_of_data_may_be_wrong() -> None:
    """Empty, of numbers, or like no file."""
    for text, said in (
        ("[]", "data = [] names no file"),
        ("[1]", "must be a path in quotes"),
        ('["x*.csv"]', "no file is like 'x*.csv'"),
    ):
        Path("odd.toml").write_text(f"data = {text}\n")
        assert said in run("run", "odd.toml").stderr


def test_formats_of_the_summary() -> None:
    """As csv in the folder, as Markdown below the others; configs by --show-config."""
    assert run("run", "list.toml", "-o", "out", "--format", "csv").exit_code == 0
    rows = rows_of(Path("out/summary.csv").read_text())
    assert [row["data"] for row in rows] == ["wine", "iris"]
    assert Path("out/wine.csv").is_file()
    page = run("run", "list.toml", "--format", "markdown", "-q").stdout
    assert page.count("## ") == 2
    assert "| data | status |" in page
    shown = run("run", "list.toml", "--show-config").stdout
    assert shown.count("\ndata = ") + shown.startswith("data = ") == 2
