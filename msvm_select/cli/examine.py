"""One trained cell, examined: every sample left out, every bound, the margins.

``loo`` judges every sample by the machine trained without it, ``bound`` has every term
of every bound beside the truth, ``margins`` how far the machine holds the classes
apart.
"""

from __future__ import annotations

from typing import Any

import click

from msvm_select.cli.interrupts import patiently
from msvm_select.cli.one_cell import Asked
from msvm_select.cli.options import (
    READ,
    REPORT,
    ROW,
    Command,
    data_argument,
    takes_one_cell,
)
from msvm_select.cli.streams import Output, say_failed
from msvm_select.model import examined
from msvm_select.show.answers import bound as bound_answer
from msvm_select.show.answers import cell as answer
from msvm_select.show.answers import suspects as suspects_answer

LEFT_OUT_SCORES = (
    "Also the outputs of the machine without the sample, in one column per class."
)


@click.command("loo", cls=Command)
@data_argument
@takes_one_cell(
    *(*ROW, "jobs", "fail_above", *READ, "seed", "every", "scores", "suspects"),
    *(*REPORT, "verbose"),
    jobs={"help": "Samples at the same time. Default: 1."},
    fail_above={"help": "Exit 1 if the leave-one-out error rate is larger."},
    scores={"help": LEFT_OUT_SCORES},
)
def loo(data: str, every: bool, scores: bool, suspects: bool, **options: Any) -> None:
    """Judge every sample by the machine trained without it, exactly.

    \b
    msvm-select loo data/iris.csv --C 1 --gamma 0.25
    msvm-select loo data/wine.csv --kernel linear --C 0.1 --all
    msvm-select loo data/glass.csv --C 8 --format csv > samples.csv
    msvm-select loo data/iris.csv --from ranked.json --fail-above 0.05
    msvm-select loo data/glass.csv --C 8 --scores -o outputs.csv
    msvm-select loo data/wine.csv --C 1 --gamma scale --suspects

    One row per sample: its class, the prediction and the margin without it (`?` for a
    tie, which counts as wrong), and how the answer was found. The table shows the
    samples that are wrong or ambiguous, a confusion matrix and the totals. With
    --machine ovo the margin is the decision of the pair of the true and the predicted
    class, and the pairs that the true class loses are named. The other
    formats have every sample, and json has everything. If the training did not
    converge, nothing is shown and the exit code is 5.

    --suspects lists the rows whose class may be a mistake: those that the machine
    without them puts in another class, the clearest first, each with its weight in the
    solution and the rows of other classes that count most against it.
    """
    asked = Asked(data, options)
    output = Output.of(options, asked.settings.format, asked.talk, data)
    with asked.talk:
        trained = asked.optimal("no leave-one-out")
        report = patiently(examined.leave_one_out, trained, asked.settings)
    if suspects:
        output.deliver(suspects_answer.sheet(report, scores))
    else:
        output.deliver(answer.left_out_sheet(report, every, scores))
    rate, most = report.rate, asked.settings.fail_above
    if most is not None and rate > most:
        say_failed(f"loo_rate {rate:.6g} is above {most:.6g}")
        click.get_current_context().exit(1)


@click.command("bound", cls=Command)
@data_argument
@takes_one_cell(
    *(*ROW, "delta", "maurey_c", "dimension", "union"),
    *("jobs", *READ, "seed", "explain", *REPORT, "verbose"),
    jobs={"help": "Samples at the same time. Default: 1."},
)
def bound(data: str, explain: bool, **options: Any) -> None:
    """Show every term of every bound of one machine, next to its true errors.

    \b
    msvm-select bound data/iris.csv --C 1 --gamma 0.25 --loss l2
    msvm-select bound data/wine.csv --kernel linear --C 1000 --explain
    msvm-select bound data/iris.csv --from ranked.json --rank 2
    msvm-select bound data/glass.csv --C 8 --gamma 2 --format json > terms.json

    A bound that does not apply to this machine says so, and why; it may then lie below
    the errors. --explain adds to each number its formula and the theorem or equation
    that it comes from; the other formats always have both. If the training did not
    converge, nothing is shown and the exit code is 5.
    """
    asked = Asked(data, options)
    output = Output.of(options, asked.settings.format, asked.talk, data)
    with asked.talk:
        trained = asked.optimal("nothing to bound")
        report = patiently(examined.bounds, trained, asked.settings)
    output.deliver(bound_answer.sheet(report, explain))


@click.command("margins", cls=Command)
@data_argument
@takes_one_cell(*ROW, *READ, "seed", *REPORT, "verbose")
def margins(data: str, **options: Any) -> None:
    """Show the margin between each two classes, and the samples closest to it.

    \b
    msvm-select margins data/iris.csv --C 1 --gamma 0.25
    msvm-select margins data/wine.csv --kernel linear --C 1000 --format csv
    msvm-select margins data/iris.csv --from ranked.json

    One row per pair of classes k, l: the geometric margin gamma_kl = (1 + delta_kl) /
    ||w_k - w_l||, delta_kl (0 where the closest sample lies at margin 1, below it with
    slack), ||w_k - w_l||, and the closest samples of both classes by id, or by line of
    the file. With --machine ovo and ova there is a row per part, with its own w. If the
    training did not converge, the rows are shown and the exit code is 5.
    """
    asked = Asked(data, options)
    output = Output.of(options, asked.settings.format, asked.talk, data)
    with asked.talk:
        trained = asked.trained()
    output.deliver(
        answer.margins_sheet(examined.MarginsReport(trained, asked.settings))
    )
    click.get_current_context().exit(0 if trained.solution.converged else 5)
