"""The machine as a scikit-learn classifier; extra ``msvm-select[sklearn]``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.svm import SVC
    from sklearn.utils.multiclass import (
        _ovr_decision_function,
        check_classification_targets,
    )
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        "msvm_select.estimator needs scikit-learn: pip install 'msvm-select[sklearn]'"
    ) from error

from msvm_select.errors import DataError, KernelError, SettingsError
from msvm_select.model import libsvm
from msvm_select.model.fitting import fit
from msvm_select.model.model import Model
from msvm_select.phrases import quoted
from msvm_select.records import Dataset, Floats
from msvm_select.settings import default_gamma

USED = {
    "rbf": ("gamma",),
    "polynomial": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
}


# scikit-learn ships no types, so its bases count as Any.
class MSVMClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The multi-class machine of Weston and Watkins, trained to a certified optimum.

    min 1/2 sum_k ||w_k||^2 + C sum_i sum_{k != y_i} xi_ik
    s.t. h_{y_i}(x_i) - h_k(x_i) >= 1 - xi_ik, xi_ik >= 0.

    With two classes it is the ordinary SVM at 2C. ``machine="ovo"`` is that of SVC and
    ``"ova"`` that of OneVsRestClassifier(SVC()), each with their C. Nothing is scaled
    here: put a StandardScaler before it in a Pipeline.

    Parameters
    ----------
    C : the weight of the slacks.
    kernel : "linear", "polynomial" or "poly", "rbf", "sigmoid" or "precomputed".
    gamma : a number; "scale" for 1 / (features x variance); "auto" for 1 / features;
        None for the default of the kernel: 1 for the polynomial, else that of "scale".
    degree, coef0 : the polynomial is (gamma x.z + coef0)^degree; the sigmoid has coef0.
    machine : "ww", "ovo" or "ova".
    loss : "l1", the hinge, or "l2", the slacks of a sample squared together.
    solver : "exact", "smo", "osqp" or "qp".
    tol : the relative duality gap to train to; a ConvergenceWarning if it is not met.
    allow_indefinite : train on a Gram matrix that fails Mercer's test.

    Attributes
    ----------
    classes_ : (Q,) the classes, sorted.
    model_ : the trained Model, with its certificate.
    support_ : (n_sv,) the positions of the support vectors.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.
    """

    def __init__(
        self,
        C: float = 1.0,
        kernel: str = "rbf",
        *,
        gamma: float | str | None = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        machine: str = "ww",
        loss: str = "l1",
        solver: str = "exact",
        tol: float = 1e-8,
        allow_indefinite: bool = False,
    ) -> None:
        """Keep the parameters; they are checked by ``fit``."""
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.machine = machine
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.allow_indefinite = allow_indefinite

    def __sklearn_tags__(self) -> Any:
        """A precomputed kernel is split along both axes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> MSVMClassifier:
        """Train on X (m, n) and y (m,)."""
        self.model_ = self._trained(self._dataset(X, y))
        self.support_ = self.model_.support
        certificate = self.model_.certificate
        if not certificate.converged:
            warnings.warn(certificate.reason, ConvergenceWarning, stacklevel=2)
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """h_k(x) (p, Q); for two classes h_1(x) - h_0(x), of shape (p,).

        The machines of SVC and OneVsRestClassifier have theirs: with ``ovo`` the votes
        and a part below 1/3 for how clear they are, with ``ova`` and two classes half
        of the difference.
        """
        if self.machine == "ovo":
            f = self._asked(X, "pair_decisions")
            if self.classes_.size == 2:
                return -f[:, 0]
            return np.asarray(_ovr_decision_function(f <= 0.0, -f, self.classes_.size))
        h = self._asked(X, "outputs")
        if self.classes_.size > 2:
            return h
        return (h[:, 1] - h[:, 0]) / (2.0 if self.machine == "ova" else 1.0)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class (p,) of the largest h_k, or of most votes; the first in a tie."""
        best = self._asked(X, "outputs").argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def _dataset(self, X: ArrayLike, y: ArrayLike) -> Dataset:
        """What scikit-learn's checks leave of X and y; the classes as 0, 1, ..."""
        samples, targets = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(targets)
        self.classes_, codes = np.unique(targets, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(
                f"The data have the one class {quoted(str(self.classes_[0]))}; two "
                "classes are needed at least."
            )
        n = samples.shape[1]
        names = getattr(self, "feature_names_in_", [f"x{j + 1}" for j in range(n)])
        classes = tuple(map(str, range(self.classes_.size)))
        return Dataset(samples, codes.astype(np.int64), classes, tuple(names))

    def _asked(self, X: ArrayLike, what: str) -> Floats:
        """The model's ``outputs`` or ``pair_decisions``."""
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=np.float64, reset=False)
        try:
            found: Floats = getattr(self.model_, what)(samples)
            return found
        except DataError as error:
            raise ValueError(str(error)) from error

    def _trained(self, data: Dataset) -> Model:
        """The model; errors as the kind that scikit-learn raises."""
        kernel = "polynomial" if self.kernel == "poly" else self.kernel
        given = {name: getattr(self, name) for name in USED.get(kernel, ())}
        if given.get("gamma") == "scale":
            given["gamma"] = default_gamma(data.X)
        elif given.get("gamma") == "auto":
            given["gamma"] = 1.0 / data.X.shape[1]
        try:
            return fit(
                data,
                kernel=kernel,
                C=self.C,
                **given,
                machine=self.machine,
                loss=self.loss,
                scale="none",
                solver=self.solver,
                gap=self.tol,
                allow_indefinite=self.allow_indefinite,
            )
        except (DataError, KernelError, SettingsError) as error:
            raise ValueError(str(error)) from error


