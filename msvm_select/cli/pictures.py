"""The pictures of ``msvm-select plot``: files -> a chart -> a figure in a file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from msvm_select.cli.chosen import (
    chosen_reading,
    chosen_settings,
    read,
    read_options,
    told_places,
)
from msvm_select.cli.plot import PATH_C, POINT
from msvm_select.cli.talk import Talk
from msvm_select.data.read import read_features
from msvm_select.errors import SettingsError
from msvm_select.files import write_whole
from msvm_select.model.file import load_model
from msvm_select.results.reread import read_results
from msvm_select.settings.grids import parse_grid
from msvm_select.show.charts.curves import curves_of
from msvm_select.show.charts.heat import heat_map_of
from msvm_select.show.charts.samples import check_plane, paths_of, plane_of
from msvm_select.show.figures.curves import curves
from msvm_select.show.figures.heat import heat_map
from msvm_select.show.figures.look import Draw, Size, picture
from msvm_select.show.figures.samples import paths, plane
from msvm_select.show.text import ASCII_SHADES, SHADES, heat_text

Files = tuple[str, ...]
Options = dict[str, Any]
Drawing = tuple[Draw, int]  # what draws it; at how many C training did not converge


def print_map(path: str, by: str | None) -> None:
    """The heat map in characters, those that the terminal can show."""
    chart = heat_map_of(read_results(path), by)
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        SHADES.encode(encoding)
        shades = SHADES
    except UnicodeEncodeError:
        shades = ASCII_SHADES
    click.echo(heat_text(chart, shutil.get_terminal_size().columns, shades), nl=False)


def draw(mode: str, files: Files, size: Size | None, options: Options) -> None:
    """A picture of this kind, written; exit 5 if some training did not converge."""
    talk = Talk(options["quiet"])
    drawing, unfinished = DRAWINGS[mode](files, options, talk)
    drawn = picture(lambda: drawing(size), options["output"], options["dpi"])
    write_whole(options["output"], drawn.content)
    for note in drawn.notes:
        talk.say(f"Note: {note}.")
    talk.say(f"Written: {options['output']}")
    if unfinished:
        talk.say(f"Warning: at {unfinished} C the training did not converge.")
        click.get_current_context().exit(5)


def _map(files: Files, options: Options, talk: Talk) -> Drawing:
    chart = heat_map_of(read_results(files[0]), options["by"])
    return partial(heat_map, chart), 0


def _curves(files: Files, options: Options, talk: Talk) -> Drawing:
    chart = curves_of(read_results(files[0]), options["by"], _point(options))
    return partial(curves, chart), 0


def _boundary(files: Files, options: Options, talk: Talk) -> Drawing:
    model = load_model(files[0])
    check_plane(model, files[0])
    reading = read_options(**chosen_reading(options))
    with told_places():
        samples = read_features(files[1], model.columns, reading)
    chart = plane_of(model, samples, options["left_out"])
    for note in (*samples.notes, *chart.notes):
        talk.say(f"Note: {note}")
    return partial(plane, chart, options["margins"]), 0


def _paths(files: Files, options: Options, talk: Talk) -> Drawing:
    settings = chosen_settings(options, C=PATH_C)
    data = read(files[0], **chosen_reading(options))
    with talk:
        for note in data.notes:
            talk.say(f"Note: {note}")
        chart = paths_of(data, settings, options["of"] or "alpha", talk)
    return partial(paths, chart), len(chart.open_Cs)


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


DRAWINGS: dict[str, Callable[[Files, Options, Talk], Drawing]] = {
    "map": _map,
    "curves": _curves,
    "boundary": _boundary,
    "paths": _paths,
}
