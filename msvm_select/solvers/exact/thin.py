"""Matrices of which little is left: of a rough kernel, K is nearly the identity.

Where k(x, z) of most pairs is below rounding beside K_ii, K is a few large entries off
its diagonal, and so are its inverses, since these hold within the groups of samples
that such entries connect. Products by them then cost a handful of passes over a vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from msvm_select import lapack
from msvm_select.records import Floats, Gram, Ints
from msvm_select.solvers.compiled import kernel

NO_ENTRY = 1e-16  # of the largest entry: no more than the rounding of a product
SMALL_ENTRY = 1e-12  # the same where the answer is refined, or proven by K
THIN = 0.04  # the part of the entries that may be left
PROBED = 16  # rows that are looked at first
SCANNED = 2**22  # entries that are looked at together
FEWEST_ROWS = 64  # rows; fewer are not worth it
SMALL_GROUPS = 0.25  # the largest group, by all rows


@dataclass(frozen=True, eq=False)
class ThinGram(Gram):
    """A Gram matrix whose products take the entries that are left."""

    thin: Any = None

    def product(self, tau: Floats) -> Floats:
        """K tau."""
        return np.asarray(self.thin @ tau)

    def products(self, tau: Floats) -> Floats:
        """K tau_k for each class k of tau (Q, m, columns)."""
        return np.stack([self.thin @ own for own in tau])


def thin_gram(gram: Gram) -> Gram:
    """The same, with thin products where K is thin."""
    if gram.whole is None:
        return gram
    found = thinned(gram.matrix)
    return gram if found is gram.matrix else ThinGram(whole=gram.whole, thin=found)


def thinned(A: Floats, nothing: float = NO_ENTRY) -> Any:
    """What is left of A, as a sparse array; A itself where that is much."""
    if min(A.shape, default=0) < FEWEST_ROWS:
        return A
    least = nothing * max(float(A.max()), -float(A.min()))
    probed = A[:: max(1, A.shape[0] // PROBED)]
    if np.count_nonzero(np.abs(probed) > least) > 2.0 * THIN * probed.size:
        return A
    parts, some, left = [], max(1, SCANNED // A.shape[1]), 0
    for first in range(0, A.shape[0], some):
        rows, columns = np.nonzero(np.abs(A[first : first + some]) > least)
        left += rows.size
        if left > THIN * A.size:
            return A
        parts.append((rows + first, columns))
    at = tuple(np.concatenate(both) for both in zip(*parts, strict=True))
    return csr_array((A[at], at), shape=A.shape)


def kept_of(gram: Gram, block: Any) -> Any:
    """A block of K, thin where K is: where it is not, nobody looks."""
    return thinned(block) if isinstance(gram, ThinGram) else block


def inverse_of(block: Floats, ridge: float, may_be_thin: bool = True) -> Any:
    """(block + ridge I)^-1, symmetric; LinAlgError where that is not definite."""
    thin = thinned(block, SMALL_ENTRY) if may_be_thin else block
    if thin is not block:
        count, group = connected_components(thin, directed=False)
        sizes = np.bincount(group, minlength=count)
        if sizes.max() <= SMALL_GROUPS * group.size:
            return _by_groups(block, ridge, group, sizes)
    return _whole(block, ridge)


def _by_groups(block: Floats, ridge: float, group: Any, sizes: Any) -> Any:
    """The inverse of each group of rows that hang together."""
    alone = np.flatnonzero(sizes[group] == 1)
    own = block[alone, alone] + ridge
    if not (own > 0.0).all():
        raise np.linalg.LinAlgError
    parts = [(alone, alone, 1.0 / own)]
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(sizes)
    for g in np.flatnonzero(sizes > 1):
        at = order[ends[g] - sizes[g] : ends[g]]
        inverse = _whole(block[np.ix_(at, at)], ridge)
        parts.append((np.repeat(at, at.size), np.tile(at, at.size), inverse.ravel()))
    rows, columns, values = (np.concatenate(p) for p in zip(*parts, strict=True))
    return coo_array((values, (rows, columns)), shape=block.shape).tocsr()


def _whole(block: Floats, ridge: float) -> Floats:
    A = np.array(block)
    if not A.size:
        return A
    A[np.diag_indices(A.shape[0])] += ridge
    return inverse_from(cholesky(A))


def cholesky(A: Floats) -> Floats:
    """The factor of A, which is used up, as LAPACK has it; LinAlgError without one."""
    factor, info = lapack.dpotrf(A.T, lower=0, overwrite_a=1, clean=0)
    if info != 0:
        raise np.linalg.LinAlgError
    return factor


def inverse_from(factor: Floats) -> Floats:
    """The inverse from the factor, which is used up."""
    half, _ = lapack.dpotri(factor, lower=0, overwrite_c=1)
    mirror(half.T)
    return half.T


def add_to(total: Floats, at: Any, part: Any) -> None:
    """total[at, at] += part, thin or not."""
    if isinstance(part, np.ndarray):
        _add_block(total, at, part)
    else:
        entries = part.tocoo()
        total[at[entries.row], at[entries.col]] += entries.data


def columns_of(A: Any, wanted: Any) -> Floats:
    """Some columns of a symmetric A, not thin."""
    some = A[wanted].T
    return some if isinstance(some, np.ndarray) else np.asarray(some.toarray())


@kernel
def _add_block(total: Floats, at: Ints, part: Floats) -> None:
    """total[at, at] += part."""
    for p in range(at.size):
        row, own = total[at[p]], part[p]
        for q in range(at.size):
            row[at[q]] += own[q]


@kernel
def mirror(H: Floats) -> None:
    """Copy the lower triangle onto the upper."""
    for p in range(H.shape[0]):
        for q in range(p):
            H[q, p] = H[p, q]
