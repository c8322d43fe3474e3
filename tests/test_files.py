"""Files are written whole, or refused before anything is computed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.files import check_writable, format_of, write_whole
from tests.conftest import IRIS, run


def test_the_ending_tells_the_format() -> None:
    """In either case of letters; an unknown ending is refused."""
    assert format_of("a/b.CSV") == "csv"
    assert format_of("x.jsonl") == "ndjson"
    with pytest.raises(SettingsError, match="--format"):
        format_of("x.xlsx")


def test_files_are_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure half-way leaves the old file and nothing beside it."""
    path = tmp_path / "x.csv"
    write_whole(path, "old")

    def refuse(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(MsvmError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_links_and_devices_are_written_through(tmp_path: Path) -> None:
    """A link keeps pointing where it did; /dev/null is not replaced by a file."""
    (tmp_path / "target").touch()
    (tmp_path / "link").symlink_to("target")
    write_whole(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "text"
    write_whole("/dev/null", "text")
    assert not Path("/dev/null").is_file()


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


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    """What others may not read they may not read afterwards."""
    path = tmp_path / "r.csv"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
