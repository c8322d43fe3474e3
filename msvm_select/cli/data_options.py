"""Which data, and how to read them."""

from __future__ import annotations

import click

from msvm_select.cli.options import Command, setting, together

DATA_OPTIONS = (
    setting(
        "--target",
        metavar="NAME|INDEX",
        help="The class column, by name or number (1-based, -1 is the last). Default: "
        "the one named class, target, label or y, else the last.",
    ),
    setting(
        "--delimiter",
        metavar="CHAR",
        help="The field separator, also as tab, comma, semicolon. Default: whichever "
        "of these three the first lines show.",
    ),
    setting("--encoding", help="The text encoding. Default: utf-8."),
    setting(
        "--no-header/--header",
        help="The first line is a sample; features are named x1, x2, ...",
    ),
    setting(
        "--id-column",
        metavar="NAME|INDEX",
        help="A column that names the rows and is not a feature.",
    ),
    setting(
        "--na-values",
        multiple=True,
        metavar="A,B,..",
        help="More texts that stand for a missing value. May repeat.",
    ),
    setting(
        "--one-hot",
        multiple=True,
        metavar="COL",
        help="A text column to expand into one 0/1 feature per value. May repeat.",
    ),
    setting(
        "--missing",
        type=click.Choice(["error", "drop", "mean"]),
        help="Missing values: refuse them, leave their rows out, or fill in the "
        "column's mean over the training part. Default: error.",
    ),
    setting(
        "--decimal",
        metavar="MARK",
        help="What marks the decimals of a number: point (default) or comma.",
    ),
    setting(
        "--input-format",
        type=click.Choice(["csv", "libsvm"]),
        help="Default: libsvm for .svm, .libsvm and .t files, else csv.",
    ),
)


def data_argument(command: Command) -> Command:
    """The file to read: DATA."""
    # Not checked by click: a missing file is bad data (exit 3), with a suggestion.
    return click.argument("data", type=click.Path(allow_dash=True))(command)


data_options = together(*DATA_OPTIONS)
"""How to read DATA"""
