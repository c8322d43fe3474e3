"""Rows -> text for a person: rounded in the table, shorter in a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msvm_select.results.ranking import SCORES, Results, is_filled, ranking_column
from msvm_select.row import CELL, PARAMETERS, Row

NOTHING = "\N{EN DASH}"
SPACE = "\N{NO-BREAK SPACE}"  # between what a line must not part
CERTIFICATE = ("n_sv", "gap", "b_unique")


def text(row: Row, column: str) -> str:
    """One value, rounded; the file of results has all digits."""
    value = getattr(row, column)
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    if column in ("gap", "kkt_violation", "seconds"):
        return f"{value:.1g}"
    return f"{value:.{6 if column in CELL else 4}g}"


def compact(value: float, digits: int) -> str:
    """A number in few characters: ``2.1e6``."""
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:.{digits}g}")


def brief(value: float) -> str:
    """A parameter beside an axis: three digits, if they are told in six characters."""
    text = compact(value, 3)
    return text if len(text) <= 6 else re.sub(r"e\+?(-?)0*", r"e\1", f"{value:.1e}")


def percent(share: float) -> str:
    """A share as a percentage, to a tenth; finer below that."""
    value = 100.0 * share
    return f"{value:.1g}{SPACE}%" if 0.0 < value < 0.1 else f"{value:.1f}{SPACE}%"


def described(row: Row) -> str:
    """The whole cell in words: ``rbf with gamma = 0.5 and C = 8``."""
    given = row.parameters
    parts = [f"{name}{SPACE}={SPACE}{text(row, name)}" for name in (*given, "C")]
    together = ", ".join(parts[:-1])
    return f"{row.kernel} with {together}{' and ' if given else ''}{parts[-1]}"


def setting_order(row: Row) -> tuple[float, ...]:
    """The settings of one kernel, the first parameter deciding first."""
    return tuple(getattr(row, name) or 0.0 for name in PARAMETERS)


def filled_columns(results: Results) -> list[str]:
    """The columns with anything in them: those of the first look, then the others."""
    blank: tuple[object, ...] = (None, "")
    return [
        column
        for column in dict.fromkeys((*_first_look(results), *results.columns))
        if any(getattr(row, column) not in blank for row in results.rows)
    ]


def first_columns(results: Results, filled: Sequence[str]) -> list[str]:
    """Those to show before anybody has chosen."""
    wanted = _first_look(results)
    return [column for column in filled if column in wanted]


def _first_look(results: Results) -> tuple[str, ...]:
    """The columns that matter most, in the order of reading."""
    several = len({row.kernel for row in results.rows}) > 1
    troubled = results.count("ok") < len(results.rows)
    return (
        *("rank", *(["kernel"] if several else []), *PARAMETERS, "C"),
        ranking_column(results.rank_by),
        *(["status"] if troubled else []),
        *("train_errors", *SCORES, *CERTIFICATE),
        *(["status_reason"] if troubled else []),
    )


def scores(results: Results) -> list[str]:
    """The columns worth a picture, the one that is ranked by first."""
    by = ranking_column(results.rank_by)
    wanted = (by, *SCORES, "train_errors", "n_sv")
    pairs = {"loo_errors": "loo_rate", "n_sv": "sv_rate"}  # a count and its share
    doubled = {n for n, rate in pairs.items() if is_filled(results.rows, rate)}
    return [
        column
        for column in dict.fromkeys(wanted)
        if is_filled(results.rows, column) and (column == by or column not in doubled)
    ]
