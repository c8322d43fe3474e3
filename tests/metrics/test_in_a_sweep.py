"""Metrics of a sweep: of the pooled answers, ranked, chosen, read again."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as peer

from msvm_select import run_sweep
from msvm_select.columns import column_of
from msvm_select.criteria.cross_validation import Part, folds
from msvm_select.errors import SettingsError
from msvm_select.names import METRICS
from msvm_select.results.reread import read_results
from msvm_select.settings import settings_from
from msvm_select.sweep.journal import Journal
from msvm_select.train.along_C import train_cell
from tests.conftest import blobs, run

EVERY = [name for name in METRICS if name not in ("error", "cost")]
GRID = {"C": (0.5, 4.0), "gamma": (0.1, 1.0), "scale": "none"}
COSTS = "was,a,b,c\na,0,1,5\nb,2,0,1\nc,9,1,0\n"


@pytest.fixture(scope="module")
def data():
    """Three classes that overlap, one of them small."""
    problem = blobs(60, 3, seed=3, spread=1.2)
    keep = np.flatnonzero((problem.y != 2) | (np.arange(60) % 3 == 0))
    return replace(problem, X=problem.X[keep], y=problem.y[keep]).dataset()


@pytest.fixture(scope="module")
def csv(data, tmp_path_factory):
    """The same as a file."""
    path = tmp_path_factory.mktemp("data") / "three.csv"
    lines = [",".join([*data.features, "class"])]
    for x, k in zip(data.X.tolist(), data.y, strict=True):
        lines.append(",".join([*map(repr, x), data.classes[k]]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("machine", ["ww", "ovo", "ova"])
@pytest.mark.parametrize("criterion", ["loo", "cv:4", "holdout:0.4", "train-errors"])
def test_they_are_of_the_pooled_answers(data, machine, criterion):
    """The error that they are of is that of the criterion; each value is finite."""
    found = run_sweep(data, metric=EVERY, criteria=criterion, machine=machine, **GRID)
    column = found.column_of(criterion)
    for row in found.rows:
        wrong, tested = np.sum(row.by_class, axis=0)
        rate = row.train_errors / data.m if column == "train_errors" else None
        assert wrong / tested == pytest.approx(rate or row.value(column))
        missed = [w / m for w, m in row.by_class]
        assert row.balanced_error == pytest.approx(np.mean(missed))
        for name in EVERY:
            one = column_of(name.replace("-", "_"))
            assert np.isfinite(row.value(one.name))
            assert row.value(one.error) >= 0.0
    assert found.settings["metric_of"] == criterion
    values = [row.balanced_error for row in found.rows]
    assert values == sorted(values)


def test_those_of_cross_validation_are_scikit_learns(data):
    """Of all folds together, by the outputs of each fold's machine."""
    asked = settings_from({"C": 2.0, "gamma": 0.3, "scale": "none"})
    cell = train_cell(data, asked).cell
    predicted, leads = np.empty(data.m, int), np.empty((data.m, 3))
    for split in folds(data.y, 4, 0):
        part = Part.of(cell, split).trained(cell)
        h = part.cross @ part.machine.tau + part.machine.b
        predicted[split[1]] = h.argmax(axis=1)
        others = np.where(np.eye(3) > 0, -np.inf, h[:, None, :]).max(axis=2)
        leads[split[1]] = h - others
    row = run_sweep(
        data, asked, metric=("macro-f1", "balanced-error", "auc"), criteria="cv:4"
    ).rows[0]
    y = data.y
    assert row.macro_f1 == pytest.approx(peer.f1_score(y, predicted, average="macro"))
    balanced = peer.balanced_accuracy_score(y, predicted)
    assert row.balanced_error == pytest.approx(1.0 - balanced)
    areas = [peer.roc_auc_score(y == k, leads[:, k]) for k in range(3)]
    assert row.auc == pytest.approx(np.mean(areas))


