"""A sweep as TOML: what is read from ``configs/`` and what ``--show-config`` prints.

The keys are the options of ``msvm-select sweep``, with ``-`` or ``_``, and ``data``,
whose path is relative to the file's folder.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msvm_select.errors import SettingsError
from msvm_select.settings.checks import SETTING_NAMES
from msvm_select.suggest import did_you_mean

READING: dict[str, type] = {
    "target": str,
    "delimiter": str,
    "encoding": str,
    "no_header": bool,
    "id_column": str,
    "na_values": tuple,
    "one_hot": tuple,
    "missing": str,
    "input_format": str,
}
"""How to read the data: the options of the same names, with their kinds."""


@dataclass(frozen=True)
class Config:
    """What a file says: where the data are, how to read them, the settings."""

    data: str | None
    reading: dict[str, Any]
    values: dict[str, Any]


def load_config(path: str | Path) -> Config:
    """The file's keys, sorted out; the settings' values are checked by Settings."""
    path = Path(path)
    given = {key.replace("-", "_"): value for key, value in _parsed(path).items()}
    names = ("data", *READING, *SETTING_NAMES)
    for key in given:
        if key not in names:
            raise SettingsError(
                f"{path}: there is no setting {key!r}{did_you_mean(key, names)}."
            )
    return Config(
        data=_located(given["data"], path) if "data" in given else None,
        reading={
            key: _reading(path, key, value)
            for key, value in given.items()
            if key in READING
        },
        values={key: value for key, value in given.items() if key in SETTING_NAMES},
    )


def to_toml(values: Mapping[str, Any]) -> str:
    """The values as a file that ``load_config`` reads; what is None becomes a note."""
    lines = [
        f"# {key}: not given" if value is None else f"{key} = {_written(value)}"
        for key, value in values.items()
    ]
    return "\n".join(lines) + "\n"


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not TOML: it is not UTF-8 text.") from None
    except OSError as error:
        near = [other.name for other in path.parent.glob("*.toml")]
        hint = did_you_mean(path.name, near)
        raise SettingsError(f"{path}: {error.strerror}{hint}.") from None


def _located(data: object, config: Path) -> str:
    """The data's path, taken from the folder of the config file."""
    if not isinstance(data, str) or not data:
        raise SettingsError(f"{config}: data = {data!r} must be a path in quotes.")
    return data if data == "-" else str(config.parent / data)


def _reading(config: Path, key: str, value: Any) -> Any:
    """A reading option as its kind; a number counts as the text that it is."""
    kind = READING[key]
    if kind is bool or isinstance(value, bool):
        if kind is bool and isinstance(value, bool):
            return value
        must = "true or false" if kind is bool else "text"
        raise SettingsError(f"{config}: {key} = {value!r} must be {must}.")
    if kind is tuple:
        return tuple(
            str(part) for part in ([value] if isinstance(value, str) else value)
        )
    return str(value)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return "[" + ", ".join(_written(part) for part in value) + "]"
