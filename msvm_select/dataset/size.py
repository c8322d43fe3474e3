"""How many rows a file has, judged before it is read."""

from __future__ import annotations

import os

LOOKED_AT = 2**16  # bytes


def rows_at_least(path: str) -> int:
    """By its size and the longest of its first lines; 0 for what has no size."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < LOOKED_AT or not file.seekable():
                return 0
            lines = file.read(LOOKED_AT).splitlines(keepends=True)
    except (OSError, ValueError):  # told by whoever reads it
        return 0
    return size // max(map(len, lines[:-1] or lines))
