"""``msvm-select rank RESULTS``: rank the rows of a result file again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.against import checked_tolerance, say_worsened, show_moves
from msvm_select.cli.chosen import chosen_values
from msvm_select.cli.gates import say_broken
from msvm_select.cli.options import Command, choosing_options, rows_options, takes
from msvm_select.cli.report import check_page, write_page_of_rows
from msvm_select.cli.streams import chosen_format, deliver
from msvm_select.cli.talk import Talk
from msvm_select.errors import SettingsError
from msvm_select.results import choosing, reread
from msvm_select.results import compare as runs
from msvm_select.show.answers import sweep as answer

if TYPE_CHECKING:
    from msvm_select.results.ranking import Results


@click.command(
    "rank", cls=Command, short_help="Rank a result file by another criterion."
)
@click.argument("results", metavar="RESULTS")
@takes(
    "by",
    by={
        "help": "A criterion or a column. Default: what a json file was ranked by, "
        "else loo."
    },
)
@choosing_options
@takes("against", "tolerance")
@rows_options
@takes("report")
def command(
    results: str, by: str | None, output: str | None, quiet: bool, **options: Any
) -> None:
    """Rank a csv, tsv, json or ndjson file of results by another criterion.

    \b
    msvm-select rank ranked.csv --by train-errors
    msvm-select rank ranked.json --by gap --top 5 --format csv
    msvm-select rank ranked.csv --by sv-rate -o again.md
    msvm-select rank ranked.csv --select 1se --fail-above 0.05
    msvm-select rank today.csv --against yesterday.csv --tolerance 0.01
    msvm-select sweep data/iris.csv --format json | msvm-select rank - --by n_sv

    RESULTS may be the journal of a sweep, even while the sweep still runs. Unless --by
    or --select is given, the ranking and the choice of the file count.

    --against tells which cell was the best in each run, which cells are in one run
    only, which ones changed their value or status, the largest change first (in a table
    the first 20, or --top N), and Kendall's rank correlation of the two runs.
    """
    wanted = chosen_values(options)
    format = chosen_format(wanted.get("format"), output)
    tolerance, top = checked_tolerance(options["tolerance"]), wanted.get("top")
    check_page(options["report"], output, results)
    found = _ranked(results, by, wanted.get("select"))
    talk = Talk(quiet)
    failed = False
    if options["against"] is not None:
        against = _against(options["against"], found)
        show_moves(against, format, output, top, talk)
        failed = say_worsened(against, tolerance)
    elif options["tolerance"] is not None:
        raise SettingsError("tolerance is for --against, which is not given.")
    else:
        shown = answer.sheet(found, top)
        deliver(shown, format, output, talk, options["all_columns"])
        write_page_of_rows(options["report"], found, talk)
        for note in choosing.edge_notes(found):
            talk.say(f"Warning: {note}")
    failed = say_broken(found, wanted) or failed
    click.get_current_context().exit(1 if failed else 0)


def _ranked(path: str, by: str | None, rule: str | None = None) -> Results:
    """A file's rows, ranked and one chosen as asked for, else as in the file."""
    read = reread.read_results(path)
    try:
        return choosing.as_chosen(read, by, rule)
    except SettingsError as error:
        error.add_note(f"The file is {path}.")
        raise


def _against(path: str, found: Results) -> runs.Against:

    return runs.Against(_ranked(path, found.rank_by), found)
