"""Reading: what a file holds, in whatever clothes it comes."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msvm_select.data.doubts import Problems, note_row_numbers
from msvm_select.data.read import load_csv
from msvm_select.data.samples import natural_order
from msvm_select.errors import DataError
from msvm_select.records import Scaling
from tests.conftest import DATA, read

PLAIN = "a,b,class\n1,2,x\n3,4,y\n5,6,x\n"


@pytest.mark.parametrize(
    ("name", "shape", "Q"),
    [
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
        ("glass", (214, 9), 6),
        ("vehicle", (846, 18), 4),
        ("vowel", (990, 9), 11),
        ("three_gaussians", (3000, 2), 3),
    ],
)
def test_data_folder(name: str, shape: tuple[int, int], Q: int) -> None:
    """Each file of data/ has the size that its README states, and no remark."""
    dataset = load_csv(DATA / f"{name}.csv")
    assert dataset.X.shape == shape
    assert (dataset.Q, dataset.name, dataset.notes) == (Q, name, ())
    assert not np.isnan(dataset.X).any()


def test_plain_file() -> None:
    """Numbers, codes, names and lines land in their places."""
    dataset = read(PLAIN)
    assert dataset.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert dataset.y.tolist() == [0, 1, 0]
    assert dataset.classes == ("x", "y")
    assert dataset.features == ("a", "b")
    assert dataset.lines is not None
    assert dataset.lines.tolist() == [2, 3, 4]
    assert dataset.X.flags.c_contiguous


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", ", "),
        PLAIN.replace("\n", "\n\n"),
        PLAIN.rstrip(),
        "\ufeff" + PLAIN,
        '"a","b","class"\n"1","2","x"\n3,4,y\n5,6,x\n',
    ],
    ids=[
        "crlf",
        "cr",
        "semicolon",
        "tab",
        "blank",
        "empty-lines",
        "no-end",
        "bom",
        "q",
    ],
)
def test_same_data_in_other_clothes(text: str) -> None:
    """Line ends, delimiters, blanks, BOM and quotes do not change what is read."""
    dataset, plain = read(text), read(PLAIN)
    assert np.array_equal(dataset.X, plain.X)
    assert dataset.features == plain.features
    assert dataset.classes == plain.classes


def test_tsv_by_extension(tmp_path: Path) -> None:
    """A .tsv file is parted by tabs even where another mark would fit."""
    file = tmp_path / "d.tsv"
    file.write_text("a;b\tclass\n1\tx;1\n2\ty;1\n")
    assert load_csv(file).features == ("a;b",)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    """Those of Unix, of Windows and of old Macs; the last may be lacking."""
    text = end.join(["a,class", "1,x", "2,y", '3,"x', 'z"'])
    data = load_csv(io.BytesIO(text.encode()))
    assert data.X[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert data.classes == ("x", f"x{end}z", "y")


LABELS = st.text(st.characters(exclude_categories=["C"])).map(lambda s: f"L{s}".strip())
DOUBLES = st.floats(-1e150, 1e150)


@given(st.lists(st.tuples(DOUBLES, LABELS)))
def test_round_trip(drawn: list[tuple[float, str]]) -> None:
    """Any label, quoted by the csv module, and every digit of a number come back."""
    rows = [*drawn, (1.0, 'say "a, b"'), (2.0, "c")]
    text = io.StringIO()
    csv.writer(text).writerows([("a", "class"), *((repr(v), s) for v, s in rows)])
    dataset = read(text.getvalue(), delimiter=",")
    assert dataset.X[:, 0].tolist() == [value for value, _ in rows]
    assert [dataset.classes[k] for k in dataset.y] == [name for _, name in rows]


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("a,Class,b", "Class"),
        ("TARGET,a,b", "TARGET"),
        ("label,y,b", "label"),
        ("y,a,b", "y"),
        ("a,b,c", "c"),
    ],
)
def test_default_target(header: str, target: str) -> None:
    """The target is the column named so, whatever its case, else the last."""
    assert read(f"{header}\n1,2,3\n4,5,6\n").target == target


@pytest.mark.parametrize(
    ("wanted", "target"), [("b", "b"), (1, "a"), (-1, "2"), ("2", "2"), (-3, "a")]
)
def test_target_by_name_or_number(wanted: str | int, target: str) -> None:
    """Numbers count from 1 or from -1; a column of that name wins."""
    assert read("a,b,2\n1,2,3\n4,5,6\n", target=wanted).target == target


def test_order_of_classes() -> None:
    """Numbers are ordered by value, everything else by letters; labels stay text."""
    assert natural_order(["10", "9", "2.5", "10"]) == ("2.5", "9", "10")
    assert natural_order(["10", "9", "a"]) == ("10", "9", "a")
    assert read("a,class\n1,10\n2,9\n3,010\n").classes == ("9", "010", "10")


def test_no_header() -> None:
    """Features are x1..xn whichever column is the target."""
    dataset = read("s,1,r1,2\nt,3,r2,4\n", header=False, target=1, id_column="3")
    assert dataset.features == ("x1", "x2")
    assert (dataset.target, dataset.id_column) == ("class", "id")
    assert dataset.X.tolist() == [[1, 2], [3, 4]]
    assert dataset.ids == ("r1", "r2")


def test_id_column() -> None:
    """The id column is kept as text and is no feature."""
    dataset = read("who,a,class\n007,1,x\n008,2,y\n", id_column="who")
    assert dataset.ids == ("007", "008")
    assert dataset.features == ("a",)


def test_one_hot() -> None:
    """A text column becomes one 0/1 column per value, in the column's place."""
    dataset = read("a,c,class\n1,red,x\n2,blue,y\n3,red,y\n", one_hot=["c"])
    assert dataset.features == ("a", "c=blue", "c=red")
    assert dataset.X.tolist() == [[1, 0, 1], [2, 1, 0], [3, 0, 1]]


