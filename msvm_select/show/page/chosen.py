"""The chosen cell, judged without each of its samples."""

from __future__ import annotations

from dataclasses import asdict, fields

from msvm_select.model.examined import LeftOutReport, leave_one_out
from msvm_select.names import KERNELS
from msvm_select.records import Dataset
from msvm_select.row import Row
from msvm_select.settings import PARAMETERS, Settings, settings_from
from msvm_select.sweep.kept import KeptCell
from msvm_select.train.along_C import train_cell


def judged(
    data: Dataset, settings: Settings, row: Row, kept: KeptCell | None = None
) -> LeftOutReport:
    """The exact leave-one-out of the cell of ``row``, as the sweep trained it.

    It is trained again only where the sweep has not ``kept`` it.
    """
    only = single(settings, row)
    if kept is None:
        return leave_one_out(train_cell(data, only), only)
    return leave_one_out(kept.again(data, only), only, kept.left_out)


def single(settings: Settings, row: Row) -> Settings:
    """The settings of the sweep with the grid of one cell."""
    used = {field.name for field in fields(KERNELS[row.kernel])}
    values = {**asdict(settings), **dict.fromkeys(PARAMETERS)}
    values |= {name: getattr(row, name) for name in PARAMETERS if name in used}
    values |= {"kernel": row.kernel, "C": row.C}
    return settings_from(values)
