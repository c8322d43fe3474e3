"""Rows -> ranked Results; a DataFrame of them for a notebook.

Ranking is by one column, the best value first. Ties go to the cell with fewer training
errors, then to the simpler one: the smaller C, then the smoother kernel. After all
others come, in this order, cells that lost a race, cells whose value does not hold,
cells without a value, cells that did not converge and cells that failed.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from msvm_select.columns import (
    COLUMNS,
    COUNTS,
    EXTRA,
    NUMBERS,
    PARAMETERS,
    RANKED_BY,
    SCORES,
    TABLE,
    Row,
    Setting,
    column_of,
    counts,
    further_columns,
    is_filled,
    lower_bound,
    ranked_column,
    scored_columns,
    state_of,
)
from msvm_select.errors import SettingsError
from msvm_select.kernels.low_rank import kernel_of
from msvm_select.names import KERNELS
from msvm_select.phrases import counted, did_you_mean, html_table, listed, quoted
from msvm_select.records import Dataset

if TYPE_CHECKING:
    import pandas as pd

    from msvm_select.results.choosing import Choice

LAST = ("bounded", "inapplicable", "none", "not_converged", "failed")  # in this order
PACKAGES = ("msvm-select", "numpy", "scipy", "numba", "osqp", "qpsolvers")
IN_A_NOTEBOOK = 10  # rows of the table in a notebook


@dataclass(frozen=True, repr=False)
class Results:
    """The ranked rows of a sweep with what they came from, and which one was chosen.

    ``gram`` says of each kernel setting what Mercer's test found.
    """

    rows: tuple[Row, ...]
    rank_by: str
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    choice: Choice | None = None
    gram: tuple[Mapping[str, Any], ...] = ()

    @property
    def origin(self) -> dict[str, Any]:
        """What the rows came from, as a file tells it."""
        told = {"data": self.data, "settings": self.settings, "versions": self.versions}
        return {name: dict(part) for name, part in told.items()}

    @property
    def criteria(self) -> tuple[str, ...]:
        """Those that were asked for, as far as that is known."""
        return tuple(self.settings.get("criteria") or ())

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those that were asked for and have a column of their own."""
        asked = self.settings.get("metric") or ()
        return tuple(one for one in asked if ranked_column(one))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The schema's, and then what was asked for beyond it."""
        wanted = set(scored_columns(self.criteria).values())
        wanted |= {ranking_column(one) for one in self.metrics}
        wanted |= {name for name in EXTRA if is_filled(self.rows, name)}
        extra = (name for name in EXTRA if name in wanted)
        return (*COLUMNS, *extra, *further_columns(self.rows, self.criteria))

    @cached_property
    def column(self) -> str:
        """The column that the rows are ranked by."""
        return self.column_of(self.rank_by)

    def column_of(self, by: str) -> str:
        """The column that a criterion or column name stands for here."""
        return ranking_column(by, further_columns(self.rows, self.criteria))

    @property
    def best(self) -> Row | None:
        """The first row, if it is a trained machine with a score that counts."""
        first = self.rows[0] if self.rows else None
        return first if first and counts(first, self.column) else None

    @property
    def chosen(self) -> Row | None:
        """The row that was chosen; the best one, where nothing else was asked for."""
        return self.best if self.choice is None else self.choice.row

    @property
    def counting(self) -> tuple[Row, ...]:
        """The rows that may be chosen: trained, with a score that counts."""
        column = self.column
        return tuple(row for row in self.rows if counts(row, column))

    @property
    def by_class(self) -> dict[str, tuple[int, int]]:
        """Of each class how many samples the chosen cell gets wrong, and of how many.

        Empty where that is not known.
        """
        names, row = self.data.get("classes"), self.chosen
        if row is None or not isinstance(names, Mapping):
            return {}
        if len(names) != len(row.by_class):
            return {}
        return dict(zip(names, row.by_class, strict=True))

    def count(self, status: str) -> int:
        """How many rows are ``ok``, ``not_converged`` or ``failed``."""
        return sum(row.status == status for row in self.rows)

    def ranked(self, by: str) -> Results:
        """The same rows, ranked by another criterion or column."""
        column = self.column_of(by)
        asked = by in (*self.criteria, *(self.settings.get("metric") or ()))
        if self.rows and not asked and not is_filled(self.rows, column):
            filled = [c for c in ("train_errors", *SCORES) if is_filled(self.rows, c)]
            raise SettingsError(
                f"No row has a value for {by!r}: it was not asked for in the sweep. "
                f"There are {listed(filled)}; sweep again with "
                f"--{'metric' if column_of(column).metric else 'criteria'} {by}."
            )
        rows = rank(self.rows, by, self.criteria)
        return replace(self, rows=rows, rank_by=by, choice=None)

    def head(self, top: int | None) -> Results:
        """The ``top`` best rows only."""
        return replace(self, rows=self.rows[:top])

    @cached_property
    def first_look(self) -> tuple[str, ...]:
        """The columns with anything in them that matter most, in order of weight."""
        troubled = self.count("ok") < len(self.rows)
        scores = [*SCORES, *further_columns(self.rows, self.criteria)]
        filled = [name for name in scores if is_filled(self.rows, name)]
        told = [column_of(name) for name in filled]
        flags = (flag for c in told for flag in (c.applies_where, c.vacuous_where))
        by = [self.column] if self.rank_by else []
        measured = [self.column_of(one) for one in self.metrics]
        wanted = (
            *("rank", "kernel", *PARAMETERS, "C"),
            *(*by, *(["status"] if troubled else []), *measured, "train_errors"),
            "rank_error",
            *filled,
            *(name for name, column in TABLE.items() if column.look),
            *filter(None, flags),
        )
        return tuple(
            name
            for name in dict.fromkeys(wanted)
            if name in by or is_filled(self.rows, name)
        )

    def to_frame(self) -> pd.DataFrame:
        """The rows as a DataFrame, in the columns of the output schema."""
        import pandas as pd

        rows = [row.values() for row in self.rows]
        return pd.DataFrame(rows, columns=list(self.columns))

    def __repr__(self) -> str:
        """A short line; ``rows`` and ``to_frame()`` have everything."""
        by = f" ranked by {self.rank_by}" if self.rank_by else ""
        best = f"; best: {self.best.cell}" if self.rank_by and self.best else ""
        return f"Results({counted(len(self.rows), 'row')}{by}{best})"

    def _repr_html_(self) -> str:
        """The best rows in a notebook, in the columns of the first look."""
        names = self.first_look
        lines = [
            ["" if (v := row.value(name)) is None else v for name in names]
            for row in self.rows[:IN_A_NOTEBOOK]
        ]
        more = len(self.rows) - IN_A_NOTEBOOK
        rest = f"<p>and {counted(more, 'more row')}</p>" if more > 0 else ""
        return html_table(names, lines) + rest


