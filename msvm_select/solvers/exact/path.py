"""From the optimum of a nearby problem to that of the problem itself, along a path.

Solve a face, and some variables may leave their box, or hold a bound against their
gradient r = g - (b_y - b_k). What was found is the optimum all the same, of a problem
with wider bounds for the former and another gradient for the latter. Let these go back
to what they are, from theta = 0 to 1: the optimum is piecewise linear in theta, and one
variable changes its status at each corner. Every point of the path is an optimum, so
that it cannot run away, nor go round in circles as exchanges of many variables can.

Variables are numbered, the free ones of the face first (n of them). Their outputs z
are alpha of these and r of the others; a row says how z answers a force on a free one,
or a shift of another (``classes.Responses``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solvers.exact.classes import (
    NEAR_ENOUGH,
    ClassFactor,
    Responses,
    Store,
)

MOST_BENDS = 800  # corners of a path
MADE_TOGETHER = 24  # variables whose rows are made together
UNMOVED = 1e-13  # a change over a whole path that is rounding


@dataclass(eq=False)
class Path:
    """One path: z at its start, the box (0, top), and where the others are (``at``).

    ``rows`` gives rows by number.
    """

    rows: Store
    z: Floats
    n: int
    top: Floats
    at: Floats
    low: Floats = field(init=False)
    high: Floats = field(init=False)
    let_off: Floats = field(init=False)
    side: Floats = field(init=False)

    def walk(self) -> Floats | None:
        """Every alpha at the end; None where it takes too long, or K is singular."""
        P, now = np.empty(0, np.int64), 0.0
        self._widen()
        try:
            for _ in range(MOST_BENDS):
                R = self.rows(P)
                x = np.linalg.solve(R[:, P].T, self._goals(P))
                value, pace = self.z + x[:, 0] @ R, x[:, 1] @ R
                now, which, who = self._next(P, x, value, pace, now)
                if now >= 1.0:
                    return self._end(P, x.sum(axis=1), value + pace)
                P = self._turn(P, which, who)
        except np.linalg.LinAlgError:
            pass
        return None

    def _widen(self) -> None:
        """Bounds and gradients for which the start is optimal, each by its own share.

        At theta they are (1 - theta) times as far from the true ones.
        """
        n, z, top = self.n, self.z, self.top
        share = np.random.default_rng(0).uniform(1.1, 2.0, z.size)
        self.side = np.where(self.at > 0.0, -1.0, 1.0)
        below, above, wrong = np.minimum(z, 0.0), np.maximum(z - top, 0.0), z.copy()
        below[n:] = above[n:] = wrong[:n] = 0.0
        wrong[self.side * wrong < 0.0] = 0.0
        self.low, self.high, self.let_off = below * share, above * share, wrong * share
        self.rows.need(
            np.flatnonzero((self.low < 0.0) | (self.high > 0.0) | (wrong != 0.0))
        )

    def _goals(self, P: Ints) -> Floats:
        """What the outputs of P must be: the constant part, and that with theta."""
        upper = self.side[P] < 0.0
        bound = np.where(upper, self.top[P], 0.0)
        wide = np.where(upper, self.high[P], self.low[P])
        inside = P < self.n
        wide = np.where(inside, wide, self.let_off[P])
        goal = np.where(inside, bound, 0.0) + wide
        return np.stack([goal - self.z[P], -wide], axis=1)

    def _next(
        self, P: Ints, x: Any, value: Floats, pace: Floats, now: float
    ) -> tuple[float, int, int]:
        """When which variable meets its lower (0) or upper (1) end, as the first."""
        n, at, top, side = self.n, self.at, self.top, self.side
        room, drop = np.full((2, value.size), np.inf), np.zeros((2, value.size))
        room[0, :n], drop[0, :n] = value[:n] - self.low[:n], pace[:n] + self.low[:n]
        room[1, :n] = top[:n] + self.high[:n] - value[:n]
        drop[1, :n] = -pace[:n] - self.high[:n]
        room[0, n:] = side[n:] * (self.let_off[n:] - value[n:])
        drop[0, n:] = -side[n:] * (self.let_off[n:] + pace[n:])
        drop[:, P] = 0.0
        held = P < n
        v = P[held]
        room[0, v], drop[0, v] = side[v] * x[held, 0], side[v] * x[held, 1]
        moving = P >= n
        v = P[moving]
        room[0, v], drop[0, v] = at[v] + x[moving, 0], x[moving, 1]
        room[1, v], drop[1, v] = top[v] - at[v] - x[moving, 0], -x[moving, 1]
        when = np.full(room.shape, np.inf)
        falls = drop < -UNMOVED
        when[falls] = np.maximum(room[falls] / -drop[falls], now)
        first = int(when.argmin())
        if self.rows.at[first % value.size] < 0:  # a few are made at the price of one
            soonest = when.min(axis=0)
            few = np.argsort(soonest, kind="stable")[:MADE_TOGETHER]
            self.rows.need(few[soonest[few] < 1.0])
        return float(when.flat[first]), *divmod(first, value.size)

    def _turn(self, P: Ints, which: int, who: int) -> Ints:
        """``who`` changes its status; -> the variables that are not as at the start."""
        if who not in P:
            if who < self.n:
                self.side[who] = -1.0 if which else 1.0
            return np.append(P, who)
        if who >= self.n:  # at a bound again, and it may be the other one
            end = self.top[who] if which else 0.0
            self.z = self.z + (end - self.at[who]) * self.rows(np.array([who]))[0]
            self.at[who], self.side[who] = end, -1.0 if which else 1.0
        return np.asarray(P[P != who])

    def _end(self, P: Ints, x: Floats, value: Floats) -> Floats:
        """Every alpha."""
        values = np.where(np.arange(value.size) < self.n, value, self.at)
        held, moving = P[P < self.n], P >= self.n
        values[held] = np.where(self.side[held] < 0.0, self.top[held], 0.0)
        values[P[moving]] += x[moving]
        return np.asarray(np.clip(values, 0.0, self.top))


def walked(
    factor: ClassFactor, gram: Gram, y: Ints, box: Floats, free: Mask, alpha: Floats,
    breach: Floats,
) -> Floats | None:  # fmt: skip
    """The optimal alpha (Q, m) from the solution of a face of which little is wrong.

    ``breach`` is r of all variables; None where there is no path.
    """
    others = np.tile(box > 0.0, (free.shape[0], 1)) & ~free
    others[y, np.arange(y.size)] = False
    n = int(np.count_nonzero(free))
    cols, rows = np.hstack([free.nonzero(), others.nonzero()])
    here = np.arange(y.size)
    if factor.error > NEAR_ENOUGH:
        return None
    try:
        responses = Responses(factor, gram, y, rows, cols, here, n, NEAR_ENOUGH)
    except np.linalg.LinAlgError:  # too large
        return None
    a, top = alpha[cols, rows], box[rows]
    path = Path(
        Store(responses.of, rows.size),
        np.r_[a[:n], breach[cols[n:], rows[n:]]], n, top, np.where(a > 0.0, top, 0.0),
    )  # fmt: skip
    values = path.walk()
    if values is None:
        return None
    found = np.zeros(free.shape)
    found[cols, rows] = values
    return found
