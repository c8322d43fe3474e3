"""What is drawn again and again at the foot of a terminal while a sweep runs."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from msvm_select.cli.wording import best_choices, fitting, headline, now_choices
from msvm_select.sweep.headway import Facts

ROOM = 3  # columns on the right: the terminal writes ^C there, and must not wrap
WIDE = 140  # columns from which the cell and the best share a line
LEAST, MOST = 10, 80  # columns of the bar
A_SECOND = 4  # drawings


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
        text = headline(facts)
        room = min(width - len(text) - 2, MOST)
        if room < LEAST:
            return _line(fitting([text], width))
        line = Table.grid(padding=(0, 2, 0, 0))
        bar = ProgressBar(max(facts.cells, 1), facts.done, room)
        line.add_row(bar, _line(text))
        return line


def live(facts: Callable[[], Facts], colour: bool) -> Live:
    """The display, drawn on stderr until it is stopped, and then gone."""
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
    return Text(text, no_wrap=True, overflow="crop")
