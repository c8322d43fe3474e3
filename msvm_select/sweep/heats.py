"""The heats of a race: all cells are trained, then judged in the order of promise.

The sooner a cell with few errors is known, the sooner the others are given up. So every
machine of a sweep is trained first. Then the likely errors of a cell are tried, some
tens of samples: how many of them are wrong is a lower bound that hardly any other
number of a machine comes near to. Whoever has the lowest bound is judged to its end.

A cell that has more errors than it may have is given up by what its heat has found. As
long as its training errors alone are more than what the heats of others found, it has
no heat. So the order depends on the cells alone, and bounds come out the same where a
sweep goes on from its journal.

Machines wait without their Gram matrices, but for those that there is room for. Of the
cells with the lowest bounds the work of the heat is kept, too: they go on from there.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from msvm_select.criteria.leave_one_out import LeaveOneOut
from msvm_select.errors import KernelError, SolverError
from msvm_select.kernels.base import Kernel
from msvm_select.left_out import Holding, HopelessError
from msvm_select.records import Gram
from msvm_select.sweep.budget import HELD
from msvm_select.sweep.cells import NO_GRAM, Chain, on_gram
from msvm_select.sweep.race import Race
from msvm_select.train.along_C import Failed, Trained
from msvm_select.train.events import CellDone, CellStarted, Progress
from msvm_select.train.prepare import Prepared, gram_of

TRIED = 30  # samples of a heat
MOST_KEPT = 1e8  # bytes of Gram matrices that are kept; others are computed again
HEATS_KEPT = 2  # heats whose work is kept,
MOST_WORK = 1e8  # where Q matrices have no more bytes


@dataclass(eq=False)
class Entrant:
    """A machine and its copies at larger C, in their order.

    ``bound`` is below its errors. ``sure``: of these, what is known without a heat;
    ``end``: what the heat came to, None where it is not run or all are judged;
    ``work``: what it has found, if that is kept.
    """

    chain: Chain
    cells: list[Trained]
    place: tuple[int, float]
    bound: int
    tried: bool = False
    sure: int = 0
    end: HopelessError | None = None
    work: Any = None

    def __lt__(self, other: Entrant) -> bool:
        """Whose bound is lower comes first."""
        return (self.bound, self.place) < (other.bound, other.place)

    @property
    def wanted(self) -> bool:
        """Whether a row lacks."""
        return any(self.chain.lacks(cell.C) for cell in self.cells)


@dataclass(eq=False)
class Heats:
    """The cells of some chains, and who has not been judged yet, the best first."""

    chains: Sequence[Chain]
    race: Race
    progress: Progress
    waiting: list[Entrant] = field(default_factory=list)
    grams: dict[Kernel, Gram] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @staticmethod
    def pay(ready: Prepared) -> bool:
        """Where a cell can be given up, and nothing else is carried along C."""
        settings = ready.settings
        alone = settings.criteria == ("loo",) and settings.machine == "ww"
        return settings.race is not None and alone and 8.0 * ready.data.m**2 <= HELD

    def streams(self, jobs: int) -> Iterator[list[Iterator[CellDone]]]:
        """First all are trained, and only what fails there is done; then the others."""
        yield [self._trained(number) for number in range(len(self.chains))]
        heapq.heapify(self.waiting)
        yield [self._judged() for _ in range(jobs)]

    def _trained(self, number: int) -> Iterator[CellDone]:
        chain, found = self.chains[number], list[Entrant]()
        for cell in chain.trained(self.progress):
            if isinstance(cell, Failed):
                if chain.lacks(cell.C):
                    scoring = chain.scoring(self.progress, self.race.watch)
                    yield chain.done(cell, scoring)
                continue
            light, solution = on_gram(cell, NO_GRAM), cell.solution
            if found and solution.tau is found[-1].cells[0].solution.tau:
                found[-1].cells.append(light)
            else:
                place = (number, cell.C)
                found.append(Entrant(chain, [light], place, solution.train_errors))
            if 8.0 * (len(self.grams) + 1) * cell.cell.data.m**2 <= MOST_KEPT:
                self.grams[chain.kernel] = cell.cell.gram
        with self.lock:
            self.waiting += [one for one in found if one.wanted]

    def _judged(self) -> Iterator[CellDone]:
        """One after the other, until nobody waits."""
        while one := self._next():
            chain = one.chain
            gram = self.grams.get(chain.kernel) or gram_of(chain.kernel, chain.ready)
            if not one.tried:
                self._try(one, on_gram(one.cells[0], gram))
                if one.bound <= self.race.most:
                    self._wait_again(one)
                    continue
            scoring = chain.scoring(self.progress, _Told(one, self.race))
            for light in one.cells:
                cell = on_gram(light, gram)
                if chain.lacks(cell.C):
                    self.progress(CellStarted(chain.kernel, cell.C))
                    yield chain.done(cell, scoring)
                else:
                    chain.pass_by(cell, scoring)

    def _wait_again(self, one: Entrant) -> None:
        """With the work of its heat, if few others are as likely to be judged next."""
        with self.lock:
            heapq.heappush(self.waiting, one)
            holders = sorted(other for other in self.waiting if other.work is not None)
            for other in holders[HEATS_KEPT:]:
                other.work = None

    def _next(self) -> Entrant | None:
        with self.lock:
            return heapq.heappop(self.waiting) if self.waiting else None

    def _try(self, one: Entrant, trained: Trained) -> None:
        """Its heat; none where the errors that are sure say enough."""
        one.tried, heat = True, _Heat(self.race)
        cell = replace(trained.cell, watch=heat)
        with suppress(SolverError, KernelError):  # whoever judges it to its end says so
            columns = LeaveOneOut().score(cell).columns
            low = columns.get("loo_errors_low")
            one.bound = max(one.bound, 0 if low is None else int(low))
        one.sure, one.end = heat.sure, heat.end
        data = cell.data
        if one.end is not None and 8.0 * data.m**2 * data.Q <= MOST_WORK:
            one.work = heat.held


class _Heat(Holding):
    """Ends the judging of a cell when some of its samples have been tried.

    ``sure``: the errors that are known before.
    """

    def __init__(self, race: Race) -> None:
        self.race, self.sure, self.begun = race, 0, False
        self.left: int | None = None
        self.end: HopelessError | None = None

    def __call__(self, errors: int, left: int) -> None:
        if not self.begun:  # nothing is known yet
            self.begun = True
            return
        if self.left is None:
            self.sure, self.left = errors, left
        tried = self.left - left
        if left and (tried >= TRIED or (not tried and errors > self.race.most)):
            self.end = HopelessError(errors, errors + left)
            raise self.end


class _Told(Holding):
    """Watches a cell whose heat was run: it goes on from there, or ends at once."""

    def __init__(self, one: Entrant, race: Race) -> None:
        self.one, self.race, self.begun = one, race, False
        self.held, one.work = one.work, None

    def __call__(self, errors: int, left: int) -> None:
        end, most, first = self.one.end, self.race.most, not self.begun
        self.begun = True
        if first and end is not None and self.one.sure <= most < end.low:
            raise end
        self.race.watch(errors, left)
