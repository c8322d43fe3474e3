"""What a running sweep says on stderr: lines, or what is drawn again at their foot."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

import click

from msvm_select.cli.interrupts import thread
from msvm_select.cli.streams import is_live, wants_colour
from msvm_select.phrases import counted, exactly, roughly
from msvm_select.sweep import headway, plan
from msvm_select.train import events, prepare

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    from msvm_select.sweep.headway import Facts

EVERY = 5.0  # seconds, at the least, between two lines of progress off a terminal
SPARSE = 0.05  # of the time that has passed: a long run tells less often
SELDOM = 60.0  # seconds, at the most
PULSE = 1.0  # seconds between two looks at the clock while nothing happens
ROOM = 3  # columns on the right: the terminal writes ^C there, and must not wrap
WIDE = 140  # columns from which the cell and the best share a line
LEAST, MOST = 10, 80  # columns of the bar
A_SECOND = 4  # drawings


class Talk:
    """Listens to a sweep: drawn on a terminal, a plain line now and then elsewhere.

    Events may come from any thread. The lock is for the facts alone: rich has one of
    its own, which it holds while it asks for them.
    """

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        """``quiet``: say nothing at all; ``verbose``: ``detail`` speaks too."""
        self.quiet, self.verbose = quiet, verbose
        self.began = self.said_at = time.monotonic()
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.headway: headway.Headway | None = None
        self.live: Live | None = None
        self.pulse: threading.Thread | None = None

    @property
    def cells(self) -> int:
        """How many there are in all."""
        return 0 if self.headway is None else self.headway.cells

    def __enter__(self) -> Talk:
        """Look at the clock from now on; what is drawn appears with the first event."""
        if not self.quiet and not is_live(sys.stderr):
            self.pulse = thread(self._beat)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take away what is drawn."""
        self.ended.set()
        if self.pulse is not None:
            self.pulse.join(PULSE)
        if self.live is not None:
            self.live.stop()
            self.live = None

    def say(self, text: str) -> None:
        """One line, above what is drawn."""
        if self.quiet:
            return
        if self.live is None:
            click.echo(text, err=True)
        else:
            self.live.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def detail(self, text: str) -> None:
        """One line that matters only for a closer look: with --verbose."""
        if self.verbose:
            self.say(text)

    def __call__(self, event: events.Event) -> None:
        """What there is to say of one event; nothing to what was left behind."""
        if self.ended.is_set():
            return
        with self.lock:
            if self.headway is None:
                self.headway = headway.Headway(began=time.monotonic())
            self.headway.hear(event, time.monotonic())
        match event:
            case events.Started():
                self._started(event)
            case events.Widened():
                values = ", ".join(f"{value:.6g}" for value in event.values)
                self.say(
                    f"Round {event.round} of {event.rounds}: {event.why}; "
                    f"{event.cells} more cells with {event.name} = {values}"
                )
            case events.Resumed():
                for note in event.notes:
                    self.say(f"Note: {note}.")
            case events.GramTested():
                self._tested(event)
            case events.CellDone() | events.CellProgress():
                self._tell_the_time()

    def _started(self, event: events.Started) -> None:
        cells = f"; cells: {event.cells} (kernels: {event.kernels}, C: {event.Cs})"
        self.say(
            f"{event.name}: {event.m} samples, {counted(event.features, 'feature')}, "
            f"{event.Q} classes"
            + (cells if event.cells > 1 else "")
            + (f"; loss {event.loss}" if event.loss != "l1" else "")
        )
        if note := plan.compiling_note(event):
            self.say(note)
        if not self.quiet and self.live is None and is_live(sys.stderr):
            self.live = _live(self._facts, wants_colour(sys.stderr))
            self.live.start()

    def _tested(self, event: events.GramTested) -> None:
        """Said of an indefinite matrix; of a sound one only with --verbose."""
        smallest = event.smallest_eigenvalue
        told = f"smallest eigenvalue of the Gram matrix {smallest:.3g}"
        if math.isnan(smallest):
            told = "the Gram matrix is positive semi-definite by theory (not measured)"
        if event.indefinite:
            self.say(f"{event.kernel}: {told}, indefinite")
        else:
            self.detail(f"{event.kernel}: {told}")
        if event.near_identity:
            self.say(prepare.TOO_ROUGH.format(event.kernel))

    def _facts(self) -> Facts:
        with self.lock:
            assert self.headway is not None
            return self.headway.facts(time.monotonic())

    def _beat(self) -> None:
        """Off a terminal: tell the time in a long cell, too."""
        try:
            while not self.ended.wait(PULSE):
                if self.headway is not None and self.headway.done < self.cells:
                    self._tell_the_time()
        except OSError:  # nobody reads any more
            return

    def _tell_the_time(self) -> None:
        """Off a terminal: how far it is, if the last line is long enough ago."""
        if not self.quiet and self.live is None and self._is_time():
            self.say(log_line(self._facts()))

    def _is_time(self) -> bool:
        with self.lock:
            now = time.monotonic()
            pause = min(max(EVERY, SPARSE * (now - self.began)), SELDOM)
            late = now - self.said_at >= pause
            if late:
                self.said_at = now
            return late


