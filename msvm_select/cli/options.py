"""The catalogue's options as click has them, in groups; the help of a command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import click

from msvm_select.cli.completing import complete_params, completed
from msvm_select.settings.catalogue import (
    HEADINGS,
    KERNEL,
    ON_THE_LINE,
    PICTURE,
    READING,
    REST,
    SCORES,
    TRAINING,
    Option,
)
from msvm_select.settings.declared import SETTINGS
from msvm_select.settings.settings import PARAMETERS

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Decorator = Callable[[Decorated], Decorated]
Record = tuple[str, str]

EVERY: Mapping[str, Option] = {**ON_THE_LINE, **READING, **SETTINGS}
FEW = 12  # options that one list can hold


class Headed(click.Option):
    """An option that stands under a heading of the help."""

    def __init__(self, *names: Any, heading: str = REST, **attributes: Any) -> None:
        """As any option."""
        super().__init__(*names, **attributes)
        self.heading = heading


def takes(*names: str, **changes: Mapping[str, Any]) -> Decorator[Any]:
    """A decorator: the command takes these options of the catalogue.

    ``changes`` are fields of an option that are otherwise in this command.
    """

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
    attributes: dict[str, Any] = {"multiple": option.joins}
    if not option.required:
        attributes["default"] = None
    if option.is_flag:
        either = "/" in option.spelled[0]
        attributes = {"is_flag": True, "default": None if either else False}
    elif option.choices:
        attributes["type"] = click.Choice(option.choices)
    else:
        attributes["type"] = completed(option)
    return click.option(
        *option.spelled,
        option.name,
        cls=Headed,
        heading=option.heading,
        help=option.help,
        metavar=option.metavar,
        required=option.required,
        **attributes,
    )


picture = partial(click.option, cls=Headed, heading=PICTURE)
"""An option of the pictures that ``plot`` draws"""

CONSTANTS = ("delta", "maurey_c", "dimension", "union")
GRID = tuple(
    name
    for name, option in SETTINGS.items()
    if option.heading in (KERNEL, TRAINING, SCORES) and name != "extend"
)
CELL = tuple(
    name
    for name in GRID
    if EVERY[name].heading != SCORES and name not in ("warm_start", "jobs")
)
VALUE = {"metavar": "VALUE"}

constants_options = takes(*CONSTANTS)
"""What the bounds leave open"""

settings_options = takes(
    *CELL,
    kernel={"help": EVERY["kernel"].help.replace(" May repeat.", "")},
    C={"metavar": "VALUE", "help": "Default: 1."},
    **dict.fromkeys(PARAMETERS, VALUE),
)
"""The kernel, C and the training, one value each"""

from_options = takes(
    *("source", "rank", "select"),
    select={
        "help": "With --from: choose the row by this rule, best, simplest or 1se. "
        "Default: the choice of the file."
    },
)
"""A cell of earlier results in their place"""

sweep_options = takes(*GRID)
"""The grid, the training, the scores"""

choosing_options = takes(
    "select", "fail_above", "require_applicable", "require_converged"
)
"""Which cell to take, and when not to be content with it"""

journal_options = takes("journal", "resume")
"""Where to keep what is finished, and whether to go on from it"""

talk_options = takes("quiet", "verbose")
"""How much is told on stderr"""

report_options = takes("format", "output", "all_columns", "quiet")
"""What becomes of the answer"""

rows_options = takes("top", "format", "output", "all_columns", "quiet")
"""What becomes of the rows of a sweep"""

data_options = takes(*READING)
"""How to read DATA"""


def data_argument(command: Decorated) -> Decorated:
    """The file to read: DATA."""
    # Not checked by click: a missing file is bad data (exit 3), with a suggestion.
    return click.argument("data", type=click.Path(allow_dash=True))(command)


class Command(click.Command):
    """The help: usage, one sentence, examples, details, then options under headings.

    What is known of the values of its parameters is there for a shell to complete.
    """

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        """As any command."""
        super().__init__(*arguments, **attributes)
        complete_params(self.params)

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
        for heading, listed in _sorted(records):
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


def _sorted(records: list[tuple[str, Record]]) -> list[tuple[str, list[Record]]]:
    """The records by heading; all under ``Options``, where there are few."""
    if len(records) <= FEW:
        return [(REST, [record for _, record in records])]
    found: dict[str, list[Record]] = {heading: [] for heading in HEADINGS}
    for heading, record in records:
        found[heading].append(record)
    return [(heading, listed) for heading, listed in found.items() if listed]
