"""The smallest ball in feature space around points that are known by their kernel.

    R^2 = max_beta  sum_i beta_i K_ii - beta' K beta,   beta >= 0,  sum_i beta_i = 1;

the centre is c = sum_i beta_i Phi(x_i), the diameter D = 2R.  Any beta gives a lower
bound on R^2 by this value and an upper one by max_i ||Phi(x_i) - c||^2: their distance
is the certificate.

Two roads in turn.  *Steps along pairs* (``pair_steps``) find which points lie on the
sphere; thousands of them take a few loops over the points each, so they are compiled.
A *block exchange* then puts those points there at once: it solves

    K_SS beta_S = 1/2 diag(K)_S + nu 1,   sum beta_S = 1,

drops the points with beta < 0, adds those outside the ball, and solves again.  Where
K is nearly the identity all points are in S and one factor is nearly all the work;
where K is nearly singular S is small.  K + t 11' has the same solutions for any t (nu
takes the rest); with t = max K_ii the vector 1, on which all hangs, is well within its
range, whatever K is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from msvm_select import lapack
from msvm_select.records import Floats, Gram, Ints, Mask

TARGET = 1e-10  # of the relative gap
PROMISED = 1e-8  # what is promised of it
KERNEL_ROUNDING = 1e-14  # of max K_ii: differences below are those of K itself
FIRST_WALK = 3e-3  # relative gap at which the first pair steps stop
MOST_WALKS = 30
BLOCKS = 8
SPHERE_RIDGE = 1e-12  # of max K_ii
REFACTOR = 6  # drop up to this part of the points without a new factor
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball around ``points`` that certifies itself.

    beta (m,) over all rows of the Gram matrix; lower and upper enclose R^2; rounding is
    what differences of its kernel values are worth.
    """

    points: Ints
    beta: Floats
    lower: float
    upper: float
    rounding: float = 0.0

    @property
    def diameter(self) -> float:
        """D = 2R, of a ball that holds every point for certain (R^2 = upper)."""
        return 2.0 * float(np.sqrt(max(self.upper, 0.0)))

    @property
    def gap(self) -> float:
        """(upper - lower) / lower, 0 where that is the rounding of K itself."""
        width = self.upper - self.lower
        return 0.0 if width <= self.rounding else width / max(self.lower, width)

    @property
    def support(self) -> Ints:
        """The points that hold the ball: beta_i > 0."""
        return np.flatnonzero(self.beta > 0.0)


def smallest_ball(
    gram: Gram, points: Ints | None = None, start: Ball | None = None
) -> Ball:
    """The ball around all points, or some; begun at an earlier one of the same Gram."""
    chosen = np.arange(gram.m) if points is None else np.asarray(points)
    weights = None if start is None else start.beta[chosen]
    if weights is not None and not weights.any():
        weights = None
    if start is not None and weights is not None:
        kept = np.count_nonzero(weights) == start.support.size
        if kept and (same := _still_smallest(gram, chosen, start)):
            return same
    diagonal = gram.diagonal[chosen]
    if gram.factor is not None:
        beta, lower, upper = _grown(gram.factor[chosen], weights)
    else:
        K = gram.matrix
        if chosen.size < gram.m:
            K = K[np.ix_(chosen, chosen)]
        beta, lower, upper = _solved(K, diagonal, weights)
    whole = np.zeros(gram.m)
    whole[chosen] = beta
    return Ball(chosen, whole, lower, upper, _rounding(diagonal))


def _still_smallest(gram: Gram, points: Ints, start: Ball) -> Ball | None:
    """The start itself, around these points, where it is their smallest ball."""
    S = start.support
    beta, diagonal = start.beta[S], gram.diagonal
    if gram.factor is not None:
        q = gram.factor @ (beta @ gram.factor[S])
    else:
        q = beta @ gram.matrix[S]
    inner = float(beta @ q[S])
    lower = float(beta @ diagonal[S]) - inner
    upper = float((diagonal - 2.0 * q)[points].max()) + inner
    rounding = _rounding(diagonal[points])
    if upper - lower > max(TARGET * lower, rounding):
        return None
    return Ball(points, start.beta, lower, upper, rounding)


def _rounding(diagonal: Floats) -> float:
    return KERNEL_ROUNDING * float(np.abs(diagonal).max())


