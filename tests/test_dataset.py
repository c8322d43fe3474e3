"""Reading: what a file holds, and what is said when it cannot be used."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msvm_select.columns import restored, stored
from msvm_select.dataset import ReadOptions, load_csv, read_dataset, read_features
from msvm_select.errors import DataError, SettingsError
from msvm_select.problems import UnusableDataError
from msvm_select.records import Dataset, Scaling
from msvm_select.samples import natural_order

DATA = Path(__file__).parent.parent / "data"
PLAIN = "a,b,class\n1,2,x\n3,4,y\n5,6,x\n"


def read(text: str | bytes, **options: object) -> Dataset:
    """What load_csv makes of the text."""
    data = text.encode() if isinstance(text, str) else text
    return load_csv(io.BytesIO(data), **options)  # type: ignore[arg-type]


def refusal(text: str | bytes, **options: object) -> str:
    """The message with which the text is refused."""
    with pytest.raises(DataError) as caught:
        read(text, **options)
    return str(caught.value)


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


def test_decimal_comma_does_not_hide_the_semicolon() -> None:
    """Commas inside of numbers are told as such, not taken for delimiters."""
    said = refusal("1,5;3,5;setosa\n4,0;4,5;b\n", header=False)
    assert "line 1, column 'x1'" in said
    assert "decimal comma" in said


LABELS = st.text(st.characters(exclude_categories=["C"])).map(lambda s: f"L{s}".strip())
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


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


def test_missing_is_refused() -> None:
    """Without a policy, each kind of gap is told with its place and the ways out."""
    said = refusal(HOLES, one_hot=["c"])
    assert "line 3, column 'a'" in said
    assert "2 missing in 2 of 5 rows: a 1, c 1" in said
    assert "--missing drop" in said
    assert "--missing mean" in said
    assert "line 5, column 'class': the class label is missing" in said


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
    assert "label is missing" in refusal(HOLES, one_hot=["c"], missing="mean")


def test_na_values() -> None:
    """More texts and numbers can stand for a gap, a number in any spelling."""
    text = "a,class\n-999,x\n-999.0,y\nnone,x\n1,x\n2,y\n"
    dataset = read(text, na_values=["-999", "none"], missing="drop")
    assert dataset.X.tolist() == [[1], [2]]


def test_a_label_may_be_called_na_in_chemistry() -> None:
    """Sodium is a class."""
    assert read("a,class\n1,Na\n2,None\n").classes == ("Na", "None")


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        ("", {}, ["empty"]),
        ("\n\n", {}, ["empty"]),
        ("a,b,class\n", {}, ["no sample below"]),
        ("a,b,class\n1,2,x\n3,4,x\n", {}, ["'x'", "two classes"]),
        ("a,b,class\n1,2,x\n3,4\n5,y\n", {}, ["line 3: 2 fields", "has 3", "2 such"]),
        ("a,a,class\n1,2,x\n3,4,y\n", {}, ["line 1", "'a'", "1 and 2", "same name"]),
        (PLAIN, {"target": "clas"}, ["--target 'clas'", "did you mean 'class'?"]),
        (PLAIN, {"target": 4}, ["--target '4'", "no such column"]),
        (PLAIN, {"id_column": "B"}, ["--id-column 'B'", "did you mean 'b'?"]),
        (PLAIN, {"id_column": "class"}, ["also the target"]),
        (PLAIN, {"one_hot": ["aa"]}, ["--one-hot 'aa'", "did you mean 'a'?"]),
        ("class\nx\ny\n", {}, ["no feature column", "--delimiter"]),
        ("1 1:2 2:3\n2 1:4\n", {}, ["--input-format libsvm"]),
        (
            "a,b,class\n1,x,p\n2,y,q\n3,x,q\n",
            {},
            ["line 2, column 'b'", "--one-hot 'b'"],
        ),
        ("a,b,class\n1,u,p\n2,v,q\n3,w,q\n", {}, ["--id-column 'b'"]),
        ("a,class\n1,p\n2,q\n3,q\nx,q\n", {}, ["line 5", "--na-values 'x'", "1 such"]),
        ("a,class\n1,p\n2_0,q\n", {}, ["'2_0' is not a number"]),
        ("a,class\n1,p\ninf,q\n-inf,q\n", {}, ["line 3, column 'a'", "infinite", "2"]),
        ("a,class\n1,p\n1e999,q\n", {"missing": "mean"}, ["line 3", "infinite"]),
        ("a,class\n1,p\nnan,q\n", {}, ["line 3, column 'a'", "missing"]),
        ("a,class\n,p\n,q\n", {"missing": "mean"}, ["'a'", "no value at all"]),
        ("a,class\n,p\n,q\n", {"missing": "drop"}, ["every row"]),
        ("a,class\n,p\n,q\n", {}, ["2 missing in 2 of 2 rows"]),
        ("a,b,class\n1,2,x\n", {"header": False}, ["line 1"]),
        ('a,class\n1,"x\n2,y\n', {}, ["line 2", "quote"]),
        (",a,class\n1,2,x\n2,2,y\n", {}, ["column 1 has no name", "--id-column 1"]),
        (b"a,class\n1,\xe9\n2,y\n", {}, ["line 2", "0xe9", "--encoding latin-1"]),
        ("a,class\n1,x\n".encode("utf-16"), {}, ["--encoding utf-16"]),
        (b"a,class\n1,\0\n", {}, ["line 2", "zero byte"]),
        (b"PK\x03\x04xyz", {}, ["spreadsheet"]),
        ("class,label,a\n1,2,3\n4,5,6\n", {}, ["'class', 'label'", "--target"]),
    ],
)
def test_refusals(
    text: str | bytes, options: dict[str, object], parts: list[str]
) -> None:
    """Bad data is refused with its place, what is wrong and the way out."""
    said = refusal(text, **options)
    assert [part for part in parts if part not in said] == []


def test_header_taken_for_a_sample() -> None:
    """--no-header on a file with a header is told as just that."""
    assert "leave out --no-header" in refusal(PLAIN, header=False)


def test_several_problems_at_once() -> None:
    """All kinds of problems are gathered, each with its place."""
    text = "a,b,class\n1,2,x\n3,,y\n1,inf,x\n1,2\nfoo,3,x\n4,3,\n"
    with pytest.raises(UnusableDataError) as caught:
        read(text)
    found = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 5
    for part in ("line 5: 2 fields", "line 6, column 'a'", "line 4, column 'b'"):
        assert part in found
    assert "line 3, column 'b'" in found
    assert "line 7, column 'class'" in found


def test_line_numbers_count_quoted_line_ends() -> None:
    """A cell that runs over lines does not shift the lines of what follows."""
    said = refusal('a,class\n1,"x\nx"\n\nfoo,y\n2,y\n3,y\n')
    assert "line 5, column 'a'" in said


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


def test_missing_file(tmp_path: Path) -> None:
    """A misspelt file is told with its neighbour; so are folders."""
    (tmp_path / "iris.csv").write_text(PLAIN)
    with pytest.raises(DataError, match=r"no such file \(did you mean 'iris.csv'\?\)"):
        load_csv(tmp_path / "irs.csv")
    with pytest.raises(DataError, match="no folder"):
        load_csv(tmp_path / "nowhere" / "iris.csv")
    with pytest.raises(DataError, match="is a folder"):
        load_csv(tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "median"},
        {"input_format": "xml"},
        {"delimiter": "::"},
        {"encoding": "utf-88"},
        {"input_format": "libsvm", "target": "1"},
    ],
)
def test_options_of_no_choice(options: dict[str, object]) -> None:
    """An option that is not of its form is a mistake of the settings, not the data."""
    with pytest.raises(SettingsError):
        read(PLAIN, **options)


def test_notes() -> None:
    """Single samples, row numbers and numeric names are remarks, not errors."""
    notes = read("n,class\n1,a\n2,a\n3,b\n").notes
    assert any("1 class has a single sample: 'b'" in note for note in notes)
    assert any("'n' counts the rows" in note for note in notes)
    assert any("class of its own" in note for note in read("a,b\n9,2\n7,4\n5,1").notes)
    assert "--no-header" in read("5.1,3.5,a\n4,3,a\n4,2,a\n5,2,b\n5,1,b\n").notes[0]
    assert read("0,1,class\n4,3,a\n4,2,a\n5,2,b\n5,1,b\n").notes == ()


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


@pytest.mark.parametrize("token", ["0:3", "x:3", "4", "2:y", "1:3", "-1:2", "2:1_0"])
def test_libsvm_bad_token(token: str) -> None:
    """A bad token is told with its line."""
    said = refusal(f"a 1:1\nb 1:2 {token}\n", input_format="libsvm")
    assert f"line 2: {token!r}" in said


MIXED = "id,a,c,class\nr1,1,red,x\nr2,2,blue,y\nr3,4,red,y\n"


def model(**options: object) -> Dataset:
    """What a machine was trained on, for the tests of prediction."""
    return read(MIXED, **{"id_column": "id", "one_hot": ["c"], **options})


def predict(text: str, trained: Dataset, **options: object) -> Dataset:
    """The text as data to be classified."""
    assert trained.columns is not None
    chosen = ReadOptions(**options)  # type: ignore[arg-type]
    return read_features(io.BytesIO(text.encode()), trained.columns, chosen)


def test_columns_survive_json() -> None:
    """What a model file holds of the columns comes back the same."""
    columns = model(na_values=["-"]).columns
    assert columns is not None
    assert restored(json.loads(json.dumps(stored(columns)))) == columns


def test_prediction_by_name() -> None:
    """Columns are taken by name in the model's order; id and target may be missing."""
    found = predict("c,a\nblue,7\nred,8\n", model())
    assert found.X.tolist() == [[7, 1, 0], [8, 0, 1]]
    assert found.features == ("a", "c=blue", "c=red")
    assert found.y.size == 0
    assert found.ids is None


