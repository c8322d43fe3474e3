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
    K: Any, alpha: Any, starts: Any, b: Any, own: Any, votes: Any, least: Any
) -> None:  # pragma: no cover (compiled)
    """Add to ``votes`` (p, Q) those of all pairs but those of the class ``own`` (p,).

    K (p, n) are kernel values with the samples of ``alpha`` (n, Q), class after class:
    those of class k stand from starts[k] to starts[k + 1]. b (Q, Q) holds the bias of
    each pair k < l, NaN where there is none. f > 0 is a vote for k, else for l. Where
    ``own`` is -1 all pairs vote. least (p,) becomes the smallest |f| of those.
    """
    Q = alpha.shape[1]
    sums = np.empty((Q, Q))
    for p in range(K.shape[0]):
        row, mark, near = K[p], votes[p], np.inf
        for k in range(Q):
            total = sums[k]
            total[:] = 0.0
            i, end = starts[k], starts[k + 1]
            while i + 4 <= end:
                for l in range(Q):
                    total[l] += (
                        row[i] * alpha[i, l]
                        + row[i + 1] * alpha[i + 1, l]
                        + row[i + 2] * alpha[i + 2, l]
                        + row[i + 3] * alpha[i + 3, l]
                    )
                i += 4
            while i < end:
                for l in range(Q):
                    total[l] += row[i] * alpha[i, l]
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
        least[p] = near
