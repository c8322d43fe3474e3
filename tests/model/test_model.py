"""A model gives what its machine gave, in memory and from either kind of file."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import msvm_select
from msvm_select import fit, load_csv, load_model
from msvm_select.criteria.cross_validation import Part
from msvm_select.errors import DataError, KernelError, MsvmError, SettingsError
from msvm_select.kernels.inner_products import Linear
from msvm_select.model import model as model_module
from msvm_select.model.file import FORMAT_VERSION
from msvm_select.model.fitting import model_of
from msvm_select.model.model import Model
from msvm_select.names import KERNELS, SOLVERS
from msvm_select.records import Dataset, Dual, Floats, Scaling
from msvm_select.settings import default_gamma, settings_from
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver
from msvm_select.train.along_C import train_cell
from tests.conftest import IRIS, PROBLEMS, Problem

SETTINGS: dict[str, dict[str, Any]] = {
    "polynomial": {"degree": 2},
    "rbf": {"gamma": 0.3, "scale": "minmax"},
    "sigmoid": {"gamma": 0.01, "allow_indefinite": True},
}
"""What is not the default, by kernel."""


def dataset(problem: Problem, X: Floats | None = None) -> Dataset:
    """A problem as data, with labels that a csv has to quote."""
    X = problem.X if X is None else X
    labels = ('with "quotes"', "a, b", "ö", "1", " ", "")[: problem.Q]
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Dataset(X, problem.y, labels, names)


def data_for(kernel: str) -> Dataset:
    """Three classes, as features, the kernel values between them, or sequences."""
    problem = PROBLEMS["three"]
    if kernel in ("spectrum", "mismatch"):
        letters = np.random.default_rng(0).integers(0, 3, (problem.y.size, 9))
        X = np.array([97.0, 99.0, 103.0])[letters]
        return replace(dataset(problem, X), alphabet="dna")
    if kernel != "precomputed":
        return dataset(problem)
    return dataset(problem, Linear().gram(problem.X).matrix + 1.0)


@pytest.fixture(params=list(KERNELS))
def trained(request: pytest.FixtureRequest) -> tuple[Dataset, Model]:
    """Data and a model of them, for each kernel in turn."""
    data = data_for(request.param)
    return data, fit(
        data, kernel=request.param, C=0.7, **SETTINGS.get(request.param, {})
    )


class Idle(Solver):
    """Stops before its first step."""

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """alpha = 0, not converged."""
        zero = np.zeros((dual.m, dual.Q))
        return Solution(dual, zero, zero, converged=False, reason="nothing was done")


def pair() -> Model:
    """The points -1 and 1: everything is symmetric about 0."""
    X = np.array([[-1.0], [1.0]])
    data = Dataset(X, np.array([0, 1]), ("left", "right"), ("x",))
    return fit(data, kernel="linear", C=1, scale="none")


def same(one: Model, other: Model) -> bool:
    """Whether two models hold the same, to the last bit."""
    arrays = ("support", "Z", "tau", "b")
    plain = ("kernel", "C", "classes", "columns", "certificate", "training", "versions")
    parts = ("fill", "shift", "scale")
    return (
        all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)
        and all(getattr(one, name) == getattr(other, name) for name in plain)
        and one.scaling.kind == other.scaling.kind
        and all(
            np.array_equal(getattr(one.scaling, p), getattr(other.scaling, p))
            for p in parts
        )
    )


def test_outputs_are_those_of_the_solution(trained: tuple[Dataset, Model]) -> None:
    """On the training samples h is F + b of the machine, and so are its errors."""
    data, model = trained
    X = Scaling.fit(data.X, model.scaling.kind).apply(data.X)
    dual = Dual(model.kernel.gram(X), data.y, data.Q, model.C)
    solution = SOLVERS["exact"]().solve(dual)
    assert np.allclose(model.outputs(data), solution.outputs, rtol=0, atol=1e-8)
    wrong = model.predict(data) != np.array(data.classes)[data.y]
    assert wrong.sum() == model.training.train_errors == solution.train_errors
    assert model.training.n_sv == model.support.size == solution.n_sv
    assert model.certificate.converged
    assert model.certificate.gap <= 1e-8


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_file_keeps_every_bit(
    trained: tuple[Dataset, Model], tmp_path: Path, ending: str
) -> None:
    """What is read back is the same, and so are all its outputs, bit for bit."""
    data, model = trained
    path = tmp_path / f"model.{ending}"
    model.save(path)
    again = load_model(path)
    assert same(again, model)
    assert np.array_equal(again.outputs(data), model.outputs(data))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_the_default_gamma_is_that_of_a_sweep() -> None:
    """1 / (features x variance) of the scaled features."""
    data = dataset(PROBLEMS["two"])
    for scale in ("standard", "minmax", "none"):
        model = fit(data, scale=scale)
        X = Scaling.fit(data.X, scale).apply(data.X)
        assert model.kernel.parameters == {"gamma": default_gamma(X)}


def test_sigma_stands_for_gamma() -> None:
    """gamma = 1 / (2 sigma^2)."""
    data = dataset(PROBLEMS["two"])
    assert fit(data, sigma=2).kernel.parameters == {"gamma": 0.125}


def test_blocks_change_nothing(
    trained: tuple[Dataset, Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row by row the outputs are what they are all at once."""
    data, model = trained
    whole = model.outputs(data)
    monkeypatch.setattr(model_module, "BLOCK", 1)
    assert np.allclose(model.outputs(data), whole, rtol=0, atol=1e-10)


