"""``msvm-select loo DATA``: every sample judged by the machine trained without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.chosen import chosen_reading, read
from msvm_select.cli.gates import say_failed
from msvm_select.cli.interrupts import patiently
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

if TYPE_CHECKING:
    from msvm_select.model.examined import LeftOutReport
    from msvm_select.records import Dataset


@click.command("loo", cls=Command, short_help="Judge every sample without itself.")
@data_argument
@settings_options
@from_options
@takes("jobs", jobs={"help": "Samples at the same time. Default: 1."})
@takes("fail_above")
@data_options
@takes("every")
@report_options
@takes("verbose")
def command(
    data: str, output: str | None, every: bool, quiet: bool, **options: Any
) -> None:
    """Judge every sample by the machine trained without it, exactly.

    \b
    msvm-select loo data/iris.csv --C 1 --gamma 0.25
    msvm-select loo data/wine.csv --kernel linear --C 0.1 --all
    msvm-select loo data/glass.csv --C 8 --format csv > samples.csv
    msvm-select loo data/iris.csv --from ranked.json --fail-above 0.05

    One row a sample: its class, the prediction and the margin without it (`?` at a
    tie, which counts as wrong), and the road to the answer. The table shows the
    samples that are wrong or ambiguous, a confusion matrix and the totals; the other
    formats have every sample, json has all of it. Exit 5, with nothing shown, when the
    training did not converge.
    """
    asked = Asked(options)
    format = chosen_format(asked.settings.format, output, data)
    reading = chosen_reading(options, asked.cell)
    with Talk(quiet, options["verbose"]) as talk:
        report = _judged(read(data, asked.settings, **reading), asked, talk)
    shown = answer.left_out_sheet(report, every)
    deliver(shown, format, output, talk, options["all_columns"])
    _judge_gate(report, asked.settings.fail_above)


def _judged(data: Dataset, asked: Asked, talk: Talk) -> LeftOutReport:
    """The cell trained and every sample left out; exit 5 where it did not converge."""
    trained = asked.optimal(data, talk, "no leave-one-out")
    return patiently(examined.leave_one_out, trained, asked.settings)


def _judge_gate(report: LeftOutReport, fail_above: float | None) -> None:
    """Exit 1 where the error rate is larger than that."""
    rate = report.left_out.errors / report.data.m
    if fail_above is not None and rate > fail_above:
        say_failed(f"loo_rate {rate:.6g} is above {fail_above:.6g}")
        click.get_current_context().exit(1)
