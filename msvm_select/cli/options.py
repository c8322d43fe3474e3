"""Options that commands share, and what they are turned into."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from msvm_select.dataset import ReadOptions
    from msvm_select.records import Dataset

Command = TypeVar("Command", bound=Callable[..., Any])

# A default of None (or nothing) means "not said on the line": a settings file may
# then have its say, and ReadOptions has the last default.
DATA_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--target",
        metavar="NAME|INDEX",
        help="The class column, by name or number (1-based, -1 is the last). Default: "
        "the one named class, target, label or y, else the last.",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        help="The field separator, also as tab, comma, semicolon. Default: whichever "
        "of these three the first lines show.",
    ),
    click.option("--encoding", help="The text encoding. Default: utf-8."),
    click.option(
        "--no-header",
        is_flag=True,
        help="The first line is a sample; features are named x1, x2, ...",
    ),
    click.option(
        "--id-column",
        metavar="NAME|INDEX",
        help="A column that names the rows and is not a feature.",
    ),
    click.option(
        "--na-values",
        multiple=True,
        metavar="A,B,..",
        help="More texts that stand for a missing value. May repeat.",
    ),
    click.option(
        "--one-hot",
        multiple=True,
        metavar="COL",
        help="A text column to expand into one 0/1 feature per value. May repeat.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "drop", "mean"]),
        help="Missing values: refuse them, leave their rows out, or fill in the "
        "column's mean over the training part. Default: error.",
    ),
    click.option(
        "--input-format",
        type=click.Choice(["csv", "libsvm"]),
        help="Default: libsvm for .svm, .libsvm and .t files, else csv.",
    ),
)


def data_argument(command: Command) -> Command:
    """The file to read: DATA."""
    # Not checked by click: a missing file is bad data (exit 3), with a suggestion.
    return click.argument("data", type=click.Path(allow_dash=True))(command)


def data_options(command: Command) -> Command:
    """How to read DATA."""
    for option in reversed(DATA_OPTIONS):
        command = option(command)
    return command


def read_options(
    *,
    no_header: bool = False,
    na_values: tuple[str, ...] = (),
    one_hot: tuple[str, ...] = (),
    **said: str | None,
) -> ReadOptions:
    """What the line says, as one record."""
    from msvm_select.dataset import ReadOptions

    given: dict[str, Any] = {name: v for name, v in said.items() if v is not None}
    texts = tuple(text for value in na_values for text in value.split(","))
    return ReadOptions(
        header=not no_header, na_values=texts, one_hot=tuple(one_hot), **given
    )


def read(data: str, **said: Any) -> Dataset:
    """DATA as the options of ``data_options`` say; ``-`` is standard input."""
    from msvm_select.dataset import read_dataset

    stream = click.get_binary_stream("stdin") if data == "-" else data
    return read_dataset(stream, read_options(**said))
