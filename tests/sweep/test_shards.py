"""Shards: parts of a sweep that together are the whole, and their journals merged."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from msvm_select.columns import Row
from msvm_select.errors import DataError, SettingsError
from msvm_select.records import Dataset
from msvm_select.settings import Settings, settings_from, sweep_settings
from msvm_select.settings.layers import Layer
from msvm_select.sweep.costs import as_a_rule
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.loop import iterate, run_sweep
from msvm_select.sweep.merge import merged
from msvm_select.sweep.shards import parts, share_of
from tests.conftest import IRIS, crossed, run

GRID = ("--C", "1,8,64", "--gamma", "2^-7:2^-3:2", "-q")


def settings(**values: Any) -> Settings:
    """Three kernel settings and four values of C, the last beyond hard margin."""
    grid = {"C": "0.5,10,1000,1e6", "gamma": "0.5,1,5", "criteria": "loo"}
    return settings_from({**grid, **values})


def untimed(rows: Any) -> dict[Any, Row]:
    """Rows by their cells, but for what differs from run to run."""
    return {row.cell: replace(row, seconds=None) for row in rows}


@pytest.mark.parametrize("kernels", [1, 2, 5, 13])
@pytest.mark.parametrize("Cs", [1, 3, 8])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 120])
def test_every_cell_is_in_one_part(kernels: int, Cs: int, count: int) -> None:
    """In one only; each machine deals alike; whole settings while there are enough."""
    found = parts(kernels, Cs, count)
    assert found == parts(kernels, Cs, count)
    assert len(found) == count
    cells = [(i, j) for part in found for i, places in part.items() for j in places]
    assert sorted(cells) == [(i, j) for i in range(kernels) for j in range(Cs)]
    if count <= kernels:
        assert all(places == range(Cs) for part in found for places in part.values())
    else:
        assert all(len(part) <= 1 for part in found)


@pytest.mark.parametrize("kernels", [8, 20, 60])
@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_the_parts_cost_alike(kernels: int, count: int) -> None:
    """By the model: no part is above the mean by more than one kernel setting."""
    costs = as_a_rule(kernels)
    assert costs[-1] > 3.0 * costs[0]
    loads = [sum(costs[i] for i in part) for part in parts(kernels, 4, count)]
    assert max(loads) <= sum(loads) / count + max(costs) * (1.0 - 1.0 / count) + 1e-9


@pytest.mark.parametrize(
    ("values", "count"),
    crossed(
        [{}, {"machine": "ovo"}, {"criteria": "loo,cv:3"}, {"warm_start": False}],
        [2, 5, 14],
    ),
)
def test_rows_are_those_of_the_whole(
    data: Dataset, count: int, values: dict[str, Any]
) -> None:
    """To the last bit, whichever machine does them; also where C is cut."""
    asked = settings(**values)
    found: dict[Any, Row] = {}
    for number in range(1, count + 1):
        part = replace(asked, shard=f"{number}/{count}")
        rows = untimed(iterate(data, part))
        assert not rows.keys() & found.keys()
        found |= rows
    assert found == untimed(iterate(data, asked))


def test_share_of_no_shard_is_all() -> None:
    """And a shard beyond the cells has none."""
    assert share_of(None, "ab", [1.0, 2.0]) == {"a": (1.0, 2.0), "b": (1.0, 2.0)}
    assert share_of("5/5", "ab", [1.0, 2.0]) == {}


@pytest.mark.parametrize(
    "text", ["3", "0/2", "3/2", "a/b", "1/", "/2", "-1/2", "1/2/3"]
)
def test_a_shard_of_no_form_is_refused(text: str) -> None:
    """With the form."""
    with pytest.raises(SettingsError, match="the I-th of N parts"):
        settings(shard=text)


def test_a_part_does_not_widen_its_grid() -> None:
    """Nor does it learn: it does not know the best cell of the whole."""
    assert sweep_settings([Layer({"shard": "1/2"})]).extend == 0
    for other in ({"extend": 1}, {"time_budget": "10s"}):
        with pytest.raises(SettingsError, match="a part of a sweep does not know"):
            settings(shard="1/2", **other)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three parts of a sweep of iris, in part1.ndjson and so on; whole.json."""
    folder = tmp_path_factory.mktemp("swept")
    for number in (1, 2, 3):
        line = ("--shard", f"{number}/3", "--journal", folder / f"part{number}.ndjson")
        assert run("sweep", IRIS, *GRID, *line).exit_code == 0
    assert run("sweep", IRIS, *GRID, "-o", folder / "whole.json").exit_code == 0
    return folder


