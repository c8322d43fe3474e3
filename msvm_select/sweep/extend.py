"""A sweep that widens its grid where the best value lies on its edge.

Round by round, each parameter on whose edge the best value lies gets some more values
on that side, in the steps of the grid, and the new cells alone are trained. So the grid
stays a product of its parameters: the rows are those of one sweep of the whole of it.
It ends when the best value lies within, or one from within does as well; when the
rounds are used up; or where the parameter has no sensible values any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from msvm_select.columns import Row
from msvm_select.errors import SettingsError
from msvm_select.results import Results, rank
from msvm_select.results.edges import Edge, edges
from msvm_select.settings import Settings, settings_from
from msvm_select.settings.grids import parse_grid
from msvm_select.train.events import (
    Event,
    GramTested,
    Progress,
    Started,
    Widened,
    silent,
)

FARTHEST = {
    "C": (1e-9, 1e9),
    "gamma": (1e-9, 1e9),
    "sigma": (1e-5, 1e5),
    "degree": (1.0, 10.0),
    "coef0": (-1e3, 1e3),
}
"""Beyond these no sweep goes of itself: machines there are constant, or do not train"""

Sweep = Callable[[Settings, Progress], Iterator[Row]]
"""What trains the cells of the settings, and tells of it"""


class Extension:
    """The rows of a sweep, and of what its grid is widened by; ``settings`` grows."""

    def __init__(
        self, sweep: Sweep, settings: Settings, progress: Progress = silent
    ) -> None:
        """``settings.extend`` rounds at most."""
        self.sweep, self.settings, self.progress = sweep, settings, progress
        self.asked = settings
        self.rows: list[Row] = []
        self.tested: set[Any] = set()

    def __iter__(self) -> Iterator[Row]:
        """The rows as they are finished."""
        yield from self._swept(self.settings, self._tell)
        for number in range(1, self.asked.extend + 1):
            steps = self._steps()
            if not steps:
                return
            for name, edge, values in steps:
                yield from self._widened(number, name, edge, values)

    def _steps(self) -> list[tuple[str, Edge, tuple[float, ...]]]:
        """What each grid gets, for the edges that the best value lies on."""
        by = self.settings.rank_by
        rows = rank(self.rows, by, self.settings.criteria)
        ranked = Results(rows, by, settings=asdict(self.settings))
        found = [(edge.name, edge, self._new(edge)) for edge in edges(ranked)]
        return [step for step in found if step[2]]

    def _new(self, edge: Edge) -> tuple[float, ...]:
        """The values beyond the edge that the kernels can have."""
        if edge.beyond is None:
            return ()
        least, most = FARTHEST[edge.name]
        new = tuple(
            value
            for value in parse_grid(edge.beyond)
            if least <= value <= most and _is_beyond(value, edge)
        )
        try:
            self._with(edge.name, (*self._grid(edge.name), *new))
        except SettingsError:  # the grid is as large as one may be
            return ()
        return new

    def _widened(
        self, number: int, name: str, edge: Edge, new: tuple[float, ...]
    ) -> Iterator[Row]:
        only = self._with(name, new)
        self.settings = self._with(name, (*self._grid(name), *new))

        def tell(event: Event) -> None:
            if isinstance(event, Started):
                of, cells = self.asked.extend, event.cells
                event = Widened(number, of, name, new, edge.text, cells)
            self._tell(event)

        yield from self._swept(only, tell)

    def _swept(self, settings: Settings, progress: Progress) -> Iterator[Row]:
        for row in self.sweep(settings, progress):
            self.rows.append(row)
            yield row

    def _tell(self, event: Event) -> None:
        """All but the tests of Gram matrices that were tested before."""
        if isinstance(event, GramTested):
            if event.kernel in self.tested:
                return
            self.tested.add(event.kernel)
        self.progress(event)

    def _grid(self, name: str) -> tuple[float, ...]:
        grid: tuple[float, ...] = getattr(self.settings, name)
        return grid

    def _with(self, name: str, values: tuple[float, ...]) -> Settings:
        return settings_from({name: values}, self.settings)


def _is_beyond(value: float, edge: Edge) -> bool:
    """And not the edge itself, written a little otherwise."""
    room = 1e-9 * abs(edge.value)
    return value > edge.value + room if edge.upward else value < edge.value - room


def grown_from(asked: Settings | None, settings: Settings) -> dict[str, Any]:
    """``extended_from``: the grids that were asked for, of those that were widened."""
    grown = {
        name: grid
        for name in FARTHEST
        if asked and (grid := getattr(asked, name)) != getattr(settings, name)
    }
    return {"extended_from": grown} if grown else {}
