"""TOML, environment and options -> Settings: every value is checked here, once.

``catalogue`` declares every option. ``values`` checks one value, ``settings`` what goes
together; ``layers`` lets the later place win, of which ``config`` (TOML) is one.
Nothing heavy is imported.
"""

from msvm_select.settings.catalogue import SETTING_NAMES
from msvm_select.settings.layers import (
    Layer,
    checked_values,
    settings_from,
    settings_of,
    sweep_settings,
)
from msvm_select.settings.settings import (
    PARAMETERS,
    Settings,
    default_gamma,
    parse_criterion,
)

__all__ = [
    "PARAMETERS",
    "SETTING_NAMES",
    "Layer",
    "Settings",
    "checked_values",
    "default_gamma",
    "parse_criterion",
    "settings_from",
    "settings_of",
    "sweep_settings",
]
