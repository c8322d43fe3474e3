"""FASTA -> Dataset, for the kernels of sequences: a row of X holds the letters of one.

The features are the places in the sequence, nt1, nt2, .. of nucleotides and aa1, aa2,
.. of amino acids, so that a model knows what it was trained on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from msvm_select.data.cells import MOST_NUMBERS, Cells
from msvm_select.data.doubts import Problems
from msvm_select.data.options import ReadOptions
from msvm_select.data.roles import Roles
from msvm_select.data.samples import dataset_of, samples_of
from msvm_select.data.sequences.alphabet import (
    ALPHABETS,
    Alphabet,
    alphabet_named,
    alphabet_of_letters,
)
from msvm_select.data.sequences.fasta import Record, Tally, no_records, records
from msvm_select.data.sequences.labels import labels_of, unlabelled
from msvm_select.data.source import Source
from msvm_select.errors import DataError
from msvm_select.kernels.sequences import as_numbers
from msvm_select.phrases import listed, sized
from msvm_select.records import Columns, Dataset

NAME, TARGET = "name", "class"
PLACES = {"dna": "nt", "protein": "aa"}  # what a place in the sequence is called


class Fasta:
    """What ``read`` asks for; see ``names.READERS``."""

    def to_learn(
        self, source: Source, options: ReadOptions, problems: Problems
    ) -> Dataset:
        """The labelled sequences; those without a letter are left out, and told."""
        tally, found = _records(source)
        alphabet = _alphabet(options.alphabet, found, source.name)
        whole = [_cleaned(record, alphabet, tally) for record in found]
        kept = [(r, s) for r, s in zip(found, whole, strict=True) if s]
        if len(kept) < len(found):
            first = next(r for r, s in zip(found, whole, strict=True) if not s)
            count = len(found) - len(kept)
            tally.add("records without a letter, left out", first.line, count)
        label = labels_of(options.label_from, options.labels)
        classes = [label(record) for record, _ in kept]
        lost = [r for (r, _), c in zip(kept, classes, strict=True) if not c]
        if lost and options.missing != "drop":
            raise unlabelled(source.name, lost[0], len(lost), options.labels is None)
        problems.notes.extend(tally.notes)
        cells = _cells(kept, alphabet, classes, source.name)
        columns = Columns(
            (NAME, *cells.inputs, TARGET), TARGET, NAME, missing=options.missing
        )
        data = dataset_of(cells, columns, source.stem, options.said, problems)
        return replace(data, alphabet=alphabet.name)

    def to_classify(
        self,
        source: Source,
        columns: Columns,
        options: ReadOptions,
        problems: Problems,
    ) -> Dataset:
        """Every record of the file, in its order; longer ones than the model's too."""
        named = {f"{place}1": name for name, place in PLACES.items()}
        if columns.inputs[0] not in named:
            raise DataError(
                f"{source.name} holds sequences, and the model was trained on features "
                f"({listed(columns.inputs, 3)}): encode them as its data were, with "
                "msvm-select encode"
            )
        tally, found = _records(source)
        alphabet = ALPHABETS[named[columns.inputs[0]]]
        kept = [(record, _cleaned(record, alphabet, tally)) for record in found]
        empty = [record.line for record, letters in kept if not letters]
        if empty:
            tally.add("records without a letter", empty[0], len(empty))
        label = labels_of(options.label_from, options.labels)
        classes = [label(record) for record, _ in kept]
        problems.notes.extend(tally.notes)
        cells = _cells(kept, alphabet, classes, source.name, len(columns.inputs))
        roles = Roles((NAME, TARGET), (), 1, 0)
        wide = replace(columns, header=(NAME, *cells.inputs, TARGET))
        data = samples_of(cells, roles, wide, "error", source.stem, problems)
        return replace(data, alphabet=alphabet.name)


def _records(source: Source) -> tuple[Tally, list[Record]]:
    tally = Tally()
    with source.open() as text:
        found = list(records(text, source.name, tally))
    if not found:
        raise no_records(source.name)
    names = Counter(record.name for record in found)
    if again := [name for name, count in names.items() if count > 1]:
        at = next(r.line for r in found if r.name == again[0])
        tally.add("names that several sequences have", at, len(again))
    return tally, found


def _alphabet(said: str | None, found: Sequence[Record], name: str) -> Alphabet:
    if said is not None:
        return alphabet_named(said)
    return alphabet_of_letters("".join({c for r in found for c in r.letters}), name)


def _cleaned(record: Record, alphabet: Alphabet, tally: Tally) -> str:
    return alphabet.cleaned(record, tally)[0]


def _cells(
    kept: Sequence[tuple[Record, str]],
    alphabet: Alphabet,
    classes: Sequence[str],
    name: str,
    least: int = 1,
) -> Cells:
    """A row a sequence, as wide as the longest, and ``least``."""
    longest = max([least, *(len(letters) for _, letters in kept)])
    if longest * len(kept) > MOST_NUMBERS:
        raise DataError(
            f"{name}: {len(kept)} sequences of up to {longest} letters take "
            f"{sized(8 * longest * len(kept))}: leave the longest out, or write their "
            "features with msvm-select encode"
        )
    place = PLACES[alphabet.name]
    texts = {NAME: [record.name for record, _ in kept], TARGET: classes}
    return Cells(
        tuple(f"{place}{j + 1}" for j in range(longest)),
        as_numbers((alphabet.held(letters) for _, letters in kept), longest),
        {title: np.array(column, dtype=object) for title, column in texts.items()},
        np.array([record.line for record, _ in kept], dtype=np.int64),
    )
