"""``msvm-select run CONFIG``: a sweep from a file."""

from __future__ import annotations

from typing import Any

import click

from msvm_select.cli.chosen import chosen_reading, chosen_settings
from msvm_select.cli.options import (
    Command,
    choosing_options,
    data_options,
    journal_options,
    rows_options,
    sweep_options,
    takes,
)
from msvm_select.cli.sweep import perform
from msvm_select.errors import SettingsError
from msvm_select.settings.config import load_config


@click.command("run", cls=Command, short_help="Sweep as a TOML file says.")
@click.argument("config", metavar="CONFIG.toml")
@takes("data")
@sweep_options
@takes("extend")
@choosing_options
@data_options
@rows_options
@takes("verbose")
@journal_options
@takes("report")
@takes("dry_run", "show_config")
def command(config: str, data: str | None, **options: Any) -> None:
    """Sweep as a TOML file says; options on the line win over the file.

    \b
    msvm-select run configs/iris.toml
    msvm-select run configs/iris.toml --criteria cv:5 -o ranked.csv
    msvm-select run configs/iris.toml --C 1,10 --show-config

    The keys of the file are the options of `msvm-select sweep`, and `data`, a path
    from the file's folder; `-` reads the file from stdin. An option wins over the
    environment (MSVM_SELECT_C and so on), that over the file, and the file over the
    defaults.
    """
    file = load_config(config)
    source = data or file.data
    if source is None:
        raise SettingsError(f'{config} names no data: add data = "FILE" or --data.')
    reading, settings = chosen_reading(options, file), chosen_settings(options, file)
    perform(source, reading, settings, options)
