"""stdout for the data, stderr for the talk, and whether either is a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from msvm_select.report import Results


def wants_colour(stream: TextIO | None) -> bool:
    """NO_COLOR and TERM=dumb forbid, FORCE_COLOR asks for; else on terminals only."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_live(stream)


def is_live(stream: TextIO | None) -> bool:
    """Whether lines on the stream may be drawn again; None is a closed one."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def chosen_format(format: str | None, output: str | None) -> str:
    """What was asked for, else by the ending of the file; refuses an unusable file."""
    from msvm_select.report.formats import check_writable, format_of

    if output is not None:
        check_writable(output)
    if format is None:
        return "table" if output is None else format_of(output)
    return format


def deliver(results: Results, format: str, output: str | None, top: int | None) -> None:
    """The results to stdout or, whole, to a file."""
    from msvm_select.report.formats import render, write_whole

    shown = results.head(top)
    if output is not None:
        write_whole(output, render(shown, format))
        return
    colour = wants_colour(sys.stdout)
    width = shutil.get_terminal_size().columns
    click.echo(render(shown, format, width, colour), nl=False, color=colour)