def test_prediction_with_labels() -> None:
    """Labels and ids that are there are read; one class is enough here."""
    found = predict("class,c,a,id\nz,blue,7,q1\n", model())
    assert (found.classes, found.ids) == (("z",), ("q1",))
    assert found.y.tolist() == [0]
    partial = predict("class,c,a\nz,blue,7\n,red,7\n", model())
    assert partial.y.size == 0
    assert "1 of 2 labels" in partial.notes[0]


def test_prediction_of_the_training_file() -> None:
    """The training file read for prediction gives the training features."""
    trained = read_dataset(DATA / "glass.csv")
    assert trained.columns is not None
    found = read_features(DATA / "glass.csv", trained.columns)
    assert np.array_equal(found.X, trained.X)
    assert np.array_equal(found.y, trained.y)


def test_prediction_extra_and_lost_columns() -> None:
    """Extra columns are remarked by name; missing ones are refused by name."""
    assert "'more'" in predict("c,a,more\nred,1,2\n", model()).notes[0]
    with pytest.raises(DataError, match=r"'a' is missing.*'A'\?.*also has 'A'"):
        predict("c,A\nred,1\n", model())


def test_prediction_without_header() -> None:
    """Without a header the number of columns tells what is there."""
    trained = read("1,2,x\n3,4,y\n5,5,y\n", header=False)
    bare = predict("7,8\n", trained, header=False)
    assert bare.X.tolist() == [[7, 8]]
    assert predict("7,8,x\n", trained, header=False).classes == ("x",)
    with pytest.raises(DataError, match="4 columns; the model was trained on 2"):
        predict("7,8,9,1\n", trained, header=False)


