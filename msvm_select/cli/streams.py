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

from msvm_select import files
from msvm_select.errors import MsvmError

if TYPE_CHECKING:
    from msvm_select.cli.talk import Talk
    from msvm_select.show.sheet import Sheet

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
        files.check_writable(output, *inputs)
    if format is None:
        return "table" if output is None else files.format_of(output)
    return format


def deliver(
    sheet: Sheet,
    format: str,
    output: str | None,
    talk: Talk,
    all_columns: bool = False,
    part: str = "",
) -> None:
    """The answer to stdout or, whole, to a file; on stderr what it does not show.

    ``part`` says which of the rows were written.
    """
    if output is None:
        width, colour = terminal_width(), wants_colour(sys.stdout)
        if width is None and sheet.width is not None:
            width = shutil.get_terminal_size().columns  # COLUMNS, or 80
        emit(sheet.render(format, width, colour, all_columns), None)
    else:
        emit(sheet.render(format, all_columns=all_columns), output)
    if output is not None or format != "table":
        for line in sheet.told:
            talk.say(line)
    for line in sheet.notes:
        talk.say(line)
    for line in sheet.details:
        talk.detail(line)
    if output is not None:
        talk.say(f"Written: {output}{part}")


def emit(text: str, output: str | None) -> None:
    """The text to a file, whole, or as it is to stdout: a label may hold an escape.

    Where the file cannot be written it goes to stdout: the work is not to be lost.
    """
    if output is None:
        click.echo(text, nl=False, color=True)
        return
    try:
        files.write_whole(output, text)
    except MsvmError as error:
        click.echo(text, nl=False)
        error.add_note("The results were printed instead, on standard output.")
        raise
