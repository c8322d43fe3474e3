"""``teach solvers``: the notes' procedures beside the exact solver, on one problem.

Each is judged by the optimum of its own problem: the machine with biases; the same
without (stochastic ascent); any separation at all (perceptron). The distance is
|value - optimum| / max(1, |optimum|), the value being J, or P of the subgradients.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from msvm_select.errors import SettingsError
from msvm_select.lessons.base import Lesson, Step, Steps
from msvm_select.lessons.chunking import chunking, smo_steps
from msvm_select.lessons.frank_wolfe import frank_wolfe
from msvm_select.lessons.perceptron import narrowest, perceptron
from msvm_select.lessons.stochastic import optimum_without_bias, stochastic_ascent
from msvm_select.lessons.subgradient import subgradient
from msvm_select.records import Dual, Plain
from msvm_select.show.figures.drawing import Drawing, Series
from msvm_select.show.sheet import Look, Sheet, shown
from msvm_select.solution import Solution
from msvm_select.train.along_C import Trained

MOST = 1000  # m (Q - 1): the procedures are written to be read, not to be fast
WITH, WITHOUT, ANY = "with biases", "without biases", "any separation"


@dataclass(frozen=True)
class Procedure:
    """One of them: the optimum of which problem it is after, and what a step is."""

    run: Callable[[Dual], Steps]
    problem: str
    step: str


PROCEDURES = {
    "chunking": Procedure(chunking, WITH, "sub-problem"),
    "smo": Procedure(smo_steps, WITH, "cycle"),
    "frank-wolfe": Procedure(frank_wolfe, WITH, "linear problem"),
    "subgradient": Procedure(subgradient, WITH, "subgradient"),
    "stochastic": Procedure(stochastic_ascent, WITHOUT, "epoch"),
    "perceptron": Procedure(perceptron, ANY, "epoch"),
}
COLUMNS = (
    Look("procedure", left=True),
    Look("problem", left=True),
    Look("unit", "a step is", left=True),
    Look("steps"),
    Look("seconds", text=lambda value: f"{value:.2f} s"),
    Look("objective", digits=7),
    Look("distance", text=lambda v: "-" if v is None else f"{v:.0e}"),
    Look("errors"),
    Look("ended", "knows it"),
)
LAST = "last"


def lesson(trained: Trained) -> Lesson:
    """All of them on the dual of the trained cell."""
    solution = trained.solution
    dual = _fit_to_read(solution)
    optima = {WITH: solution.dual_objective, WITHOUT: optimum_without_bias(dual)}
    rows = [row for name in PROCEDURES for row in _rows(name, dual, optima)]
    last = [row for row in rows if row[LAST]]
    every = list(perceptron(dual))
    narrow = narrowest(dual, every[-1].alpha)
    sheet = Sheet(
        columns=COLUMNS,
        rows=rows,
        facts={"optimum": optima[WITH], "optimum_without_biases": optima[WITHOUT]},
        shown=[
            *("procedure", "unit", "steps", "seconds", "objective", "distance"),
            *("errors", "ended"),
        ],
        listed=last,
        above=[
            f"{trained.cell.data.name}: {dual.m} samples, {dual.Q} classes, "
            f"{trained.kernel}, C={shown(trained.C)}",
            f"exact: J = {optima[WITH]:.7g}, {solution.train_errors} errors",
            f"exact without biases: J = {optima[WITHOUT]:.7g}",
            "",
        ],
        below=["", *_told(every[-1], narrow)],
        told=[f"exact: J = {optima[WITH]:.7g}"],
    )
    return Lesson(sheet, _drawing(rows))


def _told(last: Step, narrow: float) -> Sequence[str]:
    reached = (
        f"and found one, {narrow:.4g} at its narrowest"
        if last.ended
        else "and found none: without biases these classes may not separate"
    )
    return [
        "distance: from the optimum of its own problem, relative; `knows it` says",
        "whether the procedure itself could tell that it had arrived.",
        "stochastic ignores the constraint of the biases: it trains the machine",
        "without them, whose J is larger.",
        "perceptron looks for any separation,",
        f"{reached}.",
    ]


def _fit_to_read(solution: Solution) -> Dual:
    dual = solution.dual
    if dual.m * (dual.Q - 1) > MOST:
        raise SettingsError(
            f"teach solvers: m (Q - 1) = {dual.m * (dual.Q - 1)}, and the procedures "
            f"are written to be read, for {MOST} at the most: take a part of the rows."
        )
    return dual


def _rows(name: str, dual: Dual, optima: dict[str, float]) -> list[dict[str, Plain]]:
    """A row a step that the procedure tells of; the time is that of the processor."""
    procedure = PROCEDURES[name]
    optimum, rows = optima.get(procedure.problem), list[dict[str, Plain]]()
    began = time.process_time()
    for step in procedure.run(dual):
        distance = None
        if optimum is not None and step.objective is not None:
            distance = abs(step.objective - optimum) / max(1.0, abs(optimum))
        rows.append(
            {
                "procedure": name,
                "problem": procedure.problem,
                "unit": procedure.step,
                "steps": step.steps,
                "seconds": time.process_time() - began,
                "objective": step.objective,
                "distance": distance,
                "errors": step.errors,
                "ended": bool(step.ended),
                LAST: False,
            }
        )
    rows[-1][LAST] = True
    return rows


def _drawing(rows: Sequence[dict[str, Plain]]) -> Drawing:
    """Distance against time; what is below rounding is left out."""
    series = []
    for name, some in groupby(rows, key=lambda row: str(row["procedure"])):
        points = [
            (float(str(row["seconds"])), float(str(row["distance"])))
            for row in some
            if row["distance"] is not None and float(str(row["distance"])) > 1e-14
        ]
        if points:
            x, y = zip(*points, strict=True)
            series.append(Series(name, x, y))
    title = "Distance from the optimum of its own problem"
    return Drawing(title, "seconds", "distance, relative", series, logarithmic=True)
