"""stdout for the data, stderr for the talk, and whether either is a terminal."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

import click

from msvm_select.errors import MsvmError
from msvm_select.show import formats

if TYPE_CHECKING:
    from msvm_select.results import Results

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # of writing to stdout or stderr


@contextmanager
def lost_output() -> Iterator[None]:
    """Exit 141 where the reader has left, 1 where there is no room to write or work."""
    try:
        yield
    except BrokenPipeError:
        _drop_stdout()
        sys.exit(141)
    except MemoryError as error:
        click.echo(f"Error: the memory is used up. {error}".rstrip(), err=True)
        sys.exit(1)
    except UnicodeEncodeError as error:
        _lost(
            f"{error.object[error.start]!a} is not in the encoding of the output, "
            f"{error.encoding}; set PYTHONIOENCODING=utf-8, or write to a file with -o"
        )
    except OSError as error:
        if error.errno not in FULL:
            raise
        _lost(str(error.strerror))


def _lost(reason: str) -> None:
    _drop_stdout()
    with suppress(OSError):
        click.echo(f"Error: the output is lost: {reason}.", err=True)
    sys.exit(1)


def _drop_stdout() -> None:
    """What is still buffered would raise again when Python closes stdout."""
    if sys.stdout is not None:
        with suppress(OSError):  # no file is behind it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def hold_standard_streams() -> None:
    """Where one was closed, let no file that is opened later take its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it takes the lowest number that is free


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


def terminal_width() -> int | None:
    """The columns of the terminal that stdout is; None where it is none."""
    is_one = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if is_one else None


def chosen_format(format: str | None, output: str | None, *inputs: str) -> str:
    """What was asked for, else by the ending of the file; refuses an unusable file.

    The files that the command reads, ``inputs``, are not to be written over.
    """
    if output is not None:
        formats.check_writable(output, *inputs)
    if format is None:
        return "table" if output is None else formats.format_of(output)
    return format


def emit(text: str, output: str | None) -> None:
    """The text to a file, whole, or as it is to stdout: a label may hold an escape."""
    if output is None:
        click.echo(text, nl=False, color=True)
    else:
        formats.write_whole(output, text)


def deliver(results: Results, format: str, output: str | None, top: int | None) -> None:
    """The results to stdout or, whole, to a file."""
    shown = results.head(top)
    if output is not None:
        try:
            formats.write_whole(output, formats.render(shown, format))
        except MsvmError as error:  # an hour's work is not to be lost by a full disk
            click.echo(formats.render(shown, format), nl=False)
            error.add_note("The results were printed instead, on standard output.")
            raise
        return
    colour = wants_colour(sys.stdout)
    width = shutil.get_terminal_size().columns
    click.echo(formats.render(shown, format, width, colour), nl=False, color=colour)
