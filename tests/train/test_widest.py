"""C = inf: the widest margin, or who stands in its way."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from msvm_select.columns import HARD
from msvm_select.errors import NotSeparableError, SettingsError
from msvm_select.records import Dataset
from msvm_select.settings import settings_from
from msvm_select.train.along_C import train_cell
from tests.conftest import IRIS, rows_of, run

LINEAR = {"kernel": "linear", "scale": "none", "C": "inf"}
X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [1.0, 3.0], [5.0, 1.0], [6.0, 1.0]])
Y = np.array([0, 0, 1, 1, 2, 2])


def data(X: np.ndarray, y: np.ndarray) -> Dataset:
    """Two features."""
    return Dataset(X, y, ("a", "b", "c")[: y.max() + 1], ("x1", "x2"))


@pytest.mark.parametrize("machine", ["ww", "ovo", "ova"])
def test_no_alpha_is_at_C(machine: str) -> None:
    """Every sample has margin 1 or more, and the machine is that of any large C."""
    said = settings_from({**LINEAR, "machine": machine})
    widest = train_cell(data(X, Y), said)
    found = widest.solution
    assert widest.C == HARD
    assert (found.converged, found.n_bounded, found.train_errors) == (True, 0, 0)
    large = train_cell(data(X, Y), settings_from({**said.deciding(), "C": 1e4}))
    assert found.dual_objective == pytest.approx(large.solution.dual_objective)
    if machine == "ww":
        assert found.sum_alpha == pytest.approx(found.norm_w_squared)
        assert found.margins.min() == pytest.approx(1.0, abs=1e-6)


def test_two_points_have_the_margin_between_them() -> None:
    """||v|| = 2 / distance, in the notes' scale; ours is half of it in the square."""
    two = data(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0, 1]))
    found = train_cell(two, settings_from(LINEAR)).solution
    assert 2.0 * found.norm_w_squared == pytest.approx((2.0 / 5.0) ** 2)


@pytest.mark.parametrize("machine", ["ww", "ovo", "ova"])
def test_who_stands_in_the_way_is_named(machine: str) -> None:
    """Of two equal samples of two classes one or both; without them all is well."""
    twins, labels = np.vstack([X, X[:1]]), np.append(Y, 1)
    said = settings_from({**LINEAR, "machine": machine})
    with pytest.raises(NotSeparableError, match="in the way") as caught:
        train_cell(data(twins, labels), said)
    named = re.search(r"way: samples? ([\d, ]+)\.", str(caught.value))
    assert named is not None
    at = {int(number) - 1 for number in named[1].split(",")}
    assert at & {0, 6}
    assert at <= {0, 6}
    kept = [i for i in range(7) if i not in at]
    assert train_cell(data(twins[kept], labels[kept]), said).solution.hard_margin


def test_the_command_ends_with_4(tmp_path: Path) -> None:
    """fit and sweep alike; lines of the file are named."""
    table = tmp_path / "t.csv"
    table.write_text("x,class\n0,a\n1,b\n2,a\n3,b\n")
    model = tmp_path / "m.json"
    line = (table, "--kernel", "linear", "--C", "inf")
    done = run("fit", *line, "-o", model)
    assert (done.exit_code, model.exists()) == (4, False)
    assert "stand in the way: lines " in done.stderr
    done = run("sweep", *line, "--format", "csv")
    assert done.exit_code == 4
    (row,) = rows_of(done.stdout)
    assert row["status"] == "failed"
    assert "do not separate" in row["status_reason"]
    assert run("fit", *line, "--degree", "3").exit_code == 2


def test_inf_is_a_value_of_the_grid(tmp_path: Path) -> None:
    """Last of all, told as inf, found again in a file; no grid grows towards it."""
    path = tmp_path / "r.json"
    line = ("sweep", IRIS, "--gamma", 4, "--C", "1,inf")
    done = run(*line, "-o", path)
    assert done.exit_code == 0, done.stderr
    assert [row["C"] for row in json.loads(path.read_text())["rows"]].count(HARD) == 1
    assert "inf" in run("rank", path, "-q").stdout
    assert "--C" not in done.stderr
    assert settings_from({"C": float("inf")}).C == (HARD,)
    with pytest.raises(SettingsError, match="no slacks to square"):
        settings_from({"C": "inf", "loss": "l2"})
