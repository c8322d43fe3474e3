"""Choose the hyperparameters of multi-class support vector machines, exactly.

>>> from msvm_select import fit, load, predict, run_sweep
>>> data = load("data/iris.csv")
>>> best = run_sweep(data, C="0.1,1,10", gamma="2^-7:2^1:5").best
>>> model = fit(data, C=best.C, gamma=best.gamma)
>>> predict(model, "data/iris.csv").to_frame()

Data are files, DataFrames or pairs (X, y): ``run_sweep(frame, target="species")``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from msvm_select.data.read import as_dataset as load
    from msvm_select.data.read import load_csv
    from msvm_select.estimator import to_sklearn as to_sklearn
    from msvm_select.model.file import load_model
    from msvm_select.model.fitting import fit
    from msvm_select.model.model import Model
    from msvm_select.model.predictions import predict
    from msvm_select.sweep.journal import Journal
    from msvm_select.sweep.loop import run_sweep

__all__ = [
    "Journal",
    "Model",
    "fit",
    "load",
    "load_csv",
    "load_model",
    "predict",
    "run_sweep",
]

# Imported when they are asked for: numpy and numba would slow down ``--help``.
# ``to_sklearn`` needs scikit-learn, so that it is not among what * imports.
_HOMES = {
    "Journal": "sweep.journal:Journal",
    "Model": "model.model:Model",
    "fit": "model.fitting:fit",
    "load": "data.read:as_dataset",
    "load_csv": "data.read:load_csv",
    "load_model": "model.file:load_model",
    "predict": "model.predictions:predict",
    "run_sweep": "sweep.loop:run_sweep",
    "to_sklearn": "estimator:to_sklearn",
}


def __getattr__(name: str) -> object:
    """The public name, from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, _, what = _HOMES[name].partition(":")
    return getattr(import_module(f"{__name__}.{home}"), what)


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted(_HOMES)
