"""What it takes to make a page again: the command line and the file's hash."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msvm_select.results.choosing import power_of_two
from msvm_select.settings import PARAMETERS, Settings
from msvm_select.settings.grids import parse_grid

GRIDS = ("C", *PARAMETERS)
LONG = 5  # values from which on a grid is told as a range, if it is one


def command_line(
    data: str, reading: Mapping[str, Any], settings: Settings, report: str
) -> str:
    """``msvm-select sweep`` with all that is not a default; it writes ``report``.

    The settings have the grid as it was in the end, so that it need not grow again.
    """
    where = f"./{data}" if data.startswith("-") and data != "-" else data
    words = ["msvm-select", "sweep", where, *_options(reading)]
    return shlex.join([*words, *_options(_said(settings)), "--report", report])


def file_digest(path: str) -> str | None:
    """The SHA-256 of a file, as ``sha256sum`` prints it; None if it is no file."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def grid_text(values: tuple[float | str, ...]) -> str:
    """The values as a grid is typed: a range where that is exactly these values."""
    numbers = tuple(value for value in values if not isinstance(value, str))
    words = [value for value in values if isinstance(value, str)]  # gamma: scale
    return ",".join([*([_numbers_text(numbers)] if numbers else []), *words])


def _numbers_text(values: tuple[float, ...]) -> str:
    if len(values) >= LONG:
        low, high = typed(values[0]), typed(values[-1])
        step = typed(float(f"{values[1] - values[0]:.12g}"))
        for text in (f"{low}:{high}:{len(values)}", f"{low}:{high}:+{step}"):
            if (values[0] > 0.0 or "+" in text) and parse_grid(text) == values:
                return text
    return ",".join(map(typed, values))


def typed(value: float) -> str:
    """A number that is read back as it is."""
    return power_of_two(value) or repr(value).removesuffix(".0")


def _said(settings: Settings) -> dict[str, Any]:
    """What decides the rows and is not the default."""
    usual = asdict(Settings())
    values = settings.deciding() | {"select": settings.select}
    said = {n: v for n, v in values.items() if v != usual.get(n)}
    if settings.rank_by == settings.criteria[0]:
        said.pop("rank_by", None)
    for name in said:
        if name in GRIDS:
            said[name] = grid_text(said[name])
        elif name == "criteria":
            said[name] = ",".join(said[name])
    return said


def _options(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            yield option if value else f"--no-{option[2:]}"
        elif isinstance(value, list | tuple):
            for part in value:
                yield from (option, str(part))
        elif value is not None:
            # of the form --x=-1 where the value would else be taken for an option
            text = typed(value) if isinstance(value, float) else str(value)
            yield from ([f"{option}={text}"] if text[:1] == "-" else [option, text])
