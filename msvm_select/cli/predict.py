"""``msvm-select predict MODEL DATA``: classify samples by a model of ``fit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from msvm_select import files
from msvm_select.cli.asking import chosen_reading, read_options, told_places
from msvm_select.cli.interrupts import patiently
from msvm_select.cli.options import READ, Command, argument, data_argument, takes
from msvm_select.cli.streams import emit
from msvm_select.data import read as reader
from msvm_select.errors import SettingsError
from msvm_select.model import file, predictions
from msvm_select.settings.catalogue import REST

if TYPE_CHECKING:
    from msvm_select.model.predictions import Predictions

OFFERED = ("csv", "tsv", "json", "ndjson")
KNOWN = ("one_hot", "drop", "weight_column", "group_column", "alphabet", "subsample")
"""What the model knows of its own columns."""
HELP = {
    "target": "The class column, if there is one, to count the errors. Default: the "
    "one of the name that the model was trained on.",
    "id_column": "A column to put before the predictions. Default: the one of the "
    "name that the model was trained with.",
    "decimal": "What marks the decimals of a number: point or comma. Default: as in "
    "the training data.",
    "thousands": "What separates the thousands of a number. Default: as in the "
    "training data.",
    "missing": "Missing values: refuse them, leave their rows out, or fill in the "
    "means of the training data. Default: error, or mean if the model was trained so.",
}


@click.command("predict", cls=Command)
@argument("model")
@data_argument
@takes(
    *("scores", "probabilities", "output", "form"),
    *(name for name in READ if name not in KNOWN),
    "quiet",
    probabilities={"help": "Also p_k, in one column per class."},
    form={
        "name": "format",
        "choices": OFFERED,
        "heading": REST,
        "help": "Default: by the ending of the -o file, else csv.",
    },
    **{name: {"help": text} for name, text in HELP.items()},
)
def command(
    model: str,
    data: str,
    scores: bool,
    probabilities: bool,
    output: str | None,
    format: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Write the class that MODEL gives each row of DATA, in order.

    \b
    msvm-select predict iris.json new.csv
    msvm-select predict iris.json new.csv --scores -o predicted.csv
    msvm-select predict iris.json new.csv --probabilities
    cat new.csv | msvm-select predict iris.npz - --format ndjson

    The columns are found by name, as the model was trained on them; DATA may also have
    the class, and the errors are then counted on stderr. The class is that of the
    largest output h_k; an exact tie gives `?`. With `--machine ovo` it is the class
    with the most votes, and the scores are the votes. If classes tie, `ovo` and `ova`
    give the first, as LIBSVM and scikit-learn do. --probabilities needs a model of `fit
    --probabilities`; the most probable class is always the predicted one.
    """
    format = _chosen_format(format, output, model, data)
    trained = file.load_model(model)
    if probabilities:
        predictions.check_table(trained, scores)
    reading = chosen_reading(options)
    with told_places():
        how = read_options(**reading)
        samples = patiently(reader.read_features, data, trained.columns, how)
    found = patiently(predictions.predictions, trained, samples)
    text = found.render(format, scores, probabilities)
    if not quiet:
        for note in (*samples.notes, *found.notes):
            click.echo(f"Note: {note}", err=True)
    emit(text, output)
    if not quiet:
        _conclude(found, output)


def _conclude(found: Predictions, output: str | None) -> None:
    """On stderr: the errors, where the classes are known, and where the labels went."""
    wrong, m = found.wrong, len(found.labels)
    if wrong is not None:
        click.echo(f"{wrong} of {m} wrong ({100.0 * wrong / m:.1f} %)", err=True)
    if output is not None:
        click.echo(f"Written: {output}", err=True)


def _chosen_format(format: str | None, output: str | None, *inputs: str) -> str:
    """What was asked for, else by the ending of the file, else csv."""
    if output is not None:
        files.check_writable(output, *inputs)
        format = format or files.format_of(output)
    if format is not None and format not in OFFERED:
        raise SettingsError(
            f"{output}: predictions are written as {', '.join(OFFERED)}; name the file "
            "so, or give --format."
        )
    return format or "csv"
