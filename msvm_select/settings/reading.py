"""How to read the data: the options of that name, from a file or the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msvm_select.errors import SettingsError

READING: Mapping[str, type] = {
    "target": str,
    "delimiter": str,
    "encoding": str,
    "no_header": bool,
    "id_column": str,
    "na_values": tuple,
    "one_hot": tuple,
    "missing": str,
    "input_format": str,
    "decimal": str,
}
"""The names, with their kinds."""


def reading_value(name: str, value: Any, where: str) -> Any:
    """The value as its kind; a whole number counts as the text that it is."""
    kind = READING[name]
    if kind is bool:
        if not isinstance(value, bool):
            raise SettingsError(f"{where}: {name} = {value!r} must be true or false.")
        return value
    if kind is tuple:
        parts = value if isinstance(value, list | tuple) else [value]
        return tuple(_text(name, part, where) for part in parts)
    return _text(name, value, where)


def _text(name: str, value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise SettingsError(f"{where}: {name} = {value!r} must be text in quotes.")
