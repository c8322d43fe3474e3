"""Whether the best value lies on the edge of its grid, and how to look beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from msvm_select.columns import PARAMETERS, Row
from msvm_select.results.ranking import Results

SWEPT = ("C", *PARAMETERS)
BEYOND = 2  # more values to propose past the edge
BY_STEPS = ("degree", "coef0")  # whose grids are arithmetic where they could be either


@dataclass(frozen=True)
class Edge:
    """A parameter whose best value is the first or last of ``values``, ascending.

    It is called as its option is: ``sigma``, where a grid of sigma was asked for.
    """

    name: str
    upward: bool
    values: tuple[float, ...]
    whose: str = "best"

    @property
    def value(self) -> float:
        """The best value."""
        return self.values[-1 if self.upward else 0]

    @property
    def beyond(self) -> str | None:
        """A grid that looks further, as it is typed; None at a border."""
        return extended(list(self.values), self.upward, self.name in BY_STEPS)

    @property
    def text(self) -> str:
        """``the best C = 512 is the largest of its grid``."""
        word = "largest" if self.upward else "smallest"
        return (
            f"the {self.whose} {self.name} = {self.value:.6g} is the {word} of its grid"
        )


def edges(results: Results) -> tuple[Edge, ...]:
    """The edges that the best value lies on; not where one from within does as well."""
    best = results.best
    return () if best is None else tuple(_edges(results, best))


def edge_notes(results: Results, rounds: int | None = None) -> list[str]:
    """One remark for each edge; ``rounds`` of ``--extend``, if it is at hand.

    Another cell than the best may have been chosen, as the simplest: its edges too.
    """
    best = edges(results)
    there = {(edge.name, edge.upward) for edge in best}
    other = [e for e in _of_choice(results) if (e.name, e.upward) not in there]
    return [
        *(_note(edge, rounds) for edge in best),
        *(_note(edge, None) for edge in other),
    ]


def _of_choice(results: Results) -> Iterator[Edge]:
    row = results.chosen
    if row is None or row is results.best:
        return
    alike = [other for other in results.rows if other.kernel == row.kernel]
    for name in SWEPT:
        values = _swept(results, alike, name)
        at = row.value(name)
        if len(values) > 1 and at in (values[0], values[-1]):
            edge = _named(results, name, at == values[-1], values)
            yield replace(edge, whose="chosen")


def _edges(results: Results, best: Row) -> Iterator[Edge]:
    score = results.column
    alike = [row for row in results.rows if row.kernel == best.kernel]
    counting = [row for row in results.counting if row.kernel == best.kernel]
    good = [row for row in counting if row.value(score) == best.value(score)]
    for name in SWEPT:
        values = _swept(results, alike, name)
        if len(values) < 2:
            continue
        for edge, upward in ((values[0], False), (values[-1], True)):
            if all(row.value(name) == edge for row in good):
                yield _named(results, name, upward, values)


def _swept(results: Results, alike: list[Row], name: str) -> list[float]:
    """Its values in the rows, and in the grid: of that, rows may have been left out."""
    values = {row.value(name) for row in alike} - {None}
    grid = results.settings.get(name) or ()
    numbers = {value for value in grid if not isinstance(value, str)}  # gamma: scale
    return sorted(values | numbers if values else ())


def _named(results: Results, name: str, upward: bool, values: list[float]) -> Edge:
    if name != "gamma" or not results.settings.get("sigma"):
        return Edge(name, upward, tuple(values))
    sigmas = sorted(1.0 / math.sqrt(2.0 * gamma) for gamma in values)
    return Edge("sigma", not upward, tuple(sigmas))


def _note(edge: Edge, rounds: int | None) -> str:
    text = edge.text[0].upper() + edge.text[1:]
    if edge.beyond is None:
        return f"{text}."
    either = "" if rounds is None else f" or --extend {rounds + 1}"
    return f"{text}; --{edge.name} {edge.beyond}{either} looks beyond it."


def extended(values: list[float], upward: bool, by_steps: bool = False) -> str | None:
    """The grid (2 values or more, ascending) with some more, as it is typed.

    Two values are taken for a geometric grid, ``by_steps`` for an arithmetic one. None
    where the grid ends at a border that it cannot cross.
    """
    steps = [b - a for a, b in zip(values, values[1:], strict=False)]
    if all(math.isclose(step, steps[0], rel_tol=1e-9) for step in steps) and (
        by_steps or len(steps) > 1 or values[0] <= 0.0
    ):
        return _arithmetic(values, steps[0], upward, by_steps)
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


def _arithmetic(
    values: list[float], step: float, upward: bool, by_steps: bool
) -> str | None:
    low, high = values[0], values[-1]
    if upward:
        high += BEYOND * step
    elif low - step <= 0.0 < low:  # most parameters must stay above 0
        return None if by_steps else f"{_typed(low / 4.0)}:{_typed(low)}:{BEYOND + 1}"
    else:
        low -= step
    return f"{_typed(low)}:{_typed(high)}:+{_typed(step)}"


def _typed(value: float) -> str:
    """A number as one would type it; powers of two beyond 1/8 .. 1024 as such."""
    mantissa, exponent = math.frexp(value)
    if mantissa == 0.5 and not -3 <= exponent - 1 <= 10:
        return f"2^{exponent - 1}"
    return f"{value:.10g}"
