"""Parquet, Arrow, Excel, ARFF and gzip: the same samples, the same words as of CSV."""

from __future__ import annotations

import datetime
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from msvm_select import extras
from msvm_select.data.read import (
    as_dataset,
    as_samples,
    load_csv,
    read_features,
)
from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.names import INPUT_ENDINGS, INPUT_FORMATS
from msvm_select.records import Dataset
from tests.conftest import run

TABLE: dict[str, list[Any]] = {
    "id": ["r1", "r2", "r3", "r4", "r5", "r6"],
    "size": [1.5, 2.0, None, 4.25, -1e-3, 7.0],
    "many": [1, 2, 3, 4, 5, 7],
    "colour": ["red", "blue", "red", None, "blue", "red"],
    "spare": [0, 0, 1, 1, 0, 0],
    "class": ["a", "b", "a", "b", "b", "a"],
}
HOW: dict[str, Any] = {
    "id_column": "id",
    "one_hot": ["colour"],
    "drop": ["spare"],
    "missing": "mean",
}
Write = Callable[[dict[str, list[Any]]], bytes]


def as_csv(table: dict[str, list[Any]]) -> bytes:
    """The table as CSV, gaps empty."""
    rows = zip(*table.values(), strict=True)
    lines = [",".join("" if v is None else str(v) for v in row) for row in rows]
    return "\n".join([",".join(table), *lines, ""]).encode()


