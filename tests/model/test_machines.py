"""Models of one against one and one against all: what they say, keep and hand over."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from msvm_select import fit, load_csv, load_model, to_sklearn
from msvm_select.errors import DataError, SettingsError
from msvm_select.model import model as model_module
from msvm_select.model.libsvm import labels_of
from msvm_select.model.model import Model
from msvm_select.names import SOLVERS
from msvm_select.records import Dataset, Floats
from msvm_select.settings import settings_from
from msvm_select.train.along_C import train_cell
from tests.conftest import DATA, IRIS, rows_of, run
from tests.model.test_model import Idle, data_for, same

KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"gamma": 0.25, "C": 8.0},
    "linear": {"kernel": "linear"},
    "as it is": {"gamma": 0.05, "scale": "none"},
    "polynomial": {"kernel": "polynomial", "degree": 2, "scale": "minmax"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01, "allow_indefinite": True},
}
ROWS = 1000


def around(data: Dataset, rows: int = ROWS) -> Floats:
    """New samples, beyond the data too."""
    noise = np.random.default_rng(5).normal(size=(rows, data.X.shape[1]))
    return np.asarray(data.X.mean(axis=0) + 1.5 * data.X.std(axis=0) * noise)


def with_a_class_less() -> Dataset:
    """Three classes, the second of them without a sample."""
    data = data_for("rbf")
    return Dataset(data.X, 2 * (data.y % 2), data.classes, data.features)


@pytest.mark.parametrize("machine", ["ovo", "ova"])
@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_it_answers_as_the_machine_it_was_made_of(
    machine: str, loss: str, kernel: str
) -> None:
    """Labels, votes and certificate are those of the trained parts."""
    data = load_csv(DATA / "glass.csv") if kernel == "rbf" else data_for(kernel)
    values = {"machine": machine, "loss": loss, "kernel": kernel, "C": 2.0}
    trained = train_cell(data, settings_from(values))
    model, composed = fit(data, **values), trained.solution
    told = np.array(data.classes)[composed.predicted]
    assert model.predict(data).tolist() == told.tolist()
    assert np.allclose(model.outputs(data), composed.outputs, atol=1e-9)
    assert model.training.train_errors == composed.train_errors
    assert model.training.n_sv == model.support.size == composed.n_sv
    assert model.certificate.dual_objective == composed.dual_objective
    assert (model.training.loss, model.C) == (loss, 2.0)
    assert model.tau.shape == (model.training.n_sv, data.Q)
    assert f"<Model {machine} {kernel}: " in repr(model)
    X = data.X[:7]
    K = model._kernel_values(X)
    whole = np.zeros((7, data.m))
    whole[:, model.support] = K
    assert (model.predict(X) == np.array(data.classes)[composed.labels(whole)]).all()


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("machine", ["ovo", "ova"])
def test_a_file_keeps_every_bit(machine: str, ending: str, tmp_path: Path) -> None:
    """What is read back is the same; an older program refuses it, and says why."""
    data, path = load_csv(IRIS), tmp_path / f"m.{ending}"
    model = fit(data, machine=machine, gamma=0.25)
    model.save(path)
    again = load_model(path)
    assert same(again, model)
    assert (again.machine, again.y.tolist()) == (machine, model.y.tolist())
    assert np.array_equal(again.outputs(data), model.outputs(data))
    if ending == "json":
        assert json.loads(path.read_text())["format_version"] == 2


def test_a_model_of_ww_has_the_file_that_it_had(tmp_path: Path) -> None:
    """Format 1, and no entry that the first program did not know."""
    path = tmp_path / "m.json"
    fit(load_csv(IRIS), gamma=0.25).save(path)
    entries = json.loads(path.read_text())
    assert entries["format_version"] == 1
    assert list(entries) == [
        *("format", "format_version", "versions", "kernel", "C", "classes"),
        *("training", "certificate", "columns", "scaling"),
        *("fill", "shift", "scale", "support", "Z", "tau", "b"),
    ]
    assert load_model(path).machine == "ww"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"machine": "ovr"}, "no machine 'ovr'"),
        ({"y": [7] * 52}, "y has classes"),
        ({"y": [0]}, "y has the shape"),
        ({"y": None}, "no entry 'y'"),
        ({"b": [1.0, 2.0]}, "b has the shape"),
    ],
)
def test_a_damaged_model_is_refused(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """An entry that is lost, of another kind or another size is told."""
    path = tmp_path / "m.json"
    fit(load_csv(IRIS), machine="ovo", gamma=0.25).save(path)
    entries = {**json.loads(path.read_text()), **change}
    kept = {name: value for name, value in entries.items() if value is not None}
    path.write_text(json.dumps(kept))
    with pytest.raises(DataError, match=words):
        load_model(path)


@pytest.mark.parametrize("machine", ["ovo", "ova"])
def test_blocks_change_nothing(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row by row the outputs are what they are all at once; no rows give none."""
    data = load_csv(IRIS)
    model = fit(data, machine=machine, gamma=0.25)
    whole = model.outputs(data)
    monkeypatch.setattr(model_module, "BLOCK", 1)
    assert np.allclose(model.outputs(data), whole, rtol=0, atol=1e-10)
    assert model.outputs(np.empty((0, 4))).shape == (0, 3)


