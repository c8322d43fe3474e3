"""The kernels of sequences: against words that are counted one by one."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msvm_select.errors import KernelError, SettingsError
from msvm_select.kernels.sequences import (
    DNA,
    PROTEIN,
    Mismatch,
    Spectrum,
    as_numbers,
)
from msvm_select.settings import settings_from
from tests.conftest import read, rows_of, run

few = st.lists(st.text("acgt?", max_size=12), min_size=1, max_size=5)


def words(text: str, k: int) -> Counter[str]:
    """The words of k letters, but for those with an unknown one."""
    every = (text[i : i + k] for i in range(len(text) - k + 1))
    return Counter(word for word in every if "?" not in word)


def neighbours(text: str, k: int, letters: str) -> Counter[str]:
    """Each word of the alphabet: the words of the text within one letter of it."""
    own = words(text, k)
    return Counter(
        {
            u: n
            for u in map("".join, product(letters, repeat=k))
            if (n := sum(c for w, c in own.items() if differ(u, w) <= 1))
        }
    )


def differ(u: str, w: str) -> int:
    """In how many places."""
    return sum(a != b for a, b in zip(u, w, strict=True))


def likeness(a: Counter[str], b: Counter[str]) -> float:
    """The cosine of two tables of counts; 0 where one is empty."""
    size = sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
    return sum(n * b[w] for w, n in a.items()) / size if size else 0.0


@given(few, few, st.integers(1, 4))
def test_the_spectrum_is_the_cosine_of_the_counts(
    first: list[str], second: list[str], k: int
) -> None:
    """Each value against two tables of words."""
    X, Z = as_numbers(first, 12), as_numbers([*second, "a"], 15)
    K = Spectrum(float(k)).between(X, Z)
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            true = likeness(words(one, k), words(other, k))
            assert K[i, j] == pytest.approx(true, abs=1e-14)


@given(few, st.integers(1, 4))
def test_mismatches_are_those_of_each_word_of_the_alphabet(
    texts: list[str], k: int
) -> None:
    """Against the whole feature space, 4^k words."""
    X = as_numbers([*texts, "acgt"], 12)
    K = Mismatch(float(k)).between(X, X)
    tables = [neighbours(text, k, DNA) for text in texts]
    for i, one in enumerate(tables):
        for j, other in enumerate(tables):
            assert K[i, j] == pytest.approx(likeness(one, other), abs=1e-13)


def test_mismatches_of_amino_acids() -> None:
    """The alphabet of 20 letters, by one pair of words in each distance."""
    texts = ["MK", "MV", "VV", "MKV"]
    K = Mismatch(2.0).between(as_numbers(texts, 3), as_numbers(texts, 3))
    tables = [neighbours(text, 2, PROTEIN) for text in texts]
    true = [[likeness(a, b) for b in tables] for a in tables]
    assert pytest.approx(np.array(true), abs=1e-14) == K


def test_large_tables_are_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers with and without gaps."""
    rng = np.random.default_rng(0)
    X = as_numbers(["".join(rng.choice(list(PROTEIN), 40)) for _ in range(8)], 40)
    dense = [kind(2.0).gram(X).matrix for kind in (Spectrum, Mismatch)]
    monkeypatch.setattr("msvm_select.kernels.sequences.DENSE", 0)
    assert np.array_equal(dense[0], Spectrum(2.0).gram(X).matrix)
    assert np.array_equal(dense[1], Mismatch(2.0).gram(X).matrix)


def test_words_are_whole_and_there() -> None:
    """What cannot be counted is refused."""
    for degree in (2.5, 15.0, 0.0):
        with pytest.raises(SettingsError):
            Spectrum(degree)
    with pytest.raises(KernelError, match="no sequence has 5 letters in a row"):
        Spectrum(5.0).gram(as_numbers(["acgt", "ac?gtac"], 8))


TEXT = run("generate", "proteins", "--per-class", 7, "--seed", 3).stdout


