"""What Biopython reads and counts in the same sequences."""

import csv
import io
import random

import pytest

from tests.conftest import run

SeqIO = pytest.importorskip("Bio.SeqIO")
ProteinAnalysis = pytest.importorskip("Bio.SeqUtils.ProtParam").ProteinAnalysis
LETTERS = "ACDEFGHIKLMNPQRSTVWY"


@pytest.fixture
def fasta(tmp_path):
    """Fifty proteins, folded at 60 letters, with a class in each header."""
    draw = random.Random(1)
    path = tmp_path / "some.fasta"
    with path.open("w", encoding="ascii", newline="\r\n") as file:
        for i in range(50):
            letters = "".join(draw.choices(LETTERS, k=draw.randint(5, 200)))
            rows = [letters[at : at + 60] for at in range(0, len(letters), 60)]
            print(f">p{i} class={'ab'[i % 2]} of some kind", *rows, sep="\n", file=file)
    return path


def read_by_biopython(path):
    """Its records."""
    with path.open(encoding="ascii") as file:
        return list(SeqIO.parse(file, "fasta"))


def encoded(path, *how):
    """The rows that ``encode`` writes."""
    found = run("encode", path, "--label-from", "class=([^ ]+)", *how)
    assert found.exit_code == 0, found.output
    return list(csv.DictReader(io.StringIO(found.stdout)))


def test_composition_is_that_of_biopython(fasta):
    """Names, classes and the share of each amino acid."""
    rows = encoded(fasta)
    peers = read_by_biopython(fasta)
    assert len(rows) == len(peers) == 50
    for row, peer in zip(rows, peers, strict=True):
        shares = ProteinAnalysis(str(peer.seq)).count_amino_acids()
        size = len(peer.seq)
        assert row["name"] == peer.id
        assert f"class={row['class']}" in peer.description
        for letter in LETTERS:
            assert float(row[letter]) == pytest.approx(shares[letter] / size)


def test_pairs_are_counted_as_biopython_counts_them(fasta):
    """How often each word of two letters occurs, where words may overlap."""
    rows = encoded(fasta, "--features", "kmer:2")
    for row, peer in zip(rows, read_by_biopython(fasta), strict=True):
        for word in ("AC", "LL", "WY", "GG"):
            assert int(row[word]) == peer.seq.count_overlap(word)
