"""The block exchange: every wrong bound is put right at once, then all is solved again.

Hold some variables at 0 or C, solve for the rest (the free ones) without a box; then
free what a bound holds against its gradient, fix what the solution drove past a bound,
repeat (a primal-dual active set).  When nothing is left to exchange, the answer is the
optimum. Near a well-conditioned optimum it takes 2 to 6 systems however many variables
change; where K is nearly singular it may run away, which the count of exchanges shows
at once: the caller then walks on the face instead.

Up to ``DIRECT`` free variables the system  [H A; A' 0][d; b] = [g; -s]  (s the
imbalance of the flow) is solved by a Cholesky factor.  Beyond, by conjugate gradients
in the space of balanced flows: a product K tau costs O(Q m^2) and no block is built.
The preconditioner is H with K replaced by its diagonal, K_ii (I + 11') for the free
arcs of each sample, exact where K is diagonal; its inverse is (v - 1 (1'v) / (1 + q_i))
/ K_ii.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from msvm_select import lapack
from msvm_select.geometry.arcs import Arcs
from msvm_select.records import Floats, Gram, Mask
from msvm_select.solvers.compiled import kernel
from msvm_select.solvers.exact.classes import (
    ClassFactor,
    by_classes,
    class_operations,
)
from msvm_select.solvers.exact.common import CommonFactor, common_operations
from msvm_select.solvers.exact.thin import ThinGram
from msvm_select.solvers.exact.together import Together, nearest

MOST_DIRECT = 6000  # free variables of one factor
ASSEMBLED = 3.0  # multiplications that an entry of H takes
CHEAPER = 2.0  # a factor's cost by that of the products K tau that are tried first
LEAST_PRODUCTS = 50  # conjugate gradients with fewer are not tried
MOST_SYSTEMS = 30
RESIDUAL = 1e-26  # squared: thirteen digits of the residual
NOT_YET = 1e-8  # squared: as long as many bounds are wrong, four digits show them
FEWER = 0.85  # of the exchanges of the system before: it converges
FEW_LEFT = 5  # wrong: with no more it goes on where a system leaves no fewer,
MOST_IN_CIRCLES = 3  # so many times
MOST_TURNED = 200  # wrong ones that are put right around the factor that is there
KEPT_TO_TURN = 2e7  # numbers kept beside that factor: beyond, systems cost no more
FACE_UP_TO = 1000  # free variables: among these, Newton on the face costs less
SYSTEM_RIDGE = 1e-11
LONG_ROWS = 64  # of K at a time in long precision
LEVEL = 1e-11  # imbalance of the flow, by its sum, that is rounding


@dataclass(frozen=True, eq=False)
class Problem:
    """Class-sorted: gram, y (m,), box (m,): C, or 0 for what is left out.

    alpha and F are (Q, m).
    """

    gram: Gram
    y: NDArray[np.int64]
    Q: int
    box: Floats

    def tau(self, alpha: Floats) -> Floats:
        """tau (m, Q), C-contiguous."""
        tau = np.negative(alpha.T, order="C")
        tau[np.arange(self.y.size), self.y] += alpha.sum(axis=0)
        return tau

    def gradient_of(self, F: Floats) -> Floats:
        """F_{y_i} - F_k as (Q, m): H alpha for the alpha whose F this is."""
        return np.asarray(F[self.y, np.arange(self.y.size)] - F)

    @cached_property
    def variables(self) -> Mask:
        """Which (k, i) are variables (Q, m)."""
        found = np.tile(self.box > 0.0, (self.Q, 1))
        found[self.y, np.arange(self.y.size)] = False
        return found

    def held(
        self, alpha: Floats, F: Floats, b: Floats, tolerance: float
    ) -> tuple[Mask, Mask]:
        """Those at 0, and at the box, that the gradient keeps there for biases b."""
        breach = 1.0 - self.gradient_of(F) - (b[self.y] - b[:, None])
        low = self.variables & (alpha <= 0.0) & (breach <= tolerance)
        high = self.variables & (alpha >= self.box) & (breach >= -tolerance)
        return low, high

    def outputs(self, alpha: Floats) -> Floats:
        """F = (K tau)' (Q, m)."""
        return np.ascontiguousarray(self.gram.product(self.tau(alpha)).T)

    def sharp_outputs(self, alpha: Floats) -> Floats:
        """F with every product and sum in long precision, then rounded once.

        Where alpha is large and its terms cancel (a large C, a smooth kernel), plain
        products lose the digits that the gap is made of.
        """
        tau = self.tau(alpha).astype(np.longdouble)
        left = self.gram.matrix if self.gram.factor is None else self.gram.factor
        if self.gram.factor is not None:
            tau = left.T.astype(np.longdouble) @ tau
        F = np.empty((left.shape[0], self.Q))
        for first in range(0, left.shape[0], LONG_ROWS):
            rows = slice(first, first + LONG_ROWS)
            F[rows] = left[rows].astype(np.longdouble) @ tau
        return np.ascontiguousarray(F.T)


