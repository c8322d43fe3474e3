"""What a sweep keeps, so that its page trains nothing again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from msvm_select.left_out import LeftOut
from msvm_select.model.examined import judged
from msvm_select.names import SOLVERS
from msvm_select.records import Dataset, Dual
from msvm_select.settings import settings_from
from msvm_select.solution import Solution
from msvm_select.solvers.exact.solver import Exact
from msvm_select.sweep.cells import MOST, Kept
from msvm_select.sweep.loop import gather, iterate
from tests.conftest import DATA, run

GRID = {"C": "0.25,1,4,16", "gamma": "0.125,0.5"}


class Counting(Exact):
    """The exact solver, which counts its trainings and its leave-one-outs."""

    name: ClassVar[str] = "counting"
    solved: ClassVar[list[float]] = []
    left: ClassVar[list[int]] = []

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """As exact does."""
        self.solved.append(dual.C)
        return super().solve(dual, start)

    def leave_out(self, solution: Solution, **options: Any) -> LeftOut:
        """As exact does."""
        self.left.append(solution.dual.m)
        return super().leave_out(solution, **options)


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOLVERS, "counting", Counting)
    Counting.solved.clear()
    Counting.left.clear()


@pytest.mark.parametrize("rule", ["best", "1se", "simplest"])
def test_the_page_of_a_sweep_trains_nothing_again(rule: str, tmp_path: Path) -> None:
    """As many trainings as cells; leave-one-out once more, where margins lack."""
    path, options = tmp_path / "page.html", ["--quiet", "--solver", "counting"]
    grid = ["--C", "0.25,1,4", "--gamma", "0.1,0.5", "--select", rule]
    line = ["sweep", str(DATA / "iris.csv"), *options, *grid, "--report", str(path)]
    done = run(*line)
    assert done.exit_code == 0, done.stderr
    assert 'id="confusion"' in path.read_text(encoding="utf-8")
    assert len(Counting.solved) == 6
    assert len(Counting.left) <= 7


@pytest.mark.parametrize("criteria", ["loo,sv-rate", "sv-rate"])
@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("rule", ["best", "simplest"])
def test_what_was_kept_is_what_a_training_gives(
    criteria: str, loss: str, rule: str, data: Dataset
) -> None:
    """The chosen cell from memory, and trained anew, judge every sample alike."""
    grid = {**GRID, "loss": loss, "criteria": criteria, "select": rule}
    settings = settings_from({**grid, "solver": "counting"})
    kept = Kept(settings)
    rows = list(iterate(data, settings, kept))
    row = gather(data, settings, rows).chosen
    assert row is not None
    trained = len(Counting.solved)
    ours = judged(data, settings, row, kept.of(row))
    assert len(Counting.solved) == trained
    anew = judged(data, settings, row)
    assert (ours.left_out.predicted == anew.left_out.predicted).all()
    assert ours.solution.gap == pytest.approx(anew.solution.gap, abs=1e-9)
    np.testing.assert_allclose(ours.left_out.margins, anew.left_out.margins, atol=1e-6)


def test_memory_is_bounded(data: Dataset) -> None:
    """Of many cells that tie, MOST and the best; of one best, one; no Gram matrix."""
    grid = {"C": "1e-6:1e-5:40", "gamma": 1, "criteria": "sv-rate"}
    for rule, most in (("best", 1), ("simplest", MOST + 1)):
        settings = settings_from({**grid, "select": rule})
        kept = Kept(settings)
        assert len(list(iterate(data, settings, kept))) == 40
        assert 1 <= len(kept.cells) <= most
        for cell in kept.cells.values():
            assert cell.trained.solution.dual.gram.whole is None


def test_json_results_hold_what_the_test_of_each_gram_matrix_found(
    tmp_path: Path,
) -> None:
    """One entry a kernel setting, smooth first; ``rank`` writes it again."""
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    line = ["sweep", str(DATA / "iris.csv"), "--criteria", "sv-rate", "--C", "1"]
    line += ["--gamma", "0.5,0.1", "--jobs", "2", "-o", str(first)]
    done = run(*line)
    assert "eigenvalue" not in done.stderr
    told = run(*line, "--verbose").stderr
    assert told.count("smallest eigenvalue of the Gram matrix") == 2
    gram = json.loads(first.read_text())["gram"]
    assert [test["gamma"] for test in gram] == [0.1, 0.5]
    assert [test["indefinite"] for test in gram] == [False, False]
    assert all(abs(test["smallest_eigenvalue"]) < 1e-6 for test in gram)
    run("rank", str(first), "-o", str(again))
    assert json.loads(again.read_text())["gram"] == gram


def test_an_indefinite_gram_matrix_is_told(tmp_path: Path) -> None:
    """Its eigenvalue, on stderr and in the JSON, since its cells are refused."""
    out = tmp_path / "out.json"
    line = ["sweep", str(DATA / "iris.csv"), "--kernel", "sigmoid", "--gamma", "1"]
    done = run(*line, "--C", "1", "-o", str(out))
    assert done.exit_code == 4
    assert "smallest eigenvalue of the Gram matrix -" in done.stderr
    assert json.loads(out.read_text())["gram"][0]["indefinite"] is True