def test_a_tie_gives_the_first_of_the_classes() -> None:
    """As LIBSVM has it: with ovo f = 0 votes for the second, equal votes the first."""
    model = fit(load_csv(IRIS), machine="ovo", gamma=0.25)
    votes = np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 1.0]])
    assert model.labels(votes).tolist() == [model.classes[0], model.classes[1]]


@pytest.mark.parametrize("machine", ["ovo", "ova"])
def test_a_class_without_samples_is_never_the_answer(
    machine: str, tmp_path: Path
) -> None:
    """Nor do its pairs vote, and a file keeps that."""
    data = with_a_class_less()
    model = fit(data, machine=machine)
    path = tmp_path / "m.json"
    model.save(path)
    for one in (model, load_model(path)):
        assert set(one.predict(around(data))) == {data.classes[0], data.classes[2]}


def test_decisions_of_pairs_are_those_of_one_against_one() -> None:
    """Of SVC; a machine that does not decide so says so."""
    data = load_csv(DATA / "wine.csv")
    model, X = fit(data, machine="ovo", gamma=0.1, C=4), around(data)
    peer = SVC(C=4, gamma=0.1, tol=1e-8, decision_function_shape="ovo")
    peer.fit(model.scaling.apply(data.X), np.array(data.classes)[data.y])
    scaled = model.scaling.apply(X)
    assert np.abs(model.pair_decisions(X) - peer.decision_function(scaled)).max() < 1e-5
    assert model.predict(X).tolist() == peer.predict(scaled).tolist()
    with pytest.raises(SettingsError, match="machine='ovo'"):
        fit(data, machine="ova").pair_decisions(X)


def test_one_against_all_is_one_vs_rest() -> None:
    """Outputs and classes of OneVsRestClassifier(SVC(C))."""
    data = load_csv(DATA / "wine.csv")
    model, X = fit(data, machine="ova", gamma=0.1, C=4), around(data)
    peer = OneVsRestClassifier(SVC(C=4, gamma=0.1, tol=1e-8))
    peer.fit(model.scaling.apply(data.X), np.array(data.classes)[data.y])
    scaled = model.scaling.apply(X)
    assert np.abs(model.outputs(X) - peer.decision_function(scaled)).max() < 1e-5
    assert model.predict(X).tolist() == peer.predict(scaled).tolist()


@pytest.mark.parametrize("machine", ["ovo", "ova"])
@pytest.mark.parametrize("ending", ["json", "csv"])
def test_a_row_of_results_tells_its_machine(
    machine: str, ending: str, tmp_path: Path
) -> None:
    """The cell is trained as it was in the sweep; the line may not contradict it."""
    ranked, path = tmp_path / f"ranked.{ending}", tmp_path / "m.json"
    grid = ("--C", "1,10", "--gamma", "0.25", "--criteria", "train-errors")
    swept = run("sweep", IRIS, "--machine", machine, *grid, "-o", ranked)
    assert swept.exit_code == 0, swept.stderr
    line = ("fit", IRIS, "--from", ranked, "--rank", 2, "-o", path)
    fitted = run(*line)
    assert fitted.exit_code == 0, fitted.stderr
    assert load_model(path).machine == machine
    refused = run(*line, "--machine", "ww")
    assert refused.exit_code == 2
    assert "--machine is given, but --from" in refused.stderr


