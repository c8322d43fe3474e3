"""One trained cell, examined: every sample left out, every bound, the margins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from msvm_select.columns import Row
from msvm_select.criteria.base import Cell
from msvm_select.criteria.guaranteed_risk import GuaranteedRiskTerms, guaranteed_risk
from msvm_select.criteria.leave_one_out import every_margin_of, leave_each_out
from msvm_select.criteria.radius_margin import (
    OverParts,
    RadiusMargin,
    over_parts,
    radius_margin_terms,
    softened,
)
from msvm_select.criteria.radius_margin_count import (
    Counted,
    count_removable,
    flagged,
)
from msvm_select.criteria.risk_bounds import CompressionTerms, VcTerms, compression, vc
from msvm_select.criteria.span import predicted_errors
from msvm_select.errors import SolverError
from msvm_select.geometry.margins import PairMargin, pair_margins, part_margins
from msvm_select.left_out import LeftOut
from msvm_select.names import KERNELS
from msvm_select.parts import Composed
from msvm_select.phrases import of_a_subsample
from msvm_select.records import Dataset, Plain
from msvm_select.settings import PARAMETERS, Settings, settings_from
from msvm_select.solution import Solution
from msvm_select.sweep.cells import KeptCell
from msvm_select.train.along_C import Trained, train_cell

UNUSED = (
    "criteria",
    "metric",
    "rank_by",
    "seed",
    "warm_start",
)  # settings of sweeps only


@dataclass(frozen=True, eq=False)
class Examined:
    """A trained cell, and the settings that it was trained by."""

    trained: Trained
    settings: Settings

    @property
    def data(self) -> Dataset:
        """What it was trained on."""
        return self.trained.cell.data

    @property
    def solution(self) -> Solution:
        """The machine."""
        return self.trained.cell.solution

    @property
    def point(self) -> dict[str, Plain]:
        """The cell by column: kernel, its parameters, C, solver, of parts machine."""
        machine = self.settings.machine
        told = {} if machine == "ww" else {"machine": machine}
        return {**self.trained.point, "solver": self.settings.solver, **told}

    @property
    def deciding(self) -> Mapping[str, Any]:
        """The settings that decide what the machine is."""
        every = self.settings.deciding().items()
        return {name: value for name, value in every if name not in UNUSED}

    @property
    def warning(self) -> str:
        """What is wrong with the Gram matrix, if anything."""
        return self.trained.warning

    @property
    def warnings(self) -> list[str]:
        """The same as a line to show, if there is one; and that rows were drawn."""
        data, found = self.data, []
        if data.drawn_from is not None:
            seed = data.reading.get("seed")
            found.append(of_a_subsample(data.m, data.drawn_from, seed))
        return [*found, *([f"Warning: {self.warning}"] if self.warning else [])]


@dataclass(frozen=True, eq=False)
class LeftOutReport(Examined):
    """Every sample judged by the machine trained without it."""

    left_out: LeftOut

    @property
    def rate(self) -> float:
        """``loo_rate``: the share that is wrong, by the weights of the samples."""
        return self.data.share(self.left_out.wrong)


@dataclass(frozen=True, eq=False)
class BoundsReport(LeftOutReport):
    """The terms of every bound, beside the exact leave-one-out.

    ``predicted`` are the errors of the span estimate; ``counted`` is there where the
    radius-margin bound applies. None stands for what cannot be computed, or has no
    meaning for the machine.
    """

    predicted: int | None
    radius_margin: RadiusMargin | OverParts | None
    counted: Counted | None
    softened: float | None
    risk: GuaranteedRiskTerms | None
    compression: CompressionTerms
    vc: VcTerms | None


@dataclass(frozen=True, eq=False)
class MarginsReport(Examined):
    """The margins of each pair of classes."""

    @cached_property
    def pairs(self) -> tuple[PairMargin, ...]:
        """One a pair of classes, or a part, in order."""
        machine: Solution | Composed = self.solution
        if isinstance(machine, Composed):
            return tuple(part_margins(machine))
        return pair_margins(machine)


def leave_one_out(
    trained: Trained, settings: Settings, known: LeftOut | None = None
) -> LeftOutReport:
    """The exact leave-one-out of a trained machine; ``known`` is not done again.

    >>> settings = settings_from({"C": 1, "gamma": 0.25})
    >>> leave_one_out(train_cell(data, settings), settings).left_out.errors
    """
    check_optimum(trained.cell, "no leave-one-out")
    left_out = every_margin_of(trained.cell, known)
    return LeftOutReport(trained, settings, left_out)


def judged(
    data: Dataset, settings: Settings, row: Row, kept: KeptCell | None = None
) -> LeftOutReport:
    """The exact leave-one-out of the cell of ``row``, as the sweep trained it.

    It is trained again only where the sweep has not ``kept`` it.
    """
    used = {field.name for field in fields(KERNELS[row.kernel])} | {"low_rank"}
    values = {**asdict(settings), **dict.fromkeys(PARAMETERS)}
    values |= {name: getattr(row, name) for name in PARAMETERS if name in used}
    only = settings_from({**values, "kernel": row.kernel, "C": row.C})
    if kept is None:
        return leave_one_out(train_cell(data, only), only)
    return leave_one_out(kept.again(data, only), only, kept.left_out)


def bounds(trained: Trained, settings: Settings) -> BoundsReport:
    """All that bounds or predicts the errors of a machine of ``train_cell``.

    >>> settings = settings_from({"C": 1, "gamma": 0.25, "loss": "l2"})
    >>> bounds(train_cell(data, settings), settings).risk.value
    """
    cell = trained.cell
    check_optimum(cell, "no leave-one-out")
    left_out = leave_each_out(cell)
    if isinstance(cell.solution, Composed):
        return BoundsReport(
            trained,
            settings,
            left_out=left_out,
            predicted=predicted_errors(cell.solution),
            radius_margin=over_parts(cell, left_out=left_out, flags=flagged),
            counted=None,
            softened=None,
            risk=guaranteed_risk(cell) if cell.machine.name == "ova" else None,
            compression=compression(cell),
            vc=None,
        )
    terms = radius_margin_terms(cell, left_out=left_out)
    return BoundsReport(
        trained,
        settings,
        left_out=left_out,
        predicted=predicted_errors(cell.solution),
        radius_margin=terms,
        counted=count_removable(terms) if terms and terms.applicable else None,
        softened=_softened(cell, terms),
        risk=guaranteed_risk(cell),
        compression=compression(cell),
        vc=vc(cell, terms.ball_all if terms else None),
    )


def check_optimum(cell: Cell, lost: str) -> None:
    """Refuse a machine that is not at its optimum; ``lost`` is what there is not."""
    if not cell.solution.converged:
        raise SolverError(
            f"There is {lost} of a machine that is not at its optimum: "
            f"{cell.solution.reason}."
        )


def _softened(cell: Cell, terms: RadiusMargin | None) -> float | None:
    """The softened radius-margin, where it is defined."""
    dual = cell.solution.dual
    if terms is None or dual.quadratic is not None or dual.weights is not None:
        return None
    return softened(cell.solution, terms.diameter_all)
