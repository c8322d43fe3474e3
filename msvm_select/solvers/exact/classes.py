"""The Newton system of the free variables, split by class.

In tau and F the conditions of a face read, for each class k and the samples S_k whose
tau_ik is free (the free arcs into k, and the own class of all that have a free arc),

    K[S_k, S_k] d_k + b_k 1 + lambda[S_k] = t_k,      1'd_k = s_k,
    sum_k d_ik = 0  for each sample with a free arc.

With R_k = K[S_k, S_k]^-1, T = sum_k R_k and u_k = R_k 1, scattered over these samples,

    d_k = R_k (t_k - lambda - b_k 1),   lambda = T^-1 (sum_k R_k t_k - sum_k u_k b_k),

and b solves a system of size Q, singular by the shift that lambda takes back. The cost
is sum_k |S_k|^3 in place of (sum_i q_i)^3, q_i being the number of free arcs of i.

Classes of the same S_k share their R_k. Where all S_k are the same, as with a rough
kernel, T = Q R and nothing but R is left: with v = sum_k R t_k and u = R 1,

    R lambda = (v - u sum_k b_k) / Q,

so that a solution takes no product with a matrix once R t_k is there.

Where each S_k lacks a few samples D only, R of all serves, and no class has its own:

    R_k t = (R t - R_D f)_S,    f = R_DD^-1 (R t)_D,

whatever t is in D. So all classes share R lambda.

K[S_k, S_k] may be nearly singular where the system as a whole is not. A small ridge
keeps it apart from that, and steps of iterative refinement take the ridge out again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from msvm_select import lapack
from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solvers.exact.thin import (
    ThinGram,
    add_to,
    cholesky,
    columns_of,
    inverse_from,
    inverse_of,
    kept_of,
)

RIDGE = 1e-13  # of the largest K_ii
RIDGE_OF_TWINS = 1e-10  # the same where the other is all that there is
NO_INVERSE = 0.1  # of an inverse times its ridge: beyond it, K has no inverse
DOUBTFUL = 1e-6  # likewise: beyond it, that of all classes may not give that of each
MOST_REFINED = 6
SHARP = 1e-13  # of the right-hand side: a residual below is rounding
A_CLASS = 5e5  # multiplications that a class costs beside its cube
FEW_LACKING = 0.4  # of the samples with a free arc, that the S_k may lack on average
MOST_NUMBERS = 2.5e8  # that a factor, or what is asked of it, may take (2 GB)
BY_PRODUCTS = 40  # columns from which they are, if there are no more classes


@dataclass(frozen=True, eq=False)
class ClassFactor:
    """R_k, T^-1 and the system of b, for the free arcs of one face.

    ``rows`` are the samples with a free arc; ``members[k]`` the places of S_k among
    them. A vector of the system has the entries of S_1, then those of S_2, and so on;
    ``parts[k]`` is where those of S_k are. Many are solved at once, as columns.
    ``blocks`` and ``own`` are K[S_k, S_k] and R_k of each class, or else ``whole`` has
    those of all. U: R_k 1 of each class; TU: T^-1 U; ``weight``: the system of b, and
    ``unbias`` its inverse. ``largest``: the largest K_ii.
    """

    rows: Ints
    members: list[Ints]
    parts: list[slice]
    blocks: list[Any]
    own: list[Any]
    half: Any
    U: Floats
    TU: Floats
    unbias: Floats
    weight: Floats
    largest: float
    alike: bool = False
    whole: Whole | None = None

    @classmethod
    def of(cls, gram: Gram, y: Ints, free: Mask) -> ClassFactor:
        """From the free arcs; LinAlgError where K is not definite, or memory ends.

        Of twins R_k is 1/2 of 1/ridge, and its rounding no refinement takes out: they
        get a larger ridge.
        """
        largest = float(gram.diagonal.max(initial=0.0))
        for ridge in (RIDGE * largest, RIDGE_OF_TWINS * largest):
            found = cls._with(gram, y, free, ridge, sharp=ridge == RIDGE * largest)
            if found is not None:
                return found
        raise np.linalg.LinAlgError

    @classmethod
    def _with(
        cls, gram: Gram, y: Ints, free: Mask, ridge: float, sharp: bool
    ) -> ClassFactor | None:
        """With this ridge; None where it should be ``sharp`` and is not."""
        Q = free.shape[0]
        rows = np.flatnonzero(free.any(axis=0))
        shared = free[:, rows]
        shared[y[rows], np.arange(rows.size)] = True
        owner = _first_alike(shared)
        alike = bool(Q > 1 and shared.all())
        sizes = shared.sum(axis=1)[np.unique(owner)].astype(float)
        if 2.0 * ((sizes**2).sum() + float(rows.size) ** 2) > MOST_NUMBERS:
            raise np.linalg.LinAlgError  # it would not fit beside K
        members = [np.flatnonzero(own) for own in shared]
        whole = Whole.of(gram, rows, shared, ridge)
        blocks: list[Any] = []
        inverses: list[Any] = []
        half = None
        if whole is not None:
            U, half = whole.sums(), _Half(None, whole.inverse_of_total(ridge))
        else:
            T, U, blocks, inverses = _of_each(gram, rows, members, owner, ridge, alike)
            if not alike:
                half = _Half.of(T, isinstance(gram, ThinGram))
        made = inverses if whole is None else [whole.R]
        largest = max(R.diagonal().max(initial=0.0) for R in made)
        if sharp and ridge * largest > NO_INVERSE:
            return None
        totals = U.sum(axis=0)
        TU = np.full((rows.size, Q), 1.0 / Q) if half is None else half.solve(U)
        weight = U.T @ TU
        weight[np.diag_indices(Q)] -= totals
        weight = _without_shifts(weight, shared)
        unbias = np.asarray(np.linalg.pinv(weight, rcond=1e-12, hermitian=True), float)
        ends = np.cumsum([0, *(at.size for at in members)])
        parts = [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]
        system = (rows, members, parts, blocks, inverses, half, U, TU, unbias, weight)
        return cls(*system, float(gram.diagonal.max(initial=0.0)), alike, whole)

    @property
    def T(self) -> Any:
        """T^-1, made when it is asked for; there is none where all are alike."""
        return None if self.half is None else self.half.inverse

    def is_of(self, y: Ints, free: Mask) -> bool:
        """Whether it is that of these free arcs."""
        shared = free.copy()
        shared[y, np.arange(y.size)] = free.any(axis=0)
        return bool(np.array_equal(self.places(y.size) >= 0, shared))

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
        """How far a system solved once is off, as a random right-hand side sees it.

        In outputs: what the sums are off counts with the largest K_ii.
        """
        t = np.random.default_rng(0).choice([-1.0, 1.0], size=(self.size, 1))
        s = np.zeros((self.Q, 1))
        rest, *sums = self._residual(t, s, *self.finish(self.begin(t), s))
        owed = max(np.abs(part).max(initial=0.0) for part in sums)
        return float(max(np.abs(rest).max(initial=0.0), self.largest * owed))

    def solve(self, t: Floats, s: Floats) -> tuple[Floats, Floats]:
        """d (size, columns) and b (Q, columns) for the right-hand sides t and s."""
        found = self.finish(self.begin(t), s)
        return self.refined(t, s, *found)

    def refined(
        self, t: Floats, s: Floats, d: Floats, b: Floats, multiplier: Floats
    ) -> tuple[Floats, Floats]:
        """d and b by steps of iterative refinement, as long as they help."""
        scale, last = np.abs(t).max(initial=0.0), np.inf
        for _ in range(MOST_REFINED):
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
        for k, part in enumerate(self.parts):
            w[part] = self.answer(k, t[part])
        return w

    def answer(self, k: int, t: Floats) -> Floats:
        """R_k t."""
        if self.whole is None:
            return np.asarray(self.own[k] @ t)
        found = self.whole.R @ self._wide(k, t)
        return self.whole.lacking(k, found)[self.members[k]]

    def columns(self, k: int, places: Ints) -> Floats:
        """Some columns of R_k."""
        if self.whole is None:
            return columns_of(self.own[k], places)
        at = self.members[k]
        return self.whole.lacking(k, self.whole.R[at[places]].T)[at]

    def finish(
        self,
        w: Floats,
        s: Floats,
        level: Floats | None = None,
        multiplied: bool = True,
    ) -> tuple[Floats, Floats, Floats]:
        """d, b and lambda from w = R_k t_k; the samples' sums are ``level``, or 0.

        w becomes d. Nobody asks for lambda where it is not to be ``multiplied``.
        """
        v = np.zeros((self.rows.size, w.shape[1]))
        totals = np.empty((self.Q, w.shape[1]))
        for k, (at, part) in enumerate(zip(self.members, self.parts, strict=True)):
            v[at] += w[part]
            totals[k] = w[part].sum(axis=0)
        if level is not None:
            v -= level
        if self.alike:
            return self._alike(w, v, s - totals, multiplied)
        right = self.half.solve(v)
        b = self.unbias @ (self.U.T @ right - totals + s)
        multiplier = right - self.TU @ b
        if self.whole is None:
            for k, (at, part) in enumerate(zip(self.members, self.parts, strict=True)):
                w[part] -= self.own[k] @ (multiplier[at] + b[k])
            return w, b, multiplier
        answer = self.whole.R @ multiplier
        for k, (at, part) in enumerate(zip(self.members, self.parts, strict=True)):
            w[part] -= self.whole.lacking(k, answer)[at]
            w[part] -= np.outer(self.U[at, k], b[k])
        return w, b, multiplier

    def _alike(
        self, w: Floats, v: Floats, s: Floats, multiplied: bool
    ) -> tuple[Floats, Floats, Floats]:
        """The same where all S_k are all samples; ``s`` less the sums of w."""
        b = self.unbias @ (v.sum(axis=0) / self.Q + s)
        u = self.U[:, 0]
        for k, part in enumerate(self.parts):
            w[part] -= v / self.Q + np.outer(u, b[k] - b.sum(axis=0) / self.Q)
        right = self.blocks[0] @ v if multiplied else np.zeros((0, v.shape[1]))
        return w, b, (right - b.sum(axis=0)) / self.Q

    def _residual(
        self, t: Floats, s: Floats, d: Floats, b: Floats, multiplier: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """What the conditions lack, and by how much the sums are off."""
        rest, owed = t.copy(), s.copy()
        level = np.zeros_like(multiplier)
        for k, (at, part) in enumerate(zip(self.members, self.parts, strict=True)):
            rest[part] -= self._by_block(k, d[part]) + multiplier[at] + b[k]
            owed[k] -= d[part].sum(axis=0)
            level[at] -= d[part]
        return rest, owed, level

    def _by_block(self, k: int, d: Floats) -> Floats:
        """K[S_k, S_k] d."""
        if self.whole is None:
            return np.asarray(self.blocks[k] @ d)
        return np.asarray(self.whole.K @ self._wide(k, d))[self.members[k]]

    def _wide(self, k: int, d: Floats) -> Floats:
        """d of class k among all rows."""
        found = np.zeros((self.rows.size, d.shape[1]))
        found[self.members[k]] = d
        return found


class _Half:
    """The Cholesky factor of T, or T^-1 itself where that is thin."""

    def __init__(self, factor: Floats | None, thin: Any) -> None:
        self.factor, self.thin = factor, thin

    @classmethod
    def of(cls, T: Floats, may_be_thin: bool) -> _Half:
        """Of T, which is used up; LinAlgError where it is not definite."""
        if may_be_thin or not T.size:
            return cls(None, inverse_of(T, 0.0))
        return cls(cholesky(T), None)

    @cached_property
    def inverse(self) -> Any:
        """T^-1."""
        return self.thin if self.factor is None else inverse_from(self.factor.copy())

    def solve(self, v: Floats) -> Floats:
        """T^-1 v: by products where there are many columns."""
        if self.factor is None or v.shape[1] > BY_PRODUCTS:
            return np.asarray(self.inverse @ v)
        return lapack.dpotrs(self.factor, v, lower=0)[0]


def _without_shifts(weight: Floats, shared: Mask) -> Floats:
    """The system of b, without what rounding makes of the shifts in it.

    Classes that free arcs tie together share a shift of b that lambda takes back. The
    pseudo-inverse would take the rounding of such a direction for a small weight.
    """
    one, tied, fewer = np.eye(len(weight)), shared.astype(float), -1
    tied = (tied @ tied.T + one > 0.0).astype(float)
    while fewer < (fewer := int(np.count_nonzero(tied))):
        tied = (tied @ tied > 0.0).astype(float)  # by ever more classes between
    still = one - tied / tied.sum(axis=1, keepdims=True)
    return np.asarray(still @ weight @ still)


def _first_alike(shared: Mask) -> list[int]:
    """For each class the first one of the same samples."""
    first: dict[bytes, int] = {}
    return [first.setdefault(row.tobytes(), k) for k, row in enumerate(shared)]


@dataclass(frozen=True, eq=False)
class Whole:
    """K and R = K^-1 of all samples with a free arc, and what each class lacks of them.

    gone[k]: D; inner[k]: R_DD^-1. Of all classes, U being all samples in some D and B
    the sum of their R_DD^-1,

        T = Q R - R_U B R_U',
        T^-1 = K / Q + I_U X I_U',    X = (Q I - B R_UU)^-1 B / Q.
    """

    K: Floats
    R: Floats
    gone: list[Ints]
    inner: list[Floats]

    @classmethod
    def of(cls, gram: Gram, rows: Ints, shared: Mask, ridge: float) -> Whole | None:
        """None unless the S_k lack few, and K is far from singular."""
        gone = [np.flatnonzero(~own) for own in shared]
        lacking = sum(at.size for at in gone)
        few = 0 < lacking <= FEW_LACKING * shared.size and len(gone) > 2
        if not few or isinstance(gram, ThinGram):
            return None
        K = gram.block(rows, rows)
        R = np.asarray(inverse_of(K, ridge, False))
        if ridge * R.diagonal().max() > DOUBTFUL:
            return None
        inner = [np.linalg.inv(R[np.ix_(at, at)]) for at in gone]
        return cls(K, R, gone, inner)

    @cached_property
    def some(self) -> Ints:
        """U."""
        return np.unique(np.concatenate(self.gone))

    @cached_property
    def more(self) -> Floats:
        """X."""
        U, Q = self.some, len(self.gone)
        B = np.zeros((U.size, U.size))
        for gone, block in zip(self.gone, self.inner, strict=True):
            at = np.searchsorted(U, gone)
            B[np.ix_(at, at)] += block
        left = -(B @ self.R[np.ix_(U, U)])
        left[np.diag_indices(U.size)] += Q
        X = np.linalg.solve(left, B / Q)
        return np.asarray((X + X.T) / 2.0)

    def inverse_of_total(self, ridge: float) -> Floats:
        """T^-1, of K with its ridge."""
        found = self.K / len(self.gone)
        found[np.diag_indices(len(found))] += ridge / len(self.gone)
        found[np.ix_(self.some, self.some)] += self.more
        return found

    @cached_property
    def by_total(self) -> Floats:
        """R T^-1 = I / Q + R_U X I_U'."""
        found = np.zeros(self.R.shape)
        found[np.diag_indices(len(found))] = 1.0 / len(self.gone)
        found[:, self.some] += self.R[:, self.some] @ self.more
        return found

    @cached_property
    def below(self) -> list[Floats]:
        """R_DD^-1 R_D T^-1 of each class, in the columns of U: elsewhere it is 0."""
        pairs = zip(self.gone, self.inner, strict=True)
        return [block @ self.by_total[np.ix_(gone, self.some)] for gone, block in pairs]

    def sums(self) -> Floats:
        """R_k 1 of each class (rows, Q)."""
        u = self.R.sum(axis=1)
        return np.stack([self.lacking(k, u) for k in range(len(self.gone))], axis=1)

    def lacking(self, k: int, answer: Floats) -> Floats:
        """R_k t from R t, with zeros in D."""
        gone = self.gone[k]
        return answer - self.R[gone].T @ (self.inner[k] @ answer[gone])


