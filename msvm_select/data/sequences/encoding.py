"""FASTA -> CSV, a sequence at a time: what is read is written and forgotten."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TextIO

from msvm_select.data.sequences.alphabet import (
    Alphabet,
    alphabet_named,
    alphabet_of_letters,
)
from msvm_select.data.sequences.encodings import Encoding, parse_encoding
from msvm_select.data.sequences.fasta import Record, Tally, no_records, records
from msvm_select.data.sequences.labels import labels_of, unlabelled
from msvm_select.errors import DataError
from msvm_select.phrases import counted, quoted

HEAD = 1000  # sequences that are read ahead, to tell the alphabet
INLINE = "inline"
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Wanted:
    """What to write: the features, where the classes and the states come from."""

    features: str = "composition"
    alphabet: str | None = None
    label_from: str | None = None
    labels: str | None = None
    states: str | None = None


@dataclass
class Encoded:
    """What was done, for a person; ``tally`` has what was odd."""

    name: str
    alphabet: str = ""
    rows: int = 0
    columns: int = 0
    labelled: bool = False
    tally: Tally = field(default_factory=Tally)

    @property
    def told(self) -> list[str]:
        """One line, and a remark for each kind of thing that was odd."""
        read = counted(self.tally.records, "sequence")
        sizes = f"{counted(self.rows, 'row')}, {counted(self.columns, 'feature')}"
        classes = "" if self.labelled else "; no class column"
        head = f"{self.name}: {read} ({self.alphabet}) -> {sizes}{classes}"
        return [head, *(f"Note: {note}" for note in self.tally.notes)]


def encode(path: str, out: TextIO, wanted: Wanted) -> Encoded:
    """Write the features of all sequences of the file as CSV.

    The columns are ``name``, the features and, where there are classes, ``class``. A
    residue's class is its state, and a sequence's that of its header or of the table.
    """
    done = Encoded("standard input" if path == "-" else path)
    inline = wanted.states == INLINE
    with opened(path) as lines:
        found = records(lines, done.name, done.tally, inline)
        head = [record for _, record in zip(range(HEAD), found, strict=False)]
        if not head:
            raise no_records(done.name)
        alphabet = _alphabet(wanted.alphabet, head, done.name)
        encoding = parse_encoding(wanted.features, alphabet)
        every = chain(head, found)
        if wanted.states is None or inline:
            _write(every, out, encoding, wanted, done)
        else:
            with opened(wanted.states) as states:
                paired = _beside(every, states, wanted.states)
                _write(paired, out, encoding, wanted, done)
    return done


def _write(
    every: Iterable[Record],
    out: TextIO,
    encoding: Encoding,
    wanted: Wanted,
    done: Encoded,
) -> None:
    label = labels_of(wanted.label_from, wanted.labels)
    by_state = wanted.states is not None
    if by_state and not encoding.by_residue:
        raise DataError(
            "--states are the classes of residues: say --features window:W, as in "
            "window:13"
        )
    said = (wanted.label_from or wanted.labels) is not None
    writer = csv.writer(out, lineterminator="\n")
    done.alphabet, done.columns = encoding.alphabet.name, len(encoding.columns)
    seen: set[str] = set()
    for record in every:
        done.tally.records += 1
        if record.name in seen:
            done.tally.add("sequences with the name of an earlier one", record.line)
        seen.add(record.name)
        own = label(record)
        if done.tally.records == 1:
            done.labelled = said or by_state or bool(own)
            ending = ["class"] if done.labelled else []
            writer.writerow(["name", *encoding.columns, *ending])
        if done.labelled and not by_state and not own:
            raise unlabelled(done.name, record, 1, wanted.labels is None)
        if own and not done.labelled:
            done.tally.add("classes after a first header without one", record.line)
        letters, states = encoding.alphabet.cleaned(record, done.tally)
        before = done.rows
        for at, row in enumerate(encoding.rows(letters)):
            last = [states[at] if by_state else own] if done.labelled else []
            writer.writerow([record.name, *row, *last])
            done.rows += 1
        if done.rows == before:
            done.tally.add(f"sequences without {_lacking(encoding)}", record.line)


def _lacking(encoding: Encoding) -> str:
    """What a sequence has none of that gives no row."""
    k = getattr(encoding, "k", 1)
    return "a known letter, left out" if k == 1 else f"a word of {k} letters, left out"


def _alphabet(said: str | None, head: list[Record], name: str) -> Alphabet:
    if said is not None:
        return alphabet_named(said)
    return alphabet_of_letters("".join({c for r in head for c in r.letters}), name)


def _beside(
    every: Iterable[Record], lines: Iterable[str], name: str
) -> Iterator[Record]:
    """The sequences with the states that the second file has at the same place."""
    others = records(lines, name, Tally())
    for record in every:
        other = next(others, None)
        if other is None or other.name != record.name:
            got = "nothing" if other is None else quoted(other.name)
            raise DataError(
                f"{name} has {got} where the sequence {quoted(record.name)} stands; "
                "both files have the same records in the same order"
            )
        if len(other.letters) != len(record.letters):
            raise DataError(
                f"{name}, line {other.line}: {quoted(other.name)} has "
                f"{counted(len(other.letters), 'state')} for "
                f"{counted(len(record.letters), 'letter')}"
            )
        yield Record(record.header, record.letters, record.line, other.letters)
    if (extra := next(others, None)) is not None:
        raise DataError(
            f"{name}, line {extra.line}: there is no sequence for {quoted(extra.name)}"
        )


@contextmanager
def opened(path: str) -> Iterator[TextIO]:
    """The lines of a file, unpacked where gzip packed it; ``-`` is standard input."""
    if path == "-":
        yield io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", "replace", newline="")
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115 - only opening may fail here
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    with file:
        packed = file.peek(2).startswith(GZIP)
        plain = gzip.GzipFile(fileobj=file) if packed else file
        try:
            with io.TextIOWrapper(plain, "utf-8-sig", "replace", newline="") as text:
                yield text
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise DataError(f"{path} is packed by gzip, but damaged") from None
