"""The checks of single settings: a value as typed or parsed -> the value that counts.

Each check is called with the value and the setting's name, for the error's message.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

from msvm_select.errors import SettingsError
from msvm_select.phrases import did_you_mean, listed
from msvm_select.settings.grids import parse_grid

Check = Callable[[Any, str], Any]

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def known(name: str, names: Iterable[str], what: str) -> str:
    """The name itself where it is one of ``names``; an error with the near ones."""
    names = tuple(names)
    if name not in names:
        hint = did_you_mean(name, names) or f"; there are {listed(names, 12)}"
        raise SettingsError(f"There is no {what} {name!r}{hint}.")
    return name


def one_of(names: Iterable[str], what: str) -> Check:
    """A check that the value is one of ``names``."""
    return lambda value, name: known(str(value).strip(), names, what)


def text(value: Any, name: str) -> str:
    """Some text."""
    if not isinstance(value, str) or not value.strip():
        raise SettingsError(f"{name} = {value!r} must be a name.")
    return value.strip()


def texts(value: Any, name: str) -> tuple[str, ...]:
    """A list of names, typed with commas or given as a sequence; each once."""
    parts = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(part, str) for part in parts):
        raise SettingsError(f"{name} = {value!r} must be a name, or a list of names.")
    texts = [text.strip() for part in parts for text in part.split(",")]
    if not all(texts) or not texts:
        raise SettingsError(f"{name}: one of its names is empty.")
    return tuple(dict.fromkeys(texts))


def read_text(value: Any, name: str) -> str:
    """Some text of a reading option; a whole number counts as the text that it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise SettingsError(f"{name} = {value!r} must be text in quotes.")


def read_texts(value: Any, name: str) -> tuple[str, ...]:
    """One text of a reading option, or several."""
    parts = value if isinstance(value, list | tuple) else [value]
    return tuple(read_text(part, name) for part in parts)


def positive_grid(value: Any, name: str) -> tuple[float, ...]:
    """A grid whose values are all greater than 0."""
    values = parse_grid(value, name)
    if values[0] <= 0.0:
        raise SettingsError(f"{name} = {values[0]:g} must be greater than 0.")
    return values


GAMMA_WORDS = ("scale", "auto")


def gamma_grid(value: Any, name: str) -> tuple[float | str, ...]:
    """A grid of numbers greater than 0; ``scale`` and ``auto`` may be among them."""
    given = [value] if isinstance(value, str) or not _many(value) else list(value)
    parts: list[Any] = []
    for part in given:
        parts += part.split(",") if isinstance(part, str) else [part]
    bare = [part.strip() if isinstance(part, str) else part for part in parts]
    words = [word for word in GAMMA_WORDS if word in bare]
    numbers = [part for part in bare if part not in words]
    if words and not numbers:
        return tuple(words)
    return (*positive_grid(numbers, name), *words)


def _many(value: Any) -> bool:
    return isinstance(value, Iterable)


def number(value: Any, name: str) -> float:
    """One number."""
    return _single(parse_grid(value, name), name)


def positive(value: Any, name: str) -> float:
    """One number greater than 0."""
    return _single(positive_grid(value, name), name)


def probability(value: Any, name: str) -> float:
    """One number between 0 and 1, neither of them."""
    number = positive(value, name)
    if number >= 1.0:
        raise SettingsError(f"{name} = {number:g} must be less than 1.")
    return number


def whole(least: int) -> Check:
    """A check for whole numbers from ``least`` upward."""

    def check(value: Any, name: str) -> int:
        number = _whole(value)
        if number is None or number < least:
            raise SettingsError(
                f"{name} = {value!r} must be a whole number, {least} or more."
            )
        return number

    return check


def _whole(value: Any) -> int | None:
    """The whole number, as such or as text; None where it is none."""
    if isinstance(value, str):
        digits = value.strip()
        return int(digits) if _WHOLE.fullmatch(digits) else None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    return operator.index(value)


def flag(value: Any, name: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise SettingsError(f"{name} = {value!r} must be true or false.")
    return value


def _single(values: tuple[float, ...], name: str) -> float:
    if len(values) > 1:
        raise SettingsError(f"{name} takes one number, not {len(values)}.")
    return values[0]
