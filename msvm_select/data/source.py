"""Where text comes from: a file or a stream, decoded, with its name for messages."""

from __future__ import annotations

import codecs
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from msvm_select.data.foreign import foreign, wide_encoding
from msvm_select.data.size import rows_at_least
from msvm_select.errors import DataError, SettingsError
from msvm_select.memory import refuse_large
from msvm_select.phrases import did_you_mean, quoted

BLOCK = 2**20  # characters

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
        name = os.fspath(path)
        file = Path(name)
        # A name that is not UTF-8 could not be printed with the results.
        stem = os.fsencode(file.stem).decode("utf-8", "replace")
        source = Source(name, stem, file.suffix.lower(), _bytes(name, file), encoding)
    else:
        stream = _standard_input() if isinstance(path, str | os.PathLike) else path
        source = Source("standard input", "stdin", "", stream.read(), encoding)
    _check_text(source)
    return source


def _codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        b"a".decode(name)  # some codecs are no encodings of text
    except (LookupError, ValueError):
        raise SettingsError(
            f"--encoding {encoding}: no such encoding (utf-8, latin-1, cp1252, "
            "utf-16 are common ones)"
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise DataError("standard input is closed: there are no data to read")
    return sys.stdin.buffer


def _bytes(name: str, file: Path) -> bytes:
    if not name:
        raise DataError("the data have no name: it is empty text")
    if name.endswith(".toml"):
        raise DataError(f"{name} is a config, no data: `msvm-select run` takes it")
    if "://" in name:
        raise DataError(
            f"{name} is an address: this program does not use the network; download "
            "the file and name it, or pipe it into `-`"
        )
    try:
        refuse_large(name, file.stat().st_size, rows_at_least(name))
        return file.read_bytes()
    except FileNotFoundError:
        raise DataError(_no_such_file(file)) from None
    except IsADirectoryError:
        raise DataError(f"{file} is a folder; name a file in it") from None
    except ValueError as error:  # a zero byte in the name
        raise DataError(f"{name!r} is no name of a file: {error}") from None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from None


def _no_such_file(file: Path) -> str:
    folder = file.parent
    if not folder.is_dir():
        return f"{file}: no such file, and no folder {quoted(str(folder))} either"
    near = did_you_mean(file.name, sorted(f.name for f in folder.iterdir()))
    return f"{file}: no such file{near}"


def _check_text(source: Source) -> None:
    """Refuse what is not text, or not in this encoding, before it is cut to cells."""
    data, encoding = source.data, source.encoding
    if what := foreign(data):
        raise DataError(f"{source.name} is {what}")
    wide = wide_encoding(data)
    if wide and not encoding.startswith(("utf-16", "utf-32")):
        raise DataError(
            f"{source.name} is {wide[:6].upper()} text: say --encoding {wide}"
        )
    line = 1
    try:
        with source.open() as text:
            while block := text.read(BLOCK):
                if "\0" in block:
                    line += _line_ends(block.partition("\0")[0])
                    raise DataError(
                        f"{source.name}, line {line}: a zero byte; this is not text"
                    )
                line += _line_ends(block)
    except UnicodeError:
        raise DataError(_undecodable(source)) from None


def _line_ends(text: str) -> int:
    """How many there are, be they those of Unix, of Windows or of old Macs."""
    return max(text.count("\n"), text.count("\r"))


def _undecodable(source: Source) -> str:
    """Which byte is none of the encoding: all is decoded again, to have its place."""
    encoding = source.encoding.removesuffix("-sig")
    way_out = "name the file's own encoding"
    if encoding == "utf-8":
        way_out += ", for example --encoding latin-1 or cp1252"
    try:
        source.data.decode(source.encoding)
    except UnicodeDecodeError as error:
        before = source.data[: error.start].decode(source.encoding, "replace")
        line, byte = 1 + _line_ends(before), source.data[error.start]
        place = f"{source.name}, line {line}"
        return f"{place}: byte 0x{byte:02x} is not {encoding}; {way_out}"
    except UnicodeError:
        pass
    return f"{source.name} is not {encoding}; {way_out}"
