"""What a sweep takes of memory at its peak: the one formula, for plans and refusals.

Of m samples and Q classes a kernel setting under way holds, in numbers of 8 bytes:

* the kernel matrix m^2, and once more in the order of the classes, if it is not that
  of the file; for a moment one more, for Mercer's test or for a first look at it; with
  the quadratic loss a matrix of its own for each C, the last one included; of folds,
  those of all of them; one against one, the largest block of two classes;
* in training, Newton's system: of n free variables n^2, or by classes twice the sum of
  |S_k|^2, about (n + t)^2 / Q + t^2, t samples having a free variable;
* leaving out, the rows of the tableau, of some w = 2.5 n numbers, as many as are kept;
  where many are free, 2 (n + t) (m + t) numbers in their place, or (n + t) (m + 2 t)
  where nearly all are, or 2.5 m^2 where all are.

The matrices are certain, and what does not fit with them alone is refused. How many
variables are free is not known before; ``--dry-run`` judges it by parts of the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

NUMBER = 8  # bytes
PROGRAM = 185e6  # bytes of Python and its packages
FACTORED_UP_TO = 4000  # samples up to which Mercer's test factors a copy of K
LOOKED_AT_UP_TO = 2000  # samples up to which it is asked whether all are told apart
STORED = 4.4e7  # numbers in the rows that are kept
ROWS_AT_ONCE = 256 * 4  # rows in work
ASKED_FOR = 1.5  # rows, by the free variables
COPIED = 4.0  # times the alpha of all machines that are proven at once, in their proof
LEAST_NORM_UP_TO = 4000  # variables up to which the alpha of least norm is looked for
ALL_IN_TABLE = 2800  # variables of a tableau that watches all
WIDER, LEAST_WIDTH = 2.2, 800.0  # numbers in a row, by the free variables, and more
BY_PRODUCTS_FROM = 7000.0  # free variables times classes,
CLASSES_UP_TO = 10  # of which no more than these count
MOSTLY_FREE = 0.6  # of all arcs of the samples with one: one inverse serves all classes
ALL_FREE = 0.999  # likewise: they are alike
INVERSES, AT_WORK_BY_INVERSE = 2.5, 6e6  # where nearly all are free: matrices, rest
FEW_HELD = 0.05, 0.5  # arcs that are not: of all, and by the samples
HARDLY_ANY = 0.002  # of all: then no other road is taken
KEPT_BY_PRODUCTS = 2.5e8  # numbers kept in place of rows
FILLED = 0.9  # of these, that what is always there may take
IN_A_BATCH, MOST_IN_A_BATCH = 4e6, 96.0  # outputs that are worked on at once, samples
IN_A_BLOCK, A_BLOCK = 3e6, (128.0, 256.0)  # alpha of machines proven at once, and these
MOST_AT_ONCE = 256
IN_WORK = 2**22  # numbers in a block of K in work
USUAL_POWER, POWERS = 0.7, (0.2, 1.0)  # of m by which a count grows
OF_FEATURES = 3  # tables of the size of Z
WORKING_SET = 2500  # of many samples, those that K is held of, and the groups
LEAST_SET, SET_BY_FREE = 2000.0, 2.5  # the largest such set, by those with a free one


Seen = tuple[int, float, float]
"""Of a cell on a part of the data: samples, free variables, samples with some"""


def grown(counts: Sequence[tuple[int, float]], m: int, share: float = 0.0) -> float:
    """A count at m samples, from what it was at fewer: a power of m.

    ``share`` of all that there were is told where there is one count only.
    """
    size, last = counts[-1]
    power = max(USUAL_POWER, share)
    if len(counts) > 1 and last > 0.0 < counts[-2][1] and counts[-2][0] < size:
        before, count = counts[-2]
        power = math.log(last / count) / math.log(size / before)
        power = min(max(power, POWERS[0]), POWERS[1])
    return float(last * (m / size) ** power)


@dataclass(frozen=True)
class Footprint:
    """One kernel setting under way, ``jobs`` of them at the same time.

    ``folds``: of each criterion cv:K its K. ``pair``: samples in the largest two
    classes, of a machine that holds no more of K than their block. ``shrinks``: K is
    only that of the samples that matter. ``twins``: some rows are equal. ``rank``: the
    columns of Z, for kernels of low rank.
    """

    m: int
    Q: int
    machine: str = "ww"
    loss: str = "l1"
    folds: tuple[int, ...] = ()
    leaves_out: bool = True
    in_order: bool = False
    twins: bool = False
    pair: int | None = None
    shrinks: bool = False
    needs_none: bool = False
    Cs: int = 1
    jobs: int = 1
    rank: int = 0

    @property
    def side(self) -> int:
        """Rows of the largest matrix that is held."""
        if self.needs_none:
            return 0
        if self.pair is not None:
            return self.pair
        return min(self.m, WORKING_SET) if self.shrinks else self.m

    @property
    def gram_bytes(self) -> int:
        """Of the largest Gram matrix that is held."""
        return NUMBER * self.side**2

    @property
    def factor_bytes(self) -> int:
        """Of Z (m, rank), the table that its pivots are found in, and a product."""
        return OF_FEATURES * NUMBER * self.m * self.rank

    @property
    def matrices(self) -> float:
        """How many of that size, at the least: held, or for a moment."""
        if self.needs_none:
            return 0.0
        folds = sum(self._of_folds(K) for K in self.folds)
        return max(self._held + folds, 1.0 + (self.m <= FACTORED_UP_TO))

    @property
    def _held(self) -> float:
        """While the machines are trained and judged, but for the folds."""
        if self.needs_none:
            return 0.0
        if self.pair is not None:
            return 2.0
        if self.machine != "ww":
            return 2.0 if self.machine == "ova" else 1.0
        if self.shrinks:
            return 3.0
        once = 1.0 if self.in_order else 2.0
        if self.loss == "l2":
            return 1.0 + once * min(self.Cs, 2)
        return once

    def _of_folds(self, K: int) -> float:
        """K of the training rows of each fold, and between them and the others."""
        train = (K - 1.0) / K
        return K * train**2 * (1.0 + (self.loss == "l2")) + train

    @property
    def certain_bytes(self) -> float:
        """What the matrices take; less than that is not to be had."""
        return self.jobs * (self.matrices * self.gram_bytes + self.factor_bytes)

    def peak_bytes(self, free: float = 0.0, touched: float = 0.0) -> float:
        """All, where so many variables of so many samples are free at the most."""
        gram, looked = float(self.gram_bytes), 0.0
        if self.shrinks:
            side = min(float(self.m), LEAST_SET + SET_BY_FREE * touched)
            gram = max(gram, NUMBER * side**2)
        each = self.matrices * gram
        if self.machine == "ww" and not self.needs_none:
            train = self._training(free, touched)
            out = self._leaving_out(free, touched) if self.leaves_out else 0.0
            held = (self.matrices if self.folds else self._held) * gram
            if self.m <= LOOKED_AT_UP_TO and self.loss == "l1":
                looked = held + gram
            each = max(each, looked, held + NUMBER * max(train, out))
        each += self.factor_bytes
        each += NUMBER * (min(IN_WORK, self.m**2) + 12 * self.m * self.Q)
        return PROGRAM + self.jobs * each

    def _training(self, free: float, touched: float) -> float:
        """Numbers of Newton's system, and of the search for the least norm."""
        by_class = 2.0 * self._by_class(free, touched)
        system = min(2.0 * free**2, by_class)
        if self._alike(free, touched):
            system = min(system, INVERSES * touched**2)
        alike = self.twins and free <= LEAST_NORM_UP_TO
        return max(system, 3.0 * touched**2 * alike)

    def _alike(self, free: float, touched: float) -> bool:
        """Whether all arcs are free: then one inverse serves all classes."""
        return free + touched >= ALL_FREE * self.Q * touched

    def _by_class(self, free: float, touched: float) -> float:
        """sum |S_k|^2, and that of T."""
        return (free + touched) ** 2 / self.Q + touched**2

    def _leaving_out(self, free: float, touched: float) -> float:
        """Numbers of the tableau, its rows, and of what a chunk of samples asks for."""
        arcs = self.m * (self.Q - 1.0)
        block = min(max(IN_A_BLOCK / (self.m * self.Q), A_BLOCK[0]), A_BLOCK[1])
        proof = COPIED * self.Q * self.m * min(block, self.m)
        if arcs <= ALL_IN_TABLE or self.Q == 2:
            table = 3.0 * free * arcs + 3.0 * free**2
            return table + min(STORED / 4.0, arcs**2)
        entries = free + touched
        whole = entries >= MOSTLY_FREE * self.Q * touched
        kept = entries * self.m * (1.0 if whole else 2.0)
        most = min(FEW_HELD[0] * arcs, FEW_HELD[1] * self.m)
        by_inverse = arcs - free <= most and 2.0 * self.m**2 <= KEPT_BY_PRODUCTS
        if by_inverse and arcs - free <= HARDLY_ANY * arcs:
            return INVERSES * self.m**2 + AT_WORK_BY_INVERSE
        factor = 4.0 * touched**2 if whole else 2.0 * self._by_class(free, touched)
        many = free * min(self.Q, CLASSES_UP_TO) >= BY_PRODUCTS_FROM
        many = many and (by_inverse or not self._alike(free, touched))
        if many and kept <= FILLED * KEPT_BY_PRODUCTS:
            asked = 0.0 if by_inverse else 2.0 * entries * touched  # or of few samples
            kept = min(kept + asked, KEPT_BY_PRODUCTS)
            outputs = float(self.Q * self.m)
            batch = min(IN_A_BATCH, MOST_IN_A_BATCH * outputs)
            at_work = MOST_AT_ONCE * outputs / 4.0 + 4.0 * batch
            return factor + (1.25 if whole else 1.5) * kept + at_work
        width = min(WIDER * free + LEAST_WIDTH, arcs)
        rows = min(STORED, ASKED_FOR * free * width) + ROWS_AT_ONCE * width
        return factor + rows + proof

    @property
    def each_bytes(self) -> float:
        """Of one kernel setting, where no cell was tried."""
        return replace(self, jobs=1)._most_of(()) - PROGRAM

    def most_bytes(self, seen: Sequence[Sequence[Sequence[Seen]]]) -> float:
        """The peak, judged by cells on parts of the data: by kernel setting, by cell.

        Those that take most are under way at the same time.
        """
        one = replace(self, jobs=1)
        each = sorted(one._most_of(cells) for cells in seen or [()])
        each = (self.jobs * each)[-self.jobs :]
        return PROGRAM + sum(took - PROGRAM for took in each)

    def _most_of(self, cells: Sequence[Sequence[Seen]]) -> float:
        """Of one kernel setting; a guess where no cell was tried."""
        few, arcs = min(self.Q - 1.0, 2.0), self.m * (self.Q - 1.0)
        most = 0.0 if cells else self.peak_bytes(0.3 * few * self.m, 0.5 * self.m)
        for cell in cells:
            n, f, t = cell[-1]
            share = f / (n * (self.Q - 1.0))
            free = grown([(n, f) for n, f, _ in cell], self.m, share)
            touched = grown([(n, t) for n, _, t in cell], self.m, t / n)
            free, touched = min(free, arcs), min(touched, float(self.m))
            most = max(most, self.peak_bytes(free, touched))
        return most

    def most_samples(self, free: float) -> int:
        """How many samples at the most have their matrices in so many bytes."""
        low, high = 0, self.m
        while low < high:
            middle = (low + high + 1) // 2
            share = middle / self.m
            pair = None if self.pair is None else int(share * self.pair)
            fits = replace(self, m=middle, pair=pair).certain_bytes <= free
            low, high = (middle, high) if fits else (low, middle - 1)
        return low
