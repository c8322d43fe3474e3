"""What a sweep has finished, kept line by line, so that another can go on from there.

A journal is ndjson. Its first line, the header, says of which data and settings it is;
each further line is one finished cell, written before the cell counts as done. Whoever
is killed in the middle of a line leaves it torn: it is dropped, its cell done again.

Numbers are written as ``repr`` writes them, so that a row comes back as it was; those
that are not finite, which JSON has no name for, as text.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from msvm_select.columns import Row, Setting
from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.files import check_writable
from msvm_select.kernels.base import Kernel
from msvm_select.phrases import counted
from msvm_select.records import Dataset
from msvm_select.results.reread import journal_row
from msvm_select.settings import Settings
from msvm_select.sweep.header import START, check_header, header_of, version_notes

EVERY = 1.0  # seconds between two calls that see the lines safely onto the disk


class Journal:
    """The finished cells of one sweep, in a file.

    >>> run_sweep(data, journal=Journal("iris.ndjson", resume=True)).best
    """

    def __init__(self, path: str | Path, resume: bool = False) -> None:
        """Refuse what could not be written, and what would be overwritten."""
        self.path, self.resume = Path(path), resume
        check_writable(path)
        if self.path.exists() and not self.path.is_file():
            raise SettingsError(f"{path} is no file that a journal could be kept in.")
        if not resume and self.path.exists() and self.path.stat().st_size:
            raise SettingsError(
                f"{path} is there already: --resume goes on from it; to begin anew, "
                "delete it or name another file."
            )
        self.rows: dict[tuple[Setting, float], Row] = {}
        self.notes: tuple[str, ...] = ()
        self._file: FileIO | None = None
        self._synced = time.monotonic()

    def __enter__(self) -> Journal:
        """Nothing is opened before ``begin``."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the file, its lines on the disk."""
        if self._file is not None:
            with suppress(OSError), self._file:
                os.fsync(self._file.fileno())
            self._file = None

    def begin(self, data: Dataset, settings: Settings) -> None:
        """Read what is there, or write the header; nothing if that was done before.

        Refuses a journal of other data, settings or schema. ``notes`` then says what a
        person should know.
        """
        if self._file is not None:
            return
        header = header_of(data, settings)
        text = self._opened()
        whole = text[: text.rfind(b"\n") + 1]
        if not START.startswith(text[: len(START)]):  # another file, named by mistake
            raise DataError(f"{self.path} is no journal of a sweep.")
        wider = bool(whole) and self._read(whole, header)
        if not whole and self.resume:
            self.notes = (f"{self.path} has no finished cells yet; it begins here",)
        if len(whole) < len(text):
            self._truncate(len(whole))
        if wider or not whole:  # from here on the cells are those of this grid
            self._write(header)

    def _opened(self) -> bytes:
        """What the file holds, which is ours alone from here on."""
        try:
            self._file = FileIO(self.path, "a+")
            if not _lock(self._file):
                raise MsvmError(
                    f"Another sweep is writing to the journal {self.path}; wait for "
                    "it, or name another file."
                )
            self._file.seek(0)
            return self._file.readall() or b""
        except OSError as error:
            raise self._unwritable(error) from error

    def known(self, kernel: Kernel, Cs: tuple[float, ...]) -> dict[float, Row]:
        """The rows of a kernel setting that are there already, by C."""
        at = kernel.setting
        return {C: self.rows[at, C] for C in Cs if (at, C) in self.rows}

    def add(self, row: Row) -> None:
        """Write a finished cell down."""
        values = {
            name: _written(v) for name, v in row.values().items() if v is not None
        }
        self._write(values)

    def _write(self, values: Mapping[str, Any]) -> None:
        """One line, in one piece where the system lets us."""
        assert self._file is not None
        rest = json.dumps(values, allow_nan=False).encode() + b"\n"
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
            if time.monotonic() - self._synced > EVERY:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> MsvmError:
        return MsvmError(
            f"The journal {self.path} cannot be written: {error.strerror}."
        )

    def _read(self, whole: bytes, header: dict[str, Any]) -> bool:
        """The finished cells; whether they are those of a smaller grid."""
        first, *lines = whole.split(b"\n")[:-1]
        there = self._parsed(1, first)
        for number, line in enumerate(lines, 2):
            values = self._parsed(number, line)
            if line.startswith(START):  # the grid was widened there
                there = values
                continue
            row = journal_row(f"{self.path}, line {number}", values)
            self.rows[row.setting, row.C] = row
        wider = check_header(str(self.path), there, header)
        count = counted(len(self.rows), "finished cell")
        smaller = " of a smaller grid" if wider else ""
        notes = version_notes(there, header)
        self.notes = (f"{self.path} has {count}{smaller}", *notes)
        return wider

    def _parsed(self, number: int, line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError:  # neither JSON nor even UTF-8
            raise DataError(
                f"{self.path}, line {number} is damaged; delete that line, and its "
                "cell is done again."
            ) from None

    def _truncate(self, size: int) -> None:
        """Drop the torn line behind the whole ones."""
        assert self._file is not None
        self._file.truncate(size)
        self.notes += ("the last line was torn, and is dropped",)


def _lock(file: FileIO) -> bool:
    """Whether no other sweep writes there; held until the file is closed."""
    try:
        import fcntl
    except ImportError:  # not on this system: whoever starts two sweeps, beware
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _written(value: Any) -> Any:
    """A value that JSON has; it comes back the same."""
    return value if not isinstance(value, float) or math.isfinite(value) else str(value)
