"""``msvm-select bound DATA``: one cell, every term of every bound beside the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.chosen import chosen_reading, read
from msvm_select.cli.interrupts import patiently
from msvm_select.cli.one_cell import Asked
from msvm_select.cli.options import (
    Command,
    constants_options,
    data_argument,
    data_options,
    from_options,
    report_options,
    settings_options,
    takes,
)
from msvm_select.cli.streams import chosen_format, deliver
from msvm_select.cli.talk import Talk
from msvm_select.model import examined
from msvm_select.show.answers import bound as answer

if TYPE_CHECKING:
    from msvm_select.model.examined import BoundsReport
    from msvm_select.records import Dataset


@click.command(
    "bound", cls=Command, short_help="Show every term of every bound of one cell."
)
@data_argument
@settings_options
@from_options
@constants_options
@takes("jobs", jobs={"help": "Samples at the same time. Default: 1."})
@data_options
@takes("explain")
@report_options
@takes("verbose")
def command(
    data: str, output: str | None, explain: bool, quiet: bool, **options: Any
) -> None:
    """Show every term of every bound of one machine, beside its true errors.

    \b
    msvm-select bound data/iris.csv --C 1 --gamma 0.25 --loss l2
    msvm-select bound data/wine.csv --kernel linear --C 1000 --explain
    msvm-select bound data/iris.csv --from ranked.json --rank 2
    msvm-select bound data/glass.csv --C 8 --gamma 2 --format json > terms.json

    A bound that does not apply to this machine says so, and why; it may then lie below
    the errors. --explain adds to each number its formula and the theorem or equation
    that it comes from; the other formats always have both. Exit 5, with nothing shown,
    when the training did not converge.
    """
    asked = Asked(options)
    format = chosen_format(asked.settings.format, output, data)
    reading = chosen_reading(options, asked.cell)
    with Talk(quiet, options["verbose"]) as talk:
        report = _bounded(read(data, asked.settings, **reading), asked, talk)
    shown = answer.sheet(report, explain)
    deliver(shown, format, output, talk, options["all_columns"])


def _bounded(data: Dataset, asked: Asked, talk: Talk) -> BoundsReport:
    """The cell trained and bounded; exit 5 where it did not converge."""
    trained = asked.optimal(data, talk, "nothing to bound")
    return patiently(examined.bounds, trained, asked.settings)
