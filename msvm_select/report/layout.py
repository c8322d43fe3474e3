"""Values and rows of them as a person reads them: rounded, in columns."""

from __future__ import annotations

from collections.abc import Sequence

from msvm_select.phrases import in_a_line
from msvm_select.report.plain import Plain
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
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, left, strict=True)
        padded = [c.ljust(w) if at_left else c.rjust(w) for c, w, at_left in cells]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def certificate_line(solution: Solution) -> str:
    """How near to the optimum it is, and whether its biases are the only ones."""
    unique = "unique" if solution.b_unique else "not unique (their centre is taken)"
    return (
        f"Certificate: relative gap {solution.gap:.2g}, KKT violation "
        f"{solution.kkt_violation:.2g}; biases {unique}"
    )
