"""Every machine without one sample, from one factorization of the full machine.

Let M be the free variables of the full machine (0 < alpha < C), N all others, and
KKT = [H_MM A_M; A_M' 0].  Two blocks say how the full optimum answers any change:

    a force f on M and a shift d of N move   alpha_M by  G f - X d,
                                             r_N     by  -X' f - S d,

with G the upper left block of KKT^-1, X = KKT^-1 [H_MN; A_N'] (its rows on M),
S = H_NN - [H_MN; A_N']' KKT^-1 [H_MN; A_N'], and r = g - (b_{y_i} - b_k), which must be
<= 0 at alpha = 0 and >= 0 at alpha = C.

Leaving sample p out asks for alpha_p = 0: a force on its free variables, a shift of
those at C.  If no bound and no sign of r breaks, that *prediction* is the optimum
without p. Else the wrong ones are exchanged (a variable of M that left its box is held
at the bound by a force; one of N whose r has the wrong sign is shifted until r = 0) and
the small system of forces and shifts is solved again: a primal-dual active set that
starts a few changes from its end.  A system has the size of what changed, 2 to 20
unknowns, and one exchange costs O(|J| (n + s)): some microseconds a sample, no
factorization of its own. The end is proven by its own conditions: every alpha in its
box, every r of its sign, the flow balanced since KKT holds A.  The margin of p is 1 -
r_pk = 1 + f.

This is the Schur-complement device of QP solvers with the full inverse formed, which
pays here because every sample asks for it.  Only the columns of S that some sample
shifts are ever computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select import lapack
from msvm_select.geometry.arcs import Arcs
from msvm_select.records import Floats, Ints, Mask
from msvm_select.solvers.compiled import kernel

POOR = 1e-6  # an inverse worse than this is not used


@dataclass(eq=False)
class Tableau:
    """G (n, n), X (n, s) and its transpose, and what is needed to make columns of S.

    ``error`` times the largest alpha is about how far margins are off by rounding.
    """

    K: Floats
    Z: Floats
    y: Ints
    shift: float
    rows_M: Ints
    cols_M: Ints
    rows_N: Ints
    cols_N: Ints
    alpha_M: Floats
    alpha_N: Floats
    r_N: Floats
    error: float
    scale_M: Floats
    scale_N: Floats
    G: Floats
    X: Floats
    XT: Floats
    Y: Floats
    H_NM: Floats
    arcs_N: Floats

    def columns(self, wanted: Ints) -> Floats:
        """The columns of S listed, as rows (c, s)."""
        H: Floats = hessian_block(
            self.K, self.Z, self.y, self.shift,
            self.rows_N[wanted], self.cols_N[wanted], self.rows_N, self.cols_N,
        )  # fmt: skip
        H -= self.XT[wanted] @ self.H_NM.T
        H -= self.Y[:, wanted].T @ self.arcs_N.T
        return H


def build(
    K: Floats, Z: Floats, y: Ints, shift: float,
    alpha: Floats, F: Floats, b: Floats, C: float,
) -> Tableau | None:  # fmt: skip
    """The tableau at an optimum alpha, F (Q, m); None where KKT is singular.

    Free variables that depend on the others (K singular) are put into N: they keep
    their value as long as r stays 0, which the others see to.
    """
    Q, m = alpha.shape
    cols, rows = np.nonzero(np.arange(Q)[:, None] != y)
    a = alpha[cols, rows]
    r = 1.0 - F[y[rows], rows] + F[cols, rows] - b[y[rows]] + b[cols]
    free = (a > 0.0) & (a < C)
    ties, r = _tie(y[rows], cols, a, r, C, np.bincount(y, minlength=Q) > 0)
    free[ties] = True
    chosen = np.flatnonzero(free)
    H = hessian(K, Z, y, shift, rows[chosen], cols[chosen])
    kept, inverse = _independent_inverse(H)
    if kept.size < chosen.size:
        H = np.ascontiguousarray(H[np.ix_(kept, kept)])
        chosen = chosen[kept]
    sharp, worst = _sharpened(H, inverse)
    if not worst <= POOR:
        return None
    basic = np.zeros(a.size, bool)
    basic[chosen] = True
    others = np.flatnonzero(~basic)
    arcs_M = Arcs(rows[chosen], y[rows[chosen]], cols[chosen]).incidence(Q)
    arcs_N = Arcs(rows[others], y[rows[others]], cols[others]).incidence(Q)
    W = sharp @ arcs_M
    weight = arcs_M.T @ W
    present = np.flatnonzero(np.bincount(y, minlength=Q))[1:]  # one class is the gauge
    weight = weight[np.ix_(present, present)]
    if np.linalg.cond(weight) > 1e10:
        return None
    unweight = np.linalg.inv(weight)
    E = W[:, present] @ unweight
    G = sharp - E @ W[:, present].T
    H_MN = hessian_block(
        K, Z, y, shift, rows[chosen], cols[chosen], rows[others], cols[others]
    )
    X = G @ H_MN + E @ arcs_N[:, present].T
    return Tableau(
        K, Z, y, shift,
        rows[chosen], cols[chosen], rows[others], cols[others],
        a[chosen], a[others], r[others], worst * shift,
        1.0 / np.sqrt(sharp.diagonal()), _stiffness(K, Z, shift, rows[others]),
        G, X, np.ascontiguousarray(X.T),
        E.T @ H_MN - unweight @ arcs_N[:, present].T,
        np.ascontiguousarray(H_MN.T), np.ascontiguousarray(arcs_N[:, present]),
    )  # fmt: skip


def _tie(
    tails: Ints, heads: Ints, a: Floats, r: Floats, C: float, present: Mask
) -> tuple[list[int], Floats]:
    """Variables at a bound that tie the classes together where no free one does.

    The biases of a group of classes then slide within an interval; they are taken at
    the end of it, where r of some variable at its bound is 0: that one counts as free.
    """
    free = (a > 0.0) & (a < C)
    group = np.arange(present.size)
    for tail, head in {
        (int(s), int(e)) for s, e in zip(tails[free], heads[free], strict=True)
    }:
        group[group == group[tail]] = group[head]
    ties: list[int] = []
    while np.unique(group[present]).size > 1:
        one = np.unique(group[present])[0]
        inside, outside = group[tails], group[heads]
        across = present[heads] & (inside != outside)
        up = across & (outside == one) & (a < C)  # r rises as the group's b does
        down = across & (inside == one) & (a > 0.0)  # r falls
        slack = np.where(up, -r, np.where(down, r, np.inf))
        sign = 1.0
        if not np.isfinite(slack).any():
            up = across & (outside == one) & (a > 0.0)
            down = across & (inside == one) & (a < C)
            slack = np.where(up, r, np.where(down, -r, np.inf))
            sign = -1.0
        at = int(slack.argmin())
        if not np.isfinite(slack[at]):
            break
        slide = sign * max(float(slack[at]), 0.0)
        r = r + slide * ((outside == one) & across) - slide * ((inside == one) & across)
        r[at] = 0.0
        ties.append(at)
        group[group == group[tails[at]]] = group[heads[at]]
    return ties, r


def _stiffness(K: Floats, Z: Floats, shift: float, rows: Ints) -> Floats:
    """1 / sqrt(H_vv), H_vv = 2 (K_ii + shift)."""
    own = K.diagonal() if K.shape[0] else np.einsum("ij,ij->i", Z, Z)
    return np.asarray(1.0 / np.sqrt(np.maximum(2.0 * (own[rows] + shift), 1e-300)))


def _independent_inverse(H: Floats) -> tuple[Ints, Floats]:
    """Indices of a well-conditioned principal block, and its inverse."""
    n = H.shape[0]
    if n == 0:
        return np.empty(0, np.int64), H
    factor, info = lapack.dpotrf(H.T, lower=0, clean=0)
    diagonal = np.abs(factor.diagonal())
    kept = np.arange(n)
    if info != 0 or diagonal.min() ** 2 < 1e-10 * H.diagonal().max():
        _, pivots, rank, _ = lapack.dpstrf(H.T, lower=0, tol=1e-10 * H.diagonal().max())
        kept = np.sort(pivots[:rank].astype(np.int64) - 1)
        block = np.ascontiguousarray(H[np.ix_(kept, kept)])
        if rank == 0:
            return kept, block
        factor, info = lapack.dpotrf(block.T, lower=0, clean=0)
        if info != 0:  # indefinite: no inverse that could be trusted
            return kept, np.full_like(block, np.nan)
    half, _ = lapack.dpotri(factor, lower=0, overwrite_c=1)
    _mirror(half.T)
    return kept, half.T


def _sharpened(H: Floats, inverse: Floats) -> tuple[Floats, float]:
    """The inverse, refined by Newton-Schulz steps if need be, and its quality.

    That is max |H H^-1 - I| as a few random probes see it: O(n^2), not a full product.
    """
    probes = np.random.default_rng(0).choice([-1.0, 1.0], size=(H.shape[0], 4))
    worst = np.inf
    for _ in range(3):
        rest = probes - H @ (inverse @ probes)
        worst = float(np.abs(rest).max(initial=0.0))
        if worst < 1e-9:
            break
        step = -(H @ inverse)
        step[np.diag_indices_from(step)] += 1.0
        inverse = inverse + inverse @ step
        inverse = (inverse + inverse.T) / 2.0
    return inverse, worst


@kernel
def _mirror(H):
    """Copy the lower triangle onto the upper."""
    for p in range(H.shape[0]):
        for q in range(p):
            H[q, p] = H[p, q]


@kernel
def hessian(K, Z, y, shift, rows, cols):
    """H on one list of variables, symmetric."""
    H = np.empty((rows.size, rows.size))
    for p in range(rows.size):
        i, k = rows[p : p + 1], cols[p : p + 1]
        row = hessian_block(K, Z, y, shift, i, k, rows[: p + 1], cols[: p + 1])
        H[p, : p + 1] = row[0]
    _mirror(H)
    return H


@kernel
def hessian_block(K, Z, y, shift, rows, cols, others, heads):
    """(K_ij + shift) <e_{y_i} - e_k, e_{y_j} - e_l> for all pairs of two lists."""
    H = np.empty((rows.size, others.size))
    dense = K.shape[0] > 0
    for p in range(rows.size):
        i, k = rows[p], cols[p]
        own = y[i]
        Hp = H[p]
        for q in range(others.size):
            j, l = others[q], heads[q]
            c = (1.0 if own == y[j] else 0.0) + (1.0 if k == l else 0.0)
            c -= (1.0 if own == l else 0.0) + (1.0 if k == y[j] else 0.0)
            if c == 0.0:
                Hp[q] = 0.0
            elif dense:
                Hp[q] = c * (K[i, j] + shift)
            else:
                s = shift
                for d in range(Z.shape[1]):
                    s += Z[i, d] * Z[j, d]
                Hp[q] = c * s
    return H
