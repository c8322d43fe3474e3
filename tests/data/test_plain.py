"""The fast road for large plain files gives what the careful reader gives."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from msvm_select.data import table
from msvm_select.data.read import load_csv
from msvm_select.data.table import Plain
from msvm_select.errors import DataError
from msvm_select.records import Dataset

ODD = ["1_000", "0x10", "nan", " 1", "1 ", "1e400", "inf", "-0", "+.5", "5.", "1e", "."]
ODD += [
    "",
    " ",
    "NA",
    "?",
    "null",
    "-nan",
    "NaN",
    "True",
    "1e-320",
    "٣",
    "\xa05",
    '"2"',
]
ODD += ['"2"', "1,5", "1.5", "--1", "1 2", "1d3", "Infinity", "1\x0b", '"3,5"', 'a"b']
NUMBERS = st.one_of(
    st.floats().map(repr), st.integers().map(str), st.sampled_from(ODD[:9])
)
CLEAN = st.floats(-1e100, 1e100).map(repr)
LABELS = st.sampled_from(
    [
        "NA",
        "001",
        "1",
        " x ",
        "x",
        "Na",
        "é",
        "a b",
        "null",
        "",
        "1e5",
        '"q"',
        "\u2003z",
    ]
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A table as one might be written: mostly clean, with something odd at times."""
    mark = draw(st.sampled_from([",", ";", "\t"]))
    width, m = draw(st.integers(1, 3)), draw(st.integers(1, 8))
    cell = draw(st.sampled_from([CLEAN, CLEAN, NUMBERS, st.sampled_from(ODD)]))
    names = ["f0", "f1", "f2", "f1"][:width] if draw(st.booleans()) else ["f1"] * width
    rows = [[*(draw(cell) for _ in range(width)), draw(LABELS)] for _ in range(m)]
    if draw(st.integers(0, 5)) == 0:
        rows[-1] = rows[-1][: draw(st.integers(0, width))]
    if draw(st.integers(0, 5)) == 0:
        rows[0].append("9")
    ends = draw(st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n"]))
    text = ends.join(mark.join(row) for row in [[*names, "class"], *rows])
    tail = draw(st.sampled_from(["", "\n", ends, "\n\n"]))
    head = draw(st.sampled_from(["", "", "\ufeff", "\n", " \n"]))
    return (head + text + tail).encode()


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "missing": st.sampled_from(["mean", "drop"]),
        "decimal": st.sampled_from(["comma", "point"]),
        "na_values": st.sampled_from([["-999", "1.0"], ["x"]]),
        "header": st.booleans(),
        "delimiter": st.sampled_from([",", ";"]),
        "one_hot": st.just(["1"]),
        "drop": st.just(["1"]),
        "id_column": st.just("1"),
    },
)


@pytest.fixture(scope="module")
def taken() -> Iterator[list[bool]]:
    """Small files count as large; which of them were plain."""
    with pytest.MonkeyPatch.context() as patch:
        road, taken = table.read_plain, []

        def watched(*arguments: Any) -> Plain | None:
            found = road(*arguments)
            taken.append(found is not None)
            return found

        patch.setattr("msvm_select.data.cells.read_plain", watched)
        yield taken


def outcome(data: bytes, worth: int, **options: Any) -> Dataset | str:
    """What is read, or the message of the refusal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "WORTH", worth)
        try:
            return load_csv(io.BytesIO(data), **options)
        except DataError as error:
            return str(error)


def bits(dataset: Dataset) -> tuple[Any, ...]:
    """All that a Dataset holds, each number by its bits."""
    assert dataset.lines is not None
    X = np.where(np.isnan(dataset.X), np.nan, dataset.X)
    return (
        *(X.shape, X.dtype, X.tobytes(), dataset.X.flags.c_contiguous),
        *(dataset.y.tolist(), dataset.y.dtype, dataset.classes, dataset.features),
        *(dataset.target, dataset.ids, dataset.columns, dataset.notes),
        *(dataset.lines.tolist(), dataset.lines.dtype, dataset.reading),
    )


@settings(
    max_examples=120,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(files(), OPTIONS)
@example(b"a,class\n1,NA\n2,001\n3,1\n", {"missing": "drop"})
@example(b"a,class\n1,x\n2\n3,y,4\n", {})
def test_both_roads_give_the_same(
    taken: list[bool], data: bytes, options: dict[str, Any]
) -> None:
    """The same Dataset to the last bit, or the same refusal."""
    fast, careful = outcome(data, 0, **options), outcome(data, 2**60, **options)
    if isinstance(fast, str) or isinstance(careful, str):
        assert fast == careful
    else:
        assert bits(fast) == bits(careful)


def test_the_fast_road_is_taken(taken: list[bool]) -> None:
    """For a plain file, also with holes, a BOM, CRLF, a quoted header, an id."""
    text = '\ufeff"a",b,class\r\n1.5,NA,x\r\n-0.0, 3,y\r\n,4,001\r\n'
    del taken[:]
    found = outcome(text.encode(), 0, missing="mean", id_column="b")
    assert isinstance(found, Dataset)
    assert taken == [True]
    assert found.X[:2, 0].tolist() == [1.5, 0.0]
    assert (found.ids, found.classes) == (("", "3", "4"), ("001", "x", "y"))


def test_a_large_file_is_read_soon() -> None:
    """2 MB take far less than row by row."""
    draw = np.random.default_rng(0).standard_normal((5_000, 24))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*(f"f{j}" for j in range(24)), "class"])
    writer.writerows([*map(repr, x), f"c{i % 3}"] for i, x in enumerate(draw.tolist()))
    data = out.getvalue().encode()
    outcome(data, 0)  # imports pandas
    begin = time.perf_counter()
    found = outcome(data, 0)
    fast = time.perf_counter() - begin
    assert isinstance(found, Dataset)
    assert np.array_equal(found.X, draw)
    begin = time.perf_counter()
    assert isinstance(outcome(data, 2**60), Dataset)
    assert fast < 0.7 * (time.perf_counter() - begin)
