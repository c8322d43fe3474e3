"""``msvm-select loo DATA``: every sample judged by the machine trained without it."""

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
from msvm_select.cli.streams import Output, say_failed
from msvm_select.model import examined
from msvm_select.show.answers import cell as answer


@click.command("loo", cls=Command)
@data_argument
@takes_one_cell(
    *(*ROW, "jobs", "fail_above", *READ, "every", *REPORT, "verbose"),
    jobs={"help": "Samples at the same time. Default: 1."},
)
def command(data: str, every: bool, **options: Any) -> None:
    """Judge every sample by the machine trained without it, exactly.

    \b
    msvm-select loo data/iris.csv --C 1 --gamma 0.25
    msvm-select loo data/wine.csv --kernel linear --C 0.1 --all
    msvm-select loo data/glass.csv --C 8 --format csv > samples.csv
    msvm-select loo data/iris.csv --from ranked.json --fail-above 0.05

    One row per sample: its class, the prediction and the margin without it (`?` for a
    tie, which counts as wrong), and how the answer was found. The table shows the
    samples that are wrong or ambiguous, a confusion matrix and the totals. The other
    formats have every sample, and json has everything. If the training did not
    converge, nothing is shown and the exit code is 5.
    """
    asked = Asked(data, options)
    output = Output.of(options, asked.settings.format, asked.talk, data)
    with asked.talk:
        trained = asked.optimal("no leave-one-out")
        report = patiently(examined.leave_one_out, trained, asked.settings)
    output.deliver(answer.left_out_sheet(report, every))
    rate, most = report.left_out.errors / report.data.m, asked.settings.fail_above
    if most is not None and rate > most:
        say_failed(f"loo_rate {rate:.6g} is above {most:.6g}")
        click.get_current_context().exit(1)