HOLES = "a,c,class\n1,red,x\n?,blue,y\n3,,y\n5,red,\n7,blue,y\n"


def test_missing_drop() -> None:
    """Rows with a gap are left out, also for a missing label, and it is said."""
    dataset = read(HOLES, one_hot=["c"], missing="drop")
    assert dataset.X.tolist() == [[1, 0, 1], [7, 1, 0]]
    assert dataset.lines is not None
    assert dataset.lines.tolist() == [2, 6]
    assert "3 of 5 rows left out" in dataset.notes[0]


def test_missing_mean() -> None:
    """Gaps stay NaN for the scaling, which fills in the mean; labels are needed."""
    dataset = read(HOLES.replace("red,\n", "red,x\n"), one_hot=["c"], missing="mean")
    assert np.isnan(dataset.X[1, 0])
    assert np.isnan(dataset.X[2, 1:]).all()
    filled = Scaling.fit(dataset.X, "none").apply(dataset.X)
    assert filled[1, 0] == 4.0
    assert filled[2, 1:].tolist() == [0.5, 0.5]


def test_na_values() -> None:
    """More texts and numbers can stand for a gap, a number in any spelling."""
    text = "a,class\n-999,x\n-999.0,y\nnone,x\n1,x\n2,y\n"
    dataset = read(text, na_values=["-999", "none"], missing="drop")
    assert dataset.X.tolist() == [[1], [2]]


def test_a_label_may_be_called_na_in_chemistry() -> None:
    """Sodium is a class."""
    assert read("a,class\n1,Na\n2,None\n").classes == ("Na", "None")