def as_parquet(table: dict[str, list[Any]], **how: Any) -> bytes:
    """The same as Parquet."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), out)
    return out.getvalue()


def as_arrow(table: dict[str, list[Any]], stream: bool = False) -> bytes:
    """The same as an Arrow file, or as a stream of Arrow."""
    pa = pytest.importorskip("pyarrow")
    whole, out = pa.table(table), io.BytesIO()
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(out, whole.schema) as writer:
        writer.write_table(whole)
    return out.getvalue()


def as_excel(table: dict[str, list[Any]], **others: list[list[Any]]) -> bytes:
    """The same as the first sheet of a workbook; ``others`` are sheets of rows."""
    openpyxl = pytest.importorskip("openpyxl")
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active.title = "data"
    for row in [list(table), *zip(*table.values(), strict=True)]:
        book.active.append(row)
    for name, rows in others.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(out)
    return out.getvalue()


def as_arff(table: dict[str, list[Any]]) -> bytes:
    """The same as ARFF, its names in quotes."""
    lines = ["% made by hand", "@RELATION 'a test'", ""]
    for name, values in table.items():
        texts = sorted({v for v in values if isinstance(v, str)})
        kind = f"{{{', '.join(texts)}}}" if texts else "numeric"
        lines.append(f"@attribute '{name}' {kind}")
    lines.append("@data")
    for row in zip(*table.values(), strict=True):
        lines.append(", ".join("?" if v is None else str(v) for v in row))
    return "\n".join([*lines, ""]).encode()


WRITERS: dict[str, Write] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "arrow": as_arrow,
    "excel": as_excel,
    "arff": as_arff,
}
ENDING = {form: end for end, form in reversed(INPUT_ENDINGS.items())}
TYPED = [name for name in WRITERS if name != "csv"]


def same(one: Dataset, other: Dataset) -> bool:
    """Whether two Datasets hold the same samples."""
    names = ("classes", "features", "target", "ids", "id_column")
    facts = all(getattr(one, n) == getattr(other, n) for n in names)
    arrays = np.array_equal(one.X, other.X, equal_nan=True)
    return facts and arrays and np.array_equal(one.y, other.y)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("form", WRITERS)
def test_every_format_gives_the_samples_of_csv(
    form: str, packed: bool, tmp_path: Path
) -> None:
    """Target, id, categories, gaps and dropped columns; by its ending or by its bytes,
    to learn from and to classify."""
    text = WRITERS[form](TABLE)
    path = tmp_path / f"some{ENDING[form]}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(text) if packed else text)
    expected = load_csv(io.BytesIO(as_csv(TABLE)), **HOW)
    found = load_csv(path, **HOW)
    assert same(found, expected)
    assert found.name == "some"
    assert same(load_csv(io.BytesIO(path.read_bytes()), **HOW), expected)
    assert found.columns is not None
    assert np.array_equal(
        read_features(path, found.columns).X, expected.X, equal_nan=True
    )


@pytest.mark.parametrize("form", TYPED)
def test_errors_name_column_and_row(form: str, tmp_path: Path) -> None:
    """A missing value, and text that is no number, at their place."""
    row = {"excel": "row 4", "arff": "line 13"}.get(form, "row 3")
    path = tmp_path / f"some{ENDING[form]}"
    path.write_bytes(WRITERS[form](TABLE))
    with pytest.raises(DataError, match=f"{row}, column 'size': the value is missing"):
        load_csv(path, one_hot=["colour"], id_column="id", missing="error")
    with pytest.raises(DataError, match="column 'colour': 'red' is not a number"):
        load_csv(path, id_column="id", missing="mean")
    found = run("check", path, "--target", "clas")
    assert found.exit_code == 3
    assert "did you mean 'class'?" in found.stderr


def test_columns_of_arrow_keep_what_they_say() -> None:
    """Truth values are 0 and 1; dictionaries, decimals and gaps are read; a whole
    number beyond 2^53 keeps its digits as an id and as a class."""
    pa = pytest.importorskip("pyarrow")
    from decimal import Decimal

    big = 2**53 + 1
    table = pa.table(
        {
            "id": pa.array([big, big + 2, None, 5]),
            "yes": [True, False, None, True],
            "small": pa.array([1, 2, 3, 4], pa.uint8()),
            "money": [Decimal("1.50"), None, Decimal("2.25"), Decimal("0.10")],
            "dict": pa.array(["u", "v", None, "u"]).dictionary_encode(),
            "nan": [1.0, float("nan"), 2.0, 3.0],
            "class": pa.array([big, big + 1, big, big + 1]),
        }
    )
    data = load_csv(
        io.BytesIO(as_parquet(table)), id_column="id", one_hot="dict", missing="mean"
    )
    assert data.ids == (str(big), str(big + 2), "", "5")
    assert data.classes == (str(big), str(big + 1))
    assert data.features == ("yes", "small", "money", "dict=u", "dict=v", "nan")
    expected = [
        [1, 1, 1.5, 1, 0, 1],
        [0, 2, np.nan, 0, 1, np.nan],
        [np.nan, 3, 2.25, np.nan, np.nan, 2],
        [1, 4, 0.1, 1, 0, 3],
    ]
    assert np.array_equal(data.X, expected, equal_nan=True)


def test_nested_columns_are_refused_by_name() -> None:
    """Lists, records and bytes; dropped, they harm nobody."""
    pytest.importorskip("pyarrow")
    table = {
        "list": [[1.0], [2.0]],
        "record": [{"a": 1}, {"a": 2}],
        "bytes": [b"a", b"b"],
        "x": [1, 2],
        "class": ["a", "b"],
    }
    with pytest.raises(DataError) as caught:
        load_csv(io.BytesIO(as_parquet(table)))
    for name in ("list", "record", "bytes"):
        assert f"column '{name}': a " in str(caught.value)
    dropped = load_csv(io.BytesIO(as_parquet(table)), drop=["list", "record", "bytes"])
    assert dropped.features == ("x",)


def test_the_index_of_a_data_frame_is_no_feature() -> None:
    """As pandas keeps it in Parquet; as the id it can be named."""
    pytest.importorskip("pyarrow")
    import pandas as pd

    frame = pd.DataFrame({"x": [1.0, 2.0], "class": ["a", "b"]}, index=["p", "q"])
    frame.index.name = "row"
    out = io.BytesIO()
    frame.to_parquet(out)
    data = load_csv(io.BytesIO(out.getvalue()))
    assert data.features == ("x",)
    assert "'row'" in data.notes[0]
    assert load_csv(io.BytesIO(out.getvalue()), id_column="row").ids == ("p", "q")


def test_streams_and_damaged_files_of_arrow() -> None:
    """A stream is read, if its format is said; half a file is refused in words."""
    stream = as_arrow(TABLE, stream=True)
    found = load_csv(io.BytesIO(stream), input_format="arrow", **HOW)
    assert same(found, load_csv(io.BytesIO(as_csv(TABLE)), **HOW))
    for form in ("parquet", "arrow", "excel"):
        half = WRITERS[form](TABLE)
        for damaged in (half[: len(half) // 2], half[:20]):
            with pytest.raises(DataError, match="not a whole one"):
                load_csv(io.BytesIO(damaged), input_format=form)


def test_a_workbook_of_several_sheets() -> None:
    """The first that is not empty is read, and named; --sheet takes another."""
    rows: list[list[Any]] = [[], ["", "v", "w", None], [None, 1, "x"], [None, 2, "y"]]
    book = as_excel({}, notes=[["made by"]], more=rows, blank=[])
    first = as_excel(TABLE, more=rows)
    assert "'data'; --sheet" in load_csv(io.BytesIO(first), **HOW).notes[0]
    for sheet in ("more", 2):
        found = load_csv(io.BytesIO(first), sheet=sheet)
        assert (found.features, found.classes) == (("v",), ("x", "y"))
        assert found.lines is not None
        assert found.lines.tolist() == [3, 4]
    with pytest.raises(DataError, match="did you mean 'more'"):
        load_csv(io.BytesIO(book), sheet="mor")
    with pytest.raises(DataError, match="'blank' is empty"):
        load_csv(io.BytesIO(book), sheet="blank")


def test_cells_of_a_sheet_have_their_types() -> None:
    """Whole numbers are no floats as classes; truth values and dates; no header."""
    day = datetime.date(2020, 1, 2)
    table = {
        "yes": [True, False, True],
        "day": [day, day, day],
        "bad": [1, "#DIV/0!", 2],
        "class": [1.0, 2, 1],
    }
    data = load_csv(io.BytesIO(as_excel(table)), drop=["day", "bad"])
    assert data.X[:, 0].tolist() == [1.0, 0.0, 1.0]
    assert data.classes == ("1", "2")
    with pytest.raises(DataError, match="row 3, column 'bad': '#DIV/0!' is not a numb"):
        load_csv(io.BytesIO(as_excel(table)), drop="day")
    bare = as_excel({"1": [2, 3], "2.5": [4, 5], "a": ["b", "a"]})
    found = load_csv(io.BytesIO(bare), header=False)
    assert found.X.tolist() == [[1.0, 2.5], [2.0, 4.0], [3.0, 5.0]]


ARFF = r"""@relation "odd 'names'"
@ATTRIBUTE 'it\'s long'   REAL
@attribute size{small,'very large', "100%"}
@attribute n INTEGER   % whole
@attribute when date "yyyy-MM-dd"
@attribute class { no , 'y e s' }

