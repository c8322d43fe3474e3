"""``msvm-select merge JOURNAL..``: the parts of a sweep, put together and ranked."""

from __future__ import annotations

from typing import Any

import click

from msvm_select.cli import talk as talking
from msvm_select.cli.asking import chosen_values
from msvm_select.cli.options import CHOOSING, REPORT, Command, takes
from msvm_select.cli.streams import (
    Output,
    asked_gates,
    check_page,
    gated_exit_code,
    write_page_of_rows,
)
from msvm_select.results import choosing
from msvm_select.show.answers import sweep as answer
from msvm_select.sweep import merge


@click.command("merge", cls=Command)
@click.argument(
    "journals", metavar="JOURNAL..", nargs=-1, required=True, type=click.Path()
)
@takes("by", *CHOOSING, "partial", "top", *REPORT, "report")
def command(journals: tuple[str, ...], by: str | None, **options: Any) -> None:
    """Put the parts of a sweep together: journals of `sweep --shard I/N`.

    \b
    msvm-select merge part1.ndjson part2.ndjson -o merged.json
    msvm-select merge part1.ndjson part2.ndjson --select 1se --report merged.html

    The parts must be of the same data and settings, and every cell must be there; what
    is missing is named. A cell may be there twice, if it is the same in both. The
    results, the choice and the exit codes are those of the whole sweep.
    """
    wanted, talk = chosen_values(options), talking.Talk(options["quiet"])
    output = Output.of(options, wanted.get("format"), talk, *journals)
    check_page(options["report"], output.path, *journals)
    found = merge.merged(journals, options["partial"])
    results = choosing.as_chosen(found.results, by, wanted.get("select"))
    for note in found.notes:
        talk.say(f"Note: {note}")
    gates = asked_gates(results, wanted)
    output.deliver(answer.sheet(results, wanted.get("top"), gates))
    write_page_of_rows(options["report"], results, talk)
    for note in choosing.edge_notes(results):
        talk.say(f"Warning: {note}")
    click.get_current_context().exit(gated_exit_code(results, wanted))
