"""What a sweep has finished, kept line by line, so that another can go on from there.

A journal is ndjson. Its first line, the header, says of which data and settings it is;
each further line is one finished cell, written before the cell counts as done. If the
sweep is killed in the middle of a line, that line is dropped and its cell done again.

Numbers are written as ``repr`` writes them, so that a row comes back as it was; those
that are not finite, which JSON has no name for, as text.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from msvm_select.columns import SCHEMA_VERSION, Row, Setting
from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.files import check_writable
from msvm_select.kernels.base import Kernel
from msvm_select.phrases import counted, listed
from msvm_select.records import Dataset
from msvm_select.results.ranking import data_summary, versions
from msvm_select.results.reread import JOURNAL, journal_row
from msvm_select.settings import PARAMETERS, Settings

EVERY = 1.0  # seconds between two calls that see the lines safely onto the disk
START = JOURNAL.encode()
SHOWN = 8  # values of a list that a message gives
# settings that decide no row, only their order, and which rows are judged to the end
NOT_OF_ROWS = ("rank_by", "race")
GRID = ("kernel", "C", *PARAMETERS)


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

    def __exit__(self, *error: object) -> None:
        """Let go of the file, its lines on the disk."""
        if self._file is not None:
            with suppress(OSError), self._file:
                os.fsync(self._file.fileno())
            self._file = None

    def begin(
        self, data: Dataset, settings: Settings, kernels: Sequence[Kernel] = ()
    ) -> None:
        """Read what is there, or write the header; nothing if that was done before.

        Refuses a journal of other data, settings or schema. ``notes`` then says what a
        person should know. The ``kernels`` are those of the settings, in numbers.
        """
        if self._file is not None:
            return
        header = header_of(data, settings, kernels)
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
        self._write(values | ({"by_class": row.by_class} if row.by_class else {}))

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


def header_of(
    data: Dataset, settings: Settings, kernels: Sequence[Kernel] = ()
) -> dict[str, Any]:
    """What a journal begins with, as it is read back from JSON."""
    summary = data_summary(data)
    header: dict[str, Any] = {
        "journal": "msvm-select",
        "schema_version": SCHEMA_VERSION,
        "data": {
            "name": data.name,
            "samples": data.m,
            "features": int(data.X.shape[1]),
            "classes": list(data.classes),
            "class_sizes": np.bincount(data.y, minlength=data.Q).tolist(),
            "target": data.target,
            "names": list(data.features),
            **{n: summary[n] for n in ("reading", "drawn_from") if n in summary},
            "sha256": fingerprint(data),
        },
        "settings": {**settings.deciding(), **_costs(settings)},
        "kernels": [kernel.setting for kernel in kernels],
        **({} if settings.shard is None else {"shard": settings.shard}),
        "versions": versions(),
    }
    found: dict[str, Any] = json.loads(json.dumps(header))
    return found


def _costs(settings: Settings) -> dict[str, str]:
    """A hash of the table of costs, whose name alone does not tell what it holds."""
    for one in settings.metric or ():
        name, _, file = one.partition(":")
        if name == "cost":
            return {"cost_table": hashlib.sha256(Path(file).read_bytes()).hexdigest()}
    return {}


def fingerprint(data: Dataset) -> str:
    """A hash of the samples: X, y, names of classes and rows, weights and groups."""
    hash = hashlib.sha256(np.ascontiguousarray(data.X, "<f8").data)
    hash.update(np.ascontiguousarray(data.y, "<i8").data)
    hash.update(json.dumps([data.X.shape, data.classes, data.ids]).encode())
    for more, kind in ((data.weights, "<f8"), (data.groups, "<i8")):
        if more is not None:
            hash.update(np.ascontiguousarray(more, kind).data)
    return hash.hexdigest()


def check_header(journal: str, there: Any, here: Mapping[str, Any]) -> bool:
    """Refuse a journal that this sweep cannot continue, naming all that differs.

    The journal may be that of a part of the grid: then its cells count. The answer
    says whether the grid is wider here.
    """
    _check_form(journal, there, here)
    wider = _is_part(there["settings"], here["settings"])
    skipped = (*NOT_OF_ROWS, *(GRID if wider else ()))
    _refuse_others(
        *(journal, there, here, skipped, "this sweep"),
        "Use the same data and settings (the grid may be wider), or name another "
        "file with --journal.",
    )
    return wider


def check_alike(journal: str, there: Any, first: str, here: Mapping[str, Any]) -> None:
    """Refuse a journal that is not of the sweep that the ``first`` one is of."""
    _check_form(journal, there, here)
    advice = "Only the parts of one sweep can be merged."
    _refuse_others(journal, there, here, NOT_OF_ROWS, first, advice)


def _check_form(journal: str, there: Any, here: Mapping[str, Any]) -> None:
    if not all(isinstance(there.get(key), dict) for key in ("data", "settings")):
        raise DataError(f"{journal}, line 1 is no header of a journal.")
    if there.get("schema_version") != here["schema_version"]:
        raise SettingsError(
            f"{journal} has schema_version {there.get('schema_version')!r}; this "
            f"program writes {here['schema_version']}. Name another file."
        )


def _refuse_others(
    journal: str,
    there: Mapping[str, Any],
    here: Mapping[str, Any],
    skipped: Sequence[str],
    of: str,
    advice: str,
) -> None:
    of_data = list(_of_data(there["data"], here["data"], of))
    others = list(_of_settings(there["settings"], here["settings"], skipped, of))
    if of_data or others:
        lines = "".join(f"\n  {line}" for line in [*of_data, *others])
        kind = DataError if of_data else SettingsError
        raise kind(f"{journal} is the journal of another sweep:{lines}\n{advice}")


def version_notes(there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    """Other packages compute the same to rounding: to be told, not refused."""
    old, new = there.get("versions") or {}, here["versions"]
    changed = [
        f"{name} {old[name]}, now {new[name]}"
        for name in new
        if name in old and old[name] != new[name]
    ]
    if changed:
        yield f"its cells are of {listed(changed)}; they may differ in rounding"


def _of_data(
    there: Mapping[str, Any], here: Mapping[str, Any], of: str
) -> Iterator[str]:
    """What differs of the data; their name alone does not count."""
    if there.get("sha256") == here["sha256"]:
        return
    names = [name for name in here if name != "sha256" and name in there]
    changed = [name for name in names if there.get(name) != here[name]]
    for name in changed:
        yield _differs(f"{name} of the data", there.get(name), here[name], of)
    if not changed:
        yield "the data: the same name and sizes, but other values"


def _is_part(there: Mapping[str, Any], here: Mapping[str, Any]) -> bool:
    """Whether the grid of the one is a part of the other's, and not the same."""
    pairs = [(there.get(name), here.get(name)) for name in GRID]
    return any(old != new for old, new in pairs) and all(
        old == new
        or (isinstance(old, list) and isinstance(new, list) and set(old) <= set(new))
        for old, new in pairs
    )


def _of_settings(
    there: Mapping[str, Any], here: Mapping[str, Any], skipped: Sequence[str], of: str
) -> Iterator[str]:
    for name in dict.fromkeys([*here, *there]):
        if name not in skipped and there.get(name) != here.get(name):
            yield _differs(name, there.get(name), here.get(name), of)


def _differs(name: str, there: Any, here: Any, of: str) -> str:
    first = 0
    if isinstance(there, list) and isinstance(here, list):
        same = [a == b for a, b in zip(there, here, strict=False)]
        first = same.index(False) if False in same else len(same)
    return (
        f"{name}: the journal has {_shown(there, first)}; "
        f"{of} has {_shown(here, first)}"
    )


def _shown(value: Any, first: int) -> str:
    """A value for a person; of a long list what differs, from ``first`` on."""
    if not isinstance(value, list):
        return _plainly(value)
    texts = [_shown(part, 0) for part in value]
    if len(texts) <= SHOWN:
        return ", ".join(texts)
    before, after = "... " * (first > 0), " ..." * (first + SHOWN < len(texts))
    part = ", ".join(texts[first : first + SHOWN])
    return f"{before}{part}{after} ({len(texts)} of them)"


def _plainly(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.15g}" if isinstance(value, float) else str(value)