@DATA
% a comment
1.5 , 'very large', 3, "2001-01-02", no
?,small,4,?,'y e s'

{0 -2, 1 "100%", 4 'y e s'}
{}
"""


def test_arff_dense_and_sparse() -> None:
    """Quoted names and values, comments; what a sparse row leaves out is 0, or the
    first of the values that are listed."""
    data = load_csv(
        io.BytesIO(ARFF.encode()),
        one_hot="size",
        drop="when",
        missing="mean",
    )
    assert data.classes == ("no", "y e s")
    assert data.y.tolist() == [0, 1, 1, 0]
    assert data.features == (
        *("it's long", "size=100%", "size=small", "size=very large", "n"),
    )
    expected = [
        [1.5, 0, 0, 1, 3],
        [np.nan, 0, 1, 0, 4],
        [-2, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
    ]
    assert np.array_equal(data.X, expected, equal_nan=True)
    assert data.lines is not None
    assert data.lines.tolist() == [10, 11, 13, 14]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("1,2", "line 5: 2 fields, and there are 3 attributes"),
        ("1,2,c", "line 5, column 'class': 'c' is not one of the values"),
        ("1,2,'a", "line 5: is a quote opened here"),
        ("{0 1, 0 2}", "attribute 0 is written twice"),
        ("{7 1}", "attribute 7 is not there"),
        ("{x 1}", "'x 1': this is not a number and a value"),
        ("1,2,a, {5}", "'{5}': weights of rows are not read"),
        ("1,z,a", "line 5, column 'y': 'z' is not a number"),
        ("\n".join(["1,2,c"] * 9), "4 more rows"),
    ],
)
def test_bad_rows_of_arff(rows: str, said: str) -> None:
    """Each is told with its line."""
    head = "@relation r\n@attribute x real\n@attribute y real\n@data\n"
    text = head.replace("@data", "@attribute class {a,b}\n@data")
    text = text.replace("@relation r\n", "") + rows + "\n1,2,a\n3,4,b\n"
    with pytest.raises(DataError) as caught:
        load_csv(io.BytesIO(text.encode()), input_format="arff")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@relation r\n@attribute x real\n", "there is no @data"),
        ("@relation r\n@data\n1\n", "no @attribute before @data"),
        ("@relation r\nx real\n@data\n", "line 2: 'x' is not ARFF"),
        ("@relation r\n@attribute x complex\n@data\n1\n", "'complex' is no type"),
        (
            "@relation r\n@attribute bag relational\n@attribute f real\n@end bag\n"
            "@attribute class {a,b}\n@data\n'1',a\n'2',b\n",
            "column 'bag': a relational attribute",
        ),
    ],
)
def test_bad_headers_of_arff(text: str, said: str) -> None:
    """What is wrong above @data."""
    with pytest.raises(DataError) as caught:
        load_csv(io.BytesIO(text.encode()))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("form", "package"),
    [("parquet", "pyarrow"), ("arrow", "pyarrow"), ("excel", "openpyxl")],
)
def test_an_absent_reader_is_named(
    form: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the line that brings it."""
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(MsvmError, match=f"needs {package}") as caught:
        load_csv(io.BytesIO(b"PAR1"), input_format=form)
    assert "pip install 'msvm-select[io]'" in str(caught.value)


