"""``msvm-select experiment NAME``: a paper's experiment, beside its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from msvm_select import experiment as three_gaussians
from msvm_select import files
from msvm_select.cli.chosen import chosen_values
from msvm_select.cli.interrupts import patiently
from msvm_select.cli.options import Command, takes
from msvm_select.cli.streams import deliver
from msvm_select.cli.talk import Talk
from msvm_select.show.answers import experiment as answer
from msvm_select.show.figures import experiment as figure
from msvm_select.show.figures import look

if TYPE_CHECKING:
    from msvm_select.experiment import Experiment, TrainingSet
    from msvm_select.settings import Settings

NAMES = ("three-gaussians",)


@click.command(
    "experiment", cls=Command, short_help="Repeat the experiment of a paper."
)
@click.argument("name", metavar="three-gaussians", type=click.Choice(NAMES))
@takes("C", C={"help": "Default: 0.0001:0.003:+0.0001."})
@click.option(
    "--per-class",
    type=click.IntRange(min=2),
    default=1000,
    show_default=True,
    help="Training points of each class.",
)
@click.option(
    "--sets",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="Training sets; with one, every C is shown.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of the first training set; each further one has the next.",
)
@takes(
    "format",
    format={"help": "table (default), csv, tsv, json, ndjson or markdown."},
)
@click.option(
    "-o", "--output", metavar="FIGURE", help="Draw the first set: .png, .svg or .pdf."
)
@takes("quiet")
def command(
    name: str,
    C: str | None,
    per_class: int,
    sets: int,
    seed: int,
    format: str | None,
    output: str | None,
    quiet: bool,
) -> None:
    """Choose C by the guaranteed risk where the risk itself is known.

    \b
    msvm-select experiment three-gaussians
    msvm-select experiment three-gaussians --sets 1 -o figure.png
    msvm-select experiment three-gaussians --C 1e-4:1:13 --format csv > steps.csv

    Three Gaussian classes in the plane, a linear machine on raw features, C upward as
    in the paper's algorithm. Beside the paper's figures: the risks, by quadrature, of
    Bayes' classifier, of the best linear one and of the machine at the selected C. The
    table sums up; the other formats have a row a training set and C. The figure shows
    the first training set and the boundaries of all three.
    """
    settings = three_gaussians.experiment_settings(
        **chosen_values({"C": C, "format": format})
    )
    if output is not None:
        _check(output)
    seeds = range(seed, seed + sets)
    experiment = _performed(settings, per_class, seeds, quiet)
    answered = settings.format or "table"
    deliver(answer.sheet(experiment), answered, None, Talk(quiet))
    if output is not None:
        _draw(experiment.sets[0], output, quiet)
    click.get_current_context().exit(0 if experiment.converged else 5)


def _performed(
    settings: Settings, per_class: int, seeds: range, quiet: bool
) -> Experiment:
    """Every training set, each with its own line or bar on stderr."""
    trained: list[TrainingSet] = []
    for seed in seeds:
        with Talk(quiet) as talk:
            trained.append(
                patiently(three_gaussians.train_set, settings, per_class, seed, talk)
            )
    return three_gaussians.gather_sets(tuple(trained), per_class, settings)


def _check(output: str) -> None:

    files.check_writable(output)
    look.check_figure(output)


def _draw(one: TrainingSet, output: str, quiet: bool) -> None:

    files.write_whole(output, figure.figure_bytes(one, output))
    Talk(quiet).say(f"Written: {output}")