@dataclass(frozen=True, eq=False)
class Exchanged:
    """alpha and F (Q, m) at the end, systems solved, whether it is the optimum."""

    alpha: Floats
    F: Floats
    solves: int
    optimal: bool


def exchange(
    problem: Problem, alpha: Floats, F: Floats, low: Mask, high: Mask, tolerance: float
) -> Exchanged:
    """From those held at 0 and at the box, by exchanging whole blocks."""
    box, y, others = problem.box, problem.y, problem.variables
    best, gradients, residual, turned = np.inf, True, NOT_YET, False
    patience = MOST_IN_CIRCLES
    shared: CommonFactor | None = None
    for solves in range(1, MOST_SYSTEMS + 1):
        free = others & ~low & ~high
        if not free.any():
            break
        held = np.where(high, box, np.where(low, 0.0, alpha))
        F, alpha = F + problem.outputs(held - alpha), held
        g, adrift = 1.0 - problem.gradient_of(F), problem.tau(alpha).sum(axis=0)
        there, factor = False, None
        by_direct = _operations(problem, free, shared)
        products = int(by_direct / (CHEAPER * y.size**2 * problem.Q))
        if gradients and products >= LEAST_PRODUCTS:
            step, b, there = _conjugate_gradients(
                problem, free, g, adrift, products, residual
            )
            gradients = there  # where they crawl once, they are not tried again
        if not there:
            step, b, made = _solved(problem, free, g, adrift, shared)
            if isinstance(made, CommonFactor):  # the next one costs little
                shared = made
            else:
                factor = made
        alpha = alpha + step
        F = F + problem.outputs(step)
        breach = 1.0 - problem.gradient_of(F) - (b[y] - b[:, None])
        wrong = np.where(free, (alpha < 0.0) | (alpha > box), False)
        wrong |= (low & (breach > tolerance)) | (high & (breach < -tolerance))
        count = int(np.count_nonzero(wrong))
        if there and residual > RESIDUAL and not 0 < count <= FEWER * best:
            best, residual = np.inf, RESIDUAL  # from here on all digits count
        elif count == 0:
            return _ended(problem, alpha, F, solves)
        else:
            if factor is not None and count <= MOST_TURNED and not turned:
                turned = True
                found = _turned(problem, factor, free, alpha, breach, solves)
                if found is not None:
                    return found
            n = int(np.count_nonzero(free))
            if count > FEWER * (min(best, n) if n <= FACE_UP_TO else best):
                if count > FEW_LEFT or not patience:
                    return Exchanged(alpha, F, solves, False)  # in circles, or away
                patience -= 1
            best = min(best, count)
        low = np.where(wrong, free & (alpha < 0.0), low)
        high = np.where(wrong, free & (alpha > box), high)
    return Exchanged(alpha, F, solves, False)


def _ended(problem: Problem, alpha: Floats, F: Floats, solves: int) -> Exchanged:
    """With nothing left to exchange: the optimum, if the flow is balanced.

    Where no free arc ties two groups of classes, no step balances theirs.
    """
    left = np.abs(problem.tau(alpha).sum(axis=0)).max()
    return Exchanged(alpha, F, solves, bool(left <= LEVEL * alpha.sum()))


