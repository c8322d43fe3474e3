"""``msvm-select experiment NAME``: a paper's, and the study of the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select import experiment as three_gaussians
from msvm_select import files, study
from msvm_select.cli import talk as talking
from msvm_select.cli.asking import chosen_values
from msvm_select.cli.interrupts import patiently
from msvm_select.cli.options import Command, OneOf, takes
from msvm_select.cli.streams import Output
from msvm_select.errors import SettingsError
from msvm_select.show.answers import experiment as answer
from msvm_select.show.answers import study as study_answer
from msvm_select.show.figures import look, regrets, samples

if TYPE_CHECKING:
    from msvm_select.experiment import Experiment, TrainingSet
    from msvm_select.settings import Settings

MACHINES, LOSSES = ("ww", "ovo"), ("l1", "l2")
NAMES = ("three-gaussians", "choosing")


@click.command("experiment", cls=Command)
@click.argument("name", metavar="three-gaussians|choosing", type=OneOf(NAMES))
@click.argument("folder", required=False)
@takes(
    *("C", "per_class", "sets", "seed", "machine", "loss"),
    *("format", "output", "quiet"),
    C={"help": "Default: 0.0001:0.003:+0.0001; for choosing 2^-3:2^9:7."},
    per_class={"help": "Training points of each class.", "within": (2, None)},
    seed={
        "help": "The seed of the first training set; the others follow on.",
        "metavar": None,
        "within": (0, None),
        "default": 0,
    },
    format={"help": "table (default), csv, tsv, json, ndjson or markdown."},
    sets={"help": "Training sets; with one, every C is shown. For choosing: splits."},
    machine={"help": "For choosing. Default: ww and ovo."},
    loss={"help": "For choosing. Default: l1 and l2."},
    output={"metavar": "FIGURE", "help": "Draw the answer: .png, .svg or .pdf."},
)
def command(
    name: str,
    folder: str | None,
    per_class: int,
    sets: int,
    seed: int,
    output: str | None,
    **options: Any,
) -> None:
    """Choose C where the risk is known, and see which rule chooses well.

    \b
    msvm-select experiment three-gaussians
    msvm-select experiment three-gaussians --sets 1 -o figure.png
    msvm-select experiment three-gaussians --C 1e-4:1:13 --format csv > steps.csv

    three-gaussians: three Gaussian classes in the plane, a linear machine on raw
    features, C upward as in the paper's algorithm. It shows, beside the paper's
    figures, the risks (by quadrature) of Bayes' classifier, of the best linear one and
    of the machine at the selected C. The table sums up; the other formats have one row
    per training set and C. The figure shows the first training set and the boundaries
    of all three.

    choosing: on each data set, split at random again and again, every criterion and
    metric picks a cell, and the test rows tell how far it is from the best one. FOLDER
    has the data sets, as CSV; without it they come from packages (the extra study). It
    takes minutes to hours.
    """
    if output is not None:
        files.check_writable(output)
        look.check_figure(output)
    if name == "choosing":
        _choosing(folder, range(seed, seed + sets), output, options)
        return
    if folder is not None:
        raise SettingsError(f"{folder}: only choosing takes a folder of data sets.")
    settings = three_gaussians.experiment_settings(
        **chosen_values({name: options[name] for name in ("C", "format")})
    )
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


def _choosing(
    folder: str | None, seeds: range, output: str | None, options: dict[str, Any]
) -> None:
    """The study, with a line of talk for each data set and machine."""
    given = chosen_values({name: options[name] for name in ("C", "machine", "loss")})
    grid = {"C": given["C"]} if "C" in given else {}
    every = [
        study.study_settings(machine=machine, loss=loss, **grid)
        for machine in ([given["machine"]] if "machine" in given else MACHINES)
        for loss in ([given["loss"]] if "loss" in given else LOSSES)
    ]
    talk = talking.Talk(options["quiet"])
    sets = study.data_sets(folder)
    picks = patiently(study.study, sets, every, seeds, talk.say)
    form = options["format"] or "table"
    Output(None, form, False, talk).deliver(study_answer.sheet(picks))
    if output is not None:
        figure = look.picture(lambda: regrets.figure_of_regrets(picks), output)
        files.write_whole(output, figure.content)
        talk.say(f"Written: {output}")


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
