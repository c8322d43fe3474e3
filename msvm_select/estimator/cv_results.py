"""The rows of a sweep in the shape of scikit-learn's ``cv_results_``.

A score grows with how good a cell is. Of an error rate it is the accuracy, 1 - rate;
F1 and the area under the curve are scores as they are; of any other number that is the
better the smaller it is, it is the negative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msvm_select.columns import (
    CELL,
    PARAMETERS,
    Column,
    Row,
    column_of,
    counts,
    is_filled,
)
from msvm_select.records import Floats, Ints
from msvm_select.results.ranking import Results

RATES = ("rate", "metric")  # roles of what is a share of the samples, if it is in %


def in_grid_order(results: Results) -> tuple[Row, ...]:
    """As ``ParameterGrid`` has them: by kernel, C, then the kernel's parameters."""
    kernels = list(results.settings.get("kernel", ()))

    def place(row: Row) -> tuple[Any, ...]:
        values = (getattr(row, name) for name in sorted(PARAMETERS))
        known = (-math.inf if value is None else value for value in values)
        return kernels.index(row.kernel), row.C, *known

    return tuple(sorted(results.rows, key=place))


def params_of(row: Row) -> dict[str, Any]:
    """The parameters of the estimator that trains the cell."""
    return {"C": row.C, "kernel": row.kernel, **row.parameters}


def score_of(row: Row, name: str) -> float:
    """The larger the better; NaN for a value that is not there, or does not hold."""
    if not counts(row, name):
        return math.nan
    column, value = column_of(name), float(row.value(name))
    if column.largest:
        return value
    return 1.0 - value if column.unit == "%" and column.role in RATES else -value


def cv_results(rows: Sequence[Row], results: Results) -> dict[str, Any]:
    """Of the rows in this order: parameters, score, rank, and our filled columns."""
    column = column_of(results.column)
    scores = np.array([score_of(row, column.name) for row in rows])
    filled = [name for name in results.columns if is_filled(rows, name)]
    used = [name for name in CELL if name in filled]
    own = [name for name in filled if name not in (*CELL, "rank")]
    return {
        **{f"param_{name}": _masked([r.value(name) for r in rows]) for name in used},
        "params": [params_of(row) for row in rows],
        "mean_test_score": scores,
        "std_test_score": _spread(scores, column),
        "rank_test_score": _ranks(scores),
        **{name: _array([row.value(name) for row in rows], name) for name in own},
    }


def _spread(scores: Floats, column: Column) -> Floats:
    """Of an error rate the standard deviation over the samples, sqrt(p(1 - p))."""
    if column.role != "rate":
        return np.full(scores.shape, np.nan)
    return np.sqrt(np.maximum(scores * (1.0 - scores), 0.0))


def _ranks(scores: Floats) -> Ints:
    """1 is the best; those that tie share their first rank, NaN comes last."""
    least = np.where(np.isnan(scores), -np.inf, scores)
    return np.array([1 + int((least > one).sum()) for one in least], dtype=np.int64)


def _masked(values: list[Any]) -> np.ma.MaskedArray[Any, Any]:
    """Masked where the kernel of the cell has no such parameter."""
    gaps = [value is None for value in values]
    kind = object if isinstance(values[0], str) else np.float64
    held = [0.0 if value is None else value for value in values]
    return np.ma.MaskedArray(np.array(held, dtype=kind), mask=gaps)


def _array(values: list[Any], name: str) -> NDArray[Any]:
    """Numbers with NaN for what is not there; words as they are."""
    if column_of(name).kind in (int, float):
        numbers = [math.nan if value is None else value for value in values]
        return np.array(numbers, dtype=np.float64)
    return np.array(values, dtype=object)
