"""All parts of a machine through the compiled kernels, several of them in one call.

A call for each part would cost more than most parts do: with 26 classes a machine has
325. Where no Gram matrix of all samples is held, the block of each pair is computed,
used and forgotten; the blocks of one class, which many pairs need, are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from msvm_select.left_out import LeftOut, Tell
from msvm_select.parts import Composed, Parts, Told, gathered
from msvm_select.records import Blocks, Floats, Mask
from msvm_select.solvers.least_norm import least_norm_of_parts
from msvm_select.solvers.two_class import paths

ROUNDING = 2e-9  # of K times alpha: so far off a decision may be (measured)
WORK = 4e7  # squared samples of the parts of one call: about a second at the most
ORDER = (paths.SUM, paths.SQUARE, paths.SLACK, paths.KKT, paths.BIAS, paths.WIDTH)
"""The facts of a part, in the order of ``FACTS``; the gap is last."""


class Call(NamedTuple):
    """A run of parts on one matrix: that of all samples, or of the only part."""

    K: Floats
    begin: int
    end: int
    whole: bool = False


def train(parts: Parts, last: Composed | None, jobs: int) -> tuple[Told, float]:
    """Every part to its optimum, from those of ``last``; f towards the first class."""
    began = time.perf_counter()
    alpha, f = np.zeros((2, parts.m, parts.Q))
    stats = np.zeros((parts.count, paths.N_STATS))
    scaled = 1.0
    if last is not None:
        alpha[:] = last.alpha
        if not (parts.ridged or last.hard_margin):
            scaled = parts.C / last.parts.C
    rows, starts, ones, columns = parts.flat

    def run(call: Call) -> None:
        paths.train_parts(
            call.K, rows, starts, ones, columns, parts.box, parts.ridge, call.whole,
            scaled, alpha, f, stats, call.begin, call.end,
        )  # fmt: skip

    _all(run, parts, jobs, lambda done, of: None)
    facts = stats[:, [*ORDER, paths.GAP]]
    steps = int(stats[:, paths.STEPS].sum())
    corners = int(stats[:, paths.CORNERS].sum())
    told = Told(alpha, f, facts, steps, corners)
    if parts.gone is None:  # else it is asked for its outputs, which all alpha share
        least_norm_of_parts(parts, told, stats[:, paths.CORNERS] > 0.0)
    return told, time.perf_counter() - began


def leave_out(machine: Composed, only: Mask | None, jobs: int, tell: Tell) -> LeftOut:
    """The decision of each part at each of its samples, without the sample."""
    parts, shape = machine.parts, (machine.parts.m, machine.parts.Q)
    margins = np.full(shape, np.nan)
    road, exchanges = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    top = np.zeros(shape, np.bool_)
    rows, starts, ones, columns = parts.flat
    only = np.ones(parts.m, np.bool_) if only is None else only

    def run(call: Call) -> None:
        paths.leave_out_parts(
            call.K, rows, starts, ones, columns, parts.box, parts.ridge, call.whole,
            machine.alpha, only, margins, road, exchanges, top, call.begin, call.end,
        )  # fmt: skip

    _all(run, parts, jobs, tell)
    largest = float(np.abs(parts.gram.diagonal).max(initial=0.0) * machine.alpha.max())
    unsure = np.full(shape, ROUNDING * largest)
    return gathered(parts.y, parts.towards(margins), road, exchanges, top, unsure)


def _all(run: Callable[[Call], None], parts: Parts, jobs: int, tell: Tell) -> None:
    """Every call, ``jobs`` of them at the same time; each part has its own places."""
    if jobs == 1:
        for call in _calls(parts, jobs):
            tell(parts.m * call.begin // parts.count, parts.m)
            run(call)
    else:
        with ThreadPoolExecutor(jobs) as pool:
            waiting = []
            for call in _calls(parts, jobs):
                waiting.append(pool.submit(run, call))
                if len(waiting) > 2 * jobs:
                    waiting.pop(0).result()
                tell(parts.m * call.begin // parts.count, parts.m)
            for one in waiting:
                one.result()
    tell(parts.m, parts.m)


def _calls(parts: Parts, jobs: int) -> Iterator[Call]:
    """Runs of parts whose work is about WORK, or a part at a time on its own block."""
    if isinstance(parts.gram, Blocks):
        yield from _blocks(parts, parts.gram, jobs == 1)
        return
    _, starts, _, _ = parts.flat
    work = np.cumsum(np.diff(starts).astype(np.float64) ** 2)
    share = min(WORK, float(work[-1]) / jobs)
    begin, done = 0, 0.0
    while begin < work.size:
        end = min(int(np.searchsorted(work, done + share)) + 1, work.size)
        yield Call(parts.gram.matrix, begin, end)
        begin, done = end, float(work[end - 1])


def _blocks(parts: Parts, gram: Blocks, alone: bool) -> Iterator[Call]:
    """The block of each part: of both its classes by themselves, and between them.

    ``alone``: a block is not used any more when the next one is asked for.
    """
    rows, starts, ones, columns = parts.flat
    own: dict[int, Floats] = {}
    room = np.empty(int(np.diff(starts).max()) ** 2 if alone else 0)
    for t in range(parts.count):
        some = rows[starts[t] : starts[t + 1]]
        n, at = some.size, int(ones[t])
        K = room[: n * n].reshape(n, n) if alone else np.empty((n, n))
        halves = (slice(0, at), int(columns[t, 1])), (slice(at, n), int(columns[t, 0]))
        for half, k in halves:  # the class of each half keeps its alpha in the other's
            if k not in own:
                own[k] = gram.of(some[half]).matrix
            K[half, half] = own[k]
        assert gram.between is not None
        assert gram.finite is not None
        between = gram.between(gram.X[some[:at]], gram.X[some[at:]])
        K[:at, at:] = gram.finite(between)
        K[at:, :at] = K[:at, at:].T
        if parts.ridged:
            K[np.diag_indices_from(K)] += parts.ridge[some]
        yield Call(K, t, t + 1, True)