def test_nothing_to_classify_gives_nothing() -> None:
    """No rows in, no labels out."""
    assert pair().predict(np.empty((0, 1))).shape == (0,)


def test_an_exact_tie_gives_the_question_mark() -> None:
    """Half way between two points no class is larger."""
    model = pair()
    assert model.predict([[0.0], [-1e-9], [1e-9]]).tolist() == ["?", "left", "right"]


def test_a_tie_but_for_rounding_is_one_for_whoever_counts_errors() -> None:
    """predict, train_errors and cross-validation agree where classes are alike."""
    rows = np.arange(24)
    data = dataset(Problem((rows[:, None] % 5 < 2).astype(float), rows % 3, 3))
    trained = train_cell(data, settings_from({"C": 1e-3}))
    model = model_of(trained, "exact")
    wrong = model.predict(data) != np.array(data.classes)[data.y]
    part = Part.of(trained.cell, (rows, rows)).trained(trained.cell)
    assert model.training.train_errors == 20
    assert wrong.sum() == part.errors == 20


def test_a_tie_of_the_lesser_outputs_is_none() -> None:
    """Only the two largest count."""
    model = fit(dataset(PROBLEMS["three"]))
    labels = model.labels(np.array([[2.0, 1.0, 1.0], [2.0, 1.0, 2.0]]))
    assert labels.tolist() == [model.classes[0], "?"]


def test_a_dataset_is_taken_by_name() -> None:
    """Another order of the features, or more of them, gives the same."""
    data = load_csv(IRIS)
    model = fit(data)
    turned = replace(data, X=data.X[:, ::-1], features=data.features[::-1])
    assert np.array_equal(model.outputs(turned), model.outputs(data.X))
    more = replace(
        data,
        X=np.hstack([np.ones((data.m, 1)), data.X]),
        features=("more", *data.features),
    )
    assert np.array_equal(model.outputs(more), model.outputs(data.X))


def test_a_dataset_without_a_feature_is_refused_by_name() -> None:
    """The message names what is lost and what may be meant."""
    data = load_csv(IRIS)
    names = ("Sepal_length", *data.features[1:])
    with pytest.raises(DataError, match=r"'sepal_length_cm' \(did.*'Sepal_length'"):
        fit(data).outputs(replace(data, features=names))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[1.0, 2.0]], "2 features; the model was trained on 1: 'x'"),
        ([1.0], "rows of a table"),
        ([[0.0], [np.inf]], "Sample 2 is so far"),
    ],
)
def test_unusable_samples_are_refused(X: Any, words: str) -> None:
    """Too many features, no table, a value beyond all others: each in words."""
    with pytest.raises(DataError, match=words):
        pair().outputs(X)


def test_missing_values_take_the_training_means() -> None:
    """NaN stands for the training mean, in a model that was trained to fill."""
    data = dataset(PROBLEMS["three"])
    holes, means = data.X.copy(), data.X.copy()
    holes[::2, 1], means[::2, 1] = np.nan, np.nanmean(data.X[1::2, 1])
    model = fit(replace(data, X=holes))
    assert np.allclose(model.outputs(holes), model.outputs(means))


def test_missing_values_are_refused_by_a_model_that_does_not_fill() -> None:
    """With the sample and the feature; a Dataset that was read to be filled is not."""
    data = load_csv(IRIS)
    model = fit(data)
    holes = data.X.copy()
    holes[3, 1] = np.nan
    for X in (holes, replace(data, X=holes)):
        with pytest.raises(DataError, match=r"Sample 4 .*'sepal_width_cm' \(1 missing"):
            model.predict(X)
    assert data.columns is not None
    filled = replace(data, X=holes, columns=replace(data.columns, missing="mean"))
    assert len(model.predict(filled)) == data.m


