"""Results -> every criterion along C, for one kernel setting, in shares of samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msvm_select.columns import SCORES, Row, Setting, column_of, counts, further_columns
from msvm_select.errors import SettingsError
from msvm_select.phrases import listed
from msvm_select.results.ranking import Results
from msvm_select.show.charts.heat import (
    default_criterion,
    picked,
)

ALIKE = 1e-6  # two values of a parameter, one of them typed with few digits


@dataclass(frozen=True)
class Curve:
    """One column along C: NaN where there is no value; ``counts`` where it applies.

    In ``Curves``, values are percentages of the samples; indices have no unit.
    """

    column: str
    name: str
    values: tuple[float, ...]
    counts: tuple[bool, ...]

    @property
    def applies(self) -> bool:
        """Whether every value that there is counts."""
        known = zip(self.values, self.counts, strict=True)
        return all(counts for value, counts in known if math.isfinite(value))


@dataclass(frozen=True)
class Curves:
    """The curves of one kernel setting, by panel; ``band`` is that of leave-one-out.

    ``verdict`` says by what ``chosen``, a C, was chosen.
    """

    name: str
    setting: str
    verdict: str
    Cs: tuple[float, ...]
    troubled: tuple[float, ...]
    rates: tuple[Curve, ...]
    bounds: tuple[Curve, ...]
    indices: tuple[Curve, ...]
    band: tuple[tuple[float, float], ...]
    chosen: float | None


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
        raise SettingsError(_no_such(ranked, setting, sigma))
    first = chosen if chosen in fitting else fitting[0]
    rows: dict[float, Row] = {}
    for row in fitting:
        if row.setting == first.setting:
            rows.setdefault(row.C, row)
    along = [rows[C] for C in sorted(rows)]
    sound = counts(first, results.column_of(by))
    return Curves(
        name=str(results.data.get("name", "")),
        setting=first.in_words(sigma, C=False),
        verdict=verdict if first is chosen else f"best by {by} here",
        Cs=tuple(row.C for row in along),
        troubled=tuple(row.C for row in along if row.status != "ok"),
        rates=_curves(along, [*_of_role(results, "rate"), "train_errors"]),
        bounds=_curves(along, _of_role(results, "bound")),
        indices=_curves(along, _of_role(results, "index")),
        band=tuple(_band(row) for row in along),
        chosen=first.C if sound else None,
    )


def _fits(row: Row, setting: Mapping[str, str | float]) -> bool:
    """Whether a row is of the kernel setting, as far as that is said."""
    point = {**row.point(), **row.point(sigma=True)}
    return all(
        row.kernel == value
        if name == "kernel"
        else name in point and math.isclose(point[name], float(value), rel_tol=ALIKE)
        for name, value in setting.items()
    )


def _no_such(ranked: Results, setting: Mapping[str, str | float], sigma: bool) -> str:
    there = dict.fromkeys(row.in_words(sigma, C=False) for row in ranked.rows)
    asked = " ".join(f"{name}={value}" for name, value in setting.items())
    return f"No row is of {asked}; there are {listed(there, 8)}."


def by_setting(results: Results) -> dict[Setting, list[Row]]:
    """The rows of each kernel setting, C ascending: the chosen one, then by rank."""
    found: dict[Setting, list[Row]] = {}
    if results.chosen is not None:
        found[results.chosen.setting] = []
    for row in results.rows:
        found.setdefault(row.setting, []).append(row)
    return {key: sorted(rows, key=lambda row: row.C) for key, rows in found.items()}


def curve_of(along: Sequence[Row], column: str, percent: bool = False) -> Curve:
    """One column along C, in its own unit or in percent of the samples."""
    shown = _percent if percent else _in_its_unit
    return Curve(
        column,
        column_of(column).text,
        values=tuple(shown(row, column) for row in along),
        counts=tuple(counts(row, column) for row in along),
    )


def _of_role(results: Results, role: str) -> list[str]:
    names = (*SCORES, *further_columns(results.rows, results.criteria))
    return [name for name in names if column_of(name).role == role]


def _curves(along: list[Row], columns: Sequence[str]) -> tuple[Curve, ...]:
    found = (curve_of(along, column, percent=True) for column in columns)
    return tuple(curve for curve in found if any(map(math.isfinite, curve.values)))


def _in_its_unit(row: Row, column: str) -> float:
    """NaN for a cell that failed or is not at its optimum.

    A bound that does not apply has its value.
    """
    value = row.value(column)
    if value is None or row.status != "ok":
        return math.nan
    return column_of(column).factor * float(value)


def _percent(row: Row, column: str) -> float:
    """In percent of the samples, except an index."""
    value = _in_its_unit(row, column)
    if column_of(column).unit == "samples":
        return 100.0 * value / row.n_samples if row.n_samples else math.nan
    return value


def _band(row: Row) -> tuple[float, float]:
    """Between which rates leave-one-out lies: ambiguous samples may be either."""
    m, doubtful = row.n_samples, row.loo_ambiguous or 0
    if row.loo_errors is None or row.status != "ok" or not m:
        return math.nan, math.nan
    low, high = max(0, row.loo_errors - doubtful), min(m, row.loo_errors + doubtful)
    return 100.0 * low / m, 100.0 * high / m
