"""The scikit-learn classifier keeps scikit-learn's rules and gives the same machine."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from msvm_select import fit, load_csv
from msvm_select.estimator import MSVMClassifier
from msvm_select.names import SOLVERS
from tests.conftest import DATA, PROBLEMS
from tests.model.test_model import Idle

# The checks hand float32 kernels over: positive semi-definite up to their rounding.
CHECKED = [
    MSVMClassifier(),
    MSVMClassifier(machine="ovo", probability=True),
    MSVMClassifier(kernel="precomputed", allow_indefinite=True),
]
LIKEWISE = [
    MSVMClassifier(machine="ova"),
    MSVMClassifier(machine="ovo"),
    MSVMClassifier(kernel="linear", C=0.3),
]


COPIES = "check_sample_weight_equivalence_on_dense_data"


def expected(estimator: Any) -> dict[str, str]:
    """A sample that leaves takes all its weight with it; of copies one leaves."""
    return {COPIES: "one copy leaves"} if estimator.probability else {}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    """Each check of scikit-learn's own passes."""
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(LIKEWISE)
def test_scikit_learn_checks_of_others(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    """Of those that differ little from these."""
    check(estimator)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_two_classes_are_the_ordinary_machine(kernel: str, C: float) -> None:
    """At Q = 2 the decision values are those of SVC at 2C."""
    two = PROBLEMS["two"]
    values: dict[str, Any] = {"gamma": 0.4, "degree": 2, "coef0": 1.0}
    ours = MSVMClassifier(C, kernel, **values).fit(two.X, two.y)
    name = {"polynomial": "poly"}.get(kernel, kernel)
    theirs = SVC(C=2 * C, kernel=name, tol=1e-8, **values).fit(two.X, two.y)
    there = np.random.default_rng(1).standard_normal((50, two.X.shape[1]))
    assert np.allclose(
        ours.decision_function(there), theirs.decision_function(there), atol=1e-5
    )


def test_the_machine_is_that_of_fit() -> None:
    """Without scaling, with the same gamma: the same outputs and labels."""
    data = load_csv(DATA / "iris.csv")
    labels = np.array(data.classes)[data.y]
    ours = MSVMClassifier(C=2.0, gamma=0.1).fit(data.X, labels)
    model = fit(data, C=2.0, gamma=0.1, scale="none")
    assert np.allclose(ours.decision_function(data.X), model.outputs(data), atol=1e-8)
    assert ours.predict(data.X).tolist() == model.predict(data).tolist()
    assert ours.classes_.tolist() == list(data.classes)
    assert np.array_equal(ours.support_, model.support)


def test_in_a_pipeline_it_can_be_searched() -> None:
    """Scaler and machine, cross-validated and tuned over C and gamma."""
    data = load_csv(DATA / "iris.csv")
    pipeline = make_pipeline(StandardScaler(), MSVMClassifier())
    assert cross_val_score(pipeline, data.X, data.y, cv=5).mean() > 0.93
    grid = {"msvmclassifier__C": [0.1, 1.0], "msvmclassifier__gamma": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise")
    assert search.fit(data.X, data.y).score(data.X, data.y) > 0.95
    assert set(search.best_params_) == set(grid)


def test_numbers_of_numpy_are_numbers() -> None:
    """Whatever the kind of a number that a grid search hands over."""
    two = PROBLEMS["two"]
    values = {"C": np.int64(2), "gamma": np.float32(0.5), "tol": np.float64(1e-8)}
    model = MSVMClassifier(**values).fit(two.X, two.y).model_
    assert (model.C, model.kernel.parameters) == (2.0, {"gamma": 0.5})


def test_a_clone_has_the_same_parameters() -> None:
    """And is not fitted."""
    one = MSVMClassifier(C=3, kernel="polynomial", degree=2, tol=1e-6)
    two = PROBLEMS["two"]
    again = clone(one.fit(two.X, two.y))
    assert again.get_params() == one.get_params()
    assert not hasattr(again, "model_")


def test_a_precomputed_kernel_is_split_along_both_axes() -> None:
    """Cross-validation on the matrix is that on the features."""
    three = PROBLEMS["three"]
    K = rbf_kernel(three.X, gamma=0.2)
    plain = cross_val_score(MSVMClassifier(gamma=0.2), three.X, three.y, cv=3)
    given = cross_val_score(MSVMClassifier(kernel="precomputed"), K, three.y, cv=3)
    assert np.allclose(plain, given)


def test_a_tie_gives_the_first_of_its_classes() -> None:
    """An estimator has to answer with a class."""
    machine = MSVMClassifier(kernel="linear").fit([[-1.0], [1.0]], ["b", "a"])
    assert machine.predict([[0.0]]).tolist() == ["a"]
    assert machine.decision_function([[0.0]]).tolist() == [0.0]


def test_gamma_in_words_and_none() -> None:
    """ "scale" is 1/(n var), "auto" 1/n; None leaves each kernel its default."""
    three = PROBLEMS["three"]
    n = three.X.shape[1]
    scale = 1.0 / (n * three.X.var())
    for kernel, default in (("rbf", scale), ("polynomial", 1.0), ("poly", 1.0)):
        words = (("scale", scale), ("auto", 1.0 / n), (None, default), (0.5, 0.5))
        for gamma, value in words:
            machine = MSVMClassifier(kernel=kernel, gamma=gamma)
            model = machine.fit(three.X, three.y).model_
            assert model.kernel.parameters["gamma"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kernel": "rbg"}, "no kernel 'rbg'.*'rbf'"),
        ({"C": -1.0}, "C = -1 must be greater than 0"),
        ({"gamma": "automatic"}, "gamma"),
        ({"solver": "magic"}, "no solver"),
        ({"kernel": "sigmoid", "gamma": 1.0}, "indefinite"),
        ({"kernel": "precomputed"}, "as many columns as samples"),
    ],
)
def test_what_it_cannot_use_is_a_value_error(
    values: dict[str, Any], words: str
) -> None:
    """As scikit-learn's users expect, with the words of the package."""
    three = PROBLEMS["three"]
    with pytest.raises(ValueError, match=words):
        MSVMClassifier(**values).fit(three.X, three.y)


def test_one_class_is_named_as_text() -> None:
    """The message shows the class, not numpy's kind of text."""
    with pytest.raises(ValueError, match="the one class 'a'; two classes"):
        MSVMClassifier().fit([[1.0], [2.0]], np.array(["a", "a"]))


def test_a_machine_short_of_its_gap_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    """With scikit-learn's own kind of warning."""
    monkeypatch.setitem(SOLVERS, "exact", Idle)
    three = PROBLEMS["three"]
    with pytest.warns(ConvergenceWarning, match="nothing was done"):
        MSVMClassifier().fit(three.X, three.y)


def test_without_scikit_learn_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ImportError says what to install."""
    monkeypatch.delitem(sys.modules, "msvm_select.estimator")
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(ImportError, match=r"msvm-select\[sklearn\]"):
        importlib.import_module("msvm_select.estimator")


@pytest.mark.parametrize("name", ["two", "three"])
def test_one_against_one_is_svc(name: str) -> None:
    """At the same C: decisions in either number of classes, and labels."""
    data = PROBLEMS[name]
    there = np.random.default_rng(1).standard_normal((200, data.X.shape[1]))
    ours = MSVMClassifier(2.0, machine="ovo", gamma=0.4).fit(data.X, data.y)
    theirs = SVC(C=2.0, gamma=0.4, tol=1e-8).fit(data.X, data.y)
    apart = ours.decision_function(there) - theirs.decision_function(there)
    assert np.abs(apart).max() < 1e-5
    assert ours.predict(there).tolist() == theirs.predict(there).tolist()
    assert np.array_equal(ours.support_, np.sort(theirs.support_))


@pytest.mark.parametrize("name", ["two", "three"])
def test_one_against_all_is_one_vs_rest(name: str) -> None:
    """Likewise OneVsRestClassifier(SVC(C))."""
    data = PROBLEMS[name]
    there = np.random.default_rng(1).standard_normal((200, data.X.shape[1]))
    ours = MSVMClassifier(2.0, machine="ova", gamma=0.4).fit(data.X, data.y)
    theirs = OneVsRestClassifier(SVC(C=2.0, gamma=0.4, tol=1e-8)).fit(data.X, data.y)
    apart = ours.decision_function(there) - theirs.decision_function(there)
    assert np.abs(apart).max() < 1e-5
    assert ours.predict(there).tolist() == theirs.predict(there).tolist()


def test_an_unknown_machine_is_a_value_error() -> None:
    """With the one that may be meant."""
    with pytest.raises(ValueError, match="no machine 'ovi'.*did you mean"):
        MSVMClassifier(machine="ovi").fit(PROBLEMS["three"].X, PROBLEMS["three"].y)
