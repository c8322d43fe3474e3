"""``msvm-select compare DATA``: how well each criterion chooses, by the exact truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from msvm_select.cli.chosen import chosen_reading, read, setting_layers
from msvm_select.cli.gates import gated_exit_code
from msvm_select.cli.options import (
    GRID,
    Command,
    data_argument,
    data_options,
    report_options,
    takes,
)
from msvm_select.cli.streams import chosen_format, deliver
from msvm_select.cli.sweep import end_if_stopped, swept
from msvm_select.cli.talk import Talk
from msvm_select.names import CRITERIA
from msvm_select.results import compare as comparing
from msvm_select.settings import Layer, checked_values, settings_of
from msvm_select.show.answers import compare as answer
from msvm_select.train import events

TRUTH = "loo"
COMPARED = {
    "metavar": "A,B,..",
    "help": "What to compare, beside loo. Default: all that the loss allows.",
}

grid_options = takes(*(name for name in GRID if name != "rank_by"), criteria=COMPARED)
"""Those of a sweep without --rank-by: the ranking is by each criterion in turn"""


@click.command(
    "compare", cls=Command, short_help="Compare how well the criteria choose."
)
@data_argument
@grid_options
@data_options
@report_options
@takes("verbose")
def command(data: str, output: str | None, quiet: bool, **options: Any) -> None:
    """Sweep by every criterion, and hold each choice against exact leave-one-out.

    \b
    msvm-select compare data/iris.csv --gamma 2^-7:2^1:5
    msvm-select compare data/wine.csv --loss l2 --criteria radius-margin,span,cv
    msvm-select compare data/glass.csv --format markdown -o compared.md

    One row a criterion: the cell that it picks, that cell's exact leave-one-out rate,
    the regret (that rate less the smallest of the grid), Kendall's rank correlation
    with leave-one-out over the grid, in how many cells it has a value and applies, and
    its share of the time. Exits are those of `sweep`.
    """
    layers = setting_layers(options)
    truth = {"criteria": with_the_truth(checked_values(layers))}
    settings = settings_of([*layers, Layer(truth)])
    format = chosen_format(settings.format, output, data)
    reading = chosen_reading(options)
    talk = Talk(quiet, options["verbose"])
    watch = events.Stopwatch(talk)
    outcome = swept(read(data, settings, **reading), settings, talk, watch)
    if outcome.results is not None:
        found = comparing.Comparison(outcome.results, watch.seconds)
        deliver(answer.sheet(found), format, output, talk, options["all_columns"])
    end_if_stopped(outcome, talk)
    assert outcome.results is not None
    click.get_current_context().exit(gated_exit_code(outcome.results, {}))


def with_the_truth(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Exact leave-one-out first; without --criteria, all that the loss allows."""
    loss = asked.get("loss", "l1")
    every = [name for name, kind in CRITERIA.items() if loss in kind.losses]
    return tuple(dict.fromkeys([TRUTH, *asked.get("criteria", every)]))