def test_the_commands_fit_and_predict(tmp_path: Path) -> None:
    """The scores are the votes; the errors are those of training."""
    path = tmp_path / "m.npz"
    line = ("fit", IRIS, "--machine", "ovo", "--gamma", 0.25, "-o", path)
    assert run(*line).exit_code == 0
    result = run("predict", path, IRIS, "--scores")
    model = load_model(path)
    assert f"{model.training.train_errors} of 150 wrong" in result.stderr
    votes = [
        [float(row[name]) for name in model.classes] for row in rows_of(result.stdout)
    ]
    assert np.array_equal(votes, model.outputs(load_csv(IRIS)))
    assert {sum(row) for row in votes} == {3.0}


class Libsvm:
    """A model file of LIBSVM, read and asked as svm-predict does."""

    def __init__(self, path: Path) -> None:
        """``path``: the file."""
        head, _, body = path.read_text().partition("\nSV\n")
        told = dict(line.split(" ", 1) for line in head.splitlines())
        self.kind = told["kernel_type"]
        self.gamma, self.coef0 = (float(told.get(k, 0)) for k in ("gamma", "coef0"))
        self.degree, self.Q = (int(told.get(k, 0)) for k in ("degree", "nr_class"))
        self.rho = [float(r) for r in told["rho"].split()]
        self.labels = [int(k) for k in told["label"].split()]
        self.sizes = [int(k) for k in told["nr_sv"].split()]
        lines = [line.split() for line in body.splitlines()]
        assert told["svm_type"] == "c_svc"
        assert len(lines) == int(told["total_sv"]) == sum(self.sizes)
        self.weights = [[float(w) for w in line[: self.Q - 1]] for line in lines]
        self.features = [
            {int(j): float(v) for j, v in (e.split(":") for e in line[self.Q - 1 :])}
            for line in lines
        ]

    def _kernel(self, x: Floats, features: dict[int, float]) -> float:
        z = np.zeros(x.size)
        z[[j - 1 for j in features]] = list(features.values())
        if self.kind == "rbf":
            return float(np.exp(-self.gamma * ((x - z) ** 2).sum()))
        if self.kind == "linear":
            return float(x @ z)
        inner = self.gamma * float(x @ z) + self.coef0
        return (
            inner**self.degree if self.kind == "polynomial" else float(np.tanh(inner))
        )

    def predict(self, x: Floats) -> int:
        """The label with most votes, the first of them in a tie."""
        k = [self._kernel(x, features) for features in self.features]
        begins = np.concatenate([[0], np.cumsum(self.sizes)])
        votes, pair = [0] * self.Q, 0
        for a in range(self.Q):
            for b in range(a + 1, self.Q):
                one = range(begins[a], begins[a + 1])
                two = range(begins[b], begins[b + 1])
                f = sum(self.weights[i][b - 1] * k[i] for i in one)
                f += sum(self.weights[i][a] * k[i] for i in two) - self.rho[pair]
                votes[a if f > 0 else b] += 1
                pair += 1
        return self.labels[votes.index(max(votes))]


