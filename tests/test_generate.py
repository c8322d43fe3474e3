"""The artificial data: the law, the seed, the file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from msvm_select.cli.generate import command
from msvm_select.data.read import load_csv
from msvm_select.errors import SettingsError
from msvm_select.generate import CENTRES, VARIANCES, as_csv, generate, three_gaussians
from tests.conftest import DATA


def test_law() -> None:
    """Means and covariances are those stated, within five standard errors."""
    m = 20_000
    dataset = three_gaussians(m, seed=3)
    for k, (centre, variance) in enumerate(zip(CENTRES, VARIANCES, strict=True)):
        X = dataset.X[dataset.y == k]
        assert X.shape == (m, 2)
        error = 5 * np.sqrt(variance / m)
        assert np.abs(X.mean(axis=0) - centre).max() < error
        away = np.cov(X.T) - variance * np.eye(2)
        assert np.abs(away).max() < 5 * variance * np.sqrt(2 / m)


def test_centres_are_an_equilateral_triangle() -> None:
    """The centres are 5 from the origin and equally far from each other."""
    centres = np.array(CENTRES)
    assert np.allclose(np.linalg.norm(centres, axis=1), 5.0)
    sides = [np.linalg.norm(centres[k] - centres[k - 1]) for k in range(3)]
    assert np.allclose(sides, sides[0])


def test_seed() -> None:
    """A seed repeats its data; another one does not; more points keep the first."""
    first = three_gaussians(5, seed=1)
    assert np.array_equal(first.X, three_gaussians(5, seed=1).X)
    assert not np.array_equal(first.X, three_gaussians(5, seed=2).X)
    assert np.array_equal(first.X[5:10], three_gaussians(9, seed=1).X[9:14])


def test_csv_round_trip() -> None:
    """The written file gives back every digit."""
    dataset = three_gaussians(7, seed=5)
    back = load_csv(io.BytesIO(as_csv(dataset).encode()))
    assert np.array_equal(back.X, dataset.X)
    assert np.array_equal(back.y, dataset.y)
    assert (back.classes, back.features) == (("1", "2", "3"), ("x1", "x2"))


def test_file_in_data() -> None:
    """data/three_gaussians.csv is what the defaults generate."""
    assert (DATA / "three_gaussians.csv").read_text() == as_csv(three_gaussians())


def test_unknown_name() -> None:
    """A misspelt problem is told with its neighbour."""
    with pytest.raises(SettingsError, match="did you mean 'three-gaussians'"):
        generate("three-gausians")


def test_command(tmp_path: Path) -> None:
    """The command writes to standard output, or whole to a file."""
    run = CliRunner().invoke(command, ["three-gaussians", "--per-class", "2"])
    assert run.exit_code == 0
    assert run.stdout == as_csv(three_gaussians(2))
    out = tmp_path / "out.csv"
    options = ["three-gaussians", "--per-class", "3", "--seed", "4", "-o", str(out)]
    run = CliRunner().invoke(command, options)
    assert (run.exit_code, run.stdout) == (0, "")
    assert out.read_text() == as_csv(three_gaussians(3, seed=4))
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_command_usage() -> None:
    """No samples at all is a mistake of usage."""
    run = CliRunner().invoke(command, ["three-gaussians", "--per-class", "0"])
    assert run.exit_code == 2
