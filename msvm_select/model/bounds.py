"""One trained cell -> every bound with its terms, beside the exact leave-one-out."""

from __future__ import annotations

from msvm_select.criteria.base import Cell
from msvm_select.criteria.compression import compression
from msvm_select.criteria.guaranteed_risk import guaranteed_risk
from msvm_select.criteria.leave_one_out import leave_each_out
from msvm_select.criteria.radius_margin import RadiusMargin, radius_margin_terms
from msvm_select.criteria.radius_margin_count import count_removable
from msvm_select.criteria.radius_margin_l1 import softened
from msvm_select.criteria.span import predicted_margins
from msvm_select.criteria.vc import vc
from msvm_select.errors import SolverError
from msvm_select.model.left_out import UNUSED
from msvm_select.settings import Settings
from msvm_select.show.answers.bound import BoundsReport
from msvm_select.train.along_C import Trained


def bounds(trained: Trained, settings: Settings) -> BoundsReport:
    """All that bounds or predicts the errors of a machine of ``train_cell``.

    >>> settings = settings_from({"C": 1, "gamma": 0.25, "loss": "l2"})
    >>> bounds(train_cell(data, settings), settings).rows
    """
    cell = trained.cell
    solution = cell.solution
    if not solution.converged:
        raise SolverError(
            "There is no leave-one-out of a machine that is not at its optimum: "
            f"{solution.reason}."
        )
    left_out = leave_each_out(cell)
    terms = radius_margin_terms(cell, left_out=left_out)
    deciding = settings.deciding().items()
    return BoundsReport(
        data=cell.data,
        solution=solution,
        point={
            **trained.point,
            "loss": settings.loss,
            "solver": settings.solver,
        },
        settings={name: value for name, value in deciding if name not in UNUSED},
        left_out=left_out,
        predicted=predicted_margins(solution),
        radius_margin=terms,
        counted=count_removable(terms) if terms and terms.applicable else None,
        softened=_softened(cell, terms),
        risk=guaranteed_risk(cell),
        compression=compression(cell),
        vc=vc(cell, terms.ball_all if terms else None),
        warning=trained.warning,
    )


def _softened(cell: Cell, terms: RadiusMargin | None) -> float | None:
    """The softened radius-margin, for the loss that it is defined for."""
    if terms is None or cell.solution.dual.quadratic is not None:
        return None
    return softened(cell.solution, terms.diameter_all)
