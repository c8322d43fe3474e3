"""What a sweep takes on many machines, on paper: `python -m tests.bench scale`.

Cells of pairs of letter are measured (``--measure``, some minutes; the figures stand in
``scale.json``) and told to the cost model of ``sweep/costs.py``, which says what a pair
of more rows takes. A scheduler then deals the tasks out: each goes to the first machine
that is free, once the data are there. Nothing here is a measurement of a cluster.
"""

from __future__ import annotations

import heapq
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from msvm_select import load_csv
from msvm_select.data.subsample import drawn
from msvm_select.footprint import Footprint
from msvm_select.phrases import roughly, sized
from msvm_select.settings import settings_from
from msvm_select.sweep.cells import Chain
from msvm_select.sweep.costs import Costs, Place
from msvm_select.sweep.shards import parts
from msvm_select.train.events import CellStarted, Event
from msvm_select.train.prepare import prepared
from tests.bench.grid import DATA

MEASURED = Path(__file__).parent / "scale.json"
ROWS, CLASSES, FEATURES = 10**6, 100, 16
MACHINES = (1, 16, 256)
KERNELS, CS = 5, tuple(2.0 ** (2 * k - 3) for k in range(7))  # the default grid
GAMMAS = tuple(4.0**k / FEATURES for k in range(-2, 3))
SIZES = (200, 400, 800, 1500)
LETTERS = ((0, 1), (6, 16), (7, 17), (8, 9))  # pairs, some of them hard
BANDWIDTH = 125e6  # bytes a second: a network of 1 Gbit/s, one sender
LATENCY = 0.05  # seconds that a task costs beside its work
JUDGING = 0.7  # of a cell: judging, which a shard below its part of C leaves out
A_BLOCK = 50  # pairs of one task
DAY = 86400.0


@dataclass(frozen=True)
class Way:
    """How the work is cut: tasks as their seconds, in the order they are given out."""

    name: str
    tasks: tuple[float, ...]


def run(measure: bool = False) -> None:
    """The constants, then a table of the time on so many machines."""
    if measure:
        told = {"cells": measured(), "products": products()}
        MEASURED.write_text(json.dumps(told, indent=0) + "\n")
    print("\n".join(report()))


