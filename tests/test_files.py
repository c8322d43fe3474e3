"""Files are written whole, or refused before anything is computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.files import check_writable, format_of, write_whole


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


def test_a_path_that_cannot_be_written_is_refused_early(tmp_path: Path) -> None:
    """A folder, or a file in a folder that is not there."""
    with pytest.raises(SettingsError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(SettingsError, match="there is no folder"):
        check_writable(tmp_path / "no" / "x.csv")
    check_writable(tmp_path / "x.csv")
