"""Rows -> ranked Results; a DataFrame of them for a notebook.

Ranking is by one column, ascending. Ties go to the smaller C, then to the smoother
kernel; bounds that do not apply, cells that did not converge and cells that failed come
after all others, in this order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from msvm_select.errors import SettingsError
from msvm_select.names import CRITERIA, KERNELS
from msvm_select.phrases import did_you_mean, listed
from msvm_select.row import COLUMNS, EXTRA, Row

if TYPE_CHECKING:
    import pandas as pd

    from msvm_select.results.choosing import Choice

WORDS = ("rank", "kernel", "solver", "status", "status_reason", "loss")
NUMBERS = tuple(name for name in (*COLUMNS, *EXTRA) if name not in WORDS)
APPLICABLE = {
    "radius_margin": "radius_margin_applicable",
    "radius_margin_q": "radius_margin_applicable",
    "radius_margin_count": "radius_margin_applicable",
    "vc_dimension": "separable",
}
SCORES = (
    *("loo_errors", "loo_rate", "radius_margin", "radius_margin_q"),
    *("radius_margin_count", "guaranteed_risk", "sv_rate", "compression_bound"),
    *("vc_dimension", "cv_error", "holdout_error", "span_rate", "radius_margin_l1"),
)


@dataclass(frozen=True)
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
    def columns(self) -> tuple[str, ...]:
        """The schema's, and then what was asked for beyond it."""
        asked = [text.partition(":")[0] for text in self.settings.get("criteria", ())]
        wanted = {CRITERIA[name].column for name in asked if name in CRITERIA}
        wanted |= {name for name in EXTRA if is_filled(self.rows, name)}
        return (*COLUMNS, *(name for name in EXTRA if name in wanted))

    @property
    def best(self) -> Row | None:
        """The first row, if it is a trained machine with a score that counts."""
        column = ranking_column(self.rank_by)
        first = self.rows[0] if self.rows else None
        return first if first and _standing(first, column) == 0 else None

    @property
    def chosen(self) -> Row | None:
        """The row that was chosen; the best one, where nothing else was asked for."""
        return self.best if self.choice is None else self.choice.row

    @property
    def counting(self) -> tuple[Row, ...]:
        """The rows that may be chosen: trained, with a score that counts."""
        column = ranking_column(self.rank_by)
        return tuple(row for row in self.rows if _standing(row, column) == 0)

    def count(self, status: str) -> int:
        """How many rows are ``ok``, ``not_converged`` or ``failed``."""
        return sum(row.status == status for row in self.rows)

    def ranked(self, by: str) -> Results:
        """The same rows, ranked by another criterion or column."""
        column = ranking_column(by)
        if self.rows and all(_value(row, column) is None for row in self.rows):
            filled = [c for c in ("train_errors", *SCORES) if is_filled(self.rows, c)]
            raise SettingsError(
                f"No row has a value for {by!r}: it was not asked for in the sweep. "
                f"There are {listed(filled)}; sweep again with --criteria {by}."
            )
        return replace(self, rows=rank(self.rows, by), rank_by=by, choice=None)

    def head(self, top: int | None) -> Results:
        """The ``top`` best rows only."""
        return replace(self, rows=self.rows[:top])

    def to_frame(self) -> pd.DataFrame:
        """The rows as a DataFrame, in the columns of the output schema."""
        import pandas as pd

        rows = [asdict(row) for row in self.rows]
        return pd.DataFrame(rows, columns=list(self.columns))


def ranking_column(by: str) -> str:
    """The column that a criterion (``sv-rate``, ``cv:5``) or column name stands for."""
    name = by.partition(":")[0]
    if name in CRITERIA:
        return CRITERIA[name].column
    if by in NUMBERS:
        return by
    names = (*CRITERIA, *NUMBERS)
    hint = did_you_mean(by, names) or f"; there are {listed(CRITERIA, 20)}"
    raise SettingsError(f"There is nothing to rank by called {by!r}{hint}.")


def rank(rows: Iterable[Row], by: str) -> tuple[Row, ...]:
    """The rows in order, numbered 1, 2, .. in ``rank``."""
    column = ranking_column(by)

    def place(row: Row) -> tuple[Any, ...]:
        value = _value(row, column)
        score = math.inf if value is None else value
        return _standing(row, column), score, row.C, roughness(row), row.solver

    ordered = sorted(rows, key=place)
    return tuple(replace(row, rank=1 + i) for i, row in enumerate(ordered))


def _standing(row: Row, column: str) -> int:
    """0 for a score that counts; then inapplicable, none, unconverged, failed."""
    if row.status != "ok":
        return 4 if row.status == "failed" else 3
    if _value(row, column) is None:
        return 2
    applicable = APPLICABLE.get(column)
    return 1 if applicable and getattr(row, applicable) is False else 0


def _value(row: Row, column: str) -> float | None:
    value = getattr(row, column)
    return None if value is None or math.isnan(value) else value


def roughness(row: Row) -> tuple[float, ...]:
    """The kernel's own order, smooth first; one that is not known here comes last."""
    if row.kernel not in KERNELS:
        return (math.inf,)
    try:
        return KERNELS[row.kernel](**row.parameters).roughness
    except (TypeError, SettingsError):
        return (math.inf,)


def is_filled(rows: Iterable[Row], column: str) -> bool:
    """Whether some row has a value there."""
    return any(getattr(row, column) is not None for row in rows)
