"""stdout for the answer, stderr for the talk, a file for the page; codes of gates."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import click

from msvm_select import files
from msvm_select.errors import MsvmError, SettingsError
from msvm_select.extras import need
from msvm_select.results import notes
from msvm_select.show.page import page as html

if TYPE_CHECKING:
    from msvm_select.cli.talk import Talk
    from msvm_select.results.ranking import Results
    from msvm_select.show.sheet import Sheet

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"  # names the file of a job's summary
NO_SAMPLES = "the file of results does not hold the samples; sweep --report has one."
GATES = ("fail_above", "fail_below", "require_applicable", "require_converged")

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


@dataclass(frozen=True)
class Output:
    """Where the answer goes and in which form; ``talk`` says what it does not show."""

    path: str | None
    format: str
    all_columns: bool
    talk: Talk

    @classmethod
    def of(
        cls, options: Mapping[str, Any], format: str | None, talk: Talk, *inputs: str
    ) -> Output:
        """In the format that was asked for, else by the ending of the file.

        Refuses an unusable file, and to write over ``inputs``, which the command reads.
        """
        path = options["output"]
        if path is not None:
            files.check_writable(path, *inputs)
        if format is None:
            format = "table" if path is None else files.format_of(path)
        if format == "parquet":
            need("pyarrow", "Parquet")
            if path is None and sys.stdout is not None and sys.stdout.isatty():
                raise SettingsError(
                    "Parquet is not for a terminal: give -o FILE.parquet."
                )
        if format == "junit" and "require_converged" not in options:
            raise SettingsError(
                "--format junit is of commands that have gates: sweep, run, rank."
            )
        return cls(path, format, options.get("all_columns", False), talk)

    def deliver(self, sheet: Sheet, part: str = "") -> None:
        """The answer to stdout or, whole, to a file; on stderr what it does not show.

        ``part`` says which of the rows were written.
        """
        width, colour = None, False
        if self.path is None:
            is_one = sys.stdout is not None and sys.stdout.isatty()
            colour = wants_colour(sys.stdout)
            if is_one or sheet.width is not None:
                width = shutil.get_terminal_size().columns  # or COLUMNS, or 80
        if self.format == "github":
            self._annotate(sheet)
        elif self.format == "parquet":
            emit(sheet.packed, self.path)
        else:
            text = sheet.render(self.format, width, colour, self.all_columns)
            emit(text, self.path)
        if self.path is not None or self.format != "table":
            for line in sheet.told:
                self.talk.say(line)
        for line in sheet.notes:
            self.talk.say(line)
        for line in sheet.details:
            self.talk.detail(line)
        if self.path is not None:
            self.talk.say(f"Written: {self.path}{part}")

    def _annotate(self, sheet: Sheet) -> None:
        """Annotations to stdout, where GitHub looks for them; the summary to the file,
        or else to the job's, or else to stdout.
        """
        emit(sheet.annotations, None)
        own = os.environ.get(STEP_SUMMARY)
        if self.path is None and own:
            files.append(own, sheet.summary)
        else:
            emit(sheet.summary, self.path)


def emit(text: str | bytes, output: str | None) -> None:
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


def check_page(path: str | None, *others: str | None) -> None:
    """Refuse a page that cannot be written, or that would overwrite another file."""
    if path is None:
        return
    if path == "-":
        raise SettingsError("--report: a page goes to a file; give its name.")
    files.check_writable(path)
    files.check_apart("--report", path, *others)


def write_page_of_rows(path: str | None, results: Results, talk: Talk) -> None:
    """The page of rows that were read back: nobody can be judged without the data."""
    if path is None:
        return
    files.write_whole(path, html.render(html.Report(results, why_not=NO_SAMPLES)))
    talk.say(f"Written: {path}")


def say_broken(results: Results, values: Mapping[str, Any]) -> bool:
    """Whether the results break a gate of ``values`` (settings by name); says which."""
    sentences = [gate.broken for gate in asked_gates(results, values) if gate.broken]
    for sentence in sentences:
        say_failed(sentence)
    return bool(sentences)


def asked_gates(results: Results, values: Mapping[str, Any]) -> list[notes.Gate]:
    """The gates of ``values`` (settings by name), passed or not."""
    asked = {name: values[name] for name in GATES if values.get(name) is not None}
    return notes.gates(results, **asked)


def say_failed(sentence: str) -> None:
    """Why a gate of a pipeline is broken; on stderr, even in quiet."""
    click.echo(f"Gate failed: {sentence}", err=True)


def gated_exit_code(results: Results, values: Mapping[str, Any]) -> int:
    """4 where every cell failed, 1 for a broken gate, 5 where some cell is in trouble.

    In this order: without any cell there was nothing to judge; and who asks for a gate
    wants to know of it, whatever else is the matter.
    """
    failed = say_broken(results, values)
    if results.count("failed") == len(results.rows):
        return 4
    if failed:
        return 1
    return 5 if results.count("ok") < len(results.rows) else 0
