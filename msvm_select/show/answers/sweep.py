"""Results -> what a person reads: a table as wide as the terminal, and one line."""

from __future__ import annotations

import io

from msvm_select.results.ranking import SCORES, Results, is_filled, ranking_column
from msvm_select.row import CELL, PARAMETERS, Row
from msvm_select.show.layout import shown

MEASURES = ("train_errors", "n_sv", "gap", "n_bounded", "b_unique", "seconds")


def summary(results: Results) -> str:
    """The best cell, its score and how many tie; a second line, if another is chosen.

    Or that there is none.
    """
    best, choice = results.best, results.choice
    if best is None:
        return f"No cell has a score by {results.rank_by} that counts."
    line = f"Best by {results.rank_by}: {_scored(results, best)}"
    if choice is None:
        return line
    if choice.tied > 1:
        line += f"; {choice.tied} cells tie"
    if choice.rule == "best":
        return line
    found = _scored(results, choice.row)
    return f"{line}\nChosen by {choice.rule}: {found}; {_reason(results)}"


def _scored(results: Results, row: Row) -> str:
    column = ranking_column(results.rank_by)
    return f"{row.cell} ({column} = {_shown(row, column)})"


def _reason(results: Results) -> str:
    """Why the chosen cell and not the best one."""
    choice = results.choice
    assert choice is not None
    if choice.rule == "simplest":
        return f"rank {choice.row.rank}, the simplest of {choice.tied} that tie"
    return (
        f"rank {choice.row.rank}, the simplest of {choice.eligible} within one "
        f"standard error (up to {choice.limit:.4g})"
    )


def table(results: Results, width: int = 80, colour: bool = False) -> str:
    """The columns that matter most and fit ``width``, rounded; the choice marked."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns, chosen = _fitting(results, width), results.chosen
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        left = column in ("kernel", "status", "status_reason")
        grid.add_column(column, justify="left" if left else "right", no_wrap=True)
    for row in results.rows:
        marked = chosen is not None and row.rank == chosen.rank
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
    parameters = [c for c in PARAMETERS if is_filled(rows, c)]
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
            column == score or is_filled(rows, column)
        ):
            chosen.append(column)
            room -= needed
    return chosen


def _shown(row: Row, column: str, marked: bool = False) -> str:
    """One value for a person: rounded, yes or no, a dash for nothing."""
    value = getattr(row, column)
    if column == "rank" and marked:
        return f"* {value}"
    if column in ("gap", "kkt_violation") and value is not None:
        return f"{value:.0e}"
    return shown(value, 6 if column in CELL else 4)


def _notes(results: Results) -> list[str]:
    """What was ranked by what, and each trouble once with the number of its cells."""
    notes = [f"\n{_legend(results)}"] if results.best else []
    troubles: dict[str, int] = {}
    for row in results.rows:
        if row.status_reason:
            text = f"{row.status}: {row.status_reason}"
            troubles[text] = troubles.get(text, 0) + 1
    return notes + [f"{count} x {text}" for text, count in troubles.items()]


def _legend(results: Results) -> str:
    """What the mark stands for, and how many cells tie."""
    kernels = ", ".join(dict.fromkeys(row.kernel for row in results.rows))
    choice = results.choice
    if choice is None or choice.rule == "best":
        tied = f"; {choice.tied} cells tie" if choice and choice.tied > 1 else ""
        return f"* best by {results.rank_by} (kernel {kernels}){tied}"
    shown = any(row.rank == choice.row.rank for row in results.rows)
    which = "" if shown else f", not shown: {choice.row.cell}"
    return (
        f"* chosen by {choice.rule} of the ranking by {results.rank_by} (kernel "
        f"{kernels}){which}"
    )
