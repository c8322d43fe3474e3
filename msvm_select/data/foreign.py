"""What a file is that is no CSV: told by its first bytes, with the way out."""

from __future__ import annotations

UNPACK = "unpack it first"
EXPORT = "write it as CSV first"

# The first bytes, what begins with them, what to do.
SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (
        b"PK\x03\x04",
        "a spreadsheet (xlsx, ods) or another zip archive",
        "save the sheet as CSV, or unpack it",
    ),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet (xls)", "save the sheet as CSV"),
    (b"\x1f\x8b", "packed by gzip", UNPACK),
    (b"BZh", "packed by bzip2", UNPACK),
    (b"\xfd7zXZ\0", "packed by xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", UNPACK),
    (b"7z\xbc\xaf", "a 7z archive", UNPACK),
    (b"PAR1", "a Parquet file", EXPORT),
    (b"ARROW1", "an Arrow file", EXPORT),
    (b"FEA1", "a Feather file", EXPORT),
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
    (b"@relation", "an ARFF file", EXPORT),
    (b'{"', "JSON", EXPORT),
    (b"[{", "JSON", EXPORT),
    (b"[[", "JSON", EXPORT),
)
WIDE = (
    # The mark of UTF-32 begins with that of UTF-16.
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
LOOKED_AT = 512


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