@pytest.mark.parametrize("kernel", ["spectrum", "mismatch"])
def test_from_fasta_to_a_ranked_table(kernel: str, tmp_path: Path) -> None:
    """Sweep, fit, predict: also sequences that are longer than all before."""
    path = tmp_path / "p.fasta"
    path.write_text(TEXT)
    grid = ("--kernel", kernel, "--degree", "1,2", "--C", "1,10")
    done = run("sweep", path, *grid, "--format", "csv")
    assert done.exit_code == 0, done.stderr
    rows = rows_of(done.stdout)
    assert {(r["kernel"], r["degree"]) for r in rows} == {
        (kernel, "1.0"),
        (kernel, "2.0"),
    }
    assert float(rows[0]["loo_rate"]) < 0.6  # by chance 0.67
    model = tmp_path / "m.json"
    cell = ("--kernel", kernel, "--degree", 2, "--C", 1)
    assert run("fit", path, *cell, "-o", model).exit_code == 0
    first = TEXT.partition("\n>")[0].splitlines()
    longer = "\n".join([first[0], *first[1:] * 3, ""])
    new = tmp_path / "new.fasta"
    new.write_text(TEXT + longer)
    told = run("predict", model, new)
    assert told.exit_code == 0, told.stderr
    names, classes = zip(
        *(line.split(",") for line in told.stdout.split()), strict=True
    )
    assert (names[1], names[-1], classes[-1]) == ("f1_1", "f1_1", classes[1])
    assert "of 22 wrong" in told.stderr


def test_a_kernel_may_say_its_words() -> None:
    """``spectrum:2`` is the kernel with its degree; both at once contradict."""
    for said, kernels, degrees in (
        ("spectrum:2", ("spectrum",), (2.0,)),
        ("mismatch:4,1", ("mismatch",), (4.0,)),
        ("spectrum:2,mismatch:3,1", ("spectrum", "mismatch"), (2.0, 3.0)),
        ("spectrum:2,spectrum:5", ("spectrum",), (2.0, 5.0)),
    ):
        settings = settings_from({"kernel": said})
        assert (settings.kernel, settings.degree) == (kernels, degrees)
    with pytest.raises(SettingsError, match="both say one"):
        settings_from({"kernel": "spectrum:2", "degree": 3})
    with pytest.raises(SettingsError, match="no kernel 'spectrum:x'"):
        settings_from({"kernel": "spectrum:x"})


def test_kernels_and_data_have_to_fit(tmp_path: Path) -> None:
    """Features on one side, sequences on the other."""
    path = tmp_path / "p.fasta"
    path.write_text(TEXT)
    for options, told in (
        ((), "say --kernel spectrum or mismatch"),
        (("--kernel", "spectrum,rbf"), "cannot be swept together"),
        (("--kernel", "spectrum", "--scale", "minmax"), "must not be scaled"),
        (("--kernel", "spectrum", "--target", "x"), "has no use for it"),
        (("--kernel", "spectrum", "--gamma", "1"), "gamma is given, but no chosen"),
    ):
        done = run("sweep", path, *options)
        assert done.exit_code == 2
        assert told in done.stderr
    table = tmp_path / "t.csv"
    table.write_text("x,class\n1,a\n2,b\n")
    done = run("sweep", table, "--kernel", "spectrum")
    assert (done.exit_code, "is for sequences" in done.stderr) == (2, True)
    model = tmp_path / "m.json"
    assert run("fit", table, "--kernel", "linear", "-o", model).exit_code == 0
    done = run("predict", model, path)
    assert (done.exit_code, "msvm-select encode" in done.stderr) == (3, True)


def test_a_read_file_keeps_its_alphabet() -> None:
    """Nucleotides are small letters within."""
    data = read(">a class=x\nACGU\n>b class=y\nTTNA\n")
    assert ["".join(map(chr, x.astype(int))) for x in data.X] == ["acgt", "tt?a"]