def report() -> list[str]:
    """All lines, from what was measured once."""
    told = json.loads(MEASURED.read_text())
    seconds, _ = of_a_pair(told["cells"], 2 * ROWS // CLASSES)
    return [*constants(told["cells"]), *table(seconds), *approximated(told)]


def products() -> float:
    """Multiplications a second of one core, in a product of matrices."""
    A = np.ones((2000, 500))
    _, took = A @ A.T, []
    for _ in range(3):
        began = time.process_time()
        A @ A.T
        took.append(time.process_time() - began)
    return float(f"{2000 * 2000 * 500 / min(took):.2g}")


def measured() -> list[list[float]]:
    """Kernel, C, rows and seconds of processor time of cells: the mean of the pairs."""
    data = load_csv(DATA / "letter.csv")
    seconds_of(data.rows(np.flatnonzero(data.y < 2)[:100]))  # what is loaded first
    found = []
    for size in SIZES:
        sums = np.zeros((KERNELS, len(CS)))
        for pair in LETTERS:
            two = data.rows(np.flatnonzero(np.isin(data.y, pair)))
            some = drawn(np.searchsorted(pair, two.y), 2, size)
            sums += seconds_of(two.rows(some))
        for (i, j), value in np.ndenumerate(sums / len(LETTERS)):
            found.append([i, CS[j], size, float(f"{value:.3g}")])
    return found


def seconds_of(data: object) -> np.ndarray:
    """(kernels, C): of one pair, training and leaving each sample out."""
    settings = settings_from({"machine": "ovo", "C": CS, "gamma": GAMMAS})
    ready = prepared(data, settings)  # type: ignore[arg-type]
    took, began = np.zeros((KERNELS, len(CS))), [0.0]

    def hear(event: Event) -> None:
        if isinstance(event, CellStarted):
            began[0] = time.process_time()

    for i, kernel in enumerate(ready.kernels):
        for j, _ in enumerate(Chain(ready, kernel).run(hear)):
            took[i, j] = time.process_time() - began[0]
    return took


def of_a_pair(told: Sequence[Sequence[float]], rows: int) -> tuple[np.ndarray, float]:
    """(kernels, C): seconds of a pair of so many rows, and the doubt of their sum."""
    costs = Costs(KERNELS, CS)
    for kernel, C, samples, seconds in told:
        costs.tell(Place(int(kernel), C), int(samples), seconds)
    places = [Place(i, C) for i in range(KERNELS) for C in CS]
    seconds, doubt = costs.seconds(places, rows)
    return seconds.reshape(KERNELS, len(CS)), doubt


def constants(told: Sequence[Sequence[float]]) -> Iterator[str]:
    """What the table is made of, and how well the cost model foretells the known."""
    rows = 2 * ROWS // CLASSES
    sums = {m: sum(s for *_, n, s in told if n == m) for m in SIZES}
    yield "Seconds of the 35 cells of a pair of letters, with leave-one-out, measured:"
    yield "  " + ", ".join(f"{m} rows {s:.3g}" for m, s in sums.items())
    before, last = SIZES[-2:]
    least, _ = of_a_pair([one for one in told if one[2] < last], last)
    yield f"  told of the others, the cost model says {least.sum():.3g} for {last} rows"
    seconds, doubt = of_a_pair(told, rows)
    whole, wide = roughly(float(seconds.sum())), math.exp(doubt)
    yield f"A pair of {rows:,} rows takes {whole} by the model (factor {wide:.1f}),"
    power = math.log(sums[last] / sums[before]) / math.log(last / before)
    steep = sums[last] * (rows / last) ** power
    yield (
        f"  {roughly(steep)} if the power of the last two sizes, {power:.2f}, went on. "
        f"Pairs: {PAIRS:,}"
    )
    pair = Footprint(rows, 2, "ovo", pair=rows)
    yield (
        f"Memory of a pair: {sized(pair.gram_bytes)} for K, {sized(pair.certain_bytes)}"
        f" in all; the data: {sized(8 * ROWS * FEATURES)}"
    )


def approximated(told: dict[str, Any]) -> Iterator[str]:
    """What a subsample and a kernel of low rank change."""
    yield ""
    for rows in (ROWS // 10, ROWS // 100):
        seconds, _ = of_a_pair(told["cells"], 2 * rows // CLASSES)
        yield f"--subsample {rows}: {days(PAIRS * float(seconds.sum()))} on one machine"
    rows, rank = 2 * ROWS // CLASSES, 500
    block = rows**2 * rank / told["products"]
    yield (
        f"--rank {rank}: Z has {sized(8 * ROWS * rank)} and is made on each machine; "
        f"K of a pair takes {roughly(KERNELS * block)} more"
    )


def table(seconds: np.ndarray) -> Iterator[str]:
    """A line for each way to cut the work."""
    heads = [f"{n} machine{'s' * (n > 1)}" for n in MACHINES]
    yield ""
    yield f"| {ROWS:,} rows x {CLASSES} classes, ovo | tasks | {' | '.join(heads)} |"
    yield "|---|---|" + "---|" * len(MACHINES)
    for name, of in WAYS.items():
        spans = []
        for machines in MACHINES:
            tasks = of(seconds, machines)
            spans.append(days(makespan(tasks, machines)))
        count = sum(task > 0.0 for task in tasks)
        yield f"| {name} | {count} | {' | '.join(spans)} |"
    sending = MACHINES[-1] * 8 * ROWS * FEATURES / BANDWIDTH
    yield ""
    yield (
        f"Sending the data to {MACHINES[-1]} machines through one link: "
        f"{roughly(sending)}"
    )


def by_kernel(seconds: np.ndarray, machines: int) -> list[float]:
    """A kernel setting is a task: ``--cluster`` and executors."""
    return list(PAIRS * seconds.sum(axis=1))


def by_shard(seconds: np.ndarray, machines: int) -> list[float]:
    """``--shard I/N``: parts of C too, which train what is below them."""
    found = []
    for part in parts(KERNELS, len(CS), machines):
        own = 0.0
        for i, places in part.items():
            below = (1.0 - JUDGING) * seconds[i, : places.start].sum()
            own += below + seconds[i, places].sum()
        found.append(PAIRS * own)
    return found


def by_block(seconds: np.ndarray, machines: int) -> list[float]:
    """A kernel setting and some of the pairs are a task, the dearest first."""
    blocks = math.ceil(PAIRS / A_BLOCK)
    return sorted(
        (A_BLOCK * own for own in seconds.sum(axis=1) for _ in range(blocks)),
        reverse=True,
    )


PAIRS = sum(1 for _ in combinations(range(CLASSES), 2))
WAYS = {
    "kernel settings (`--cluster`)": by_kernel,
    "cells (`--shard I/N`)": by_shard,
    f"kernel settings x {A_BLOCK} pairs (not built)": by_block,
}


def makespan(tasks: Sequence[float], machines: int) -> float:
    """When the last task ends: each goes to the first machine that is free.

    A machine begins when the data are there, which come one machine after another.
    """
    sending = 8 * ROWS * FEATURES / BANDWIDTH if machines > 1 else 0.0
    free = [sending * (k + 1) for k in range(min(machines, len(tasks)))]
    heapq.heapify(free)
    last = 0.0
    for seconds in tasks:
        end = heapq.heappop(free) + LATENCY + seconds
        heapq.heappush(free, end)
        last = max(last, end)
    return last


def days(seconds: float) -> str:
    """Hours up to two days, then days."""
    if seconds < 2.0 * DAY:
        return f"{seconds / 3600.0:.1f} h"
    return f"{seconds / DAY:.1f} days"
