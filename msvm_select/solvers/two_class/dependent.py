"""Parts in which more than one alpha may be optimal.

Only variables with e_i = 0 can move, and only where the Phi(x_i) of these, with a
constant feature beside them, are dependent: then K + shift 1 1' of them is singular.
"""

from __future__ import annotations

import numpy as np

from msvm_select.solvers.compiled import kernel


@kernel
def dependent(K, rows, starts, shift, least, found):
    """found[t]: whether K + shift has a pivot below ``least`` among the rows of t.

    They are rows[starts[t] : starts[t + 1]].
    """
    for t in range(found.size):
        first, n = starts[t], starts[t + 1] - starts[t]
        L = np.empty((n, n))
        for a in range(n):
            source = K[rows[first + a]]
            for b in range(a + 1):
                s = source[rows[first + b]] + shift
                for c in range(b):
                    s -= L[a, c] * L[b, c]
                L[a, b] = s / L[b, b] if b < a else s
            if L[a, a] <= least:
                found[t] = True
                break
            L[a, a] = np.sqrt(L[a, a])
