"""Results -> maps of one column over C x a kernel parameter.

Each kernel has a panel. If two or more of its parameters vary, the one with the most
values goes up, and each setting of the others has a panel of its own. If that makes too
many panels, a cell shows the best over the others, and the title says so.

The confusion is such a map too: of left-out answers, how often each class was taken for
each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from msvm_select.columns import (
    COUNTS,
    STATES,
    Column,
    Row,
    column_of,
    is_filled,
    lower_bound,
    state_of,
)
from msvm_select.errors import DataError, SettingsError
from msvm_select.left_out import LeftOut
from msvm_select.names import KERNELS
from msvm_select.records import Ints
from msvm_select.results.choosing import as_chosen
from msvm_select.results.ranking import Results
from msvm_select.show.charts.scale import SHADES, Grid, Scale, shade

PREFERRED = ("loo", "cv", "holdout", "span", "radius-margin", "train-errors")
MOST_PANELS = 4  # of one kernel
PLAIN = ("ok", "vacuous")  # states whose cell has its number and no mark
UNSET = math.nan  # the value of a parameter that there is not
UNDECIDED = "?"
TINTS = (0.0, 0.05, 0.15, 0.30)  # shares of a class that goes wrong, from faint to full


@dataclass(frozen=True)
class HeatCell:
    """A row in its place; ``state`` is one of STATES.

    The value of a bounded cell is what it is at least.
    """

    row: Row
    state: str
    value: float | None

    @property
    def counted(self) -> float | None:
        """The value that counts, and so has a shade; None where there is none."""
        return self.value if self.state in COUNTS else None


@dataclass(frozen=True, eq=False)
class HeatPanel:
    """C goes across, the parameter ``name`` up; a panel without one has one line.

    ``cells`` are found by (index into ``values``, index into ``Cs``); a cell that was
    never finished is missing.
    """

    title: str
    kernel: str
    name: str | None
    values: tuple[float, ...]
    Cs: tuple[float, ...]
    cells: Mapping[tuple[int, int], HeatCell]

    @cached_property
    def across(self) -> Grid:
        """Where the columns stand."""
        return Grid(self.Cs)

    @cached_property
    def up(self) -> Grid:
        """Where the lines stand."""
        return Grid(self.values)


@dataclass(frozen=True, eq=False)
class HeatMap:
    """The panels of one column; the cell to mark, and ``verdict``: why that one.

    ``best`` is the best cell by this column, whichever was chosen.
    """

    label: Column
    panels: tuple[HeatPanel, ...]
    chosen: Row | None
    best: Row | None
    verdict: str
    name: str = ""

    @cached_property
    def cells(self) -> tuple[HeatCell, ...]:
        """Of all panels."""
        return tuple(cell for panel in self.panels for cell in panel.cells.values())

    @cached_property
    def values(self) -> tuple[float, ...]:
        """Of all cells whose value counts."""
        return tuple(c.counted for c in self.cells if c.counted is not None)

    @cached_property
    def scale(self) -> Scale | None:
        """Of the shades; None where no value counts."""
        return Scale.over(self.values) if self.values else None

    @cached_property
    def marked(self) -> dict[str, str]:
        """The states that occur and need a mark, each with what it means."""
        found = {cell.state for cell in self.cells}.difference(PLAIN)
        return {state: text for state, text in STATES.items() if state in found}

    @property
    def ends(self) -> tuple[float, float] | None:
        """The values of the first and the last shade: the best is the first."""
        if self.scale is None:
            return None
        low, high = self.scale.low, self.scale.high
        return (high, low) if self.label.largest else (low, high)

    def level(self, cell: HeatCell, levels: int = SHADES) -> int | None:
        """The cell's shade, 0 for the best value; None where no value counts."""
        if self.scale is None or cell.counted is None:
            return None
        level = self.scale.level(cell.counted, levels)
        turned = self.label.largest and self.scale.low < self.scale.high
        return levels - 1 - level if turned else level

    def shade(self, cell: HeatCell) -> tuple[str, str] | None:
        """Its colour and the ink on it; None where no value counts."""
        level = self.level(cell)
        return None if level is None else shade(level)


def heat_map_of(
    results: Results, by: str | None = None, most: int | None = MOST_PANELS
) -> HeatMap:
    """The map of a criterion or column; by default of what the sweep ranked by.

    ``most``: panels of one kernel (None: as many as it takes to show every cell).
    """
    by = by or default_criterion(results)
    column = results.column_of(by)
    label = column_of(column)
    ranked, chosen, verdict = picked(results, by)
    sigma = bool(results.settings.get("sigma"))
    if chosen is not None:
        score = label.shown(chosen.value(column))
        unit = f" {label.unit}".rstrip()
        verdict += f": {chosen.in_words(sigma)} ({score}{unit})"
    kernels = {row.kernel for row in ranked.rows}
    order = {kernel: i for i, kernel in enumerate(KERNELS)}
    panels = [
        panel
        for kernel in sorted(kernels, key=lambda k: (order.get(k, len(order)), k))
        for panel in _panels_of(ranked, kernel, column, sigma, most)
    ]
    name = str(results.data.get("name", ""))
    return HeatMap(label, tuple(panels), chosen, ranked.best, verdict, name)


