"""TOML, environment and options -> Settings: every value is checked here, once.

``values`` and ``grids`` check one value, ``checks`` has the table of all settings and
what goes together, ``layers`` lets the later place win; ``config`` and ``environment``
are two such places.
"""

from msvm_select.settings.checks import SETTING_NAMES
from msvm_select.settings.layers import (
    Layer,
    checked_values,
    settings_from,
    settings_of,
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
]