def svm_scaled(X: Floats, path: Path) -> Floats:
    """What ``svm-scale -r`` makes of X, but for its six digits."""
    x, ends, *lines = path.read_text().splitlines()
    assert (x, ends) == ("x", "0 1")
    told = np.array([line.split() for line in lines], dtype=float)
    assert told[:, 0].tolist() == list(range(1, X.shape[1] + 1))
    low, high = told[:, 1:].T
    return np.asarray((X - low) / (high - low))


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("name", ["iris", "glass"])
def test_libsvm_reads_the_same_machine(name: str, kernel: str, tmp_path: Path) -> None:
    """Its way to decide gives each new sample the class that the model gives."""
    data, path = load_csv(DATA / f"{name}.csv"), tmp_path / "m.libsvm"
    model = fit(data, machine="ovo", **KERNELS[kernel])
    model.save(path)
    scaling = tmp_path / "m.libsvm.range"
    X = around(data, 40)
    scaled = X if model.scaling.kind == "none" else svm_scaled(X, scaling)
    assert scaling.exists() == (model.scaling.kind != "none")
    names = json.loads((tmp_path / "m.libsvm.names.json").read_text())
    there = Libsvm(path)
    told = [names["labels"][str(there.predict(x))] for x in scaled]
    assert told == model.predict(X).tolist()
    assert list(names["features"].values()) == list(data.features)


def test_labels_are_the_classes_where_these_are_numbers() -> None:
    """Otherwise 1, 2, ...; two names of one number count as no numbers."""
    X = np.arange(6.0)[:, None]
    for names, labels in (
        (("-1", "+1"), (-1, 1)),
        (("1", "1.0"), (1, 2)),
        (("0", "1e3"), (0, 1000)),
        (("1.5", "2"), (1, 2)),
        (("nan", "2"), (1, 2)),
        (("99999999999", "2"), (1, 2)),
    ):
        data = Dataset(X, np.array([0, 0, 0, 1, 1, 1]), names, ("x",))
        assert labels_of(fit(data, machine="ovo")) == labels


