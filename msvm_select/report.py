"""Rows -> a ranked Results -> a table for a terminal, a DataFrame for a notebook.

Ranking is by one column, ascending. Ties go to the smaller C, then to the smoother
kernel; bounds that do not apply, cells that did not converge and cells that failed come
after all others, in this order.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from msvm_select.criteria import CRITERIA
from msvm_select.errors import SettingsError
from msvm_select.kernels import KERNELS
from msvm_select.records import COLUMNS, Row
from msvm_select.suggest import did_you_mean, listed

if TYPE_CHECKING:
    import pandas as pd

WORDS = ("rank", "kernel", "solver", "status", "status_reason")
APPLICABLE = {
    "radius_margin": "radius_margin_applicable",
    "radius_margin_q": "radius_margin_applicable",
    "radius_margin_count": "radius_margin_applicable",
}
SCORES = (
    *("loo_errors", "loo_rate", "radius_margin", "radius_margin_q"),
    *("radius_margin_count", "guaranteed_risk", "sv_rate", "compression_bound"),
    *("vc_dimension", "cv_error", "holdout_error"),
)
MEASURES = ("train_errors", "n_sv", "gap", "n_bounded", "b_unique", "seconds")


@dataclass(frozen=True)
class Results:
    """The ranked rows of a sweep with what they came from."""

    rows: tuple[Row, ...]
    rank_by: str
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def best(self) -> Row | None:
        """The first row, if it is a trained machine with a score that counts."""
        column = ranking_column(self.rank_by)
        first = self.rows[0] if self.rows else None
        return first if first and _standing(first, column) == 0 else None

    def count(self, status: str) -> int:
        """How many rows are ``ok``, ``not_converged`` or ``failed``."""
        return sum(row.status == status for row in self.rows)

    def ranked(self, by: str) -> Results:
        """The same rows, ranked by another criterion or column."""
        column = ranking_column(by)
        if self.rows and all(_value(row, column) is None for row in self.rows):
            filled = [c for c in ("train_errors", *SCORES) if _is_filled(self.rows, c)]
            raise SettingsError(
                f"No row has a value for {by!r}: it was not asked for in the sweep. "
                f"There are {listed(filled)}; sweep again with --criteria {by}."
            )
        return replace(self, rows=rank(self.rows, by), rank_by=by)

    def head(self, top: int | None) -> Results:
        """The ``top`` best rows only."""
        return replace(self, rows=self.rows[:top])

    def to_frame(self) -> pd.DataFrame:
        """The rows as a DataFrame, in the columns of the output schema."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=list(COLUMNS))


def summary(results: Results) -> str:
    """One line: the best cell and its score, or that there is none."""
    best = results.best
    if best is None:
        return f"No cell has a score by {results.rank_by} that counts."
    column = ranking_column(results.rank_by)
    where = [
        f"{c}={_shown(best, c)}"
        for c in ("gamma", "degree", "coef0", "C")
        if getattr(best, c) is not None
    ]
    score = f"{column} = {_shown(best, column)}"
    return f"Best by {results.rank_by}: {best.kernel} {' '.join(where)} ({score})"


def ranking_column(by: str) -> str:
    """The column that a criterion (``sv-rate``, ``cv:5``) or column name stands for."""
    name = by.partition(":")[0]
    if name in CRITERIA:
        return CRITERIA[name].column
    if by in COLUMNS and by not in WORDS:
        return by
    names = (*CRITERIA, *(column for column in COLUMNS if column not in WORDS))
    hint = did_you_mean(by, names) or f"; there are {listed(CRITERIA, 20)}"
    raise SettingsError(f"There is nothing to rank by called {by!r}{hint}.")


def rank(rows: Iterable[Row], by: str) -> tuple[Row, ...]:
    """The rows in order, numbered 1, 2, .. in ``rank``."""
    column = ranking_column(by)

    def place(row: Row) -> tuple[Any, ...]:
        value = _value(row, column)
        score = math.inf if value is None else value
        return _standing(row, column), score, row.C, _roughness(row), row.solver

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


def _roughness(row: Row) -> tuple[float, ...]:
    """The kernel's own order; a kernel that is not known here comes last."""
    if row.kernel not in KERNELS:
        return (math.inf,)
    given = {"gamma": row.gamma, "degree": row.degree, "coef0": row.coef0}
    known = {name: value for name, value in given.items() if value is not None}
    try:
        return KERNELS[row.kernel](**known).roughness
    except (TypeError, SettingsError):
        return (math.inf,)


def _is_filled(rows: Iterable[Row], column: str) -> bool:
    return any(getattr(row, column) is not None for row in rows)


def table(results: Results, width: int = 80, colour: bool = False) -> str:
    """The columns that matter most and fit ``width``, rounded, the best row marked."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns = _fitting(results, width)
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        left = column in ("kernel", "status", "status_reason")
        grid.add_column(column, justify="left" if left else "right", no_wrap=True)
    for row in results.rows:
        marked = row is results.best
        grid.add_row(
            *(_shown(row, column, marked) for column in columns),
            style="bold green" if marked else None,
        )
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
        _environ={},
    )
    console.print(grid)
    for note in _notes(results):
        console.print(Text(note), soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _fitting(results: Results, width: int) -> list[str]:
    """The columns by importance as long as they fit, in the order of reading."""
    rows = results.rows
    score = ranking_column(results.rank_by)
    several = len({row.kernel for row in rows}) > 1
    parameters = [c for c in ("gamma", "degree", "coef0") if _is_filled(rows, c)]
    where = ["rank", *(["kernel"] if several else []), *parameters, "C"]
    troubled = ["status"] if results.count("ok") < len(rows) else []
    wanted = [*where, score, *troubled, "train_errors", *SCORES, *MEASURES]
    chosen: list[str] = []
    room = width
    for column in dict.fromkeys(wanted):
        needed = 2 + max(
            [len(column), *(len(_shown(row, column, True)) for row in rows)]
        )
        if (needed <= room or column in where) and (
            column == score or _is_filled(rows, column)
        ):
            chosen.append(column)
            room -= needed
    return chosen


def _shown(row: Row, column: str, marked: bool = False) -> str:
    """One value for a person: rounded, yes or no, a dash for nothing."""
    value = getattr(row, column)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column == "rank":
        return f"* {value}" if marked else str(value)
    if not isinstance(value, float):
        return str(value)
    if column in ("gap", "kkt_violation"):
        return f"{value:.0e}"
    digits = 6 if column in ("gamma", "degree", "coef0", "C") else 4
    return f"{value:.{digits}g}"


def _notes(results: Results) -> list[str]:
    """What was ranked by what, and each trouble once with the number of its cells."""
    kernels = ", ".join(dict.fromkeys(row.kernel for row in results.rows))
    best = f"\n* best by {results.rank_by} (kernel {kernels})"
    notes = [best] if results.best else []
    troubles: dict[str, int] = {}
    for row in results.rows:
        if row.status_reason:
            text = f"{row.status}: {row.status_reason}"
            troubles[text] = troubles.get(text, 0) + 1
    return notes + [f"{count} x {text}" for text, count in troubles.items()]
