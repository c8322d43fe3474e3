"""Choose the hyperparameters of multi-class support vector machines, exactly.

>>> from msvm_select import fit, load_csv, run_sweep
>>> data = load_csv("data/iris.csv")
>>> best = run_sweep(data, C="0.1,1,10", gamma="2^-7:2^1:5").best
>>> model = fit(data, C=best.C, gamma=best.gamma)
>>> model.predict(data)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msvm_select.data import load_csv
    from msvm_select.model import Model, fit, load_model
    from msvm_select.sweep import Journal, run_sweep

__all__ = ["Journal", "Model", "fit", "load_csv", "load_model", "run_sweep"]

# Imported when they are asked for: numpy and numba would slow down ``--help``.
_HOMES = {
    "Journal": "sweep",
    "Model": "model",
    "fit": "model",
    "load_csv": "data",
    "load_model": "model",
    "run_sweep": "sweep",
}


def __getattr__(name: str) -> Any:
    """The public name, from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """With the names that are not imported yet."""
    return sorted({*globals(), *__all__})
