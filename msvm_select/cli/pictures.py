"""The pictures of ``msvm-select plot``: read, compute, draw, write."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.chosen import (
    chosen_reading,
    chosen_settings,
    read,
    read_options,
    told_places,
)
from msvm_select.cli.talk import Talk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    Size = tuple[float, float] | None

POINT = ("kernel", "gamma", "sigma", "degree", "coef0")
PATH_C = "2^-6:2^10:17"


def _print_map(files: tuple[str, ...], options: dict[str, Any]) -> None:
    from msvm_select.results.reread import read_results
    from msvm_select.show.charts.heat import heat_map_of
    from msvm_select.show.text import ASCII_SHADES, SHADES, heat_text

    chart = heat_map_of(read_results(files[0]), options["by"])
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        SHADES.encode(encoding)
        shades = SHADES
    except UnicodeEncodeError:
        shades = ASCII_SHADES
    click.echo(heat_text(chart, shutil.get_terminal_size().columns, shades), nl=False)


def _draw_map(files: tuple[str, ...], options: dict[str, Any]) -> None:
    from msvm_select.results.reread import read_results
    from msvm_select.show.charts.heat import heat_map_of
    from msvm_select.show.figures.heat import heat_map

    chart = heat_map_of(read_results(files[0]), options["by"])
    _write(lambda size: heat_map(chart, size), options, Talk(options["quiet"]))


def _draw_curves(files: tuple[str, ...], options: dict[str, Any]) -> None:
    from msvm_select.results.reread import read_results
    from msvm_select.show.charts.curves import curves_of
    from msvm_select.show.figures.curves import curves

    chart = curves_of(read_results(files[0]), options["by"], _point(options))
    _write(lambda size: curves(chart, size), options, Talk(options["quiet"]))


def _draw_boundary(files: tuple[str, ...], options: dict[str, Any]) -> None:
    from msvm_select.data import read_features
    from msvm_select.model import load_model
    from msvm_select.show.charts.plane import check_plane, plane_of
    from msvm_select.show.figures.plane import plane

    model = load_model(files[0])
    check_plane(model, files[0])
    reading = read_options(**chosen_reading(options))
    with told_places():
        samples = read_features(files[1], model.columns, reading)
    chart = plane_of(model, samples, options["left_out"])
    talk = Talk(options["quiet"])
    for note in (*samples.notes, *chart.notes):
        talk.say(f"Note: {note}")
    _write(lambda size: plane(chart, options["margins"], size), options, talk)


def _draw_paths(files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Exit 5 where the picture is written, but some C did not converge."""
    from msvm_select.show.charts.paths import paths_of
    from msvm_select.show.figures.paths import paths

    settings = chosen_settings(options, C=PATH_C)
    data = read(files[0], **chosen_reading(options))
    with Talk(options["quiet"]) as talk:
        for note in data.notes:
            talk.say(f"Note: {note}")
        found = paths_of(data, settings, options["of"] or "alpha", talk)
    _write(lambda size: paths(found, size), options, talk)
    if found.open_Cs:
        talk.say(f"Warning: at {len(found.open_Cs)} C the training did not converge.")
        click.get_current_context().exit(5)


def _point(options: dict[str, Any]) -> dict[str, str | float]:
    """The kernel setting, as far as it was typed; each parameter one number."""
    from msvm_select.errors import SettingsError
    from msvm_select.settings.grids import parse_grid

    point: dict[str, str | float] = {}
    for name in POINT:
        if not options[name]:
            continue
        values = options[name] if name == "kernel" else parse_grid(options[name], name)
        if len(values) > 1:
            raise SettingsError(f"The curves are of one setting: give one {name}.")
        point[name] = values[0]
    return point


def figure_size(text: str | None) -> Size:
    """``W,H`` in inches."""
    from msvm_select.errors import SettingsError

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


def _write(draw: Callable[[Size], Figure], options: dict[str, Any], talk: Talk) -> None:
    from msvm_select.show.figures.look import picture
    from msvm_select.show.formats import write_whole

    size, output = figure_size(options["size"]), options["output"]
    drawn = picture(lambda: draw(size), output, options["dpi"])
    write_whole(output, drawn.content)
    for note in drawn.notes:
        talk.say(f"Note: {note}.")
    talk.say(f"Written: {output}")


DRAWINGS: dict[str, Callable[[tuple[str, ...], dict[str, Any]], None]] = {
    "map": _draw_map,
    "ascii": _print_map,
    "curves": _draw_curves,
    "boundary": _draw_boundary,
    "paths": _draw_paths,
}
