"""Files are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from msvm_select.errors import MsvmError


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write beside the file, then rename: a reader never sees half of it."""
    file = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as error:
        raise MsvmError(f"{file} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as beside:
            beside.write(data)
        Path(name).chmod(_mode(file))
        Path(name).replace(file)
    except OSError as error:
        raise MsvmError(f"{file} cannot be written: {error.strerror}") from None
    finally:
        Path(name).unlink(missing_ok=True)


def _mode(file: Path) -> int:
    """The rights of the file that is replaced, else what a new file would get."""
    if file.exists():
        return file.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
