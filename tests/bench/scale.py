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
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from msvm_select import load_csv
from msvm_select.data.subsample import drawn
from msvm_select.footprint import Footprint
from msvm_select.phrases import roughly, sized
from msvm_select.records import Dataset, Floats
from msvm_select.settings import settings_from
from msvm_select.sweep.cells import Chain
from msvm_select.sweep.costs import Costs, Place
from msvm_select.sweep.shards import parts
from msvm_select.train.events import CellStarted, Event, Scored
from msvm_select.train.prepare import prepared
from tests.bench.grid import DATA

MEASURED = Path(__file__).parent / "scale.json"
ROWS, CLASSES, FEATURES = 10**6, 100, 16
MACHINES = (1, 16, 256)
KERNELS, CS = 5, tuple(2.0 ** (2 * k - 3) for k in range(7))  # the default grid
GAMMAS = tuple(4.0**k / FEATURES for k in range(-2, 3))
SIZES = (200, 400, 800, 1500)
REPEATED = 3  # of which the least counts
LETTERS = ((0, 1), (6, 16), (7, 17), (8, 9))  # pairs, some of them hard
BANDWIDTH = 125e6  # bytes a second: a network of 1 Gbit/s, one sender
LATENCY = 0.05  # seconds that a task costs beside its work
A_BLOCK = 50  # pairs of one task
DAY = 86400.0


def run(measure: bool = False) -> None:
    """The constants, then a table of the time on so many machines."""
    if measure:
        MEASURED.write_text(json.dumps(measured()) + "\n")
    print("\n".join(report()))


def report() -> list[str]:
    """All lines, from what was measured once."""
    told = json.loads(MEASURED.read_text())
    seconds, _ = of_a_pair(told["cells"], 2 * ROWS // CLASSES)
    lines = table(seconds, told["judging"])
    return [*constants(told["cells"]), *lines, *approximated(told)]


def products() -> float:
    """Multiplications a second of one core, in a product of matrices."""
    A = np.ones((2000, 500))
    _, took = A @ A.T, []
    for _ in range(3):
        began = time.process_time()
        A @ A.T
        took.append(time.process_time() - began)
    return float(f"{2000 * 2000 * 500 / min(took):.2g}")


def measured() -> dict[str, Any]:
    """Cells: kernel, C, rows, seconds of processor time, the mean of some pairs.

    And what part of these judging took, at the largest size.
    """
    data = load_csv(DATA / "letter.csv")
    seconds_of(data.rows(np.flatnonzero(data.y < 2)[:100]))  # what is loaded first
    found, judging = [], 0.0
    for size in SIZES:
        sums, shares = np.zeros((KERNELS, len(CS))), []
        for pair in LETTERS:
            two = data.rows(np.flatnonzero(np.isin(data.y, pair)))
            some = two.rows(drawn(np.searchsorted(pair, two.y), 2, size))
            runs = [seconds_of(some) for _ in range(REPEATED)]
            sums += np.min([seconds for seconds, _ in runs], axis=0)
            shares += [share for _, share in runs]
        for (i, j), value in np.ndenumerate(sums / len(LETTERS)):
            found.append([i, CS[j], size, float(f"{value:.3g}")])
        judging = float(f"{np.mean(shares):.2f}")
    return {"cells": found, "judging": judging, "products": products()}


def seconds_of(data: Dataset) -> tuple[Floats, float]:
    """(kernels, C) of one pair, with leave-one-out; and the part that judging took."""
    settings = settings_from({"machine": "ovo", "C": CS, "gamma": GAMMAS})
    ready = prepared(data, settings)
    took, began, judged = np.zeros((KERNELS, len(CS))), 0.0, 0.0

    def hear(event: Event) -> None:
        nonlocal began, judged
        if isinstance(event, CellStarted):
            began = time.process_time()
        if isinstance(event, Scored):
            judged += event.seconds

    clock = time.perf_counter()
    for i, kernel in enumerate(ready.kernels):
        for j, _ in enumerate(Chain(ready, kernel).run(hear)):
            took[i, j] = time.process_time() - began
    return took, judged / (time.perf_counter() - clock)


def of_a_pair(told: Sequence[Sequence[float]], rows: int) -> tuple[Floats, float]:
    """(kernels, C): seconds of a pair of so many rows, and the doubt of their sum."""
    costs = Costs(KERNELS, CS)
    for kernel, C, samples, took in told:
        costs.tell(Place(int(kernel), C), int(samples), took)
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


def table(seconds: Floats, judging: float) -> Iterator[str]:
    """A line for each way to cut the work."""
    heads = [f"{n} machine{'s' * (n > 1)}" for n in MACHINES]
    yield ""
    yield f"| {ROWS:,} rows x {CLASSES} classes, ovo | tasks | {' | '.join(heads)} |"
    yield "|---|---|" + "---|" * len(MACHINES)
    for name, of in WAYS.items():
        spans = []
        for machines in MACHINES:
            tasks = of(seconds, machines, judging)
            spans.append(days(makespan(tasks, machines)))
        count = sum(task > 0.0 for task in tasks)
        yield f"| {name} | {count} | {' | '.join(spans)} |"
    sending = MACHINES[-1] * 8 * ROWS * FEATURES / BANDWIDTH
    yield ""
    yield (
        f"Sending the data to {MACHINES[-1]} machines through one link: "
        f"{roughly(sending)}"
    )


def by_kernel(seconds: Floats, machines: int, judging: float) -> list[float]:
    """A kernel setting is a task: ``--cluster`` and executors."""
    return list(PAIRS * seconds.sum(axis=1))


def by_shard(seconds: Floats, machines: int, judging: float) -> list[float]:
    """``--shard I/N``: parts of C too, which train what is below them."""
    found = []
    for part in parts(KERNELS, len(CS), machines):
        own = 0.0
        for i, places in part.items():
            below = (1.0 - judging) * seconds[i, : places.start].sum()
            own += below + seconds[i, places].sum()
        found.append(PAIRS * own)
    return found


def by_block(seconds: Floats, machines: int, judging: float) -> list[float]:
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
    """Minutes up to two hours, hours up to two days, then days."""
    if seconds < 7200.0:
        return f"{seconds / 60.0:.0f} min"
    if seconds < 2.0 * DAY:
        return f"{seconds / 3600.0:.1f} h"
    return f"{seconds / DAY:.1f} days"
