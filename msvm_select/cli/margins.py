"""``msvm-select margins DATA``: how far one machine holds the classes apart."""

from __future__ import annotations

from typing import Any

import click

from msvm_select.cli.asking import Asked
from msvm_select.cli.options import (
    READ,
    REPORT,
    ROW,
    Command,
    data_argument,
    takes_one_cell,
)
from msvm_select.cli.streams import Output
from msvm_select.model import examined
from msvm_select.show.answers import cell as answer


@click.command("margins", cls=Command)
@data_argument
@takes_one_cell(*ROW, *READ, *REPORT, "verbose")
def command(data: str, **options: Any) -> None:
    """Show the margin between each two classes, and the samples closest to it.

    \b
    msvm-select margins data/iris.csv --C 1 --gamma 0.25
    msvm-select margins data/wine.csv --kernel linear --C 1000 --format csv
    msvm-select margins data/iris.csv --from ranked.json

    One row per pair of classes k, l: the geometric margin gamma_kl = (1 + delta_kl) /
    ||w_k - w_l||, delta_kl (0 where the closest sample lies at margin 1, below it with
    slack), ||w_k - w_l||, and the closest samples of both classes by id, or by line of
    the file. If the training did not converge, the rows are shown and the exit code
    is 5.
    """
    asked = Asked(data, options)
    output = Output.of(options, asked.settings.format, asked.talk, data)
    with asked.talk:
        trained = asked.trained()
    output.deliver(
        answer.margins_sheet(examined.MarginsReport(trained, asked.settings))
    )
    click.get_current_context().exit(0 if trained.solution.converged else 5)
