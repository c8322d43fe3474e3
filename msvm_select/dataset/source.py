"""Where text comes from: a file or a stream, decoded, with its name for messages."""

from __future__ import annotations

import codecs
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from msvm_select.errors import DataError, SettingsError
from msvm_select.suggest import did_you_mean

Readable = str | os.PathLike[str] | BinaryIO


@dataclass(frozen=True)
class Source:
    """The bytes of a file, known to be text in ``encoding``."""

    name: str
    stem: str
    suffix: str
    data: bytes
    encoding: str

    def open(self) -> TextIO:
        """The text from its beginning, line ends as they are."""
        # Decoded as it is read: a whole str of a large file would double the memory.
        return io.TextIOWrapper(io.BytesIO(self.data), self.encoding, newline="")


def load(path: Readable, encoding: str = "utf-8") -> Source:
    """Read a path, a binary stream, or standard input where the path is ``-``."""
    encoding = _codec(encoding)
    if isinstance(path, str | os.PathLike) and os.fspath(path) != "-":
        file = Path(path)
        source = Source(
            os.fspath(path), file.stem, file.suffix.lower(), _bytes(file), encoding
        )
    else:
        stream = sys.stdin.buffer if isinstance(path, str | os.PathLike) else path
        source = Source("standard input", "stdin", "", stream.read(), encoding)
    _check_text(source)
    return source


def _codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise SettingsError(
            f"--encoding {encoding}: no such encoding (utf-8, latin-1, cp1252, "
            "utf-16 are common ones)"
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise DataError(_no_such_file(file)) from None
    except IsADirectoryError:
        raise DataError(f"{file} is a folder; name a file in it") from None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from None


def _no_such_file(file: Path) -> str:
    folder = file.parent
    if not folder.is_dir():
        return f"{file}: no such file, and no folder {str(folder)!r} either"
    near = did_you_mean(file.name, sorted(f.name for f in folder.iterdir()))
    return f"{file}: no such file{near}"


def _check_text(source: Source) -> None:
    data = source.data
    if data.startswith((b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0")):
        raise DataError(
            f"{source.name} is a packed file or a spreadsheet, not text: unpack it, "
            "or save the sheet as CSV"
        )
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if wide and not source.encoding.startswith("utf-16"):
        raise DataError(f"{source.name} is UTF-16 text: say --encoding utf-16")
    try:
        text = data.decode(source.encoding)
    except UnicodeDecodeError as error:
        raise DataError(_undecodable(source, error)) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{source.name}, line {line}: a zero byte; this is not text")


def _undecodable(source: Source, error: UnicodeDecodeError) -> str:
    encoding = source.encoding.removesuffix("-sig")
    line = source.data.count(b"\n", 0, error.start) + 1
    byte = source.data[error.start]
    return (
        f"{source.name}, line {line}: byte 0x{byte:02x} is not {encoding}; "
        "name the file's own encoding, for example --encoding latin-1"
    )
