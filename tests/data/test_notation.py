"""How numbers, text and columns may be written: marks, encodings, columns to drop."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from msvm_select.data.options import ReadOptions
from msvm_select.data.read import load_csv, read_features
from msvm_select.errors import DataError, SettingsError
from tests.conftest import read

COMMAS = "a;b;class\n1,5;10;x\n2,25;20;y\n3;30,125;x\n"


def test_decimal_commas_beside_semicolons_are_recognised() -> None:
    """The numbers are those of --decimal comma, and a note says so."""
    found = read(COMMAS)
    assert found.X.tolist() == [[1.5, 10], [2.25, 20], [3, 30.125]]
    assert "--decimal comma" in found.notes[0]
    assert found.columns is not None
    assert found.columns.decimal == "comma"
    said = read(COMMAS, decimal="comma")
    assert said.X.tolist() == found.X.tolist()
    assert not any("commas" in note for note in said.notes)


@pytest.mark.parametrize(
    "text",
    [
        "a;class\n1,500;x\n2,250;y\n",  # thousands as well
        "a;class\n1,5;x\n2.5;y\n",  # both marks
        "a;class\n1,5;x\nred;y\n",  # text in the same column
        'a,class\n"1,5",x\n"2,25",y\n',  # no semicolons
    ],
)
def test_decimal_commas_are_not_guessed_where_they_are_in_doubt(text: str) -> None:
    """Then the file is refused, with the options that decide it."""
    with pytest.raises(DataError, match="line 2, column 'a'.*comma"):
        read(text)


def test_decimal_commas_are_recognised_beside_text() -> None:
    """What is told of the file is the text alone, and how to read it works."""
    text = "a;colour;b;class\n1,5;red;10;x\n2,25;blue;;y\n"
    with pytest.raises(DataError) as refused:
        read(text)
    told = str(refused.value)
    assert "'colour'" in told
    assert "missing" in told
    assert "comma" not in told
    found = read(text, one_hot=("colour",), missing="mean")
    assert found.X[:, 0].tolist() == [1.5, 2.25]


def test_decimal_commas_that_are_said() -> None:
    """Beside exponents and signs; a point in a number is refused."""
    found = read("a;b;class\n1,5;2;x\n-3,25e1;4;y\n", decimal="comma")
    assert found.X.tolist() == [[1.5, 2.0], [-32.5, 4.0]]
    with pytest.raises(DataError, match="decimal point"):
        read("a;class\n1.5;x\n2;y\n", decimal="comma")


def test_decimal_point_said_is_not_overruled() -> None:
    """An option wins over what the file looks like."""
    with pytest.raises(DataError, match="decimal comma"):
        read(COMMAS, decimal="point")


@pytest.mark.parametrize(
    ("thousands", "decimal", "cells", "numbers"),
    [
        ("comma", None, ['"1,234.5"', '"-12,345,678"'], [1234.5, -12345678.0]),
        (",", None, ['"1,234"', "12"], [1234.0, 12.0]),
        ("point", "comma", ["1.234,5", "1.000"], [1234.5, 1000.0]),
        ("space", None, ["1 234", "1\u202f234\u00a0567.5"], [1234.0, 1234567.5]),
        ("apostrophe", None, ["1'234", "7e3"], [1234.0, 7000.0]),
        ("_", None, ["1_234", "7"], [1234.0, 7.0]),
    ],
)
def test_thousands(
    thousands: str, decimal: str | None, cells: list[str], numbers: list[float]
) -> None:
    """The mark between groups of three digits is left out."""
    mark = ";" if decimal else ","
    rows = "".join(f"{cell}{mark}{k}\n" for k, cell in enumerate(cells))
    text = f"a{mark}class\n{rows}"
    found = read(text, thousands=thousands, decimal=decimal, delimiter=mark)
    assert found.X[:, 0].tolist() == numbers


@pytest.mark.parametrize("cell", ['"1,23"', '"12,3456"', '",123"', '"1,234,56"'])
def test_thousands_stand_between_groups_of_three(cell: str) -> None:
    """Anywhere else the mark is no part of a number."""
    with pytest.raises(DataError, match="is not a number"):
        read(f"a,class\n{cell},x\n2,y\n", thousands=",")


def test_thousands_that_are_no_choice() -> None:
    """Not a word that is unknown, and not the decimal mark."""
    for options in ({"thousands": "dozen"}, {"thousands": "point"}):
        with pytest.raises(SettingsError, match="--thousands"):
            read("a,class\n1,x\n2,y\n", **options)
    with pytest.raises(SettingsError, match="decimal mark"):
        read(COMMAS, thousands=",", decimal="comma")


def test_drop() -> None:
    """A dropped column may hold anything; the last column that is left is the class."""
    text = "who,a,c,note\nann,1,x,long\nbob,2,y,text\n"
    found = read(text, drop=["who", "4"])
    assert (found.features, found.classes) == (("a",), ("x", "y"))
    assert found.columns is not None
    assert found.columns.drop == ("who", "note")
    bare = read(text.partition("\n")[2], header=False, drop="-1", target=3, id_column=1)
    assert (bare.features, bare.ids) == (("x1",), ("ann", "bob"))


@pytest.mark.parametrize(
    ("drop", "words"), [("whom", "did you mean 'who'"), ("c", "the target is in it")]
)
def test_drop_of_what_cannot_be(drop: str, words: str) -> None:
    """A column that is not there, or that is needed."""
    with pytest.raises(DataError, match=words):
        read("who,a,c\nann,1,x\nbob,2,y\n", drop=[drop], target="c")


def test_data_to_predict_are_read_as_the_model_was_trained() -> None:
    """Decimal commas, thousands and dropped columns are remembered."""
    columns = read(COMMAS, drop="b").columns
    assert columns is not None
    found = read_features(io.BytesIO(b"b;a\nred;7,5\n"), columns)
    assert (found.X.tolist(), found.notes) == ([[7.5]], ())
    grouped = read("a;class\n1.234,5;x\n2;y\n", decimal="comma", thousands=".").columns
    assert grouped is not None
    assert read_features(io.BytesIO(b"a\n1.000,5\n"), grouped).X.tolist() == [[1000.5]]
    said = ReadOptions(decimal="point", thousands="comma")
    assert read_features(io.BytesIO(b"a;c\n1.5;2\n"), grouped, said).X[0, 0] == 1.5


def test_cp1252_is_tried_with_a_note(tmp_path: Path) -> None:
    """A file that is not UTF-8 is read as Windows writes it, and a note says so."""
    file = tmp_path / "w.csv"
    file.write_bytes("größe,class\n1,schön\n2,häßlich\n".encode("cp1252"))
    found = load_csv(file)
    assert (found.features, found.classes) == (("größe",), ("häßlich", "schön"))
    assert "line 1: byte 0xf6 is not utf-8, so it is read as cp1252" in found.notes[0]
    assert "cp1252" not in str(load_csv(file, encoding="latin-1").notes)
    with pytest.raises(DataError, match="is not utf-8; name the file's own"):
        load_csv(file, encoding="utf-8")


def test_a_measurement_is_not_taken_for_the_class() -> None:
    """Unless it is named; the columns that look like classes are."""
    rows = [f"{i % 2},{i % 3},{i * 0.37:.2f}" for i in range(60)]
    text = "\n".join(["is_fraud,kind,price", *rows])
    with pytest.raises(DataError) as caught:
        read(text)
    said = str(caught.value)
    assert "column 'price'" in said
    assert "looks like a measurement: 60 different values in 60 rows" in said
    assert "--target ('is_fraud', 'kind' look like one)" in said
    assert read(text, target="price").Q == 60
    assert read(text, target="is_fraud").Q == 2


def test_whole_numbers_and_a_few_doses_may_be_classes() -> None:
    """Only many classes with decimals, or a class of its own for nearly every row."""
    for cell in ("{}".format, lambda i: str(i % 30), lambda i: str(i % 12 / 4)):
        text = "\n".join(["a,b", *(f"{i % 7},{cell(i)}" for i in range(120))])
        if cell(100) == "100":
            with pytest.raises(DataError, match="looks like no class: 120 different"):
                read(text)
        else:
            assert read(text).m == 120