def test_options_that_a_format_has_no_use_for_are_refused(tmp_path: Path) -> None:
    """They would be silently ignored."""
    for form, options in (
        ("csv", {"sheet": "1"}),
        ("parquet", {"delimiter": ";", "encoding": "utf-8"}),
        ("arff", {"header": False}),
        ("excel", {"encoding": "utf-8"}),
    ):
        with pytest.raises(SettingsError, match="has no use"):
            load_csv(io.BytesIO(b"x"), input_format=form, **options)
    found = run("check", tmp_path / "x.csv", "--input-format", "ods")
    assert found.exit_code == 2
    assert all(name in found.stderr for name in INPUT_FORMATS)


def test_what_gzip_packed_may_be_damaged(tmp_path: Path) -> None:
    """Half of it is refused; several members are one file."""
    whole = as_csv(TABLE)
    path = tmp_path / "some.csv.gz"
    path.write_bytes(gzip.compress(whole)[:-20])
    with pytest.raises(DataError, match="damaged or not whole"):
        load_csv(path)
    path.write_bytes(gzip.compress(whole[:40]) + gzip.compress(whole[40:]))
    assert same(load_csv(path, **HOW), load_csv(io.BytesIO(whole), **HOW))


def test_a_file_of_another_name_is_told(tmp_path: Path) -> None:
    """Parquet that is called CSV: say so, and what to type."""
    path = tmp_path / "some.csv"
    path.write_bytes(b"PAR1 and more")
    with pytest.raises(DataError, match="say --input-format parquet"):
        load_csv(path)


@pytest.mark.parametrize("kind", ["pyarrow", "polars", "pandas"])
def test_tables_in_memory_are_read_as_files_are(kind: str) -> None:
    """Of whichever package; whole numbers beyond 2^53 keep their digits beside gaps."""
    maker = pytest.importorskip(kind)
    pytest.importorskip("pyarrow")
    table: Any = {"pyarrow": "table"}.get(kind, "DataFrame")
    data = as_dataset(getattr(maker, table)(TABLE), **HOW)
    assert same(data, load_csv(io.BytesIO(as_csv(TABLE)), **HOW))
    assert data.columns is not None
    again = as_samples(getattr(maker, table)(TABLE), data.columns)
    assert again is not None
    assert np.array_equal(again.X, data.X, equal_nan=True)
    if kind == "pandas":  # where a gap makes floats of them
        return
    big = getattr(maker, table)({"id": [2**53 + 1, None], "x": [1, 2], "y": ["a", "b"]})
    assert as_dataset(big, id_column="id").ids == (str(2**53 + 1), "")
