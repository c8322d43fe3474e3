"""One trained cell -> every sample judged by the machine without it."""

from __future__ import annotations

from msvm_select.criteria.leave_one_out import leave_each_out
from msvm_select.errors import SolverError
from msvm_select.settings import Settings
from msvm_select.show.answers.loo import LeftOutReport
from msvm_select.show.plain import Plain
from msvm_select.train.along_C import Trained

UNUSED = ("criteria", "rank_by", "seed", "warm_start")


def leave_one_out(trained: Trained, settings: Settings) -> LeftOutReport:
    """The exact leave-one-out of a machine that ``train_cell`` has trained.

    >>> settings = settings_from({"C": 1, "gamma": 0.25})
    >>> leave_one_out(train_cell(data, settings), settings).left_out.errors
    """
    cell = trained.cell
    if not cell.solution.converged:
        raise SolverError(
            "There is no leave-one-out of a machine that is not at its optimum: "
            f"{cell.solution.reason}."
        )
    point: dict[str, Plain] = {
        **trained.point,
        "solver": settings.solver,
    }
    deciding = settings.deciding().items()
    return LeftOutReport(
        data=cell.data,
        solution=cell.solution,
        left_out=leave_each_out(cell, every_margin=True),
        point=point,
        settings={name: value for name, value in deciding if name not in UNUSED},
        warning=trained.warning,
    )
