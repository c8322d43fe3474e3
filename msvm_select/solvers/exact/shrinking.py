"""Many samples: training on those that matter, where K is never held as a whole.

Most samples are no support vectors, and the machine is that of the others. A working
set holds the support vectors and what is near the margin; it is trained by itself, and
K is computed between its samples only. Then the outputs of all samples are taken, a
block of K at a time: who breaks its margin joins the set, which is trained again. When
none does, the certificate of all samples holds, as if all had been trained on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from msvm_select.records import Floats, Ints
from msvm_select.solvers.exact.workbench import Training

FIRST_SET = 1500  # samples of the first set, where no machine is there to tell
OF_A_CLASS = 20  # or so many of each class
BROKEN = 1e-10  # r of a sample outside that breaks its margin
BESIDE_SET = 0.05  # r of those that join before they do
MOST_SETS = 60
BY_DIFFERENCE = 0.25  # of the support vectors: so few moved


def shrunk(full: Training, train: Callable[[Training], Training]) -> Training:
    """``full`` at its optimum; ``train`` brings that of a working set to its own."""
    chosen = _first(full)
    for _ in range(MOST_SETS):
        part = train(Training.within(full, chosen))
        full.steps, full.solves = full.steps + part.steps, full.solves + part.solves
        _take(full, part.A, chosen)
        r = _breach(full, part.b)
        outside = full.box > 0.0
        outside[chosen] = False
        broken = np.flatnonzero(outside & (r > BROKEN))
        if broken.size == 0:
            break
        near = np.flatnonzero(outside & (r > -BESIDE_SET))
        most = max(chosen.size, FIRST_SET)
        joining = near[np.argsort(-r[near], kind="stable")[:most]]
        chosen = np.union1d(chosen, joining)
    full.certify()
    return full


def _first(full: Training) -> Ints:
    """The support vectors and who breaks its margin; without any, some of all."""
    supports = full.A.max(axis=0) > 0.0
    if not supports.any():
        return _spread(full)
    needed = supports | ((full.box > 0.0) & (_breach(full, full.b) > BROKEN))
    if full.sets:
        last = full.sets[0][0]
        if not np.delete(needed, last).any():
            return last
    return np.union1d(np.flatnonzero(needed), _spread(full))


def _spread(full: Training) -> Ints:
    """Evenly from each class, in the order of the data."""
    parts = []
    m = full.A.shape[1]
    for first, end in zip(full.bench.offsets[:-1], full.bench.offsets[1:], strict=True):
        size = int(end - first)
        some = min(size, max(OF_A_CLASS, FIRST_SET * size // m))
        parts.append(first + np.linspace(0, size - 1, some).astype(np.int64))
    chosen = np.concatenate(parts)
    return np.asarray(chosen[full.box[chosen] > 0.0])


def _take(full: Training, A: Floats, chosen: Ints) -> None:
    """The alpha of the set, those of all others 0; and F."""
    step = -full.A
    step[:, chosen] += A
    moved = step.any(axis=0)
    full.A = np.zeros_like(full.A)
    full.A[:, chosen] = A
    if moved.sum() <= BY_DIFFERENCE * (full.A.max(axis=0) > 0.0).sum():
        full.F = full.F + full.problem.outputs(step)
    else:
        full.F = full.problem.outputs(full.A)


def _breach(full: Training, b: Floats) -> Floats:
    """The largest r_ik = g_ik - (b_{y_i} - b_k) of each sample (m,)."""
    y, there = full.bench.y, np.isfinite(b)
    b = np.where(there, b, 0.0)
    r = 1.0 - full.problem.gradient_of(full.F) - (b[y] - b[:, None])
    r[~there] = -np.inf
    r[y, np.arange(y.size)] = -np.inf
    return np.asarray(r.max(axis=0))