def _grown(Z: Floats, weights: Floats | None) -> tuple[Floats, float, float]:
    """From a few of the points of K = Z Z', joined by those that are outside."""
    Z = Z - Z.mean(axis=0)
    sizes = np.einsum("ij,ij->i", Z, Z)
    beta = np.zeros(sizes.size)
    if weights is None:
        one = int(sizes.argmax())
        beta[one] = 1.0
    else:
        beta[:] = weights / weights.sum()
    within = np.zeros(sizes.size, np.bool_)
    floor = KERNEL_ROUNDING * float(sizes.max())
    solved = False
    while True:
        within |= beta > 0.0
        centre = Z.T @ beta
        distances = sizes - 2.0 * (Z @ centre) + centre @ centre
        lower = float(beta @ sizes - centre @ centre)
        upper = float(distances.max())
        outside = np.flatnonzero(
            ~within & (distances > lower + max(TARGET * lower, floor))
        )
        # weights that were given need not be the best of their points
        if outside.size == 0 and (
            solved or upper - lower <= max(TARGET * lower, floor)
        ):
            break
        solved = True
        more = max(Z.shape[1] + 1, int(within.sum()))
        within[outside[np.argsort(-distances[outside])[:more]]] = True
        W = np.flatnonzero(within)
        K = Z[W] @ Z[W].T
        beta[W], _, _ = _solved(K, np.ascontiguousarray(np.diagonal(K)), beta[W])
    return beta, lower, upper


def _solved(
    K: Floats, diagonal: Floats, weights: Floats | None
) -> tuple[Floats, float, float]:
    """beta, and the bounds on R^2."""
    beta = _start(K, diagonal) if weights is None else weights / weights.sum()
    state = _State(np.ascontiguousarray(K), diagonal, beta)
    least = FIRST_WALK
    for turn in range(MOST_WALKS):
        if state.done:
            break
        if turn or weights is None:
            state.walk(least)
        before = state.gap
        state.exchange()
        if state.gap > 0.5 * before and state.gap <= PROMISED:
            break  # the digits of K allow no more
        least = 0.1 * min(least, max(state.gap, TARGET))
    return state.beta, state.lower, state.upper


def _start(K: Floats, diagonal: Floats) -> Floats:
    """Equal weights, or two points far apart: whichever has the larger value."""
    m = diagonal.size
    means = K.mean(axis=1)
    i = int((diagonal - 2.0 * means).argmax())
    distances = diagonal[i] + diagonal - 2.0 * K[i]
    j = int(distances.argmax())
    if float(diagonal.mean() - means.mean()) >= 0.25 * float(distances[j]):
        return np.full(m, 1.0 / m)
    beta = np.zeros(m)
    beta[i] += 0.5
    beta[j] += 0.5
    return beta


class _State:
    """A centre on its way, with the bounds on R^2 that it gives."""

    def __init__(self, K: Floats, diagonal: Floats, beta: Floats) -> None:
        self.K, self.diagonal = K, diagonal
        self.floor = _rounding(diagonal)
        self.take(beta)

    def take(self, beta: Floats) -> None:
        """Stand at this beta."""
        self.beta, self.q = beta, self._product(beta)
        inner = float(beta @ self.q)
        self.lower = float(beta @ self.diagonal) - inner
        self.upper = float((self.diagonal - 2.0 * self.q).max()) + inner

    def _product(self, beta: Floats) -> Floats:
        """K beta; the rows of the support points are enough."""
        S = np.flatnonzero(beta)
        if 2 * S.size > beta.size:
            return np.asarray(self.K @ beta)
        return np.asarray(beta[S] @ self.K[S])

    @property
    def gap(self) -> float:
        """Relative."""
        return (self.upper - self.lower) / max(self.lower, self.floor)

    @property
    def done(self) -> bool:
        """As near as was asked for, or as the digits of K allow."""
        return self.upper - self.lower <= max(TARGET * self.lower, self.floor)

    def walk(self, least: float) -> None:
        """Steps along pairs down to this relative gap."""
        beta, q = self.beta.copy(), self.q.copy()
        most = 1000 + 2 * beta.size
        pair_steps(self.K, self.diagonal, beta, q, least * self.lower, most)
        self.take(beta / beta.sum())

    def exchange(self) -> None:
        """Whole blocks of points put on the sphere or off it, while that brings near.

        Keeps the best centre seen.
        """
        best = self.beta, self.upper - self.lower
        factor: Factor | None = None
        for _ in range(BLOCKS):
            inner = float(self.beta @ self.q)
            outside = self.diagonal - 2.0 * self.q + inner > self.lower
            S = (self.beta > 0.0) | outside
            found, factor = on_sphere(self.K, self.diagonal, self.beta, S, factor)
            if found is None:
                break
            self.take(found)
            if self.upper - self.lower >= best[1]:
                break
            best = self.beta, self.upper - self.lower
            if self.done:
                return
        if self.beta is not best[0]:
            self.take(best[0])