@pytest.mark.parametrize("metric", ["auc", "log-loss"])
def test_the_simplest_within_one_standard_error(data, metric):
    """Of the best value's own column, whichever way is better."""
    best = run_sweep(data, metric=metric, **GRID)
    found = run_sweep(data, metric=metric, select="1se", **GRID)
    one = column_of(found.column)
    values = [row.value(one.name) for row in best.rows]
    assert values == sorted(values, reverse=one.largest)
    limit = values[0] + one.sense * best.rows[0].value(one.error)
    assert found.choice.limit == pytest.approx(limit)
    near = [v for v in values if one.sense * v <= one.sense * limit]
    assert found.choice.eligible == len(near) > 1
    assert found.chosen.C == 0.5


def test_what_ranks():
    """The first metric, or what is said; the error has its criterion's column."""
    ranks = {
        "auc": {"metric": "auc,log-loss"},
        "loo": {"metric": "error,auc"},
        "log-loss": {"rank_by": "log_loss"},
        "cv:5": {"metric": "auc", "criteria": "cv:5", "rank_by": "error"},
        "cost:x.csv": {"metric": ["auc", "cost:x.csv"], "rank_by": "cost"},
        "sv-rate": {
            "metric": "auc", "criteria": "sv-rate,loo", "rank_by": "sv-rate"
        },
    }  # fmt: skip
    for by, said in ranks.items():
        assert settings_from(said).rank_by == by
    assert settings_from({"rank_by": "auc"}).metric == ("auc",)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"metric": "acu"}, "did you mean 'auc'"),
        ({"metric": "auc:3"}, "auc takes no '3'"),
        ({"metric": "cost"}, "cost takes a file"),
        ({"metric": "cost:a,cost:b"}, "the same column"),
        ({"metric": "auc", "criteria": "span,sv-rate"}, "has an answer"),
        ({"metric": "auc", "rank_by": "log-loss"}, "add it to --metric"),
        ({"metric": "auc", "race": 2}, "rank by loo"),
        ({"metric": "auc", "fail_above": 0.1}, "give fail_below"),
        ({"metric": "log-loss", "fail_below": 0.1}, "give fail_above"),
        ({"criteria": "sv-rate", "select": "1se"}, "'log-loss'"),
    ],
)
def test_what_is_refused(said, told):
    """By name, with the way out."""
    with pytest.raises(SettingsError, match=told):
        settings_from(said)


def test_a_race_may_have_metrics(data):
    """Ranked by loo: of a cell that loses nothing is known, the others are the same."""
    said = {**GRID, "C": tuple(2.0**k for k in range(-4, 6)), "metric": EVERY}
    whole = run_sweep(data, rank_by="loo", criteria="loo", **said)
    raced = run_sweep(data, rank_by="loo", criteria="loo", race=1, **said)
    known = {(r.C, r.gamma): r for r in whole.rows}
    lost = [row for row in raced.rows if row.loo_errors is None]
    assert lost
    for row in raced.rows:
        other = known[row.C, row.gamma]
        expected = None if row.loo_errors is None else other.log_loss
        assert row.log_loss == pytest.approx(expected) or row.log_loss is expected


def test_resumed_and_read_again(data, csv, tmp_path):
    """The journal keeps metrics and classes; other metrics are another sweep."""
    journal, cost = tmp_path / "j.ndjson", tmp_path / "c.csv"
    cost.write_text(COSTS, encoding="utf-8")
    metric = [*EVERY, f"cost:{cost}"]
    line = ("sweep", csv, "--C", "0.5,4", "--gamma", "0.1,1", "--journal", journal)
    more = [word for one in metric for word in ("--metric", one)]
    first = run(*line, *more)
    assert first.exit_code == 0, first.output
    assert run(*line, *more, "--resume").stdout == first.stdout
    assert run("rank", journal).stdout == first.stdout
    assert "differs" not in first.output
    again = run(*line, "--metric", "auc", "--resume")
    assert again.exit_code == 2
    assert "metric: the journal has" in again.stderr
    cost.write_text(COSTS.replace("9", "8"), encoding="utf-8")
    assert "cost_table" in run(*line, *more, "--resume").stderr
    by_auc = run("rank", journal, "--by", "auc", "--format", "json")
    rows = json.loads(by_auc.stdout)["rows"]
    assert [r["auc"] for r in rows] == sorted((r["auc"] for r in rows), reverse=True)


