"""``msvm-select generate NAME``: artificial data as CSV or FASTA."""

from __future__ import annotations

import click

from msvm_select import files
from msvm_select import generate as generating
from msvm_select.cli.options import Command, takes


@click.command("generate", cls=Command)
@click.argument(
    "name",
    metavar="NAME",
    shell_complete=lambda ctx, argument, start: [
        name for name in generating.GENERATORS if name.startswith(start)
    ],
)
@takes(
    *("per_class", "seed", "output"),
    seed={
        "metavar": None,
        "within": (0, None),
        "default": 0,
        "help": "The same seed gives the same data.",
    },
    output={"help": "The file to write. Default: standard output."},
)
def command(name: str, per_class: int, seed: int, output: str | None) -> None:
    """Write artificial data as CSV or FASTA.

    \b
    msvm-select generate three-gaussians -o gaussians.csv
    msvm-select generate three-gaussians --per-class 100 | msvm-select sweep -
    msvm-select generate proteins --per-class 50 -o proteins.fasta

    three-gaussians: three normal classes in the plane, at the corners of a triangle,
    with variances 1, 4 and 16; columns x1, x2 and class.

    proteins: artificial sequences of three families, each a Markov chain of 60 to 180
    residues, as FASTA with class=... in the headers. A family favours some residues and
    some pairs of them.
    """
    text = generating.generate(name, per_class, seed)
    if output in (None, "-"):
        click.echo(text, nl=False)
    else:
        files.write_whole(output, text)
