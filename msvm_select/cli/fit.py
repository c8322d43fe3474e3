"""``msvm-select fit DATA -o MODEL``: train one machine and keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.chosen import chosen_reading, chosen_settings, read
from msvm_select.cli.data_options import data_argument, data_options
from msvm_select.cli.headings import Command
from msvm_select.cli.options import setting
from msvm_select.cli.talk import Talk

if TYPE_CHECKING:
    from msvm_select.model import Model

DEFAULT_C = 1.0
SETTINGS = (
    setting(
        "--kernel",
        multiple=True,
        metavar="NAME",
        help="linear, polynomial, rbf, sigmoid or precomputed. Default: rbf.",
    ),
    setting("--C", "C", metavar="VALUE", help="Default: 1."),
    setting(
        "--gamma",
        metavar="VALUE",
        help="Default: 1 for the polynomial, 1/(features x variance) for rbf and "
        "sigmoid.",
    ),
    setting("--sigma", metavar="VALUE", help="For rbf: gamma = 1/(2 sigma^2)."),
    setting("--degree", metavar="VALUE", help="For the polynomial. Default: 3."),
    setting("--coef0", metavar="VALUE", help="For polynomial and sigmoid."),
    setting("--loss", metavar="NAME", help="l1 (default, the hinge) or l2 (squared)."),
    setting("--scale", metavar="KIND", help="standard (default), minmax or none."),
    setting("--solver", metavar="NAME", help="exact (default), smo, osqp or qp."),
    setting("--gap", metavar="G", help="The relative duality gap to train to."),
    setting("--qp-backend", metavar="NAME", help="For --solver qp."),
    setting(
        "--allow-indefinite/--no-allow-indefinite",
        help="Train on a Gram matrix that fails Mercer's test. Default: refuse.",
    ),
)


def settings_options(command: Any) -> Any:
    """The kernel, C and the training, one value each."""
    for option in reversed(SETTINGS):
        command = option(command)
    return command


@click.command("fit", cls=Command)
@data_argument
@click.option(
    "-o",
    "--output",
    metavar="MODEL",
    required=True,
    help="The file to write: .json to read, .npz for size.",
)
@settings_options
@data_options
@click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors.")
def command(data: str, output: str, quiet: bool, **options: Any) -> None:
    """Train one machine, certify it, and keep it in a file for `predict`.

    \b
    msvm-select fit data/iris.csv --C 1 --gamma 0.25 -o iris.json
    msvm-select predict iris.json data/iris.csv --scores

    The model holds the scaling, the classes, the support vectors with their weights,
    the biases, the kernel and the certificate. Exit 5 when it is written, but the
    training did not converge.
    """
    from msvm_select.model import fit_settings
    from msvm_select.model.file import check_model_path

    settings = chosen_settings(options, C=DEFAULT_C)
    check_model_path(output)
    reading = chosen_reading(options)
    dataset = read(data, **reading)
    with Talk(quiet) as talk:
        for note in dataset.notes:
            talk.say(f"Note: {note}")
        model = fit_settings(dataset, settings, talk)
    model.save(output)
    _certify(model, talk)
    talk.say(f"Written: {output}")
    click.get_current_context().exit(0 if model.certificate.converged else 5)


def _certify(model: Model, talk: Talk) -> None:
    """On stderr: what was trained, how exactly, and what is wrong with it."""
    certificate, training = model.certificate, model.training
    share = 100.0 * training.train_errors / training.m
    unique = "unique" if certificate.b_unique else "not unique (their centre is taken)"
    talk.say(
        f"{training.train_errors} of {training.m} training samples wrong "
        f"({share:.1f} %); {training.n_sv} support vectors, {training.n_bounded} at C"
    )
    talk.say(
        f"Certificate: dual objective {certificate.dual_objective:.10g}, relative gap "
        f"{certificate.gap:.2g}, KKT violation {certificate.kkt_violation:.2g}, flow "
        f"imbalance {certificate.flow_imbalance:.2g}; biases {unique}"
    )
    if certificate.indefinite:
        talk.say("Warning: the Gram matrix is indefinite: no optimum is certain.")
    if not certificate.converged:
        talk.say(f"Warning: the training did not converge: {certificate.reason}.")
