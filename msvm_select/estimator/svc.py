"""A model of one-versus-one as an ``SVC`` that needs nothing of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from msvm_select.estimator.classifier import USED
from msvm_select.model import libsvm
from msvm_select.model.model import Model


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
    model = libsvm.with_supports(model)
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