def _of_each(
    gram: Gram, rows: Ints, members: list[Ints], owner: list[int], ridge: float,
    alike: bool,
) -> tuple[Floats, Floats, list[Any], list[Any]]:  # fmt: skip
    """T, U, the blocks of K and their inverses, of each class or of one like it."""
    T = np.zeros((0, 0) if alike else (rows.size, rows.size))
    U = np.zeros((rows.size, len(members)))
    blocks: list[Any] = []
    inverses: list[Any] = []
    for k, at in enumerate(members):
        if owner[k] == k:
            block = gram.block(rows[at], rows[at])
            inverses.append(inverse_of(block, ridge, isinstance(gram, ThinGram)))
            blocks.append(kept_of(gram, block))
        else:
            inverses.append(inverses[owner[k]])
            blocks.append(blocks[owner[k]])
        if not alike:
            add_to(T, at, inverses[k])
        U[at, k] = inverses[k].sum(axis=1)
    return T, U, blocks, inverses


def class_operations(y: Ints, free: Mask) -> float:
    """Multiplications that a ``ClassFactor`` takes, as the dense road counts them."""
    touched = free.any(axis=0)
    sizes = free.sum(axis=1) + np.bincount(y[touched], minlength=free.shape[0])
    cubes = (sizes.astype(float) ** 3).sum() + float(touched.sum()) ** 3
    return float(cubes + free.shape[0] * A_CLASS)


def by_classes(
    gram: Gram, y: Ints, free: Mask, g: Floats, imbalance: Floats
) -> tuple[Floats, Floats, ClassFactor]:
    """The step of the free arcs (Q, m) for the gradient g, b, and the factor."""
    factor = ClassFactor.of(gram, y, free)
    place = factor.places(y.size)
    t = np.zeros((factor.size, 1))
    t[place[free], 0] = -g[free]
    d, b = factor.solve(t, -imbalance[:, None])
    step = np.zeros(free.shape)
    step[free] = -d[place[free], 0]
    return step, b[:, 0], factor