def test_a_class_without_samples_is_never_predicted(tmp_path: Path) -> None:
    """Its output is -inf, from a file too."""
    data = replace(dataset(PROBLEMS["two"]), classes=("one", "two", "none"))
    model = fit(data)
    assert np.isneginf(model.outputs(data)[:, 2]).all()
    assert "none" not in model.predict(data)
    for ending in ("json", "npz"):
        model.save(tmp_path / f"model.{ending}")
        assert same(load_model(tmp_path / f"model.{ending}"), model)


def test_one_class_cannot_be_fitted() -> None:
    """Nothing to tell apart."""
    data = dataset(PROBLEMS["two"])
    with pytest.raises(DataError, match="no two classes"):
        fit(replace(data, y=np.zeros_like(data.y)))


def test_a_grid_is_for_the_sweep() -> None:
    """Two values of anything point there."""
    data = dataset(PROBLEMS["two"])
    for values in ({"C": "1,2"}, {"gamma": [1, 2]}, {"kernel": "rbf,linear"}):
        with pytest.raises(SettingsError, match="has 2 values.*msvm-select sweep"):
            fit(data, **values)  # type: ignore[arg-type]


def test_an_indefinite_matrix_is_refused() -> None:
    """Unless it is allowed; the certificate then says so."""
    data = dataset(PROBLEMS["three"])
    with pytest.raises(KernelError, match="indefinite.*allow_indefinite"):
        fit(data, kernel="sigmoid", gamma=1)
    allowed = fit(data, kernel="sigmoid", gamma=1, allow_indefinite=True)
    assert allowed.certificate.indefinite
    assert allowed.certificate.smallest_eigenvalue < 0


