"""``msvm-select plot``: pictures of results, of a machine, of samples along C."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from msvm_select import files as filing
from msvm_select.cli import talk as talking
from msvm_select.cli.asking import (
    chosen_reading,
    chosen_settings,
    read,
    read_options,
    told_places,
)
from msvm_select.cli.options import READ, Command, takes, takes_one_cell
from msvm_select.data import read as reader
from msvm_select.errors import SettingsError
from msvm_select.model import file as models
from msvm_select.results import reread
from msvm_select.settings import PARAMETERS, SETTING_NAMES
from msvm_select.settings.values import parse_grid
from msvm_select.show import text
from msvm_select.show.charts import curves, heat, reliability, samples
from msvm_select.show.figures import curves as curves_figure
from msvm_select.show.figures import heat as heat_figure
from msvm_select.show.figures import look
from msvm_select.show.figures import reliability as reliability_figure
from msvm_select.show.figures import samples as samples_figure

if TYPE_CHECKING:
    from msvm_select.cli.talk import Talk
    from msvm_select.model.model import Model
    from msvm_select.records import Dataset
    from msvm_select.show.figures.look import Draw

Files = tuple[str, ...]
Options = dict[str, Any]

MODES = ("curves", "boundary", "paths", "reliability", "ascii")
RESULTS = ("RESULTS",), "a file that sweep -o wrote"
FILES = {
    "map": RESULTS,
    "ascii": RESULTS,
    "curves": RESULTS,
    "boundary": (("MODEL", "DATA"), "a file that fit wrote, and samples"),
    "paths": (("DATA",), "samples"),
    "reliability": (("MODEL", "[DATA]"), "a file that fit --probabilities wrote"),
}
POINT = ("kernel", *PARAMETERS)
DRAWN = ("output", "quiet", "dpi", "size", "debug")
USED = {
    "map": ("by", *DRAWN),
    "ascii": ("by", "quiet", "debug"),
    "curves": ("by", *POINT, *DRAWN),
    "boundary": ("margins", "left_out", *READ, *DRAWN),
    "paths": ("of", *SETTING_NAMES, *READ, *DRAWN),
    "reliability": (*READ, *DRAWN),
}
"""The options that each kind of picture looks at."""
PATH_C = "2^-6:2^10:17"


@click.command("plot", cls=Command)
@click.argument("files", metavar="FILE..", nargs=-1, type=click.Path(allow_dash=True))
@takes(
    *("output", "by", "ascii", "curves", "boundary", "margins", "left_out"),
    *("paths", "of", "reliability", "dpi", "size"),
    output={"metavar": "FIGURE", "help": "The picture: .png, .svg or .pdf."},
)
@takes_one_cell(
    C={"help": f"For --paths. Default: {PATH_C}."},
    gamma={
        "metavar": "VALUE",
        "help": "For --curves, one that was swept. For --paths: the default is 1 for "
        "the polynomial, 1/(features x variance) for rbf and sigmoid.",
    },
)
@takes(*READ, "seed", "quiet")
def command(files: Files, **options: Any) -> None:
    """Draw results as a heat map or curves, a machine's regions, samples along C.

    \b
    msvm-select plot ranked.json -o map.png
    msvm-select plot ranked.csv --by cv --ascii
    msvm-select plot ranked.json --curves --kernel rbf --gamma 0.5 -o curves.svg
    msvm-select plot --boundary two.json two.csv --margins -o regions.pdf
    msvm-select plot --paths data/iris.csv --gamma 0.5 --of outputs -o paths.png
    msvm-select plot --reliability iris.json -o reliability.png
    msvm-select plot --reliability iris.json data/iris.csv --ascii

    The heat map shows a criterion over C x kernel parameter, a panel for each kernel,
    the best cell framed; cells without a number that counts are hatched. The curves are
    those of the best cell's kernel setting, unless options name another. The regions
    need a model of two features, as `fit` writes it; support vectors are ringed, errors
    crossed. The reliability is that of the left-out samples that `fit --probabilities`
    has judged, or of new samples of known classes. Results may come from stdin: `-`.
    """
    mode = _mode(options)
    _check(mode, files, options)
    size = figure_size(options["size"])
    if options["ascii"]:
        _print(mode, files, options)
        return
    output = _checked(options["output"])
    talk = talking.Talk(options["quiet"])
    draw, unfinished = DRAWINGS[mode](files, options, talk)
    drawn = look.picture(lambda: draw(size), output, options["dpi"])
    filing.write_whole(output, drawn.content)
    for note in drawn.notes:
        talk.say(f"Note: {note}.")
    talk.say(f"Written: {output}")
    if unfinished:
        talk.say(f"Warning: at {unfinished} C the training did not converge.")
        click.get_current_context().exit(5)


def figure_size(text: str | None) -> tuple[float, float] | None:
    """``W,H`` in inches."""
    if text is None:
        return None
    try:
        width, height = (float(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        width = height = 0.0
    if not (1.0 <= width <= 60.0 and 1.0 <= height <= 60.0):
        raise SettingsError(
            f"--size {text!r} is no width and height of 1 to 60 inches, as in 8,5."
        )
    return width, height


def _mode(options: Options) -> str:
    asked = [name for name in MODES if options[name]]
    if asked == ["reliability", "ascii"]:
        del asked[1]
    if len(asked) > 1:
        raise SettingsError(
            f"--{asked[0]} and --{asked[1]} are two pictures: give one."
        )
    return asked[0] if asked else "map"


def _check(mode: str, files: Files, options: Options) -> None:
    """Refuse too few or too many files, and options that this picture does not use."""
    wanted, made_by = FILES[mode]
    asked = "plot" if mode == "map" else f"plot --{mode}"
    least = sum(not name.startswith("[") for name in wanted)
    if not least <= len(files) <= len(wanted):
        raise SettingsError(
            f"{asked} takes {' and '.join(wanted)} ({made_by}); "
            f"there {'is' if len(files) == 1 else 'are'} {len(files) or 'none'}."
        )
    context, text = click.get_current_context(), options["ascii"]
    for param in context.command.params:
        name = param.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        used = set(USED[mode]).difference(("output", "dpi", "size") if text else ())
        if typed and name not in ("files", *MODES, *used):
            takers = [f"--{other}" for other in MODES if name in USED[other]]
            asked = "plot --ascii" if name in USED[mode] else asked
            whose = f", but for {' and '.join(takers)}" if takers else ""
            raise SettingsError(f"{param.opts[0]} is not for {asked}{whose}.")


def _checked(output: str | None) -> str:
    if output is None:
        raise SettingsError(
            "No file to draw to: give -o FIGURE.png (or .svg, .pdf); for a map on the "
            "terminal, --ascii."
        )
    look.check_figure(output)
    filing.check_writable(output)
    return output


def _print(mode: str, files: Files, options: Options) -> None:
    """The heat map or the reliability in characters that the terminal can show."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        text.SHADES.encode(encoding)
        shades = text.SHADES
    except UnicodeEncodeError:
        shades = text.ASCII_SHADES
    width = shutil.get_terminal_size().columns
    if mode == "reliability":
        sure = _reliability_chart(files, options, talking.Talk(options["quiet"]))
        told = text.reliability_text(sure, width, shades)
    else:
        chart = heat.heat_map_of(reread.read_results(files[0]), options["by"])
        told = text.heat_text(chart, width, shades)
    click.echo(told, nl=False)


