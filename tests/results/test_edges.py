"""The edges: streams that close, disks that are full, files that are odd."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from msvm_select import fit, memory, run_sweep
from msvm_select.data.read import load_csv
from msvm_select.errors import DataError, SettingsError
from msvm_select.files import check_writable, write_whole
from tests.conftest import IRIS, render, run

PROGRAM = (sys.executable, "-m", "msvm_select")
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


def refusal(data: bytes | str, **options: object) -> str:
    """The message with which the data are refused."""
    data = data.encode() if isinstance(data, str) else data
    with pytest.raises(DataError) as caught:
        load_csv(io.BytesIO(data), **options)  # type: ignore[arg-type]
    return str(caught.value)


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
    "sweep iris.csv --C 1 --quiet",
    "predict m.json iris.csv --quiet",
    "check iris.csv",
    "show criteria",
)


def test_whoever_stops_reading_is_no_error(place: Path) -> None:
    """A pipe that nobody reads: exit 141 and not a word; --help too."""
    line = 'for c in "{}"; do $M $c | true; echo ${{PIPESTATUS[0]}}; done'
    done = shell(line.format('" "'.join((*COMMANDS, "--help"))), place)
    assert done.stdout.split() == ["141"] * (len(COMMANDS) + 1)
    assert done.stderr == ""


def test_a_full_device_is_told(place: Path) -> None:
    """Where the output cannot be written: exit 1 and one line that says so."""
    line = 'for c in "{}"; do $M $c > /dev/full; echo $?; done'
    done = shell(line.format('" "'.join((*COMMANDS[2:], "--version"))), place)
    assert done.stdout.split() == ["1"] * 3
    said = "Error: the output is lost: No space left on device."
    assert done.stderr.splitlines() == [said] * 3


def test_closed_streams(place: Path) -> None:
    """Without stdout, stderr or stdin at all: no traceback, and no file is harmed."""
    before = (place / "iris.csv").read_bytes()
    line = (
        "$M check iris.csv >&-; echo $?; $M check iris.csv 2>&- >/dev/null; echo $?; "
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


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB; skipped where mounting is not allowed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user may not mount")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_loses_no_results(tiny_disk: Path) -> None:
    """The old file is still there, nothing half is left, the rows are on stdout."""
    old = tiny_disk / "r.json"
    old.write_text("old")
    (tiny_disk / "filler").write_bytes(bytes(56 * 1024))
    line = ["sweep", IRIS, "--C", "0.1:1:+0.1", "--gamma", "1", "--criteria", "sv-rate"]
    done = run(*line, "-o", old)
    assert done.exit_code == 1
    assert "No space left on device" in done.stderr
    assert "printed instead" in done.stderr
    assert len(json.loads(done.stdout)["rows"]) == 10
    assert old.read_text() == "old"
    assert {f.name for f in tiny_disk.iterdir()} == {"r.json", "filler"}


def test_a_read_only_disk_is_told_before_the_training(tiny_disk: Path) -> None:
    """Also to root: exit 2, and no line of progress before it."""
    again = ["mount", "-o", "remount,ro", str(tiny_disk)]
    subprocess.run(again, check=True, capture_output=True)
    for name in ("r.csv", "m.json"):
        command = "fit" if name == "m.json" else "sweep"
        done = run(command, IRIS, "--C", "1", "-o", tiny_disk / name)
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1
        assert "Read-only" in done.stderr


def test_outputs_that_cannot_be_are_refused_at_once(tmp_path: Path) -> None:
    """No name, a folder, no such folder, a name too long, a locked file."""
    locked = tmp_path / "locked.csv"
    locked.write_text("mine")
    locked.chmod(0o444)
    names = ["", tmp_path, tmp_path / "no" / "r.csv", tmp_path / ("a" * 250 + ".csv")]
    for path in names if os.geteuid() == 0 else [*names, locked]:
        with pytest.raises(SettingsError):
            check_writable(path)
    assert [f.name for f in tmp_path.iterdir()] == ["locked.csv"]


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


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    """What others may not read they may not read afterwards."""
    path = tmp_path / "r.csv"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_output_to_a_device(place: Path) -> None:
    """/dev/stdout through a pipe is written, and not replaced."""
    line = "$M rank r.csv --by C --format csv -q -o /dev/stdout | wc -l"
    assert shell(line, place).stdout.strip() == "3"


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


def test_ten_thousand_characters_and_columns() -> None:
    """Long names are cut in messages; of many problems the first are told."""
    long = "h" * 10_000
    assert len(refusal(f"{long},class\n1,x\nfoo,y\n2,x\n3,y\n4,x\n")) < 500
    assert len(refusal(f"{long},{long},class\n1,2,x\n3,4,y\n")) < 300
    assert len(refusal(f"a,class\n1,{long}\n2,{long}\n")) < 300
    assert len(refusal("a,class\n1,x\n2,y\n", target=long)) < 300
    names = ",".join(f"c{i}" for i in range(10_000))
    cells = ",".join(["foo"] * 10_000)
    assert len(refusal(f"{names},class\n{cells},x\n{cells},y\n")) < 1000
    assert len(refusal(f"{','.join(['c', 'd'] * 5000)},class\n{cells},x\n")) < 600


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"PAR1\x15\x04", ["Parquet", "CSV"]),
        (b"\x1f\x8b\x08", ["gzip", "unpack"]),
        (b"%PDF-1.4\n%\xe2", ["PDF"]),
        (b"<!DOCTYPE html>\n<html>", ["web page"]),
        (b'[\n  {"a": 1, "class": "x"}]', ["JSON"]),
        (b"@RELATION iris\n", ["ARFF"]),
        ("a,class\n1,x\n2,y\n".encode("utf-16-le"), ["--encoding utf-16-le"]),
        ("a,class\n1,x\n2,y\n".encode("utf-32"), ["--encoding utf-32"]),
        ("sep=;\na;class\n1;x\n", ["line 1", "Excel", "delete"]),
        ("a,b,class\n1,5,2,x\n", ["line 2", "4 fields", "decimal comma"]),
        (
            "a;class\n1,234;x\n2;y\n",
            ["--decimal comma", "--thousands comma"],
        ),
        ("a;class\n1.234,5;x\n2;y\n", ["thousands separator"]),
        ("a,class\n1_000,x\n2,y\n", ["'1_000'", "thousands separator"]),
        ("a,class\n0x1f,x\n2,y\n", ["hexadecimal"]),
        ("a,class\n\u22122,x\n2,y\n", ["minus"]),
        ("a,class\n10%,x\n2,y\n", ["percent"]),
        ("a,class\n1e300,x\n2,y\n", ["line 2", "1e+300", "another unit"]),
        ("a,class\n1e-320,x\n2e-320,y\n", ["too small", "another unit"]),
        ("a,class\n1,NA\n2,y\n", ["line 2", "missing", "rename the class"]),
        ("class,class,a\nx,y,1\n", ["--target", "number 1 and 2"]),
    ],
)
def test_what_a_file_is_and_what_to_do(data: bytes | str, parts: list[str]) -> None:
    """Odd files are told for what they are, with the way out."""
    said = refusal(data)
    assert [part for part in parts if part not in said] == []


def test_decimal_comma() -> None:
    """With --decimal comma numbers are read so; a point in one is refused."""
    text = b"a;b;class\n1,5;2;x\n-3,25e1;4;y\n"
    data = load_csv(io.BytesIO(text), decimal="comma")
    assert data.X.tolist() == [[1.5, 2.0], [-32.5, 4.0]]
    assert "decimal point" in refusal("a;class\n1.5;x\n2;y\n", decimal="comma")
    with pytest.raises(SettingsError, match="point or comma"):
        load_csv(io.BytesIO(text), decimal="dot")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    """Those of Unix, of Windows and of old Macs; the last may be lacking."""
    text = end.join(["a,class", "1,x", "2,y", '3,"x', 'z"'])
    data = load_csv(io.BytesIO(text.encode()))
    assert data.X[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert data.classes == ("x", f"x{end}z", "y")


@pytest.mark.parametrize("encoding", ["rot13", "hex", "undefined", "no-such"])
def test_encodings_that_are_none(encoding: str) -> None:
    """A codec that makes no text of bytes is refused as a setting."""
    with pytest.raises(SettingsError, match="no such encoding"):
        load_csv(io.BytesIO(b"a,class\n1,x\n"), encoding=encoding)


def test_data_that_are_no_file(tmp_path: Path) -> None:
    """An address, nothing, a folder, a config, an empty device: exit 3, a reason."""
    for name, part in [
        ("https://example.org/iris.csv", "does not use the network"),
        ("", "no name"),
        (str(tmp_path), "is a folder"),
        ("configs/iris.toml", "`msvm-select run` takes it"),
        ("/dev/null", "empty"),
        ("-", "empty"),
    ]:
        done = run("check", name, input="")
        assert done.exit_code == 3
        assert part in done.stderr


def test_data_from_a_pipe_with_a_name(place: Path) -> None:
    """A FIFO is read like a file."""
    line = "mkfifo p; (cat iris.csv > p &); timeout 20 $M loo p --C 1 --format csv -q"
    assert shell(line, place).stdout.count("\n") == 1 + 30


def test_classes_that_differ_by_little_are_told() -> None:
    """1 and 1.0 are two classes, for labels are text; a note asks."""
    data = load_csv(io.BytesIO(b"a,class\n1,1\n2,1.0\n4,1\n7,1.0\n"))
    assert data.classes == ("1", "1.0")
    assert any("are they one?" in note for note in data.notes)


def test_a_gram_matrix_that_does_not_fit(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused with the rows that would fit; fewer jobs are named where they do."""
    monkeypatch.setattr(memory, "available", lambda: 40_000)
    done = run("sweep", place / "iris.csv", "--C", "1", "--gamma", "1,2", "--jobs", "2")
    assert done.exit_code == 3
    assert "30 samples" in done.stderr
    assert "say --jobs 1" in done.stderr
    monkeypatch.setattr(memory, "available", lambda: 20_000)
    for command in ("sweep", "fit", "loo"):
        more = ["-o", place / "n.json"] if command == "fit" else []
        done = run(command, place / "iris.csv", "--C", "1", *more)
        assert done.exit_code == 3
        assert "about 26 would fit" in done.stderr
    assert (
        run("sweep", place / "iris.csv", "--C", "1", "--kernel", "linear").exit_code
        == 0
    )


def test_a_large_file_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its size: its Gram matrix, or already the reading, would not fit."""
    big = tmp_path / "big.csv"
    big.write_text("a,class\n" + "1,x\n2,y\n" * 50_000)
    monkeypatch.setattr(memory, "available", lambda: 10**8)
    done = run("sweep", big, "--C", "1")
    assert done.exit_code == 3
    assert "judged by its size" in done.stderr
    monkeypatch.setattr(memory, "available", lambda: 10**6)
    done = run("check", big)
    assert done.exit_code == 3
    assert "has 400 kB" in done.stderr


def test_the_limits_of_memory_are_those_of_the_process() -> None:
    """`ulimit -v` counts, where the system has it."""
    code = "from msvm_select.memory import available; print(available())"
    line = f'ulimit -v 1000000; {sys.executable} -c "{code}"'
    done = shell(line, IRIS.parents[1])
    assert 0 < int(done.stdout) < 1_024_000_000