def _turned(
    problem: Problem, factor: ClassFactor, free: Mask, alpha: Floats, breach: Floats,
    solves: int,
) -> Exchanged | None:  # fmt: skip
    """By exchanges around this factor, with no other one.

    Among the samples near the margin, where these are few; the certificate takes all.
    """
    gram, y, box = problem.gram, problem.y, problem.box
    near = None
    if gram.whole is not None and not isinstance(gram, ThinGram):
        near = nearest(alpha, np.where(problem.variables, breach, -np.inf))
    if near is None:
        near = np.arange(y.size)
    else:
        gram, y, box, free = gram.part(near), y[near], box[near], free[:, near]
        factor = replace(factor, rows=np.searchsorted(near, factor.rows))
    entry = np.where(free, factor.places(y.size), -1)
    given = (gram, y, alpha[:, near], breach[:, near], entry, box)
    engine = Together.of(factor, *given, asked=1, most=KEPT_TO_TURN)
    found = None if engine is None else engine.put_right()
    if found is None:
        return None
    A = np.zeros_like(alpha)
    A[:, near] = found
    return _ended(problem, A, problem.outputs(A), solves + 1)


def _operations(problem: Problem, free: Mask, shared: CommonFactor | None) -> float:
    """Multiplications of the cheapest direct road."""
    by_class = class_operations(problem.y, free)
    common = _common_operations(problem, free, shared)
    return min(_dense_operations(free), by_class, common)


def _common_operations(
    problem: Problem, free: Mask, shared: CommonFactor | None
) -> float:
    """Those of the factor that is common to the classes; of a thin K there is none."""
    thin = isinstance(problem.gram, ThinGram)
    return np.inf if thin else common_operations(free, shared)


def _dense_operations(free: Mask) -> float:
    n = float(np.count_nonzero(free))
    return n**3 / 3.0 + ASSEMBLED * n**2


def _solved(
    problem: Problem, free: Mask, g: Floats, imbalance: Floats,
    shared: CommonFactor | None,
) -> tuple[Floats, Floats, ClassFactor | CommonFactor | None]:  # fmt: skip
    """The step and b by the cheapest direct road; LinAlgError where there is none.

    With the factor, where it is that of the classes or common to them.
    """
    by_class, dense = class_operations(problem.y, free), _dense_operations(free)
    given = (problem.y, free, g, imbalance)
    if _common_operations(problem, free, shared) < min(by_class, dense):
        try:
            factor = CommonFactor.of(problem.gram, free, shared)
            return *factor.solve(*given), factor
        except np.linalg.LinAlgError:  # K is too near to singular for it
            pass
    if dense <= by_class:
        return *_direct(problem, free, g, imbalance), None
    return by_classes(problem.gram, *given)


def refined(problem: Problem, alpha: Floats, F: Floats) -> tuple[Floats, Floats]:
    """alpha and F after one step of iterative refinement of the free variables.

    F must be sharp: the system is better conditioned than its residual in plain
    precision tells. The variables at a bound stay there.
    """
    free = (alpha > 0.0) & (alpha < problem.box)
    if not free.any():
        return alpha, F
    g, adrift = 1.0 - problem.gradient_of(F), problem.tau(alpha).sum(axis=0)
    step, _ = _direct(problem, free, g, adrift)
    further = np.clip(alpha + step, 0.0, problem.box)
    return further, problem.sharp_outputs(further)


def _direct(
    problem: Problem, free: Mask, g: Floats, imbalance: Floats
) -> tuple[Floats, Floats]:
    """By Cholesky: H = U'U', (A'H^-1 A) b = A'H^-1 g + s."""
    cols, rows = np.nonzero(free)
    n, Q = rows.size, problem.Q
    H = _assemble(problem.gram.matrix, problem.y, rows, cols)
    H[np.diag_indices(n)] += SYSTEM_RIDGE * H.diagonal().max()
    factor, info = lapack.dpotrf(H.T, lower=0, overwrite_a=1, clean=0)
    if info != 0:
        raise np.linalg.LinAlgError
    right = np.zeros((n, Q), order="F")
    right[:, 0] = g[cols, rows]
    arcs = Arcs(rows, problem.y[rows], cols).incidence(Q)
    right[:, 1:] = arcs[:, 1:]
    solved, _ = lapack.dpotrs(factor, right, lower=0)
    S = arcs[:, 1:].T @ solved
    b = np.zeros(Q)
    b[1:] = np.linalg.lstsq(S[:, 1:], S[:, 0] + imbalance[1:], rcond=1e-12)[0]
    step = np.zeros(free.shape)
    step[cols, rows] = solved[:, 0] - solved[:, 1:] @ b[1:]
    return step, b


