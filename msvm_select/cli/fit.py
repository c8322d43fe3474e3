"""``msvm-select fit DATA -o MODEL``: train one machine and keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.interrupts import patiently
from msvm_select.cli.one_cell import Asked
from msvm_select.cli.options import (
    READ,
    ROW,
    Command,
    data_argument,
    takes,
    takes_one_cell,
)
from msvm_select.errors import SettingsError
from msvm_select.model import file, fitting, libsvm

if TYPE_CHECKING:
    from msvm_select.cli.talk import Talk
    from msvm_select.model.model import Model


@click.command("fit", cls=Command)
@data_argument
@takes(
    "output",
    output={
        "metavar": "MODEL",
        "required": True,
        "help": "The file to write: .json to read, .npz for size, .onnx for other "
        "programs, .libsvm for LIBSVM's svm-predict.",
    },
)
@takes_one_cell(*ROW, "probabilities", *READ, "seed", "quiet", "verbose")
def command(data: str, output: str, probabilities: bool, **options: Any) -> None:
    """Train one machine, certify it, and save it for `predict`.

    \b
    msvm-select fit data/iris.csv --C 1 --gamma 0.25 -o iris.json
    msvm-select fit data/iris.csv --from ranked.json -o iris.json
    msvm-select fit data/iris.csv --from ranked.json --rank 3 -o iris.json
    msvm-select fit data/iris.csv --C 1 --gamma 0.25 -o iris.onnx
    msvm-select fit data/iris.csv --machine ovo --C 8 --gamma 0.25 -o iris.libsvm
    msvm-select fit data/iris.csv --C 1 --gamma 0.25 --probabilities -o iris.json
    msvm-select predict iris.json data/iris.csv --probabilities

    --from trains the cell that a sweep chose, as it was trained there, and refuses data
    that are not those of the sweep. Save the results as json for this: a csv does not
    hold the scaling.

    The model holds the scaling, the classes, the support vectors with their weights,
    the biases, the kernel and the certificate. A .onnx file holds scaling and classes,
    too, and gives label and scores in any ONNX runtime. --machine ovo can also be
    written as a .libsvm file, with the scaling for svm-scale and the names beside it.
    If the training did not converge, it is written and the exit code is 5.

    --probabilities judges every sample by the machine trained without it, and keeps
    the one temperature that fits these outputs best, for `predict --probabilities`, and
    how far the probabilities were off, for `plot --reliability`. With --group-column
    whole groups are left out.
    """
    asked = Asked(data, options)
    file.check_model_path(output, data)
    settings = asked.settings
    export = file.exporter(output)
    if export is not None:
        if probabilities and export is libsvm:
            raise SettingsError(
                f"{output}: LIBSVM's models have no place for a temperature; leave out "
                "--probabilities, or save the model as .json, .npz or .onnx."
            )
        degree = (settings.degree or (None,))[0]
        export.check(settings.machine, settings.loss, settings.kernel[0], degree)
    calibration = None
    with asked.talk:
        if probabilities:
            trained = asked.optimal("no probability")
            calibration = patiently(fitting.calibration_of, trained)
        else:
            trained = asked.trained()
    model = fitting.model_of(trained, settings.solver, calibration)
    model.save(output)
    _certify(model, asked.talk)
    for remark in () if export is None else export.remarks(model, output):
        asked.talk.say(remark)
    asked.talk.say(f"Written: {output}")
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
        f"{certificate.gap:.2g}, KKT violation {certificate.kkt_violation:.2g}; biases "
        f"{unique}"
    )
    talk.detail(f"Flow imbalance: {certificate.flow_imbalance:.2g}")
    if (found := model.calibration) is not None:
        talk.say(
            f"Probabilities: temperature {found.temperature:.4g}; expected calibration "
            f"error {found.reliability.error:.4f}, on samples that were left out"
        )
    if certificate.indefinite:
        talk.say("Warning: the Gram matrix is indefinite: no optimum is certain.")
    if not certificate.converged:
        talk.say(f"Warning: the training did not converge: {certificate.reason}.")
