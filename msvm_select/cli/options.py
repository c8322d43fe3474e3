"""The catalogue's options as click has them, in groups; the help of a command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import click

from msvm_select.cli.completing import Completed
from msvm_select.phrases import did_you_mean
from msvm_select.settings import PARAMETERS
from msvm_select.settings.catalogue import (
    EVERY,
    HEADINGS,
    KERNEL,
    READING,
    REST,
    SCORES,
    SETTINGS,
    TRAINING,
    Option,
)

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Decorator = Callable[[Decorated], Decorated]

FEW = 12  # options that one list can hold
GRID = tuple(
    name
    for name, option in SETTINGS.items()
    if option.heading in (KERNEL, TRAINING, SCORES)
)
"""The grid, the training, the scores."""
CELL = tuple(
    name for name in GRID if EVERY[name].heading != SCORES and not EVERY[name].of_grids
)
"""The kernel, C and the training."""
ONE_GAMMA = (
    "Also scale, 1/(features x variance), and auto, 1/features. Default: 1 for the "
    "polynomial, scale for rbf and sigmoid."
)
READ = tuple(READING)
"""How to read DATA."""
ROW = ("source", "rank", "select")
"""A cell of earlier results, in the place of one that is told by ``CELL``."""
CHOOSING = (
    *("select", "fail_above", "fail_below"),
    *("require_applicable", "require_converged"),
)
"""Which cell to take, and when not to be content with it."""
CLUSTER = ("cluster", "tls_ca", "tls_cert", "tls_key")
"""Where the cells are trained."""
REPORT = ("format", "output", "all_columns", "quiet")
"""What becomes of the answer."""
SWEEP = (
    *(*GRID, "no_extend", *CHOOSING, *CLUSTER, *READ, "top", *REPORT, "verbose"),
    *("journal", "resume", "report", "dry_run", "show_config"),
)
"""All that a sweep can be told."""


class Headed(Completed, click.Option):
    """An option that stands under a heading of the help."""

    def __init__(self, *names: Any, heading: str = REST, **attributes: Any) -> None:
        """As any option."""
        super().__init__(*names, **attributes)
        self.heading = heading


class Argument(Completed, click.Argument):
    """An argument that a shell can complete."""


argument = partial(click.argument, cls=Argument)


class OneOf(click.Choice[str]):
    """One of a few words; of another, the one that was meant."""

    def convert(self, value: Any, *where: Any) -> str:
        """As click does, with a hint."""
        try:
            return super().convert(value, *where)
        except click.BadParameter as error:
            hint = did_you_mean(str(value), self.choices)
            self.fail(f"{error.message.rstrip('.')}{hint}.", *where)


def takes(*names: str, **changes: Mapping[str, Any]) -> Decorator[Any]:
    """A decorator: the command takes these options of the catalogue.

    ``changes`` are fields of an option that are otherwise in this command. Where there
    are no gates, there is no junit.
    """
    if "format" in names and "require_converged" not in names:
        whole = EVERY["format"]
        words = tuple(word for word in whole.words if word != "junit")
        help = whole.help.replace(", junit or", " or")
        changes = {"format": {"words": words, "help": help}, **changes}

    def decorated(command: Decorated) -> Decorated:
        for name in reversed(names):
            option = replace(EVERY[name], **changes.get(name, {}))
            command = _made(option)(command)
        return command

    return decorated


def _made(option: Option) -> Decorator[Any]:
    """As click has it.

    A default of None means "not given on the line": the environment, a file and the
    defaults may then have their say. Values are checked by the catalogue and not by
    click, so that one message says what is on offer, wherever the value came from.
    """
    attributes: dict[str, Any] = {}
    if not option.required:
        attributes["default"] = option.default
    if option.is_flag:
        attributes["is_flag"] = True
    elif option.within is not None:
        least, most = option.within
        attributes |= {"type": click.IntRange(least, most), "show_default": True}
    elif option.choices:
        attributes["type"] = OneOf(option.choices)
    return click.option(
        *option.spelled,
        option.name,
        cls=Headed,
        heading=option.heading,
        help=option.help,
        metavar=option.metavar,
        required=option.required,
        multiple=option.joins,
        **attributes,
    )


def takes_one_cell(*more: str, **changes: Mapping[str, Any]) -> Decorator[Any]:
    """The kernel, C and the training, one value each; and ``more`` options."""
    alone: dict[str, dict[str, Any]]
    alone = {name: {"metavar": "VALUE"} for name in PARAMETERS}
    if "rank" in more:  # there --rank is the row of --from, or else this
        alone["low_rank"]["flags"] = ("--low-rank",)
    here = {
        "kernel": {"help": EVERY["kernel"].help.replace(" May repeat.", "")},
        "C": {"metavar": "VALUE", "help": "inf is the widest margin. Default: 1."},
        "gamma": {"metavar": "VALUE", "help": ONE_GAMMA},
        "select": {
            "help": "With --from: choose the row by this rule, best, simplest or 1se. "
            "Default: the choice of the file."
        },
    }
    return takes(*CELL, *more, **{**alone, **here, **changes})


# Not checked by click: a missing file is bad data (exit 3), with a suggestion.
data_argument = click.argument("data", type=click.Path(allow_dash=True))
"""The file to read: DATA."""


class Command(click.Command):
    """The help: usage, one sentence, examples, details, then options under headings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does it; an option that takes one value is not given two."""
        if not ctx.resilient_parsing:
            self._refuse_repeats(ctx, list(args))
        return super().parse_args(ctx, args)

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Under the headings of their kind, where there are many."""
        records = [
            (getattr(param, "heading", REST), record)
            for param in self.get_params(ctx)
            if isinstance(param, click.Option)
            if (record := param.get_help_record(ctx)) is not None
        ]
        few = len(records) <= FEW
        for heading in (REST,) if few else HEADINGS:
            listed = [record for where, record in records if few or where == heading]
            if listed:
                with formatter.section(heading):
                    formatter.write_dl(listed)

    def _refuse_repeats(self, ctx: click.Context, args: list[str]) -> None:
        _, _, order = self.make_parser(ctx).parse_args(args)
        for param, count in Counter(order).items():
            if not isinstance(param, click.Option) or param.is_flag or param.multiple:
                continue
            if count > 1:
                ctx.fail(
                    f"{param.opts[-1]} is given {count} times; it takes one value."
                )
