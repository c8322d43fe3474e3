"""FASTA text -> records, one at a time.

A record is a line that begins with ``>`` (its header, whose first word is the name) and
the lines of letters below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from msvm_select.errors import DataError
from msvm_select.phrases import counted, quoted


@dataclass(frozen=True)
class Record:
    """One record: its header without ``>``, its letters as written, where it begins.

    ``states`` is a second string, as long as the first: a state for each letter.
    """

    header: str
    letters: str
    line: int
    states: str = ""

    @property
    def name(self) -> str:
        """The first word of the header; empty where there is none."""
        return self.header.split(maxsplit=1)[0] if self.header.strip() else ""


@dataclass
class Tally:
    """What a file had that deserves a word; each with the line of the first."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    records: int = 0

    def add(self, what: str, line: int, count: int = 1) -> None:
        """One more of it, or ``count`` more."""
        self.counts[what] = self.counts.get(what, 0) + count
        self.first.setdefault(what, line)

    def add_unknown(self, letter: str, line: int, count: int) -> None:
        """One letter that the alphabet does not have."""
        self.unknown[letter] = self.unknown.get(letter, 0) + count
        self.first.setdefault("unknown", line)

    @property
    def notes(self) -> tuple[str, ...]:
        """All of it in words, a remark a kind."""
        told = [
            f"{what}: {count} (first: line {self.first[what]})"
            for what, count in self.counts.items()
        ]
        if self.unknown:
            ranked = sorted(self.unknown.items(), key=lambda pair: (-pair[1], pair[0]))
            each = ", ".join(f"{quoted(a)} {n}" for a, n in ranked[:6])
            rest = f" and {len(ranked) - 6} more" if len(ranked) > 6 else ""
            told.append(
                f"unknown letters, which no word spans and no share counts: "
                f"{sum(self.unknown.values())} ({each}{rest}; first: line "
                f"{self.first['unknown']})"
            )
        return tuple(told)


def records(
    lines: Iterable[str], name: str, tally: Tally, paired: bool = False
) -> Iterator[Record]:
    """The records of the text, as they come; DataError where it is no FASTA.

    ``paired``: the second half of a record's lines holds the states of the first.
    """
    header, begun, rows = "", 0, list[str]()
    for number, text in enumerate(lines, start=1):
        line = text.strip()
        if text.endswith("\r\n") and "lines with Windows ends" not in tally.counts:
            tally.add("lines with Windows ends", number, 0)
        if text.endswith("\r\n"):
            tally.counts["lines with Windows ends"] += 1
        if line.startswith(">"):
            if begun:
                yield _record(header, rows, begun, name, paired)
            header, begun, rows = line[1:].strip(), number, []
        elif line.startswith(";"):
            tally.add("comment lines", number)
        elif line and not begun:
            raise DataError(
                f"{name}, line {number}: {quoted(line)} stands before the first `>`; "
                "is this FASTA?"
            )
        elif line:
            rows.append(line)
    if begun:
        yield _record(header, rows, begun, name, paired)


def _record(header: str, rows: list[str], line: int, name: str, paired: bool) -> Record:
    if not paired:
        return Record(header, "".join(rows), line)
    half = len(rows) // 2
    letters, states = "".join(rows[:half]), "".join(rows[half:])
    if len(letters) != len(states):
        raise DataError(
            f"{name}, line {line}: {counted(len(letters), 'letter')} and "
            f"{counted(len(states), 'state')}; the lines below a header are the "
            "letters, then as many lines of states"
        )
    return Record(header, letters, line, states)


def no_records(name: str) -> DataError:
    """What is told of an empty file."""
    return DataError(f"{name} has no sequence: no line begins with `>`")