def ranking_column(by: str, known: Iterable[str] = ()) -> str:
    """The column that a criterion (``sv-rate``, ``cv:5``) or column name stands for.

    ``known`` are the columns at hand, further ones (``cv10_error``) among them.
    """
    column = ranked_column(by, known)
    if column is not None:
        return column
    hint = did_you_mean(by, (*RANKED_BY, *NUMBERS))
    hint = hint or f"; there are {listed(RANKED_BY, 20)}"
    raise SettingsError(f"There is nothing to rank by called {by!r}{hint}.")


def rank(rows: Iterable[Row], by: str, criteria: Sequence[str] = ()) -> tuple[Row, ...]:
    """The rows in order, numbered 1, 2, .. in ``rank``.

    ``criteria`` are those of the sweep, where they are known: they tell whether
    ``cv:10`` has a column of its own.
    """
    rows = tuple(rows)
    column = ranking_column(by, further_columns(rows, criteria))
    sign = column_of(column).sense

    def place(row: Row) -> tuple[Any, ...]:
        value = row.value(column)
        value = lower_bound(row, column) if value is None else value
        score = math.inf if value is None or math.isnan(value) else sign * value
        return _standing(row, column), score, *tie(row), row.solver

    ordered = sorted(rows, key=place)
    return tuple(row.at_rank(1 + i) for i, row in enumerate(ordered))


def _standing(row: Row, column: str) -> int:
    """0 for a score that counts, then the states of LAST."""
    state = state_of(row, column)
    return 0 if state in COUNTS else 1 + LAST.index(state)


def tie(row: Row) -> tuple[Any, ...]:
    """Of cells that do alike the one where this is least comes first.

    A machine that calls every sample by the largest class has the most training errors
    of those that are wrong as often, so that they decide before the simplicity does.
    """
    errors = math.inf if row.train_errors is None else row.train_errors
    return errors, *simplicity(row)


def simplicity(row: Row) -> tuple[Any, ...]:
    """Less is simpler: the smaller C, then the smoother kernel."""
    return row.C, _roughness(row.setting)


@lru_cache(maxsize=1024)
def _roughness(setting: Setting) -> tuple[float, ...]:
    """The kernel's own order, smooth first; one that is not known here comes last."""
    row = Row.at(setting)
    with suppress(TypeError, SettingsError):
        if row.kernel in KERNELS:
            return kernel_of(row.kernel, row.parameters).roughness
    return (math.inf,)


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two numbers of the same cells: how far they order them alike.

    None where one of the two is the same everywhere.
    """
    from scipy.stats import kendalltau

    if len(set(first)) < 2 or len(set(second)) < 2:
        return None
    tau = float(kendalltau(first, second).statistic)
    return tau if math.isfinite(tau) else None


@dataclass(frozen=True)
class Baseline:
    """Always the largest class: ``wrong`` of ``m`` samples are of another one."""

    name: str
    wrong: int
    m: int

    @property
    def rate(self) -> float:
        """The error rate."""
        return self.wrong / self.m

    @property
    def text(self) -> str:
        """One sentence, without its full stop."""
        return (
            f"Always saying {quoted(self.name)}, the largest class, is wrong for "
            f"{self.wrong} of {self.m} samples ({100.0 * self.rate:.1f} %)"
        )


def baseline_of(classes: Mapping[str, int]) -> Baseline | None:
    """From the number of samples of each class; None without any."""
    m = sum(classes.values())
    if m == 0:
        return None
    name = max(classes, key=lambda name: classes[name])
    return Baseline(name, m - classes[name], m)


def data_summary(data: Dataset) -> dict[str, Any]:
    """Name, sizes, features, how many samples each class has, how it was read."""
    counts = np.bincount(data.y, minlength=data.Q).tolist()
    reading = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in data.reading.items()
    }
    return {
        "name": data.name,
        "n_samples": data.m,
        **({} if data.drawn_from is None else {"drawn_from": data.drawn_from}),
        "n_features": int(data.X.shape[1]),
        "n_classes": data.Q,
        "target": data.target,
        "features": list(data.features),
        "classes": dict(zip(data.classes, counts, strict=True)),
        **({"reading": reading} if reading else {}),
    }


def versions() -> dict[str, str]:
    """Of Python, of this program and of the packages that compute."""
    known = {package: version_of(package) for package in PACKAGES}
    some = {package: number for package, number in known.items() if number}
    return {"python": platform.python_version(), **some}


@cache
def version_of(package: str) -> str | None:
    """That of an installed package, whose metadata are read once in a process."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
