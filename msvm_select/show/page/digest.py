"""A file -> the hash that tells whether it is still the same."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_digest(path: str) -> str | None:
    """The SHA-256 of a file, as ``sha256sum`` prints it; None of what is no file."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
