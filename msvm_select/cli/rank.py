"""``msvm-select rank RESULTS``: rank the rows of a result file again."""

from __future__ import annotations

import click

from msvm_select.cli.options import output_options
from msvm_select.cli.streams import chosen_format, deliver
from msvm_select.cli.talk import Talk


@click.command("rank", short_help="Rank a result file by another criterion.")
@click.argument("results", metavar="RESULTS")
@click.option("--by", required=True, metavar="A", help="A criterion or a column.")
@output_options
def command(
    results: str,
    by: str,
    top: int | None,
    format: str | None,
    output: str | None,
    quiet: bool,
) -> None:
    """Rank a csv, tsv, json or ndjson file of results by another criterion.

    \b
    msvm-select rank ranked.csv --by train-errors
    msvm-select rank ranked.json --by gap --top 5 --format csv
    msvm-select rank ranked.csv --by sv-rate -o again.md
    msvm-select sweep data/iris.csv --format json | msvm-select rank - --by n_sv
    """
    from msvm_select.report.edges import edge_notes
    from msvm_select.report.reread import read_results
    from msvm_select.settings import settings_from

    wanted = settings_from({"top": top, "format": format})
    format = chosen_format(wanted.format, output)
    ranked = read_results(results).ranked(by)
    deliver(ranked, format, output, wanted.top)
    talk = Talk(quiet)
    for note in edge_notes(ranked):
        talk.say(f"Warning: {note}")
