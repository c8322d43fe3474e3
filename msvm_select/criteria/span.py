"""The span estimate: the left-out margins predicted, and not checked.

Let M be the free variables (0 < alpha < C), KKT = [H_MM A; A' 0] with A's rows e_{y_i}
- e_k, and G the upper left block of its inverse. Were the others free to move and none
of them to meet a bound, taking alpha_P, the free variables of a sample p, to 0 would
leave p with the margins

    m_P = 1 - (G_PP)^-1 alpha_P.

The variables B of p that are held at C are taken to 0 by a shift d = -alpha_B: with X =
KKT^-1 [H_MB; A_B'] and S = H_BB - [H_MB; A_B']' X it is

    f = -(G_PP)^-1 (alpha_P - X_P d),   m_P = 1 + f,   m_B = 1 - r_B + X_P' f + S d,

where r = g - (b_{y_p} - b_k). Exact leave-one-out begins with the same prediction and
then repairs it; here it is taken as it is. One factorization serves all samples. Of a
machine of parts each part is predicted (see ``geometry.spans``), and the whole decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from msvm_select import lapack
from msvm_select.criteria.base import Cell, Criterion, Score
from msvm_select.geometry.arcs import Arcs
from msvm_select.geometry.spans import predict_parts
from msvm_select.left_out import LeftOut
from msvm_select.parts import Composed, Parts, gathered
from msvm_select.records import Blocks, Floats, Ints, Mask
from msvm_select.solution import Solution

SPAN_RIDGE = 1e-9  # of H_MM: more free variables than dimensions make it singular
RIGID = 1e-6  # G_PP below this part of 1 / max H_ii: nothing can take the place of p
MOST_FREE = 6000  # the largest factor
LOST = -1e300  # of a decision of -inf, which is no number to subtract from
CHUNK = 256  # samples whose columns X are held at a time


class Span(Criterion):
    """The share of samples whose predicted left-out margin is not positive."""

    name = "span"
    column = "span_rate"
    kind = "estimate"
    applies = "exact if no variable changes sides"
    cost = "one factorization"

    def score(self, cell: Cell, carry: Any = None) -> Score:
        """The share; nothing where the free variables cannot be factored."""
        wrong = predicted_wrong(cell.solution)
        return Score({self.column: None if wrong is None else cell.data.share(wrong)})

    def carried(self, cells: Sequence[Cell], carry: Any = None) -> Any:
        """Nothing is kept."""


def predicted_wrong(machine: Solution | Composed) -> Mask | None:
    """Which samples (m,) are predicted to be wrong; None where nothing is predicted."""
    if isinstance(machine, Composed):
        found = predicted_left_out(machine)
        return None if found is None else found.wrong
    margins = predicted_margins(machine)
    return None if margins is None else ~(margins.min(axis=1) > 0.0)


def predicted_errors(machine: Solution | Composed) -> int | None:
    """How many these are."""
    wrong = predicted_wrong(machine)
    return None if wrong is None else int(np.count_nonzero(wrong))


def predicted_left_out(machine: Composed) -> LeftOut | None:
    """The span estimate of every part, and what the whole decides by it.

    None where some part has none.
    """
    parts, shape = machine.parts, (machine.parts.m, machine.parts.Q)
    rows, columns, positive = parts.places
    alpha, box = machine.alpha[rows, columns], parts.box[rows]
    begins = parts.flat[1][:-1]
    if (np.add.reduceat((alpha > 0.0) & (alpha < box), begins) > MOST_FREE).any():
        return None
    sign = np.where(positive, 1.0, -1.0)
    own = sign * parts.towards(machine.found.f)[rows, columns]
    if not _predicted(parts, alpha, box, own):
        return None
    size = np.add.reduceat(positive, begins), np.add.reduceat(~positive, begins)
    alone = np.where(positive, *(np.repeat(n, np.diff(parts.flat[1])) for n in size))
    own[alone == 1] = -np.inf
    table: Floats = np.full(shape, np.nan)
    table[rows, columns] = sign * np.maximum(own, LOST)
    none = np.zeros(shape, np.int64)
    found = gathered(
        parts.y, parts.towards(table), none, none, none > 0, np.zeros(shape)
    )
    return parts.judged(found, machine, {})


def _predicted(parts: Parts, alpha: Floats, box: Floats, own: Floats) -> bool:
    """``own``, the outputs of training, become those without; whether they could."""
    rows, starts = parts.flat[:2]
    if not isinstance(parts.gram, Blocks):
        K, ridge = parts.gram.matrix, parts.ridge[rows]
        return predict_parts(K, rows, starts, alpha, box, ridge, own, SPAN_RIDGE, RIGID)
    for t in range(parts.count):  # a block is there, and is forgotten
        some = slice(starts[t], starts[t + 1])
        K, n = parts.dual(t).gram.matrix, starts[t + 1] - starts[t]
        here, ends, ridge = np.arange(n), np.array([0, n]), np.zeros(n)
        if not predict_parts(
            K, here, ends, alpha[some], box[some], ridge, own[some], SPAN_RIDGE, RIGID
        ):
            return False
    return True


def predicted_margins(solution: Solution) -> Floats | None:
    """h_{y_p} - h_k (m, Q) as the machines without p are predicted to have them.

    inf at k = y_p; -inf for the only sample of a class, and where no free variable can
    take the place of p's. None beyond MOST_FREE, and where an indefinite Gram matrix
    has no factor.
    """
    dual, alpha = solution.dual, solution.alpha
    m, y = dual.m, dual.y
    free = (alpha > 0.0) & (alpha < dual.box[:, None])
    if int(free.sum()) > MOST_FREE:
        return None
    h = solution.outputs
    margins = h[np.arange(m), y][:, None] - h
    asked = np.flatnonzero(solution.is_support_vector)
    face = _Face.of(solution, free)
    if face is None:
        return None
    for first in range(0, asked.size, CHUNK):
        chunk = asked[first : first + CHUNK]
        columns = face.columns(chunk)
        for p in chunk:
            margins[p] = face.margins(int(p), columns)
    margins[np.bincount(y, minlength=dual.Q)[y] == 1] = -np.inf
    margins[np.arange(m), y] = np.inf
    return np.asarray(margins)


@dataclass(frozen=True, eq=False)
class _Columns:
    """The held variables of some samples: X (n, v) and the part Y of the biases."""

    held: Arcs
    H: Floats
    X: Floats
    Y: Floats


@dataclass(frozen=True, eq=False)
class _Face:
    """The free variables at an optimum, with G (n, n) and E (n, Q) of KKT^-1."""

    solution: Solution
    free: Arcs
    G: Floats
    E: Floats
    unweight: Floats
    dead: float

    @classmethod
    def of(cls, solution: Solution, free: Any) -> _Face | None:
        """Factor H_MM once; biases that no free variable ties do not move."""
        dual = solution.dual
        M = Arcs.where(free, dual.y)
        A, H = M.incidence(dual.Q), M.hessian(dual.gram, dual.Q)
        scale = float(H.diagonal().max(initial=1e-300))
        H[np.diag_indices_from(H)] += SPAN_RIDGE * scale
        inverse = np.empty_like(H)
        if H.size:
            factor, info = lapack.dpotrf(H, lower=1)
            if info != 0:
                return None
            inverse, _ = lapack.dpotri(factor, lower=1)
            inverse = np.tril(inverse) + np.tril(inverse, -1).T
        W = inverse @ A
        weight = A.T @ W
        unweight = np.asarray(np.linalg.pinv(weight, 1e-10, hermitian=True), float)
        E = W @ unweight
        return cls(solution, M, inverse - E @ W.T, E, unweight, RIGID / scale)

    def columns(self, samples: Ints) -> _Columns:
        """X for the variables of these samples that are held at a bound."""
        dual, alpha = self.solution.dual, self.solution.alpha[samples]
        held = (alpha <= 0.0) | (alpha >= dual.box[samples, None])
        held[np.arange(samples.size), dual.y[samples]] = False
        at, heads = np.nonzero(held)
        V = Arcs(samples[at], dual.y[samples[at]], heads)
        H, A = self.free.hessian(dual.gram, dual.Q, V), V.incidence(dual.Q)
        X = self.G @ H + self.E @ A.T
        return _Columns(V, H, X, self.E.T @ H - self.unweight @ A.T)

    def margins(self, p: int, columns: _Columns) -> Floats:
        """Those of p by the block formula; -inf where G_PP is singular."""
        alpha = self.solution.alpha[p]
        margins = np.full(alpha.size, np.inf)
        P = np.flatnonzero(self.free.rows == p)
        V = np.flatnonzero(columns.held.rows == p)
        held, X = columns.held[V], columns.X[np.ix_(P, V)]
        d = -alpha[held.heads]
        force = self._force(P, alpha[self.free.heads[P]] - X @ d)
        if force is None:
            return np.full(alpha.size, -np.inf)
        margins[self.free.heads[P]] = 1.0 + force
        Q = self.solution.dual.Q
        S = held.hessian(self.solution.dual.gram, Q)
        S -= columns.H[:, V].T @ columns.X[:, V]
        S -= held.incidence(Q) @ columns.Y[:, V]
        y = self.solution.dual.y[p]
        h = self.solution.outputs[p]
        margins[held.heads] = h[y] - h[held.heads] + X.T @ force + S @ d
        return margins

    def _force(self, P: Ints, push: Floats) -> Floats | None:
        """-(G_PP)^-1 push."""
        if P.size == 0:
            return np.empty(0)
        values, vectors = np.linalg.eigh(self.G[np.ix_(P, P)])
        if values[0] <= self.dead:
            return None
        return np.asarray(-vectors @ ((vectors.T @ push) / values))
