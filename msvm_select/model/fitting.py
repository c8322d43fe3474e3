"""One cell: data and settings -> a trained Model."""

from __future__ import annotations

from typing import Any

import numpy as np

from msvm_select.data.frames import as_dataset
from msvm_select.model.model import Certificate, Model, Training
from msvm_select.records import Columns, Dataset
from msvm_select.results.identity import versions
from msvm_select.settings import Settings, settings_from
from msvm_select.settings.grids import GridLike
from msvm_select.train.along_C import Trained, train_cell
from msvm_select.train.events import Progress, silent


def fit(
    data: Any,
    *,
    kernel: str = "rbf",
    C: GridLike = 1.0,
    gamma: GridLike | None = None,
    sigma: GridLike | None = None,
    degree: GridLike | None = None,
    coef0: GridLike | None = None,
    loss: str = "l1",
    scale: str | None = None,
    solver: str = "exact",
    gap: float | None = None,
    qp_backend: str | None = None,
    allow_indefinite: bool = False,
    progress: Progress = silent,
    **reading: Any,
) -> Model:
    """Train the machine of Weston and Watkins at one C and one kernel setting.

    ``data`` is a path, a DataFrame, a pair (X, y) or a Dataset, and ``reading`` are the
    options of ``load_csv``, such as ``target``. The settings are those of
    ``run_sweep``, with the same defaults but C = 1; each has one value; ``loss="l2"``
    squares the slacks. A machine that does not converge says so in its certificate.

    >>> fit(load_csv("data/iris.csv"), C=1, gamma=0.25).save("iris.json")
    """
    values = {
        "kernel": kernel,
        "C": C,
        "gamma": gamma,
        "sigma": sigma,
        "degree": degree,
        "coef0": coef0,
        "loss": loss,
        "scale": scale,
        "solver": solver,
        "gap": gap,
        "qp_backend": qp_backend,
        "allow_indefinite": allow_indefinite,
    }
    # numpy's own scalars, as a grid search hands them over, are numbers like others
    plain = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
    }
    settings = settings_from(plain)
    return fit_settings(as_dataset(data, **reading), settings, progress)


def fit_settings(
    data: Dataset, settings: Settings, progress: Progress = silent
) -> Model:
    """The machine of the only cell that ``settings`` have."""
    return model_of(train_cell(data, settings, progress), settings.solver)


def model_of(trained: Trained, solver: str) -> Model:
    """What is to be kept of a trained machine."""
    cell, kernel = trained.cell, trained.kernel
    data, solution = cell.data, cell.solution
    support = np.flatnonzero(solution.is_support_vector)
    Z = cell.scaling.apply(data.X[support])
    target = data.target
    return Model(
        kernel=kernel,
        C=solution.dual.weight,
        classes=data.classes,
        columns=data.columns
        or Columns(
            (*data.features, target),
            target,
            missing="mean" if np.isnan(data.X).any() else "error",
        ),
        scaling=cell.scaling,
        support=support,
        Z=Z if kernel.is_vector_kernel else Z[:, :0],
        tau=solution.tau[support],
        b=solution.b,
        certificate=_certificate(trained),
        training=Training(
            data=data.name,
            m=data.m,
            n_sv=solution.n_sv,
            n_bounded=solution.n_bounded,
            train_errors=solution.train_errors,
            solver=solver,
            loss="l1" if solution.dual.quadratic is None else "l2",
        ),
        versions=versions(),
    )


def _certificate(trained: Trained) -> Certificate:
    solution = trained.solution
    return Certificate(
        converged=solution.converged,
        reason=solution.reason,
        gap=solution.gap,
        kkt_violation=solution.kkt_violation,
        flow_imbalance=solution.flow_imbalance,
        b_unique=solution.b_unique,
        dual_objective=solution.dual_objective,
        smallest_eigenvalue=trained.test.smallest_eigenvalue,
        indefinite=trained.test.indefinite,
    )
