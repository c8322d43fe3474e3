"""A sweep as TOML: what is read from ``configs/`` and what ``--show-config`` prints.

The keys are the options of ``msvm-select sweep``, with ``-`` or ``_``, and ``data``,
whose path is relative to the file's folder.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from msvm_select.errors import SettingsError
from msvm_select.phrases import did_you_mean
from msvm_select.settings.catalogue import READING, SETTING_NAMES, reading_value
from msvm_select.settings.layers import Layer

NAMES = ("data", *READING, *SETTING_NAMES)


@dataclass(frozen=True)
class Config:
    """What a file says: where the data are, how to read them, the settings.

    ``every`` has all data sets, of which ``data`` is the first.
    """

    path: str
    text: str
    every: tuple[str, ...]
    reading: dict[str, Any]
    values: dict[str, Any]

    @property
    def data(self) -> str | None:
        """The only data set of most files."""
        return self.every[0] if self.every else None

    @property
    def layer(self) -> Layer:
        """The settings, with the lines that they stand on."""
        return Layer(self.values, self.where)

    def where(self, name: str) -> str:
        """The file, and the line that the key stands on."""
        return _where(self.path, self.text, name)


def load_config(path: str | Path) -> Config:
    """The file's keys, sorted out; the settings' values are checked by Settings.

    ``-`` is standard input, whose paths are taken from the current folder.
    """
    path = Path(path)
    text = sys.stdin.read() if str(path) == "-" else _text(path)
    given = _keys(_parsed(text, path), text, path)
    return Config(
        path=str(path),
        text=text,
        every=tuple(_every(given.get("data"), text, path)),
        reading={
            key: reading_value(key, value, _where(path, text, key))
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


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not TOML: it is not UTF-8 text.") from None
    except ValueError as error:
        raise SettingsError(f"{str(path)!r} is no path: {error}.") from None
    except OSError as error:
        near = [other.name for other in path.parent.glob("*.toml")]
        hint = did_you_mean(path.name, near)
        raise SettingsError(f"{path}: {error.strerror}{hint}.") from None


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        last = text.splitlines() or [""]
        end = f"at line {len(last)}, column {len(last[-1]) + 1}, the end"
        said = str(error).replace("at end of document", end)
        raise SettingsError(f"{path} is not TOML: {said}.") from None
    except (ValueError, RecursionError):  # a date that is none, a thousand brackets
        raise SettingsError(f"{path} is not TOML that can be read.") from None


def _keys(parsed: dict[str, Any], text: str, path: Path) -> dict[str, Any]:
    """The values by the names of settings; a key that is none, or twice, is refused."""
    given: dict[str, Any] = {}
    for key, value in parsed.items():
        name = key.replace("-", "_")
        if name not in NAMES:
            hint = did_you_mean(name, NAMES)
            if isinstance(value, dict):
                hint = "; keys stand alone, without [tables]"
            where = _where(path, text, key)
            raise SettingsError(f"{where}: there is no setting {key!r}{hint}.")
        if name in given:
            raise SettingsError(f"{_where(path, text, key)}: {name} is given twice.")
        given[name] = value
    return given


def _where(path: str | Path, text: str, key: str) -> str:
    """The file, with the line of the key where it is plain to see."""
    name = re.escape(key).replace("_", "[-_]")
    start = re.compile(rf"\s*\[*\s*[\"']?{name}[\"']?\s*[=.\]]")
    for number, line in enumerate(text.splitlines(), start=1):
        if start.match(line):
            return f"{path}, line {number}"
    return str(path)


def _every(data: object, text: str, config: Path) -> Iterator[str]:
    """The paths of the data; one with * stands for all files that fit, in order."""
    if data is None:
        return
    several = data if isinstance(data, list) else [data]
    if not several:
        where = _where(config, text, "data")
        raise SettingsError(f"{where}: data = [] names no file.")
    for one in several:
        located = _located(one, text, config)
        if isinstance(data, str) or "*" not in located or Path(located).exists():
            yield located
            continue
        found = sorted(glob(located))
        if not found:
            where = _where(config, text, "data")
            raise SettingsError(f"{where}: no file is like {located!r}.")
        yield from found


def _located(data: object, text: str, config: Path) -> str:
    """The data's path, taken from the folder of the config file."""
    if not isinstance(data, str) or not data:
        where = _where(config, text, "data")
        raise SettingsError(f"{where}: data = {data!r} must be a path in quotes.")
    return data if data == "-" else _tidy(config.parent / data)


def _tidy(path: Path) -> str:
    """Without the ``..`` of ``configs/../data``, where that leads to the same file."""
    short = Path(os.path.normpath(path))
    try:
        return str(short if short.resolve() == path.resolve() else path)
    except (OSError, ValueError, RuntimeError):
        return str(path)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    return "[" + ", ".join(_written(part) for part in value) + "]"


def _quoted(value: str) -> str:
    """In quotes; JSON's escapes are TOML's too, which also wants one for DEL."""
    quoted = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    try:
        quoted.encode()
    except UnicodeEncodeError:
        raise SettingsError(
            f"{ascii(value)} is not Unicode text, and cannot stand in a TOML file."
        ) from None
    return quoted
