"""``msvm-select plot``: pictures of results, of a machine, of samples along C."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from msvm_select import files
from msvm_select.cli import pictures
from msvm_select.cli.options import (
    Command,
    data_options,
    picture,
    settings_options,
    takes,
)
from msvm_select.errors import SettingsError
from msvm_select.settings import PARAMETERS, SETTING_NAMES
from msvm_select.settings.catalogue import READING
from msvm_select.show.figures import look

MODES = ("curves", "boundary", "paths", "ascii")
RESULTS = ("RESULTS",), "a file that sweep -o wrote"
FILES = {
    "map": RESULTS,
    "ascii": RESULTS,
    "curves": RESULTS,
    "boundary": (("MODEL", "DATA"), "a file that fit wrote, and samples"),
    "paths": (("DATA",), "samples"),
}
POINT = ("kernel", *PARAMETERS)
PATH_C = "2^-6:2^10:17"
DRAWN = ("output", "quiet", "dpi", "size", "debug")
HELP = {
    "C": f"For --paths. Default: {PATH_C}.",
    "gamma": "For --curves, one that was swept. For --paths: the default is 1 for the "
    "polynomial, 1/(features x variance) for rbf and sigmoid.",
}


@click.command(
    "plot", cls=Command, short_help="Draw results, a machine, samples along C."
)
@click.argument("files", metavar="FILE..", nargs=-1, type=click.Path(allow_dash=True))
@takes(
    *("output", "by"),
    output={"metavar": "FIGURE", "help": "The picture: .png, .svg or .pdf."},
)
@picture("--ascii", is_flag=True, help="The heat map as text, on stdout.")
@picture("--curves", is_flag=True, help="All criteria along C, for one kernel setting.")
@picture("--boundary", is_flag=True, help="Decision regions: FILE.. is MODEL DATA.")
@picture("--margins", is_flag=True, help="With --boundary: where a class leads by 1.")
@picture(
    "--left-out/--no-left-out",
    default=None,
    help="With --boundary: cross the samples that are wrong when left out. Default: "
    "do, up to 1000 samples.",
)
@picture("--paths", is_flag=True, help="Samples along C: FILE.. is DATA.")
@picture(
    "--of",
    type=click.Choice(["alpha", "outputs", "norm"]),
    help="With --paths: what to draw. Default: alpha.",
)
@picture(
    "--dpi",
    type=click.IntRange(30, 1200),
    default=150,
    show_default=True,
    help="Dots an inch of a .png.",
)
@picture("--size", metavar="W,H", help="Of the picture, in inches.")
@settings_options
@data_options
@takes("quiet")
def command(files: tuple[str, ...], **options: Any) -> None:
    """Draw results as a heat map or curves, a machine's regions, samples along C.

    \b
    msvm-select plot ranked.json -o map.png
    msvm-select plot ranked.csv --by cv --ascii
    msvm-select plot ranked.json --curves --kernel rbf --gamma 0.5 -o curves.svg
    msvm-select plot --boundary two.json two.csv --margins -o regions.pdf
    msvm-select plot --paths data/iris.csv --gamma 0.5 --of outputs -o paths.png

    The heat map shows a criterion over C x kernel parameter, a panel for each kernel,
    the best cell framed; cells without a number that counts are hatched. The curves are
    those of the best cell's kernel setting, unless options name another. The regions
    need a model of two features, as `fit` writes it; support vectors are ringed, errors
    crossed. RESULTS may be `-`, for stdin.
    """
    mode = _mode(options)
    _check(mode, files, options)
    size = figure_size(options["size"])
    if mode == "ascii":
        pictures.print_map(files[0], options["by"])
    else:
        _check_output(options["output"])
        pictures.draw(mode, files, size, options)


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


def _mode(options: dict[str, Any]) -> str:
    asked = [name for name in MODES if options[name]]
    if len(asked) > 1:
        raise SettingsError(
            f"--{asked[0]} and --{asked[1]} are two pictures: give one."
        )
    return asked[0] if asked else "map"


def _check(mode: str, files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse too few or too many files, and options that this picture does not use."""
    wanted, made_by = FILES[mode]
    asked = "plot" if mode == "map" else f"plot --{mode}"
    if len(files) != len(wanted):
        raise SettingsError(
            f"{asked} takes {' and '.join(wanted)} ({made_by}); "
            f"there {'is' if len(files) == 1 else 'are'} {len(files) or 'none'}."
        )
    context = click.get_current_context()
    for param in context.command.params:
        name = param.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if typed and name not in ("files", *MODES, *_used(mode)):
            takers = [f"--{other}" for other in MODES if name in _used(other)]
            whose = f", but for {' and '.join(takers)}" if takers else ""
            raise SettingsError(f"{param.opts[0]} is not for {asked}{whose}.")


def _used(mode: str) -> tuple[str, ...]:
    """The options that a kind of picture looks at."""
    return {
        "map": ("by", *DRAWN),
        "ascii": ("by", "quiet", "debug"),
        "curves": ("by", *POINT, *DRAWN),
        "boundary": ("margins", "left_out", *READING, *DRAWN),
        "paths": ("of", *SETTING_NAMES, *READING, *DRAWN),
    }[mode]


def _check_output(output: str | None) -> None:

    if output is None:
        raise SettingsError(
            "No file to draw to: give -o FIGURE.png (or .svg, .pdf); for a map on the "
            "terminal, --ascii."
        )
    look.check_figure(output)
    files.check_writable(output)


def _with_own_help(params: list[click.Parameter]) -> None:
    for param in params:
        if isinstance(param, click.Option) and param.name in HELP:
            param.help = HELP[param.name]
        if param.name == "C":
            param.metavar = "GRID"


_with_own_help(command.params)
