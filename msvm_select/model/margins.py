"""One trained cell -> the margins of each pair of its classes."""

from __future__ import annotations

from msvm_select.model.left_out import UNUSED
from msvm_select.settings import Settings
from msvm_select.show.answers.margins import MarginsReport
from msvm_select.train.along_C import Trained


def margins(trained: Trained, settings: Settings) -> MarginsReport:
    """The pairwise margins of a machine that ``train_cell`` has trained."""
    cell = trained.cell
    deciding = settings.deciding().items()
    return MarginsReport(
        data=cell.data,
        solution=cell.solution,
        point={
            **trained.point,
            "solver": settings.solver,
        },
        settings={name: value for name, value in deciding if name not in UNUSED},
        warning=trained.warning,
    )
