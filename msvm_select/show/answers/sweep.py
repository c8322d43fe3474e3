"""Ranked results -> a sheet: a row a cell, and what there is to say of the best."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from textwrap import wrap
from typing import Any

from msvm_select.columns import CELL, Row, column_of, lower_bound
from msvm_select.records import Plain, PlainRow
from msvm_select.results.choosing import edge_notes
from msvm_select.results.notes import (
    Gate,
    baseline,
    baseline_warning,
    class_note,
    doubts_of_choice,
    race_note,
    risk_notes,
    subsample_note,
)
from msvm_select.results.ranking import Results
from msvm_select.show import pipeline
from msvm_select.show.pipeline import Case, cases_of, remark
from msvm_select.show.sheet import WIDTH, Look, Sheet, shown

COUNTED = re.compile(r"('[^']{,30}' )?\d+ of \d+ \([^)]*\)")
CELL_STATES = {
    "ok": pipeline.OK,
    "not_converged": pipeline.SKIPPED,
}  # a failed one is an error


def sheet(
    results: Results,
    top: int | None = None,
    gates: Sequence[Gate] = (),
    rounds: int | None = None,
) -> Sheet:
    """The ``top`` best rows; what is told of the best counts all of them.

    ``gates`` and the edges of the grid, which may be widened in ``rounds``, are for
    pipelines.
    """
    head = results.head(top)
    chosen = results.chosen
    ranks = [row.rank for row in head.rows]
    found = ("rank", *CELL, results.column)
    where = [name for name in head.first_look if name in found]
    others = [name for name in head.first_look if name not in found]
    known, missed = baseline(results), class_note(results)
    return Sheet(
        columns=[look(name) for name in results.columns],
        rows=[{n: row.value(n) for n in results.columns} for row in head.rows],
        facts=results.origin,
        blocks=_blocks(results),
        shown=[*where, *others],
        spare=others,
        implied=["kernel"] if len({row.kernel for row in head.rows}) == 1 else [],
        width=WIDTH,
        marked=ranks.index(chosen.rank) if chosen and chosen.rank in ranks else None,
        below=[
            "",
            *_legend(head),
            *filter(None, [subsample_note(results)]),
            *([f"{known.text}."] if known else []),
            *_wrapped(f"{missed}." if missed else ""),
            *_troubles(head),
            *([f"{lost}."] if (lost := race_note(results)) else []),
        ],
        told=summary(results).splitlines(),
        notes=_notes(results),
        title=str(results.data.get("name", "")),
        cases=[*cases_of(gates), *_cases(results, rounds)],
    )


def _cases(results: Results, rounds: int | None) -> Iterator[Case]:
    """What it is told of the cells, the edges and the choice."""
    column = results.column
    for row in results.rows:
        text = row.status_reason
        if row.status == "ok":
            text = f"{column} = {shown(row.value(column))}; rank {row.rank}"
        state = CELL_STATES.get(row.status, pipeline.ERROR)
        yield Case(pipeline.CELL, str(row.cell), state, text, row.seconds)
    for note in edge_notes(results, rounds):
        yield Case(pipeline.EDGE, "edge", pipeline.WARNING, note)
    for note in _notes(results):
        level, _, text = note.partition(": ")
        yield remark(text, level.lower())
    yield remark(summary(results))


def look(column: str) -> Look:
    """How people see a column of results."""
    return Look(
        column,
        left=column_of(column).kind is str,
        digits=6 if column in CELL else 4,
        text=_power if column in ("gap", "kkt_violation") else None,
        instead=partial(_at_least, column) if column_of(column).at_least else None,
    )


def _at_least(column: str, row: PlainRow) -> Plain:
    """``>= 31``, of a cell that lost the race."""
    low = lower_bound(Row.of(row), column)
    return None if low is None else f">= {shown(low)}"


def summary(results: Results) -> str:
    """The best cell, its score and how many tie; a second line, if another is chosen.

    Or that there is none.
    """
    best, choice = results.best, results.choice
    if best is None:
        return f"No cell has a score by {results.rank_by} that counts."
    line = f"Best by {results.rank_by}: {_scored(results, best)}{_tied(results)}"
    if choice is None or choice.rule == "best":
        return line
    found = f"{_scored(results, choice.row)}; rank {choice.row.rank}"
    return f"{line}\nChosen by {choice.rule}: {found}, {_reason(results)}"


def _scored(results: Results, row: Row) -> str:
    column = results.column
    return f"{row.cell} ({column} = {look(column)(row.value(column))})"


def _tied(results: Results) -> str:
    choice = results.choice
    return f"; {choice.tied} cells tie" if choice and choice.tied > 1 else ""


def _reason(results: Results) -> str:
    """Why the chosen cell and not the best one."""
    choice = results.choice
    assert choice is not None
    if choice.rule == "simplest":
        return f"the simplest of {choice.tied} that tie"
    return (
        f"the simplest of {choice.eligible} within one standard error (up to "
        f"{choice.limit:.4g})"
    )


def _blocks(results: Results) -> dict[str, Any]:
    """What a JSON document has after the rows; the chosen row may not be among them."""
    found: dict[str, Any] = {"gram": list(results.gram)} if results.gram else {}
    if (choice := results.choice) is not None:
        names = ("rank", *CELL, results.column)
        found["chosen"] = {
            "select": choice.rule,
            "by": results.rank_by,
            **{name: choice.row.value(name) for name in names},
            "tied": choice.tied,
            "eligible": choice.eligible,
            "limit": choice.limit,
            **_by_class(results),
        }
    return found


def _by_class(results: Results) -> dict[str, Any]:
    """How many samples of each class are wrong, where it is known."""
    told = {
        name: {"wrong": wrong, "samples": m}
        for name, (wrong, m) in results.by_class.items()
    }
    return {"by_class": told} if told else {}


def _legend(results: Results) -> list[str]:
    """What the mark stands for, how many cells tie, and why another one was chosen."""
    if results.best is None:
        return summary(results).splitlines()
    kernels = ", ".join(dict.fromkeys(row.kernel for row in results.rows))
    choice = results.choice
    if choice is None or choice.rule == "best":
        return [f"* best by {results.rank_by} (kernel {kernels}){_tied(results)}"]
    there = any(row.rank == choice.row.rank for row in results.rows)
    return [
        f"* chosen by {choice.rule} of the ranking by {results.rank_by} (kernel "
        f"{kernels}){'' if there else f', not shown: {choice.row.cell}'}",
        f"  {_reason(results)}",
    ]


def _wrapped(text: str) -> list[str]:
    """Lines, none of which ends within ``'a' 17 of 17 (100 %)``."""
    held = COUNTED.sub(lambda found: found[0].replace(" ", "\xa0"), text)
    lines = wrap(held, WIDTH, subsequent_indent="  ")
    return [line.replace("\xa0", " ") for line in lines]


def _troubles(results: Results) -> list[str]:
    """Each trouble once, with the number of its cells."""
    found = Counter(
        f"{row.status}: {row.status_reason}"
        for row in results.rows
        if row.status_reason
    )
    return [f"{count} x {text}" for text, count in found.items()]


def _notes(results: Results) -> list[str]:
    """What the risk is worth, and how many cells are in trouble."""
    constant = baseline_warning(results)
    notes = [f"Warning: {constant}"] if constant else []
    notes += [f"Note: {note}." for note in risk_notes(results)]
    notes += [f"Warning: {note}." for note in doubts_of_choice(results)]
    failed, open_ = results.count("failed"), results.count("not_converged")
    if failed or open_:
        notes.append(
            f"Warning: of {len(results.rows)} cells {failed} failed and {open_} did "
            "not converge; their status_reason says why."
        )
    return notes


def _power(value: Plain) -> str:
    """A number of which only the power of ten counts."""
    return f"{value:.0e}" if isinstance(value, float) else shown(value)