def test_an_unconverged_machine_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its certificate, in words, and still after a file; even if it is empty."""
    monkeypatch.setitem(SOLVERS, "exact", Idle)
    model = fit(dataset(PROBLEMS["three"]))
    assert not model.certificate.converged
    assert model.certificate.reason == "nothing was done"
    assert model.support.size == 0
    for ending in ("json", "npz"):
        model.save(tmp_path / f"m.{ending}")
        assert same(load_model(tmp_path / f"m.{ending}"), model)


def test_the_repr_is_one_line() -> None:
    """Kernel, C and sizes, no arrays."""
    assert repr(pair()) == "<Model linear: C=1; 2 classes, 2 support vectors>"


def test_an_ending_that_is_no_model_is_refused(tmp_path: Path) -> None:
    """Before anything is written."""
    for name in ("model.pkl", "model", "model.csv"):
        with pytest.raises(SettingsError, match=r"\.json or a \.npz"):
            pair().save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_model_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    """A renamed file still loads."""
    model = pair()
    model.save(tmp_path / "m.npz")
    (tmp_path / "m.npz").rename(tmp_path / "m.json")
    assert same(load_model(tmp_path / "m.json"), model)


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_part_of_a_model_is_refused(tmp_path: Path, ending: str) -> None:
    """Wherever a file is cut off, a DataError says that it is not whole."""
    path = tmp_path / f"m.{ending}"
    pair().save(path)
    data = path.read_bytes()
    for length in range(0, len(data.rstrip()), 97):
        path.write_bytes(data[:length])
        with pytest.raises(DataError, match="not a whole one"):
            load_model(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    """Text, other JSON, another npz, a folder, nothing at all: each is told."""
    (tmp_path / "t.json").write_text("a,b\n1,2\n")
    (tmp_path / "o.json").write_text('{"rows": []}')
    (tmp_path / "l.json").write_text("[1]")
    np.savez(tmp_path / "o.npz", X=np.ones(3))
    for name in ("t.json", "o.json", "l.json", "o.npz"):
        with pytest.raises(DataError, match=f"{name} is no model file"):
            load_model(tmp_path / name)
    with pytest.raises(DataError, match=r"did you mean 'o\.npz'"):
        load_model(tmp_path / "p.npz")
    with pytest.raises(DataError, match="irectory"):
        load_model(tmp_path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """With the way out, and before its entries are looked at."""
    text = {"format": "msvm-select model", "format_version": FORMAT_VERSION + 1}
    (tmp_path / "m.json").write_text(json.dumps(text))
    with pytest.raises(DataError, match="update msvm-select"):
        load_model(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tau": None}, "no entry 'tau'"),
        ({"kernel": {"name": "cubic"}}, "no entry 'cubic'"),
        ({"kernel": {"name": "rbf", "gamma": -1}}, "gamma = -1"),
        ({"kernel": {"name": "rbf"}}, "gamma"),
        ({"kernel": 3}, "damaged"),
        ({"Z": [[1.0], [1.0, 2.0]]}, "damaged"),
        ({"Z": [[1.0]]}, "Z has the shape"),
        ({"Z": []}, "Z has the shape"),
        ({"support": [0, "one"]}, "damaged"),
        ({"tau": [[1.0, None], [0.0, 1.0]]}, "tau has values that are not finite"),
        ({"b": [1.0]}, "b has the shape"),
        ({"classes": ["a", "a"]}, "classes"),
        ({"columns": {"header": ["x"]}}, "damaged"),
        ({"certificate": {"gap": 0.0}}, "damaged"),
    ],
)
def test_a_damaged_model_is_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    """An entry that is lost, of another kind or another size is told."""
    path = tmp_path / "m.json"
    pair().save(path)
    entries = {**json.loads(path.read_text()), **change}
    kept = {name: value for name, value in entries.items() if value is not None}
    path.write_text(json.dumps(kept))
    with pytest.raises(DataError, match=words):
        load_model(path)


def test_a_precomputed_model_points_into_its_columns(tmp_path: Path) -> None:
    """A support vector beyond the last column is refused."""
    path = tmp_path / "m.json"
    fit(data_for("precomputed"), kernel="precomputed").save(path)
    entries = json.loads(path.read_text())
    entries["support"][0] = 4000
    path.write_text(json.dumps(entries))
    with pytest.raises(DataError, match="support points"):
        load_model(path)


class Mischief:
    """Leaves a file behind where it is unpickled."""

    def __init__(self, path: Path) -> None:
        """``path``: the file."""
        self.path = str(path)

    def __reduce__(self) -> tuple[Any, ...]:
        """What a pickle would run."""
        return (open, (self.path, "w"))


def test_no_pickle_is_ever_read(tmp_path: Path) -> None:
    """An npz with an object in it is refused and the object never made."""
    trap = tmp_path / "trap"
    objects = np.array([Mischief(trap)], dtype=object)
    np.savez(tmp_path / "m.npz", meta=objects)
    with pytest.raises(DataError, match="no model file"):
        load_model(tmp_path / "m.npz")
    (tmp_path / "m.json").write_bytes(pickle.dumps(Mischief(trap)))
    with pytest.raises(DataError, match="no model file"):
        load_model(tmp_path / "m.json")
    assert not trap.exists()


def test_an_unwritable_place_is_told(tmp_path: Path) -> None:
    """No folder, or a folder in its place."""
    with pytest.raises(MsvmError, match="no folder"):
        pair().save(tmp_path / "nowhere" / "m.json")
    (tmp_path / "m.json").mkdir()
    with pytest.raises(MsvmError, match="is a folder"):
        pair().save(tmp_path / "m.json")


def test_the_import_is_light() -> None:
    """The package loads no array library until a name of it is asked for.

    What only reads data, results or models loads no solver.
    """
    code = (
        "import sys, msvm_select; assert 'fit' in dir(msvm_select); "
        "heavy = {'numpy', 'numba', 'pandas', 'scipy'} & set(sys.modules); "
        "assert not heavy, heavy; "
        "from msvm_select.cli import check, encode, merge, predict, rank; "
        "assert 'numba' not in sys.modules; "
        "from msvm_select import *; fit, load_csv, run_sweep"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_that_is_not_there_is_refused() -> None:
    """As from any module."""
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        _ = msvm_select.fitt


def test_columns_of_a_file_survive(tmp_path: Path) -> None:
    """One-hot categories, missing values and the id are kept for the prediction."""
    text = b'id,a,c,class\nr1,1,red,"x, y"\nr2,2,blue,z\nr3,,red,z\nr4,3,blue,"x, y"\n'
    data = load_csv(io.BytesIO(text), id_column="id", one_hot=["c"], missing="mean")
    model = fit(data)
    model.save(tmp_path / "m.npz")
    again = load_model(tmp_path / "m.npz")
    assert again.columns == data.columns
    assert again.classes == ("x, y", "z")


def test_a_model_without_the_newer_options_is_kept_as_before(tmp_path: Path) -> None:
    """Its file has no entry for them, and a file without them is read."""
    path = tmp_path / "m.json"
    fit(load_csv(IRIS)).save(path)
    columns = json.loads(path.read_text())["columns"]
    assert not {"decimal", "thousands", "drop"} & set(columns)
    again = load_model(path).columns
    assert (again.decimal, again.thousands, again.drop) == ("point", None, ())
