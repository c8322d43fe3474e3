"""How long the rest of a sweep takes, guessed from what is done of it.

Cells are far from equal: the cost changes along C, and from a kernel setting to the
next by factors of ten. So a cell is guessed to cost what the same C cost in the last
setting, times what its own setting has cost so far of that one's time. Of settings that
have not begun it is known that rougher ones cost more, as a rule, and that beyond a
hard margin, which a rougher one comes to at a smaller C, cells are copies.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np

from msvm_select.records import Floats

GROUND = 2  # trained cells before anything is said
COPY = 0.01  # of the dearest cell of its setting: less is a copy
ROUGHER = 4.0  # the cost of the roughest setting by that of the smoothest, as a rule
OVERTIME = 0.25  # of the time that a cell took so far, once it outlasts its guess
LATEST = 3  # cells that tell what a setting costs of the time of the last one


@dataclass(frozen=True)
class UnderWay:
    """A cell at work for so many seconds; ``left`` by its own pace, if it has one."""

    seconds: float
    left: float | None = None

    def rest(self, guess: float) -> float:
        """By its own pace, else by what such a cell costs."""
        if self.left is not None:
            return self.left
        return max(guess - self.seconds, OVERTIME * self.seconds)


@dataclass(eq=False)
class Forecast:
    """Hears what cells took, by kernel setting (``chain``), C ascending within each.

    ``jobs`` settings are under way at the same time.
    """

    chains: int
    length: int
    jobs: int = 1
    open: dict[Hashable, list[float]] = field(default_factory=dict)
    ended: int = 0
    model: Floats | None = None
    trained: int = 0
    grams: list[float] = field(default_factory=list)

    def began(self, chain: Hashable, seconds: float) -> None:
        """A setting's Gram matrix is there."""
        self.open.setdefault(chain, [])
        self.grams.append(seconds)

    def done(self, chain: Hashable, seconds: float = np.nan) -> None:
        """The setting's next cell; without ``seconds`` it is from an earlier run."""
        cells = self.open.setdefault(chain, [])
        cells.append(seconds)
        self.trained += bool(seconds > 0.0)
        if len(cells) == 2 and COPY * cells[0] < seconds < cells[0]:
            cells[0] = seconds  # what is loaded at first use is not a cell's cost
        if len(cells) == self.length:
            self.ended += 1
            whole = self._guessed(self.open.pop(chain))
            self.model = self.model if np.isnan(whole).all() else whole

    def left(self, under_way: Mapping[Hashable, UnderWay]) -> float | None:
        """Seconds until all is done; None while there is no ground for a guess."""
        if self.trained < GROUND:
            return self._of_the_last_cell(under_way)
        rests = [self._rest(chain, under_way.get(chain)) for chain in self.open]
        costs = np.concatenate([rests, self._to_come()])
        if not costs.size:
            return 0.0
        return max(float(costs.sum()) / min(self.jobs, costs.size), float(costs.max()))

    @property
    def step(self) -> float:
        """The cost of a setting by that of the last one, as a rule."""
        return float(ROUGHER ** (1.0 / max(1, self.chains - 1)))

    def _of_the_last_cell(self, under_way: Mapping[Hashable, UnderWay]) -> float | None:
        """Its own pace, where nothing else is to be done."""
        done = self.ended * self.length + sum(map(len, self.open.values()))
        paced = [cell.left for cell in under_way.values()]
        return paced[0] if done + 1 == self.chains * self.length and paced else None

    def _rest(self, chain: Hashable, cell: UnderWay | None) -> float:
        """Of a setting that has begun, with its cell under way."""
        cells = self.open[chain]
        todo = self._guessed(cells)[len(cells) :]
        if cell is None:
            return float(todo.sum())
        return cell.rest(float(todo[0])) + float(todo[1:].sum())

    def _to_come(self) -> Floats:
        """What the settings cost that have not begun, rougher and rougher."""
        begun = [self._guessed(cells) for cells in self.open.values() if cells]
        last = begun[-1] if begun else self.model
        to_come = self.chains - self.ended - len(self.open)
        if last is None or to_come <= 0:
            return np.zeros(0)
        gram = float(np.mean(self.grams)) if self.grams else 0.0
        cells = float(_sooner_hard(last).sum())
        return np.asarray(gram + cells * self.step ** np.arange(1, to_come + 1))

    def _guessed(self, cells: list[float]) -> Floats:
        """All cells of a setting of which these are done, in the image of the last."""
        done, todo = np.array(cells), np.full(self.length - len(cells), np.nan)
        known = done[done > 0.0]
        if known.size and done[-1] <= COPY * known.max():
            todo[:] = 0.0
        elif self.model is None:
            todo[:] = known[-1] if known.size else 0.0
        else:
            model = _sooner_hard(self.model)
            both = (done > 0.0) & (model[: done.size] > 0.0)
            ours, its = done[both][-LATEST:].sum(), model[: done.size][both][-LATEST:]
            todo[:] = model[done.size :] * (
                ours / its.sum() if both.any() else self.step
            )
        return np.concatenate([done, todo])


def _sooner_hard(costs: Floats) -> Floats:
    """As the next setting, whose copies begin a cell earlier; unknown ones left out."""
    cells = np.nan_to_num(costs)
    copied = cells <= COPY * cells.max(initial=0.0)
    cells[copied & (costs >= 0.0)] = 0.0
    tail = int(np.flatnonzero(~copied).max(initial=-1))
    if 1 < tail < cells.size - 1:
        cells[tail] = 0.0
    return cells
