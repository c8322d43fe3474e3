"""Weights of samples and classes in the estimators; routed as scikit-learn does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from msvm_select.estimator import MSVMClassifier, MSVMSearchCV
from tests.conftest import PROBLEMS

THREE = PROBLEMS["three"]
W = np.random.default_rng(0).integers(0, 4, THREE.y.size).astype(float)
TWICE = np.repeat(np.arange(THREE.y.size), W.astype(int))
THERE = np.random.default_rng(1).standard_normal((40, THREE.X.shape[1]))


@pytest.mark.parametrize("machine", ["ww", "ovo", "ova"])
@pytest.mark.parametrize("scale", ["none", "standard", "minmax"])
def test_a_weight_is_so_many_copies(machine: str, scale: str) -> None:
    """None where it is 0; the scaling and the default gamma count them too."""
    one = MSVMClassifier(machine=machine, scale=scale, class_weight="balanced")
    one.fit(THREE.X, THREE.y, sample_weight=W)
    two = MSVMClassifier(machine=machine, scale=scale, class_weight="balanced")
    two.fit(THREE.X[TWICE], THREE.y[TWICE])
    apart = one.decision_function(THERE) - two.decision_function(THERE)
    assert np.abs(apart).max() < 1e-8
    assert set(one.support_) == set(TWICE[two.support_])


def test_weights_and_those_of_classes_are_those_of_svc() -> None:
    """With one machine for each pair."""
    weights = {0: 2.0, 2: 0.5}
    ours = MSVMClassifier(machine="ovo", class_weight=weights)
    theirs = SVC(class_weight=weights, gamma=0.3, tol=1e-9)
    ours.set_params(gamma=0.3).fit(THREE.X, THREE.y, sample_weight=W)
    theirs.fit(THREE.X, THREE.y, sample_weight=W)
    apart = ours.decision_function(THERE) - theirs.decision_function(THERE)
    assert np.abs(apart).max() < 1e-5


def test_the_search_weighs_too() -> None:
    """What it chooses is what the classifier trains."""
    search = MSVMSearchCV(C=[0.5, 8.0], gamma=0.3, class_weight={"0": 3.0})
    words = THREE.y.astype(str)
    search.fit(THREE.X, words, sample_weight=W)
    one = MSVMClassifier(**search.best_params_, class_weight={"0": 3.0})
    one.fit(THREE.X, words, sample_weight=W)
    apart = one.decision_function(THERE) - search.decision_function(THERE)
    assert np.abs(apart).max() < 1e-6
    assert np.array_equal(search.best_estimator_.support_, one.support_)


@pytest.mark.parametrize("kind", [MSVMClassifier, MSVMSearchCV])
def test_a_precomputed_kernel_keeps_its_columns(kind: Any) -> None:
    """A sample of weight 0 has a column all the same."""
    K, far = rbf_kernel(THREE.X, gamma=0.3), rbf_kernel(THERE, THREE.X, gamma=0.3)
    given = kind(C=1.0, kernel="precomputed").fit(K, THREE.y, sample_weight=W)
    plain = kind(C=1.0, gamma=0.3).fit(THREE.X, THREE.y, sample_weight=W)
    apart = given.decision_function(far) - plain.decision_function(THERE)
    assert np.abs(apart).max() < 1e-9


@pytest.mark.parametrize(
    ("values", "weights", "words"),
    [
        ({"class_weight": {7: 1.0}}, None, "no class 7 in y"),
        ({"class_weight": "balance"}, None, "must be None, balanced"),
        ({"class_weight": {0: -1.0}}, None, "greater than 0"),
        ({}, -W, "[Nn]egative values in"),
        ({}, W[:-1], "inconsistent numbers of samples|sample_weight.shape"),
        ({}, np.where(THREE.y == 0, 1.0, 0.0), "the one class '0'"),
    ],
)
def test_weights_that_cannot_be_are_refused(
    values: dict[str, Any], weights: Any, words: str
) -> None:
    """As a ValueError, by name."""
    with pytest.raises(ValueError, match=words):
        MSVMClassifier(**values).fit(THREE.X, THREE.y, sample_weight=weights)


def test_weights_are_routed() -> None:
    """Through a pipeline and cross-validation, where they were requested."""
    with config_context(enable_metadata_routing=True):
        search = MSVMSearchCV(C=[0.5, 8.0], gamma=0.3)
        search.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        plain = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(plain, search)
        pipeline.fit(THREE.X, THREE.y, sample_weight=W)
        scaled = StandardScaler().fit_transform(THREE.X)
        alone = MSVMSearchCV(C=[0.5, 8.0], gamma=0.3)
        alone.fit(scaled, THREE.y, sample_weight=W)
        assert pipeline[-1].best_score_ == alone.best_score_
        assert (
            pipeline[-1].best_estimator_.support_.size
            == alone.best_estimator_.support_.size
        )
        found = cross_validate(
            pipeline, THREE.X, THREE.y, params={"sample_weight": W}, cv=3,
            error_score="raise",
        )  # fmt: skip
        assert found["test_score"].shape == (3,)
