"""Leaving out among the samples that are near the margin; the others stay idle.

Where few samples are support vectors, most of the others are far beyond the margin of
every machine. So the machines without a sample are found among the support vectors and
the samples that are nearest to the margin, *those near*. Such a machine is that of all
samples where no other sample has

    r_ik = 1 - (F_{y_i,i} - F_ki) - (b_{y_i} - b_k)  >= 0,

which products of K between the others and the alpha that changed tell. Its biases must
be tied by free variables, or else the others might hold them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from msvm_select.records import Blocks, Floats, Gram, Ints, Mask
from msvm_select.solvers.exact.classes import ClassFactor
from msvm_select.solvers.exact.cycles import (
    add_few,
    breach_each,
    certify_each,
    change_each,
)
from msvm_select.solvers.exact.together import MOSTLY, nearest
from msvm_select.solvers.exact.workbench import Training

MANY = 4000  # variables from which it is looked at
OUTPUTS_AT_ONCE = 8e5  # outputs of others that are computed at once
ROUGH = 2.0**-23  # a product in numbers of half the size is off by no more, a term
MOST_SINGLE = 1e18  # in a product of two numbers of half the size, or 1 / it
IDLE = -1e-9  # r of a sample that stays idle
BESIDE = 1e-5  # of the largest alpha: so near to a bound it may be rounding


class Proof(NamedTuple):
    """What certifies machines without a sample, in their order.

    ``facts`` (p, 3): gap, gain of a cycle, imbalance of the flow by its sum; ``told``
    (p, 3): whether an alpha is at its box, whether some are almost at a bound and no
    others tie the classes, whether these are tied; b (p, Q); F (p, Q) of the sample.
    """

    facts: Floats
    told: Mask
    b: Floats
    F: Floats

    def of(self, some: Ints | Mask) -> Proof:
        """That of some of the machines."""
        return Proof(self.facts[some], self.told[some], self.b[some], self.F[some])


class Near:
    """Some of the samples of a machine, class-sorted, and all that others need."""

    def __init__(self, full: Training, rest: Floats, rows: Ints | None = None) -> None:
        """``rows``: which samples; all without them.

        rest (all,): what stays of the box of each where it leaves.
        """
        gram, m = full.bench.sorted_gram, full.A.shape[1]
        self.full, self.all = full, rows is None or rows.size == m
        self.missed = np.zeros(m, bool)
        self.factor: ClassFactor | None = None
        self.rows = np.arange(m) if rows is None or self.all else rows
        self.gram: Gram = gram if self.all else gram.part(self.rows)
        here = slice(None) if self.all else self.rows
        self.y, self.box = full.bench.y[here], full.box[here]
        self.rest, self.rest_of_all = rest[here], rest
        self.A = np.ascontiguousarray(full.A[:, here])
        self.F = np.ascontiguousarray(full.F[:, here])
        ends = np.searchsorted(self.y, np.arange(len(self.A) + 1))
        self.offsets = ends.astype(np.int64)
        if not self.all:
            self.waiting = np.zeros(m, bool)
            away = np.ones(m, bool)
            away[self.rows] = False
            self.others = np.flatnonzero(away)
            self.across = gram.block(self.rows, self.others)
            self.largest = max(self.across.max(), -self.across.min())
            known = self.A > 0.0
            known[self.y, np.arange(self.y.size)] = self.A.any(axis=0)
            self.known = known
            places, rough = [np.flatnonzero(own) for own in known], np.float32
            self.of_known = [(at, self.across[at].astype(rough)) for at in places]
            self.F_others = np.ascontiguousarray(full.F[:, self.others])
            ends = np.searchsorted(
                full.bench.y[self.others], np.arange(len(self.A) + 1)
            )
            self.offsets_others = ends.astype(np.int64)

    @classmethod
    def of(cls, full: Training, b: Floats, rest: Floats) -> Near:
        """Those that are near the margin of ``full``, where they are few enough."""
        gram, y = full.bench.sorted_gram, full.bench.y
        Q, m = full.A.shape
        if isinstance(gram, Blocks) or gram.whole is None or (Q - 1) * m < MANY:
            return cls(full, rest)
        h, own = full.F + b[:, None], (y, np.arange(m))
        r = 1.0 - h[own] + h
        r[own] = -np.inf
        return cls(full, rest, nearest(full.A, r))

    def wider(self) -> Near:
        """With those that were missed, or with all where none was."""
        rows = None
        if self.missed.any():
            self.missed[self.rows] = True
            rows = np.flatnonzero(self.missed)
            rows = rows if rows.size <= MOSTLY * self.missed.size else None
        found, factor = Near(self.full, self.rest_of_all, rows), self.factor
        if factor is not None:
            here = np.searchsorted(found.rows, self.rows[factor.rows])
            found.factor = replace(factor, rows=here)
        return found

    def factor_of(self, gram: Gram, y: Ints, free: Mask) -> ClassFactor:
        """Of the free arcs: among fewer samples they were the same, as a rule."""
        if self.factor is None or not self.factor.is_of(y, free):
            self.factor = ClassFactor.of(gram, y, free)
        return self.factor

    def local(self, samples: Ints) -> Ints:
        """Their numbers among those near."""
        return np.searchsorted(self.rows, samples)

    def lifted(self, A: Floats) -> Floats:
        """alpha of all samples (Q, m)."""
        found = np.zeros_like(self.full.A)
        found[:, self.rows] = A
        return found

    def tau_of(self, alphas: Floats, kind: Any = np.float64) -> tuple[Any, Floats]:
        """tau (Q, p, near) of the changes to alphas (p, Q, near), and their sums."""
        tau = np.empty((len(self.A), len(alphas), self.y.size), kind)
        size = np.empty(len(alphas))
        change_each(alphas, self.A, self.offsets, tau, size)
        return tau, size

    def proof(self, samples: Ints, alphas: Floats, changes: Floats) -> Proof:
        """Of the machines without these (numbers among those near)."""
        p, Q = samples.size, len(self.A)
        facts, told = np.empty((p, 3)), np.empty((p, 3), bool)
        b = np.empty((p, Q))
        certify_each(
            alphas, self.F, changes, self.offsets, self.box, samples, self.rest, BESIDE,
            facts, told, b,
        )  # fmt: skip
        here = np.arange(p)
        F = self.F[:, samples].T + changes[here, :, samples]
        return Proof(facts, told, b, F)

    def others_idle(self, samples: Ints, alphas: Floats, proof: Proof) -> Mask:
        """Whether all others stay idle in these machines; who does not is missed.

        Most are so far from the margin that numbers of half the size show it.
        """
        idle = np.zeros(len(alphas), bool)
        for rough in (True, False):
            left = np.flatnonzero(~idle)
            # no copy where all are left: it takes long
            some = alphas if left.size == idle.size else alphas[left]
            if left.size and not (rough and self._beyond_single(alphas)):
                idle[left] = self._stay_idle(some, proof.b[left], rough)
        idle &= proof.told[:, 2]
        self.waiting[self.rows[samples[~idle]]] = True
        return idle

    def _beyond_single(self, alphas: Floats) -> bool:
        """Whether numbers of half the size might over- or underflow."""
        return not (1.0 / MOST_SINGLE < self.largest < MOST_SINGLE > alphas.max())

    def _stay_idle(self, alphas: Floats, b: Floats, rough: bool) -> Mask:
        """In which machines no other has r >= IDLE; one that has is missed.

        ``rough``: in float32, where r is off by ROUGH for each of its terms tau_j K_ij
        at the most. Whoever might have r >= IDLE is then taken for one that has.
        """
        Q, each, kind = len(self.A), self.others.size, np.float32 if rough else float
        wrong, count = np.zeros(each, bool), np.zeros(len(alphas), np.int64)
        known = self.known if rough else np.zeros_like(self.known)
        some = max(1, int(OUTPUTS_AT_ONCE // (Q * each)))
        room = np.zeros(min(some, len(alphas)) * Q * each, kind)
        for first in range(0, len(alphas), some):
            here = slice(first, first + some)
            tau, size = self.tau_of(alphas[here], kind)
            F = room[: size.size * Q * each].reshape(Q, size.size, each)
            least = np.full(size.size, IDLE)
            if rough:
                for k, (own, across) in enumerate(self.of_known):
                    np.matmul(tau[k].take(own, axis=1), across, out=F[k])
                least -= ROUGH * (self.y.size + 2 * Q) * self.largest * size
            else:
                F[:] = 0.0
            add_few(tau, known, self.across, F)
            breach_each(
                self.F_others, F, self.offsets_others, b[here], least, wrong,
                count[here],
            )  # fmt: skip
        if not rough:
            self.missed[self.others[wrong]] = True
        return np.asarray(count == 0)