def _map(files: Files, options: Options, talk: Talk) -> tuple[Draw, int]:
    chart = heat.heat_map_of(reread.read_results(files[0]), options["by"])
    return partial(heat_figure.heat_map, chart), 0


def _curves(files: Files, options: Options, talk: Talk) -> tuple[Draw, int]:
    chart = curves.curves_of(
        reread.read_results(files[0]), options["by"], _point(options)
    )
    return partial(curves_figure.curves, chart), 0


def _boundary(files: Files, options: Options, talk: Talk) -> tuple[Draw, int]:
    model = models.load_model(files[0])
    samples.check_plane(model, files[0])
    if options["margins"] and model.machine != "ww":
        raise SettingsError(
            f"--margins draws where a class leads by 1, and the support vectors of "
            f"{model.machine!r} are not held to that: leave it out."
        )
    points = _samples(files[1], model, options, talk)
    chart = samples.plane_of(model, points, options["left_out"])
    for note in chart.notes:
        talk.say(f"Note: {note}")
    return partial(samples_figure.plane, chart, options["margins"]), 0


def _reliability(files: Files, options: Options, talk: Talk) -> tuple[Draw, int]:
    chart = _reliability_chart(files, options, talk)
    return partial(reliability_figure.reliability, chart), 0


def _reliability_chart(
    files: Files, options: Options, talk: Talk
) -> reliability.ReliabilityChart:
    """Of the left-out samples that the model remembers, or of those of DATA."""
    model = models.load_model(files[0])
    if len(files) == 1:
        return reliability.reliability_of(model)
    return reliability.reliability_of(model, _samples(files[1], model, options, talk))


def _samples(path: str, model: Model, options: Options, talk: Talk) -> Dataset:
    """DATA, by the columns of the model."""
    reading = read_options(**chosen_reading(options))
    with told_places():
        found = reader.read_features(path, model.columns, reading)
    for note in found.notes:
        talk.say(f"Note: {note}")
    return found


def _paths(files: Files, options: Options, talk: Talk) -> tuple[Draw, int]:
    settings = chosen_settings(options, C=PATH_C)
    data = read(files[0], **chosen_reading(options))
    with talk:
        for note in data.notes:
            talk.say(f"Note: {note}")
        chart = samples.paths_of(data, settings, options["of"] or "alpha", talk)
    return partial(samples_figure.paths, chart), len(chart.open_Cs)


def _point(options: Options) -> dict[str, str | float]:
    """The kernel setting, as far as it was typed; each parameter one number."""
    point: dict[str, str | float] = {}
    for name in POINT:
        if not options[name]:
            continue
        values = options[name] if name == "kernel" else parse_grid(options[name], name)
        if len(values) > 1:
            raise SettingsError(f"The curves are of one setting: give one {name}.")
        point[name] = values[0]
    return point


DRAWINGS: dict[str, Callable[[Files, Options, Talk], tuple[Draw, int]]] = {
    "map": _map,
    "curves": _curves,
    "boundary": _boundary,
    "paths": _paths,
    "reliability": _reliability,
}
"""What draws it; at how many C the training did not converge."""
