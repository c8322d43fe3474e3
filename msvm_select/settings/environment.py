"""Settings from the environment: ``MSVM_SELECT_`` and the option's name in capitals.

A variable that is empty counts as not set. Lists are separated by commas.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from msvm_select.phrases import did_you_mean
from msvm_select.settings.checks import SETTING_NAMES
from msvm_select.settings.layers import Layer
from msvm_select.settings.reading import READING, reading_value
from msvm_select.settings.settings import Settings

PREFIX = "MSVM_SELECT_"
FLAGS = ("no_header", *(f.name for f in fields(Settings) if f.type == "bool"))
WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def variable(name: str) -> str:
    """``C`` is in MSVM_SELECT_C, ``rank_by`` in MSVM_SELECT_RANK_BY."""
    return PREFIX + name.upper()


def environment(names: Iterable[str]) -> Layer:
    """What the environment says of these settings and reading options."""
    given = {name: os.environ.get(variable(name), "") for name in names}
    values = {name: _understood(name, text) for name, text in given.items() if text}
    return Layer(values, said_in)


def said_in(name: str) -> str:
    """The variable and what it holds, for a message."""
    return f"{variable(name)}={os.environ.get(variable(name), '')!r}"


def unknown_variables() -> list[str]:
    """A remark on each variable that looks like a setting's and is none's."""
    known = {name.upper() for name in (*SETTING_NAMES, *READING)}
    ours = [name for name in os.environ if name.startswith(PREFIX)]
    rest = {name.removeprefix(PREFIX) for name in ours}
    return [
        f"{PREFIX}{name} is set, but no setting is {name}{did_you_mean(name, known)}."
        for name in sorted(rest - known)
    ]


def _understood(name: str, text: str) -> Any:
    """A flag as true or false, where it is a word for that; a list in parts."""
    value: Any = text
    if name in FLAGS:
        value = WORDS.get(text.strip().lower(), text)
    elif READING.get(name) is tuple:
        value = [part.strip() for part in text.split(",")]
    return reading_value(name, value, said_in(name)) if name in READING else value
