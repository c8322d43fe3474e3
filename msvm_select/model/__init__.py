"""A trained machine on its own: fitted, kept in a file, asked for classes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msvm_select.model.file import load_model
    from msvm_select.model.fitting import fit, fit_settings, model_of
    from msvm_select.model.model import Certificate, Model, Training
    from msvm_select.model.predictions import Predictions

__all__ = [
    "Certificate",
    "Model",
    "Predictions",
    "Training",
    "fit",
    "fit_settings",
    "load_model",
    "model_of",
]

_HOMES = {
    "Certificate": "model",
    "Model": "model",
    "Predictions": "predictions",
    "Training": "model",
    "fit": "fitting",
    "fit_settings": "fitting",
    "load_model": "file",
    "model_of": "fitting",
}


def __getattr__(name: str) -> Any:
    """One of the names above, from its module, which is imported now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
