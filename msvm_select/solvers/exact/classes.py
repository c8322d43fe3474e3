"""The Newton system of the free variables, split by class.

In tau and F the conditions of a face read, for each class k and the samples S_k whose
tau_ik is free (the free arcs into k, and the own class of all that have a free arc),

    K[S_k, S_k] d_k + b_k 1 + lambda[S_k] = t_k,      1'd_k = s_k,
    sum_k d_ik = 0  for each sample with a free arc.

With R_k = K[S_k, S_k]^-1, T = sum_k R_k and u_k = R_k 1, scattered over these samples,

    d_k = R_k (t_k - lambda - b_k 1),   lambda = T^-1 (sum_k R_k t_k - sum_k u_k b_k),

and b solves a system of size Q, singular by the shift that lambda takes back. The cost
is sum_k |S_k|^3 in place of (sum_i q_i)^3, q_i being the number of free arcs of i.

K[S_k, S_k] may be nearly singular where the system as a whole is not. A small ridge
keeps it apart from that, and steps of iterative refinement take the ridge out again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from msvm_select import lapack
from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solvers.compiled import kernel

RIDGE = 1e-13  # of the largest K_ii
REFINEMENTS = 6
SHARP = 1e-13  # of the right-hand side: a residual below is rounding
A_CLASS = 5e5  # multiplications that a class costs beside its cube
ENOUGH = 1e-8  # an error of the factor that needs no refinement: K proves the answers
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class ClassFactor:
    """R_k, T^-1 and the system of b, for the free arcs of one face.

    ``rows`` are the samples with a free arc; ``members[k]`` the places of S_k among
    them. A vector of the system has the entries of S_1, then those of S_2, and so on;
    ``parts[k]`` is where those of S_k are. Many are solved at once, as columns.
    """

    rows: Ints
    members: list[Ints]
    parts: list[slice]
    blocks: list[Floats]
    inverses: list[Floats]
    T: Floats
    U: Floats
    TU: Floats
    unbias: Floats

    @classmethod
    def of(cls, gram: Gram, y: Ints, free: Mask) -> ClassFactor:
        """From the free arcs (Q, m); LinAlgError where K on them is not definite."""
        Q = free.shape[0]
        rows = np.flatnonzero(free.any(axis=0))
        shared = free[:, rows]
        shared[y[rows], np.arange(rows.size)] = True
        ridge = RIDGE * float(gram.diagonal.max(initial=0.0))
        T, U = np.zeros((rows.size, rows.size)), np.zeros((rows.size, Q))
        totals = np.zeros(Q)
        members, blocks, inverses = [], [], []
        for k in range(Q):
            at = np.flatnonzero(shared[k])
            block = gram.block(rows[at], rows[at])
            R = inverse_of(block, ridge)
            T[np.ix_(at, at)] += R
            U[at, k] = R.sum(axis=1)
            totals[k] = U[at, k].sum()
            members.append(at)
            blocks.append(block)
            inverses.append(R)
        T = inverse_of(T, 0.0)
        TU = T @ U
        weight = U.T @ TU
        weight[np.diag_indices(Q)] -= totals
        unbias: Floats = np.linalg.pinv(weight, rcond=1e-12, hermitian=True)
        ends = np.cumsum([0, *(at.size for at in members)])
        parts = [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]
        return cls(rows, members, parts, blocks, inverses, T, U, TU, unbias)

    @property
    def size(self) -> int:
        """Entries of a vector."""
        return int(self.parts[-1].stop)

    @property
    def Q(self) -> int:
        """Classes."""
        return len(self.members)

    def places(self, m: int) -> Ints:
        """Where the entry of (class, sample) is, (Q, m); -1 where there is none."""
        place = np.full((self.Q, m), -1)
        for k, at in enumerate(self.members):
            place[k, self.rows[at]] = np.arange(self.parts[k].start, self.parts[k].stop)
        return place

    @cached_property
    def error(self) -> float:
        """How far a system solved once is off, as a random right-hand side sees it."""
        t = np.random.default_rng(0).choice([-1.0, 1.0], size=(self.size, 1))
        s = np.zeros((self.Q, 1))
        rest, _, _ = self._residual(t, s, *self.finish(self.begin(t), s))
        return float(np.abs(rest).max(initial=0.0))

    def solve(self, t: Floats, s: Floats) -> tuple[Floats, Floats]:
        """d (size, columns) and b (Q, columns) for the right-hand sides t and s."""
        found = self.finish(self.begin(t), s)
        return self.refined(t, s, *found)

    def refined(
        self, t: Floats, s: Floats, d: Floats, b: Floats, multiplier: Floats
    ) -> tuple[Floats, Floats]:
        """d and b by steps of iterative refinement, as long as they help."""
        scale, last = np.abs(t).max(initial=0.0), np.inf
        for _ in range(REFINEMENTS):
            rest, owed, level = self._residual(t, s, d, b, multiplier)
            worst = np.abs(rest).max(initial=0.0)
            if worst <= SHARP * scale or worst > 0.5 * last:
                break
            last = worst
            more = self.finish(self.begin(rest), owed, level)
            d, b, multiplier = d + more[0], b + more[1], multiplier + more[2]
        return d, b

    def begin(self, t: Floats) -> Floats:
        """R_k t_k of each class."""
        w = np.empty_like(t)
        for part, R in zip(self.parts, self.inverses, strict=True):
            np.matmul(R, t[part], out=w[part])
        return w

    def finish(
        self, w: Floats, s: Floats, level: Floats | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """d, b and lambda from w = R_k t_k; the samples' sums are ``level``, or 0.

        w becomes d.
        """
        v = np.zeros((self.rows.size, w.shape[1]))
        totals = np.empty((self.Q, w.shape[1]))
        for k, (at, part) in enumerate(zip(self.members, self.parts, strict=True)):
            v[at] += w[part]
            totals[k] = w[part].sum(axis=0)
        if level is not None:
            v -= level
        right = self.T @ v
        b = self.unbias @ (self.U.T @ right - totals + s)
        multiplier = right - self.TU @ b
        for k, (at, part) in enumerate(zip(self.members, self.parts, strict=True)):
            w[part] -= self.inverses[k] @ (multiplier[at] + b[k])
        return w, b, multiplier

    def _residual(
        self, t: Floats, s: Floats, d: Floats, b: Floats, multiplier: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """What the conditions lack, and by how much the sums are off."""
        rest, owed = t.copy(), s.copy()
        level = np.zeros_like(multiplier)
        for k, (at, part) in enumerate(zip(self.members, self.parts, strict=True)):
            rest[part] -= self.blocks[k] @ d[part] + multiplier[at] + b[k]
            owed[k] -= d[part].sum(axis=0)
            level[at] -= d[part]
        return rest, owed, level


def inverse_of(block: Floats, ridge: float) -> Floats:
    """(block + ridge I)^-1, symmetric; LinAlgError where that is not definite."""
    A = np.array(block)
    if not A.size:
        return A
    A[np.diag_indices(A.shape[0])] += ridge
    factor, info = lapack.dpotrf(A.T, lower=0, overwrite_a=1, clean=0)
    if info != 0:
        raise np.linalg.LinAlgError
    half, _ = lapack.dpotri(factor, lower=0, overwrite_c=1)
    mirror(half.T)
    return half.T


@kernel
def mirror(H: Floats) -> None:
    """Copy the lower triangle onto the upper."""
    for p in range(H.shape[0]):
        for q in range(p):
            H[q, p] = H[p, q]


def class_operations(y: Ints, free: Mask) -> float:
    """Multiplications that a ``ClassFactor`` takes, as the dense road counts them."""
    touched = free.any(axis=0)
    sizes = free.sum(axis=1) + np.bincount(y[touched], minlength=free.shape[0])
    cubes = (sizes.astype(float) ** 3).sum() + float(touched.sum()) ** 3
    return float(cubes + free.shape[0] * A_CLASS)


def by_classes(
    gram: Gram, y: Ints, free: Mask, g: Floats, imbalance: Floats
) -> tuple[Floats, Floats]:
    """The step of the free arcs (Q, m) for the gradient g, and b."""
    factor = ClassFactor.of(gram, y, free)
    place = factor.places(y.size)
    t = np.zeros((factor.size, 1))
    t[place[free], 0] = -g[free]
    d, b = factor.solve(t, -imbalance[:, None])
    step = np.zeros(free.shape)
    step[free] = -d[place[free], 0]
    return step, b[:, 0]


class Responses:
    """How alpha of the free arcs and r of others answer a change of any of both.

    Arcs are (rows[v], cols[v]); the first n are those of the factor, which knows
    sample i as first[i]. Only outputs F_ik that some other arc asks for are computed:
    those of the samples ``asked[k]``.
    """

    def __init__(
        self, factor: ClassFactor, gram: Gram, y: Ints,
        rows: Ints, cols: Ints, first: Ints, n: int,
    ) -> None:  # fmt: skip
        """Find which outputs the others ask for, and K between them and the free."""
        self.factor, self.gram, self.y, self.n = factor, gram, y, n
        self.rows, self.cols = rows, cols
        self.scale = np.ones(n)
        self.entry = factor.places(y.size)[cols[:n], first[rows[:n]]]
        i, k = rows[n:], cols[n:]
        self.asked, self.between, self.parts = [], [], []
        self.own, self.other = np.zeros(i.size, np.int64), np.zeros(i.size, np.int64)
        begin = 0
        for c, at in enumerate(factor.members):
            mine, theirs = y[i] == c, k == c
            asked = np.unique(i[mine | theirs])
            self.own[mine] = begin + np.searchsorted(asked, i[mine])
            self.other[theirs] = begin + np.searchsorted(asked, i[theirs])
            self.asked.append(asked)
            self.between.append(gram.block(asked, factor.rows[at]))
            self.parts.append(slice(begin, begin + asked.size))
            begin += asked.size

    def of(self, wanted: Ints) -> Floats:
        """(wanted, n + others): of a force on a free arc, of a shift of another."""
        n, factor, y = self.n, self.factor, self.y
        i, k = self.rows[wanted], self.cols[wanted]
        forces, shifts = np.flatnonzero(wanted < n), np.flatnonzero(wanted >= n)
        t, s = np.zeros((factor.size, wanted.size)), np.zeros((factor.Q, wanted.size))
        F = np.zeros((self.parts[-1].stop, wanted.size))
        w = np.zeros_like(t)
        s[y[i[shifts]], shifts], s[k[shifts], shifts] = -1.0, 1.0
        entries = self.entry[wanted[forces]]
        t[entries, forces] = -1.0
        for q, (at, part) in enumerate(zip(factor.members, factor.parts, strict=True)):
            here = k[forces] == q
            w[part, forces[here]] = -factor.inverses[q][:, entries[here] - part.start]
            for sign, ends in ((-1.0, y[i]), (1.0, k)):
                mine = shifts[ends[shifts] == q]
                if mine.size:
                    t[part, mine] = sign * self.gram.block(factor.rows[at], i[mine])
                    w[part, mine] = factor.inverses[q] @ t[part, mine]
                    own = self.gram.block(self.asked[q], i[mine])
                    F[self.parts[q], mine] = -sign * own
        d, b, multiplier = factor.finish(w, s)
        if factor.error > ENOUGH:
            d, b = factor.refined(t, s, d, b, multiplier)
        for q, part in enumerate(factor.parts):
            F[self.parts[q]] += self.between[q] @ d[part]
        found = np.empty((self.rows.size, wanted.size))
        np.negative(d[self.entry], out=found[:n])
        np.subtract(F[self.other], F[self.own], out=found[n:])
        found[n:] += b[self.cols[n:]] - b[y[self.rows[n:]]]
        v = wanted[forces]
        self.scale[v] = 1.0 / np.sqrt(np.maximum(found[v, forces], TINY))
        return found.T
