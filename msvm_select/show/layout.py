"""Values and rows of them as a person reads them: rounded, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

from msvm_select.phrases import in_a_line
from msvm_select.show.plain import Plain
from msvm_select.solution import Solution


def shown(value: Plain, digits: int = 4) -> str:
    """One value: rounded, yes or no, a dash for nothing."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def aligned(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> str:
    """Columns two spaces apart, to the left or to the right, whatever their width."""
    rows = [[in_a_line(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, left, strict=True)
        padded = [_padded(text, width, at_left) for text, width, at_left in cells]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _padded(text: str, width: int, at_left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if at_left else space + text


def _width(text: str) -> int:
    """How many places a terminal gives it: two to a Chinese letter, none to an accent
    that stands for itself.
    """
    return sum(
        0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def certificate_line(solution: Solution) -> str:
    """How near to the optimum it is, and whether its biases are the only ones."""
    unique = "unique" if solution.b_unique else "not unique (their centre is taken)"
    return (
        f"Certificate: relative gap {solution.gap:.2g}, KKT violation "
        f"{solution.kkt_violation:.2g}; biases {unique}"
    )
