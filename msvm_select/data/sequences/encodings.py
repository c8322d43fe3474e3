"""Sequences -> numbers: shares of letters, counts of words, windows around residues."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from msvm_select.data.sequences.alphabet import Alphabet
from msvm_select.errors import SettingsError
from msvm_select.phrases import did_you_mean, quoted

MOST_COLUMNS = 20_000
END = "-"  # of a window: beyond the sequence
KINDS = ("composition", "kmer", "window")


@dataclass(frozen=True)
class Encoding(ABC):
    """What becomes of a sequence over an alphabet: rows of numbers, as text."""

    alphabet: Alphabet
    by_residue = False

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The features by name."""

    @abstractmethod
    def rows(self, letters: str) -> Iterator[list[str]]:
        """The rows of one sequence; none where it has nothing to tell."""


@dataclass(frozen=True)
class Composition(Encoding):
    """x_a = (how often the letter a occurs) / (the letters that are known)."""

    @property
    def columns(self) -> list[str]:
        """The letters of the alphabet."""
        return list(self.alphabet.letters)

    def rows(self, letters: str) -> Iterator[list[str]]:
        """One row, whose sum is 1."""
        counts = [letters.count(letter) for letter in self.alphabet.letters]
        known = sum(counts)
        if known:
            yield [repr(count / known) for count in counts]


@dataclass(frozen=True)
class Kmers(Encoding):
    """x_u = how often the word u of k letters occurs in the sequence."""

    k: int

    @cached_property
    def place(self) -> dict[str, int]:
        """Where each word stands, in the order of the alphabet."""
        words = map("".join, product(self.alphabet.letters, repeat=self.k))
        return {word: j for j, word in enumerate(words)}

    @property
    def columns(self) -> list[str]:
        """All words of k letters."""
        return list(self.place)

    def rows(self, letters: str) -> Iterator[list[str]]:
        """One row; a word with an unknown letter is none."""
        counts, place = [0] * len(self.place), self.place
        for at in range(len(letters) - self.k + 1):
            j = place.get(letters[at : at + self.k])
            if j is not None:
                counts[j] += 1
        if any(counts):
            yield [*map(str, counts)]


@dataclass(frozen=True)
class Window(Encoding):
    """x_(d, a) = 1 where the letter at distance d from the residue is a, else 0.

    |d| <= (width - 1) / 2. Beyond the end of the sequence the letter is ``-``; at an
    unknown letter all are 0.
    """

    width: int
    by_residue = True

    @property
    def reach(self) -> int:
        """How far the window goes to each side."""
        return self.width // 2

    @property
    def columns(self) -> list[str]:
        """``-1:A``: the letter before the residue is A."""
        letters = [*self.alphabet.letters, END]
        reach = self.reach
        return [f"{d:+d}:{a}" for d in range(-reach, reach + 1) for a in letters]

    @cached_property
    def _one_hot(self) -> dict[str, list[str]]:
        letters = [*self.alphabet.letters, END]
        return {a: ["1" if a == b else "0" for b in letters] for a in letters}

    def rows(self, letters: str) -> Iterator[list[str]]:
        """A row for each residue."""
        none = ["0"] * (len(self.alphabet.letters) + 1)
        ends = [self._one_hot[END]] * self.reach
        each = [*ends, *(self._one_hot.get(a, none) for a in letters), *ends]
        for at in range(len(letters)):
            yield [x for part in each[at : at + self.width] for x in part]


def parse_encoding(text: str, alphabet: Alphabet) -> Encoding:
    """``composition``, ``kmer:K`` or ``window:W``."""
    name, _, argument = text.partition(":")
    number = int(argument) if argument.isascii() and argument.isdigit() else 0
    if name == "composition" and not argument:
        return Composition(alphabet)
    if name == "kmer" and number:
        if len(alphabet.letters) ** number > MOST_COLUMNS:
            raise SettingsError(
                f"--features {text}: there are {len(alphabet.letters)}^{number} such "
                f"words, and at most {MOST_COLUMNS} become columns; `sweep --kernel "
                f"spectrum --degree {number}` needs none."
            )
        return Kmers(alphabet, number)
    if name == "window" and number % 2:
        return Window(alphabet, number)
    raise SettingsError(
        f"--features {quoted(text)}{did_you_mean(name, KINDS)}: say composition, "
        "kmer:K (words of K letters) or window:W (W odd, as in window:13)."
    )