def on_sphere(
    K: Floats, diagonal: Floats, near: Floats, S: Mask, factor: Factor | None
) -> tuple[Floats | None, Factor | None]:
    """beta that puts the points S on one sphere, those with beta < 0 dropped.

    None where there is none; with the last factor, which may serve again.
    """
    while S.any():
        if factor is None or not factor.serves(S):
            factor = Factor(K, diagonal, near, S)
        beta = factor.solved(S) if factor.usable else None
        if beta is None:
            break
        negative = beta < 0.0
        if not negative.any():
            return beta / beta.sum(), factor
        S = S & ~negative
    return None, factor


class Factor:
    """K_SS factored for some S; it serves a few points fewer too.

    beta_J = 0 for those that are missing costs the columns J of the inverse.  A ridge
    keeps the factor of a singular K; since it pulls towards the beta where we stand,
    and not to 0, it does not move the answer.
    """

    def __init__(self, K: Floats, diagonal: Floats, near: Floats, S: Mask) -> None:
        """``near`` (m,) is the beta where we stand."""
        self.rows = rows = np.flatnonzero(S)
        n = rows.size
        A = K.copy() if n == S.size else K[np.ix_(rows, rows)]
        scale = float(np.abs(diagonal).max())
        ridge = SPHERE_RIDGE * scale
        A += scale
        A[np.diag_indices(n)] += ridge
        self.factor, info = lapack.dpotrf(A.T, lower=1, overwrite_a=1, clean=0)
        self.usable = info == 0
        right = np.ones((n, 2), order="F")
        right[:, 1] = 0.5 * diagonal[rows] + ridge * near[rows]
        self.whole = self._solve(right)
        self.made = np.empty(0, np.int64)
        self.columns = np.empty((n, 0), order="F")

    def serves(self, S: Mask) -> bool:
        """Whether all of S is factored, and little more."""
        size = int(S.sum())
        spare = self.rows.size - size
        return bool(S[self.rows].sum() == size and REFACTOR * spare <= size)

    def solved(self, S: Mask) -> Floats | None:
        """beta (m,) with sum 1 and 0 outside of S; None where there is none."""
        J = np.flatnonzero(~S[self.rows])
        UV = self.whole
        if J.size:
            X = self._columns_of(J)
            UV = UV - X @ np.linalg.solve(X[J], UV[J])
            UV[J] = 0.0
        one, half = UV.sum(axis=0)
        if not one > 0.0:
            return None
        beta = np.zeros(S.size)
        beta[self.rows] = UV[:, 1] + UV[:, 0] * ((1.0 - half) / one)
        return beta

    def _columns_of(self, J: Ints) -> Floats:
        """The columns J of the inverse, made once."""
        more = np.setdiff1d(J, self.made)
        if more.size:
            unit = np.zeros((self.rows.size, more.size), order="F")
            unit[more, np.arange(more.size)] = 1.0
            self.made = np.concatenate([self.made, more])
            self.columns = np.hstack([self.columns, self._solve(unit)])
        order = np.argsort(self.made)
        at = order[np.searchsorted(self.made, J, sorter=order)]
        return np.asarray(self.columns[:, at])

    def _solve(self, right: Floats) -> Floats:
        solution, _ = lapack.dpotrs(self.factor, right, lower=1)
        return np.asarray(solution)


@njit(cache=True, nogil=True, error_model="numpy")
def pair_steps(
    K: Floats, diagonal: Floats, beta: Floats, q: Floats, least: float, most: int
) -> int:
    """Move weight beta between two points at a time, in place; -> the steps made.

    q = K beta is kept up to date.  The farthest point i takes weight from the support
    point j that gains most: with d = ||Phi(x_i) - c||^2 - ||Phi(x_j) - c||^2 and
    eta = ||Phi(x_i) - Phi(x_j)||^2, t = min(beta_j, d / (2 eta)) gains t (d - t eta).
    Ends when no support point is nearer than the farthest point by more than ``least``.
    """
    m = beta.size
    for step in range(most):
        i, far, near = 0, -np.inf, np.inf
        for k in range(m):
            d = diagonal[k] - 2.0 * q[k]
            if d > far:
                i, far = k, d
            if beta[k] > 0.0 and d < near:
                near = d
        if far - near <= least:
            return step
        Ki = K[i]
        j, most_gain, t = -1, 0.0, 0.0
        for k in range(m):
            d = far - diagonal[k] + 2.0 * q[k]
            if beta[k] > 0.0 and d > 0.0:
                eta = max(diagonal[i] + diagonal[k] - 2.0 * Ki[k], TINY)
                move = min(beta[k], d / (2.0 * eta))
                gain = move * (d - move * eta)
                if gain > most_gain:
                    j, most_gain, t = k, gain, move
        if j < 0:
            return step
        beta[i] += t
        beta[j] = 0.0 if t >= beta[j] else beta[j] - t
        Kj = K[j]
        for k in range(m):
            q[k] += t * (Ki[k] - Kj[k])
    return most