@pytest.fixture
def folder(swept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of them, to work in."""
    shutil.copytree(swept, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def document(path: str) -> Any:
    """A json of results, without what differs from run to run."""
    found = json.loads(Path(path).read_text())
    found.pop("gram", None)  # no journal tells it
    return found | {"rows": [{**row, "seconds": 0} for row in found["rows"]]}


PARTS = ("part1.ndjson", "part2.ndjson", "part3.ndjson")


def test_merged_parts_are_the_sweep(folder: Path) -> None:
    """The same file, whatever the order; chosen by another rule if it is asked for."""
    shuffled = random.Random(1).sample(PARTS, 3)
    found = run("merge", *shuffled, "-o", "merged.json", "-q")
    assert found.exit_code == 0, found.stderr
    assert document("merged.json") == document("whole.json")
    fitted = run("fit", IRIS, "--from", "merged.json", "-q", "-o", "m.json")
    assert fitted.exit_code == 0, fitted.stderr
    gate = run("merge", *PARTS, "--select", "1se", "--fail-above", "0.001", "-q")
    assert gate.exit_code == 1
    assert "Gate failed: loo_rate" in gate.stderr
    assert "chosen by 1se" in gate.stdout


def test_what_is_missing_is_named(folder: Path) -> None:
    """Shards without a journal, cells that a shard did not come to; --partial."""
    lines = Path(PARTS[2]).read_text().splitlines(keepends=True)
    Path(PARTS[2]).write_text("".join(lines[:-1]) + lines[-1][:20])
    found = run("merge", PARTS[0], PARTS[2], "-o", "merged.json")
    assert found.exit_code == 1
    assert "no journal of 1 shard: 2/3" in found.stderr
    assert "of 6 cells: rbf gamma=" in found.stderr
    assert not Path("merged.json").exists()
    partial = run("merge", PARTS[0], PARTS[2], "--partial", "-o", "merged.json")
    assert partial.exit_code == 0
    assert "2/3" in partial.stderr
    assert 0 < len(document("merged.json")["rows"]) < 6


def test_a_cell_may_be_there_twice_if_it_is_the_same(folder: Path) -> None:
    """But for rounding and time; where it differs both files and columns are named."""
    shutil.copy(PARTS[0], "again.ndjson")
    found = merged([*PARTS, "again.ndjson"])
    assert len(found.results.rows) == 6
    assert "came twice, and alike" in found.notes[-1]
    head, line, *rest = Path(PARTS[0]).read_text().splitlines(keepends=True)
    row = json.loads(line)
    row |= {"seconds": 9.0, "gap": 1e-9, "sum_alpha": row["sum_alpha"] * (1 + 1e-9)}
    Path("again.ndjson").write_text(head + json.dumps(row) + "\n" + "".join(rest))
    assert len(merged([*PARTS, "again.ndjson"]).results.rows) == 6
    row |= {"loo_errors": row["loo_errors"] + 1}
    Path("again.ndjson").write_text(head + json.dumps(row) + "\n")
    with pytest.raises(DataError, match=r"(?s)again.*part1.*loo_errors: "):
        merged([*PARTS, "again.ndjson"])


def test_journals_of_other_sweeps_are_refused(
    folder: Path, data: Dataset, tmp_path: Path
) -> None:
    """By name: other data, other settings, another grid; a file that is no journal."""
    for values, said in (
        ({"scale": "minmax"}, "scale: the journal has minmax; part1.ndjson has standa"),
        ({"C": "1,8"}, "C: the journal has 1, 8; part1.ndjson has 1, 8, 64"),
    ):
        Path("other.ndjson").unlink(missing_ok=True)
        grid = {"C": "1,8,64", "gamma": "2^-7:2^-3:2", "shard": "1/3", **values}
        run_sweep(str(IRIS), journal=Journal("other.ndjson"), **grid)
        with pytest.raises(SettingsError, match="journal of another sweep") as caught:
            merged([PARTS[0], "other.ndjson"])
        assert said in str(caught.value)
    run_sweep(data, settings(), journal=Journal("data.ndjson"))
    with pytest.raises(DataError, match="samples of the data"):
        merged([PARTS[0], "data.ndjson"])
    with pytest.raises(DataError, match=r"whole\.json is no journal of a sweep"):
        merged([PARTS[0], "whole.json"])


def test_shards_on_the_line(folder: Path) -> None:
    """A journal is needed; an empty part says so; what is done is not done again."""
    found = run("sweep", IRIS, *GRID, "--shard", "1/2")
    assert found.exit_code == 2
    assert "needs --journal FILE" in found.stderr
    line = ("--shard", "9/9", "--journal", "empty.ndjson")
    empty = run("sweep", IRIS, *GRID[:-1], *line)
    assert empty.exit_code == 0
    assert "Shard 9/9 is empty" in empty.stderr
    assert run("merge", "empty.ndjson").exit_code == 3
    assert run("merge", *PARTS, "empty.ndjson", "-q").exit_code == 0
    Path("all.ndjson").write_text("".join(Path(part).read_text() for part in PARTS))
    again = run("sweep", IRIS, *GRID[:-1], "--journal", "all.ndjson", "--resume")
    assert "has 6 finished cells" in again.stderr
    with pytest.raises(DataError, match="no finished cell"):
        merged(["empty.ndjson"])
