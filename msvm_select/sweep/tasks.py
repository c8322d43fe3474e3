"""A sweep on an executor: a kernel setting is a task, wherever that runs.

Any ``concurrent.futures.Executor`` will do: threads, processes, or those of loky, Dask
and mpi4py. A task takes its chain whole, pickled where the executor has to, and needs
no talk with the others; what comes back is rows, and what Mercer's test found. The
machines stay where they were trained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, as_completed

from msvm_select.columns import Row
from msvm_select.handover import one_blas_thread
from msvm_select.sweep.cells import Chain
from msvm_select.train.events import CellDone, Event, GramTested, Progress

Elsewhere = Callable[[Sequence[Chain], Progress], Iterator[CellDone]]
"""What runs chains somewhere else, and yields their cells."""


def done_on(
    executor: Executor, chains: Sequence[Chain], progress: Progress
) -> Iterator[CellDone]:
    """The cells of the chains as these are finished; one who stops early stops all."""
    futures = [executor.submit(run_chain, chain) for chain in chains]
    try:
        for future in as_completed(futures):
            tests, rows = future.result()
            for test in tests:
                progress(test)
            yield from map(CellDone, rows)
    finally:
        for future in futures:
            future.cancel()


def run_chain(chain: Chain) -> tuple[list[GramTested], list[Row]]:
    """The task: all cells of a chain."""
    tests: list[GramTested] = []

    def hear(event: Event) -> None:
        if isinstance(event, GramTested):
            tests.append(event)

    with one_blas_thread():
        rows = [done.row for done in chain.run(hear)]
    return tests, rows
