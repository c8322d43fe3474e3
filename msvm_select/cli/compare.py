"""``msvm-select compare DATA``: how well each criterion chooses, by the exact truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from msvm_select.settings import Layer, Settings, checked_values, sweep_settings
from msvm_select.settings.catalogue import EVERY
from msvm_select.show.answers import compare as answer
from msvm_select.train import events

TRUTH = "loo"
COMPARED = (
    "What to compare, beside loo. Default: all that the loss and the machine allow."
)
# the ranking is by each criterion in turn, over every cell
NOT_HERE = ("rank_by", "extend", "race", "time_budget", "shard")
MACHINE = f"{EVERY['machine'].help} May repeat: each is swept, and all are compared."


@click.command("compare", cls=Command)
@data_argument
@takes(
    *(name for name in GRID if name not in NOT_HERE),
    *(*READ, *REPORT, "verbose"),
    criteria={"help": COMPARED},
    machine={"help": MACHINE, "joins": True},
)
def command(data: str, **options: Any) -> None:
    """Sweep with every criterion, and compare each choice with exact leave-one-out.

    \b
    msvm-select compare data/iris.csv --gamma 2^-7:2^1:5
    msvm-select compare data/wine.csv --loss l2 --criteria radius-margin,span,cv
    msvm-select compare data/glass.csv --format markdown -o compared.md
    msvm-select compare data/glass.csv --machine ww --machine ovo

    One row per criterion: the cell that it picks, that cell's exact leave-one-out rate,
    the regret (that rate less the smallest of the grid), Kendall's rank correlation
    with leave-one-out over the grid, in how many cells it has a value and applies, and
    its share of the time. With several machines each is swept by itself, and the regret
    is that within its own grid. The exit codes are those of `sweep`.
    """
    asked = [settings_with(options, machine) for machine in machines_of(options)]
    talk = talking.Talk(options["quiet"], options["verbose"])
    output = Output.of(options, asked[0].format, talk, data)
    samples = read(data, asked[0], **chosen_reading(options))
    outcomes, compared = [], []
    for settings in asked:
        watch = events.Stopwatch(talk)
        outcome = swept(samples, settings, talk, watch)
        outcomes.append(outcome)
        if outcome.results is not None:
            compared.append(comparing.Comparison(outcome.results, watch.seconds))
        if outcome.stop is not None:
            break
        samples = replace(samples, notes=())  # they have been told
    if compared:
        output.deliver(answer.sheet(compared))
    results = [finished(outcome, talk) for outcome in outcomes]
    code = max(gated_exit_code(one, {}) for one in results)
    click.get_current_context().exit(code)


def machines_of(options: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Those of the line, each once; None stands for what else is said of it."""
    given = [one for text in options["machine"] for one in text.split(",")]
    return tuple(dict.fromkeys(given)) or (None,)


def settings_with(options: Mapping[str, Any], machine: str | None) -> Settings:
    """The settings of the sweep of one machine."""
    layers = setting_layers({**options, "machine": machine})
    truth = {"criteria": with_the_truth(checked_values(layers))}
    return sweep_settings([*layers, Layer({**truth, "extend": 0})])


def with_the_truth(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Exact leave-one-out first; without --criteria, all that need no groups."""
    loss, machine = asked.get("loss", "l1"), asked.get("machine", "ww")
    every = [
        name
        for name, kind in CRITERIA.items()
        if loss in kind.losses and machine in kind.of_machines and not kind.needs_groups
    ]
    return tuple(dict.fromkeys([TRUTH, *asked.get("criteria", every)]))
