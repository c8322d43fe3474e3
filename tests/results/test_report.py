"""Ranking, the table, the formats there and back."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msvm_select.columns import COLUMNS, Row
from msvm_select.errors import DataError, SettingsError
from msvm_select.files import write_whole
from msvm_select.results.choosing import edge_notes, extended
from msvm_select.results.ranking import Results, rank
from msvm_select.results.reread import read_results
from msvm_select.settings.values import parse_grid
from msvm_select.show.answers.sweep import summary
from tests.conftest import render

CERTIFIED = {"n_samples": 150, "n_classes": 3, "n_sv": 30, "gap": 1.5e-12}


def row(**columns: Any) -> Row:
    """A trained rbf cell, but for what is given."""
    return Row(**{"kernel": "rbf", "gamma": 1.0, "C": 1.0, **CERTIFIED, **columns})


def ranked(*rows: Row, by: str = "sv-rate") -> Results:
    """Results of these rows."""
    return Results(rank(rows, by), by, settings={"C": (1.0,)})


ROWS = (
    row(sv_rate=0.2, C=0.1 + 0.2, separable=True, train_errors=3),
    row(sv_rate=1 / 3, gamma=2.0**-7, b_unique=False, seconds=0.125),
    row(kernel="linear", gamma=None, sv_rate=None, status="failed", gap=None,
        status_reason='no "optimum", at | all'),
)  # fmt: skip


def test_rows_are_ranked_by_their_value_ascending() -> None:
    """The smallest first, numbered from 1."""
    rows = rank([row(sv_rate=v) for v in (0.3, 0.1, 0.2)], "sv-rate")
    assert [(r.rank, r.sv_rate) for r in rows] == [(1, 0.1), (2, 0.2), (3, 0.3)]


def test_ties_go_to_the_smaller_box_then_to_the_smoother_kernel() -> None:
    """Linear before polynomial before rbf, and within a kernel by its parameters."""
    polynomial = {"kernel": "polynomial", "degree": 2.0, "coef0": 1.0}
    tied = [
        row(C=2.0, gamma=0.5),
        row(C=1.0, gamma=2.0),
        row(C=1.0, gamma=0.5),
        row(C=1.0, **polynomial),
        row(C=1.0, kernel="linear", gamma=None),
        row(C=1.0, kernel="of another program"),
    ]
    found = rank([replace(r, sv_rate=0.5) for r in tied], "sv-rate")
    assert [(r.C, r.kernel, r.gamma) for r in found] == [
        (1.0, "linear", None),
        (1.0, "polynomial", 1.0),
        (1.0, "rbf", 0.5),
        (1.0, "rbf", 2.0),
        (1.0, "of another program", 1.0),
        (2.0, "rbf", 0.5),
    ]


def test_what_does_not_count_comes_after_all_others() -> None:
    """Then come inapplicable bounds, missing values, unconverged and failed cells."""
    order = [
        row(radius_margin=9.0, radius_margin_applicable=True),
        row(radius_margin=1.0, radius_margin_applicable=False),
        row(radius_margin=None),
        row(radius_margin=0.0, status="not_converged"),
        row(radius_margin=0.0, status="failed"),
    ]
    found = rank(reversed(order), "radius_margin")
    assert [replace(r, rank=None) for r in found] == order


def test_the_best_row_must_count() -> None:
    """No best among rows that all failed or have no value."""
    failed = ranked(row(sv_rate=0.1, status="failed"))
    assert failed.best is None
    assert "No cell" in summary(failed)
    assert ranked(row(sv_rate=math.nan)).best is None
    assert ranked(*ROWS).best == replace(ROWS[0], rank=1)


def test_ranking_again_needs_a_column_that_was_filled() -> None:
    """A criterion that was not swept is refused, with those that were."""
    results = ranked(*ROWS)
    assert results.ranked("train-errors").rows[0].train_errors == 3
    assert results.ranked("gamma").rows[0].gamma == 2.0**-7
    with pytest.raises(SettingsError, match="'train_errors', 'sv_rate'"):
        results.ranked("cv:5")
    with pytest.raises(SettingsError, match="did you mean 'sv-rate'"):
        results.ranked("sv-rat")
    with pytest.raises(SettingsError, match="nothing to rank by"):
        results.ranked("kernel")


numbers = st.floats(allow_nan=False, allow_infinity=False)
rows = st.builds(
    Row,
    kernel=st.sampled_from(["rbf", "linear", "of another program"]),
    gamma=st.none() | st.floats(1e-9, 1e9),
    C=st.floats(1e-9, 1e9),
    status=st.sampled_from(["ok", "not_converged", "failed"]),
    status_reason=st.text(
        st.characters(codec="utf-8", exclude_categories=["C"]), max_size=20
    ),
    n_sv=st.none() | st.integers(0, 10**9),
    separable=st.none() | st.booleans(),
    gap=st.none() | numbers,
    sv_rate=st.none() | numbers,
)


@settings(max_examples=40)
@given(st.lists(rows, min_size=1, max_size=4))
def test_files_are_read_back_as_they_were(found: list[Row]) -> None:
    """Every value of every row, in the same order, whatever the format."""
    results = ranked(*found)
    for format in ("csv", "tsv", "json", "ndjson"):
        again = read_results(f"x.{format}", render(results, format))
        assert again.rows == results.rows


def test_a_json_document_keeps_what_it_came_from(tmp_path: Path) -> None:
    """Data, settings and versions survive."""
    path = tmp_path / "x.json"
    before = replace(ranked(*ROWS), data={"name": "iris"}, versions={"python": "3"})
    write_whole(path, render(before, "json"))
    after = read_results(path)
    assert (after.data, after.versions) == (before.data, before.versions)
    assert after.settings == {"C": [1.0]}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.csv", "", "no rows"),
        ("x.csv", "kernel,C\n", "no rows"),
        ("x.csv", "a,b\n1,2\n", "needs at least the columns kernel and C"),
        ("x.csv", "kernel,C\nrbf,one\n", "x.csv, line 2, column 'C': 'one'"),
        ("x.csv", "kernel,C\nrbf,1\nrbf,nan\n", "x.csv, line 3, column 'C'"),
        ("x.csv", "kernel,C\nrbf,\n", "column 'C'"),
        ("x.csv", "kernel,C,separable\nrbf,1,yes\n", "column 'separable': 'yes'"),
        ("x.csv", "kernel,C\nrbf,1,2\n", "as many fields as the header"),
        ("x.csv", "kernel,C,gap\nrbf,1\n", "as many fields as the header"),
        ("x.csv", "kernel,C,sv_rat\nrbf,1,2\n", "did you mean 'sv_rate'"),
        ("x.json", "{", "not JSON"),
        ("x.json", "[]", "no 'rows'"),
        ("x.json", '{"rows": [], "schema_version": 2}', "schema_version 2"),
        ("x.json", '{"rows": [3], "schema_version": 1}', "x.json, row 1"),
        ("x.ndjson", '{"kernel": "rbf", "C": 1}\n{', "x.ndjson, line 2"),
        ("x.ndjson", '{"kernel": "rbf", "C": "1"}', "column 'C': '1'"),
        ("x.ndjson", '{"kernel": "rbf", "C": 1, "n_sv": 1.5}', "column 'n_sv'"),
        ("x.md", "| a |", "cannot be read back"),
    ],
)
def test_a_file_that_holds_no_results_is_refused(
    name: str, text: str, said: str
) -> None:
    """The message names the file, the line and the column."""
    with pytest.raises(DataError) as caught:
        read_results(name, text)
    assert said in str(caught.value)
    assert name in str(caught.value)


def test_a_short_file_is_enough_to_rank() -> None:
    """Columns that a file lacks are empty; a whole number may stand for a float."""
    found = read_results("x.ndjson", '{"kernel": "rbf", "C": 1, "cv_error": 0}')
    assert found.rows == (Row(kernel="rbf", C=1.0, cv_error=0.0),)
    assert isinstance(found.rows[0].C, float)


def test_a_missing_file_is_bad_data_with_a_near_name(tmp_path: Path) -> None:
    """``rankd.csv`` may have meant ``ranked.csv``."""
    (tmp_path / "ranked.csv").touch()
    with pytest.raises(DataError, match=r"did you mean 'ranked\.csv'"):
        read_results(tmp_path / "rankd.csv")


@pytest.mark.parametrize(
    ("grid", "upward", "beyond"),
    [
        ("2^-3:2^9:7", True, "0.125:2^13:9"),
        ("2^-3:2^9:7", False, "2^-7:512:9"),
        ("0.01:0.05:+0.01", True, "0.01:0.07:+0.01"),
        ("0.01:0.05:+0.01", False, "0.0025:0.01:3"),
        ("0:3:+1", False, "-1:3:+1"),
        ("1,10", True, "1:1000:4"),
        ("1,2,10", True, "10:250:3"),
        ("1,2,10", False, "0.25:1:3"),
        ("-2,0,1", True, None),
    ],
)
def test_a_grid_is_extended_beyond_its_edge(
    grid: str, upward: bool, beyond: str | None
) -> None:
    """By two values (an arithmetic one downward by one or by halves), as typed."""
    assert extended(list(parse_grid(grid)), upward) == beyond
    if beyond is not None:
        values = parse_grid(beyond)
        edge = parse_grid(grid)[-1 if upward else 0]
        assert values[-1] > edge if upward else values[0] < edge


def test_two_degrees_are_extended_by_steps() -> None:
    """They stay whole, and do not fall below 1."""
    assert extended([2.0, 3.0], upward=False, by_steps=True) == "1:3:+1"
    assert extended([2.0, 3.0], upward=True, by_steps=True) == "2:5:+1"
    assert extended([1.0, 2.0], upward=False, by_steps=True) is None


def test_a_best_value_on_the_edge_is_said() -> None:
    """With the option that looks beyond; silent where an inner value does as well."""
    values = {0.1: 0.3, 1.0: 0.2, 10.0: 0.1}
    cells = [row(C=C, sv_rate=v) for C, v in values.items()]
    (note,) = edge_notes(ranked(*cells))
    assert note == (
        "The best C = 10 is the largest of its grid; --C 0.1:1000:5 looks beyond it."
    )
    cells[1] = replace(cells[1], sv_rate=0.1)
    assert edge_notes(ranked(*cells)) == []
    assert edge_notes(replace(ranked(cells[0]), settings={"C": [0.1]})) == []


def test_an_edge_is_that_of_the_grid_not_of_the_rows_that_are_left() -> None:
    """Of a file with the --top rows only, the settings know the grid."""
    left = [row(C=C, sv_rate=C) for C in (1.0, 10.0)]
    grid = {"C": [0.1, 1.0, 10.0, 100.0]}
    assert edge_notes(replace(ranked(*left), settings=grid)) == []
    grid = {"C": [1.0, 10.0, 100.0]}
    (note,) = edge_notes(replace(ranked(*left), settings=grid))
    assert "--C 0.01:100:5" in note


def test_an_edge_of_sigma_is_said_as_sigma() -> None:
    """The smallest gamma is the largest sigma."""
    cells = [row(gamma=g, sv_rate=g) for g in (0.5, 2.0, 8.0)]
    results = replace(ranked(*cells), settings={"sigma": (0.25, 0.5, 1.0)})
    (note,) = edge_notes(results)
    assert note == (
        "The best sigma = 1 is the largest of its grid; --sigma 0.25:4:5 looks beyond "
        "it."
    )


def test_a_frame_has_the_columns_of_the_schema() -> None:
    """One line a row, in the order of rank."""
    frame = ranked(*ROWS).to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["rank"].tolist() == [1, 2, 3]
    assert asdict(ROWS[0])["sv_rate"] == frame["sv_rate"][0]
