"""The only loop: kernel settings outside, C ascending inside, each start the last end.

What does not depend on C (the Gram matrix, Mercer's test) is done once a setting. The
settings are independent of each other, so that they may run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

from msvm_select.kernels.base import Kernel
from msvm_select.records import Dataset
from msvm_select.results import Results, rank
from msvm_select.results.choosing import chosen
from msvm_select.results.identity import data_summary, versions
from msvm_select.row import Row
from msvm_select.settings import Settings, settings_from
from msvm_select.sweep.extend import Extension, grown_from
from msvm_select.sweep.jobs import interleave
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.progress import CellDone, Event, Progress, Resumed, silent
from msvm_select.train.along_C import Chain
from msvm_select.train.prepare import Prepared, prepared

Known = dict[Kernel, dict[float, Row]]


def run_sweep(
    data: Dataset,
    settings: Settings | None = None,
    *,
    progress: Progress = silent,
    journal: Journal | None = None,
    **values: Any,
) -> Results:
    """Train and score every cell; ``values`` are settings by name, over ``settings``.

    >>> run_sweep(load_csv("data/iris.csv"), C="0.1,1,10", gamma=[0.1, 1]).best

    With a ``Journal`` each finished cell is kept at once, and found again later.
    """
    if values or settings is None:
        settings = settings_from(values, settings)
    sweep = Extension(partial(iterate, data, journal=journal), settings, progress)
    with journal or nullcontext():
        rows = list(sweep)
    return gather(data, sweep.settings, rows, settings)


def gather(
    data: Dataset, settings: Settings, rows: list[Row], asked: Settings | None = None
) -> Results:
    """The rows that are finished, ranked, one chosen, with what they came from.

    ``asked`` are the settings before the grid was widened, if it was.
    """
    ranked = Results(
        rows=rank(rows, settings.rank_by),
        rank_by=settings.rank_by,
        data=data_summary(data),
        settings={**settings.deciding(), **grown_from(asked, settings)},
        versions=versions(),
    )
    return chosen(ranked, settings.select)


def iterate(
    data: Dataset,
    settings: Settings,
    progress: Progress = silent,
    journal: Journal | None = None,
) -> Iterator[Row]:
    """The rows as they are finished, not ranked; whoever stops early keeps his.

    Each is in the ``journal`` before it comes; those that were there come first.
    """
    ready = prepared(data, settings)
    ready.check_memory()
    progress(ready.started(ranked=True))
    known = _known(ready, journal, progress)
    for row in (row for rows in known.values() for row in rows.values()):
        progress(CellDone(row, resumed=True))
        yield row
    chains = _chains(ready, known, progress)
    for item in interleave(chains, settings.jobs):
        if isinstance(item, Row):
            if journal is not None:
                journal.add(item)
            progress(CellDone(item))
            yield item
        else:
            progress(item)


def _known(ready: Prepared, journal: Journal | None, progress: Progress) -> Known:
    """The rows that the journal has, of each kernel setting by C."""
    if journal is None:
        return {kernel: {} for kernel in ready.kernels}
    journal.begin(ready.data, ready.settings)
    known = {k: journal.known(k, ready.settings.C) for k in ready.kernels}
    if journal.notes:
        count = sum(len(rows) for rows in known.values())
        progress(Resumed(str(journal.path), count, journal.notes))
        journal.notes = ()
    return known


def _chains(
    ready: Prepared, known: Known, progress: Progress
) -> list[Iterator[Event | Row]]:
    """The kernel settings of which rows lack; jobs that they leave idle work within."""
    settings = ready.settings
    within = max(1, settings.jobs // len(ready.kernels))
    return [
        Chain(
            *(ready.data, ready.scaling, ready.X, kernel, settings),
            *(known[kernel], within, progress),
        ).run()
        for kernel in ready.kernels
        if len(known[kernel]) < len(settings.C)
    ]