def test_blocks_join(tmp_path: Path) -> None:
    """A file of several blocks is read whole, and a late cell is told by its line."""
    rows = [f"{i},{i % 2}" for i in range(10_000)]
    rows[0] = "5,0"
    file = tmp_path / "long.csv"
    file.write_text("\n".join(["a,class", *rows]))
    assert load_csv(file).X[1:, 0].tolist() == list(range(1, 10_000))
    rows[9_000] = "x,1"
    file.write_text("\n".join(["a,class", *rows]))
    with pytest.raises(DataError, match="line 9002, column 'a': 'x'"):
        load_csv(file)


def test_notes() -> None:
    """Single samples, row numbers and numeric names are remarks, not errors."""
    notes = read("n,class\n1,a\n2,a\n3,b\n").notes
    assert any("1 class has a single sample: 'b'" in note for note in notes)
    assert any("'n' counts the rows" in note for note in notes)
    assert any("class of its own" in note for note in read("a,b\n9,2\n7,4\n5,1").notes)
    measured = "a,b\n" + "".join(f"{i % 7},{i % 12 / 4}\n" for i in range(36))
    assert "12 classes are numbers with decimals" in read(measured).notes[0]
    whole = "a,b\n" + "".join(f"{i % 7},{i % 12}\n" for i in range(36))
    assert not any("decimals" in note for note in read(whole).notes)
    assert "--no-header" in read("5.1,3.5,a\n4,3,a\n4,2,a\n5,2,b\n5,1,b\n").notes[0]
    assert read("0,1,class\n4,3,a\n4,2,a\n5,2,b\n5,1,b\n").notes == ()


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (range(1, 13), "counts the rows"),
        ([7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23], "rises from row to row"),
        (range(20240101, 20240113), "rises from row to row"),
        ([0.5 + i for i in range(12)], ""),
        ([7, 8, 10, 10, 13, 14, 16, 17, 19, 20, 22, 23], ""),
        (range(12, 0, -1), ""),
        ([1, 2, float("nan"), *range(4, 13)], ""),
    ],
)
def test_a_column_that_may_name_the_rows_is_told(column: Any, said: str) -> None:
    """Also in a part of the rows, as training and test sets are; whole numbers only."""
    problems = Problems("some.csv")
    X = np.array([[x, -1.0] for x in column])
    note_row_numbers(X, ("n", "x"), problems)
    assert [said in note for note in problems.notes] == ([True] if said else [])
    few = Problems("few.csv")
    note_row_numbers(X[3:8], ("n", "x"), few)
    assert few.notes == []


def test_classes_that_differ_by_little_are_told() -> None:
    """1 and 1.0 are two classes, for labels are text; a note asks."""
    data = load_csv(io.BytesIO(b"a,class\n1,1\n2,1.0\n4,1\n7,1.0\n"))
    assert data.classes == ("1", "1.0")
    assert any("are they one?" in note for note in data.notes)


def test_very_wide_header() -> None:
    """A header of many thousand characters is a header like any other."""
    names = [f"a_long_feature_name_{j}" for j in range(2_000)]
    line = ",".join(["1.5"] * 2_000)
    dataset = read(f"{','.join(names)},class\n{line},x\n{line},y\n")
    assert dataset.X.shape == (2, 2_000)


def test_libsvm() -> None:
    """Sparse lines become dense rows; comments and blank lines are skipped."""
    text = "# made by hand\n+1 1:0.5 3:2 # first\n\n-1 2:1e-3\n"
    dataset = read(text, input_format="libsvm")
    assert dataset.X.tolist() == [[0.5, 0, 2], [0, 1e-3, 0]]
    assert dataset.features == ("x1", "x2", "x3")
    assert [dataset.classes[k] for k in dataset.y] == ["+1", "-1"]
    assert dataset.lines is not None
    assert dataset.lines.tolist() == [2, 4]


def test_libsvm_by_extension(tmp_path: Path) -> None:
    """.svm, .libsvm and .t files need no option."""
    for suffix in ("svm", "libsvm", "t"):
        file = tmp_path / f"d.{suffix}"
        file.write_text("a 1:1\nb 1:2\n")
        assert load_csv(file).classes == ("a", "b")