def picked(results: Results, by: str) -> tuple[Results, Row | None, str]:
    """The results ranked by ``by``, the cell that is chosen by it, and by what words.

    That is the best one, unless the sweep chose among the good ones by this criterion.
    """
    ranked = as_chosen(results, by)
    rule = "best" if ranked.choice is None else ranked.choice.rule
    how = f"best by {by}" if rule == "best" else f"chosen by {by}, {rule}"
    return ranked, ranked.chosen, how


def default_criterion(results: Results) -> str:
    """What the sweep ranked by, else the first that the rows have a value of."""
    by = results.settings.get("rank_by")
    if by and is_filled(results.rows, results.column_of(str(by))):
        return str(by)
    for name in PREFERRED:
        if is_filled(results.rows, results.column_of(name)):
            return name
    count, failed = len(results.rows), results.count("failed")
    if failed == count:
        raise DataError(
            f"There is nothing to draw: all {count} cells failed. The first: "
            f"{results.rows[0].status_reason}."
        )
    raise SettingsError("No row has a score; name a column: --by n_sv, for instance.")


def _panels_of(
    ranked: Results, kernel: str, column: str, sigma: bool, most: int | None
) -> Iterator[HeatPanel]:
    placed = [(row, row.point(sigma)) for row in ranked.rows if row.kernel == kernel]
    points = [point for _, point in placed]
    names = [name for name in points[0] if all(name in point for point in points)]
    tried = {name: {point[name] for point in points} for name in names}
    varying = [name for name in tried if len(tried[name]) > 1]
    up = max(varying, key=lambda name: len(tried[name]), default=None)
    others = [name for name in varying if name != up]
    settings = sorted({tuple(point[name] for name in others) for point in points})
    fixed = [f"{n}={points[0][n]:.6g}" for n in tried if n not in varying]
    if most is not None and len(settings) > most:
        title = f"{kernel}, best over {' and '.join(others)}"
        yield _panel(title, up, column, placed)
        return
    for setting in settings:
        here = dict(zip(others, setting, strict=True))
        words = [kernel, *(f"{n}={v:.6g}" for n, v in here.items()), *fixed]
        inside = [one for one in placed if here.items() <= one[1].items()]
        yield _panel(" ".join(words), up, column, inside)


def _panel(
    title: str, up: str | None, column: str, ranked: list[tuple[Row, dict[str, float]]]
) -> HeatPanel:
    """The rows in their places; of several in one place the best, which comes first."""
    Cs = sorted({row.C for row, _ in ranked})
    values = sorted({point[up] for _, point in ranked}) if up else [UNSET]
    cells: dict[tuple[int, int], HeatCell] = {}
    for row, point in ranked:
        at = values.index(point[up]) if up else 0, Cs.index(row.C)
        state, value = state_of(row, column), row.value(column)
        if state == "bounded":
            value = lower_bound(row, column)
        cell = HeatCell(row, state, value)
        cells.setdefault(at, cell)
    kernel = ranked[0][0].kernel
    return HeatPanel(title, kernel, up, tuple(values), tuple(Cs), cells)


@dataclass(frozen=True, eq=False)
class Confusion:
    """counts (Q, Q + 1): samples of class k predicted as l; last, the undecided."""

    classes: tuple[str, ...]
    counts: Ints

    @property
    def predicted(self) -> tuple[str, ...]:
        """The columns to show: the classes, and ``?`` if some sample is undecided."""
        undecided = (UNDECIDED,) if self.counts[:, -1].any() else ()
        return (*self.classes, *undecided)

    @property
    def errors(self) -> int:
        """How many samples are not predicted as their own class."""
        return int(self.counts.sum() - self.counts.diagonal().sum())

    @property
    def lines(self) -> list[tuple[str, list[int]]]:
        """Each true class with its counts, in the columns of ``predicted``."""
        shown = self.counts[:, : len(self.predicted)].tolist()
        return list(zip(self.classes, shown, strict=True))

    def tint(self, k: int, l: int) -> int:
        """How much of class k is taken for l, 0 (nothing) .. 4; of others than k."""
        share = self.counts[k, l] / max(1, self.counts[k].sum())
        return sum(share > least for least in TINTS)


def confusion_of(classes: tuple[str, ...], left_out: LeftOut) -> Confusion:
    """The counts of all samples.

    >>> confusion_of(data.classes, report.left_out).lines
    """
    Q = len(classes)
    counts = np.zeros((Q, Q + 1), np.int64)
    np.add.at(counts, (left_out.y, left_out.predicted), 1)
    return Confusion(classes, counts)
