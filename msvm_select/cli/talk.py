"""What a running sweep says on stderr."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

import click

from msvm_select.cli.streams import is_live, wants_colour

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from msvm_select.kernels import Kernel
    from msvm_select.sweep.progress import (
        CellProgress,
        Event,
        GramTested,
        Started,
        Widened,
    )

EVERY = 5.0  # seconds between two lines of progress off a terminal
LONG = 2.0  # seconds after which a cell tells how far it is
ROOM = 3  # columns right of the bar: the terminal writes ^C there, and must not wrap


class Talk:
    """Listens to a sweep: a bar on a terminal, a plain line now and then elsewhere."""

    def __init__(self, quiet: bool = False) -> None:
        """``quiet``: say nothing at all."""
        self.quiet = quiet
        self.cells = 0
        self.done = 0
        self.said_at = time.monotonic()
        self.begun: dict[tuple[Kernel, float], float] = {}
        self.lock = threading.Lock()  # cells of several threads tell how far they are
        self.bar: Bar | None = None

    def __enter__(self) -> Talk:
        """Nothing yet: the bar appears when the sweep has started."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def say(self, text: str) -> None:
        """One line, above the bar if there is one."""
        if self.quiet:
            return
        if self.bar is None:
            click.echo(text, err=True)
        else:
            self.bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def __call__(self, event: Event) -> None:
        """What there is to say of one event."""
        from msvm_select.sweep import progress

        match event:
            case progress.Started():
                self._started(event)
            case progress.Widened():
                self._widened(event)
            case progress.GramTested():
                self._tested(event)
            case progress.CellStarted(kernel, C):
                self.begun[kernel, C] = time.monotonic()
                self._show(f"{progress.described(kernel)} C={C:g}")
            case progress.CellProgress():
                self._within(event)
            case progress.CellDone():
                self._finished()

    def _started(self, event: Started) -> None:
        self.cells = event.cells
        self.say(
            f"{event.name}: {event.m} samples, {event.features} features, "
            f"{event.Q} classes; cells: {event.cells} (kernels: "
            f"{event.kernels}, C: {event.Cs})"
            + (f"; loss {event.loss}" if event.loss != "l1" else "")
        )
        if _must_compile(event.solver):
            self.say("Compiling the solver, once on this machine; it takes seconds ...")
        if not self.quiet and is_live(sys.stderr):
            self.bar = _bar(event.cells, wants_colour(sys.stderr))

    def _widened(self, event: Widened) -> None:
        values = ", ".join(f"{value:.6g}" for value in event.values)
        self.say(
            f"Round {event.round} of {event.rounds}: {event.why}; {event.cells} more "
            f"cells with {event.name} = {values}"
        )
        self.cells += event.cells
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], total=self.cells)

    def _tested(self, event: GramTested) -> None:
        from msvm_select.sweep.progress import described

        word = ", indefinite" if event.indefinite else ""
        self.say(
            f"{described(event.kernel)}: smallest eigenvalue of the Gram matrix "
            f"{event.smallest_eigenvalue:.3g}{word}"
        )

    def _finished(self) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.advance(self.bar.task_ids[0])
        elif self._is_time():
            self.say(f"{self.done} of {self.cells} cells")

    def _within(self, event: CellProgress) -> None:
        """How far a long cell is; may be called from any thread."""
        from msvm_select.sweep.progress import described

        now = time.monotonic()
        if self.quiet or now - self.begun.get((event.kernel, event.C), now) < LONG:
            return
        where = f"{event.done} of {event.of} in {described(event.kernel)} C={event.C:g}"
        if self.bar is not None:
            self._show(where)
        elif self._is_time():
            self.say(f"{self.done} of {self.cells} cells; {where}")

    def _show(self, now: str) -> None:
        """Beside the bar, if there is one."""
        if (bar := self.bar) is not None:
            bar.update(bar.task_ids[0], now=now)

    def _is_time(self) -> bool:
        """Whether the last line of progress is long enough ago for another one."""
        with self.lock:
            late = time.monotonic() - self.said_at >= EVERY
            if late:
                self.said_at = time.monotonic()
            return late


def _must_compile(solver: str) -> bool:
    """Whether this solver is about to be compiled by numba."""
    if solver not in ("exact", "smo"):
        return False
    try:
        from msvm_select.solvers.exact import needs_compilation
    except ImportError:
        return False
    return bool(needs_compilation())


def _bar(cells: int, colour: bool) -> Bar:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = shutil.get_terminal_size().columns
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[now]}", markup=False),
        TimeRemainingColumn(),
        console=Console(stderr=True, no_color=not colour, width=columns - ROOM),
        transient=True,
    )
    bar.add_task("", total=cells, now="")
    bar.start()
    return bar
