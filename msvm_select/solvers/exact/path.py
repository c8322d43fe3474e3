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
from msvm_select.solvers.compiled import kernel
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
    held: Floats = field(init=False)

    def walk(self) -> Floats | None:
        """Every alpha at the end; None where it takes too long, or K is singular."""
        P, now = np.empty(0, np.int64), 0.0
        self._widen()
        try:
            for _ in range(MOST_BENDS):
                R = self.held[: P.size]
                x = np.linalg.solve(R[:, P].T, self._goals(P))
                value, pace = x.T @ R
                value += self.z
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
        self.held = np.empty((0, z.size))
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
        busy, when = np.zeros(value.size, np.bool_), np.empty((2, value.size))
        busy[P] = True
        _corners(
            value, pace, self.low, self.high, top, self.let_off, side, n, busy, when
        )
        room, drop = np.full((2, P.size), np.inf), np.zeros((2, P.size))
        held, moving = P < n, P >= n
        v = P[held]
        room[0, held], drop[0, held] = side[v] * x[held, 0], side[v] * x[held, 1]
        v = P[moving]
        room[0, moving], drop[0, moving] = at[v] + x[moving, 0], x[moving, 1]
        room[1, moving] = top[v] - at[v] - x[moving, 0]
        drop[1, moving] = -x[moving, 1]
        falls = drop < -UNMOVED
        own = np.full(room.shape, np.inf)
        own[falls] = room[falls] / -drop[falls]
        when[:, P] = own
        np.maximum(when, now, out=when)
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
            self._hold(P.size, self.rows(np.array([who]))[0])
            return np.append(P, who)
        if who >= self.n:  # at a bound again, and it may be the other one
            end = self.top[who] if which else 0.0
            self.z = self.z + (end - self.at[who]) * self.rows(np.array([who]))[0]
            self.at[who], self.side[who] = end, -1.0 if which else 1.0
        place, last = int(np.flatnonzero(P == who)[0]), P.size - 1
        self.held[place], left = self.held[last], P[:last].copy()
        if place < last:
            left[place] = P[last]
        return left

    def _hold(self, place: int, row: Floats) -> None:
        """Those of P stand together: to copy all at each corner would take longer."""
        if place == self.held.shape[0]:
            more = np.empty((max(2 * place, MADE_TOGETHER), row.size))
            more[:place] = self.held
            self.held = more
        self.held[place] = row

    def _end(self, P: Ints, x: Floats, value: Floats) -> Floats:
        """Every alpha."""
        values = np.where(np.arange(value.size) < self.n, value, self.at)
        held, moving = P[P < self.n], P >= self.n
        values[held] = np.where(self.side[held] < 0.0, self.top[held], 0.0)
        values[P[moving]] += x[moving]
        return np.asarray(np.clip(values, 0.0, self.top))


@kernel
def _corners(
    value: Floats, pace: Floats, low: Floats, high: Floats, top: Floats,
    let_off: Floats, side: Floats, n: int, busy: Mask, when: Floats,
) -> None:  # fmt: skip
    """When each output meets its lower (0) and its upper (1) end, by itself."""
    for v in range(value.size):
        when[0, v] = when[1, v] = np.inf
        if busy[v]:
            continue
        if v >= n:
            drop = -side[v] * (let_off[v] + pace[v])
            if drop < -UNMOVED:
                when[0, v] = side[v] * (let_off[v] - value[v]) / -drop
            continue
        drop = pace[v] + low[v]
        if drop < -UNMOVED:
            when[0, v] = (value[v] - low[v]) / -drop
        drop = -pace[v] - high[v]
        if drop < -UNMOVED:
            when[1, v] = (top[v] + high[v] - value[v]) / -drop


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
