"""``teach kkt 1..4`` (Vitay, part 2): x^2 + y^2 under one linear condition, by cases.

    minimise f(z) = <z, z>,   z in R^2,   under  a'z + c = 0 (2) or <= 0 (3, 4)

L(z, alpha) = f(z) + alpha (a'z + c). At the optimum dL/dz = 2z + alpha a = 0. With an
inequality also alpha (a'z + c) = 0, alpha >= 0 and a'z + c <= 0, so that there are two
cases: alpha = 0, the condition is free; or a'z + c = 0, it is saturated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.lessons.base import Lesson
from msvm_select.records import Floats, Plain
from msvm_select.show.figures.drawing import Drawing, Series
from msvm_select.show.sheet import Look, Sheet

SLOPE, OFFSET = np.array([1.0, 2.0]), 1.0
EXAMPLES = {
    "1": ("no condition", None),
    "2": ("x + 2y + 1 = 0", (SLOPE, OFFSET, "=")),
    "3": ("x + 2y + 1 <= 0", (SLOPE, OFFSET, "<=")),
    "4": ("-x - 2y - 1 <= 0", (-SLOPE, -OFFSET, "<=")),
}


@dataclass(frozen=True)
class Case:
    """z, alpha and a'z + c where dL/dz = 0; ``why`` it is not the optimum."""

    name: str
    z: Floats
    alpha: float
    at: float
    why: str = ""


def free() -> Floats:
    """2z = 0."""
    return np.asarray(np.linalg.solve(2.0 * np.eye(2), np.zeros(2)))


def saturated(a: Floats, c: float) -> tuple[Floats, float]:
    """2z + alpha a = 0 and a'z + c = 0, three linear equations."""
    system = np.block([[2.0 * np.eye(2), a[:, None]], [a[None], np.zeros((1, 1))]])
    z = np.linalg.solve(system, np.array([0.0, 0.0, -c]))
    return z[:2], float(z[2])


def cases(number: str) -> list[Case]:
    """Those of an example, in the order of the notes."""
    condition = EXAMPLES[number][1]
    if condition is None:
        return [Case("no condition", free(), 0.0, 0.0)]
    a, c, relation = condition
    z, alpha = saturated(a, c)
    if relation == "=":
        return [Case("on the line", z, alpha, float(a @ z + c))]
    inside = float(a @ free() + c)
    return [
        Case("alpha = 0", free(), 0.0, inside, "h > 0" if inside > 0.0 else ""),
        Case(
            "alpha > 0, h = 0", z, alpha, float(a @ z + c),
            "alpha < 0" if alpha < 0.0 else "",
        ),
    ]  # fmt: skip


def lesson(number: str) -> Lesson:
    """The cases of one example, and which of them is the optimum."""
    if number not in EXAMPLES:
        raise SettingsError(f"teach kkt: the examples are 1, 2, 3 and 4, not {number}.")
    rows: list[dict[str, Plain]] = [
        {
            "case": one.name,
            "x": float(one.z[0]),
            "y": float(one.z[1]),
            "alpha": one.alpha,
            "h": one.at + 0.0,
            "f": float(one.z @ one.z),
            "optimum": not one.why,
            "why_not": one.why,
        }
        for one in cases(number)
    ]
    columns = [Look("case", left=True), *map(Look, ("x", "y", "alpha", "h", "f"))]
    columns += [Look("optimum"), Look("why_not", "why not", left=True)]
    sheet = Sheet(
        columns=columns,
        rows=rows,
        shown=[look.name for look in columns],
        above=[f"Example {number}: minimise x^2 + y^2, {EXAMPLES[number][0]}", ""],
    )
    return Lesson(sheet, _drawing(number))


def _drawing(number: str) -> Drawing:
    """Circles of equal f, the line, the optimum."""
    t = np.linspace(0.0, 2.0 * np.pi, 120)
    best = next(one for one in cases(number) if not one.why)
    series = [
        Series(f"f = {r * r:.2g}", r * np.cos(t), r * np.sin(t))
        for r in (np.sqrt(0.2), 1.0)
    ]
    if EXAMPLES[number][1] is not None:
        x = np.linspace(-1.2, 1.2, 2)
        series.append(Series("x + 2y + 1 = 0", x, -(1.0 + x) / 2.0))
    series.append(Series("optimum", best.z[:1], best.z[1:], line=False))
    return Drawing(f"Example {number}", "x", "y", series, equal=True)
