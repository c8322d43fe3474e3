"""Rows whose class may be a mistake, and the outputs that tell."""

import csv
import io
import json

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from msvm_select.kernels.rbf import Rbf
from msvm_select.model.examined import leave_one_out
from msvm_select.model.suspects import suspects
from msvm_select.records import Dataset, Scaling
from msvm_select.settings import settings_from
from msvm_select.train.along_C import train_cell
from tests.conftest import IRIS, blobs, run

CELL = ("--C", "1", "--gamma", "0.25")
SLOW = [pytest.param(load_digits, m, marks=pytest.mark.slow) for m in ("ww", "ovo")]


def flipped(bunch, share, seed):
    """The data with a share of the labels turned to others, and which ones."""
    rng = np.random.default_rng(seed)
    y, m = bunch.target.astype(np.int64), bunch.target.size
    Q = int(y.max()) + 1
    rows = rng.choice(m, round(share * m), replace=False)
    y = y.copy()
    y[rows] = (y[rows] + rng.integers(1, Q, rows.size)) % Q
    names = tuple(f"x{j}" for j in range(bunch.data.shape[1]))
    classes = tuple(map(str, range(Q)))
    return Dataset(bunch.data.astype(float), y, classes, names), rows


def report(data, **said):
    """The leave-one-out of a cell."""
    asked = settings_from({"C": 1.0, "gamma": "scale", **said})
    return leave_one_out(train_cell(data, asked), asked)


@pytest.mark.parametrize(
    ("load", "machine"), [(load_wine, "ww"), (load_wine, "ovo"), *SLOW]
)
def test_turned_labels_are_found(load, machine):
    """Of 5 % turned labels at least 80 % are among the first 7 % of the rows."""
    for seed in range(1 if load is load_digits else 3):
        data, rows = flipped(load(), 0.05, seed)
        first = [one.sample for one in suspects(report(data, machine=machine))]
        assert np.isin(rows, first[: int(0.07 * data.m)]).mean() >= 0.8


@pytest.mark.parametrize("machine", ["ww", "ovo", "ova"])
def test_who_speaks_against_a_row(machine):
    """Rows of other classes, by what they add to the lead of the predicted one."""
    problem = blobs(60, 3, seed=2, spread=1.0)
    data = problem.dataset()
    told = report(data, machine=machine, gamma=0.3)
    X = Scaling.fit(data.X, "standard").apply(data.X)
    K, solution, y = Rbf(0.3).gram(X).matrix, told.solution, data.y
    found = suspects(told)
    assert [one.sample for one in found] != []
    assert {one.sample for one in found} == set(np.flatnonzero(told.left_out.wrong))
    margins = [one.margin for one in found]
    assert margins == sorted(margins)
    for one in found:
        p, k = one.sample, one.k
        assert k == told.left_out.predicted[p]
        if machine == "ww":
            c = [
                K[p, j] * (solution.tau[j, k] - solution.tau[j, y[p]])
                for j in range(60)
            ]
        else:
            alpha = solution.alpha
            c = K[p] * np.where(y == k, alpha[:, y[p]], 0.0)
            if machine == "ova":
                sign = np.where(y[:, None] == np.arange(3), alpha, -alpha)
                c = K[p] * (sign[:, k] - sign[:, y[p]])
        c = np.where(y == y[p], 0.0, c)
        assert sorted(c[one.against], reverse=True) == pytest.approx(
            sorted(c, reverse=True)[: len(one.against)]
        )
        assert (y[one.against] != y[p]).all()
        assert 0.0 < one.weight <= 1.0


def test_the_outputs_of_every_class():
    """--scores: the same rows with a column a class, whose largest is predicted."""
    for machine in ("ww", "ovo", "ova"):
        line = ("loo", IRIS, *CELL, "--machine", machine, "--format", "csv")
        plain, told = (
            list(csv.DictReader(io.StringIO(run(*line, *more).stdout)))
            for more in ((), ("--scores",))
        )
        classes = ("setosa", "versicolor", "virginica")
        for row, other in zip(told, plain, strict=True):
            h = {name: float(row.pop(name)) for name in classes}
            assert row == other
            assert max(h, key=h.__getitem__) == row["predicted"]
            if machine == "ww":
                own = h.pop(row["class"])
                assert own - max(h.values()) == pytest.approx(float(row["margin"]))


def test_suspects_on_the_line():
    """The wrong rows alone, by margin; with names of others; JSON has them, too."""
    table = run("loo", IRIS, *CELL, "--suspects").stdout
    assert "speak against it" in table
    assert "6 of 150 rows are put in another class" in table
    told = json.loads(run("loo", IRIS, *CELL, "--suspects", "--format", "json").stdout)
    rows = told["rows"]
    assert len(rows) == told["summary"]["loo_errors"] == 6
    assert rows[0]["against"] == "135;128;125"
    both = run("loo", IRIS, *CELL, "--suspects", "--scores", "--format", "csv").stdout
    header = both.splitlines()[0]
    assert header.endswith("setosa,versicolor,virginica,weight,against")


def test_no_suspects(tmp_path):
    """Where none is wrong, a sentence says so."""
    file = tmp_path / "two.csv"
    lines = [f"{x},{'ab'[x > 5]}" for x in (1, 2, 3, 11, 12, 13)]
    file.write_text("\n".join(["x,class", *lines]) + "\n")
    told = run("loo", file, "--kernel", "linear", "--suspects")
    assert told.exit_code == 0
    assert "None of 6 rows" in told.stdout


def test_a_class_that_is_named_like_a_column(tmp_path):
    """Refused for --scores by name; the rest of the answer does not mind."""
    file = tmp_path / "odd.csv"
    lines = [f"{x},{('margin', 'b')[x % 2]}" for x in range(12)]
    file.write_text("\n".join(["x,class", *lines]) + "\n")
    refused = run("loo", file, "--scores")
    assert refused.exit_code == 2
    assert "name 'margin'" in refused.stderr
    assert run("loo", file).exit_code == 0
