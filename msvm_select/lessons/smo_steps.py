"""Sequential minimal optimization (Vitay, part 6), the solver ``smo`` of this program.

A step moves as few alpha as the constraints allow: two, of two samples of the notes'
two classes; with Q classes those along a cycle of classes, as (i, k) and (j, y_i) where
y_j = k, by the amount that raises J most within the box. Steps go on while some cycle
has a slope above a tolerance.

It is trained here to one gap after the other, each from the last.
"""

from __future__ import annotations

from msvm_select.lessons.base import Steps, at
from msvm_select.names import SOLVERS
from msvm_select.records import Dual

GAPS = tuple(10.0**-digits for digits in range(9))


def smo_steps(dual: Dual) -> Steps:
    """A step is a move along one cycle."""
    steps, last = 0, None
    for gap in GAPS:
        last = SOLVERS["smo"](gap=gap).solve(dual, last)
        steps += last.work.iterations
        yield at(dual, steps, last.alpha, last.b, gap == GAPS[-1])
