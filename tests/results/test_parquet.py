"""Results as Parquet: typed, with what they came from, and read again."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from msvm_select import extras
from msvm_select.columns import COLUMNS, column_of
from msvm_select.errors import DataError
from msvm_select.results.choosing import chosen
from msvm_select.results.ranking import Results
from msvm_select.results.reread import read_results
from msvm_select.show.answers.sweep import sheet
from tests.conftest import IRIS, ranked, render, row, run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
GRID = ("--C", "1,8", "--gamma", "2^-7:2^-3:2", "-q")


@pytest.fixture
def results() -> Results:
    """Rows with gaps, large numbers, a further column, and a choice."""
    rows = ranked(
        row(1.0, loo_rate=0.1, loo_errors=10, b_unique=True, cv10_error=0.25),
        row(2.0, loo_rate=float("nan"), status="failed", status_reason="é\n|"),
        row(4.0, loo_rate=0.1, seconds=1e-300, iterations=2**53 + 1),
        criteria=["loo", "cv:5", "cv:10"],
    )
    about = {"name": "é", "classes": {"a": 60, "b": 40}}
    return chosen(replace(rows, data=about, versions={"numpy": "2"}), "simplest")


def test_what_is_written_is_read(results: Results, tmp_path: Path) -> None:
    """The same as by JSON: rows, data, settings, versions, the choice."""
    (tmp_path / "r.parquet").write_bytes(sheet(results).packed)
    (tmp_path / "r.json").write_text(render(results, "json"))
    one, other = (read_results(tmp_path / f"r.{end}") for end in ("parquet", "json"))
    assert one == other
    assert one.choice is not None


def test_columns_have_their_types(results: Results) -> None:
    """Those of ``columns.py``; an empty one too. The version is in the metadata."""
    table = pq.read_table(io.BytesIO(sheet(results).packed))
    assert table.schema.metadata[b"schema_version"] == b"1"
    assert table.column_names[: len(COLUMNS)] == list(COLUMNS)
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    for name in table.column_names:
        assert table.schema.field(name).type == types[column_of(name).kind], name
    assert table["iterations"].to_pylist()[1] == 2**53 + 1
    assert table["loo_rate"].null_count == 1


def test_a_file_that_lost_its_metadata_is_rows(results: Results) -> None:
    """As pandas would write it again: like a csv."""
    table = pq.read_table(io.BytesIO(sheet(results).packed))
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(None), out)
    found = read_bytes(out.getvalue())
    assert len(found.rows) == 3
    assert not found.settings


def read_bytes(data: bytes, name: str = "r.parquet") -> Results:
    """What is in a file of these bytes."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return read_results(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[: len(data) // 2], "not a whole one"),
        (lambda data: b"PAR1", "not a whole one"),
    ],
)
def test_damaged_files_are_refused(
    results: Results, change: Any, said: str, tmp_path: Path
) -> None:
    """With their name."""
    with pytest.raises(DataError, match=said) as caught:
        read_bytes(change(sheet(results).packed))
    assert "r.parquet" in str(caught.value)


def test_other_parquet_is_no_result(tmp_path: Path) -> None:
    """A column that is none of results, or the version of another program."""
    for table, said in (
        (pa.table({"x": [1]}), "needs at least the columns"),
        (pa.table({"kernel": ["rbf"], "C": [1.0], "lo_rate": [1.0]}), "'lo_rate'"),
    ):
        out = io.BytesIO()
        pq.write_table(table, out)
        with pytest.raises(DataError, match=said):
            read_bytes(out.getvalue())
    newer = pa.table({"kernel": ["rbf"], "C": [1.0]}).replace_schema_metadata(
        {"msvm-select": '{"schema_version": 2}'}
    )
    out = io.BytesIO()
    pq.write_table(newer, out)
    with pytest.raises(DataError, match="schema_version 2"):
        read_bytes(out.getvalue())


def test_commands_read_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``rank`` (from stdin too), ``plot`` and ``fit --from``; other answers are
    written so as well."""
    monkeypatch.chdir(tmp_path)
    assert run("sweep", IRIS, *GRID, "-o", "r.parquet").exit_code == 0
    whole = Path("r.parquet").read_bytes()
    by_file = run("rank", "r.parquet", "--by", "n_sv", "--format", "csv")
    piped = run("rank", "-", "--by", "n_sv", "--format", "csv", input=whole)
    assert by_file.stdout == piped.stdout
    assert by_file.stdout.count("\n") == 5
    assert run("plot", "r.parquet", "--ascii").exit_code == 0
    fitted = run("fit", IRIS, "--from", "r.parquet", "-o", "m.json")
    assert fitted.exit_code == 0, fitted.stderr
    again = run("rank", "r.parquet", "--format", "parquet", "-q")
    assert again.stdout_bytes.startswith(b"PAR1")
    assert run("loo", IRIS, "--C", "1", "-q", "-o", "loo.parquet").exit_code == 0
    table = pq.read_table("loo.parquet")
    assert table.num_rows == 150
    assert pa.types.is_floating(table.schema.field("margin").type)


def test_without_pyarrow_it_is_said_before_any_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the line that brings it."""
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    found = run("sweep", IRIS, *GRID, "-o", tmp_path / "r.parquet")
    assert found.exit_code == 1
    assert "pip install 'msvm-select[io]'" in found.stderr
    assert not (tmp_path / "r.parquet").exists()
