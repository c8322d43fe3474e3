"""Which cell to take of a ranking, why that one, and whether the grid was too small.

``best``      the first of the ranking: of cells that tie, the one with fewer training
              errors, then the simplest
``simplest``  the simplest of all that tie with the best, whatever its training errors
``1se``       the simplest of all whose error rate p is within one standard error,
              sqrt(p(1 - p)/m) at the best, of the best one: m samples cannot tell them
              apart; of a metric the standard error is that of its own column, and
              with weights or groups it is that of the column error_se

Everywhere one order says which of two machines is simpler: the one with the smaller C,
and at the same C the one with the smoother kernel.

If the best value is on the edge of its grid, a note says how to look beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from msvm_select.columns import (
    CELL,
    HARD,
    PARAMETERS,
    RANKED_BY,
    Row,
    answering,
    column_of,
    scored_columns,
)
from msvm_select.errors import SettingsError
from msvm_select.results.ranking import Results, simplicity
from msvm_select.settings.settings import check_rule, keeps_its_gamma
from msvm_select.settings.values import AROUND

DEFAULT_BY = "loo"  # what rows are ranked by that do not tell it
SWEPT = ("C", *(name for name in PARAMETERS if name != "low_rank"))
BEYOND = 2  # more values to propose past the edge
BY_STEPS = ("degree", "coef0")  # whose grids are arithmetic where they could be either


@dataclass(frozen=True)
class Choice:
    """The row that a rule chose among the ``eligible``, no worse than ``limit``.

    ``tied`` cells have the value of the best one, itself among them.
    """

    rule: str
    row: Row
    tied: int
    eligible: int
    limit: float


def chosen(results: Results, rule: str = "best") -> Results:
    """The results with the choice that ``rule`` makes; with none, where none counts."""
    best = results.best
    check_rule(rule, results.rank_by)
    if best is None:
        return replace(results, choice=None)
    column = results.column
    least = best.value(column)
    room = standard_error(results, best) if rule == "1se" else 0.0
    limit = least + column_of(column).sense * room
    eligible = within(results, limit)
    row = in_order_of_choice(eligible, rule)[0]
    tied = sum(row.value(column) == least for row in eligible)
    return replace(results, choice=Choice(rule, row, tied, len(eligible), limit))


def within(results: Results, limit: float) -> list[Row]:
    """The rows that count whose value is no worse than the limit."""
    column, sense = results.column, column_of(results.column).sense
    rows = results.counting
    return [row for row in rows if sense * row.value(column) <= sense * limit]


def in_order_of_choice(rows: Sequence[Row], rule: str) -> list[Row]:
    """Ranked rows in the order that the rule would take them."""
    return list(rows) if rule == "best" else sorted(rows, key=simplicity)


def as_chosen(
    results: Results, by: str | None = None, rule: str | None = None
) -> Results:
    """Results that were read from a file: ranked, and with the choice that counts.

    Without ``by`` they are ranked by what the file was ranked by. Without ``rule`` the
    choice of the file counts, as long as they are ranked by the same.
    """
    own = str(results.settings.get("rank_by") or DEFAULT_BY)
    ranked = results.ranked(by or own)
    choice = results.choice
    if rule or choice is None or results.column_of(own) != ranked.column:
        return chosen(ranked, rule or "best")
    # the file may have left the chosen row out
    same = [row for row in ranked.rows if _cell(row) == _cell(choice.row)]
    return replace(ranked, choice=replace(choice, row=[*same, choice.row][0]))


def _cell(row: Row) -> list[Any]:
    return [row.value(name) for name in CELL]


def standard_error(results: Results, row: Row) -> float:
    """That of the row's value: of a metric its own, or of an error rate."""
    error = column_of(results.column).error
    if not error:
        return rate_error(results, row, results.column)
    told: float | None = row.value(error)
    if told is None:
        raise SettingsError(
            f"select: 1se needs the standard error of {results.column}, and the "
            f"results have no column {error}."
        )
    return told


def rate_error(results: Results, row: Row, column: str) -> float:
    """That of an error rate: by the jackknife if known, or sqrt(p(1 - p)/m)."""
    known = jackknifed(results, row, column)
    p = row.value(column)
    return binomial_error(p, _judged(results, column)) if known is None else known


