"""Every machine without one sample, from one factorization of the full machine.

Let M be the free variables of the full machine (0 < alpha < C_i), N all others, and
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

This is the Schur-complement device of QP solvers. With few variables the full inverse
is formed, which pays since every sample asks for it. With many, the system split by
class (``exact/classes``) makes the rows of G, X and S that some sample asks for, of
those variables only whose r is near 0; the answer is then proven by K, and a variable
that was missed is watched from there on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import coo_array

from msvm_select import lapack
from msvm_select.geometry.arcs import Arcs
from msvm_select.records import Blocks, Floats, Gram, Ints, Mask
from msvm_select.solvers.compiled import kernel
from msvm_select.solvers.exact.classes import MOST_NUMBERS, ClassFactor
from msvm_select.solvers.exact.common import FewHeld, between_arcs
from msvm_select.solvers.exact.thin import mirror
from msvm_select.solvers.exact.together import Together
from msvm_select.solvers.leave_out.rows import Responses

POOR = 1e-6  # an inverse worse than this is not used
SHARP_ENOUGH = 1e-9  # likewise: one that is not refined
MOST_SHARPENED = 2  # steps of refinement
MOST_DENSE = 2e8  # numbers of a dense tableau
CHEAP_DENSE = 1e10  # multiplications of one that is tried where the other fails
NEAR_MARGIN = 1000  # of many samples, so many that are no support vectors, or as many
MOST_WHOLE = 4000  # of many samples, those whose K is held where nothing else will do
EXACT = 1e-10  # of alpha up to 1: an error of rows that nothing proves
NEAR_ENOUGH = 1e-8  # the same where K proves the answers
FAR_FEWER = 1.2  # times fewer products, for all that they are smaller ones
POOR_BY_CLASSES = 0.1  # likewise of a factor by classes, which is refined
LEAST_WATCHED = 800  # or so many
ALL_WATCHED = 2800  # variables up to which the dense one, which watches all, is faster
WATCHED_FOR_FEW = 0.35  # so many times as many where few samples are left out,
FEW = 0.15  # of all
WITH_TWINS = 6000  # the same where samples of different classes are at one place
TOGETHER_FROM = 7000  # free variables times classes: beyond it, rows are dearer;
MOST_INVERTED = 2000  # samples: the inverse of K is kept for the next C
SOME_ROWS = 64  # of a symmetric product
MOST_CLASSES = 10  # of more, as many as of these: their paths are long
WATCHED = 0.8  # of the number of free variables: so many others are watched
MADE_BY_K = 500  # samples up to which rows are made by K, one by one
SMALL_H = 5e4  # numbers in a block of H that is held
TWINS = 1e-12  # of K_ii: samples at such a distance (squared) are at one place

Factorise = Callable[[Gram, Ints, Mask], ClassFactor]

inverses: WeakKeyDictionary[Gram, tuple[Floats, float]] = WeakKeyDictionary()
"""K^-1 and its quality, of small K that are there: the next C asks for it, too"""


@dataclass(eq=False)
class Tableau:
    """The variables M and N, and how to make the row of any: ``respond``.

    ``fall`` makes those of samples whose variables outside M go to what stays of them.

    The row of a force on v of M is (G_v, -X_v), that of a shift of v of N (-X'_v,
    -S_v). Variables are numbered, those of M first. ``kept`` are the rows that are
    there from the start, ``given`` of them; where K is there, these are those of M, and
    K can make the others in the room behind them. ``error`` times the largest alpha is
    about how far margins are off by rounding. Where N holds some of the others only,
    what the tableau says must be proven, and ``more`` makes one with these as well (Q,
    m). ``sharper`` makes one that is nearer to K where that does not cost much.
    ``together`` gives a road that needs no rows, where that is cheaper, for so many
    samples.
    """

    rows_M: Ints
    cols_M: Ints
    rows_N: Ints
    cols_N: Ints
    alpha_M: Floats
    alpha_N: Floats
    r_N: Floats
    scale_M: Floats
    scale_N: Floats
    respond: Callable[[Ints], Floats]
    fall: Callable[[Ints], Floats]
    kept: Floats
    given: int = 0
    K: Floats | None = None
    error: float = 0.0
    more: Callable[[Mask], Tableau | None] | None = None
    sharper: Callable[[], Tableau | None] | None = None
    together: Callable[[int], Together | None] | None = None

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return int(self.alpha_M.size + self.alpha_N.size)


def build(
    gram: Gram, y: Ints, alpha: Floats, F: Floats, b: Floats, box: Floats, rest: Floats,
    asked: int, factor_of: Factorise = ClassFactor.of,
) -> Tableau | None:  # fmt: skip
    """The tableau at an optimum alpha, F (Q, m), box (m,); None: no such.

    rest (m,): what stays of the box of each where it leaves. ``asked``: how many
    samples will be left out. ``factor_of`` makes the factor by classes where K is held.
    """
    if isinstance(gram, Blocks):
        return _around(gram, y, alpha, F, b, box, rest, np.zeros(alpha.shape, bool))
    few = asked <= FEW * y.size
    whole = ALL_WATCHED * (WATCHED_FOR_FEW if few else 1.0)
    return _among(gram, y, alpha, F, b, box, rest, whole, factor_of)


def _among(
    gram: Gram, y: Ints, alpha: Floats, F: Floats, b: Floats, box: Floats, rest: Floats,
    whole: float = ALL_WATCHED, factor_of: Factorise = ClassFactor.of,
) -> Tableau | None:  # fmt: skip
    """That of all these samples; where K is never held, by classes alone.

    ``whole``: so many variables may all have their rows made.
    """
    Q = alpha.shape[0]
    cols, rows = np.nonzero(np.arange(Q)[:, None] != y)
    a = alpha[cols, rows]
    r = 1.0 - F[y[rows], rows] + F[cols, rows] - b[y[rows]] + b[cols]
    top = box[rows]
    free = (a > 0.0) & (a < top)
    ties, r = _tie(y[rows], cols, a, r, top, np.bincount(y, minlength=Q) > 0)
    free[ties] = True
    gone = a - np.minimum(a, rest[rows])
    arcs, n = _Arcs(y, rows, cols, a, r, free, gone), int(free.sum())
    in_blocks = isinstance(gram, Blocks)
    if in_blocks or (a.size > whole and Q > 2):
        with suppress(np.linalg.LinAlgError):
            return _by_classes(gram, Q, arcs, box, factor_of)
    if in_blocks or n * a.size > MOST_DENSE:
        return None
    if arcs.common_is_cheaper and gram.factor is None:
        with suppress(np.linalg.LinAlgError):
            return _of_common_inverse(gram, Q, arcs)
    return _dense(gram, Q, arcs)


def _around(
    gram: Blocks, y: Ints, alpha: Floats, F: Floats, b: Floats, box: Floats,
    rest: Floats, missed: Mask,
) -> Tableau | None:  # fmt: skip
    """That of the support vectors, of who is near the margin, and of the ``missed``.

    K is computed between these only, and where the factor by classes will do, only as
    far as rows are asked for. The others are idle, which the proof of every answer
    shows: it takes all samples.
    """
    supports, here = alpha.max(axis=0) > 0.0, np.arange(y.size)
    r = 1.0 - F[y, here] + F - b[y] + b[:, None]
    r[y, here] = -np.inf
    rank = np.where(supports | missed.any(axis=0), -1.0, np.abs(r.max(axis=0)))
    count = np.count_nonzero(rank < 0.0) + max(NEAR_MARGIN, int(supports.sum()))
    chosen = np.sort(np.argsort(rank, kind="stable")[:count])
    some = np.ix_(here[: len(F)], chosen)
    point = (y[chosen], alpha[some], F[some], b, box[chosen], rest[chosen])
    inner = _among(gram.part(chosen), *point)
    if inner is None and chosen.size <= MOST_WHOLE:
        inner = _among(gram.of(chosen), *point)
    if inner is not None and inner.more is not None and missed.any():
        inner = inner.more(missed[:, chosen])
    if inner is None:
        return None

    def among_all(inner: Tableau) -> Tableau:
        """With the numbers that its samples have among all."""
        sharper, fall = inner.sharper, inner.fall
        return replace(
            inner, rows_M=chosen[inner.rows_M], rows_N=chosen[inner.rows_N],
            fall=lambda samples: fall(np.searchsorted(chosen, samples)), together=None,
            more=lambda more: _around(gram, y, alpha, F, b, box, rest, missed | more),
            sharper=sharper and (lambda: _mapped(sharper(), among_all)), K=None,
        )  # fmt: skip

    return among_all(inner)


def _mapped(
    found: Tableau | None, change: Callable[[Tableau], Tableau]
) -> Tableau | None:
    return None if found is None else change(found)


@dataclass(frozen=True, eq=False)
class _Arcs:
    """All variables of an optimum, alpha and r of each, and which are free.

    ``gone``: how much of alpha its sample takes along where it leaves.
    """

    y: Ints
    rows: Ints
    cols: Ints
    a: Floats
    r: Floats
    free: Mask
    gone: Floats

    def check_balance(self, which: Ints, forced: Floats, Q: int) -> None:
        """LinAlgError where alpha of the first of these, M, lose the flow's balance.

        forced (n, all): A_M' G = 0 and A_M' X = A_N', which rounding breaks first where
        K is nearly singular, or where few arcs tie the classes. An alpha at its bound
        would then count as one beside it, and hold the biases.
        """
        rows, n = self.rows[which], len(forced)
        incidence = Arcs(rows, self.y[rows], self.cols[which]).incidence(Q)
        owed = incidence[:n].T @ forced
        owed[:, n:] += incidence[n:].T
        if not np.abs(owed).max() <= EXACT * min(1.0, float(self.a.max())):
            raise np.linalg.LinAlgError

    @property
    def common_is_cheaper(self) -> bool:
        """Whether the inverse of K makes the table with far fewer products."""
        m, n = float(self.y.size), float(np.count_nonzero(self.free))
        s = self.a.size - n
        dense, to_one_head = n**3 + n**2 * s, n * m / self.a.size
        common = m**3 + s**3 + s**2 * (m + to_one_head) + n**2 * s / 2.0
        return bool(dense > FAR_FEWER * common)

    def apart(self, gram: Gram) -> tuple[Mask, Ints]:
        """The free ones that hang together with no other one, as far as twins go.

        Of samples at one place, only arcs of the first one's class are kept, and of
        these one to each head. -> (those, the first sample at the place of each)
        """
        first = np.arange(self.y.size)
        touched = np.unique(self.rows[self.free])
        own = gram.diagonal[touched]
        far = own[:, None] + own - 2.0 * gram.block(touched, touched)
        near = far <= TWINS * own.max(initial=0.0)
        first[touched] = touched[near.argmax(axis=0)]
        kept = self.free.copy()
        twins = np.flatnonzero(self.free & (first[self.rows] != self.rows))
        for place in np.unique(first[self.rows[twins]]):
            there = np.flatnonzero(self.free & (first[self.rows] == place))
            other = self.y[self.rows[there]] != self.y[place]
            _, one = np.unique(self.cols[there], return_index=True)
            again = np.ones(there.size, bool)
            again[one] = False
            kept[there[other | again]] = False
        return kept, first


class _Listed:
    """Some arcs of all (ascending), and products of H with them."""

    def __init__(self, gram: Gram, Q: int, arcs: _Arcs, which: Ints) -> None:
        """K, and where the arcs of each pair of classes begin."""
        self.rows, self.cols = arcs.rows[which], arcs.cols[which]
        self.tails, self.Q = arcs.y[self.rows], Q
        self.arrays = gram.arrays
        self.shift = float(gram.diagonal.max()) or 1.0
        pairs = self.cols * Q + self.tails
        self.starts = np.searchsorted(pairs, np.arange(Q * Q + 1))

    @property
    def incidence(self) -> Floats:
        """The rows e_{y_i} - e_k."""
        return Arcs(self.rows, self.tails, self.cols).incidence(self.Q)

    def products(
        self, points: Ints, tau: Floats, found: Floats | None = None
    ) -> Floats:
        """What tau (points, Q) of these samples does to F_{y_j} - F_jl.

        Added to ``found``, in place, where that is given.
        """
        if found is None:
            found = np.zeros((points.size, self.rows.size))
        K, Z = self.arrays
        arc_products(K, Z, self.shift, points, tau, self.rows, self.starts, found)
        return found

    def entries(self, m: int, more: int) -> tuple[Ints, Ints, list[Ints]]:
        """The entries (class, sample) of F or tau that these touch, class by class.

        Behind those of each class is room for so many ``more``. -> (the places of the
        heads and of the tails, the samples of each class)
        """
        there = np.ones((self.Q, m + more), bool)
        there[:, :m] = False
        there[self.cols, self.rows] = there[self.tails, self.rows] = True
        place = there.cumsum().reshape(there.shape) - 1
        samples = [np.flatnonzero(touched) for touched in there[:, :m]]
        return place[self.cols, self.rows], place[self.tails, self.rows], samples


class _Moved:
    """How r of some arcs N moves with alpha of others, M.

    That is -H_NM alpha, by one product for each class, of K between the samples whose
    F_k is asked for and those that have a tau_k: half of what H takes, or less. Where H
    is small, it is held.
    """

    def __init__(self, gram: Gram, M: _Listed, N: _Listed) -> None:
        """Which samples these are."""
        self.M, self.N = M, N
        self.H: Floats | None = None
        if M.rows.size * N.rows.size <= SMALL_H:
            self.H, self.arcs = -N.products(M.rows, M.incidence), -N.incidence.T
            return
        self.into, self.out_of, moving = M.entries(gram.m, 1)  # one is for the level
        self.other, self.own, asked = N.entries(gram.m, 0)
        self.classes: list[tuple[slice, slice, Floats]] = []
        of_M, of_N = 0, 0  # where the entries of a class begin
        for some, others in zip(moving, asked, strict=True):
            K = np.ones((some.size + 1, others.size))
            K[:-1] = gram.block(some, others)
            parts = slice(of_M, of_M + len(K)), slice(of_N, of_N + others.size)
            self.classes.append((*parts, K))
            of_M, of_N = parts[0].stop, parts[1].stop

    def __call__(self, alpha: Floats, b: Floats, out: Floats) -> None:
        """out (p, N) = that of alpha (p, M), with b (p, Q) added to F."""
        if self.H is not None:
            np.matmul(alpha, self.H, out=out)
            out += b @ self.arcs
            return
        first, last, _ = self.classes[-1]
        tau, F = np.empty((len(alpha), first.stop)), np.empty((len(alpha), last.stop))
        spread(alpha, self.into, self.out_of, tau)
        level = b + self.M.shift * (alpha @ self.M.incidence)  # K of H has the shift
        for c, (some, others, K) in enumerate(self.classes):
            tau[:, some.stop - 1] = level[:, c]
            np.matmul(tau[:, some], K, out=F[:, others])
        differences(F, self.own, self.other, out)


def _dense(gram: Gram, Q: int, arcs: _Arcs) -> Tableau | None:
    """By the inverse of KKT as a whole; N is all that is not free.

    Free variables that depend on the others (K singular) are put into N: they keep
    their value as long as r stays 0, which the others see to.
    """
    y, a, r = arcs.y, arcs.a, arcs.r
    chosen = np.flatnonzero(arcs.free)
    M = _Listed(gram, Q, arcs, chosen)
    H = M.products(M.rows, M.incidence)
    kept, inverse = _independent_inverse(H)
    if kept.size < chosen.size:
        H = np.ascontiguousarray(H[np.ix_(kept, kept)])
        chosen = chosen[kept]
        M = _Listed(gram, Q, arcs, chosen)
    sharp, worst = _sharpened(H, inverse)
    if not worst <= POOR:
        return None
    n = chosen.size
    others = np.delete(np.arange(a.size), chosen)
    N = _Listed(gram, Q, arcs, others)
    arcs_M, moved = M.incidence, _Moved(gram, M, N)
    W = sharp @ arcs_M
    weight = arcs_M.T @ W
    present = np.flatnonzero(np.bincount(y, minlength=Q))[1:]  # one class is the gauge
    weight = weight[np.ix_(present, present)]
    sizes = np.abs(np.linalg.eigvalsh(weight))
    if not sizes.max(initial=0.0) < 1e10 * sizes.min(initial=np.inf):
        return None
    unweight = np.linalg.inv(weight)
    E = W[:, present] @ unweight
    K, space = _room_for_all(gram, n, a.size)
    table = space[:n]
    G = table[:, :n]
    np.subtract(sharp, E @ W[:, present].T, out=G)

    def levels(b: Floats) -> Floats:
        """Of all classes, from those that are no gauge."""
        found = np.zeros((b.shape[0], Q))
        found[:, present] = b
        return found

    moved(G, levels(E), table[:, n:])
    steps, B = N.incidence, np.empty((present.size, others.size))
    moved(E.T.copy(), np.zeros((present.size, Q)), B)
    B += unweight @ steps[:, present].T  # of a shift of each of N, in b
    leaves = np.zeros((y.size, Q))  # what is no force on M where a sample leaves
    leaves[N.rows, N.cols] = arcs.gone[others]
    leaves[np.arange(y.size), y] = -leaves.sum(axis=1)

    def answer(found: Floats, samples: Ints, tau: Floats, b: Floats) -> Floats:
        """Fill in behind alpha_M how r_N moves, where the biases move by b."""
        moved(found[:, :n], levels(b), found[:, n:])
        N.products(samples, -tau, found[:, n:])
        return found

    def respond(wanted: Ints) -> Floats:
        """The rows of variables of N."""
        v, found = wanted - n, np.empty((wanted.size, a.size))
        found[:, :n] = table[:, wanted].T
        return answer(found, N.rows[v], steps[v], B[:, v].T)

    def fall(samples: Ints) -> Floats:
        """Of what each sample shifts."""
        falls = leaves[samples].any(axis=1)
        own = samples[falls]
        tau = leaves[own]
        by, flow = M.products(own, -tau), tau[:, present]
        some = np.empty((own.size, a.size))
        some[:, :n] = by @ G - flow @ E.T
        answer(some, own, tau, flow @ unweight + by @ E)
        if own.size == samples.size:
            return some
        found = np.zeros((samples.size, a.size))
        found[falls] = some
        return found

    return Tableau(
        M.rows, M.cols, N.rows, N.cols, a[chosen], a[others], r[others],
        1.0 / np.sqrt(sharp.diagonal()), _stiffness(gram, M.shift, N.rows),
        respond, fall, space, n, K, worst * M.shift,
    )  # fmt: skip


def _of_common_inverse(gram: Gram, Q: int, arcs: _Arcs) -> Tableau:
    """As the dense one, where few arcs are not free: by the inverse of K alone.

    Were all arcs free, forces on them would be answered by E with the entries
    G_ij (delta_kl - 1/Q) for (i, k) and (j, l), where G = R - R 1 1'R / (1'R 1) and
    R = K^-1 (``exact/common``). Those of N hold still by forces of their own:

        G_MM = E_MM - E_MN S E_NM,    X = -E_MN S,    S = E_NN^-1.
    """
    R, error = _inverse_of_all(gram)
    u = R.sum(axis=1)
    G = R - np.outer(u, u / u.sum())
    chosen, others = np.flatnonzero(arcs.free), np.flatnonzero(~arcs.free)
    n, both = chosen.size, np.r_[chosen, others]
    rows, cols = arcs.rows[both], arcs.cols[both]
    table = np.empty((both.size, both.size))
    between_arcs(G, rows, cols, 1.0 / Q, table)
    if others.size:
        S, worst = _sound_inverse(np.ascontiguousarray(table[n:, n:]))
        error += worst
        held = table[n:, :n]
        of_all = S @ G[rows[n:]] * (1.0 / Q)  # that part of E is the same for all heads
        for mine, there in zip(_runs(cols[:n], Q), _runs(cols[n:], Q), strict=True):
            within = G[np.ix_(rows[n:][there], rows[:n][mine])]
            held[:, mine] = S[:, there] @ within - of_all[:, rows[:n][mine]]
        for first in range(0, n, SOME_ROWS):  # half of it: it is symmetric
            some = slice(first, min(n, first + SOME_ROWS))
            table[some, : some.stop] -= table[some, n:] @ held[:, : some.stop]
        mirror(table[:n, :n])
        table[:n, n:] = held.T
        np.negative(S, out=table[n:, n:])
    arcs.check_balance(both, table[:n], Q)

    def fall(samples: Ints) -> Floats:
        """Of what each sample shifts."""
        of, its = np.nonzero(samples[:, None] == rows[n:])
        size = samples.size, others.size
        gone = coo_array((-arcs.gone[others[its]], (of, its)), size)
        return np.asarray(gone.tocsr() @ table[n:])

    own = R.diagonal()[rows[:n]] * (1.0 - 1.0 / Q)
    return Tableau(
        rows[:n], cols[:n], rows[n:], cols[n:],
        arcs.a[chosen], arcs.a[others], arcs.r[others],
        1.0 / np.sqrt(own), _stiffness(gram, 0.0, rows[n:]),
        lambda wanted: table[wanted], fall, table, both.size, None,
        error * float(gram.diagonal.max(initial=0.0)),
    )  # fmt: skip


def _inverse_of_all(gram: Gram) -> tuple[Floats, float]:
    """K^-1 and its quality; LinAlgError where it cannot be trusted."""
    R, error = inverses.get(gram) or _sound_inverse(gram.matrix)
    if gram.m <= MOST_INVERTED:
        inverses[gram] = R, error
    if not R.sum() > 0.0:
        raise np.linalg.LinAlgError
    return R, error


def few_held(
    gram: Gram, y: Ints, alpha: Floats, F: Floats, b: Floats, box: Floats
) -> FewHeld | None:
    """What finds machines by K^-1 alone, where nearly every arc is free."""
    there = not isinstance(gram, Blocks) and gram.factor is None
    small = alpha.size - y.size <= ALL_WATCHED  # the table of the others costs no more
    if not (there and 2.0 * gram.m**2 <= MOST_NUMBERS):
        return None
    if not FewHeld.suits(y, alpha, box, none=small):
        return None
    with suppress(np.linalg.LinAlgError):
        R, error = _inverse_of_all(gram)
        if error * max(1.0, float(alpha.max())) <= EXACT:
            r = 1.0 - F[y, np.arange(y.size)] + F - b[y] + b[:, None]
            return FewHeld(R, y, alpha, r, box)
    return None


def _runs(cols: Ints, Q: int) -> list[slice]:
    """Where those of each class are, in ascending order."""
    ends = np.searchsorted(cols, np.arange(Q + 1)).tolist()
    return [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]


def _sound_inverse(H: Floats) -> tuple[Floats, float]:
    """The inverse, and its quality; LinAlgError where it cannot be trusted."""
    kept, inverse = _independent_inverse(H)
    if kept.size < H.shape[0]:
        raise np.linalg.LinAlgError
    sharp, worst = _sharpened(H, inverse)
    if not worst <= POOR:
        raise np.linalg.LinAlgError
    return sharp, worst


def _room_for_all(gram: Gram, n: int, width: int) -> tuple[Floats | None, Floats]:
    """K, if it can make the other rows of the n, and the room for these rows."""
    if gram.m > MADE_BY_K or width > ALL_WATCHED:
        return None, np.empty((n, width))
    return gram.matrix, np.empty((width, width))


def _by_classes(
    gram: Gram, Q: int, arcs: _Arcs, box: Floats, factor_of: Factorise
) -> Tableau:
    """By the factor of each class; N is what may come to matter.

    That are those whose r is nearest to 0. The others are looked at when a sample is
    through.
    """
    y, rows, cols = arcs.y, arcs.rows, arcs.cols
    free, first = arcs.apart(gram)
    if arcs.a.size <= WITH_TWINS and (y[first] != y).any():
        raise np.linalg.LinAlgError  # paths among these are long
    mask = np.zeros((Q, y.size), bool)
    mask[cols[free], first[rows[free]]] = True
    factor = factor_of(gram, y, mask)
    if not factor.error <= POOR_BY_CLASSES:
        raise np.linalg.LinAlgError
    chosen = np.flatnonzero(free)
    n = chosen.size
    largest = float(arcs.a.max())  # a residue beside a bound would pin the biases
    enough = NEAR_ENOUGH * min(1.0, largest) / max(1.0, largest)
    tau = np.zeros(mask.shape)
    tau[cols[~free], rows[~free]] = -arcs.gone[~free]
    tau[y, np.arange(y.size)] = -tau.sum(axis=0)

    cheap = float(n) ** 2 * arcs.a.size <= CHEAP_DENSE
    cheap = cheap and not (isinstance(gram, Blocks) and gram.m > MOST_WHOLE)

    def together(asked: int) -> Together | None:
        """Many samples at once, where the factor is sharp and fits into memory."""
        if n * min(Q, MOST_CLASSES) < TOGETHER_FROM:
            return None
        entry = np.full(mask.shape, -1)
        entry[cols[free], rows[free]] = factor.places(y.size)[
            cols[free], first[rows[free]]
        ]
        alpha, r = np.zeros(mask.shape), np.zeros(mask.shape)
        alpha[cols, rows], r[cols, rows] = arcs.a, arcs.r
        return Together.of(factor, gram, y, alpha, r, entry, box, asked=asked)

    def watching(watched: Mask) -> Tableau:
        """The tableau with these in N."""
        others = np.flatnonzero(watched & ~free)
        both = np.r_[chosen, others]
        responses = Responses(factor, gram, y, rows[both], cols[both], first, n, enough)

        def more(missed: Mask) -> Tableau:
            return watching(watched | missed[cols, rows])

        return Tableau(
            rows[chosen], cols[chosen], rows[others], cols[others],
            arcs.a[chosen], arcs.a[others], arcs.r[others],
            responses.scale, _stiffness(gram, 0.0, rows[others]),
            responses.of, lambda samples: responses.shifted(samples, -tau[:, samples]),
            np.empty((0, both.size)),
            more=more,
            sharper=(lambda: _dense(gram, Q, arcs)) if cheap else None,
            together=together,
        )  # fmt: skip

    rank = np.where(arcs.free, -1.0, np.abs(arcs.r))
    rank[free] = np.inf
    some = min(arcs.a.size - n, max(int(WATCHED * n), LEAST_WATCHED))
    watched = np.zeros(free.size, bool)
    watched[np.argpartition(rank, some - 1)[:some] if some else []] = True
    return watching(watched)


def _tie(
    tails: Ints, heads: Ints, a: Floats, r: Floats, top: Floats, present: Mask
) -> tuple[list[int], Floats]:
    """Variables at a bound that tie the classes together where no free one does.

    The biases of a group of classes then slide within an interval; they are taken at
    the end of it, where r of some variable at its bound is 0: that one counts as free.
    """
    free = (a > 0.0) & (a < top)
    group = np.arange(present.size)
    for pair in np.unique(tails[free] * present.size + heads[free]).tolist():
        tail, head = divmod(pair, present.size)
        group[group == group[tail]] = group[head]
    ties: list[int] = []
    while np.unique(group[present]).size > 1:
        one = np.unique(group[present])[0]
        inside, outside = group[tails], group[heads]
        across = present[heads] & (inside != outside)
        up = across & (outside == one) & (a < top)  # r rises as the group's b does
        down = across & (inside == one) & (a > 0.0)  # r falls
        slack = np.where(up, -r, np.where(down, r, np.inf))
        sign = 1.0
        if not np.isfinite(slack).any():
            up = across & (outside == one) & (a > 0.0)
            down = across & (inside == one) & (a < top)
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


def _stiffness(gram: Gram, shift: float, rows: Ints) -> Floats:
    """1 / sqrt(H_vv), H_vv = 2 (K_ii + shift)."""
    own = 2.0 * (gram.diagonal[rows] + shift)
    return np.asarray(1.0 / np.sqrt(np.maximum(own, 1e-300)))


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
    mirror(half.T)
    return kept, half.T


def _sharpened(H: Floats, inverse: Floats) -> tuple[Floats, float]:
    """The inverse, refined by Newton-Schulz steps as far as they help, and its quality.

    That is max |H H^-1 - I| as a few random probes see it: O(n^2), not a full product.
    (Where H is nearly singular, the rounding of a step is more than it mends.)
    """
    probes = _signs(1 << H.shape[0].bit_length())[: H.shape[0]]

    def quality(inverse: Floats) -> float:
        rest = probes - H @ (inverse @ probes)
        return float(np.abs(rest).max(initial=0.0))

    worst = quality(inverse)
    for _ in range(MOST_SHARPENED):
        if not worst >= SHARP_ENOUGH:
            break
        step = -(H @ inverse)
        step[np.diag_indices_from(step)] += 1.0
        other = inverse + inverse @ step
        other = (other + other.T) / 2.0
        if not (better := quality(other)) < worst:
            break
        inverse, worst = other, better
    return inverse, worst


@cache
def _signs(size: int) -> Floats:
    """Four random vectors of 1 and -1."""
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(size, 4))


@kernel
def spread(alpha, into, out_of, tau):
    """tau (p, ..): what alpha (p, n) takes into some places and out of others."""
    for p in range(alpha.shape[0]):
        row = tau[p]
        for i in range(row.size):
            row[i] = 0.0
        for v in range(into.size):
            row[into[v]] -= alpha[p, v]
            row[out_of[v]] += alpha[p, v]


@kernel
def differences(F, own, other, out):
    """out[p, v] = F_other - F_own."""
    for p in range(out.shape[0]):
        row = F[p]
        for v in range(own.size):
            out[p, v] = row[other[v]] - row[own[v]]


@kernel
def arc_products(K, Z, shift, points, tau, rows, starts, out):
    """out[p, v] += (K_ij + shift) (tau_p[y_j] - tau_p[l]) for the arcs v = (j, l).

    i = points[p]. rows[v] is j; the arcs are sorted by l and then y_j, and those of the
    u-th such pair are starts[u] up to starts[u + 1]. H_vw is that of v and tau of w.
    """
    Q = tau.shape[1]
    dots = np.empty(Z.shape[0])
    for p in range(points.size):
        i = points[p]
        if K.shape[0] > 0:
            source = K[i]
        else:
            for j in range(Z.shape[0]):
                s = 0.0
                for d in range(Z.shape[1]):
                    s += Z[i, d] * Z[j, d]
                dots[j] = s
            source = dots
        row = out[p]
        for l in range(Q):
            for k in range(Q):
                c = tau[p, k] - tau[p, l]
                first, end = starts[l * Q + k], starts[l * Q + k + 1]
                if c != 0.0:
                    for v in range(first, end):
                        row[v] += c * (source[rows[v]] + shift)
