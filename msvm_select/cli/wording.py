"""The facts of a running sweep as text: for a log, and for what is drawn again."""

from __future__ import annotations

from msvm_select.phrases import exactly, roughly
from msvm_select.sweep.headway import Facts


def headline(facts: Facts) -> str:
    """``12 of 35 cells, 41 s, left: about 2 min``, as soon as that is known."""
    told = f"{facts.done} of {facts.cells} cells, {exactly(facts.elapsed)}"
    if facts.done == facts.cells or facts.left is None:
        return told
    about = "about" if facts.sure else "at least"
    return f"{told}, left: {about} {roughly(facts.left)}"


def log_line(facts: Facts) -> str:
    """All of it on one line."""
    parts = [headline(facts)]
    if facts.within:
        parts.append(f"{facts.within} in {facts.cell}")
    if facts.best is not None:
        parts.append(best_choices(facts)[0])
    return "; ".join(parts)


def now_choices(facts: Facts) -> list[str]:
    """The cell under way, the longest wording first."""
    if not facts.cell:
        return ["now  -"]
    short = f"now  {facts.cell}"
    return [f"{short}, {facts.within}", short] if facts.within else [short]


def best_choices(facts: Facts) -> list[str]:
    """The best so far, the longest wording first."""
    if facts.best is None:
        return ["best -"]
    value, cell = facts.best_value, facts.best_cell
    return [f"best {facts.best_column} {value} at {cell}", f"best {value} at {cell}"]


def fitting(choices: list[str], width: int) -> str:
    """The longest that fits; where none does, the last one cut off with dots."""
    for text in choices:
        if len(text) <= width:
            return text
    return f"{choices[-1][: max(width - 1, 0)]}…"