@kernel
def _assemble(K, y, rows, cols):
    """The lower triangle of H on the listed variables."""
    n = rows.size
    H = np.empty((n, n))
    for p in range(n):
        i, k = rows[p], cols[p]
        yi = y[i]
        Ki, Hp = K[i], H[p]
        for q in range(p + 1):
            j, l = rows[q], cols[q]
            c = (1.0 if yi == y[j] else 0.0) + (1.0 if k == l else 0.0)
            c -= (1.0 if yi == l else 0.0) + (1.0 if k == y[j] else 0.0)
            Hp[q] = c * Ki[j]
    return H


class _Blocks:
    """The preconditioner on the free arcs, and the projection on balanced flows."""

    def __init__(self, problem: Problem, free: Mask) -> None:
        self.problem, self.free = problem, free
        self.weight = 1.0 / np.maximum(problem.gram.diagonal, 1e-300)
        self.shared = 1.0 / (1.0 + free.sum(axis=0))
        Q = problem.Q
        laplacian = np.empty((Q, Q))
        for c in range(Q):
            laplacian[c] = self.flow(self.inverse(self.arcs(np.eye(Q)[c])))
        self.unflow = np.linalg.pinv(laplacian, rcond=1e-12, hermitian=True)

    def arcs(self, b: Floats) -> Floats:
        """A b: b_{y_i} - b_k on the free arcs."""
        return np.where(self.free, b[self.problem.y] - b[:, None], 0.0)

    def flow(self, v: Floats) -> Floats:
        """A' v: what each class sends less what it receives."""
        out = np.bincount(
            self.problem.y, weights=v.sum(axis=0), minlength=self.problem.Q
        )
        return np.asarray(out - v.sum(axis=1))

    def inverse(self, v: Floats) -> Floats:
        """(v - 1 (1'v) / (1 + q_i)) / K_ii on the free arcs of each sample."""
        return np.where(self.free, v - v.sum(axis=0) * self.shared, 0.0) * self.weight

    def project(self, residual: Floats) -> tuple[Floats, Floats]:
        """(P^-1 (r - A b), b) with b such that the flow is balanced."""
        b = self.unflow @ self.flow(self.inverse(residual))
        return self.inverse(residual - self.arcs(b)), b


def _conjugate_gradients(
    problem: Problem, free: Mask, g: Floats, imbalance: Floats, most: int, small: float
) -> tuple[Floats, Floats, bool]:
    """Projected and preconditioned, from the step that only balances the flow.

    ``small``: the square of the residual that is asked for, by the gains of a variable.
    -> (step, b, whether it got there)
    """
    blocks = _Blocks(problem, free)
    x = blocks.inverse(blocks.arcs(blocks.unflow @ -imbalance))
    residual = np.where(free, g - problem.gradient_of(problem.outputs(x)), 0.0)
    ridge = SYSTEM_RIDGE * float(problem.gram.diagonal.max())
    b = np.zeros(problem.Q)
    p, rho, enough = np.zeros_like(x), 1.0, 0.0
    for turn in range(most):
        # what the biases explain leaves the residual, so that it tends to zero
        z, more = blocks.project(residual)
        b, residual = b + more, residual - blocks.arcs(more)
        fresh = float(np.vdot(residual, z))
        if turn == 0:
            gains = np.count_nonzero(free) / float(problem.gram.diagonal.max())
            enough = small * max(fresh, gains)
        if fresh <= enough:
            break
        p = z + (fresh / rho if turn else 0.0) * p
        rho = fresh
        Hp = np.where(free, problem.gradient_of(problem.outputs(p)), 0.0) + ridge * p
        t = rho / float(np.vdot(p, Hp))
        x += t * p
        residual -= t * Hp
    return x, b, fresh <= enough
