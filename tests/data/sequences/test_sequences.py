"""FASTA -> features and samples: strings counted by hand, round trips, odd files."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msvm_select import load_csv
from msvm_select.data.sequences.alphabet import AMINO, NUCLEIC
from msvm_select.data.sequences.encodings import parse_encoding
from msvm_select.data.sequences.fasta import Tally, records
from msvm_select.errors import DataError, SettingsError
from msvm_select.generate import generate
from msvm_select.kernels.sequences import PROTEIN
from tests.conftest import read, run

proteins = st.text(PROTEIN, min_size=1, max_size=40)


def encoded(text: str | bytes, *options: str) -> list[dict[str, str]]:
    """The rows that ``encode`` writes."""
    data = text.encode() if isinstance(text, str) else text
    done = run("encode", "-", *options, input=data)
    assert done.exit_code == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_composition_counted_by_hand() -> None:
    """ACCA has half of each; what is unknown has no share."""
    (row,) = encoded(">one class=x\nACCA\nXX\n", "--alphabet", "protein")
    shares = {name: value for name, value in row.items() if name in PROTEIN}
    assert list(shares) == list(PROTEIN)
    assert {name: float(v) for name, v in shares.items() if float(v)} == {
        "A": 0.5,
        "C": 0.5,
    }
    assert (row["name"], row["class"]) == ("one", "x")


def test_words_counted_by_hand() -> None:
    """AC occurs twice in ACAC; no word spans an unknown letter."""
    (row,) = encoded(">s\nACAC\n", "--features", "kmer:2")
    assert {k: v for k, v in row.items() if v != "0"} == {
        "name": "s",
        "AC": "2",
        "CA": "1",
    }
    (row,) = encoded(">s\nACNAC\n", "--features", "kmer:2")
    assert {k: v for k, v in row.items() if v != "0"} == {"name": "s", "AC": "2"}


def test_windows_around_residues() -> None:
    """A row a residue: the letters before, at and after it, and its state."""
    rows = encoded(
        ">s\nMKV\nhhe\n", "--features", "window:3", "--states", "inline", "--alphabet",
        "protein",
    )  # fmt: skip
    ones = [[k for k, v in row.items() if v == "1"] for row in rows]
    assert ones == [
        ["-1:-", "+0:M", "+1:K"],
        ["-1:M", "+0:K", "+1:V"],
        ["-1:K", "+0:V", "+1:-"],
    ]
    assert [row["class"] for row in rows] == ["h", "h", "e"]


@given(proteins)
def test_a_window_gives_the_sequence_back(letters: str) -> None:
    """The middle of the windows is the sequence."""
    encoding = parse_encoding("window:5", AMINO)
    middle = [j for j, name in enumerate(encoding.columns) if name.startswith("+0:")]
    rows = [[row[j] for j in middle] for row in encoding.rows(letters)]
    assert "".join((*PROTEIN, "-")[row.index("1")] for row in rows) == letters


@given(st.lists(st.tuples(proteins, st.integers(1, 9)), min_size=1), st.booleans())
def test_records_come_back(sequences: list[tuple[str, int]], windows: bool) -> None:
    """However the lines are cut, and whatever ends them."""
    end = "\r\n" if windows else "\n"
    text = "".join(
        f">s{i} of class=x{end}"
        + "".join(s[at : at + w] + end for at in range(0, len(s), w))
        for i, (s, w) in enumerate(sequences)
    )
    tally = Tally()
    found = list(records(io.StringIO(text, newline=""), "f", tally))
    assert [r.letters for r in found] == [s for s, _ in sequences]
    assert [r.name for r in found] == [f"s{i}" for i in range(len(sequences))]
    assert bool(tally.notes) == windows


@given(st.text("ACGTacgtUuNn-.*xX 1", max_size=30))
def test_nothing_is_lost_that_is_not_told(letters: str) -> None:
    """Known letters + unknown + gaps + layout + stops = what was written."""
    tally = Tally()
    record = next(records([">s\n", f"{letters}\n"], "f", tally))
    cleaned, _ = NUCLEIC.cleaned(record, tally)
    assert set(cleaned) <= set("ACGT?")
    kept = Counter(letters.strip().upper().replace("U", "T"))
    left_out = sum(
        count for what, count in tally.counts.items() if what.endswith("left out")
    )
    assert len(cleaned) + left_out == kept.total()
    assert cleaned.count("?") == sum(tally.unknown.values())
    assert all(cleaned.count(letter) == kept[letter] for letter in "ACGT")


ODD = (
    b"; a comment\r\n>a class=x\r\nacDX-EF*\r\n\r\n>b class=y\r\n>a class=y\r\n"
    b"MK 10\r\nVV\r\n"
)


def test_what_is_odd_is_counted_and_told() -> None:
    """Each kind with its number and the line of the first."""
    done = run("encode", "-", input=ODD)
    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == ["a", "a"]
    for told in (
        "3 sequences (protein) -> 2 rows, 20 features",
        "lines with Windows ends: 8 (first: line 1)",
        "comment lines: 1",
        "small letters, read as capital ones: 1 (first: line 2)",
        "gaps, left out: 1",
        "digits and blanks within a sequence, left out: 3 (first: line 6)",
        "stops (*) at the end, left out: 1",
        "name of an earlier one: 1 (first: line 6)",
        "without a known letter, left out: 1 (first: line 5)",
        "1 ('X' 1; first: line 2)",
    ):
        assert told in done.stderr


def test_a_sweep_tells_the_same(tmp_path: Path) -> None:
    """The kernels read what is odd as ``encode`` does."""
    data = read(ODD, input_format="fasta")
    assert (data.m, data.alphabet, data.ids) == (2, "protein", ("a", "a"))
    assert ["".join(map(chr, x[x > 0].astype(int))) for x in data.X] == [
        "ACD?EF",
        "MKVV",
    ]
    told = "\n".join(data.notes)
    assert "records without a letter, left out: 1 (first: line 5)" in told
    assert "names that several sequences have: 1" in told
    (tmp_path / "odd.fa.gz").write_bytes(gzip.compress(ODD))
    assert np.array_equal(load_csv(tmp_path / "odd.fa.gz").X, data.X)
    described = run("check", tmp_path / "odd.fa.gz")
    assert described.exit_code == 0
    assert "gaps, left out" in described.stdout


def test_classes_from_a_header_or_a_table(tmp_path: Path) -> None:
    """By a pattern, or by name; a sequence without one is told."""
    text = ">a|enzyme\nMK\n>b|other\nVV\n"
    pattern = r"\|(\w+)"
    assert [r["class"] for r in encoded(text, "--label-from", pattern)] == [
        "enzyme",
        "other",
    ]
    assert read(text, label_from=pattern).classes == ("enzyme", "other")
    table = tmp_path / "classes.tsv"
    table.write_text("name\tclass\na|enzyme\tyes\nb|other\tno\n")
    assert [r["class"] for r in encoded(text, "--labels", str(table))] == ["yes", "no"]
    assert read(text, labels=str(table)).classes == ("no", "yes")
    table.write_text("a|enzyme,yes\n")
    with pytest.raises(DataError, match="'b|other' has no class in the file"):
        read(text, labels=str(table))
    with pytest.raises(DataError, match=r"no class in its header \(2 such"):
        read(text)
    with pytest.raises(SettingsError, match="no group"):
        read(text, label_from="enzyme")


def test_states_of_a_second_file(tmp_path: Path) -> None:
    """Record by record; files that do not fit are refused."""
    states = tmp_path / "states.fasta"
    states.write_text(">a\nhe\n>b\nc\n")
    text, options = ">a\nMK\n>b\nV\n", ("--features", "window:1", "--states", states)
    assert [r["class"] for r in encoded(text, *map(str, options))] == ["h", "e", "c"]
    for other, told in (
        (">a\nhe\n", "has nothing where the sequence 'b' stands"),
        (">a\nhe\n>c\nc\n", "has 'c' where the sequence 'b' stands"),
        (">a\nh\n>b\nc\n", "'a' has 1 state for 2 letters"),
        (">a\nhe\n>b\nc\n>d\nc\n", "there is no sequence for 'd'"),
    ):
        states.write_text(other)
        done = run("encode", "-", *options, input=text)
        assert done.exit_code == 3
        assert told in done.stderr


@pytest.mark.parametrize(
    ("text", "options", "code", "told"),
    [
        ("", (), 3, "has no sequence"),
        ("a,b\n1,2\n", (), 3, "line 1: 'a,b' stands before the first `>`"),
        (">a\n>b\n", (), 3, "no letter in any sequence"),
        (">a\nMK\n", ("--features", "kmer:4"), 2, "20^4"),
        (">a\nMK\n", ("--features", "window:4"), 2, "W odd"),
        (">a\nMK\n", ("--features", "words"), 2, "say composition, kmer:K"),
        (">a\nMK\nh\n", ("--states", "inline"), 3, "2 letters and 1 state"),
        (">a\nMK\nhh\n", ("--states", "inline"), 3, "say --features window:W"),
    ],
)
def test_what_cannot_be_encoded(
    text: str, options: tuple[str, ...], code: int, told: str
) -> None:
    """The way out is told."""
    done = run("encode", "-", *options, input=text)
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr


def test_sequences_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record is written before the ones beyond the head are read."""
    written: list[int] = []

    class Out(io.StringIO):
        def write(self, text: str) -> int:
            written.append(text.count("\n"))
            return super().write(text)

    def lines():
        for i in range(3000):
            if i > 1000:
                assert sum(written) >= i - 1001
            yield f">s{i}\n"
            yield "MKVA\n"

    from contextlib import nullcontext

    from msvm_select.data.sequences import encoding

    monkeypatch.setattr(encoding, "opened", lambda path: nullcontext(lines()))
    done = encoding.encode("f", Out(), encoding.Wanted())
    assert (done.rows, sum(written)) == (3000, 3001)


def test_generated_proteins() -> None:
    """A seed repeats its data, and more of them keep the first; three families."""
    text = generate("proteins", 4, 1)
    assert text == generate("proteins", 4, 1)
    assert text != generate("proteins", 4, 2)
    more = generate("proteins", 6, 1)
    assert set(re.findall(r">[^>]+", text)) < set(re.findall(r">[^>]+", more))
    data = read(text)
    assert data.classes == ("family1", "family2", "family3")
    assert np.bincount(data.y).tolist() == [4, 4, 4]
    lengths = (data.X > 0).sum(axis=1)
    assert 60 <= lengths.min() <= lengths.max() <= 180
