"""``msvm-select loo DATA``: every sample judged by the machine trained without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.chosen import chosen_reading, chosen_settings, read
from msvm_select.cli.data_options import data_argument, data_options
from msvm_select.cli.fit import DEFAULT_C, settings_options
from msvm_select.cli.headings import Command
from msvm_select.cli.options import setting
from msvm_select.cli.streams import chosen_format
from msvm_select.cli.talk import Talk

if TYPE_CHECKING:
    from msvm_select.records import Dataset
    from msvm_select.report.left_out import LeftOutReport
    from msvm_select.settings import Settings


@click.command("loo", cls=Command, short_help="Judge every sample without itself.")
@data_argument
@settings_options
@setting("--jobs", metavar="N", help="Samples at the same time. Default: 1.")
@data_options
@click.option("--all", "every", is_flag=True, help="In a table, the right ones too.")
@setting(
    "--format",
    metavar="NAME",
    help="table, csv, tsv, json, ndjson or markdown. Default: by the ending of the -o "
    "file, else table.",
)
@click.option("-o", "--output", metavar="FILE", help="Write there, not to stdout.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors.")
def command(
    data: str, output: str | None, every: bool, quiet: bool, **options: Any
) -> None:
    """Judge every sample by the machine trained without it, exactly.

    \b
    msvm-select loo data/iris.csv --C 1 --gamma 0.25
    msvm-select loo data/wine.csv --kernel linear --C 0.1 --all
    msvm-select loo data/glass.csv --C 8 --format csv > samples.csv

    One row a sample: its class, the prediction and the margin without it (`?` at a
    tie, which counts as wrong), and the road to the answer. The table shows the
    samples that are wrong or ambiguous, a confusion matrix and the totals; the other
    formats have every sample, json has all of it. Exit 5, with nothing shown, when the
    training did not converge.
    """
    settings = chosen_settings(options, C=DEFAULT_C)
    format = chosen_format(settings.format, output)
    reading = chosen_reading(options)
    with Talk(quiet) as talk:
        report = _judged(read(data, **reading), settings, talk)
    _deliver(report, format, every, output)
    _conclude(report, format, output, talk)


def _judged(data: Dataset, settings: Settings, talk: Talk) -> LeftOutReport:
    """The cell trained and every sample left out; exit 5 where it did not converge."""
    from msvm_select.model import train_cell
    from msvm_select.model.left_out import leave_one_out

    for note in data.notes:
        talk.say(f"Note: {note}")
    trained = train_cell(data, settings, talk)
    solution = trained.cell.solution
    if not solution.converged:
        reason = f"the training did not converge: {solution.reason}"
        click.echo(f"Error: {reason}; so there is no leave-one-out.", err=True)
        click.get_current_context().exit(5)
    return leave_one_out(trained, settings)


def _deliver(
    report: LeftOutReport, format: str, every: bool, output: str | None
) -> None:
    from msvm_select.report.formats import write_whole

    text = report.render(format, every)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)


def _conclude(
    report: LeftOutReport, format: str, output: str | None, talk: Talk
) -> None:
    """On stderr: the errors, unless a table on stdout ends with them."""
    from msvm_select.report.left_out import conclusion

    if output is not None or format != "table":
        talk.say(conclusion(report))
        if report.warning:
            talk.say(f"Warning: {report.warning}")
    if output is not None:
        talk.say(f"Written: {output}")
