"""A sweep on processes of this machine against the same without them."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import psutil

from msvm_select import load_csv
from msvm_select.columns import Row
from msvm_select.settings import settings_from
from msvm_select.sweep.cluster.client import Cluster
from msvm_select.sweep.cluster.work import Work
from msvm_select.sweep.loop import iterate
from msvm_select.train.events import CellDone, Event, GramTested
from tests.bench.grid import CS, DATA, GAMMAS

GRID = {"C": CS, "gamma": GAMMAS}
Taken = tuple[float, list[float]]
"""Seconds, and the work of each process"""


def run(name: str, reps: int) -> None:
    """Seconds, and seconds of work, which others on the machine change less.

    The three ways take turns, each with its cluster up. Work is that of all processes
    of ours, or of the busiest.
    """
    data = load_csv(DATA / f"{name}.csv")
    one, two = (settings_from({**GRID, "cluster": f"local:{n}"}) for n in (1, 2))
    alone = settings_from(GRID)
    rows = untimed(list(iterate(data, alone)))
    taken: list[list[Taken]] = [[], [], []]
    for _ in range(reps):
        taken[0].append(_taken(partial(iterate, data, alone), rows, []))
        for way, settings in ((1, one), (2, two)):
            with Cluster.of(settings) as cluster:
                sweep = partial(iterate, data, elsewhere=cluster.done)
                list(sweep(replace(settings, C=CS[3:4])))  # loaded
                workers = _workers(cluster)
                taken[way].append(_taken(partial(sweep, settings), rows, workers))
    _tell(name, len(rows), taken)
    with Cluster.of(two) as cluster:
        work = partial(iterate, data, two, elsewhere=cluster.done)
        _kill(work, rows, _workers(cluster)[0])


def untimed(rows: list[Row]) -> set[object]:
    """Rows without their time."""
    return {tuple({**row.values(), "seconds": None}.items()) for row in rows}


def _workers(cluster: Cluster) -> list[psutil.Process]:
    return [psutil.Process(nanny.pid) for nanny in cluster.local.workers.values()]


def _taken(work: Any, rows: set[object], workers: list[psutil.Process]) -> Taken:
    """Seconds, and the work of this process and of each worker."""
    processes = [psutil.Process(), *workers]
    used = [sum(one.cpu_times()[:2]) for one in processes]
    began = time.perf_counter()
    found = list(work())
    took = time.perf_counter() - began
    now = [sum(one.cpu_times()[:2]) for one in processes]
    assert untimed(found) == rows
    return took, [b - a for a, b in zip(used, now, strict=True)]


def _tell(name: str, cells: int, taken: list[list[Taken]]) -> None:
    wall = [min(took for took, _ in way) for way in taken]
    summed = [min(sum(work) for _, work in way) for way in taken]
    busiest = [min(max(work) for _, work in way) for way in taken]
    print(f"{name}, {cells} cells: {wall[0]:.2f} s, work {summed[0]:.2f} s")
    print(
        f"local:1 / without: {wall[1] / wall[0]:.2f} ({wall[1]:.2f} s); work "
        f"{summed[1] / summed[0]:.2f}"
    )
    print(
        f"local:1 / local:2: {wall[1] / wall[2]:.2f} ({wall[2]:.2f} s); work of the "
        f"busiest process {busiest[1] / busiest[2]:.2f}"
    )


def _kill(work: Any, rows: set[object], victim: psutil.Process) -> None:
    """One of two workers is killed when some cells are done."""
    times, cells = Counter[int](), list[CellDone]()
    hear = Work._heard

    def counted(self: Work, number: int, event: Event) -> Iterator[CellDone]:
        times[number] += isinstance(event, GramTested)
        for done in hear(self, number, event):
            cells.append(done)
            if len(cells) == 5:
                victim.kill()
            yield done

    Work._heard = counted  # type: ignore[method-assign]
    try:
        assert untimed(list(work())) == rows
    finally:
        Work._heard = hear  # type: ignore[method-assign]
    again = sum(times.values()) - len(times)
    print(f"a worker killed after 5 cells: the same rows; chains begun again: {again}")
