"""``msvm-select bound DATA``: one cell, every term of every bound beside the truth."""

from __future__ import annotations

from typing import Any

import click

from msvm_select.cli.asking import Asked
from msvm_select.cli.interrupts import patiently
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
from msvm_select.show.answers import bound as answer


@click.command("bound", cls=Command)
@data_argument
@takes_one_cell(
    *(*ROW, "delta", "maurey_c", "dimension", "union"),
    *("jobs", *READ, "explain", *REPORT, "verbose"),
    jobs={"help": "Samples at the same time. Default: 1."},
)
def command(data: str, explain: bool, **options: Any) -> None:
    """Show every term of every bound of one machine, next to its true errors.

    \b
    msvm-select bound data/iris.csv --C 1 --gamma 0.25 --loss l2
    msvm-select bound data/wine.csv --kernel linear --C 1000 --explain
    msvm-select bound data/iris.csv --from ranked.json --rank 2
    msvm-select bound data/glass.csv --C 8 --gamma 2 --format json > terms.json

    A bound that does not apply to this machine says so, and why; it may then lie below
    the errors. --explain adds to each number its formula and the theorem or equation
    that it comes from; the other formats always have both. If the training did not
    converge, nothing is shown and the exit code is 5.
    """
    asked = Asked(data, options)
    output = Output.of(options, asked.settings.format, asked.talk, data)
    with asked.talk:
        trained = asked.optimal("nothing to bound")
        report = patiently(examined.bounds, trained, asked.settings)
    output.deliver(answer.sheet(report, explain))
