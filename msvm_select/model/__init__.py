"""A trained machine on its own: fitted, kept in a file, asked for classes."""

from msvm_select.model.file import load_model
from msvm_select.model.fitting import fit, fit_settings, model_of
from msvm_select.model.model import Certificate, Model, Training
from msvm_select.model.predictions import Predictions, predictions

__all__ = [
    "Certificate",
    "Model",
    "Predictions",
    "Training",
    "fit",
    "fit_settings",
    "load_model",
    "model_of",
    "predictions",
]
