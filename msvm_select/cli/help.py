"""``msvm-select help COMMAND``: what ``msvm-select COMMAND --help`` prints."""

from __future__ import annotations

import click

from msvm_select.cli import cli
from msvm_select.cli.options import Command


@click.command("help", cls=Command, short_help="Print the help of a command.")
@click.argument("name", metavar="[COMMAND]", required=False)
@click.pass_context
def command(context: click.Context, name: str | None) -> None:
    """Print the help of a command, or of the whole program.

    \b
    msvm-select help
    msvm-select help sweep
    """
    line = ["--help"] if name is None else [name, "--help"]
    root = context.find_root()
    cli.main(line, prog_name=root.info_name, standalone_mode=False)
