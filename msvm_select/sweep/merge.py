"""Journals of the parts of one sweep -> its results.

Every cell of the grid must be there, and a cell that is there twice must be the same in
both: the same counts, and the same numbers but for rounding. What only says how long it
took, or how near to the optimum a training ended, does not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msvm_select.columns import Row, Setting
from msvm_select.errors import DataError, MsvmError
from msvm_select.phrases import counted
from msvm_select.results.ranking import Results
from msvm_select.results.reread import JOURNAL, Finished, journal_of, text_of
from msvm_select.sweep.journal import check_alike, version_notes

PARTIAL = "--partial merges what is there"
NOISE = ("rank", "seconds", "iterations", "gap", "kkt_violation", "loo_retrained")
ROUNDING = 1e-6  # relative
SHOWN = 5  # cells that are named; the others are counted

Place = tuple[Setting, float]


@dataclass(frozen=True)
class Merged:
    """The results of all journals; ``missing`` says what is not there, a line each."""

    results: Results
    missing: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass
class _Merging:
    """What has been read so far; ``first`` is the journal that the others must fit."""

    first: str = ""
    whole: Finished = field(default_factory=lambda: Finished({}, {}))
    shards: dict[str, int] = field(default_factory=dict)
    came_from: dict[Place, str] = field(default_factory=dict)
    twice: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, path: str, part: Finished) -> None:
        """One more journal, if it fits."""
        if not self.first:
            self.first, self.whole = path, Finished(part.header, {})
        header = self.whole.header
        check_alike(path, part.header, self.first, header)
        self.notes += [f"{path}: {n}" for n in version_notes(part.header, header)]
        if shard := part.header.get("shard"):
            self.shards[str(shard)] = self.shards.get(str(shard), 0) + len(part.rows)
        for place, row in part.rows.items():
            self._take(path, place, row)

    def _take(self, path: str, place: Place, row: Row) -> None:
        known = self.whole.rows.setdefault(place, row)
        other = self.came_from.setdefault(place, path)
        if known is row:
            return
        if differing := list(_differing(known, row)):
            lines = "".join(f"\n  {line}" for line in differing)
            raise DataError(
                f"{path} and {other} both have the cell {row.cell}, and differ "
                f"there:{lines}"
            )
        self.twice += 1


def merged(paths: Sequence[str | Path], partial: bool = False) -> Merged:
    """The results of the sweep whose parts these journals are.

    Raises where one is of other data or settings, where two differ in a cell, and,
    unless ``partial``, where cells are missing.
    """
    merging = _Merging()
    for path in map(str, paths):
        text = text_of(path)
        if not text.startswith(JOURNAL):
            raise DataError(f"{path} is no journal of a sweep: --journal writes one.")
        merging.add(path, journal_of(path, text))
    whole = merging.whole
    missing = tuple(_missing(whole, merging.shards))
    if not whole.rows:
        raise DataError("There is no finished cell in these journals yet.")
    if missing and not partial:
        lines = "".join(f"\n  {line}" for line in missing)
        raise MsvmError(f"Not all cells are there; {PARTIAL}:{lines}")
    twice = f"{counted(merging.twice, 'cell')} came twice, and alike"
    notes = [*merging.notes, *([twice] if merging.twice else []), *missing]
    return Merged(whole.results, missing, tuple(notes))


def _differing(one: Row, other: Row) -> Iterator[str]:
    """The columns in which two rows of a cell are not the same."""
    for name in dict.fromkeys([*one.values(), *other.values()]):
        a, b = one.value(name), other.value(name)
        if name in NOISE or a == b:
            continue
        numbers = isinstance(a, float) and isinstance(b, float)
        if not numbers or not _is_near(a, b):
            yield f"{name}: {b}, and {a}"


def _is_near(a: float, b: float) -> bool:
    both_nan = math.isnan(a) and math.isnan(b)
    return both_nan or math.isclose(a, b, rel_tol=ROUNDING, abs_tol=ROUNDING**2)


def _missing(whole: Finished, shards: dict[str, int]) -> Iterator[str]:
    """Shards without a journal, then cells of the grid without a row."""
    counts = {shard.partition("/")[2] for shard in shards}
    if len(counts) == 1:
        count = int(counts.pop())
        every = (f"{i}/{count}" for i in range(1, count + 1))
        lost = [shard for shard in every if shard not in shards]
        if lost:
            yield f"no journal of {counted(len(lost), 'shard')}: {_some(lost)}"
    Cs = (whole.header.get("settings") or {}).get("C") or ()
    settings = whole.header.get("kernels") or {setting for setting, _ in whole.rows}
    places = [(tuple(setting), float(C)) for setting in settings for C in Cs]
    left = [place for place in places if place not in whole.rows]
    if left:
        cells = [Row.at(*place).cell for place in left]
        yield f"{len(left)} of {counted(len(places), 'cell')}: {_some(cells, '; ')}"


def _some(names: Sequence[str], between: str = ", ") -> str:
    rest = len(names) - SHOWN
    more = f" and {rest} more" if rest > 0 else ""
    return between.join(names[:SHOWN]) + more
