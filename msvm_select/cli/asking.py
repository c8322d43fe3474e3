"""What counts: an option wins over the environment, that over a file and the defaults.

This holds for every setting, and for how the data are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import click

from msvm_select import memory
from msvm_select.cli.interrupts import patiently
from msvm_select.data import options as ways
from msvm_select.data import read as reader
from msvm_select.data import source as source_file
from msvm_select.errors import MsvmError, SettingsError
from msvm_select.settings import (
    SETTING_NAMES,
    Layer,
    Settings,
    checked_values,
    settings_of,
    sweep_settings,
)
from msvm_select.settings.catalogue import READING
from msvm_select.settings.layers import environment, note_places, unknown_variables
from msvm_select.train import prepare

if TYPE_CHECKING:
    from msvm_select.records import Dataset
    from msvm_select.settings.config import Config

PLACES = "msvm_select.places"  # of the reading options: --target -> where it was said
WARNED = "msvm_select.warned"


def chosen_settings(
    options: Mapping[str, Any], file: Config | None = None, **defaults: Any
) -> Settings:
    """The settings among a command's options, with what else has a say in them."""
    return settings_of(setting_layers(options, file, **defaults))


def swept_settings(options: Mapping[str, Any], file: Config | None = None) -> Settings:
    """The same for a sweep."""
    return sweep_settings(setting_layers(options, file))


def chosen_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that were given, each checked by itself."""
    return checked_values(setting_layers(options))


def setting_layers(
    options: Mapping[str, Any], file: Config | None = None, **defaults: Any
) -> list[Layer]:
    """Defaults of the command, file, environment, line: the later wins."""
    _warn_of_strangers()
    names = [name for name in SETTING_NAMES if name in options]
    below = [Layer(defaults)] if file is None else [Layer(defaults), file.layer]
    return [*below, environment(names), Layer(_said(options, names))]


class TellsReading(Protocol):
    """A file that says how data are read: a config, or earlier results."""

    @property
    def reading(self) -> Mapping[str, Any]:
        """The options by name."""

    def where(self, name: str) -> str:
        """Where it says so, for messages."""


def chosen_reading(
    options: Mapping[str, Any], file: TellsReading | None = None
) -> dict[str, Any]:
    """How to read the data, as far as anybody has said it."""
    _warn_of_strangers()
    names = [name for name in READING if name in options]
    typed = {n: READING[n].checked(v) for n, v in _said(options, names).items()}
    around = environment(name for name in names if name not in typed)
    places = {_option(name): around.where(name) for name in around.values}
    if file is not None:
        below = file.reading.keys() - around.values.keys() - typed.keys()
        places |= {_option(name): file.where(name) for name in below}
    click.get_current_context().meta[PLACES] = places
    return {**({} if file is None else file.reading), **around.values, **typed}


def read(data: str, settings: Settings | None = None, **reading: Any) -> Dataset:
    """DATA as the options of ``data_options`` say; ``-`` is standard input.

    With ``settings``, a file is refused unread whose Gram matrix would not fit;
    one-versus-one may need none, which is judged when the samples are there.
    """
    kernels = set() if settings is None else set(settings.kernel) - {"linear"}
    if settings is not None and settings.low_rank is not None:
        kernels = set()  # judged when the samples are there
    if settings is not None and settings.machine != "ovo" and kernels and data != "-":
        rows = source_file.rows_at_least(data)
        rows = min(rows, int(reading.get("subsample") or rows))
        vouched = kernels <= {"rbf", "polynomial"}
        shrinks = vouched and prepare.shrinks(rows, settings)
        needed = prepare.footprint_of(
            settings, rows, 2, shrinks=shrinks, jobs=min(settings.at_once, 1)
        )
        in_blocks = rows > prepare.WHOLE and vouched
        memory.refuse_gram(f"{data} (judged by its size)", needed, in_blocks)
    with told_places():
        options = read_options(**reading)
        if settings is not None:
            options = replace(options, seed=settings.seed)
        return patiently(reader.read_dataset, data, options)


def read_options(
    *, no_header: bool = False, na_values: tuple[str, ...] = (), **reading: Any
) -> ways.ReadOptions:
    """What was said, as one record."""
    texts = tuple(text for value in na_values for text in value.split(","))
    return ways.ReadOptions(header=not no_header, na_values=texts, **reading)


@contextmanager
def told_places() -> Iterator[None]:
    """An error of reading also tells which options were not said on the line."""
    try:
        yield
    except MsvmError as error:
        note_places(error, click.get_current_context().meta.get(PLACES, {}))
        raise


def _said(options: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """The options of these names that were given a value."""
    given = {name: options[name] for name in names}
    if options.get("no_extend") and "extend" in given:
        if given["extend"] is not None:
            raise SettingsError("--extend and --no-extend are both given.")
        given["extend"] = 0
    return {name: value for name, value in given.items() if value not in (None, ())}


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _warn_of_strangers() -> None:
    """Once, on stderr: MSVM_SELECT_KERNL and the like."""
    context = click.get_current_context()
    if context.params.get("quiet") or context.meta.setdefault(WARNED, False):
        return
    context.meta[WARNED] = True
    for remark in unknown_variables():
        click.echo(f"Warning: {remark}", err=True)
