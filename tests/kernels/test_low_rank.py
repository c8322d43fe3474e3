"""Kernel matrices of low rank: pivots, machines, left-out samples, files, messages."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from msvm_select import fit, load_csv, memory, run_sweep
from msvm_select.errors import SettingsError
from msvm_select.estimator import MSVMClassifier, MSVMSearchCV
from msvm_select.estimator.svc import to_sklearn
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.inner_products import Linear, Polynomial, Sigmoid
from msvm_select.kernels.low_rank import LowRank, kernel_of, pivots_of
from msvm_select.kernels.rbf import Rbf
from msvm_select.kernels.sequences import Spectrum, as_numbers
from msvm_select.model.file import load_model
from msvm_select.names import LOSSES, MACHINES
from msvm_select.records import Dataset, Dual, Floats, Gram
from msvm_select.settings import settings_from
from msvm_select.solvers.exact.solver import Exact
from msvm_select.train import prepare
from msvm_select.train.along_C import along_C, train_cell
from msvm_select.train.prepare import prepared
from tests.conftest import DATA, IRIS, rows_of, run

VEHICLE = DATA / "vehicle.csv"
CELL = ("--C", 1, "--gamma", 0.1)
KERNELS = (Rbf(0.3), Polynomial(gamma=0.5, degree=2.0), Linear())


def blobs(m: int = 60, n: int = 3, Q: int = 3, seed: int = 0) -> Dataset:
    """Some overlapping classes, one of them with twins, one column constant."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % Q
    X = rng.normal(size=(m, n)) + 1.2 * rng.normal(size=(Q, n))[y]
    X[:, -1] = 2.0
    X[4:8] = X[0:4]
    names = tuple(f"x{j}" for j in range(n))
    return Dataset(X, y, tuple("abcdefgh"[:Q]), names)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_approximation_is_below_K_and_ever_nearer(kernel: Kernel) -> None:
    """Z Z' and K - Z Z' are PSD, exact at the pivots; the errors told are true."""
    X = blobs().X
    K, before = kernel.gram(X).matrix, math.inf
    for rank in (1, 2, 4, 8, 16, 60):
        low = LowRank(kernel, rank).on(X)
        near, found = low.gram(X).matrix, low.pivots
        left = K - near
        size = np.trace(K)
        assert np.linalg.eigvalsh(near)[0] > -1e-12 * size
        assert np.linalg.eigvalsh(left)[0] > -1e-10 * size
        assert np.abs(left[found.rows]).max() < 1e-10 * size
        assert found.error == pytest.approx(np.trace(left) / size, abs=1e-12)
        assert found.residual == pytest.approx(np.abs(left).max(), abs=1e-10 * size)
        assert found.error <= before
        before = found.error
    assert before < 1e-11


def test_it_ends_where_nothing_is_left() -> None:
    """Twins, a rank beyond m, a linear kernel's dimension, a matrix of zeros."""
    data = blobs()
    assert pivots_of(Rbf(0.5), data.X, 500).rank == 56  # four rows stand there twice
    centred = data.X - data.X.mean(axis=0)
    assert pivots_of(Linear(), centred, 30).rank == 2  # and a column is constant
    nothing = pivots_of(Linear(), np.zeros((5, 2)), 3)
    assert (nothing.rank, nothing.error, nothing.residual) == (0, 0.0, 0.0)
    words = as_numbers(["acgta", "acgta", "ttgac"], 5)
    assert pivots_of(Spectrum(degree=2.0), words, 3).rank == 2


def test_between_is_the_gram_matrix_and_survives_a_pickle() -> None:
    """New samples meet the same features, in another process too."""
    X = blobs().X
    low = LowRank(Rbf(0.3), 7).on(X)
    assert np.allclose(low.between(X[:9], X), low.gram(X).matrix[:9], atol=1e-13)
    sent = pickle.loads(pickle.dumps(low))
    assert sent == low
    assert sent.X is None
    assert (sent.between(X, X) == low.between(X, X)).all()
    assert low.dimension(3) == 7
    assert str(low) == "rbf gamma=0.3 low_rank=7"
    assert kernel_of("rbf", low.parameters) == low


def sweep(data: Dataset, **values: Any) -> list[tuple[Any, ...]]:
    """What must agree of two sweeps, by C."""
    rows = sorted(run_sweep(data, **values).rows, key=lambda row: row.C)
    assert {row.status for row in rows} == {"ok"}
    return [(row.loo_errors, row.train_errors, row.dual_objective) for row in rows]