def jackknifed(results: Results, row: Row, column: str) -> float | None:
    """``error_se``, if it is of this rate: of the first criterion with answers.

    A csv alone does not tell the criteria; there it is of the only rate, if it is one.
    """
    of = answering(results.criteria)
    rates = [name for name in _rates(row) if row.value(name) is not None]
    if of is not None:
        rates = [scored_columns(results.criteria)[of]]
    return row.error_se if rates == [column] else None


def _rates(row: Row) -> list[str]:
    names = (*(c.name for c in RANKED_BY.values()), *row.further)
    return [name for name in names if column_of(name).role == "rate"]


def binomial_error(p: float, m: float) -> float:
    """sqrt(p(1 - p)/m): the standard error of a share p of m independent samples."""
    return math.sqrt(p * max(0.0, 1.0 - p) / m)


def _judged(results: Results, column: str) -> float:
    """How many samples the rate is of: all, or those that were held out."""
    samples = results.rows[0].n_samples
    if samples < 1:
        raise SettingsError(
            "select: 1se must know how many samples there were, and the column "
            "n_samples is not there."
        )
    if column_of(column).criterion == "holdout":
        return max(1.0, samples * _held_out(results, column))
    return samples


def _held_out(results: Results, column: str) -> float:
    """The share that holdout was asked for with; a csv alone does not tell."""
    asked = {column: text for text, column in scored_columns(results.criteria).items()}
    name, colon, argument = asked.get(column, results.rank_by).partition(":")
    share = argument if colon else RANKED_BY[name].usual if results.criteria else ""
    with suppress(ValueError):
        return float(share)
    raise SettingsError(
        "select: 1se must know how large the share was that was held out, and the "
        "results do not tell: rank by holdout:SHARE, as in holdout:0.25."
    )


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
    """The edges that the best value lies on; not one where from within does as well."""
    best, column = results.best, results.column
    if best is None:
        return ()
    alike = [r for r in results.counting if r.value(column) == best.value(column)]
    good = [row for row in alike if row.kernel == best.kernel]
    return tuple(_edges(results, good, "best"))


def edge_notes(results: Results, rounds: int | None = None) -> list[str]:
    """One remark for each edge; ``rounds`` of ``--extend``, if it is at hand.

    Another cell than the best may have been chosen, as the simplest: its edges too.
    """
    best, row = edges(results), results.chosen
    there = {(edge.name, edge.upward) for edge in best}
    chosen = [] if row is None or row is results.best else [row]
    other = _edges(results, chosen, "chosen")
    return [
        *(_note(edge, rounds) for edge in best),
        *(_note(e, None) for e in other if (e.name, e.upward) not in there),
    ]


def _edges(results: Results, rows: Sequence[Row], whose: str) -> Iterator[Edge]:
    """Those that all of some rows of one kernel lie on."""
    for name in SWEPT if rows else ():
        values = _swept(results, rows[0].kernel, name)
        for at, upward in ((0, False), (-1, True)) if len(values) > 1 else ():
            if all(row.value(name) == values[at] for row in rows):
                yield _edge(results, name, upward, values, whose)


def _swept(results: Results, kernel: str, name: str) -> list[float]:
    """Its values in the rows, and in the grid: of that, rows may have been left out."""
    values = {r.value(name) for r in results.rows if r.kernel == kernel} - {None}
    grid = results.settings.get(name) or ()
    if AROUND in grid and keeps_its_gamma(kernel):  # the numbers are of other kernels
        grid = ()
    numbers = {value for value in grid if not isinstance(value, str)}  # gamma: scale
    # beyond C = inf there is nothing, and towards it no step
    return sorted((values | numbers) - {HARD} if values else ())


def _edge(
    results: Results, name: str, upward: bool, values: list[float], whose: str
) -> Edge:
    if name != "gamma" or not results.settings.get("sigma"):
        return Edge(name, upward, tuple(values), whose)
    sigmas = sorted(1.0 / math.sqrt(2.0 * gamma) for gamma in values)
    return Edge("sigma", not upward, tuple(sigmas), whose)


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
    """A number as one would type it."""
    return power_of_two(value) or f"{value:.10g}"


def power_of_two(value: float) -> str:
    """``2^-7``: a power of two beyond 1/8 .. 1024 as it is typed; else nothing."""
    mantissa, exponent = math.frexp(value)
    is_power = mantissa == 0.5 and not -3 <= exponent - 1 <= 10
    return f"2^{exponent - 1}" if is_power else ""
