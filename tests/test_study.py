"""The study of the rules: what is picked, and how it is compared."""

import json

import numpy as np
import pytest

from msvm_select.data.read import load_csv
from msvm_select.errors import DataError, SettingsError
from msvm_select.kernels.rbf import Rbf
from msvm_select.machines.composed import OneVersusOne
from msvm_select.machines.losses import Hinge
from msvm_select.records import Scaling
from msvm_select.solvers.exact.solver import Exact
from msvm_select.study import (
    Pick,
    _split,
    data_sets,
    standings,
    studied,
    study_settings,
)
from tests.conftest import DATA, run


@pytest.fixture(scope="module")
def wine():
    """One of the ready sets."""
    return load_csv(DATA / "wine.csv")


def test_a_pick_is_tested_on_rows_that_no_sweep_saw(wine):
    """Its error is that of the machine trained again; none is below the least."""
    settings = study_settings(machine="ovo", C="0.5,8", gamma="0.01,0.5")
    picks = studied(wine, settings, 3, most=60)
    assert {p.rule for p in picks} == {*settings.criteria, *settings.metric}
    train, test = _split(wine, 3, 60)
    assert train.m + test.m == wine.m
    assert train.m == pytest.approx(60, abs=3)
    for pick in picks:
        if not pick.cell:  # the rule has no value that counts
            assert np.isnan(pick.error)
            continue
        words = dict(word.split("=") for word in pick.cell.split()[1:])
        kernel = Rbf(float(words["gamma"]))
        scaling = Scaling.fit(train.X, "standard")
        X, Z = scaling.apply(test.X), scaling.apply(train.X)

        machine = OneVersusOne(Hinge()).train(
            Exact(), kernel.gram(Z), train.y, 3, float(words["C"])
        )
        wrong = machine.labels(kernel.between(X, Z)) != test.y
        assert pick.error == pytest.approx(wrong.mean())
        assert pick.regret >= 0.0
    assert min(p.least for p in picks) == max(p.least for p in picks)


def pick(data, seed, rule, error):
    """A pick beside a best cell of 0.1."""
    return Pick(data, "ww", "l1", seed, rule, "", error, 0.1, 1.0)


def test_rules_are_compared_split_by_split_and_set_by_set():
    """Counts by splits, means by sets; a rule without a pick counts nowhere."""
    picks = [
        *(pick("a", k, "cv:5", 0.2) for k in range(3)), pick("b", 0, "cv:5", 0.1),
        pick("a", 0, "loo", 0.1), pick("a", 1, "loo", 0.2), pick("a", 2, "loo", 0.3),
        pick("b", 0, "loo", np.nan),
    ]  # fmt: skip
    first, second = standings(picks)
    assert (first.rule, first.sets, first.splits) == ("cv:5", 2, 4)
    assert first.regret == pytest.approx(0.05)
    assert (second.rule, second.sets, second.splits) == ("loo", 1, 3)
    assert second.regret == pytest.approx(0.1)
    assert (second.better, second.equal, second.worse) == (1, 1, 1)


def test_the_command_sums_up(tmp_path):
    """A table; in json every pick, and the standings."""
    rows = (DATA / "iris.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "few.csv").write_text("\n".join(rows[::3]) + "\n", encoding="utf-8")
    line = ["experiment", "choosing", tmp_path, "--sets", 1, "--C", "1,8"]
    one = ["--machine", "ovo", "--loss", "l1"]
    found = run(*line, *one)
    assert found.exit_code == 0, found.output
    assert "mean regret" in found.stdout
    assert "few, ovo, l1" in found.stderr
    whole = json.loads(run(*line, *one, "--format", "json", "-q").stdout)
    assert {row["rule"] for row in whole["rows"]} >= {"loo", "cv:5", "log-loss"}
    assert whole["standings"][0]["machine"] == "ovo"


def test_what_cannot_be_studied(tmp_path):
    """An empty folder, rules without the one to compare with, a folder too many."""
    with pytest.raises(DataError, match=r"no \.csv file"):
        next(data_sets(tmp_path))
    with pytest.raises(SettingsError, match="compared with cv:5"):
        study_settings(criteria=["loo"])
    found = run("experiment", "three-gaussians", tmp_path)
    assert found.exit_code == 2
    assert "only choosing takes a folder" in found.stderr


def test_every_regret_is_in_the_picture() -> None:
    """The panels share an axis, which reaches as far as the worst rule of any."""
    pytest.importorskip("matplotlib")
    from msvm_select.show.figures.regrets import figure_of_regrets

    picks = [
        Pick("toy", machine, "l1", 0, rule, "", error, 0.0, 0.0)
        for machine, rule, error in (
            ("ovo", "cv:5", 0.01), ("ovo", "loo", 0.02),
            ("ww", "cv:5", 0.01), ("ww", "loo", 0.3),
        )
    ]  # fmt: skip
    for axes in figure_of_regrets(picks).axes:
        low, high = axes.get_xlim()
        assert low == 0.0
        assert high > 30.0
