"""Files that are written: the format their ending asks for, whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.names import ENDINGS
from msvm_select.phrases import listed


def format_of(path: str | Path) -> str:
    """The format that a file's ending stands for."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise SettingsError(
            f"{path}: the ending {ending!r} stands for no format; use one of "
            f"{listed(ENDINGS, 10)} or give --format."
        )
    return ENDINGS[ending]


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file in one piece: under another name in its folder, then renamed."""
    data = content.encode() if isinstance(content, str) else content
    try:
        if _is_stream(path):
            Path(path).write_bytes(data)
            return
        target = Path(os.path.realpath(path))
        beside = _beside(target)
        try:
            beside.write_bytes(data)
            if target.exists():
                shutil.copymode(target, beside)
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise MsvmError(f"{path} cannot be written: {error.strerror}.") from error


@contextmanager
def written_whole(path: str | Path) -> Iterator[TextIO]:
    """The same for what is written bit by bit; nothing is left where it fails."""
    stream = _is_stream(path)
    target = Path(os.path.realpath(path))
    beside = Path(path) if stream else _beside(target)
    try:
        with beside.open("w", encoding="utf-8", newline="") as file:
            yield file
        if not stream:
            if target.exists():
                shutil.copymode(target, beside)
            os.replace(beside, target)
    except OSError as error:
        raise MsvmError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        if not stream:
            beside.unlink(missing_ok=True)


def append(path: str | Path, text: str) -> None:
    """Add to a file that others write to as well."""
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise MsvmError(f"{path} cannot be written: {error.strerror}.") from error


def check_writable(path: str | Path, *inputs: str | Path) -> None:
    """Refuse, before a long run, a path that could not be written after it.

    Nor is one of the ``inputs``, the files that are read, to be written over.
    """
    if not os.fspath(path):
        raise SettingsError("The file to write has no name.")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise SettingsError(f"{path} is a folder; give the name of a file in it.")
    if not target.parent.is_dir() and not _is_stream(path):
        raise SettingsError(f"{path}: there is no folder {str(target.parent)!r}.")
    if target in [Path(os.path.realpath(other)) for other in inputs]:
        raise SettingsError(f"{path} is the file that is read; give another name.")
    try:
        _try_to_write(path, target)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from None


def check_apart(option: str, path: str, *others: str | None) -> None:
    """Refuse the file of an option where another use of the same line names it, too."""
    for other in others:
        if other is not None and Path(other).resolve() == Path(path).resolve():
            raise SettingsError(f"{option} {path} would overwrite {other}.")


def _try_to_write(path: str | Path, target: Path) -> None:
    """Do it: permissions alone do not tell of file systems and of long names."""
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if _is_stream(path):
        return
    beside = _beside(target)
    try:
        beside.touch()
    finally:
        beside.unlink(missing_ok=True)


def _is_stream(path: str | Path) -> bool:
    """Whether it is there and no file: a pipe or /dev/null, not to be replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.part")
