"""Streams and labels: closed, full or narrow ones; nothing odd breaks a line."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from pathlib import Path

import pytest

from msvm_select import fit, load_csv, run_sweep
from msvm_select.files import write_whole
from tests.cli.test_cli import PROGRAM
from tests.conftest import IRIS, render, run

LABELS = (
    *(
        "a,b",
        'say "x"',
        "two\nlines",
        "two\r\nends",
        "tab\there",
        "ünï 日本",
        "1",
        "1.0",
    ),
    *("None", "a|b", "back\\slash", "<b>&amp;</b>", "=1+1", "\x1b[31mred", "?", "-"),
)


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of bash with ``$M`` for the program, in this folder."""
    place = {**os.environ, "M": " ".join(PROGRAM), "PYTHONPATH": str(IRIS.parents[1])}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=place, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a model and results."""
    folder = tmp_path_factory.mktemp("place")
    lines = IRIS.read_text(encoding="utf-8").splitlines()
    small = "\n".join([lines[0], *lines[1::5]]) + "\n"
    (folder / "iris.csv").write_text(small, encoding="utf-8")
    data = load_csv(folder / "iris.csv")
    fit(data).save(folder / "m.json")
    found = run_sweep(data, C=[1, 2], gamma=1.0, criteria="sv-rate")
    write_whole(folder / "r.csv", render(found, "csv"))
    return folder


COMMANDS = (
    "sweep iris.csv --C 1 --gamma 1 --solver qp --criteria sv-rate --quiet",
    "predict m.json iris.csv --quiet",
    "check iris.csv",
    "show criteria",
)


def test_whoever_stops_reading_is_no_error(place: Path) -> None:
    """A pipe that nobody reads: exit 141 and not a word; --help too."""
    line = 'for c in "{}"; do $M $c | true; echo ${{PIPESTATUS[0]}}; done'
    some = ("rank r.csv --by sv-rate --quiet", COMMANDS[1], COMMANDS[3], "--help")
    done = shell(line.format('" "'.join(some)), place)
    assert done.stdout.split() == ["141"] * 4
    assert done.stderr == ""


def test_a_full_device_is_told(place: Path) -> None:
    """Where the output cannot be written: exit 1 and one line that says so."""
    line = 'for c in "{}"; do $M $c > /dev/full; echo $?; done'
    some = (COMMANDS[0], COMMANDS[2], "--version")
    done = shell(line.format('" "'.join(some)), place)
    assert done.stdout.split() == ["1"] * 3
    said = "Error: the output is lost: No space left on device."
    assert done.stderr.splitlines() == [said] * 3


def test_closed_streams(place: Path) -> None:
    """Without stdout, stderr or stdin at all: no traceback, and no file is harmed."""
    before = (place / "iris.csv").read_bytes()
    line = (
        f"$M {COMMANDS[0]} >&-; echo $?; "
        "$M check iris.csv 2>&- >/dev/null; echo $?; "
        "$M check iris.csv >&- 2>&- <&-; echo $?; $M check - <&-; echo $?"
    )
    done = shell(line, place)
    assert done.stdout.split() == ["0", "0", "0", "3"]
    assert "standard input is closed" in done.stderr
    assert "Traceback" not in done.stderr
    assert (place / "iris.csv").read_bytes() == before


def test_an_output_that_its_encoding_cannot_hold(tmp_path: Path) -> None:
    """A label that the terminal has no letter for: told, with the ways out."""
    rows = [f"{i},{label}" for i, label in enumerate("éàéà")]
    (tmp_path / "d.csv").write_text("\n".join(["a,class", *rows]), encoding="utf-8")
    done = shell("PYTHONIOENCODING=iso8859-5 $M check d.csv", tmp_path)
    assert done.returncode == 1
    assert "PYTHONIOENCODING=utf-8" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_file_that_is_read_is_never_written_over(place: Path) -> None:
    """-o IRIS, also by another name of it: exit 2, and the data are untouched."""
    before = (place / "iris.csv").read_bytes()
    link = place / "link.csv"
    link.symlink_to("iris.csv")
    lines = [
        *(
            ["sweep", "iris.csv", "-o", "link.csv"],
            ["loo", "iris.csv", "-o", "iris.csv"],
        ),
        *(["bound", "iris.csv", "-o", "iris.csv"], ["margins", "x", "-o", "x"]),
        *(["compare", "link.csv", "-o", "iris.csv"], ["fit", "m.json", "-o", "m.json"]),
        ["predict", "m.json", "iris.csv", "-o", "m.json", "--format", "csv"],
    ]
    (place / "x").write_text("x")
    for command, *names in lines:
        paths = [str(place / n) if n[0] not in "-" and n != "csv" else n for n in names]
        done = run(command, *paths, *(["--format", "csv"] if "x" in names else []))
        assert done.exit_code == 2, command
        assert "is the file that is read" in done.stderr
    assert (place / "iris.csv").read_bytes() == before


def test_output_to_a_device(place: Path) -> None:
    """/dev/stdout through a pipe is written, and not replaced."""
    line = "$M rank r.csv --by C --format csv -q -o /dev/stdout | wc -l"
    assert shell(line, place).stdout.strip() == "3"


def test_data_from_a_pipe_with_a_name(place: Path) -> None:
    """A FIFO is read like a file."""
    line = "mkfifo p; (cat iris.csv > p &); timeout 20 $M loo p --C 1 --format csv -q"
    assert shell(line, place).stdout.count("\n") == 1 + 30


def test_labels_come_back_as_they_were(tmp_path: Path) -> None:
    """Through fit, predict and leave-one-out, in csv, tsv, json and ndjson."""
    data, model = tmp_path / "labels.csv", tmp_path / "m.json"
    with data.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "class"])
        for i in range(3 * len(LABELS)):
            k = i % (len(LABELS) - 2)  # ? and - are what is missing, and a label
            writer.writerow([k % 4 * 9 + i / 99, k // 4 * 9 + i / 99, LABELS[k]])
    assert run("fit", data, "--C", "9", "-o", model).exit_code == 0
    wanted = [LABELS[i % (len(LABELS) - 2)] for i in range(3 * len(LABELS))]
    for form, mark in (("csv", ","), ("tsv", "\t")):
        text = run("predict", model, data, "--format", form, "-q").stdout_bytes.decode()
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=mark))
        assert [row["predicted"] for row in rows] == wanted
    found = json.loads(run("predict", model, data, "--format", "json", "-q").stdout)
    assert [row["predicted"] for row in found["rows"]] == wanted
    text = run("loo", data, "--C", "9", "--format", "csv", "-q").stdout_bytes.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["class"] for row in rows] == wanted


def test_labels_in_markdown_and_in_tables(tmp_path: Path) -> None:
    """No label breaks a line, a cell or the terminal."""
    odd = ["a|b", "two\nlines", "<i>", "\x1b[31mred"]
    data = tmp_path / "d.csv"
    with data.open("w", encoding="utf-8", newline="") as file:
        rows = [[i, i * i % 7, odd[i % 4]] for i in range(16)]
        csv.writer(file).writerows([["a", "b", "class"], *rows])
    lines = run("loo", data, "--format", "markdown", "-q").stdout.splitlines()
    assert len(lines) == 2 + 16
    assert {line.replace("\\|", "").count("|") for line in lines} == {7}
    assert "&lt;i>" in "".join(lines)
    for command in (["loo", data, "--all", "-q"], ["check", data], ["margins", data]):
        said = run(*command).output
        assert "\x1b" not in said
        assert "two\\nlines" in said
