"""The columns of S that some left-out sample shifts, each made once and kept.

S (``tableau``) is too large to be made whole, and few of its columns are ever used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from msvm_select.solvers.leave_out.tableau import Tableau

MOST_STORED = 4e7  # numbers in the columns that are kept
LIKELY = 0.4  # r of variables whose columns are made before they are asked for

Ints = NDArray[np.int64]


class Columns:
    """The columns of S made so far: ``store[at[v]]`` is that of variable v."""

    def __init__(self, tableau: Tableau) -> None:
        """None yet."""
        self.tableau = tableau
        s = tableau.alpha_N.size
        self.store, self.filled = np.empty((0, s)), 0
        self.at = np.full(s, -1)
        self.needed = np.zeros(s, np.bool_)
        self.most = int(MOST_STORED // max(1, s))
        self.fresh = True

    def need_shifts_of(self, samples: Ints) -> None:
        """The variables that leaving these samples out will shift."""
        t = self.tableau
        if self.fresh:  # these are asked for by many
            near = np.argsort(np.abs(t.r_N))[: self.most // 4]
            self.needed[near[np.abs(t.r_N[near]) < LIKELY]] = True
            self.fresh = False
        self.needed |= (t.alpha_N > 0.0) & np.isin(t.rows_N, samples)
        self.make_needed()

    def make_needed(self) -> None:
        """Make what was found missing."""
        wanted = np.flatnonzero(self.needed & (self.at < 0))
        if wanted.size:
            first, self.filled = self.filled, self.filled + wanted.size
            self.at[wanted] = np.arange(first, self.filled)
            self._make_room()
            self.store[first : self.filled] = self.tableau.columns(wanted)
        self.needed[:] = False

    def _make_room(self) -> None:
        """Twice as much where it runs out; the system gives it as it is filled."""
        if self.filled > self.store.shape[0]:
            grown = np.empty((2 * self.filled, self.store.shape[1]))
            grown[: self.store.shape[0]] = self.store
            self.store = grown

    def forget(self) -> None:
        """Let go of all where they have grown too many."""
        if self.filled > self.most:
            self.filled, self.at[:] = 0, -1
