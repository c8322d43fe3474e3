"""What a running sweep says on stderr."""

from __future__ import annotations

import math
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

import click

from msvm_select.cli import bar, wording
from msvm_select.cli.interrupts import thread
from msvm_select.cli.streams import is_live, wants_colour
from msvm_select.phrases import counted
from msvm_select.sweep import headway, plan
from msvm_select.train import events, prepare

if TYPE_CHECKING:
    from rich.live import Live

    from msvm_select.sweep.headway import Facts, Headway
    from msvm_select.train.events import (
        Event,
        GramTested,
        Resumed,
        Started,
        Widened,
    )

EVERY = 5.0  # seconds, at the least, between two lines of progress off a terminal
SPARSE = 0.05  # of the time that has passed: a long run tells less often
SELDOM = 60.0  # seconds, at the most
PULSE = 1.0  # seconds between two looks at the clock while nothing happens


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
        self.headway: Headway | None = None
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

    def __call__(self, event: Event) -> None:
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
                self._widened(event)
            case events.Resumed():
                self._resumed(event)
            case events.GramTested():
                self._tested(event)
            case events.CellDone() | events.CellProgress():
                self._tell_the_time()

    def _started(self, event: Started) -> None:

        self.say(
            f"{event.name}: {event.m} samples, {counted(event.features, 'feature')}, "
            f"{event.Q} classes" + _grid(event)
        )
        if note := plan.compiling_note(event):
            self.say(note)
        if not self.quiet and self.live is None and is_live(sys.stderr):
            self.live = bar.live(self._facts, wants_colour(sys.stderr))
            self.live.start()

    def _widened(self, event: Widened) -> None:
        values = ", ".join(f"{value:.6g}" for value in event.values)
        self.say(
            f"Round {event.round} of {event.rounds}: {event.why}; {event.cells} more "
            f"cells with {event.name} = {values}"
        )

    def _resumed(self, event: Resumed) -> None:
        for note in event.notes:
            self.say(f"Note: {note}.")

    def _tested(self, event: GramTested) -> None:
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
            self.say(wording.log_line(self._facts()))

    def _is_time(self) -> bool:
        with self.lock:
            now = time.monotonic()
            pause = min(max(EVERY, SPARSE * (now - self.began)), SELDOM)
            late = now - self.said_at >= pause
            if late:
                self.said_at = now
            return late


def _grid(event: Started) -> str:
    """How many cells there are, if more than one, and the loss, if it is another."""
    cells = f"; cells: {event.cells} (kernels: {event.kernels}, C: {event.Cs})"
    loss = f"; loss {event.loss}" if event.loss != "l1" else ""
    return (cells if event.cells > 1 else "") + loss
