"""Probabilities of a model: by left-out outputs, kept, printed, and told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from msvm_select import fit, load_model, predict
from msvm_select.errors import DataError, SettingsError, SolverError
from msvm_select.estimator import MSVMClassifier, MSVMSearchCV
from msvm_select.metrics.calibration import softmax
from msvm_select.names import SOLVERS
from msvm_select.records import Dataset, Floats
from tests.conftest import IRIS, PROBLEMS, rows_of, run
from tests.model.test_model import Idle

MACHINES = ("ww", "ovo", "ova")
HOW: dict[str, Any] = {"C": 2.0, "gamma": 0.3, "scale": "none"}
THREE = PROBLEMS["three"].dataset()
THERE = np.random.default_rng(0).standard_normal((200, 3))


def without_each(data: Dataset, machine: str) -> Floats:
    """The outputs for each sample of the machine that is trained without it."""
    rows = []
    for p in range(data.m):
        rest = np.arange(data.m) != p
        some = Dataset(data.X[rest], data.y[rest], data.classes, data.features)
        rows.append(fit(some, machine=machine, **HOW).graded(data.X[[p]])[0])
    return np.array(rows)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_temperature_is_that_of_retrained_machines(machine: str) -> None:
    """Of least log-loss; and the reliability is that of their probabilities."""
    some = Dataset(THREE.X[:24], THREE.y[:24], THREE.classes, THREE.features)
    model = fit(some, probabilities=True, machine=machine, **HOW)
    assert model.calibration is not None
    T, h = model.calibration.temperature, without_each(some, machine)

    def loss(t: float) -> float:
        scaled = h / np.exp(t)
        own = scaled[np.arange(some.m), some.y]
        return float((logsumexp(scaled, axis=1) - own).mean())

    best = minimize_scalar(loss, bracket=(-2.0, 2.0), tol=1e-10)
    assert pytest.approx(np.exp(best.x), rel=1e-4) == T
    largest = softmax(h, T).max(axis=1)
    told = model.calibration.reliability
    assert told.weight.sum() == some.m
    assert np.nansum(told.weight * told.claimed) == pytest.approx(largest.sum())
    right = np.nansum(told.weight * told.right)
    assert right == pytest.approx((h.argmax(axis=1) == some.y).sum())
    assert 0.0 <= told.error < 0.3


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["two", "three", "six", "duplicates", "tiny"])
def test_the_most_probable_class_is_the_predicted_one(machine: str, name: str) -> None:
    """Of new samples and of the old; also where a class has one sample."""
    data = PROBLEMS[name].dataset()
    model = fit(data, probabilities=True, machine=machine, **HOW)
    for X in (data.X, THERE[:, : data.X.shape[1]]):
        p, labels = model.probabilities(X), model.predict(X)
        assert np.allclose(p.sum(axis=1), 1.0)
        assert np.array(data.classes)[p.argmax(axis=1)].tolist() == labels.tolist()


def test_a_tie_goes_to_the_first_of_its_classes() -> None:
    """Also with ww: an estimator has to answer with a class."""
    corners = np.array([[1.0, 0.0], [-0.5, np.sqrt(0.75)], [-0.5, -np.sqrt(0.75)]])
    X = np.vstack([corners, 1.5 * corners])
    for machine in ("ww", "ova"):
        how: dict[str, Any] = {"machine": machine, "kernel": "linear"}
        one = MSVMClassifier(**how, probability=True).fit(X, [0, 1, 2, 0, 1, 2])
        p = one.predict_proba([[0.0, 0.0]])
        assert np.allclose(p, 1.0 / 3.0)
        assert p.argmax() == one.predict([[0.0, 0.0]])[0] == 0


def test_votes_that_tie_go_to_the_first_of_their_classes() -> None:
    """Whatever the decisions add up to."""
    model = fit(PROBLEMS["six"].dataset(), probabilities=True, machine="ovo", **HOW)
    far = 2.0 * np.random.default_rng(1).standard_normal((3000, 3))
    votes, p = model.outputs(far), model.probabilities(far)
    tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert tied.any()
    assert np.array_equal(votes.argmax(axis=1), p.argmax(axis=1))


@pytest.mark.parametrize("machine", MACHINES)
def test_separable_samples_are_sure_but_not_certain(machine: str) -> None:
    """No left-out sample is wrong: as sure as m samples allow, and finite."""
    X = np.arange(12.0)[:, None] + np.where(np.arange(12) < 6, 0.0, 40.0)[:, None]
    data = Dataset(X, (np.arange(12) // 6).astype(np.int64), ("a", "b"), ("x",))
    how: dict[str, Any] = {"C": 1.0, "kernel": "linear", "machine": machine}
    model = fit(data, probabilities=True, **how)
    assert model.calibration is not None
    assert 0.0 < model.calibration.temperature < np.inf
    p = model.probabilities(X)
    assert np.isfinite(p).all()
    assert (p[np.arange(12), data.y] > 0.85).all()


@pytest.mark.parametrize("machine", MACHINES)
def test_features_that_say_nothing_give_even_odds(machine: str) -> None:
    """Constant outputs have no temperature that matters."""
    y = np.array([0, 1] * 6, dtype=np.int64)
    data = Dataset(np.zeros((12, 1)), y, ("a", "b"), ("x",))
    for kernel in ("linear", "rbf"):
        model = fit(data, probabilities=True, C=1.0, kernel=kernel, machine=machine)
        assert np.allclose(model.probabilities(np.zeros((2, 1))), 0.5, atol=0.01)


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("machine", ["ww", "ovo"])
def test_a_file_keeps_them(ending: str, machine: str, tmp_path: Path) -> None:
    """To the last digit, empty bins too; a model without is as it was."""
    path = tmp_path / f"model.{ending}"
    model = fit(THREE, probabilities=True, machine=machine, **HOW)
    model.save(path)
    again = load_model(path)
    assert np.array_equal(again.probabilities(THERE), model.probabilities(THERE))
    assert again.calibration is not None
    assert model.calibration is not None
    for name in ("weight", "claimed", "right"):
        ours, theirs = (
            getattr(m.calibration.reliability, name) for m in (model, again)
        )
        assert np.array_equal(ours, theirs, equal_nan=True)
    fit(THREE, machine=machine, **HOW).save(path)
    assert load_model(path).calibration is None
    with pytest.raises(SettingsError, match="--probabilities"):
        load_model(path).probabilities(THERE)


@pytest.mark.parametrize(
    "change",
    [{"temperature": 0.0}, {"temperature": "hot"}, {"weight": [1.0]}, {"right": None}],
)
def test_a_damaged_calibration_is_refused(change: Any, tmp_path: Path) -> None:
    """As any other damage of a model file."""
    path = tmp_path / "model.json"
    fit(THREE, probabilities=True, **HOW).save(path)
    held = json.loads(path.read_text())
    held["calibration"] |= change
    path.write_text(json.dumps(held))
    with pytest.raises(DataError, match="damaged model file"):
        load_model(path)


def test_weights_count() -> None:
    """A sample of weight 1e-9 has no say in the temperature."""
    y = THREE.y.copy()
    y[:3] = (y[:3] + 1) % 3
    w = np.where(np.arange(THREE.m) < 3, 1e-9, 1.0)
    strange = Dataset(THREE.X, y, THREE.classes, THREE.features, weights=w)
    rest = Dataset(THREE.X[3:], y[3:], THREE.classes, THREE.features)
    found = [
        fit(data, probabilities=True, **HOW).calibration for data in (strange, rest)
    ]
    one, two = (c.temperature for c in found if c is not None)
    assert one == pytest.approx(two, rel=1e-4)


def test_from_the_command_line(tmp_path: Path) -> None:
    """Printed at fit; one column a class, in the order of the classes."""
    path = tmp_path / "iris.json"
    line = ("fit", IRIS, "--C", 1, "--gamma", 0.25, "-o", path)
    told = run(*line, "--probabilities").stderr
    model = load_model(path)
    assert model.calibration is not None
    error = model.calibration.reliability.error
    assert f"expected calibration error {error:.4f}" in told
    result = run("predict", path, IRIS, "--probabilities")
    rows = rows_of(result.stdout)
    assert list(rows[0]) == ["predicted", *model.classes]
    for row in rows:
        p = {name: float(row[name]) for name in model.classes}
        assert max(p, key=lambda name: p[name]) == row["predicted"]
        assert sum(p.values()) == pytest.approx(1.0)
    frame = predict(model, IRIS).to_frame(probabilities=True)
    assert np.allclose(frame[list(model.classes)], model.probabilities(IRIS))


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (("--probabilities",), "The model knows no probabilities", 2),
        (("--probabilities", "--scores"), "give one", 2),
    ],
)
def test_probabilities_that_there_are_not(
    words: tuple[str, ...], told: str, code: int, tmp_path: Path
) -> None:
    """Refused before the data are read."""
    path = tmp_path / "iris.json"
    run("fit", IRIS, "--gamma", 0.25, "-o", path, "-q")
    result = run("predict", path, "nowhere.csv", *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert told in result.stderr


def test_libsvm_has_no_place_for_them(tmp_path: Path) -> None:
    """Said before anything is trained."""
    line = ("fit", IRIS, "--machine", "ovo", "--gamma", 1, "--probabilities")
    result = run(*line, "-o", tmp_path / "m.libsvm")
    assert result.exit_code == 2
    assert "leave out --probabilities" in result.stderr


def test_without_an_optimum_there_is_no_probability(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 5 and no file; an error of the API."""
    monkeypatch.setitem(SOLVERS, "exact", Idle)
    path = tmp_path / "m.json"
    result = run("fit", IRIS, "--gamma", 0.25, "--probabilities", "-o", path)
    assert result.exit_code == 5
    assert "so there is no probability" in result.stderr
    assert not path.exists()
    with pytest.raises(SolverError, match="no probability"):
        fit(THREE, probabilities=True, **HOW)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_estimators_have_them(machine: str) -> None:
    """Those of the model; the search's are those of its best machine."""
    search = MSVMSearchCV([0.5, 8.0], gamma=[0.1, 1.0], machine=machine)
    assert not hasattr(search, "predict_proba")
    search.set_params(probability=True).fit(THREE.X, THREE.y)
    one = MSVMClassifier(**search.best_params_, machine=machine)
    assert not hasattr(one, "predict_proba")
    one.set_params(probability=True).fit(THREE.X, THREE.y)
    p = search.predict_proba(THERE)
    assert np.allclose(p, one.predict_proba(THERE), atol=1e-6)
    assert search.classes_[p.argmax(axis=1)].tolist() == search.predict(THERE).tolist()
    assert np.allclose(search.predict_log_proba(THERE), np.log(p))
