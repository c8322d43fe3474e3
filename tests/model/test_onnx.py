"""Models as ONNX: labels and outputs are ours, in onnxruntime."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from msvm_select import extras, fit, load_csv, load_model
from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.model.model import Model
from msvm_select.records import Floats
from tests.conftest import DATA, IRIS, run
from tests.model.test_machines import KERNELS, around, with_a_class_less
from tests.model.test_model import data_for

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
MACHINES = ("ww", "ovo", "ova")
ODD = {
    "kernel": "polynomial",
    "degree": 2.5,
    "coef0": 60.0,
    "gamma": 0.5,
    "allow_indefinite": True,
}


def answers(path: Path, X: Floats) -> tuple[list[str], Floats]:
    """Labels and scores of a model file, by onnxruntime."""
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    labels, scores = session.run(["label", "scores"], {"X": X})
    return labels.tolist(), scores


def check(model: Model, path: Path, X: Floats) -> None:
    """Labels are equal, and scores but for rounding."""
    model.save(path)
    labels, scores = answers(path, X)
    expected = model.outputs(X)
    assert labels == model.labels(expected).tolist()
    there = np.isfinite(expected)
    assert np.array_equal(scores[~there], expected[~there])
    off = np.abs(scores[there] - expected[there]).max()
    assert off <= 1e-11 * np.abs(expected[there]).max()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_labels_and_outputs_are_ours(machine: str, kernel: str, tmp_path: Path) -> None:
    """On 1,000 rows, many of them far from the samples; with each scaling."""
    data = load_csv(DATA / "glass.csv")
    model = fit(data, machine=machine, **KERNELS[kernel])
    check(model, tmp_path / "m.onnx", around(data))


@pytest.mark.parametrize("machine", MACHINES)
def test_probabilities_are_ours(machine: str, tmp_path: Path) -> None:
    """Of a calibrated model, and the most probable class is the label; also where a
    temperature makes all alike."""
    data, path = load_csv(IRIS), tmp_path / "m.onnx"
    model = fit(data, machine=machine, C=2.0, gamma=0.25, probabilities=True)
    X = around(data)
    assert model.calibration is not None
    flat = replace(model.calibration, temperature=1e17)
    for one in (model, replace(model, calibration=flat)):
        one.save(path)
        session = runtime.InferenceSession(str(path))
        labels, found = session.run(["label", "probabilities"], {"X": X})
        assert np.abs(found - one.probabilities(X)).max() <= 1e-12
        assert [one.classes[k] for k in found.argmax(axis=1)] == labels.tolist()
    gap = np.full((1, 4), np.nan)
    assert np.isnan(session.run(["probabilities"], {"X": gap})[0]).all()


@pytest.mark.parametrize("machine", MACHINES)
def test_odd_models_too(machine: str, tmp_path: Path) -> None:
    """A degree that is not whole, the samples themselves, a class without a sample,
    and no support vector at all."""
    data, path = load_csv(IRIS), tmp_path / "m.onnx"
    model = fit(data, machine=machine, **ODD)
    check(model, path, data.X)
    check(fit(with_a_class_less(), machine=machine), path, with_a_class_less().X)
    cut = {"support": model.support[:0], "Z": model.Z[:0], "tau": model.tau[:0]}
    check(replace(model, **cut, y=model.y[:0]), path, data.X[:5])


@pytest.mark.parametrize("machine", MACHINES)
def test_gaps_ties_and_odd_names(machine: str, tmp_path: Path) -> None:
    """A model that fills does so; another has no answer to a gap. ww says ? to a tie,
    the others take the first class; names are text, whatever is in them."""
    text = "a,b,class\n0,0,é'\"\n1,?,x y\n0,1,-1\n1,1,é'\"\n5,5,x y\n-4,-4,-1\n"
    data = load_csv(io.BytesIO(text.encode()), missing="mean")
    model, path = fit(data, machine=machine, C=2.0), tmp_path / "m.onnx"
    X = np.array([[np.nan, 1.0], [0.5, np.nan], [np.nan, np.nan], [0.0, 0.0]])
    check(model, path, X)
    bare = replace(model, columns=replace(model.columns, missing="error"))
    bare.save(path)
    labels, scores = answers(path, X)
    assert labels[:3] == ["?"] * 3
    assert np.isnan(scores[:3]).all()
    assert labels[3] == bare.predict(X[3:])[0]
    b = np.array([1.0, -1.0, 1.0] if machine == "ovo" else [0.5, 0.5, 0.5])
    even = replace(bare, tau=0.0 * model.tau, b=b)  # a vote each, or equal outputs
    check(even, path, np.zeros((3, 2)))
    assert answers(path, np.zeros((3, 2)))[0] == ["?" if machine == "ww" else "-1"] * 3


def test_the_graph_is_plain(tmp_path: Path) -> None:
    """Operators of ONNX itself alone, doubles, and what is known of the model."""
    run("fit", IRIS, "--machine", "ovo", "--C", "8", "-q", "-o", tmp_path / "m.onnx")
    model = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert {node.domain for node in model.graph.node} == {""}
    assert [(one.domain, one.version) for one in model.opset_import] == [("", 17)]
    kinds = {value.data_type for value in model.graph.initializer}
    of = onnx.TensorProto
    assert kinds <= {of.DOUBLE, of.INT64, of.STRING}
    about = {one.key: one.value for one in model.metadata_props}
    assert json.loads(about["classes"]) == ["setosa", "versicolor", "virginica"]
    assert json.loads(about["features"])[0] == "sepal_length_cm"
    assert about["machine"] == "ovo"


def test_what_cannot_be_written_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A precomputed kernel, by name; onnx that is absent, with what brings it."""
    path = tmp_path / "m.onnx"
    found = run("fit", IRIS, "--kernel", "precomputed", "-o", path)
    assert found.exit_code == 2
    assert "the precomputed kernel cannot be written as ONNX" in found.stderr
    with pytest.raises(SettingsError, match="precomputed"):
        fit(data_for("precomputed"), kernel="precomputed").save(path)
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    found = run("fit", IRIS, "-o", path)
    assert found.exit_code == 1
    assert "pip install 'msvm-select[onnx]'" in found.stderr
    assert "samples" not in found.stderr
    with pytest.raises(MsvmError, match="needs onnx"):
        fit(IRIS).save(path)


def test_fit_says_how_it_is_used(tmp_path: Path) -> None:
    """The input, and that predict does not read it."""
    path = tmp_path / "m.onnx"
    found = run("fit", IRIS, "-o", path)
    assert "Input 'X': 4 features as doubles, unscaled" in found.stderr
    with pytest.raises(DataError, match="a model for other programs"):
        load_model(path)