def test_the_classes_in_every_output(csv, tmp_path):
    """The terminal and JSON tell how much of each class is wrong; rank tells it too."""
    out = tmp_path / "swept.json"
    line = ("sweep", csv, "--C", "1", "--gamma", "0.3", "--metric", "balanced-error")
    table = run(*line).stdout
    assert "Wrong by class (loo): 'c' " in table
    assert not any(text.count("(") > text.count(")") for text in table.splitlines())
    run(*line, "-o", out)
    missed = json.loads(out.read_text())["chosen"]["by_class"]
    results = read_results(out)
    assert [tuple(one.values()) for one in missed.values()] == list(
        results.choice.row.by_class
    )
    assert "Wrong by class (loo): 'c' " in run("rank", out).stdout
    gates = ("--fail-above", "0.0001"), ("--fail-above", "0.99")
    assert [run("rank", out, *gate).exit_code for gate in gates] == [1, 0]
    told = run("rank", out, "--by", "n_sv", "--fail-below", "3")
    assert told.exit_code == 2


def test_a_bad_table_is_refused_before_training(csv, tmp_path):
    """And no journal is begun."""
    bad = tmp_path / "c.csv"
    bad.write_text("was,a,b\na,0,1\nb,1,0\n", encoding="utf-8")
    journal = tmp_path / "j.ndjson"
    told = run("sweep", csv, "--metric", f"cost:{bad}", "--journal", journal)
    assert told.exit_code == 3
    assert "lacks the column for 'c'" in told.stderr
    assert not journal.exists() or not Path(journal).read_text()


def test_the_journal_is_the_same_from_python(data, tmp_path):
    """Rows that are read back are equal, with what is told of classes."""
    file, said = tmp_path / "j.ndjson", {**GRID, "metric": EVERY}
    first = run_sweep(data, journal=Journal(file), **said)
    again = run_sweep(data, journal=Journal(file, resume=True), **said)
    assert first.rows == again.rows
    assert all(row.by_class for row in again.rows)


@pytest.mark.parametrize("machine", ["ww", "ovo", "ova"])
def test_weights_are_copies(data, machine):
    """Of the training answers: weight 2 is the row twice, in every metric."""
    w = 1 + np.arange(data.m) % 2
    rows = np.repeat(np.arange(data.m), w)
    twice = replace(data, X=data.X[rows], y=data.y[rows])
    said = {**GRID, "criteria": "train-errors", "machine": machine, "metric": EVERY}
    one = run_sweep(replace(data, weights=w.astype(float)), **said)
    known = {(r.C, r.gamma): r for r in run_sweep(twice, **said).rows}
    for row in one.rows:
        for name in (metric.replace("-", "_") for metric in EVERY):
            expected = known[row.C, row.gamma].value(name)
            assert row.value(name) == pytest.approx(expected, rel=1e-5), name


def test_the_error_rate_of_groups_has_the_jackknife_of_groups(data):
    """Three copies of each row are no more samples: the same error as without them."""
    asked = {"C": 1.0, "gamma": 0.3, "scale": "none", "criteria": "logo"}
    rows = np.repeat(np.arange(data.m), 3)
    alone = replace(data, groups=np.arange(data.m))
    thrice = replace(data, X=data.X[rows], y=data.y[rows], groups=rows)
    one, copied = (
        run_sweep(some, select="1se", **(asked | {"C": C}))
        for some, C in ((alone, 3.0), (thrice, 1.0))
    )
    p, m = one.best.logo_rate, data.m
    assert one.best.error_se == pytest.approx(np.sqrt(p * (1 - p) / (m - 1)))
    assert copied.best.logo_rate == p
    assert copied.best.error_se == pytest.approx(one.best.error_se)
    assert copied.choice.limit == pytest.approx(p + one.best.error_se)
    assert run_sweep(data, **(asked | {"criteria": "loo"})).best.error_se is None