def test_prediction_unknown_category() -> None:
    """A category that the model never saw is refused at its place."""
    with pytest.raises(DataError, match="line 3, column 'c'.*'pink'.*'blue', 'red'"):
        predict("c,a\nred,1\npink,1\n", model())


def test_prediction_missing() -> None:
    """Gaps are filled only for a model that was trained so, or when asked."""
    with pytest.raises(DataError, match="line 2, column 'a'"):
        predict("c,a\nred,\n", model())
    assert np.isnan(predict("c,a\nred,\n", model(missing="mean")).X[0, 0])
    assert np.isnan(predict("c,a\nred,\n", model(), missing="mean").X[0, 0])
    assert predict("c,a\nred,\nred,1\n", model(), missing="drop").X.shape == (1, 3)


def test_prediction_libsvm() -> None:
    """Sparse data is widened to the model's features and never beyond."""
    trained = read("a 1:1 3:2\nb 1:2\n", input_format="libsvm")
    assert predict("0 1:5\n", trained, input_format="libsvm").X.tolist() == [[5, 0, 0]]
    unlabelled = predict("1:5\n", trained, input_format="libsvm")
    assert unlabelled.y.size == 0
    with pytest.raises(DataError, match="line 1: feature 4; the model has 3"):
        predict("0 4:5\n", trained, input_format="libsvm")
