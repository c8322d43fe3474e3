"""Kernels on sequences: how many short words two of them share.

A row of X is a sequence, its letters as numbers (``ord``), 0 beyond its end.
Nucleotides are small letters and amino acids capital ones, so that a row tells its
alphabet; any other character is an unknown letter, and no word spans it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse

from msvm_select.errors import KernelError, SettingsError
from msvm_select.kernels.base import Kernel
from msvm_select.records import Floats, Gram, Ints

DNA, PROTEIN = "acgt", "ACDEFGHIKLMNPQRSTVWY"
LONGEST_WORD = 14  # 20^14 words are the most that 64 bits can number
DENSE = 2**22  # counts in a table without gaps, at the most


@dataclass(frozen=True)
class _Words(Kernel):
    """K(x, z) = <phi(x), phi(z)> / (||phi(x)|| ||phi(z)||); 0 without any word."""

    degree: float = 3.0

    of = "sequences"
    positive = frozenset({"degree"})

    def __post_init__(self) -> None:
        """Words have a whole number of letters."""
        super().__post_init__()
        if not float(self.degree).is_integer() or self.degree > LONGEST_WORD:
            raise SettingsError(
                f"{self.name}: degree = {self.degree:g} is the length of the words: a "
                f"whole number up to {LONGEST_WORD}."
            )

    @property
    def roughness(self) -> tuple[float, ...]:
        """Longer words are shared by fewer."""
        return (1.0, self.degree)

    def between(self, X: Floats, Z: Floats) -> Floats:
        """The kernel of the sequences in the rows of X and of Z."""
        letters = alphabet_of(X, Z)
        each = tuple(_digits(some, letters) for some in ((X,) if X is Z else (X, Z)))
        K = np.zeros((len(X), len(Z)))
        own_x, own_z = np.zeros(len(X)), np.zeros(len(Z))
        k, A = int(self.degree), len(letters)
        for weight, blank in self.terms(k, A):
            if weight:
                counts, own = _counts(each, k, A, blank)
                last = own.size - len(Z)
                left, right = counts[: len(X)], counts[last:]
                K += weight * _product(left, right)
                own_x += weight * own[: len(X)]
                own_z += weight * own[last:]
        norms = np.sqrt(np.multiply.outer(own_x, own_z))
        return np.divide(K, norms, out=np.zeros_like(K), where=norms > 0.0)

    def gram(self, X: Floats) -> Gram:
        """The Gram matrix; KernelError where no sequence is as long as a word."""
        gram = super().gram(X)
        if gram.diagonal.any():
            return gram
        raise KernelError(
            f"{self.name}: no sequence has {self.degree:g} letters in a row without an "
            "unknown one: take shorter words (--degree)."
        )

    @abstractmethod
    def terms(self, k: int, A: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        """(weight, places) of each product of counts that the kernel is a sum of.

        Words that differ in these ``places`` alone count as the same there.
        """


@dataclass(frozen=True)
class Spectrum(_Words):
    """phi_u(x) = how often the word u, of ``degree`` letters, occurs in x."""

    name = "spectrum"

    def terms(self, k: int, A: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        """<phi(x), phi(z)> itself."""
        yield 1.0, ()


@dataclass(frozen=True)
class Mismatch(_Words):
    """phi_u(x) = how many words of x differ from u in one letter at the most.

    Of A letters, two words of k letters that differ in d places are both within one
    letter of c_d words: c_0 = 1 + k(A - 1), c_1 = A, c_2 = 2, c_d = 0 beyond. With P_J
    the pairs of words of x and z that are equal but for the places J,

    <phi(x), phi(z)> = (k - 1)^2 P + (A - 2(k - 1)) sum_j P_j + 2 sum_{i<j} P_ij,

    and each P is a product of counts: the c_d words are never listed.
    """

    name = "mismatch"

    def terms(self, k: int, A: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        """No place, each place, each two places."""
        for weight, size in (((k - 1.0) ** 2, 0), (A - 2.0 * (k - 1), 1), (2.0, 2)):
            for places in combinations(range(k), size):
                yield weight, places


def alphabet_of(*sequences: Floats) -> str:
    """The letters of the alphabet that the sequences are written in."""
    small = max((float(X.max(initial=0.0)) for X in sequences), default=0.0)
    return DNA if small >= ord("a") else PROTEIN


def as_numbers(sequences: Iterable[str], longest: int) -> Floats:
    """X (m, longest) of the sequences: their letters as numbers, 0 beyond the end."""
    rows = [np.frombuffer(s.encode("latin-1"), dtype=np.uint8) for s in sequences]
    X = np.zeros((len(rows), longest))
    for x, row in zip(X, rows, strict=True):
        x[: row.size] = row
    return X


def _digits(X: Floats, letters: str) -> Ints:
    """The place of each letter in the alphabet, -1 for every other number."""
    table = np.full(257, -1, dtype=np.int64)
    table[[ord(letter) for letter in letters]] = np.arange(len(letters))
    odd = (X != np.floor(X)) | (X < 0.0) | (X > 255.0)
    return table[np.where(odd, 256.0, X).astype(np.int64)]


def _counts(
    sequences: tuple[Ints, ...], k: int, A: int, blank: tuple[int, ...]
) -> tuple[sparse.csr_array, Floats]:
    """How often each word occurs, a row a sequence; and the sums of their squares."""
    rows, words, first = [], [], 0
    for digits in sequences:
        m, width = digits.shape[0], max(0, digits.shape[1] - k + 1)
        number = np.zeros((m, width), dtype=np.int64)
        whole = np.ones((m, width), dtype=bool)
        for place in range(k):
            letter = digits[:, place : place + width]
            whole &= letter >= 0
            number *= A
            if place not in blank:
                number += letter
        row, _ = np.nonzero(whole)
        rows.append(row + first)
        words.append(number[whole])
        first += m
    seen, word = np.unique(np.concatenate(words), return_inverse=True)
    ones = np.ones(word.size)
    at = (np.concatenate(rows), word)
    counts = sparse.coo_array((ones, at), shape=(first, seen.size)).tocsr()
    return counts, np.asarray(counts.power(2).sum(axis=1), dtype=np.float64)


def _product(left: sparse.csr_array, right: sparse.csr_array) -> Floats:
    """The inner products of the rows; in a table without gaps, where it is small."""
    if max(left.shape[0], right.shape[0]) * left.shape[1] <= DENSE:
        return np.asarray(left.toarray() @ right.toarray().T)
    return np.asarray((left @ right.T).toarray(), dtype=np.float64)
