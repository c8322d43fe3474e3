"""``msvm-select check DATA``: what is in a file, and what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.chosen import chosen_reading, read
from msvm_select.cli.options import Command, data_argument, data_options, takes
from msvm_select.data import describe
from msvm_select.errors import DataError
from msvm_select.phrases import counted, in_a_line, quoted
from msvm_select.show import layout

if TYPE_CHECKING:
    from msvm_select.data.describe import Description

SHOWN = 40
SCHEMA_VERSION = 1
HEADINGS = ("column", "min", "max", "mean", "sd", "missing")


@click.command("check", cls=Command, short_help="Report what is in a data file.")
@data_argument
@data_options
@takes("form")
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
        description = describe.describe(read(data, **chosen_reading(options)))
    except DataError as error:
        if form == "json":
            problems = getattr(error, "problems", (str(error),))
            _print_json({"usable": False, "problems": list(problems)})
        raise
    if form == "json":
        found = asdict(description) | {"warnings": list(description.warnings)}
        _print_json({"usable": True, "problems": [], **found})
    else:
        _show(description)


def _print_json(document: dict[str, Any]) -> None:
    whole = {"schema_version": SCHEMA_VERSION, **document}
    click.echo(json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False))


def _show(description: Description) -> None:

    click.echo(
        f"{description.name}: {description.rows} rows, "
        f"{counted(description.features, 'feature')}, "
        f"{len(description.classes)} classes (column {quoted(description.target)})"
    )
    classes = [
        f"{in_a_line(name)} {count}" for name, count in description.classes.items()
    ]
    click.echo(f"classes: {', '.join(_cut(classes))}")
    cells = [
        [
            in_a_line(c.name),
            *(f"{v:.6g}" for v in (c.minimum, c.maximum, c.mean, c.sd)),
            c.missing,
        ]
        for c in description.columns[:SHOWN]
    ]
    rows = [[str(cell) for cell in row] for row in cells]
    click.echo(
        layout.aligned([HEADINGS, *rows], [True] + [False] * (len(HEADINGS) - 1))
    )
    rest = len(description.columns) - SHOWN
    if rest > 0:
        click.echo(f"... and {rest} more columns (--format json has them all)")
    for warning in _cut(description.warnings):
        click.echo(f"warning: {warning}")
    if not description.warnings:
        click.echo("nothing to warn about")


def _cut(items: list[str] | tuple[str, ...]) -> list[str]:
    rest = len(items) - SHOWN
    return [*items[:SHOWN], *([f"... and {rest} more"] if rest > 0 else [])]