class Display:
    """The facts of this moment, in two lines or, where it is narrow, in three."""

    def __init__(self, facts: Callable[[], Facts]) -> None:
        """``facts`` is asked at each drawing."""
        self.facts = facts

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        """Nothing wraps: what does not fit is said in less words."""
        facts, width = self.facts(), max(options.max_width - ROOM, 1)
        yield self._head(facts, width)
        if width + ROOM < WIDE:
            yield _line(fitting(now_choices(facts), width))
            yield _line(fitting(best_choices(facts), width))
            return
        half = (width - 2) // 2
        now = fitting(now_choices(facts), half)
        yield _line(f"{now:<{half}}  {fitting(best_choices(facts), half)}")

    def _head(self, facts: Facts, width: int) -> Table | Text:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        text = headline(facts)
        room = min(width - len(text) - 2, MOST)
        if room < LEAST:
            return _line(fitting([text], width))
        line = Table.grid(padding=(0, 2, 0, 0))
        bar = ProgressBar(max(facts.cells, 1), facts.done, room)
        line.add_row(bar, _line(text))
        return line


def _live(facts: Callable[[], Facts], colour: bool) -> Live:
    """The display, drawn on stderr until it is stopped, and then gone."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, no_color=not colour, highlight=False)
    return Live(
        Display(facts),
        console=console,
        transient=True,
        refresh_per_second=A_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def _line(text: str) -> Text:
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="crop")


def headline(facts: Facts) -> str:
    """``12 of 35 cells, 41 s, left: about 2 min``, as soon as that is known."""
    told = f"{facts.done} of {facts.cells} cells, {exactly(facts.elapsed)}"
    if facts.done == facts.cells or facts.left is None:
        return told
    about = "about" if facts.sure else "at least"
    return f"{told}, left: {about} {roughly(facts.left)}"


def log_line(facts: Facts) -> str:
    """All of it on one line."""
    parts = [headline(facts)]
    if facts.within:
        parts.append(f"{facts.within} in {facts.cell}")
    if facts.best is not None:
        parts.append(best_choices(facts)[0])
    return "; ".join(parts)


def now_choices(facts: Facts) -> list[str]:
    """The cell under way, the longest wording first."""
    if not facts.cell:
        return ["now  -"]
    short = f"now  {facts.cell}"
    return [f"{short}, {facts.within}", short] if facts.within else [short]


def best_choices(facts: Facts) -> list[str]:
    """The best so far, the longest wording first."""
    if facts.best is None:
        return ["best -"]
    value, cell = facts.best_value, facts.best_cell
    return [f"best {facts.best_column} {value} at {cell}", f"best {value} at {cell}"]


def fitting(choices: list[str], width: int) -> str:
    """The longest that fits; where none does, the last one cut off with dots."""
    for text in choices:
        if len(text) <= width:
            return text
    return f"{choices[-1][: max(width - 1, 0)]}…"
