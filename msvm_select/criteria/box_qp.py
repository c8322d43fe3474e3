"""Small convex quadratic programs with a box and a balance, by an interior point.

    min  1/2 x' H x + c' x   s.t.  A' x = r,   lo <= x <= hi

Mehrotra's predictor and corrector: Newton's method on the optimality conditions, with
the products (distance to a bound) x (its multiplier) driven to zero together.  Some
fifteen factors of H plus a diagonal, whatever is singular or degenerate; there is
nothing to start from, as an interior point knows no warm starts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select import lapack
from msvm_select.errors import SolverError
from msvm_select.records import Floats

MOST_NEWTON = 100
EXACT = 1e-10  # of the gap and of the balance
GOOD = 1e-9  # what is taken where rounding allows no more
STAY = 0.995  # of the way to the next bound
NUDGES = (0.0, 1e-12, 1e-10, 1e-8)  # one after the other, where it does not end
RELATIVE_NUDGE = 1e-14
TINY = 1e-300
FLOOR = 1e-30  # of a distance to a bound that rounding has eaten
CANCELLED = 1e-3  # of its terms: a value below it has lost digits
FIXED = 1e-13  # a box narrower than this part of the largest x is a point


@dataclass(frozen=True, eq=False)
class Optimum:
    """x (n,) and the prices nu (q,) of the balance: H x + c + A nu is no slope down."""

    x: Floats
    nu: Floats


def minimise(
    H: Floats, c: Floats, A: Floats, r: Floats, lo: Floats, hi: Floats
) -> Optimum:
    """The optimum, which must exist; SolverError where it is not found.

    H (n, n), c (n,), A (n, q), r (q,); bounds may be infinite on one side.
    """
    ends = np.concatenate([lo, hi])
    size = float(np.abs(ends[np.isfinite(ends)]).max(initial=0.0))
    moving = hi - lo > FIXED * size
    x, nu = np.where(np.isfinite(lo), lo, hi), np.zeros(r.size)
    if moving.any():
        x[moving] = 0.0
        free = np.flatnonzero(moving)
        inner = _Interior(
            H[np.ix_(free, free)], (c + H @ x)[free], A[free], r - A.T @ x,
            lo[free], hi[free],
        )  # fmt: skip
        for nudge in NUDGES:
            inner.begin(nudge)
            x[free], nu, left = inner.solved()
            if left <= GOOD:
                return Optimum(x, nu)
        raise SolverError(
            f"a small quadratic program of the bound stopped at {left:.1g}"
        )
    return Optimum(x, nu)


@dataclass(eq=False)
class _Move:
    """A Newton direction."""

    x: Floats
    nu: Floats
    low: Floats
    high: Floats


class _Interior:
    """x strictly inside its box, nu for the balance, multipliers low, high > 0."""

    def __init__(
        self, H: Floats, c: Floats, A: Floats, r: Floats, lo: Floats, hi: Floats
    ) -> None:
        self.H, self.c, self.A, self.r, self.lo, self.hi = H, c, A, r, lo, hi
        self.sizes = np.abs(H)
        self.has_low, self.has_high = np.isfinite(lo), np.isfinite(hi)
        self.count = int(self.has_low.sum() + self.has_high.sum())

    def begin(self, nudge: float) -> None:
        """In the middle of the box; ``nudge``, of max H_ii, keeps steps in bounds.

        Where H is singular they would else run along it for ever.
        """
        H, lo, hi = self.H, self.lo, self.hi
        self.nudge = nudge * float(H.diagonal().max())
        width = np.where(self.has_low & self.has_high, hi - lo, 2.0)
        self.x: Floats = np.where(self.has_low, lo + 0.5 * width, hi - 0.5 * width)
        self.nu = np.zeros(self.r.size)
        scale = max(1.0, float(np.abs(H @ self.x + self.c).max()))
        self.low = np.where(self.has_low, scale, 0.0)
        self.high = np.where(self.has_high, scale, 0.0)

    def _slacks(self) -> tuple[Floats, Floats]:
        """x - lo and hi - x, 1 where there is no bound."""
        below = np.where(self.has_low, self.x - self.lo, 1.0)
        above = np.where(self.has_high, self.hi - self.x, 1.0)
        return np.maximum(below, FLOOR), np.maximum(above, FLOOR)

    def solved(self) -> tuple[Floats, Floats, float]:
        """Round after round; the best x and nu seen, and what is left there."""
        best, reached = (self.x, self.nu), np.inf
        for _ in range(MOST_NEWTON):
            Hx = self.H @ self.x
            dual = Hx + self.c + self.A @ self.nu - self.low + self.high
            off = self.A.T @ self.x - self.r
            below, above = self._slacks()
            gap = float(below @ self.low + above @ self.high)
            left = self._left(Hx, dual, off, gap)
            if left < reached:
                best, reached = (self.x, self.nu), left
            if left <= EXACT or not np.isfinite(left):
                break
            if not self._advance(dual, off, below, above, gap / self.count):
                break
        if reached > EXACT:
            self.x, self.nu = best
            ended, left = self._ended()
            if left < reached:
                best, reached = ended, left
        return *best, reached

    def _ended(self) -> tuple[tuple[Floats, Floats], float]:
        """The end that the best point leads to, and what is left there.

        A variable whose slope is larger than its way to the bound is put on it; the
        others solve the equations of the optimum by least squares.
        """
        slope = self.H @ self.x + self.c + self.A @ self.nu
        unit = _largest(self.x) / _largest(slope, self.c)
        at_low = self.has_low & (self.x - self.lo <= unit * slope)
        at_high = self.has_high & (self.hi - self.x <= -unit * slope)
        x = np.where(at_low, self.lo, np.where(at_high, self.hi, self.x))
        free = np.flatnonzero(~at_low & ~at_high)
        q = self.r.size
        system = np.zeros((free.size + q, free.size + q))
        system[: free.size, : free.size] = self.H[np.ix_(free, free)]
        system[: free.size, free.size :] = self.A[free]
        system[free.size :, : free.size] = self.A[free].T
        slope = self.H @ x + self.c + self.A @ self.nu
        right = np.concatenate([-slope[free], self.r - self.A.T @ x])
        step = np.linalg.lstsq(system, right, rcond=1e-13)[0]
        x[free] += step[: free.size]
        x, nu = np.clip(x, self.lo, self.hi), self.nu + step[free.size :]
        Hx = self.H @ x
        slope = Hx + self.c + self.A @ nu
        low = np.where(self.has_low, np.maximum(slope, 0.0), 0.0)
        high = np.where(self.has_high, np.maximum(-slope, 0.0), 0.0)
        self.x, self.nu = x, nu
        below = np.where(self.has_low, x - self.lo, 0.0)
        above = np.where(self.has_high, self.hi - x, 0.0)
        gap = float(below @ low + above @ high)
        return (x, nu), self._left(Hx, slope - low + high, self.A.T @ x - self.r, gap)

    def _left(self, Hx: Floats, dual: Floats, off: Floats, gap: float) -> float:
        """The largest of the relative gap and what is left of the two equations."""
        value = abs(0.5 * float(self.x @ Hx) + float(self.c @ self.x))
        # of terms that cancel, only so many digits of the value are left
        whole = 0.5 * float(np.abs(self.x) @ self.sizes @ np.abs(self.x))
        value = max(value, CANCELLED * (whole + float(np.abs(self.c * self.x).sum())))
        slope = _largest(self.sizes @ np.abs(self.x), self.c)
        return max(
            gap / max(value, TINY),
            float(np.abs(off).max(initial=0.0)) / _largest(self.x, self.r),
            float(np.abs(dual).max(initial=0.0)) / slope,
        )

    def _advance(
        self, dual: Floats, off: Floats, below: Floats, above: Floats, mu: float
    ) -> bool:
        """A predictor, which says how far to centre, and the corrected step."""
        n = self.x.size
        M = self.H.copy()
        M[np.diag_indices(n)] += self.low / below + self.high / above
        M[np.diag_indices(n)] *= 1.0 + RELATIVE_NUDGE
        M[np.diag_indices(n)] += self.nudge
        factor, info = lapack.dpotrf(M, lower=1)
        if info != 0:
            return False
        MA, _ = lapack.dpotrs(factor, self.A, lower=1)
        S = self.A.T @ MA

        def direction(low: Floats, high: Floats) -> _Move:
            """For  slack x multiplier = (low, high)  after the step."""
            right = -dual + (low / below - self.low) - (high / above - self.high)
            y, _ = lapack.dpotrs(factor, right, lower=1)
            found = np.linalg.lstsq(S, off + self.A.T @ y, rcond=1e-15)
            nu = np.asarray(found[0], np.float64)
            x = y - MA @ nu
            return _Move(
                x, nu,
                low / below - self.low - self.low * x / below,
                high / above - self.high + self.high * x / above,
            )  # fmt: skip

        none = np.zeros(n)
        try_out = direction(none, none)
        t = self._length(try_out, below, above)
        after = (below + t * try_out.x) @ (self.low + t * try_out.low) + (
            above - t * try_out.x
        ) @ (self.high + t * try_out.high)
        aim = mu * min(1.0, max(0.0, float(after) / (mu * self.count))) ** 3
        move = direction(
            np.where(self.has_low, aim - try_out.x * try_out.low, 0.0),
            np.where(self.has_high, aim + try_out.x * try_out.high, 0.0),
        )
        t = STAY * self._length(move, below, above)
        self.x = self.x + t * move.x
        self.nu = self.nu + t * move.nu
        self.low = self.low + t * move.low
        self.high = self.high + t * move.high
        return True

    def _length(self, move: _Move, below: Floats, above: Floats) -> float:
        """The longest step, at most 1, that keeps x inside and multipliers positive.

        One length for x and multipliers, since H couples them.
        """
        low, high = self.has_low, self.has_high
        blocking = (
            (-move.x / below)[low],
            (move.x / above)[high],
            (-move.low[low] / self.low[low]),
            (-move.high[high] / self.high[high]),
        )
        return 1.0 / max(float(part.max(initial=1.0)) for part in blocking)


def _largest(*vectors: Floats) -> float:
    """max |v|, above 0: to divide by."""
    return max(TINY, *(float(np.abs(v).max(initial=0.0)) for v in vectors))
