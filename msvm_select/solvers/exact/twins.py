"""Samples at one place: those of one class are trained as one, with all their boxes.

Only the sum of their alpha changes the machine, and that may be anything up to the sum
of their boxes. So the optimum of the merged problem is one of the problem itself, with

    alpha_i = alpha box_i / (sum of the boxes)

for each. Unmerged, K[S_k, S_k] would be singular, and no factor by class sharp.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from msvm_select.records import Blocks, Dual, Floats, Gram, Ints
from msvm_select.solution import Solution

ROUNDED = 1e-13  # of the largest number in K: rows that differ by less are the same
FULL = 1.0 - 1e-13  # of a box: the rest is rounding
NEARLY = 1e-9  # of the largest K r, r random: rows that differ by more are not

_first_of: WeakKeyDictionary[Gram, Ints] = WeakKeyDictionary()
_twins_of: WeakKeyDictionary[Gram, tuple[Ints, Twins | None]] = WeakKeyDictionary()


def first_at_place(gram: Gram) -> Ints:
    """For each sample the first one at its place: asked once for all C.

    (Of those whose K r, for a random r, is next to its own.)
    """
    if isinstance(gram, Blocks):
        return np.arange(gram.m)
    if gram not in _first_of:
        r = np.random.default_rng(0).standard_normal((gram.m, 1))
        seen = gram.product(r)[:, 0]
        order = np.argsort(seen, kind="stable")
        close = np.diff(seen[order]) <= NEARLY * np.abs(seen).max(initial=0.0)
        K, Z = gram.arrays
        rows = K if K.size else Z
        size = ROUNDED * np.abs(rows).max() if close.any() else 0.0
        first = np.arange(gram.m)
        for a, b in zip(order[:-1][close], order[1:][close], strict=True):
            if np.abs(rows[a] - rows[b]).max() <= size:
                first[b] = first[a]
        least = np.full(gram.m, gram.m)
        np.minimum.at(least, first, np.arange(gram.m))
        _first_of[gram] = least[first]
    return _first_of[gram]


def tau_of(alpha: Floats, y: Ints) -> Floats:
    """tau (m, Q) of alpha (m, Q)."""
    tau = -alpha
    tau[np.arange(y.size), y] = alpha.sum(axis=1)
    return tau


@dataclass(frozen=True, eq=False)
class Twins:
    """Which samples are one (``kind``, from 0), the first of each, and their Gram."""

    kind: Ints
    firsts: Ints
    gram: Gram

    @classmethod
    def of(cls, dual: Dual) -> Twins | None:
        """None where nobody has a twin, or each has a ridge of its own."""
        if dual.quadratic is not None:
            return None
        y, found = _twins_of.get(dual.gram, (None, None))
        if y is None or not np.array_equal(y, dual.y):
            kinds = dual.y * dual.m + first_at_place(dual.gram)  # sorted by class
            _, firsts, kind = np.unique(kinds, return_index=True, return_inverse=True)
            found = None
            if firsts.size < dual.m:
                found = cls(kind, firsts, dual.gram.part(firsts))
            _twins_of[dual.gram] = dual.y, found
        return found

    def merged(self, dual: Dual) -> Dual:
        """The problem with one sample of each kind."""
        weights = self._sums(dual.box[:, None])[:, 0] / dual.C
        return replace(dual, gram=self.gram, y=dual.y[self.firsts], weights=weights)

    def together(self, found: Solution) -> Solution:
        """A machine of all samples as one of the merged problem."""
        dual = self.merged(found.dual)
        alpha = self._sums(found.alpha)
        alpha = np.where(alpha >= FULL * dual.box[:, None], dual.box[:, None], alpha)
        tau = tau_of(alpha, dual.y)
        return replace(found, dual=dual, tau=tau, F=found.F[self.firsts])

    @property
    def count(self) -> Floats:
        """How many there are of each kind."""
        return np.bincount(self.kind).astype(float)

    def are_equal(self, box: Floats) -> bool:
        """Whether all of a kind have the same box."""
        return bool((box[self.firsts][self.kind] == box).all())

    def apart(self, dual: Dual, found: Solution) -> Solution:
        """The optimum of the problem itself, by that of the merged one."""
        whole, box = found.dual.box[self.kind][:, None], dual.box[:, None]
        alpha = found.alpha[self.kind]  # none may come beside its bound
        alpha = np.where(alpha >= whole, box, alpha * (box / whole))
        tau = tau_of(alpha, dual.y)
        return replace(found, dual=dual, tau=tau, F=dual.gram.product(tau))

    def _sums(self, values: Floats) -> Floats:
        """Of each kind (kinds, columns)."""
        found = np.zeros((self.firsts.size, values.shape[1]))
        np.add.at(found, self.kind, values)
        return found
