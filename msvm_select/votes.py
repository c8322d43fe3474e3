"""Votes of many pairs of classes, counted without a table of their decisions.

With 300 classes there are 44,850 pairs, and a table of what each decides for 900
samples takes 320 MB. Sample by sample one table (Q, Q) is enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

TILE = 16  # of the table, whose columns are far from each other


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def count_votes(
    K: Any, rows: Any, held: Any, alpha: Any, starts: Any, b: Any, own: Any,
    votes: Any, least: Any, towards: Any,
) -> None:  # fmt: skip # pragma: no cover (compiled)
    """Add to ``votes`` (p, Q) those of all pairs but those of the class ``own`` (p,).

    K[rows, held] (p, n) are kernel values with the samples of ``alpha`` (n, Q), class
    after class: those of class k stand from starts[k] to starts[k + 1]. b (Q, Q) holds
    the bias of each pair k < l, NaN where there is none. f > 0 is a vote for k, else
    for l. Where ``own`` is -1 all pairs vote. least (p,) becomes the smallest |f| of
    those; to ``towards``, unless it is empty, is added what f adds up to (p, Q).
    """
    Q = alpha.shape[1]
    sums = np.empty((Q, Q))
    for p in range(rows.size):
        row, mark, near = K[rows[p]], votes[p], np.inf
        for k in range(Q):
            total = sums[k]
            total[:] = 0.0
            i, end = starts[k], starts[k + 1]
            while i + 4 <= end:
                a, c = row[held[i]], row[held[i + 1]]
                d, e = row[held[i + 2]], row[held[i + 3]]
                for l in range(Q):
                    total[l] += (
                        a * alpha[i, l]
                        + c * alpha[i + 1, l]
                        + d * alpha[i + 2, l]
                        + e * alpha[i + 3, l]
                    )
                i += 4
            while i < end:
                for l in range(Q):
                    total[l] += row[held[i]] * alpha[i, l]
                i += 1
        if own[p] >= 0:
            sums[own[p]] = np.nan
            sums[:, own[p]] = np.nan
        for first in range(0, Q, TILE):
            for second in range(first, Q, TILE):
                for k in range(first, min(first + TILE, Q)):
                    won = 0.0
                    for l in range(max(k + 1, second), min(second + TILE, Q)):
                        f = sums[k, l] - sums[l, k] + b[k, l]
                        near = min(near, abs(f)) if f == f else near
                        won += 1.0 if f > 0.0 else 0.0  # without a branch: both fast
                        mark[l] += 1.0 if f <= 0.0 else 0.0
                    mark[k] += won
                if towards.size:
                    for k in range(first, min(first + TILE, Q)):
                        for l in range(max(k + 1, second), min(second + TILE, Q)):
                            f = sums[k, l] - sums[l, k] + b[k, l]
                            f = f if f == f else 0.0
                            towards[p, k] += f
                            towards[p, l] -= f
        least[p] = near


@njit(cache=True, nogil=True, error_model="numpy")
def grade(
    y: Any, decisions: Any, there: Any, votes: Any, towards: Any, graded: Any
) -> None:  # pragma: no cover (compiled)
    """Add to the votes of others (m, Q) those of the pairs of y, and grade them.

    ``decisions`` (m, Q) of these pairs count towards y; one that is no number is no
    vote. A sample of whose pairs none has one is of no class that is there. ``there``
    (Q,): which classes have samples. ``graded`` becomes that of ``graded_votes``.
    """
    m, Q = decisions.shape
    for i in range(m):
        own, mark, sums = y[i], votes[i], towards[i]
        won, whole, some = 0.0, 0.0, False
        for k in range(Q):
            f = decisions[i, k]
            if k == own or not there[k] or not np.isfinite(f):
                continue
            some = True
            whole += f
            sums[k] -= f
            if f > 0.0 or (f == 0.0 and own > k):  # 0 is for the second of the pair
                won += 1.0
            else:
                mark[k] += 1.0
        mark[own], sums[own] = won if some else -np.inf, whole
        first, best = 0, -np.inf
        for k in range(1, Q):
            first = k if mark[k] > mark[first] else first
        for k in range(Q):
            graded[i, k] = mark[k] + sums[k] / (3.0 * (abs(sums[k]) + 1.0))
            if mark[k] == mark[first]:
                best = max(best, graded[i, k])
        graded[i, first] = best
        for k in range(Q):
            graded[i, k] = graded[i, k] if there[k] else -np.inf
