"""What there is to say of a running sweep, in lines, whoever says them and where."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from msvm_select.kernels.low_rank import LowRank
from msvm_select.phrases import counted, exactly, roughly
from msvm_select.sweep.headway import Facts
from msvm_select.train.events import (
    Event,
    GramTested,
    Noted,
    Resumed,
    Started,
    Widened,
    Workers,
)
from msvm_select.train.prepare import TOO_ROUGH

EVERY = 5.0  # seconds, at the least, between two lines of progress
SPARSE = 0.05  # of the time that has passed: a long run tells less often
SELDOM = 60.0  # seconds, at the most


@dataclass(eq=False)
class Pace:
    """When the next line of progress is due."""

    began: float
    said_at: float

    def is_due(self, now: float) -> bool:
        """Whether the last line is long enough ago; if so, one is said now."""
        pause = min(max(EVERY, SPARSE * (now - self.began)), SELDOM)
        due = now - self.said_at >= pause
        if due:
            self.said_at = now
        return due


def lines(event: Event) -> Iterator[tuple[str, bool]]:
    """What an event tells at once; and whether that matters only for a closer look."""
    match event:
        case Started():
            yield sizes(event), False
            if event.note:
                yield event.note, False
        case Widened():
            values = ", ".join(f"{value:.6g}" for value in event.values)
            yield (
                f"Round {event.round} of {event.rounds}: {event.why}; "
                f"{event.cells} more cells with {event.name} = {values}",
                False,
            )
        case Resumed():
            yield from ((f"Note: {note}.", False) for note in event.notes)
        case GramTested():
            yield from _tested(event)
        case Workers():
            yield _staff(event), False
        case Noted():
            yield event.text, False


def sizes(event: Started) -> str:
    """``iris: 150 samples, 4 features, 3 classes; cells: 35 (kernels: 5, C: 7)``."""
    cells = f"; cells: {event.cells} (kernels: {event.kernels}, C: {event.Cs})"
    return (
        f"{event.name}: {event.m} samples, {counted(event.features, 'feature')}, "
        f"{event.Q} classes"
        + (cells if event.cells > 1 else "")
        + (f"; loss {event.loss}" if event.loss != "l1" else "")
    )


def _staff(event: Workers) -> str:
    """``tcp://10.0.0.1:8786: 4 workers, 16 kernel settings at a time``."""
    told = f"{counted(event.count, 'worker')}, {event.lanes} at a time"
    if not event.count:
        told = "no worker is left; waiting for one"
    gone = f"; gone: {', '.join(event.gone)}" if event.gone else ""
    came = f"; new: {', '.join(event.came)}" if event.came else ""
    return f"{event.cluster}: {told}{gone}{came}"


def _tested(event: GramTested) -> Iterator[tuple[str, bool]]:
    """Of an indefinite matrix; of a sound one only for a closer look."""
    if isinstance(event.kernel, LowRank):
        yield f"{event.kernel}: {_approximated(event.kernel)}", False
    smallest = event.smallest_eigenvalue
    told = f"smallest eigenvalue of the Gram matrix {smallest:.3g}"
    if math.isnan(smallest):
        told = "the Gram matrix is positive semi-definite by theory (not measured)"
    if event.indefinite:
        yield f"{event.kernel}: {told}, indefinite", False
    else:
        yield f"{event.kernel}: {told}", True
    if event.near_identity:
        yield TOO_ROUGH.format(event.kernel), False


def _approximated(kernel: LowRank) -> str:
    """How many dimensions there are, and how near they come."""
    found = kernel.pivots
    if found.rank < kernel.rank:
        return (
            f"{counted(found.rank, 'dimension')}, and nothing of the kernel matrix is "
            "left beyond"
        )
    return (
        f"{counted(found.rank, 'dimension')} leave {100.0 * found.error:.3g} % of the "
        f"trace of the kernel matrix; no entry is off by more than {found.residual:.3g}"
    )


def headline(facts: Facts) -> str:
    """``12 of 35 cells, 41 s, left: about 2 min``, as soon as that is known."""
    told = f"{facts.done} of {facts.cells} cells, {exactly(facts.elapsed)}"
    told += " (compiling)" if facts.compiling else ""
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


def best_choices(facts: Facts) -> list[str]:
    """The best so far, the longest wording first."""
    if facts.best is None:
        return ["best -"]
    value, cell = facts.best_value, facts.best_cell
    return [f"best {facts.best_column} {value} at {cell}", f"best {value} at {cell}"]
