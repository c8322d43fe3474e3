"""The letters of nucleotides and of amino acids, and what else a sequence may hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from msvm_select.data.sequences.fasta import Record, Tally
from msvm_select.errors import DataError, SettingsError
from msvm_select.kernels.sequences import DNA, PROTEIN
from msvm_select.phrases import did_you_mean, quoted

UNKNOWN = "?"
GAPS, STOP, LAYOUT = "-.", "*", "0123456789 \t"
NUCLEOTIDES = frozenset("ACGTUN-.*")


@dataclass(frozen=True)
class Alphabet:
    """Its letters, in the order of the features."""

    name: str
    letters: str

    @cached_property
    def _plain(self) -> bytes:
        return self.letters.upper().encode()

    def cleaned(self, record: Record, tally: Tally) -> tuple[str, str]:
        """The letters of the record and their states, all else counted.

        Small letters become capital ones, gaps and a stop at the end go, and so do the
        digits and blanks of a layout. A letter that is unknown stays, as ``?``.
        """
        text, line, states = record.letters, record.line, record.states
        if not text.encode("utf-8", "replace").translate(None, self._plain):
            return text, states
        if text != text.upper():
            tally.add("sequences with small letters, read as capital ones", line)
            text = text.upper()
        odd = Counter(text)
        gaps, layout = (sum(odd[c] for c in some) for some in (GAPS, LAYOUT))
        if gaps:
            tally.add("gaps, left out", line, gaps)
        if layout:
            tally.add("digits and blanks within a sequence, left out", line, layout)
        if gaps or layout:
            text, states = _without(text, states, GAPS + LAYOUT)
        if text.endswith(STOP):
            tally.add("stops (*) at the end, left out", line)
            text, states = text[:-1], states[:-1]
        if self is NUCLEIC and "U" in text:
            tally.add("sequences of RNA, whose U is read as T", line)
            text = text.replace("U", "T")
        for letter in sorted(set(text) - set(self.letters)):
            tally.add_unknown(letter, line, text.count(letter))
            text = text.replace(letter, UNKNOWN)
        return text, states

    def held(self, text: str) -> str:
        """As the kernels of sequences have it: nucleotides are small letters."""
        return text.lower() if self is NUCLEIC else text


NUCLEIC = Alphabet("dna", DNA.upper())
AMINO = Alphabet("protein", PROTEIN)
ALPHABETS = {one.name: one for one in (NUCLEIC, AMINO)}


def alphabet_named(name: str) -> Alphabet:
    """By its name."""
    if name in ALPHABETS:
        return ALPHABETS[name]
    raise SettingsError(
        f"There is no alphabet {quoted(name)}{did_you_mean(name, ALPHABETS)}; there "
        "are dna and protein."
    )


def alphabet_of_letters(letters: str, name: str) -> Alphabet:
    """DNA or RNA where all letters are ACGTUN, and not all of them unknown."""
    there = {c for c in letters.upper() if c.isalpha()}
    if not there:
        raise DataError(f"{name} has no letter in any sequence")
    return NUCLEIC if there <= NUCLEOTIDES else AMINO


def _without(text: str, states: str, some: str) -> tuple[str, str]:
    if states:
        kept = [(a, s) for a, s in zip(text, states, strict=True) if a not in some]
        return "".join(a for a, _ in kept), "".join(s for _, s in kept)
    return text.translate(dict.fromkeys(map(ord, some))), states
