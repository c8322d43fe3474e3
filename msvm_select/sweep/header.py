"""The first line of a journal: of which data and settings it is, and what differs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from msvm_select.columns import SCHEMA_VERSION
from msvm_select.errors import DataError, SettingsError
from msvm_select.phrases import listed
from msvm_select.records import Dataset
from msvm_select.results.identity import versions
from msvm_select.results.reread import JOURNAL
from msvm_select.settings import Settings

START = JOURNAL.encode()
SHOWN = 8  # values of a list that a message gives
NOT_OF_ROWS = ("rank_by",)  # settings that decide no row, only their order
GRID = ("kernel", "C", "gamma", "sigma", "degree", "coef0")


def header_of(data: Dataset, settings: Settings) -> dict[str, Any]:
    """What a journal begins with, as it is read back from JSON."""
    header = {
        "journal": "msvm-select",
        "schema_version": SCHEMA_VERSION,
        "data": {
            "name": data.name,
            "samples": data.m,
            "features": int(data.X.shape[1]),
            "classes": list(data.classes),
            "sha256": fingerprint(data),
        },
        "settings": settings.deciding(),
        "versions": versions(),
    }
    found: dict[str, Any] = json.loads(json.dumps(header))
    return found


def fingerprint(data: Dataset) -> str:
    """A hash of the samples: X, y, the names of the classes and of the rows."""
    hash = hashlib.sha256(np.ascontiguousarray(data.X, "<f8").data)
    hash.update(np.ascontiguousarray(data.y, "<i8").data)
    hash.update(json.dumps([data.X.shape, data.classes, data.ids]).encode())
    return hash.hexdigest()


def check_header(journal: str, there: Any, here: Mapping[str, Any]) -> bool:
    """Refuse a journal that this sweep cannot continue, naming all that differs.

    The journal may be that of a part of the grid: then its cells count. The answer
    says whether the grid is wider here.
    """
    parts = [there.get(key) for key in ("data", "settings")]
    if not all(isinstance(part, dict) for part in parts):
        raise DataError(f"{journal}, line 1 is no header of a journal.")
    if there.get("schema_version") != here["schema_version"]:
        raise SettingsError(
            f"{journal} has schema_version {there.get('schema_version')!r}; this "
            f"program writes {here['schema_version']}. Name another file."
        )
    of_data = list(_of_data(parts[0], here["data"]))
    wider = _is_part(parts[1], here["settings"])
    skipped = (*NOT_OF_ROWS, *(GRID if wider else ()))
    found = [*of_data, *_of_settings(parts[1], here["settings"], skipped)]
    if found:
        lines = "".join(f"\n  {line}" for line in found)
        kind = DataError if of_data else SettingsError
        raise kind(
            f"{journal} is the journal of another sweep:{lines}\n"
            "Use the same data and settings (the grid may be wider), or name another "
            "file with --journal."
        )
    return wider


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


def _of_data(there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    """What differs of the data; their name alone does not count."""
    if there.get("sha256") == here["sha256"]:
        return
    names = [name for name in here if name != "sha256"]
    changed = [name for name in names if there.get(name) != here[name]]
    for name in changed:
        yield _differs(f"{name} of the data", there.get(name), here[name])
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
    there: Mapping[str, Any], here: Mapping[str, Any], skipped: Sequence[str]
) -> Iterator[str]:
    for name in dict.fromkeys([*here, *there]):
        if name not in skipped and there.get(name) != here.get(name):
            yield _differs(name, there.get(name), here.get(name))


def _differs(name: str, there: Any, here: Any) -> str:
    first = 0
    if isinstance(there, list) and isinstance(here, list):
        same = [a == b for a, b in zip(there, here, strict=False)]
        first = same.index(False) if False in same else len(same)
    return (
        f"{name}: the journal has {_shown(there, first)}; "
        f"this sweep has {_shown(here, first)}"
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
