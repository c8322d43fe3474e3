"""What a running sweep says on stderr: lines, or what is drawn again at their foot."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from msvm_select.cli.interrupts import thread
from msvm_select.cli.streams import is_live, wants_colour
from msvm_select.sweep import headway
from msvm_select.sweep.telling import Pace, best_choices, headline, lines, log_line
from msvm_select.train import events

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    from msvm_select.sweep.headway import Facts

PULSE = 1.0  # seconds between two looks at the clock while nothing happens
GRACE = 1.0  # seconds for a line that is being written when the sweep ends
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
        began = time.monotonic()
        self.pace = Pace(began, began)
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

    def __exit__(self, *error: object) -> None:
        """Take away what is drawn."""
        self.ended.set()
        if self.pulse is not None:
            self.pulse.join(GRACE)
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
        for line, is_detail in lines(event):
            (self.detail if is_detail else self.say)(line)
        match event:
            case events.Started():
                self._draw()
            case events.CellDone() | events.CellProgress():
                self._tell_the_time()

    def _draw(self) -> None:
        """On a terminal, from now on."""
        if not self.quiet and self.live is None and is_live(sys.stderr):
            self.live = _live(self._facts, wants_colour(sys.stderr))
            self.live.start()

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
            return self.pace.is_due(time.monotonic())


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


def now_choices(facts: Facts) -> list[str]:
    """The cell under way, the longest wording first."""
    if not facts.cell:
        return ["now  -"]
    short = f"now  {facts.cell}"
    return [f"{short}, {facts.within}", short] if facts.within else [short]


def fitting(choices: list[str], width: int) -> str:
    """The longest that fits; where none does, the last one cut off with dots."""
    for text in choices:
        if len(text) <= width:
            return text
    return f"{choices[-1][: max(width - 1, 0)]}…"