def assert_alike(
    one: list[tuple[Any, ...]], other: list[tuple[Any, ...]], rel: float = 1e-9
) -> None:
    """The same errors, and the objective but for rounding."""
    assert [row[:2] for row in one] == [row[:2] for row in other]
    assert [row[2] for row in one] == pytest.approx([row[2] for row in other], rel=rel)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("machine", MACHINES)
def test_of_full_rank_it_is_the_exact_machine(machine: str, loss: str) -> None:
    """Objective to 1e-8, the same errors; a linear kernel needs but its dimension."""
    data = blobs()
    how: dict[str, Any] = {"machine": machine, "loss": loss, "C": [0.5, 8]}
    for kernel, rank in (("rbf", 60), ("linear", 2)):
        exact = sweep(data, kernel=kernel, **how)
        low = sweep(data, kernel=kernel, low_rank=rank, **how)
        assert_alike(exact, low, rel=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("machine", MACHINES)
def test_leave_one_out_is_that_of_the_approximate_machine(
    machine: str, loss: str, weighted: bool
) -> None:
    """Every sample against retraining on Z Z' without its row and column."""
    data = blobs(36)
    weights = np.random.default_rng(3).uniform(0.5, 2.0, 36) if weighted else None
    low = LowRank(Rbf(0.3), 6).on(data.X)
    K, solver = low.gram(data.X).matrix, Exact()
    whole = MACHINES[machine](LOSSES[loss]())
    gram = Gram(whole=K)
    trained = whole.train(solver, gram, data.y, 3, 2.0, weights=weights)
    found = whole.leave_out(solver, trained, every_margin=True).predicted
    at = np.arange(data.m)
    for p in range(0, data.m, 3):
        keep = np.flatnonzero(at != p)
        own = None if weights is None else weights[keep]
        other = whole.train(solver, gram.part(keep), data.y[keep], 3, 2.0, weights=own)
        assert found[p] == other.labels(K[p : p + 1, keep])[0]


@pytest.mark.parametrize("machine", MACHINES)
def test_without_the_matrix_it_is_the_same(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Held as Z alone: certified, the same cells; that of ova is never whole."""
    data = blobs(90)
    how: dict[str, Any] = {"machine": machine, "C": [0.5, 8], "low_rank": 8}
    before = sweep(data, **how)
    for name in ("WHOLE", "WHOLE_OF_ALL"):
        monkeypatch.setattr(prepare, name, 20)
    assert_alike(before, sweep(data, **how))
    settings = settings_from({**how, "C": 8, "gamma": 0.1})
    ready = prepared(data, settings)
    (cell,) = along_C(ready, ready.kernels[0])
    gram: Any = cell.cell.gram  # type: ignore[union-attr]
    assert gram.X.shape == (90, 8)
    assert "matrix" not in vars(gram)


def test_very_many_that_matter_are_held_as_features(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond AS_MATRIX samples a working set has no matrix either."""
    data = blobs(90)
    how: dict[str, Any] = {"C": [0.5, 8], "low_rank": 8}
    before = sweep(data, **how)
    monkeypatch.setattr(prepare, "WHOLE_OF_ALL", 20)
    monkeypatch.setattr("msvm_select.records.AS_MATRIX", 10)
    assert_alike(before, sweep(data, **how))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_machine_of_very_many_samples_needs_no_matrix(
    machine: str, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exact kernels in blocks, one against the rest and the linear one too."""
    data = blobs(90)
    how: dict[str, Any] = {"machine": machine, "C": [0.5, 8], "kernel": kernel}
    before = sweep(data, **how)
    for name in ("WHOLE", "WHOLE_OF_ALL"):
        monkeypatch.setattr(prepare, name, 20)
    assert_alike(before, sweep(data, **how))


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_model_is_an_expansion_over_the_pivots(
    machine: str, ending: str, tmp_path: Path
) -> None:
    """Its outputs on the training samples are those of the training, after a file."""
    data = blobs()
    how: dict[str, Any] = {"machine": machine, "C": 2.0, "gamma": 0.3, "low_rank": 9}
    model = fit(data, **how)
    path = tmp_path / f"model{ending}"
    model.save(path)
    again = load_model(path)
    trained = train_cell(data, settings_from(how))
    assert again.Z.shape[0] == 9
    assert again.training.low_rank == 9
    assert again.training.rank_error == trained.kernel.facts["rank_error"]
    h = again.outputs(data)
    assert np.allclose(h, trained.solution.outputs, atol=1e-9)
    assert "low_rank=9" in repr(again)
    if ending == ".json":
        assert json.loads(path.read_text())["format_version"] == 4


def test_a_class_that_is_not_there() -> None:
    """Of four named classes one has no sample: its pairs have no say."""
    data = blobs()
    four = Dataset(data.X, data.y, ("a", "b", "c", "d"), data.features)
    for machine in MACHINES:
        how: dict[str, Any] = {"machine": machine, "C": 2.0, "gamma": 0.3}
        model = fit(four, **how, low_rank=60)
        assert (model.predict(four) == fit(four, **how).predict(four)).all()


@pytest.mark.parametrize("Q", [2, 3, 4])
def test_scikit_learn_and_libsvm_take_it(Q: int, tmp_path: Path) -> None:
    """The pivots stand in every class but the last; the answers are the same."""
    data = blobs(60, Q=Q)
    model = fit(data, machine="ovo", C=2.0, gamma=0.3, low_rank=9)
    svc = to_sklearn(model)
    assert (svc.predict(data.X) == model.predict(data)).all()
    assert svc[-1].support_vectors_.shape[0] == 9 * (Q - 1)
    model.save(tmp_path / "model.libsvm")
    text = (tmp_path / "model.libsvm").read_text()
    assert f"total_sv {9 * (Q - 1)}" in text


@pytest.mark.parametrize("machine", MACHINES)
def test_onnx_takes_it(machine: str, tmp_path: Path) -> None:
    """Scores and labels of onnxruntime are those of the model."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    data = blobs()
    model = fit(data, machine=machine, C=2.0, gamma=0.3, low_rank=9)
    path = tmp_path / "model.onnx"
    model.save(path)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    label, scores = session.run(None, {"X": data.X})
    assert np.allclose(scores, model.outputs(data), atol=1e-9)
    assert (label == model.predict(data)).all()


def test_the_pivots_of_a_fold_are_of_its_training_part() -> None:
    """cv: of full rank the errors are those of the exact kernel."""
    data = blobs()
    how: dict[str, Any] = {"C": [0.5, 8], "criteria": "cv:4", "gamma": 0.3}
    exact = [r.cv_error for r in run_sweep(data, **how).rows]
    assert [r.cv_error for r in run_sweep(data, low_rank=60, **how).rows] == exact


def test_every_output_names_it(tmp_path: Path) -> None:
    """Table, CSV, JSON, what is told, a machine from the results, the page's line."""
    out, page = tmp_path / "ranked.json", tmp_path / "page.html"
    said = ("sweep", IRIS, *CELL, "--rank", "5,40")
    done = run(*said, "-o", out, "--report", page)
    assert done.exit_code == 0
    assert "rbf gamma=0.1 low_rank=5: 5 dimensions leave " in done.stderr
    assert "of the trace of the kernel matrix" in done.stderr
    assert "low_rank" in run(*said).stdout.splitlines()[0]
    assert "rank_error" in run(*said).stdout.splitlines()[0]
    rows = {
        row["low_rank"]: row for row in rows_of(run(*said, "--format", "csv").stdout)
    }
    assert set(rows) == {"5", "40"}
    assert float(rows["5"]["rank_error"]) > float(rows["40"]["rank_error"]) > 0.0
    told = json.loads(out.read_text())
    assert told["settings"]["low_rank"] == [5, 40]
    assert {one["rank_used"] for one in told["gram"]} == {5, 40}
    assert "low-rank</span> <span>5,40</span>" in page.read_text()
    chosen = told["rows"][0]
    model = tmp_path / "model.json"
    assert run("fit", IRIS, "--from", out, "--rank", 1, "-o", model).exit_code == 0
    assert load_model(model).training.low_rank == chosen["low_rank"]
    ranked = run("rank", out, "--by", "train-errors")
    assert ranked.exit_code == 0


def test_rank_of_one_machine_is_a_row_only_with_from(tmp_path: Path) -> None:
    """``fit --rank 7`` is --low-rank; both, or two numbers, are refused."""
    model = tmp_path / "model.json"
    assert run("fit", IRIS, *CELL, "--rank", 7, "-o", model).exit_code == 0
    assert load_model(model).training.low_rank == 7
    assert "low_rank=7" in run("bound", IRIS, *CELL, "--rank", 7).stdout
    both = run("loo", IRIS, *CELL, "--rank", 7, "--low-rank", 7)
    assert both.exit_code == 2
    several = run("loo", IRIS, *CELL, "--rank", "7,8")
    assert several.exit_code == 2
    assert "low_rank has 2 values" in several.stderr


def test_what_is_no_rank_or_no_such_kernel_is_refused() -> None:
    """Whole numbers from 1; kernels that are positive semi-definite by theory."""
    for bad in ("0", "2.5", "many"):
        assert run("sweep", IRIS, "--rank", bad).exit_code == 2
    for kernel in ("sigmoid", "precomputed"):
        done = run("sweep", IRIS, "--kernel", kernel, "--rank", 5)
        assert done.exit_code == 2
        assert "low_rank is given, but no chosen kernel" in done.stderr
    odd = run("sweep", IRIS, "--kernel", "poly", "--degree", 2.5, "--rank", 5)
    assert odd.exit_code == 2
    assert "positive semi-definite by theory" in odd.stderr
    with pytest.raises(SettingsError, match="leave out --rank"):
        LowRank(Sigmoid(), 3)


def test_journals_and_shards_know_it(tmp_path: Path) -> None:
    """Resumed where it is the same, refused where it is exact."""
    journal = ("--journal", tmp_path / "j.ndjson")
    assert run("sweep", IRIS, *CELL, "--rank", 5, *journal).exit_code == 0
    again = run("sweep", IRIS, *CELL, "--rank", 5, *journal, "--resume")
    assert "1 finished cell" in again.stderr
    exact = run("sweep", IRIS, *CELL, *journal, "--resume")
    assert exact.exit_code == 2
    assert "low_rank: the journal has 5; this sweep has none" in exact.stderr


def test_memory_is_told_and_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--dry-run has the features' bytes; what does not fit names the ways out."""
    plan = json.loads(
        run("sweep", IRIS, *CELL, "--rank", 40, "--dry-run", "--format", "json").stdout
    )
    assert plan["factor_bytes"] == 3 * 8 * 150 * 40
    monkeypatch.setattr(prepare, "WHOLE_OF_ALL", 400)
    monkeypatch.setattr("msvm_select.footprint.WORKING_SET", 50)
    monkeypatch.setattr(memory, "available", lambda: 600_000)
    model = tmp_path / "model.json"
    assert run("fit", VEHICLE, *CELL, "--rank", 20, "-o", model).exit_code == 0
    monkeypatch.setattr(memory, "available", lambda: 300_000)
    done = run("sweep", VEHICLE, *CELL, "--rank", 200)
    assert done.exit_code == 3
    assert "200 dimensions of 846 samples take" in done.stderr
    assert "say --rank 14, or --subsample " in done.stderr


def test_python_and_scikit_learn_take_it() -> None:
    """MSVMClassifier(low_rank=), MSVMSearchCV(low_rank=[..]), an executor."""
    data = load_csv(IRIS)
    one = MSVMClassifier(C=1.0, gamma=0.1, scale="standard", low_rank=12)
    model = fit(data, C=1.0, gamma=0.1, low_rank=12)
    predicted = one.fit(data.X, np.array(data.classes)[data.y]).predict(data.X)
    assert (predicted == model.predict(data)).all()
    search = MSVMSearchCV(C=1, gamma=0.1, scale="standard", low_rank=[2, 12])
    search.fit(data.X, data.y)
    assert search.best_params_["low_rank"] in (2, 12)
    assert search.best_estimator_.model_.training.low_rank in (2, 12)


def test_the_dual_is_that_of_the_features() -> None:
    """The machine on Z Z' is the linear machine on Z, certified by itself."""
    data = blobs()
    low = LowRank(Rbf(0.3), 6).on(data.X)
    Z: Floats = low.features(data.X)
    by_Z = Exact().solve(Dual(Gram(factor=Z), data.y, 3, 2.0))
    by_K = Exact().solve(Dual(low.gram(data.X), data.y, 3, 2.0))
    assert by_Z.gap < 1e-9
    assert by_Z.dual_objective == pytest.approx(by_K.dual_objective, rel=1e-9)
