"""Whether the best value lies on the edge of its grid, and how to look beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msvm_select.records import Row
from msvm_select.report.ranking import Results, ranking_column

BEYOND = 2  # more values to propose past the edge


def edge_notes(results: Results) -> list[str]:
    """One remark for each parameter whose best value is the first or last tried.

    Nothing is said where a value from within the grid does as well.
    """
    best = results.best
    return [] if best is None else list(_notes(results, best))


def _notes(results: Results, best: Row) -> Iterator[str]:
    score = ranking_column(results.rank_by)
    alike = [row for row in results.rows if row.kernel == best.kernel]
    good = [row for row in alike if getattr(row, score) == getattr(best, score)]
    for name in ("C", "gamma", "degree", "coef0"):
        values = sorted({getattr(row, name) for row in alike} - {None})
        if len(values) < 2:
            continue
        for edge, word in ((values[0], "smallest"), (values[-1], "largest")):
            if all(getattr(row, name) == edge for row in good):
                yield _note(results, name, edge, word, values)


def _note(
    results: Results, name: str, edge: float, word: str, values: list[float]
) -> str:
    if name == "gamma" and results.settings.get("sigma"):
        name, edge = "sigma", 1.0 / math.sqrt(2.0 * edge)
        values = sorted(1.0 / math.sqrt(2.0 * gamma) for gamma in values)
        word = "largest" if word == "smallest" else "smallest"
    text = f"The best {name} = {edge:.6g} is the {word} of its grid"
    grid = extended(values, word == "largest", name in ("degree", "coef0"))
    return f"{text}." if grid is None else f"{text}; --{name} {grid} looks beyond it."


def extended(values: list[float], upward: bool, by_steps: bool = False) -> str | None:
    """The grid (2 values or more, ascending) with some more, as it is typed.

    Two values are taken for a geometric grid, ``by_steps`` for an arithmetic one. None
    where the grid ends at a border that it cannot cross.
    """
    steps = [b - a for a, b in zip(values, values[1:], strict=False)]
    if all(math.isclose(step, steps[0], rel_tol=1e-9) for step in steps) and (
        by_steps or len(steps) > 1 or values[0] <= 0.0
    ):
        return _arithmetic(values, steps[0], upward)
    if values[0] <= 0.0:
        return None
    ratio = values[-1] / values[-2] if upward else values[1] / values[0]
    more = ratio**BEYOND
    low, high = (1.0, more) if upward else (1.0 / more, 1.0)
    ratios = [b / a for a, b in zip(values, values[1:], strict=False)]
    if all(math.isclose(other, ratio, rel_tol=1e-9) for other in ratios):
        count = len(values) + BEYOND
        return f"{_typed(values[0] * low)}:{_typed(values[-1] * high)}:{count}"
    at = values[-1] if upward else values[0]
    return f"{_typed(at * low)}:{_typed(at * high)}:{BEYOND + 1}"


def _arithmetic(values: list[float], step: float, upward: bool) -> str | None:
    low, high = values[0], values[-1]
    if upward:
        high += BEYOND * step
    elif low - step <= 0.0 < low:  # most parameters must stay above 0
        return None
    else:
        low -= step
    return f"{_typed(low)}:{_typed(high)}:+{_typed(step)}"


def _typed(value: float) -> str:
    """A number as one would type it; powers of two beyond 1/8 .. 1024 as such."""
    mantissa, exponent = math.frexp(value)
    if mantissa == 0.5 and not -3 <= exponent - 1 <= 10:
        return f"2^{exponent - 1}"
    return f"{value:.10g}"
