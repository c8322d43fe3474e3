"""TOML and options -> Settings: every value is checked here, once."""

from msvm_select.settings.settings import (
    PARAMETERS,
    SETTING_NAMES,
    Settings,
    default_gamma,
    parse_criterion,
    settings_from,
)

__all__ = [
    "PARAMETERS",
    "SETTING_NAMES",
    "Settings",
    "default_gamma",
    "parse_criterion",
    "settings_from",
]
