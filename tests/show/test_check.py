"""What `check` counts and shows."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from msvm_select.cli.check import command
from msvm_select.data.doubts import Description, describe
from msvm_select.data.read import load_csv
from msvm_select.errors import DataError
from tests.conftest import DATA

ODD = (
    "a,b,c,d,class\n"
    "1,7,1,0,x\n"
    "2,7,2,0,y\n"
    "1,7,1,-0.0,y\n"  # the first row again, and of another class
    "2,7,2,0,y\n"  # the second row again
    ",7,,5,x\n"
)


def description(text: str, **options: object) -> Description:
    """What describe says of the text."""
    return describe(load_csv(io.BytesIO(text.encode()), **options))  # type: ignore[arg-type]


def check(*args: str, text: str | None = None) -> Result:
    """The command as it is typed, with the text on standard input."""
    return CliRunner().invoke(command, list(args), input=text)


def test_counts() -> None:
    """Rows, classes, gaps, constants and repetitions are counted as defined."""
    found = description(ODD, missing="mean")
    assert (found.rows, found.features) == (5, 4)
    assert found.classes == {"x": 2, "y": 3}
    assert [c.missing for c in found.columns] == [1, 0, 1, 0]
    assert found.constant_columns == ("b",)
    assert found.duplicate_columns == (("a", "c"),)
    assert found.duplicate_rows == 2
    assert found.conflicting_rows == 2


def test_ranges() -> None:
    """Ranges, means and deviations leave the gaps out."""
    a = description(ODD, missing="mean").columns[0]
    assert (a.minimum, a.maximum, a.mean, a.sd) == (1.0, 2.0, 1.5, 0.5)


def test_known_files() -> None:
    """iris and glass have one repeated row each, wine none."""
    repeated = [
        describe(load_csv(DATA / f"{name}.csv")).duplicate_rows
        for name in ("iris", "glass", "wine")
    ]
    assert repeated == [1, 1, 0]


def test_warnings() -> None:
    """Everything odd is said in words, and nothing where nothing is odd."""
    said = "\n".join(description(ODD, missing="mean").warnings)
    for part in ("1 column is constant: 'b'", "'a', 'c'", "another class", "mean"):
        assert part in said
    assert describe(load_csv(DATA / "wine.csv")).warnings == ()


def test_table() -> None:
    """Plain text when piped: counts, one line a feature, warnings; exit 0."""
    run = check(str(DATA / "iris.csv"))
    assert run.exit_code == 0
    lines = run.stdout.splitlines()
    assert lines[0] == "iris: 150 rows, 4 features, 3 classes (column 'class')"
    assert lines[1] == "classes: setosa 50, versicolor 50, virginica 50"
    assert lines[2] == (
        "Always saying 'setosa', the largest class, is wrong for 100 of 150 samples "
        "(66.7 %)."
    )
    assert lines[4].split() == [
        "sepal_length_cm",
        "4.3",
        "7.9",
        "5.84333",
        "0.825301",
        "0",
    ]
    assert lines[-1].startswith("warning: rows with the features of an earlier row: 1")
    assert run.stdout.isascii()
    assert run.stderr == ""


def test_long_lists_are_cut() -> None:
    """A file with hundreds of columns is cut in the table and whole in JSON."""
    names = ",".join(f"f{j}" for j in range(300))
    rows = [",".join(str((i * j) % 7) for j in range(300)) for i in range(1, 5)]
    text = "\n".join([f"{names},class", *(f"{r},{i % 2}" for i, r in enumerate(rows))])
    run = check("-", text=text)
    assert "... and 260 more columns" in run.stdout
    assert len(run.stdout.splitlines()) < 100
    whole = json.loads(check("-", "--format", "json", text=text).stdout)
    assert len(whole["columns"]) == 300


def test_json() -> None:
    """The JSON holds every field, with full digits."""
    found = json.loads(
        check("-", "--missing", "mean", "--format", "json", text=ODD).stdout
    )
    assert found["schema_version"] == 1
    assert found["usable"] is True
    assert found["problems"] == []
    assert found["classes"] == {"x": 2, "y": 3}
    assert found["columns"][0]["mean"] == 1.5
    assert len(found["warnings"]) == 5


def test_unusable() -> None:
    """Every problem is in the error that the group turns into exit 3."""
    run = check("-", text="a,b,class\n1,,x\nfoo,2,x\n3,4\n")
    assert isinstance(run.exception, DataError)
    said = str(run.exception)
    for part in ("line 2, column 'b'", "line 3, column 'a'", "line 4: 2 fields"):
        assert part in said
    assert run.stdout == ""


def test_unusable_names_the_column_that_was_taken_for_the_class() -> None:
    """And every column of text by its name, however many there are."""
    names = [f"t{j}" for j in range(8)]
    rows = [",".join([*("ab"[i % 2] for _ in names), "3"]) for i in range(4)]
    run = check("-", text="\n".join([",".join([*names, "size"]), *rows]))
    assert "Note: column 'size' was taken for the class" in run.stderr
    assert "3 more columns hold text: 't5', 't6', 't7'" in str(run.exception)
    named = check("-", "--target", "size", text="\n".join(["a,size", "x,1", "y,2"]))
    assert "taken for the class" not in named.stderr


def test_unusable_json() -> None:
    """With --format json the problems are a list on standard output too."""
    run = check("-", "--format", "json", text="a,b,class\n1,,x\nfoo,2,x\n")
    found = json.loads(run.stdout)
    assert found["usable"] is False
    assert found["target"] == "class"
    assert len(found["problems"]) == 3
    assert isinstance(run.exception, DataError)


@pytest.mark.parametrize(
    ("options", "text", "features"),
    [
        (["--no-header", "--target", "1"], "x,1,2\ny,3,4\n", 2),
        (["--delimiter", "tab", "--target", "-1"], "a\tb\n1\tx\n2\ty\n", 1),
        (["--id-column", "n"], "n,a,class\nu,1,x\nv,2,y\n", 1),
        (["--one-hot", "a", "--one-hot", "b"], "a,b,class\nu,p,x\nv,q,y\n", 4),
        (["--na-values", "none,-1", "--missing", "drop"], "a,c\n1,x\n-1,y\n2,y", 1),
        (["--input-format", "libsvm"], "1 1:3 5:2\n2 1:4\n", 5),
        (["--encoding", "utf-8"], "a,class\n1,é\n2,y\n", 1),
    ],
)
def test_data_options(options: list[str], text: str, features: int) -> None:
    """Each data option reaches the reader."""
    run = check("-", *options, "--format", "json", text=text)
    assert run.exception is None
    assert json.loads(run.stdout)["features"] == features


def test_exit_code_and_streams(tmp_path: Path) -> None:
    """In a real process: exit 3, the problems on standard error, nothing written."""
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b,class\n1,,x\nfoo,2,x\n")
    run = subprocess.run(
        [sys.executable, "-c", "from msvm_select.cli import main; main()"]
        + ["check", str(bad)],
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout) == (3, "")
    assert f"{bad}, line 2, column 'b'" in run.stderr
    assert f"{bad}, line 3, column 'a'" in run.stderr
    assert "Traceback" not in run.stderr
