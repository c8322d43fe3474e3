"""The estimator that chooses: the sweep's choice, in scikit-learn's words."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import metrics
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    ParameterGrid,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from msvm_select import run_sweep
from msvm_select.estimator import MSVMClassifier, MSVMSearchCV
from msvm_select.sweep import telling
from tests.conftest import PROBLEMS

SMALL: dict[str, Any] = {"C": [0.5, 8.0], "gamma": [0.1, 1.0]}
THREE = PROBLEMS["three"]
FEW: dict[str, Any] = {"C": [2.0], "gamma": [0.1, 1.0]}
CHECKED = [
    MSVMSearchCV(**FEW),
    MSVMSearchCV(**SMALL, machine="ovo", criteria="cv:2", select="simplest"),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    """Each check of scikit-learn's own passes."""
    check(estimator)


def other_choice(search: Any) -> dict[str, str]:
    """Of copies one is left out at a time, a weight leaves as a whole."""
    copies = "check_sample_weight_equivalence_on_dense_data"
    return {copies: "another cell is best"} if search.machine == "ova" else {}


@pytest.mark.slow
@parametrize_with_checks(
    [MSVMSearchCV(), MSVMSearchCV(machine="ova", loss="l2")],
    expected_failed_checks=other_choice,
)
def test_scikit_learn_checks_of_the_defaults(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    """On the grid that is tried where none is given, which widens itself."""
    check(estimator)


@pytest.mark.parametrize("machine", ["ww", "ovo", "ova"])
@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_the_choice_is_that_of_the_sweep(machine: str, loss: str) -> None:
    """And its machine is that of MSVMClassifier with the best parameters."""
    how: dict[str, Any] = {"machine": machine, "loss": loss}
    search = MSVMSearchCV(**SMALL, **how).fit(THREE.X, THREE.y)
    found = run_sweep((THREE.X, THREE.y), **SMALL, **how, scale="none")
    best = found.best
    assert best is not None
    point = {"C": best.C, "kernel": "rbf", "gamma": best.gamma}
    assert search.best_params_ == point
    assert search.best_score_ == 1.0 - best.loo_rate
    one = MSVMClassifier(**search.best_params_, **how).fit(THREE.X, THREE.y)
    there = np.random.default_rng(0).standard_normal((50, THREE.X.shape[1]))
    apart = one.decision_function(there) - search.decision_function(there)
    assert np.abs(apart).max() < 1e-6
    assert search.predict(there).tolist() == one.predict(there).tolist()
    assert search.classes_.tolist() == [0, 1, 2]


def test_the_results_are_those_of_leave_one_out_by_refits() -> None:
    """Cell by cell GridSearchCV(SVC(), cv=LeaveOneOut()): means, spreads, ranks."""
    ours = MSVMSearchCV(**SMALL, machine="ovo").fit(THREE.X, THREE.y).cv_results_
    search = GridSearchCV(SVC(tol=1e-8), SMALL, cv=LeaveOneOut())
    theirs = search.fit(THREE.X, THREE.y).cv_results_
    for name in ("mean_test_score", "std_test_score", "rank_test_score"):
        assert np.allclose(ours[name], theirs[name]), name
    for name in ("param_C", "param_gamma"):
        assert ours[name].tolist() == theirs[name].tolist()


def test_the_rows_are_in_the_order_of_the_grid() -> None:
    """That of ParameterGrid; what a kernel has not is masked; our columns follow."""
    grids: dict[str, Any] = {"C": [1.0, 2.0], "gamma": [0.1, 0.5], "degree": [2.0]}
    kernels = ["linear", "polynomial"]
    search = MSVMSearchCV(**grids, kernel=kernels, coef0=1.0, criteria="sv-rate")
    found = search.fit(THREE.X, THREE.y).cv_results_
    expected = [{"C": C, "kernel": "linear"} for C in (1.0, 2.0)]
    poly = ParameterGrid({**grids, "coef0": [1.0], "kernel": ["polynomial"]})
    assert found["params"] == [*expected, *poly]
    assert found["param_gamma"].mask.tolist() == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    assert found["param_kernel"].tolist()[1:3] == ["linear", "polynomial"]
    frame = pd.DataFrame(found)
    assert frame["n_sv"].tolist() == (len(THREE.y) * frame["sv_rate"]).tolist()
    assert found["mean_test_score"][search.best_index_] == search.best_score_
    assert found["params"][search.best_index_] == search.best_params_
    assert "loo_rate" not in found


def test_without_grids_it_widens_as_the_command_does() -> None:
    """Five values of gamma, seven of C, and what lies beyond an edge."""
    X, y = THREE.X[:24], THREE.y[:24]
    found = MSVMSearchCV(machine="ovo").fit(X, y).results_
    same = run_sweep((X, y), machine="ovo", scale="none")
    assert [row.cell for row in found.rows] == [row.cell for row in same.rows]
    assert len(MSVMSearchCV(extend=0).fit(X, y).results_.rows) == 35


@pytest.mark.parametrize(
    ("criteria", "rank_by", "sign"),
    [("cv:3", None, 1.0), ("loo,radius-margin-l1", "radius-margin-l1", -1.0)],
)
def test_any_criterion_can_decide(
    criteria: str, rank_by: str | None, sign: int
) -> None:
    """The score of a rate is the accuracy, that of an index its negative."""
    search = MSVMSearchCV(**SMALL, criteria=criteria, rank_by=rank_by)
    search.fit(THREE.X, THREE.y)
    row = search.results_.best
    assert row is not None
    score = 1.0 - row.cv_error if rank_by is None else -row.radius_margin_l1
    assert search.best_score_ == score == search.cv_results_["mean_test_score"].max()
    assert (search.best_score_ > 0.0) is (sign > 0.0)


@pytest.mark.parametrize(
    ("metric", "peer"),
    [
        ("balanced-error", "balanced_accuracy_score"),
        ("macro-f1", "f1_score"),
        ("cost:costs.csv", "accuracy_score"),
        ("log-loss", ""),
        ("error", "accuracy_score"),
    ],
)
def test_any_metric_can_decide(
    metric: str, peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the pooled left-out answers, as scikit-learn has it of these."""
    monkeypatch.chdir(tmp_path)
    costs = "class,ant,bee,cow\nant,0,1,1\nbee,1,0,1\ncow,1,1,0\n"
    (tmp_path / "costs.csv").write_text(costs)
    words = np.array(["ant", "bee", "cow"])[THREE.y]
    search = MSVMSearchCV(**SMALL, machine="ovo", metric=metric).fit(THREE.X, words)
    assert search.best_score_ == np.nanmax(search.cv_results_["mean_test_score"])
    if not peer:
        assert search.best_score_ < 0.0
        return
    point = {name: search.best_params_[name] for name in ("C", "gamma")}
    svc = SVC(**point, tol=1e-8)
    told = cross_val_predict(svc, THREE.X, words, cv=LeaveOneOut())
    how = {"average": "macro"} if peer == "f1_score" else {}
    score = getattr(metrics, peer)(words, told, **how)
    off = 1.0 if metric.startswith("cost") else 0.0  # a cost is no share
    assert search.best_score_ == pytest.approx(score - off)


def test_a_score_that_does_not_hold_is_none_and_last() -> None:
    """Of a bound that does not apply, and of a cell that lost a race."""
    bound = MSVMSearchCV([0.01, 1e3], gamma=1.0, criteria="radius-margin")
    found = bound.fit(THREE.X, THREE.y).cv_results_
    assert np.isnan(found["mean_test_score"]).tolist() == [True, False]
    assert found["rank_test_score"].tolist() == [2, 1]
    race = MSVMSearchCV([0.001, 1.0], gamma=[0.1, 1.0], race=1)
    found = race.fit(THREE.X, THREE.y).cv_results_
    lost = np.isnan(found["mean_test_score"])
    assert lost.any()
    assert (found["loo_errors_low"][lost] > found["loo_errors_low"][~lost].min()).all()


def test_in_a_pipeline_and_within_cross_validation() -> None:
    """Scaled before it, chosen anew in each fold; and found again by a clone."""
    pipeline = make_pipeline(StandardScaler(), MSVMSearchCV(**SMALL, machine="ovo"))
    assert cross_val_score(pipeline, THREE.X, THREE.y, cv=3).shape == (3,)
    score = pipeline.fit(THREE.X, THREE.y).score(THREE.X, THREE.y)
    assert score == np.mean(pipeline.predict(THREE.X) == THREE.y)
    again = clone(pipeline)
    assert not hasattr(again[-1], "results_")
    assert again.fit(THREE.X, THREE.y)[-1].best_params_ == pipeline[-1].best_params_


def test_scale_is_that_of_the_command() -> None:
    """With its own scaling it needs no pipeline."""
    own = MSVMSearchCV(**SMALL, scale="standard").fit(10.0 * THREE.X, THREE.y)
    scaled = StandardScaler().fit_transform(THREE.X)
    given = MSVMSearchCV(**SMALL).fit(scaled, THREE.y)
    assert own.best_params_ == given.best_params_
    ours, theirs = (s.cv_results_["loo_errors"] for s in (own, given))
    assert ours.tolist() == theirs.tolist()
    assert own.predict(10.0 * THREE.X).tolist() == given.predict(scaled).tolist()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_data_frames(kind: str) -> None:
    """Names are kept and checked; labels may be words."""
    package = pytest.importorskip(kind)
    columns = [f"f{j}" for j in range(THREE.X.shape[1])]
    frame = package.DataFrame(dict(zip(columns, THREE.X.T, strict=True)))
    words = np.array(["ant", "bee", "cow"])[THREE.y]
    search = MSVMSearchCV(**SMALL).fit(frame, package.Series(words.tolist()))
    plain = MSVMSearchCV(**SMALL).fit(THREE.X, words)
    assert search.feature_names_in_.tolist() == columns
    assert search.predict(frame).tolist() == plain.predict(THREE.X).tolist()
    assert search.best_estimator_.model_.columns.features == tuple(columns)
    with pytest.raises(ValueError, match="feature names should match"):
        search.predict(frame[columns[::-1]])


def test_a_sparse_matrix_is_refused_with_the_way_out() -> None:
    """It would not fit into memory as it does now."""
    for machine in (MSVMSearchCV(**SMALL), MSVMClassifier()):
        with pytest.raises(TypeError, match=r"Sparse data.*toarray\(\)"):
            machine.fit(csr_array(THREE.X), THREE.y)


def test_a_precomputed_kernel() -> None:
    """Its columns follow the samples, so that it can be cross-validated."""
    K = rbf_kernel(THREE.X, gamma=0.1)
    given = MSVMSearchCV(C=[0.5, 8.0], kernel="precomputed").fit(K, THREE.y)
    plain = MSVMSearchCV(C=[0.5, 8.0], gamma=0.1).fit(THREE.X, THREE.y)
    assert given.best_params_ == {"C": plain.best_params_["C"], "kernel": "precomputed"}
    assert given.predict(K).tolist() == plain.predict(THREE.X).tolist()
    assert cross_val_score(given, K, THREE.y, cv=3).shape == (3,)


def test_without_a_refit_there_is_no_machine() -> None:
    """But the choice; and the way to train one."""
    search = MSVMSearchCV(**SMALL, refit=False).fit(THREE.X, THREE.y)
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "predict")
    with pytest.raises(AttributeError) as caught:
        search.decision_function(THREE.X)
    assert "MSVMClassifier(**search.best_params_)" in str(caught.value.__cause__)
    assert MSVMClassifier(**search.best_params_).fit(THREE.X, THREE.y).model_


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"C": "one"}, "C: 'one' is not a number"),
        ({"criteria": "lo"}, "no criterion 'lo'.*did you mean 'loo'"),
        ({"kernel": "sigmoid", "gamma": 1.0}, "No cell has a score by loo.*indefinite"),
        ({"degree": 2}, "degree is given, but no chosen kernel"),
        ({"select": "first"}, "no rule 'first'"),
    ],
)
def test_what_it_cannot_use_is_a_value_error(
    values: dict[str, Any], words: str
) -> None:
    """As scikit-learn's users expect, with the words of the package."""
    with pytest.raises(ValueError, match=words):
        MSVMSearchCV(**values).fit(THREE.X, THREE.y)


def test_numpy_makes_grids_too() -> None:
    """Arrays, and numbers of numpy's kinds."""
    given = MSVMSearchCV(np.logspace(0, 1, 2), gamma=np.float32(0.5), jobs=np.int64(1))
    assert given.fit(THREE.X, THREE.y).best_params_["gamma"] == 0.5


def test_the_number_of_jobs_changes_nothing() -> None:
    """Not one number, but the times."""
    one, two = (MSVMSearchCV(**SMALL, jobs=n).fit(THREE.X, THREE.y) for n in (1, 2))
    for name, values in one.cv_results_.items():
        if name != "seconds":
            assert np.array_equal(values, two.cv_results_[name]), name


def test_it_can_be_pickled_and_seen() -> None:
    """The page of a notebook has the best machine in it, once there is one."""
    search = MSVMSearchCV(**SMALL)
    assert "best_estimator_" not in search._repr_html_()
    search.fit(THREE.X, THREE.y)
    shown = search._repr_html_()
    assert "best_estimator_: MSVMClassifier" in shown
    again = pickle.loads(pickle.dumps(search))
    assert again.predict(THREE.X).tolist() == search.predict(THREE.X).tolist()
    assert again.results_.best == search.results_.best


def test_verbose_tells_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """2 tells every cell; 1 the beginning, the end, and now and then; 0 nothing."""
    lines = {}
    for verbose in (0, 1, 2):
        MSVMSearchCV(**SMALL, verbose=verbose).fit(THREE.X, THREE.y)
        captured = capsys.readouterr()
        assert captured.out == ""
        lines[verbose] = captured.err.splitlines()
    assert lines[0] == []
    assert lines[1][0].startswith("data: 40 samples, 3 features, 3 classes; cells: 4")
    chosen = [line for line in lines[1] if line.startswith("Chosen of 4 cells: rbf")]
    assert "loo_rate 0." in chosen[0]
    assert any("Warning: the best C" in line for line in lines[1])
    assert sum("of 4 cells, " in line for line in lines[2]) == 4
    monkeypatch.setattr(telling, "EVERY", 0.0)
    MSVMSearchCV(**SMALL, verbose=1).fit(THREE.X, THREE.y)
    assert capsys.readouterr().err.count("of 4 cells, ") == 4
