"""What moved between two runs, and when that is a failure."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from msvm_select.columns import Row
from msvm_select.results.compare import Against, rise
from msvm_select.results.ranking import Results, rank
from tests.conftest import render
from tests.conftest import run as command

run = partial(command, "rank")


def row(C: float, loo_rate: float | None, **columns: Any) -> Row:
    """A trained rbf cell."""
    point = {"kernel": "rbf", "gamma": 0.5, "n_samples": 100, "n_classes": 3}
    return Row(**{**point, "C": C, "loo_rate": loo_rate, **columns})


def ranked(*rows: Row) -> Results:
    """By the leave-one-out rate."""
    return Results(rank(rows, "loo"), "loo")


BEFORE = (row(1.0, 0.10), row(2.0, 0.20), row(4.0, 0.30), row(8.0, 0.40))
AFTER = (
    row(1.0, 0.15),
    row(2.0, 0.20, solver="smo"),
    row(4.0, 0.20),
    row(16.0, 0.50),
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The two runs as csv: after, before."""
    paths = tmp_path / "after.csv", tmp_path / "before.csv"
    for path, rows in zip(paths, (AFTER, BEFORE), strict=True):
        path.write_text(render(ranked(*rows), "csv"))
    return paths


def test_what_moved_comes_the_largest_first() -> None:
    """Then the cells of one run only; those that stayed are left out."""
    moves = Against(ranked(*BEFORE), ranked(*AFTER)).moves
    assert [(pair.row.C, pair.moved) for pair in moves] == [
        (4.0, "better"),
        (1.0, "worse"),
        (16.0, "only now"),
        (8.0, "only before"),
    ]
    assert moves[0].change == pytest.approx(-0.10)
    assert (moves[1].before, moves[1].after) != (None, None)


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        (row(1.0, 0.1), row(1.0, 0.1, status="not_converged"), "status"),
        (row(1.0, 0.1), row(1.0, None), "value lost"),
        (row(1.0, None), row(1.0, 0.1), "value new"),
        (row(0.3, 0.1), row(0.1 + 0.2, 0.1 + 1e-9), ""),
        (row(1.0, None, status="failed"), row(1.0, None, status="failed"), ""),
        (row(1.0, 0.1), row(1.0, 0.1, seconds=9.0, solver="qp"), ""),
    ],
)
def test_a_cell_moves_by_status_or_value_beyond_the_noise(
    before: Row, after: Row, moved: str
) -> None:
    """Rounding of the grid and of the value is none, nor is another solver."""
    (pair,) = Against(ranked(before), ranked(after)).pairs
    assert pair.moved == moved


def test_another_loss_is_another_cell() -> None:
    """The row of the squared loss is not that of the hinge."""
    pairs = Against(ranked(row(1.0, 0.1)), ranked(row(1.0, 0.1, loss="l2"))).pairs
    assert sorted(pair.moved for pair in pairs) == ["only before", "only now"]


def test_the_best_may_not_get_worse() -> None:
    """By more than the tolerance; noise is not worse, no best at all is."""
    against = Against(ranked(*BEFORE), ranked(*AFTER))
    assert against.change == pytest.approx(0.05)
    assert "0.15 of the best cell (rbf gamma=0.5 C=1)" in str(against.worsened(0.01))
    assert "more than 0.01" in str(against.worsened(0.01))
    assert against.worsened(0.0501) is None
    assert Against(ranked(*AFTER), ranked(*BEFORE)).worsened() is None
    failed = ranked(*(replace(r, status="failed") for r in BEFORE))
    assert "no cell has a score by loo now" in str(
        Against(against.before, failed).worsened()
    )
    assert Against(failed, against.after).worsened() is None
    assert rise(1.0, 1.0 + 1e-9) == 0.0


def test_kendall_is_of_the_cells_in_both() -> None:
    """1 where the order is kept, -1 where it is turned round, none for one cell."""
    turned = ranked(*(row(r.C, -(r.loo_rate or 0.0)) for r in BEFORE))
    same = ranked(*BEFORE)
    assert Against(same, same).kendall == pytest.approx(1.0)
    assert Against(same, turned).kendall == pytest.approx(-1.0)
    assert Against(same, ranked(BEFORE[0])).kendall is None


def test_the_command_shows_and_fails(files: tuple[Path, Path]) -> None:
    """Exit 1 with the reason; 0 within the tolerance; the first few by --top."""
    after, before = files
    found = run(after, "--against", before)
    assert found.exit_code == 1
    assert found.stderr.startswith("Gate failed: loo_rate 0.15 of the best cell")
    assert "rbf gamma=0.5 C=1 (0.15) now: 0.05 worse" in found.stdout
    assert "Of 3 cells in both 2 moved; 1 only before, 1 only now" in found.stdout
    allowed = run(after, "--against", before, "--tolerance", "0.1", "--top", "1")
    assert (allowed.exit_code, allowed.stderr) == (0, "")
    assert "3 more moved" in allowed.stdout
    assert run(before, "--against", after).exit_code == 0
    assert run(before, "--against", before).stdout.startswith("Best by loo")


def test_the_formats_have_the_same_moves(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """One row a cell that moved; json has the best and the counts too."""
    after, before = files
    out = tmp_path / "moved.json"
    assert run(after, "--against", before, "-o", out).exit_code == 1
    found = json.loads(out.read_text())
    counts = {"both": 3, "moved": 2, "only_before": 1, "only_now": 1}
    assert found["cells"] == counts
    assert found["best"]["after"]["C"] == 1.0
    lines = run(after, "--against", before, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(lines.stdout)))
    assert [r["moved"] for r in rows] == [r["moved"] for r in found["rows"]]
    assert "Of 3 cells in both" in lines.stderr


def test_what_cannot_be_compared_is_said(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """A criterion that one file lacks, with the file; other data, as a warning."""
    after, before = files
    other = tmp_path / "other.csv"
    other.write_text(render(ranked(row(1.0, 0.5, n_samples=90)), "csv"))
    assert "n_samples was 90 and is 100 now" in run(after, "--against", other).stderr
    other.write_text(render(ranked(row(1.0, None, sv_rate=0.5)), "csv"))
    refused = run(after, "--against", other)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"The file is {other}" in refused.stderr
    for wrong in (("--tolerance", "1"), ("--against", before, "--tolerance", "-1")):
        refused = run(after, *wrong)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "tolerance" in refused.stderr
