"""``msvm-select compare DATA``: how well each criterion chooses, by the exact truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from msvm_select.cli import talk as talking
from msvm_select.cli.asking import chosen_reading, read, setting_layers
from msvm_select.cli.options import (
    GRID,
    READ,
    REPORT,
    Command,
    data_argument,
    takes,
)
from msvm_select.cli.streams import Output, gated_exit_code
from msvm_select.cli.sweeping import finished, swept
from msvm_select.names import CRITERIA
from msvm_select.results import compare as comparing
from msvm_select.settings import Layer, checked_values, settings_of
from msvm_select.show.answers import compare as answer
from msvm_select.train import events

TRUTH = "loo"
COMPARED = "What to compare, beside loo. Default: all that the loss allows."


@click.command("compare", cls=Command)
@data_argument
@takes(
    # the ranking is by each criterion in turn
    *(name for name in GRID if name not in ("rank_by", "extend")),
    *(*READ, *REPORT, "verbose"),
    criteria={"help": COMPARED},
)
def command(data: str, **options: Any) -> None:
    """Sweep with every criterion, and compare each choice with exact leave-one-out.

    \b
    msvm-select compare data/iris.csv --gamma 2^-7:2^1:5
    msvm-select compare data/wine.csv --loss l2 --criteria radius-margin,span,cv
    msvm-select compare data/glass.csv --format markdown -o compared.md

    One row per criterion: the cell that it picks, that cell's exact leave-one-out rate,
    the regret (that rate less the smallest of the grid), Kendall's rank correlation
    with leave-one-out over the grid, in how many cells it has a value and applies, and
    its share of the time. The exit codes are those of `sweep`.
    """
    layers = setting_layers(options)
    truth = {"criteria": with_the_truth(checked_values(layers))}
    settings = settings_of([*layers, Layer(truth)])
    talk = talking.Talk(options["quiet"], options["verbose"])
    output = Output.of(options, settings.format, talk, data)
    samples = read(data, settings, **chosen_reading(options))
    watch = events.Stopwatch(talk)
    outcome = swept(samples, settings, talk, watch)
    if outcome.results is not None:
        compared = comparing.Comparison(outcome.results, watch.seconds)
        output.deliver(answer.sheet(compared))
    results = finished(outcome, talk)
    click.get_current_context().exit(gated_exit_code(results, {}))


def with_the_truth(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Exact leave-one-out first; without --criteria, all that the loss allows."""
    loss = asked.get("loss", "l1")
    every = [name for name, kind in CRITERIA.items() if loss in kind.losses]
    return tuple(dict.fromkeys([TRUTH, *asked.get("criteria", every)]))