def test_fit_writes_for_libsvm_and_says_what_to_know(tmp_path: Path) -> None:
    """Labels, scaling and names on stderr; nothing is hidden in the model file."""
    path = tmp_path / "m.libsvm"
    line = ("fit", IRIS, "--machine", "ovo", "--gamma", 0.25, "-o", path)
    result = run(*line)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "1 is 'setosa', 2 is 'versicolor', 3 is 'virginica'" in result.stderr
    assert f"svm-scale -r {path}.range DATA" in result.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        *("m.libsvm", "m.libsvm.names.json", "m.libsvm.range"),
    ]
    plain = run(*line, "--scale", "none")
    assert "svm-scale" not in plain.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "'ww' is not LIBSVM's"),
        (("--machine", "ova"), "Train that one with --machine ovo"),
        (("--machine", "ovo", "--loss", "l2"), "no loss 'l2'"),
        (("--machine", "ovo", "--kernel", "precomputed"), "precomputed kernel cannot"),
        (
            ("--machine", "ovo", "--kernel", "polynomial", "--degree", "2.5"),
            "whole degrees only, not 2.5",
        ),
    ],
)
def test_what_libsvm_has_not_is_refused_before_training(
    options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    """Exit 2 and no file, though the data are not even there."""
    path = tmp_path / "m.libsvm"
    result = run("fit", tmp_path / "none.csv", *options, "-o", path)
    assert result.exit_code == 2
    assert words in result.stderr
    assert list(tmp_path.iterdir()) == []
    if "precomputed" not in options:
        values = dict(zip([o[2:] for o in options[::2]], options[1::2], strict=True))
        model = fit(load_csv(IRIS), **values, scale="none", allow_indefinite=True)
        for hand_over in (to_sklearn, lambda model: model.save(path)):
            with pytest.raises(SettingsError, match=words):
                hand_over(model)


def test_no_data_are_written_over(tmp_path: Path) -> None:
    """Nor by a file that goes beside the model."""
    data = tmp_path / "m.libsvm.range"
    data.write_text(IRIS.read_text())
    line = ("fit", data, "--machine", "ovo", "-o", tmp_path / "m.libsvm")
    refused = run(*line)
    assert refused.exit_code == 2
    assert "is the file that is read" in refused.stderr


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("name", ["iris", "glass"])
def test_scikit_learn_gets_the_same_machine(name: str, kernel: str) -> None:
    """Labels and decisions on new rows, pickled too; and SVC's own, trained there."""
    data = load_csv(DATA / f"{name}.csv")
    model, X = fit(data, machine="ovo", **KERNELS[kernel]), around(data)
    handed = pickle.loads(pickle.dumps(to_sklearn(model)))
    svc = handed[-1]
    assert handed.predict(X).tolist() == model.predict(X).tolist()
    wide = handed.decision_function(X)
    assert wide.shape == (ROWS, data.Q)
    svc.set_params(decision_function_shape="ovo")
    f = model.pair_decisions(X)
    assert np.allclose(handed.decision_function(X), f, rtol=1e-9, atol=1e-9)
    assert svc.n_support_.sum() == model.support.size
    assert handed.score(data.X, np.array(data.classes)[data.y]) == pytest.approx(
        1.0 - model.training.train_errors / data.m
    )
    if kernel == "sigmoid":  # indefinite: LIBSVM may end elsewhere
        return
    scaler = {"standard": StandardScaler, "minmax": MinMaxScaler}
    Z, there = data.X, X
    if model.scaling.kind != "none":
        scaling = scaler[model.scaling.kind]().fit(data.X)
        Z, there = scaling.transform(Z), scaling.transform(X)
    peer = SVC(**{**svc.get_params(), "tol": 1e-8}).fit(Z, data.y)
    assert abs(peer.dual_coef_.shape[1] - svc.dual_coef_.shape[1]) <= 2
    size = max(1.0, np.abs(f).max())
    assert np.abs(peer.decision_function(there) - f).max() < 1e-5 * size


def test_scikit_learn_has_two_classes_the_other_way_round() -> None:
    """A decision > 0 means the second, and coef_ is that of the same machine."""
    data = load_csv(IRIS)
    two = data.y < 2
    data = Dataset(data.X[two], data.y[two], data.classes[:2], data.features)
    model = fit(data, machine="ovo", kernel="linear", scale="none")
    svc = to_sklearn(model)[-1]
    peer = SVC(kernel="linear", tol=1e-8).fit(data.X, data.y)
    assert np.allclose(svc.coef_, peer.coef_, atol=1e-5)
    assert np.allclose(svc.intercept_, peer.intercept_, atol=1e-4)
    f = svc.decision_function(data.X)
    assert np.allclose(f, -model.pair_decisions(data.X)[:, 0])
    assert (svc.predict(data.X) == model.predict(data)).all()


def test_scikit_learn_fills_as_the_model_does() -> None:
    """A model that fills missing values has an imputer; lost classes are not there."""
    data = with_a_class_less()
    gaps = data.X.copy()
    gaps[::7, 0] = np.nan
    data = Dataset(gaps, data.y, data.classes, data.features)
    model = fit(data, machine="ovo", gamma=0.2)
    handed = to_sklearn(model)
    assert [name for name, _ in handed.steps] == ["imputer", "scaler", "svc"]
    assert handed.predict(gaps).tolist() == model.predict(data).tolist()
    assert handed.classes_.tolist() == [data.classes[0], data.classes[2]]


def test_many_classes_of_few_samples() -> None:
    """Sixty classes of two samples: 1,770 pairs, in no time and without a warning."""
    Q = 60
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(Q), 2)
    X = 3.0 * rng.normal(size=(Q, 5))[y] + 0.3 * rng.normal(size=(y.size, 5))
    data = Dataset(X, y, tuple(f"c{k}" for k in range(Q)), tuple("abcde"))
    model = fit(data, machine="ovo", C=4)
    new = around(data, 300)
    assert to_sklearn(model).predict(new).tolist() == model.predict(new).tolist()
    f, votes = model.pair_decisions(new), np.zeros((300, Q))
    for t, (first, second) in enumerate(model.pairs):
        votes[:, first] += f[:, t] > 0
        votes[:, second] += f[:, t] <= 0
    assert np.array_equal(model.outputs(new), votes)


def test_an_unconverged_machine_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without support vectors; it says so in its certificate."""
    monkeypatch.setitem(SOLVERS, "exact", Idle)
    model = fit(data_for("rbf"), machine="ovo")
    assert not model.certificate.converged
    path = tmp_path / "m.json"
    model.save(path)
    again: Model = load_model(path)
    assert again.b.tolist() == model.b.tolist()
    assert again.tau.shape == (model.support.size, 3)
