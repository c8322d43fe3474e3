"""``msvm-select rank RESULTS``: rank the rows of a result file again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.chosen import chosen_values
from msvm_select.cli.gates import say_broken
from msvm_select.cli.headings import Command
from msvm_select.cli.options import choosing_options, output_options
from msvm_select.cli.streams import chosen_format, deliver
from msvm_select.cli.talk import Talk

if TYPE_CHECKING:
    from msvm_select.report import Results

DEFAULT_BY = "loo"


@click.command(
    "rank", cls=Command, short_help="Rank a result file by another criterion."
)
@click.argument("results", metavar="RESULTS")
@click.option(
    "--by",
    metavar="A",
    help="A criterion or a column. Default: what a json file was ranked by, else loo.",
)
@choosing_options
@output_options
def command(
    results: str, by: str | None, output: str | None, quiet: bool, **options: Any
) -> None:
    """Rank a csv, tsv, json or ndjson file of results by another criterion.

    \b
    msvm-select rank ranked.csv --by train-errors
    msvm-select rank ranked.json --by gap --top 5 --format csv
    msvm-select rank ranked.csv --by sv-rate -o again.md
    msvm-select rank ranked.csv --select 1se --fail-above 0.05
    msvm-select sweep data/iris.csv --format json | msvm-select rank - --by n_sv
    """
    from msvm_select.report.choosing import chosen
    from msvm_select.report.reread import read_results

    wanted = chosen_values(options)
    format = chosen_format(wanted.get("format"), output)
    ranked = _ranked(read_results(results), by)
    found = chosen(ranked, wanted.get("select", "best"))
    deliver(found, format, output, wanted.get("top"))
    _conclude(found, Talk(quiet))
    click.get_current_context().exit(1 if say_broken(found, wanted) else 0)


def _ranked(results: Results, by: str | None) -> Results:
    """By what was asked for, else by what the file was ranked by."""
    return results.ranked(by or str(results.settings.get("rank_by", DEFAULT_BY)))


def _conclude(results: Results, talk: Talk) -> None:
    from msvm_select.report.edges import edge_notes

    for note in edge_notes(results):
        talk.say(f"Warning: {note}")
