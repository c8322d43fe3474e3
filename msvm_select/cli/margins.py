"""``msvm-select margins DATA``: how far one machine holds the classes apart."""

from __future__ import annotations

from typing import Any

import click

from msvm_select.cli.chosen import chosen_reading, read
from msvm_select.cli.one_cell import Asked
from msvm_select.cli.options import (
    Command,
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
from msvm_select.show.answers import cell as answer


@click.command(
    "margins", cls=Command, short_help="Show the margin between each pair of classes."
)
@data_argument
@settings_options
@from_options
@data_options
@report_options
@takes("verbose")
def command(data: str, output: str | None, quiet: bool, **options: Any) -> None:
    """Show how far apart one machine holds the classes, and what is closest.

    \b
    msvm-select margins data/iris.csv --C 1 --gamma 0.25
    msvm-select margins data/wine.csv --kernel linear --C 1000 --format csv
    msvm-select margins data/iris.csv --from ranked.json

    One row a pair of classes k, l: the geometric margin gamma_kl = (1 + delta_kl) /
    ||w_k - w_l||, delta_kl (0 where the closest sample lies at margin 1, below it with
    slack), ||w_k - w_l||, and the closest samples of both classes by id, or by line of
    the file. Exit 5, with the rows shown, when the training did not converge.
    """
    asked = Asked(options)
    format = chosen_format(asked.settings.format, output, data)
    dataset = read(data, asked.settings, **chosen_reading(options, asked.cell))
    with Talk(quiet, options["verbose"]) as talk:
        trained = asked.trained(dataset, talk)
    shown = answer.margins_sheet(examined.MarginsReport(trained, asked.settings))
    deliver(shown, format, output, talk, options["all_columns"])
    click.get_current_context().exit(0 if trained.solution.converged else 5)
