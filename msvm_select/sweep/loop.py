"""A sweep: the kernel settings, each with its loop over C, and the rows of all.

What does not depend on C (the Gram matrix, Mercer's test) is done once for a kernel
setting. The settings are independent of each other, so they may run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from threading import Lock
from typing import Any

from msvm_select.columns import Row
from msvm_select.data.frames import split_reading
from msvm_select.handover import interleave
from msvm_select.kernels.base import Kernel
from msvm_select.records import Dataset
from msvm_select.results import Results, rank
from msvm_select.results.choosing import chosen
from msvm_select.results.identity import data_summary, versions
from msvm_select.settings import Settings, settings_from
from msvm_select.sweep.extend import Extension, grown_from
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.kept import Kept
from msvm_select.sweep.scoring import Chain
from msvm_select.train.events import CellDone, Progress, Resumed, silent
from msvm_select.train.prepare import Prepared, prepared

Known = dict[Kernel, dict[float, Row]]


def run_sweep(
    data: Any,
    settings: Settings | None = None,
    *,
    progress: Progress = silent,
    journal: Journal | None = None,
    **values: Any,
) -> Results:
    """Train and score every cell; ``values`` are settings by name, over ``settings``.

    ``data`` is a path, a DataFrame, a pair (X, y) or a Dataset; among the ``values``
    may be the options of ``load_csv``, such as ``target``.

    >>> run_sweep("data/iris.csv", C="0.1,1,10", gamma=[0.1, 1]).best
    >>> run_sweep(frame, target="species").to_frame()

    With a ``Journal`` each finished cell is kept at once, and found again later.
    """
    data, values = split_reading(data, values)
    if values or settings is None:
        settings = settings_from(values, settings)
    kept = Kept(settings, progress)
    sweep = Extension(partial(iterate, data, journal=journal), settings, kept)
    with journal or nullcontext():
        rows = list(sweep)
    return gather(data, sweep.settings, rows, settings, kept.gram)


def gather(
    data: Dataset,
    settings: Settings,
    rows: list[Row],
    asked: Settings | None = None,
    gram: tuple[Mapping[str, Any], ...] = (),
) -> Results:
    """The rows that are finished, ranked, one chosen, with what they came from.

    ``asked`` are the settings before the grid was widened, if it was; ``gram`` says
    what Mercer's test found of each kernel setting.
    """
    ranked = Results(
        rows=rank(rows, settings.rank_by, settings.criteria),
        rank_by=settings.rank_by,
        data=data_summary(data),
        settings={**settings.deciding(), **grown_from(asked, settings)},
        versions=versions(),
        gram=gram,
    )
    return chosen(ranked, settings.select)


def iterate(
    data: Dataset,
    settings: Settings,
    progress: Progress = silent,
    journal: Journal | None = None,
) -> Iterator[Row]:
    """Yields rows as cells finish, unranked; a caller that stops early keeps them.

    Each is in the ``journal`` before it comes; those that were there come first.
    """
    ready = prepared(data, settings)
    ready.check_memory()
    progress(ready.started(ranked=True))
    known = _known(ready, journal, progress)
    for row in (row for rows in known.values() for row in rows.values()):
        progress(CellDone(row, resumed=True))
        yield row
    within, writing = max(1, settings.jobs // len(ready.kernels)), Lock()

    def told(kernel: Kernel) -> Iterator[Row]:
        """Each row kept in the journal and told before it comes."""
        for done in Chain(ready, kernel, known[kernel], within).run(progress):
            if journal is not None:
                with writing:
                    journal.add(done.row)
            progress(done)
            yield done.row

    lacking = [k for k in ready.kernels if len(known[k]) < len(settings.C)]
    yield from interleave([told(kernel) for kernel in lacking], settings.jobs)


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
