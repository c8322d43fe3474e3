"""The variables alpha_ik of the dual as arcs y_i -> k between the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from msvm_select.records import Floats, Gram, Ints, Mask


@dataclass(frozen=True, eq=False)
class Arcs:
    """Some variables (i, k): alpha_ik flows from ``tails``, which is y_i, to k."""

    rows: Ints
    tails: Ints
    heads: Ints

    @classmethod
    def where(cls, chosen: Mask, y: Ints) -> Arcs:
        """Those that are chosen (m, Q), row by row."""
        rows, heads = np.nonzero(chosen)
        return cls(rows, y[rows], heads)

    def __getitem__(self, chosen: Any) -> Arcs:
        """Some of the arcs."""
        return Arcs(self.rows[chosen], self.tails[chosen], self.heads[chosen])

    @property
    def size(self) -> int:
        """How many."""
        return int(self.rows.size)

    def incidence(self, Q: int) -> Floats:
        """A (arcs, Q), the rows e_{y_i} - e_k."""
        eye = np.eye(Q)
        return np.asarray(eye[self.tails] - eye[self.heads])

    def hessian(self, gram: Gram, Q: int, other: Arcs | None = None) -> Floats:
        """H_(ik),(jl) = K_ij <e_{y_i} - e_k, e_{y_j} - e_l>, with these or others."""
        A = self.incidence(Q)
        B = A if other is None else other.incidence(Q)
        between = gram.block(self.rows, (other or self).rows)
        return np.asarray(between * (A @ B.T))
