"""The only loop: kernel settings outside, C ascending inside, each start the last end.

What does not depend on C (the Gram matrix, Mercer's test) is done once a setting. The
settings are independent of each other, so that they may run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from msvm_select.errors import DataError
from msvm_select.kernels import Kernel
from msvm_select.memory import refuse_gram
from msvm_select.records import Dataset, Scaling
from msvm_select.report import Results, rank
from msvm_select.report.choosing import chosen
from msvm_select.report.provenance import data_summary, versions
from msvm_select.row import Row
from msvm_select.settings import Settings, default_gamma, settings_from
from msvm_select.sweep.chain import Chain, make_solver
from msvm_select.sweep.extend import Extension, grown_from
from msvm_select.sweep.jobs import interleave
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.progress import (
    CellDone,
    Progress,
    Resumed,
    Started,
    silent,
)


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
    if data.y.size == 0 or data.Q < 2:
        raise DataError(f"{data.name} has no two classes to tell apart.")
    scaling = Scaling.fit(data.X, settings.scale)
    X = scaling.apply(data.X)
    kernels = settings.kernels(default_gamma(X))
    whole = sum(kernel.name != "linear" for kernel in kernels)
    refuse_gram(data.name, data.m, min(settings.jobs, whole))
    make_solver(settings)  # its options are refused before anything is trained
    m, n = data.X.shape
    sizes = (len(kernels), len(settings.C))
    how = {
        name: getattr(settings, name)
        for name in ("solver", "loss", "criteria", "rank_by", "jobs")
    }
    progress(Started(data.name, m, n, data.Q, *sizes, **how))
    known = _known(data, settings, kernels, journal)
    if journal is not None and journal.notes:
        there = sum(len(rows) for rows in known.values())
        progress(Resumed(str(journal.path), there, journal.notes))
        journal.notes = ()
    for row in (row for rows in known.values() for row in rows.values()):
        progress(CellDone(row, resumed=True))
        yield row
    within = max(1, settings.jobs // len(kernels))
    chains = [
        Chain(
            *(data, scaling, X, kernel, settings),
            *(known[kernel], within, progress),
        ).run()
        for kernel in kernels
        if len(known[kernel]) < len(settings.C)
    ]
    for item in interleave(chains, settings.jobs):
        if isinstance(item, Row):
            if journal is not None:
                journal.add(item)
            progress(CellDone(item))
            yield item
        else:
            progress(item)


def _known(
    data: Dataset,
    settings: Settings,
    kernels: Sequence[Kernel],
    journal: Journal | None,
) -> dict[Kernel, dict[float, Row]]:
    """The rows that the journal has, by kernel setting and C."""
    if journal is None:
        return {kernel: {} for kernel in kernels}
    journal.begin(data, settings)
    return {kernel: journal.known(kernel, settings.C) for kernel in kernels}
