"""Many samples: training on those that matter, where K is never held as a whole.

Most samples are no support vectors, and most support vectors of overlapping classes
have all their alpha at a bound. Only those near the margin, the *working set*, are
variables of their own. Of the others, those without alpha are left out, and those with
alpha are gathered: the members of a group are of one class and have the same share
theta of their boxes, and with the same shares they stay one sample,

    Phi_g = sum_i C_i Phi(x_i) / C_g,    C_g = sum_i C_i the box,

whose r is the mean of the members'. So the problem of the working set and the groups is
the whole problem with some variables held equal: its optimum is a feasible point, and
the optimum of the whole where no member's r, and no outsider's, has the wrong sign. Who
has it joins the working set, or another group, and all is solved again. K is computed
within the working set, and between it and all samples a block at a time; the sums of
K's columns that a group needs are kept, and change as members come and go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from msvm_select.records import Floats, Gram, Ints, Mask
from msvm_select.solvers.exact.workbench import Training

FIRST_SET = 1500  # samples of the first set, where no machine is there to tell
OF_A_CLASS = 20  # or so many of each class
BROKEN = 1e-10  # r of the wrong sign
BESIDE_SET = 0.05  # |r| of those that join before it has
JOINING = 300  # samples that join at once, or as many as are free
ANCHORED = 1  # times as many wrong, beyond which some samples of all hold the outputs
STAYING = 2  # times as many stay that are at their bounds
FEWEST = 8  # members of a group; fewer are samples of their own
MOST_SETS = 80
OUTSIDE, OWN = -2, -1  # without alpha; in the working set


@dataclass(frozen=True, eq=False)
class Gathered:
    """Where each sample is: ``label`` (m,) is OUTSIDE, OWN or its group.

    ``weight`` (m,): the boxes by C. Of each group: ``classes``; ``share`` (G, Q), which
    is theta; ``sums`` (G, m), those of K's columns by weight.
    """

    label: Ints
    weight: Floats
    classes: Ints
    share: Floats
    sums: Floats

    @property
    def own(self) -> Ints:
        """The working set."""
        return np.flatnonzero(self.label == OWN)

    @property
    def held(self) -> Ints:
        """The members of the groups."""
        return np.flatnonzero(self.label >= 0)

    @property
    def mass(self) -> Floats:
        """The weight of each group."""
        held, count = self.held, self.classes.size
        sums = np.bincount(self.label[held], self.weight[held], minlength=count)
        return np.asarray(sums, dtype=np.float64)

    @property
    def columns(self) -> Floats:
        """The weight of each member in the column of its group (m, G)."""
        found = np.zeros((self.label.size, self.classes.size))
        found[self.held, self.label[self.held]] = self.weight[self.held]
        return found


def shrunk(full: Training, train: Callable[[Training], Training]) -> Training:
    """``full`` at its optimum; ``train`` brings smaller problems to theirs."""
    supports = bool((full.A > 0.0).any())
    now = _begun(full) if supports else _foreseen(full, train)
    for _ in range(MOST_SETS):
        smaller, order = _problem(full, now)
        part = train(smaller)
        full.steps, full.solves = full.steps + part.steps, full.solves + part.solves
        now = _taken(full, now, part.A[:, np.argsort(order)])
        r = _gradients(full, full.F, part.b)
        breach = _breach(full, r)
        breach[now.own] = 0.0
        if not (breach > BROKEN).any():
            break
        now = _regrouped(full, now, r, breach)
    full.certify()
    full.sets[:] = [now]
    return full


def _begun(full: Training) -> Gathered:
    """By the alpha that there are."""
    r = _gradients(full, full.F, full.b)
    wrong = _breach(full, r) > BROKEN
    own = (wrong | ~_at_bounds(full)) & (full.box > 0.0)
    own[_nearest(r, ~own & (full.box > 0.0), JOINING)] = True
    held = ~own & (full.A > 0.0).any(axis=0)
    last = full.sets[0] if full.sets else _nobody(full)
    return _grouped(full, last, own, held, (full.A > 0.0).astype(float), r)


def _foreseen(full: Training, train: Callable[[Training], Training]) -> Gathered:
    """Without any: by a machine of some samples, whose boxes are larger for it.

    What it says of the others is near to the truth: alpha of those beyond its margin
    will be at their box, and those near it decide.
    """
    some, nobody = _spread(full), _nobody(full)
    larger = full.box.sum() / full.box[some].sum()
    A = np.zeros((full.A.shape[0], some.size))
    gram, y = full.bench.sorted_gram.of(some), full.bench.y[some]
    part = train(Training.smaller(full, gram, y, A, larger * full.box[some]))
    full.steps, full.solves = full.steps + part.steps, full.solves + part.solves
    there = np.zeros_like(full.A)
    there[:, some] = part.A
    r = _gradients(full, full.problem.outputs(there), part.b)
    own = np.zeros(full.box.size, bool)
    few = max(JOINING, int(larger * part.n_free))
    own[some] = own[_nearest(r, full.box > 0.0, min(few, FIRST_SET))] = True
    held = ~own & (full.box > 0.0) & (r > 0.0).any(axis=0)
    return _grouped(full, nobody, own, held, there * 0.0, r)


def _nobody(full: Training) -> Gathered:
    """No groups at all."""
    (Q, m), weight = full.A.shape, full.box / full.dual.C
    none = np.zeros((0, m))
    outside = np.full(m, OUTSIDE)
    return Gathered(outside, weight, np.zeros(0, np.int64), none[:, :Q], none)


def _nearest(r: Floats, among: Mask, most: int, beside: float = np.inf) -> Ints:
    """So many of these samples at the most, those with the smallest |r|."""
    near = np.where(among, np.abs(r).min(axis=0), np.inf)
    first = np.argsort(near, kind="stable")[:most]
    return np.asarray(first[near[first] < beside])


def _spread(full: Training) -> Ints:
    """Evenly from each class, in the order of the data."""
    parts = []
    m = full.A.shape[1]
    for first, end in zip(full.bench.offsets[:-1], full.bench.offsets[1:], strict=True):
        size = int(end - first)
        some = min(size, max(OF_A_CLASS, FIRST_SET * size // m))
        parts.append(first + np.linspace(0, size - 1, some).astype(np.int64))
    chosen = np.concatenate(parts)
    return np.asarray(chosen[full.box[chosen] > 0.0])


def _problem(full: Training, now: Gathered) -> tuple[Training, Ints]:
    """That of the working set and the groups, in the order of their classes."""
    own, mass, y = now.own, now.mass, full.bench.y
    y = np.concatenate([y[own], now.classes])
    K = np.empty((y.size, y.size))
    n = own.size
    K[:n, :n] = full.bench.sorted_gram.of(own).matrix
    K[n:, :n] = now.sums[:, own] / mass[:, None]
    K[:n, n:] = K[n:, :n].T
    among = (now.sums @ now.columns) / np.outer(mass, mass)
    K[n:, n:] = (among + among.T) / 2.0
    A = np.hstack([full.A[:, own], (now.share * mass[:, None]).T * full.dual.C])
    box = np.concatenate([full.box[own], mass * full.dual.C])
    order = np.argsort(y, kind="stable")
    gram = Gram(whole=np.ascontiguousarray(K[np.ix_(order, order)]))
    return Training.smaller(full, gram, y[order], A[:, order], box[order]), order


def _taken(full: Training, now: Gathered, A: Floats) -> Gathered:
    """alpha and F of all samples by those of the smaller problem."""
    own, held, C = now.own, now.held, full.dual.C
    share = np.clip(A[:, own.size :].T / (now.mass * C)[:, None], 0.0, 1.0)
    full.A = np.zeros_like(full.A)
    full.A[:, own] = A[:, : own.size]
    by_own = full.problem.outputs(full.A)
    full.A[:, held] = share.T[:, now.label[held]] * full.box[held]
    tau, at = -C * share, np.arange(now.classes.size)
    tau[at, now.classes] += C * share.sum(axis=1)
    full.F = by_own + tau.T @ now.sums
    return replace(now, share=share)


def _gradients(full: Training, F: Floats, b: Floats) -> Floats:
    """r_ik = g_ik - (b_{y_i} - b_k) (Q, m); -inf where there is no variable."""
    y, there = full.bench.y, np.isfinite(b)
    b = np.where(there, b, 0.0)
    r = 1.0 - full.problem.gradient_of(F) - (b[y] - b[:, None])
    r[~there] = -np.inf
    r[y, np.arange(y.size)] = -np.inf
    return np.asarray(r)


def _breach(full: Training, r: Floats) -> Floats:
    """The largest r of the wrong sign of each sample (m,)."""
    up, down = np.where(full.A < full.box, r, 0.0), np.where(full.A > 0.0, -r, 0.0)
    return np.asarray(np.maximum(up, down).max(axis=0))


def _at_bounds(full: Training) -> Mask:
    """Samples without a free variable (m,)."""
    return np.asarray(((full.A <= 0.0) | (full.A >= full.box)).all(axis=0))


def _regrouped(full: Training, now: Gathered, r: Floats, breach: Floats) -> Gathered:
    """The working set with those nearest to right; the others by what r wants of them.

    Of its samples at their bounds, those nearest to the margin stay.
    """
    free, own = ~_at_bounds(full), now.label == OWN
    wrong = breach > BROKEN
    most = max(JOINING, int(np.count_nonzero(own & free)))
    stays = own & free
    stays[_nearest(r, own & ~free, STAYING * most)] = True
    first = np.argsort(np.where(wrong, breach, np.inf), kind="stable")[:most]
    stays[first[wrong[first]]] = True
    beside = (full.box > 0.0) & ~stays
    stays[_nearest(r, beside, JOINING // 2, BESIDE_SET)] = True
    if np.count_nonzero(wrong) > ANCHORED * most:
        stays[_spread(full)] = True
    held = ~stays & (wrong | (full.A > 0.0).any(axis=0))
    share = (full.A > 0.0).astype(float)
    share[:, now.held] = now.share.T[:, now.label[now.held]]
    return _grouped(full, now, stays, held, share, r)


def _grouped(
    full: Training, last: Gathered, own: Mask, held: Mask, share: Floats, r: Floats
) -> Gathered:
    """Groups of those ``held``: of one class, one share, and one set of r > 0."""
    members, y = np.flatnonzero(held), full.bench.y
    label = np.where(own, OWN, OUTSIDE)
    marks = np.vstack([y[members][None], share[:, members], r[:, members] > 0.0])
    _, first, kind, count = np.unique(
        marks, axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    few = count < FEWEST
    place = np.cumsum(~few) - 1
    label[members] = np.where(few[kind], OWN, place[kind])
    some = members[first[~few]]
    found = Gathered(
        label, full.box / full.dual.C, y[some], share[:, some].T, np.empty((0, 0))
    )
    return replace(found, sums=_sums(full, last, found))


def _sums(full: Training, last: Gathered, now: Gathered) -> Floats:
    """(G, m): from those of the last groups, where few members came or went."""
    came, before = now.columns, last.columns
    sums = np.zeros(came.T.shape)
    if before.size:
        like = ((came > 0.0).T.astype(float) @ (before > 0.0)).argmax(axis=1)
        for g, one in enumerate(like):
            change = came[:, g] - before[:, one]
            if np.count_nonzero(change) < np.count_nonzero(came[:, g]):
                came[:, g], sums[g] = change, last.sums[one]
    return np.asarray(sums + full.bench.sorted_gram.product(came).T)
