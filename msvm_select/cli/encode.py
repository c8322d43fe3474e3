"""``msvm-select encode FASTA``: the features of sequences as CSV."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TextIO

import click

from msvm_select import files
from msvm_select.cli.asking import chosen_reading
from msvm_select.cli.interrupts import patiently
from msvm_select.cli.options import Command, argument, takes
from msvm_select.data.sequences import encoding


@click.command("encode", cls=Command)
@argument("fasta", type=click.Path(allow_dash=True))
@takes(
    *("features", "label_from", "labels", "states", "alphabet", "output", "quiet"),
    output={"help": "The CSV file to write. Default: standard output."},
)
def command(fasta: str, output: str | None, quiet: bool, **options: Any) -> None:
    """Write the features of the sequences in FASTA as CSV, one row per sequence.

    \b
    msvm-select encode proteins.fasta -o composition.csv
    msvm-select encode proteins.fasta --features kmer:2 --labels classes.csv
    msvm-select encode proteins.fasta --features window:13 --states states.fasta

    composition: the share of each letter. kmer:K: how often each word of K letters
    occurs. window:W: one row per residue, with the letters up to (W - 1)/2 places away
    as 0 and 1; its class is its state, from a second FASTA of the same names, or, with
    --states inline, from the second half of the lines below each header.

    The columns are name, the features and class. Sweep them with --id-column name, and
    windows with --group-column name, so that a sequence is left out whole. Gaps, stops,
    small and unknown letters, empty records and equal names are counted on stderr. Only
    one sequence is in memory at a time.
    """
    said = chosen_reading(options)
    more = {name: options[name] for name in ("features", "states")}
    wanted = encoding.Wanted(**more, **said)
    target: AbstractContextManager[TextIO]
    if output in (None, "-"):
        target = nullcontext(sys.stdout)
    else:
        inputs = (path for path in (fasta, wanted.labels, wanted.states) if path)
        files.check_writable(output, *inputs)
        target = files.written_whole(output)
    with target as out:
        done = patiently(encoding.encode, fasta, out, wanted)
    if not quiet:
        for line in (*done.told, *([f"Written: {output}"] if output else [])):
            click.echo(line, err=True)
