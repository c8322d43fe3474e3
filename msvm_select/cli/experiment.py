"""``msvm-select experiment NAME``: a paper's experiment, beside its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select import experiment as three_gaussians
from msvm_select import files
from msvm_select.cli import talk as talking
from msvm_select.cli.asking import chosen_values
from msvm_select.cli.interrupts import patiently
from msvm_select.cli.options import Command, takes
from msvm_select.cli.streams import Output
from msvm_select.show.answers import experiment as answer
from msvm_select.show.figures import look, samples

if TYPE_CHECKING:
    from msvm_select.experiment import Experiment, TrainingSet
    from msvm_select.settings import Settings

NAMES = ("three-gaussians",)


@click.command("experiment", cls=Command)
@click.argument("name", metavar="three-gaussians", type=click.Choice(NAMES))
@takes(
    *("C", "per_class", "sets", "seed", "format", "output", "quiet"),
    C={"help": "Default: 0.0001:0.003:+0.0001."},
    per_class={"help": "Training points of each class.", "within": (2, None)},
    seed={
        "help": "Of the first training set; each further one has the next.",
        "metavar": None,
        "within": (0, None),
        "default": 0,
    },
    format={"help": "table (default), csv, tsv, json, ndjson or markdown."},
    output={"metavar": "FIGURE", "help": "Draw the first set: .png, .svg or .pdf."},
)
def command(
    per_class: int, sets: int, seed: int, output: str | None, **options: Any
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
        **chosen_values({name: options[name] for name in ("C", "format")})
    )
    if output is not None:
        files.check_writable(output)
        look.check_figure(output)
    seeds, quiet = range(seed, seed + sets), options["quiet"]
    experiment = _performed(settings, per_class, seeds, quiet)
    talk = talking.Talk(quiet)
    Output(None, settings.format or "table", False, talk).deliver(
        answer.sheet(experiment)
    )
    if output is not None:
        one = experiment.sets[0]
        figure = look.picture(lambda: samples.figure_1(one), output)
        files.write_whole(output, figure.content)
        talk.say(f"Written: {output}")
    click.get_current_context().exit(0 if experiment.converged else 5)


def _performed(
    settings: Settings, per_class: int, seeds: range, quiet: bool
) -> Experiment:
    """Every training set, each with its own line or bar on stderr."""
    trained: list[TrainingSet] = []
    for seed in seeds:
        with talking.Talk(quiet) as talk:
            trained.append(
                patiently(three_gaussians.train_set, settings, per_class, seed, talk)
            )
    return three_gaussians.gather_sets(tuple(trained), per_class, settings)
