"""``msvm-select check DATA``: what is in a file, and what is wrong with it."""

from __future__ import annotations

from typing import Any

import click

from msvm_select.cli.asking import chosen_reading, read
from msvm_select.cli.options import READ, Command, data_argument, takes
from msvm_select.cli.streams import emit
from msvm_select.data import doubts
from msvm_select.errors import DataError
from msvm_select.phrases import quoted
from msvm_select.show.answers import check as answer

TAKEN = "taken for the class"


@click.command("check", cls=Command)
@data_argument
@takes(*READ, "form")
def command(data: str, form: str, **options: Any) -> None:
    """Report what is in DATA: classes, ranges, missing and repeated values.

    \b
    msvm-select check data/iris.csv
    msvm-select check data/wine.csv --target class --format json
    tail -n +2 data/iris.csv | msvm-select check - --no-header

    Exit 0 when DATA can be trained on (whatever the warnings), 3 when it cannot; then
    every problem is listed.
    """
    try:
        found = answer.sheet(doubts.describe(read(data, **chosen_reading(options))))
    except DataError as error:
        if form == "json":
            emit(answer.refused(error).render(form), None)
        else:
            note_guess(error)
        raise
    emit(found.render(form or "table"), None)


def note_guess(error: DataError) -> None:
    """Which column was taken for the class, where that may be what is wrong."""
    if (guessed := getattr(error, "guessed", None)) and TAKEN not in str(error):
        click.echo(
            f"Note: column {quoted(guessed)} was {TAKEN}; --target names another.",
            err=True,
        )
