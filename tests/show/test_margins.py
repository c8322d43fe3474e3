"""Pairwise margins, Proposition 2, and the command ``margins``."""

from __future__ import annotations

import csv
import io
import json
from functools import partial

import numpy as np
import pytest

from msvm_select.geometry.margins import pair_margins, proposition_2, weight_distances
from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.names import SOLVERS
from msvm_select.records import Dual
from msvm_select.show.answers.cell import MARGINS
from tests.conftest import DATA, PROBLEMS, Problem, table
from tests.conftest import run as command
from tests.model.test_model import Idle

run = partial(command, "margins")

SOLVER = SOLVERS["exact"]()


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("C", [0.3, 1e5])
def test_margins_are_distances_to_the_hyperplanes(name, C):
    """gamma_kl is the least signed distance, with w_k written out (linear kernel)."""
    problem: Problem = PROBLEMS[name]
    s = SOLVER.solve(problem.dual(Linear(), C))
    W = s.tau.T @ problem.X
    scale = np.linalg.norm(W, axis=1).max()
    for pair in pair_margins(s):
        k, l = pair.k, pair.l
        w, b = W[k] - W[l], s.b[k] - s.b[l]
        h = problem.X @ w + b
        of_k, of_l = h[problem.y == k].min(), -h[problem.y == l].max()
        assert pair.margin_k == pytest.approx(of_k, abs=1e-6)
        assert pair.margin_l == pytest.approx(of_l, abs=1e-6)
        assert pair.delta == pytest.approx(min(of_k, of_l) - 1.0, abs=1e-6)
        assert pair.distance == pytest.approx(np.linalg.norm(w), abs=1e-5 * scale)
        if np.linalg.norm(w) > 1e-4 * scale:
            expected = min(of_k, of_l) / np.linalg.norm(w)
            assert pair.gamma == pytest.approx(expected, rel=1e-4, abs=1e-8)
        assert (problem.y[pair.closest_k] == k).all()
        assert (problem.y[pair.closest_l] == l).all()


def test_every_pair_of_classes_once():
    """Q (Q - 1) / 2 pairs, k < l."""
    problem = PROBLEMS["six"]
    s = SOLVER.solve(problem.dual(Rbf(0.5), 10.0))
    pairs = [(pair.k, pair.l) for pair in pair_margins(s)]
    assert pairs == [(k, l) for k in range(6) for l in range(k + 1, 6)]


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_hard_margin_pairs_touch(name):
    """Where a pair shares support vectors, the closest lie at margin 1: delta = 0."""
    X, y = table(name)
    s = SOLVER.solve(Dual(Rbf(1.0).gram(X), y, 3, 1e5))
    for pair in pair_margins(s):
        assert pair.delta == pytest.approx(0.0, abs=1e-8)
        assert pair.gamma == pytest.approx(1.0 / pair.distance, rel=1e-8)
        assert pair.closest_k.size > 1


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_proposition_2(name, C):
    """Its four numbers agree, the slack's share of sum alpha taken off."""
    s = SOLVER.solve(PROBLEMS[name].dual(Rbf(0.7), C))
    four = proposition_2(s)
    assert four.disagreement <= 1e-8
    if s.hard_margin:
        assert four.sum_alpha == pytest.approx(s.sum_alpha, rel=1e-8)


def test_weights_that_coincide_are_at_distance_zero():
    """Classes without a support vector both have w = 0, told by the biases alone."""
    X = np.array([[-7.0, 0], [-6, 1], [6, 1], [7, 0], [0, -2]])
    s = SOLVER.solve(Dual(Linear().gram(X), np.array([0, 1, 1, 2, 3]), 4, 1e4))
    distances = weight_distances(s)
    assert distances[3] == pytest.approx(np.linalg.norm(s.tau.T @ X, axis=1), abs=1e-7)
    pair = next(pair for pair in pair_margins(s) if (pair.k, pair.l) == (1, 3))
    assert pair.gamma == pytest.approx((1.0 + pair.delta) / pair.distance)


def test_every_format_holds_every_pair():
    """csv and json have the same rows, unrounded; a table names the closest lines."""
    cell = (DATA / "wine.csv", "--kernel", "linear", "--C", 1000)
    found = run(*cell, "--format", "csv", "-q")
    assert found.exit_code == 0, found.stderr
    assert found.stderr == ""
    rows = list(csv.DictReader(io.StringIO(found.stdout)))
    assert tuple(rows[0]) == tuple(look.name for look in MARGINS)
    assert len(rows) == 3
    document = json.loads(run(*cell, "--format", "json").stdout)
    assert [str(row["gamma"]) for row in document["rows"]] == [r["gamma"] for r in rows]
    assert document["summary"]["C"] == 1000
    assert "criteria" not in document["settings"]
    text = run(*cell).stdout
    assert "gamma_kl" in text
    assert "closest of l" in text.splitlines()[0]
    assert "named by line." in text
    assert "Certificate: relative gap" in text
    for form in ("tsv", "ndjson", "markdown"):
        assert run(*cell, "--format", form).exit_code == 0


def test_samples_are_named_by_id(tmp_path):
    """With an id column the closest samples are its names; -o writes the file."""
    path, out = tmp_path / "named.csv", tmp_path / "margins.csv"
    path.write_text("who,x,class\nann,0,a\nbob,1,a\ncat,3,c\ndan,9,c\n")
    result = run(path, "--id-column", "who", "--kernel", "linear", "--C", 99, "-o", out)
    assert result.exit_code == 0, result.stderr
    (row,) = csv.DictReader(io.StringIO(out.read_text(encoding="utf-8")))
    assert (row["closest_k"], row["closest_l"]) == ("bob", "cat")
    assert "Written:" in result.stderr


def test_a_machine_that_did_not_converge_is_told(monkeypatch):
    """Exit 5, with the rows shown and the reason said."""
    monkeypatch.setitem(SOLVERS, "exact", Idle)
    result = run(DATA / "iris.csv", "--C", 512)
    assert result.exit_code == 5
    assert "did not converge" in result.stderr
    assert "gamma_kl" in result.stdout
