"""Groups in the estimator that chooses: no machine judges a group that it has seen."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    cross_val_predict,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from msvm_select.estimator import MSVMSearchCV
from tests.conftest import PROBLEMS

THREE = PROBLEMS["three"]
GROUPS = np.array(["x", "y", "z", "y", "x"] * 8)
GRID = {"C": [0.5, 8.0], "gamma": [0.1, 1.0]}


def test_each_cell_is_that_of_leave_one_group_out() -> None:
    """As scikit-learn's, answer for answer; by default, where there are groups."""
    search = MSVMSearchCV(**GRID, machine="ovo").fit(THREE.X, THREE.y, GROUPS)
    found = search.cv_results_
    for point, score in zip(found["params"], found["mean_test_score"], strict=True):
        peer = SVC(C=point["C"], gamma=point["gamma"], tol=1e-8)
        told = cross_val_predict(
            peer, THREE.X, THREE.y, groups=GROUPS, cv=LeaveOneGroupOut()
        )
        assert score == pytest.approx(np.mean(told == THREE.y))
    assert "loo_rate" not in found


def test_what_is_said_counts() -> None:
    """Another criterion; folds keep groups together."""
    search = MSVMSearchCV(**GRID, criteria="loo,cv:2").fit(THREE.X, THREE.y, GROUPS)
    assert "logo_rate" not in search.cv_results_
    plain = MSVMSearchCV(**GRID, criteria="loo,cv:2").fit(THREE.X, THREE.y)
    ours, theirs = search.cv_results_, plain.cv_results_
    assert ours["loo_rate"].tolist() == theirs["loo_rate"].tolist()
    assert ours["cv_error"].tolist() != theirs["cv_error"].tolist()


def test_probabilities_are_those_of_left_out_groups() -> None:
    """A copy of a sample in its group makes nothing surer."""
    twice = np.repeat(np.arange(THREE.y.size), 2)
    how = {**GRID, "probability": True, "machine": "ovo"}
    one = MSVMSearchCV(**how, criteria="train-errors")
    one.fit(THREE.X[twice], THREE.y[twice], groups=np.arange(twice.size) // 2)
    model = one.best_estimator_.model_
    other = MSVMSearchCV(**how, criteria="train-errors")
    other.fit(THREE.X[twice], THREE.y[twice])
    sure = other.best_estimator_.model_.calibration.temperature
    assert model.calibration.temperature > sure


def test_groups_are_routed() -> None:
    """Through a pipeline and cross-validation by groups, where they were requested."""
    with config_context(enable_metadata_routing=True):
        search = MSVMSearchCV(**GRID).set_fit_request(groups=True)
        pipeline = make_pipeline(StandardScaler(), search)
        pipeline.fit(THREE.X, THREE.y, groups=GROUPS)
        assert "logo_rate" in pipeline[-1].cv_results_
        found = cross_validate(
            pipeline, THREE.X, THREE.y, params={"groups": np.arange(40) // 4},
            cv=GroupKFold(3), error_score="raise",
        )  # fmt: skip
        assert found["test_score"].shape == (3,)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (GROUPS[:-1], "inconsistent numbers of samples"),
        (np.zeros(40), "all rows of data are of one group"),
    ],
)
def test_groups_that_cannot_be_are_refused(groups: np.ndarray, words: str) -> None:
    """As a ValueError, by name."""
    with pytest.raises(ValueError, match=words):
        MSVMSearchCV(**GRID).fit(THREE.X, THREE.y, groups)


def test_logo_needs_groups() -> None:
    """And says so."""
    with pytest.raises(ValueError, match="logo leaves out one group"):
        MSVMSearchCV(**GRID, criteria="logo").fit(THREE.X, THREE.y)
