"""``msvm-select rank RESULTS``: rank the rows of a result file again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli import talk as talking
from msvm_select.cli.asking import chosen_values
from msvm_select.cli.options import CHOOSING, REPORT, Command, argument, takes
from msvm_select.cli.streams import (
    Output,
    asked_gates,
    check_page,
    say_broken,
    say_failed,
    write_page_of_rows,
)
from msvm_select.errors import SettingsError
from msvm_select.results import choosing, notes, reread
from msvm_select.results import compare as runs
from msvm_select.settings.settings import check_gates
from msvm_select.settings.values import number
from msvm_select.show.answers import compare as moves
from msvm_select.show.answers import sweep as answer

if TYPE_CHECKING:
    from msvm_select.results.ranking import Results

ENOUGH = 20  # cells that a table shows of those that moved, unless --top says more


@click.command("rank", cls=Command)
@argument("results", metavar="RESULTS")
@takes(
    *("by", *CHOOSING, "against", "tolerance", "top", *REPORT, "report"),
    by={
        "help": "A criterion or a column. Default: what a json file was ranked by, "
        "else loo."
    },
)
def command(results: str, by: str | None, **options: Any) -> None:
    """Rank a file of results by another criterion.

    \b
    msvm-select rank ranked.csv --by train-errors
    msvm-select rank ranked.json --by gap --top 5 --format csv
    msvm-select rank ranked.csv --by sv-rate -o again.md
    msvm-select rank ranked.csv --select 1se --fail-above 0.05
    msvm-select rank today.csv --against yesterday.csv --tolerance 0.01
    msvm-select sweep data/iris.csv --format json | msvm-select rank - --by n_sv

    RESULTS is a csv, tsv, json, ndjson or parquet file, or the journal of a sweep, even
    while the sweep still runs. Without --by and --select, the file's own ranking and
    choice hold.

    --against tells which cell was the best in each run, which cells are in one run
    only, which changed their value or status, the largest change first (in a table the
    first 20, or --top N), and Kendall's rank correlation of the two runs.
    """
    wanted, talk = chosen_values(options), talking.Talk(options["quiet"])
    output = Output.of(options, wanted.get("format"), talk)
    tolerance, top = _tolerance(options["tolerance"]), wanted.get("top")
    check_page(options["report"], output.path, results)
    found = _ranked(results, by, wanted.get("select"))
    check_gates(found.rank_by, wanted)
    gates, worse = asked_gates(found, wanted), None
    if options["against"] is not None:
        against = runs.Against(_ranked(options["against"], found.rank_by), found)
        shown = top or (ENOUGH if output.format == "table" else None)
        worse = against.worsened(tolerance)
        gate = notes.Gate(f"--against {options['against']}", worse)
        output.deliver(moves.against_sheet(against, shown, [gate, *gates]))
        if worse:
            say_failed(worse)
    elif options["tolerance"] is not None:
        raise SettingsError("tolerance is for --against, which is not given.")
    else:
        output.deliver(answer.sheet(found, top, gates))
        write_page_of_rows(options["report"], found, talk)
        for note in choosing.edge_notes(found):
            talk.say(f"Warning: {note}")
    failed = say_broken(found, wanted) or worse is not None
    click.get_current_context().exit(1 if failed else 0)


def _tolerance(text: str | None) -> float:
    """The number, 0 or more; 0 where none was given."""
    tolerance = 0.0 if text is None else number(text, "tolerance")
    if tolerance < 0.0:
        raise SettingsError(f"tolerance = {tolerance:g} must be 0 or more.")
    return tolerance


def _ranked(path: str, by: str | None, rule: str | None = None) -> Results:
    """A file's rows, ranked and one chosen as asked for, else as in the file."""
    read = reread.read_results(path)
    try:
        return choosing.as_chosen(read, by, rule)
    except SettingsError as error:
        error.add_note(f"The file is {path}.")
        raise
