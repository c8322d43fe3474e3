"""Where data come from: a file or a stream, with its name for messages and its format.

What is packed by gzip is unpacked; text is decoded, and other formats stay bytes.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import sys
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TextIO

from msvm_select.errors import DataError, SettingsError
from msvm_select.memory import refuse_large
from msvm_select.names import INPUT_ENDINGS
from msvm_select.phrases import did_you_mean, quoted

BLOCK = 2**20  # characters
UNPACKED = 2**26  # bytes that are unpacked before the memory is looked at again
GZIP, PACKED = b"\x1f\x8b", ".gz"
BYTES = ("parquet", "arrow", "excel")  # formats that are no text
LOOKED_AT = 512  # bytes, to tell what a file is
FIRST_LINES = 2**16  # bytes, to tell how long its lines are
UNPACK = "unpack it first"
EXPORT = "write it as CSV first"
SAY = "say --input-format {}"

# The first bytes, what begins with them, what to do.
SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (
        b"PK\x03\x04",
        "a spreadsheet (xlsx, ods) or another zip archive",
        "save the sheet as xlsx or CSV, or unpack it",
    ),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet (xls)", "save the sheet as xlsx or CSV"),
    (b"\x1f\x8b", "packed by gzip", UNPACK),
    (b"BZh", "packed by bzip2", UNPACK),
    (b"\xfd7zXZ\0", "packed by xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", UNPACK),
    (b"7z\xbc\xaf", "a 7z archive", UNPACK),
    (b"PAR1", "a Parquet file", SAY.format("parquet")),
    (b"ARROW1", "an Arrow file", SAY.format("arrow")),
    (b"FEA1", "a Feather file", SAY.format("arrow")),
    (b"\x89HDF", "an HDF5 file", EXPORT),
    (b"\x93NUMPY", "a NumPy array", EXPORT),
    (b"SQLite format 3", "an SQLite database", EXPORT),
    (b"%PDF", "a PDF", "take the table from where it was made"),
    (b"\x89PNG", "a picture", "take the table from where it was made"),
    (b"\x80\x04", "a Python pickle", EXPORT),
    (b"\x80\x05", "a Python pickle", EXPORT),
    (b"<!doctype", "a web page", "was the download refused?"),
    (b"<html", "a web page", "was the download refused?"),
    (b"<?xml", "XML", EXPORT),
    (b"@relation", "an ARFF file", SAY.format("arff")),
    (b'{"', "JSON", EXPORT),
    (b"[{", "JSON", EXPORT),
    (b"[[", "JSON", EXPORT),
)
MARKS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow"}
"""What a file of no known ending is by its first bytes."""
COMMENTS = re.compile(rb"^\s*%.*", re.MULTILINE)  # of ARFF, which may begin with some
A_WORKBOOK = b"xl/workbook"  # a name within the zip archive that xlsx is
WIDE = (
    # The mark of UTF-32 begins with that of UTF-16.
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)

Readable = str | os.PathLike[str] | BinaryIO


@dataclass(frozen=True)
class Source:
    """The bytes of a file; but for the formats of BYTES, text in ``encoding``."""

    name: str
    stem: str
    suffix: str
    data: bytes
    encoding: str
    notes: tuple[str, ...] = ()
    format: str = "csv"

    def open(self) -> TextIO:
        """The text from its beginning, line ends as they are."""
        # Decoded as it is read: a whole str of a large file would double the memory.
        return io.TextIOWrapper(io.BytesIO(self.data), self.encoding, newline="")


def load(
    path: Readable, encoding: str | None = None, format: str | None = None
) -> Source:
    """Read a path, a binary stream, or standard input where the path is ``-``.

    Without an ``encoding`` text is UTF-8, or else cp1252, with a note; without a
    ``format`` the ending of the file tells it, or else its first bytes.
    """
    source = _opened(path, _codec(encoding or "utf-8"))
    source = replace(source, format=format or _recognised(source))
    if source.format in BYTES:
        return source
    try:
        _check_text(source)
    except UnicodeError:
        place, way_out = _undecodable(source)
        if encoding is None and not source.data.startswith(codecs.BOM_UTF8):
            western = replace(
                source,
                encoding="cp1252",
                notes=(f"{place}, so it is read as cp1252; --encoding names another",),
            )
            with suppress(UnicodeError):
                _check_text(western)
                return western
        raise DataError(f"{place}; {way_out}") from None
    return source


def _opened(path: Readable, encoding: str) -> Source:
    if isinstance(path, str | os.PathLike) and os.fspath(path) != "-":
        name = os.fspath(path)
        file, data = Path(name), _unpacked(name, _bytes(name, Path(name)))
        if file.suffix.lower() == PACKED:
            file = file.with_suffix("")
        # A name that is not UTF-8 could not be printed with the results.
        stem = os.fsencode(file.stem).decode("utf-8", "replace")
        return Source(name, stem, file.suffix.lower(), data, encoding)
    stream = _standard_input() if isinstance(path, str | os.PathLike) else path
    name = "standard input"
    return Source(name, "stdin", "", _unpacked(name, stream.read()), encoding)


def _recognised(source: Source) -> str:
    """The format, by the ending of the name, else by the first bytes; csv for most."""
    if source.suffix in INPUT_ENDINGS:
        return INPUT_ENDINGS[source.suffix]
    start = source.data[:FIRST_LINES]
    for mark, format in MARKS.items():
        if start.startswith(mark):
            return format
    if start.startswith(b"PK\x03\x04") and A_WORKBOOK in source.data:
        return "excel"
    told = COMMENTS.sub(b"", start).lstrip().lower()
    if told.startswith((b">", codecs.BOM_UTF8 + b">")):
        return "fasta"
    return "arff" if told.startswith(b"@relation") else "csv"


def _unpacked(name: str, data: bytes) -> bytes:
    """The bytes themselves, or what gzip packed in them."""
    if not data.startswith(GZIP):
        return data
    blocks: list[bytes] = []
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            while block := packed.read(UNPACKED):
                blocks.append(block)
                # a few bytes can hold gigabytes
                refuse_large(f"{name}, unpacked,", UNPACKED * len(blocks), 0)
    except (OSError, EOFError, zlib.error):
        raise DataError(
            f"{name} is packed by gzip, but damaged or not whole: it cannot be unpacked"
        ) from None
    return b"".join(blocks)


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
    """Refuse what is not text; a UnicodeError where it has another encoding."""
    data, encoding = source.data, source.encoding
    if (what := foreign(data)) and source.format != "arff":
        raise DataError(f"{source.name} is {what}")
    wide = wide_encoding(data)
    if wide and not encoding.startswith(("utf-16", "utf-32")):
        raise DataError(
            f"{source.name} is {wide[:6].upper()} text: say --encoding {wide}"
        )
    if encoding == "utf-8-sig" and data.isascii() and b"\0" not in data:
        return
    line = 1
    with source.open() as text:
        while block := text.read(BLOCK):
            if "\0" in block:
                line += _line_ends(block.partition("\0")[0])
                raise DataError(
                    f"{source.name}, line {line}: a zero byte; this is not text"
                )
            line += _line_ends(block)


def _line_ends(text: str) -> int:
    """How many there are, be they those of Unix, of Windows or of old Macs."""
    return max(text.count("\n"), text.count("\r"))


def _undecodable(source: Source) -> tuple[str, str]:
    """Which byte is not of the encoding, and the way out."""
    encoding = source.encoding.removesuffix("-sig")
    way_out = "name the file's own encoding"
    if encoding == "utf-8":
        way_out += ", for example --encoding latin-1 or cp1252"
    try:
        source.data.decode(source.encoding)  # all again, to have the place
    except UnicodeDecodeError as error:
        before = source.data[: error.start].decode(source.encoding, "replace")
        line, byte = 1 + _line_ends(before), source.data[error.start]
        return (
            f"{source.name}, line {line}: byte 0x{byte:02x} is not {encoding}",
            way_out,
        )
    except UnicodeError:
        pass
    return f"{source.name} is not {encoding}", way_out


def foreign(data: bytes) -> str:
    """``a Parquet file, not CSV: write it as CSV first``; nothing where it may be."""
    start = data[:LOOKED_AT]
    words = b"".join(start.lower().split())
    for mark, what, way_out in SIGNATURES:
        if start.startswith(mark) or words.startswith(mark):
            return f"{what}, not CSV: {way_out}"
    return ""


def wide_encoding(data: bytes) -> str:
    """The encoding of text whose characters have two or four bytes, else nothing."""
    for mark, encoding in WIDE:
        if data.startswith(mark):
            return encoding
    # Text of the western world has a zero for every other byte.
    start = data[: min(LOOKED_AT, len(data) // 2 * 2)]
    if start and not any(start[1::2]) and all(start[::2]):
        return "utf-16-le"
    if start and not any(start[::2]) and all(start[1::2]):
        return "utf-16-be"
    return ""


def rows_at_least(path: str) -> int:
    """How many rows a file has, judged before it is read; 0 for what has no size."""
    # A pipe is not to be opened: what is read here would be gone.
    if not os.path.isfile(path) or (size := os.path.getsize(path)) < FIRST_LINES:
        return 0
    try:
        with open(path, "rb") as file:
            start = file.read(FIRST_LINES)
    except OSError:  # the reader tells it
        return 0
    if foreign(start):  # no lines of text
        return 0
    if start.lstrip().startswith(b">"):  # a sequence has several lines
        return size * start.count(b"\n>") // len(start)
    lines = start.splitlines(keepends=True)
    return size // max(map(len, lines[:-1] or lines))