def to_sklearn(model: Model) -> Pipeline:
    """A fitted Pipeline of scikit-learn, of the scaling and an ``SVC``.

    It is that of a model of ``machine="ovo"`` with ``loss="l1"`` and a kernel that SVC
    has; a SettingsError for any other. It takes arrays, the features in the order of
    ``model.columns.features``, and knows the classes by their names.

    >>> to_sklearn(fit("data/iris.csv", machine="ovo")).predict(X)
    """
    libsvm.check_model(model)
    steps: list[tuple[str, Any]] = []
    if model.columns.missing == "mean":
        steps.append(("imputer", SimpleImputer().fit(model.scaling.fill[None, :])))
    if model.scaling.kind != "none":
        steps.append(("scaler", _scaler(model)))
    return Pipeline([*steps, ("svc", _svc(model))])


def _scaler(model: Model) -> Any:
    """Fitted to the ends that give the shift and the scale of the model."""
    shift, scale = model.scaling.shift, model.scaling.scale
    kind = MinMaxScaler if model.scaling.kind == "minmax" else StandardScaler
    scaler = kind().fit(shift[None, :])
    scaler.n_samples_seen_ = model.training.m
    if kind is StandardScaler:
        scaler.mean_, scaler.scale_, scaler.var_ = shift, scale, scale**2
        return scaler
    scaler.data_min_, scaler.data_max_ = shift, shift + scale
    scaler.data_range_, scaler.scale_, scaler.min_ = scale, 1.0 / scale, -shift / scale
    return scaler


def _svc(model: Model) -> Any:
    """An SVC that holds the machine.

    It is fitted to three samples of each class, all of them 0, for what scikit-learn
    keeps of its own, and then gets the support vectors, their weights and the biases.
    """
    there = libsvm.present(model)
    order, weights = libsvm.coefficients(model)
    given = {name: model.kernel.parameters.get(name) for name in USED["polynomial"]}
    values = {name: value for name, value in given.items() if value is not None}
    if "degree" in values:
        values["degree"] = int(values["degree"])
    kernel = {"polynomial": "poly"}.get(model.kernel.name, model.kernel.name)
    svc = SVC(C=model.C, kernel=kernel, **values)
    names = np.array(model.classes)[there]
    codes = np.repeat(np.arange(there.size), 3)
    svc.fit(np.zeros((codes.size, model.scaling.fill.size)), codes)
    svc.classes_ = names
    svc.support_ = model.support[order].astype(np.int32)
    svc.support_vectors_ = np.ascontiguousarray(model.Z[order])
    svc._n_support = np.bincount(model.y, minlength=len(model.classes))[there].astype(
        np.int32
    )
    svc._dual_coef_ = np.ascontiguousarray(weights.T)
    svc._intercept_ = model.b[np.isfinite(model.b)]
    # SVC turns the signs of two classes, for a decision > 0 to mean the second
    sign = -1.0 if there.size == 2 else 1.0
    svc.dual_coef_, svc.intercept_ = sign * svc._dual_coef_, sign * svc._intercept_
    svc.shape_fit_ = (model.training.m, model.scaling.fill.size)
    return svc
