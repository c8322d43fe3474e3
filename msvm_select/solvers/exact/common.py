"""One inverse for all classes, where nearly every arc is free.

With a rough kernel most samples have all their arcs free. Were they all, with J these
samples and P = I - 11'/Q, the conditions of a face would read

    K_JJ D + 1 b' + lambda 1' = T,      D 1 = 0,      1'D = s',

and their solution takes R = K_JJ^-1 alone: with u = R 1 and G = R - u u' / (1'u),

    D = G T P + u s' / (1'u),           P b = (P T'u - s) / (1'u).

Those (i, k) that a bound holds are a set Z in which D is 0, by forces N on them:

    D = G (T + N) P + u s' / (1'u),     D_Z = 0,

a definite system of the size of Z, whose entry for (i, k) and (j, l) is
G_ij (delta_kl - 1/Q). The cost is |J|^3 + |Z|^3, and no class has a factor of its own.
While J loses samples, R serves on: all arcs of these belong to Z. And so it does where
a sample is left out: of every such machine whose other arcs stay as they are, G and the
system of Z know all (``FewHeld``).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from msvm_select import lapack
from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solvers.compiled import kernel
from msvm_select.solvers.exact.classes import RIDGE_OF_TWINS, SHARP
from msvm_select.solvers.exact.thin import inverse_of

MOST_CORRECTED = 4
NO_SOLUTION = 1e-7  # of the gains: more that is left shows a K too near to singular
LARGEST_SYSTEM = 1e8  # that the system of Z may take
MOST_HELD = 0.05, 0.5  # of the arcs, and by the samples: most who leave keep them
ALPHA_AT_ONCE = 1e6  # alpha of the machines without a sample that are found at once
SAME_SIDE = 1e-9  # r of a held arc may be beyond 0 by so much

Answer = Callable[[Ints, Floats, Floats, Ints], None]
"""Gets samples, alpha (samples, Q, m) without each, changes of F, and exchanges."""


def common_operations(free: Mask, known: CommonFactor | None) -> float:
    """Multiplications that a solution takes, with the factor that is ``known``."""
    rows = float(np.count_nonzero(free.any(axis=0)))
    fresh = rows**3 / 2.0 + _of_held(free, rows)
    if known is None or not known.holds(free):
        return fresh
    return min(fresh, _of_held(free, float(known.rows.size)))


def _of_held(free: Mask, rows: float) -> float:
    held = rows * (free.shape[0] - 1) - float(np.count_nonzero(free))
    return held**3 / 6.0 + held**2 if held**2 <= LARGEST_SYSTEM else np.inf


@dataclass(frozen=True, eq=False)
class CommonFactor:
    """K and G among the samples ``rows``, u and its sum."""

    rows: Ints
    K: Floats
    G: Floats
    u: Floats
    total: float

    @classmethod
    def of(cls, gram: Gram, free: Mask, known: CommonFactor | None) -> CommonFactor:
        """That of the samples with a free arc, or the one known where it is cheaper."""
        rows = np.flatnonzero(free.any(axis=0))
        if known is not None and known.holds(free):
            anew = rows.size**3 / 2.0 + _of_held(free, float(rows.size))
            if _of_held(free, float(known.rows.size)) <= anew:
                return known
        K = gram.block(rows, rows)
        R = inverse_of(K, RIDGE_OF_TWINS * float(gram.diagonal.max(initial=0.0)), False)
        u = R.sum(axis=1)
        total = float(u.sum())
        if not total > 0.0:
            raise np.linalg.LinAlgError
        R -= np.outer(u, u / total)
        return cls(rows, K, R, u, total)

    def holds(self, free: Mask) -> bool:
        """Whether no other sample has a free arc."""
        return bool(
            np.count_nonzero(free.any(axis=0)) == free[:, self.rows].any(axis=0).sum()
        )

    def solve(
        self, y: Ints, free: Mask, g: Floats, imbalance: Floats
    ) -> tuple[Floats, Floats]:
        """The step of the free arcs (Q, m) for the gradient g, and b."""
        here, own = free[:, self.rows], (y[self.rows], np.arange(self.rows.size))
        held = ~here
        held[own] = False
        cols, at = held.nonzero()
        solve_held = _Held(self.G, cols, at, here.shape[0])
        rest, owed = np.where(here, g[:, self.rows], 0.0), -imbalance
        scale, last = float(np.abs(rest).max(initial=0.0)), np.inf
        tau, b = np.zeros(here.shape), np.zeros(here.shape[0])
        for _ in range(MOST_CORRECTED):
            more, level = self._once(solve_held, -rest, owed)
            more = np.where(here, more, 0.0)  # what rounding has left elsewhere
            more[own] = -more.sum(axis=0)
            tau, b, owed = tau + more, b + level, owed - more.sum(axis=1)
            F = more @ self.K
            rest -= np.where(here, F[own] - F + level[own[0]] - level[:, None], 0.0)
            worst = float(np.abs(rest).max(initial=0.0))
            if worst <= SHARP * scale or worst > 0.5 * last:
                break
            last = worst
        if worst > NO_SOLUTION * scale:
            raise np.linalg.LinAlgError
        step = np.zeros(free.shape)
        step[:, self.rows] = np.where(here, -tau, 0.0)
        return step, b

    def _once(self, solve_held: _Held, T: Floats, s: Floats) -> tuple[Floats, Floats]:
        """D (Q, rows) and b."""
        forces = T.copy()
        D = self._spread(T) + np.outer(s / self.total, self.u)
        solve_held.add(forces, D)
        D = self._spread(forces) + np.outer(s / self.total, self.u)
        pull = forces @ self.u
        return D, (pull - pull.mean() - s) / self.total

    def _spread(self, T: Floats) -> Floats:
        """G T P."""
        return np.asarray((T - T.mean(axis=0)) @ self.G)


class _Held:
    """The system of the forces N that hold D at 0 in (cols, at)."""

    def __init__(self, G: Floats, cols: Ints, at: Ints, Q: int) -> None:
        self.at = cols, at
        if at.size:
            S = np.empty((at.size, at.size))
            between_arcs(G, at, cols, 1.0 / Q, S)
            self.factor, info = lapack.dpotrf(S.T, lower=0, overwrite_a=1, clean=0)
            if info != 0:
                raise np.linalg.LinAlgError

    def add(self, forces: Floats, D: Floats) -> None:
        """forces += N, by what D is without them."""
        if self.at[0].size:
            found, _ = lapack.dpotrs(self.factor, -D[self.at], lower=0)
            forces[self.at] += found


class FewHeld:
    """The machines without a sample p in which every other arc stays as it is.

    Forces f on the free arcs of p, and n on Z, bring tau_p to 0 and leave D_Z = 0. With
    E the matrix of ``between_arcs``, S = E_ZZ^-1 and tau_Z of p's own arcs,

        (E_pp - E_pZ S E_Zp) f = -tau_p + E_pZ S tau_Z,     n = -S (E_Zp f + tau_Z).

    As K G = I - 1 u' / (1'u), they move F by N P - 1 u'N P / (1'u), and r of Z by n. It
    is the optimum without p if no alpha leaves its box, and no r of Z its side.
    """

    def __init__(
        self, R: Floats, y: Ints, alpha: Floats, r: Floats, box: Floats
    ) -> None:
        """R = K^-1, and alpha and r (Q, m) of the optimum."""
        self.alpha, self.box, Q = alpha, box, len(alpha)
        self.u = R.sum(axis=1)
        self.G = np.outer(self.u, self.u / -self.u.sum())
        self.G += R
        held = held_arcs(y, alpha, box)
        self.variable = np.arange(Q)[:, None] != y
        self.free = self.variable & ~held
        self.cols, self.at = held.nonzero()
        self.of_class = (self.cols[:, None] == np.arange(Q)).astype(float)
        ends = np.searchsorted(self.cols, np.arange(Q + 1)).tolist()
        self.parts = [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]
        self.held, self.r = alpha[held], r[held]
        E = np.empty((self.at.size, self.at.size))
        between_arcs(self.G, self.at, self.cols, 1.0 / Q, E)
        self.S = inverse_of(E, 0.0, False) if E.size else E
        self.small = 1e-9 * min(float(box.min()), float(alpha.max()))

    @staticmethod
    def suits(y: Ints, alpha: Floats, box: Floats, none: bool) -> bool:
        """Whether Z is so small that this costs little, and most who leave keep it.

        ``none``: whether that takes a Z without arcs.
        """
        held = float(np.count_nonzero(held_arcs(y, alpha, box)))
        of_arcs, by_samples = MOST_HELD
        most = min(of_arcs * (alpha.size - y.size), by_samples * y.size)
        return held <= (0.0 if none else most)

    def without(
        self,
        samples: Ints,
        answer: Answer,
        jobs: int = 1,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """``answer(samples, alpha, changes of F, 0)`` of those for whom this holds.

        alpha and the changes are (samples, Q, m); ``meanwhile`` is called in between.
        """
        most = max(1, int(ALPHA_AT_ONCE // self.alpha.size))
        parts = [samples[i : i + most] for i in range(0, samples.size, most)]

        def look(some: Ints) -> None:
            stays, alphas, changes = self._found(some)
            if not stays.all():
                some, alphas, changes = some[stays], alphas[stays], changes[stays]
            if some.size:
                answer(some, alphas, changes, np.zeros(some.size, np.int64))

        with ThreadPoolExecutor(jobs) as pool:
            each = pool.map if jobs > 1 else map
            for first in range(0, len(parts), jobs):
                list(each(look, parts[first : first + jobs]))
                meanwhile()

    def _found(self, samples: Ints) -> tuple[Mask, Floats, Floats]:
        """Whether all else stays, alpha and the changes of F, of each."""
        cols, at, of = self.cols, self.at, np.arange(samples.size)
        f, n = self._forces(samples)
        alphas = np.empty((samples.size, *self.alpha.shape))
        changes = np.zeros_like(alphas)
        for k, here in enumerate(self.parts):
            alphas[:, k] = f[:, k, None] * self.G[samples]
            alphas[:, k] += n[:, here] @ self.G[at[here]]
        alphas -= alphas.mean(axis=1, keepdims=True)
        np.subtract(self.alpha, alphas, out=alphas)
        changes[:, cols, at] = n
        changes[of, :, samples] += f
        changes -= changes.mean(axis=1, keepdims=True)
        changes -= (changes @ (self.u / self.u.sum()))[:, :, None]
        alphas *= self.variable
        alphas[:, cols, at] = self.held
        alphas[of, :, samples] = 0.0
        inside = (alphas >= -self.small) & (alphas <= self.box + self.small)
        r = np.where(self.held > 0.0, -1.0, 1.0) * (self.r + n)
        sides = (r <= SAME_SIDE) | (at == samples[:, None])
        alphas[alphas < self.small] = 0.0  # a residue there would count as free
        np.copyto(alphas, self.box, where=alphas > self.box - self.small)
        stays = inside.all(axis=(1, 2)) & sides.all(axis=1)
        return np.asarray(stays), alphas, changes

    def _forces(self, samples: Ints) -> tuple[Floats, Floats]:
        """f (samples, Q) and n (samples, Z)."""
        Q, own, of = len(self.alpha), self.G[samples], np.arange(samples.size)
        own_Z = own[:, self.at]
        answer = np.empty((Q, *own_Z.shape))  # of Z: S E_Zp
        for k, here in enumerate(self.parts):
            answer[k] = own_Z[:, here] @ self.S[here]
        answer -= answer.mean(axis=0)
        tau_Z = np.where(self.at == samples[:, None], -self.held, 0.0)
        start = tau_Z @ self.S
        system = np.multiply.outer(own[of, samples], np.eye(Q) - 1.0 / Q)
        system -= self._from_Z(own_Z, answer).transpose(1, 2, 0)
        right = self.alpha[:, samples].T + self._from_Z(own_Z, start)
        free = self.free[:, samples].T  # the others have no force
        right[~free] = 0.0
        system[~(free[:, :, None] & free[:, None])] = 0.0
        system[:, np.arange(Q), np.arange(Q)] += ~free
        f = np.asarray(np.linalg.solve(system, right[:, :, None])[:, :, 0])
        return f, np.asarray(-start - np.einsum("kpz,pk->pz", answer, f))

    def _from_Z(self, own_Z: Floats, forces: Floats) -> Floats:
        """E_pZ times forces (.., samples, Z) of each: (.., samples, Q)."""
        found = (own_Z * forces) @ self.of_class
        return np.asarray(found - found.mean(axis=-1, keepdims=True))


def held_arcs(y: Ints, alpha: Floats, box: Floats) -> Mask:
    """The arcs (Q, m) that are not free."""
    held = (alpha <= 0.0) | (alpha >= box)
    held[y, np.arange(y.size)] = False
    return np.asarray(held)


@kernel
def between_arcs(G: Floats, rows: Ints, cols: Ints, share: float, out: Floats) -> None:
    """out_vw = G_ij (delta_kl - share) of the arcs v = (i, k) and w = (j, l)."""
    for v in range(rows.size):
        row, answer = out[v], G[rows[v]]
        for w in range(rows.size):
            row[w] = ((cols[v] == cols[w]) - share) * answer[rows[w]]
