"""Results -> columns along C: every criterion of one kernel setting, or every setting.

``curves_of`` has the criteria of one kernel setting in shares of the samples, a panel
for the rates, the metrics, the bounds and the indices. ``bundles_of`` has one column at
a time, in its own unit, with a curve for each kernel setting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from msvm_select.columns import (
    SCORES,
    Column,
    Row,
    Setting,
    column_of,
    counts,
    further_columns,
)
from msvm_select.errors import SettingsError
from msvm_select.phrases import listed
from msvm_select.results.ranking import Results
from msvm_select.show.charts.heat import default_criterion, picked
from msvm_select.show.charts.scale import Grid, Scale

ALIKE = 1e-6  # two values of a parameter, one of them typed with few digits
SHUFFLED = ("cv", "holdout")  # criteria whose values depend on how one shuffles


@dataclass(frozen=True)
class Curve:
    """One column along C: NaN where there is no value; ``counts`` where it applies."""

    column: str
    name: str
    Cs: tuple[float, ...]
    values: tuple[float, ...]
    counts: tuple[bool, ...]

    @property
    def applies(self) -> bool:
        """Whether every value that there is counts."""
        return all(counts for _, _, counts in self.points)

    @property
    def points(self) -> list[tuple[float, float, bool]]:
        """C, value and whether it counts, where there is a value."""
        found = zip(self.Cs, self.values, self.counts, strict=True)
        return [point for point in found if math.isfinite(point[1])]

    @property
    def kind(self) -> str:
        """``steps`` if it is exact, ``points`` if it is shuffled, else ``line``."""
        if self.column == "loo_rate":
            return "steps"
        return "points" if column_of(self.column).criterion in SHUFFLED else "line"


@dataclass(frozen=True)
class Panel:
    """Curves of one role over an axis; a value above ``vacuous`` says nothing."""

    role: str
    curves: tuple[Curve, ...]
    title: str
    is_log: bool = True
    vacuous: float | None = None


@dataclass(frozen=True)
class Curves:
    """The curves of one kernel setting; ``band`` is that of leave-one-out.

    Values are percentages of the samples; indices have no unit. ``verdict`` says by
    what ``chosen``, a C, was chosen.
    """

    name: str
    setting: str
    verdict: str
    Cs: tuple[float, ...]
    troubled: tuple[float, ...]
    rates: tuple[Curve, ...]
    metrics: tuple[Curve, ...]
    bounds: tuple[Curve, ...]
    indices: tuple[Curve, ...]
    band: tuple[tuple[float, float], ...]
    chosen: float | None

    @cached_property
    def grid(self) -> Grid:
        """Where the values of C stand."""
        return Grid(self.Cs)

    def places(self, Cs: Iterable[float]) -> list[float]:
        """Of some of them."""
        return [self.grid.places[self.Cs.index(C)] for C in Cs]

    @property
    def panels(self) -> list[Panel]:
        """Those with any curve."""
        every = (
            Panel("rate", self.rates, "error rate, %", is_log=False),
            Panel("metric", self.metrics, "metric, no unit", is_log=False),
            Panel("bound", self.bounds, "bound, % of samples", vacuous=100.0),
            Panel("index", self.indices, "index, no unit"),
        )
        return [panel for panel in every if panel.curves]


@dataclass(frozen=True)
class Bundle:
    """One column along C, the chosen cell's kernel setting first.

    ``chosen`` is the C and the value of the chosen cell, if it has one.
    """

    label: Column
    Cs: tuple[float, ...]
    curves: tuple[Curve, ...]
    chosen: tuple[float, float] | None

    @property
    def across(self) -> Scale:
        """The axis of C."""
        return Grid(self.Cs).scale

    @property
    def up(self) -> Scale:
        """The axis of the values."""
        return Scale.upward(point[1] for curve in self.curves for point in curve.points)


def curves_of(
    results: Results, by: str | None = None, setting: Mapping[str, str | float] = {}
) -> Curves:
    """The curves of the best cell's kernel setting, among those that ``setting`` says.

    >>> curves_of(results, "loo", {"kernel": "rbf", "gamma": 0.5})
    """
    by = by or default_criterion(results)
    ranked, chosen, verdict = picked(results, by)
    sigma = bool(results.settings.get("sigma"))
    fitting = [row for row in ranked.rows if _fits(row, setting)]
    if not fitting:
        there = dict.fromkeys(row.in_words(sigma, C=False) for row in ranked.rows)
        asked = " ".join(f"{name}={value}" for name, value in setting.items())
        raise SettingsError(f"No row is of {asked}; there are {listed(there, 8)}.")
    first = chosen if chosen in fitting else fitting[0]
    rows: dict[float, Row] = {}
    for row in fitting:
        if row.setting == first.setting:
            rows.setdefault(row.C, row)
    along = [rows[C] for C in sorted(rows)]
    sound = counts(first, results.column_of(by))
    names = (*SCORES, *further_columns(results.rows, results.criteria))
    of = {
        role: [name for name in names if column_of(name).role == role]
        for role in ("rate", "bound", "index", "metric")
    }
    shares = [name for name in of["metric"] if column_of(name).unit]
    return Curves(
        name=str(results.data.get("name", "")),
        setting=first.in_words(sigma, C=False),
        verdict=verdict if first is chosen else f"best by {by} here",
        Cs=tuple(row.C for row in along),
        troubled=tuple(row.C for row in along if row.status != "ok"),
        rates=_curves(along, [*of["rate"], *shares, "train_errors"]),
        metrics=_curves(along, [n for n in of["metric"] if n not in shares]),
        bounds=_curves(along, of["bound"]),
        indices=_curves(along, of["index"]),
        band=tuple(_band(row) for row in along),
        chosen=first.C if sound else None,
    )


def bundles_of(results: Results, columns: Iterable[str]) -> Iterator[Bundle]:
    """The columns with any value."""
    Cs, row = tuple(sorted({row.C for row in results.rows})), results.chosen
    for column in columns:
        curves = [_curve(rows, column) for rows in by_setting(results).values()]
        if any(curve.points for curve in curves):
            here = [] if row is None else _curve([row], column).points
            chosen = here[0][:2] if here else None
            yield Bundle(column_of(column), Cs, tuple(curves), chosen)


def by_setting(results: Results) -> dict[Setting, list[Row]]:
    """The rows of each kernel setting, C ascending: the chosen one, then by rank."""
    found: dict[Setting, list[Row]] = {}
    if results.chosen is not None:
        found[results.chosen.setting] = []
    for row in results.rows:
        found.setdefault(row.setting, []).append(row)
    return {key: sorted(rows, key=lambda row: row.C) for key, rows in found.items()}


def _fits(row: Row, setting: Mapping[str, str | float]) -> bool:
    """Whether a row is of the kernel setting, as far as that is said."""
    point = {**row.point(), **row.point(sigma=True)}
    return all(
        row.kernel == value
        if name == "kernel"
        else name in point and math.isclose(point[name], float(value), rel_tol=ALIKE)
        for name, value in setting.items()
    )


def _curves(along: Sequence[Row], columns: Iterable[str]) -> tuple[Curve, ...]:
    every = (_curve(along, column, percent=True) for column in columns)
    return tuple(curve for curve in every if curve.points)


def _curve(along: Sequence[Row], column: str, percent: bool = False) -> Curve:
    """One column along C, in its own unit or in percent of the samples."""
    return Curve(
        column,
        column_of(column).text,
        Cs=tuple(row.C for row in along),
        values=tuple(_value(row, column, percent) for row in along),
        counts=tuple(counts(row, column) for row in along),
    )


def _value(row: Row, column: str, percent: bool) -> float:
    """NaN for a cell that failed or is not at its optimum.

    A bound that does not apply has its value. An index is no percentage.
    """
    value, label = row.value(column), column_of(column)
    if value is None or row.status != "ok":
        return math.nan
    value = label.factor * float(value)
    if percent and label.unit == "samples":
        return 100.0 * value / row.n_samples if row.n_samples else math.nan
    return value


def _band(row: Row) -> tuple[float, float]:
    """Between which rates leave-one-out lies: ambiguous samples may be either."""
    m, doubtful = row.n_samples, row.loo_ambiguous or 0
    if row.loo_errors is None or row.status != "ok" or not m:
        return math.nan, math.nan
    low, high = max(0, row.loo_errors - doubtful), min(m, row.loo_errors + doubtful)
    return 100.0 * low / m, 100.0 * high / m
