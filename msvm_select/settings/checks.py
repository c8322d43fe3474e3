"""What each setting may be, and which of them go together."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from msvm_select.errors import SettingsError
from msvm_select.names import FORMATS, KERNELS, MACHINES, RULES, SCALINGS, SOLVERS
from msvm_select.results.choosing import check_rule
from msvm_select.results.gates import check_applicable
from msvm_select.settings.grids import parse_grid
from msvm_select.settings.settings import PARAMETERS, Settings
from msvm_select.settings.values import (
    Check,
    flag,
    known,
    number,
    one_of,
    positive,
    positive_grid,
    probability,
    text,
    texts,
    whole,
)

MOST_CELLS = 1_000_000


def _kernel_names(value: Any, name: str) -> tuple[str, ...]:
    return tuple(known(one, KERNELS, "kernel") for one in texts(value, name))


CHECKS: dict[str, Check] = {
    "kernel": _kernel_names,
    "C": positive_grid,
    "gamma": positive_grid,
    "sigma": positive_grid,
    "degree": positive_grid,
    "coef0": parse_grid,
    "loss": one_of(MACHINES, "loss"),
    "scale": one_of(SCALINGS, "scaling"),
    "solver": one_of(SOLVERS, "solver"),
    "gap": positive,
    "qp_backend": text,
    "criteria": texts,
    "rank_by": text,
    "seed": whole(0),
    "warm_start": flag,
    "allow_indefinite": flag,
    "delta": probability,
    "maurey_c": positive,
    "union": flag,
    "dimension": whole(1),
    "select": one_of(RULES, "rule"),
    "extend": whole(0),
    "fail_above": number,
    "require_applicable": flag,
    "require_converged": flag,
    "jobs": whole(1),
    "top": whole(1),
    "format": one_of(FORMATS, "format"),
}
SETTING_NAMES = tuple(CHECKS)


def used_parameters(kernels: tuple[str, ...]) -> set[str]:
    """Those of PARAMETERS that one of the kernels has."""
    used = {field.name for name in kernels for field in fields(KERNELS[name])}
    return used | ({"sigma"} if "rbf" in kernels else set())


def check_together(settings: Settings) -> None:
    """Refuse settings that contradict each other."""
    _check_kernels(settings)
    _check_parameters(settings)
    if settings.qp_backend is not None and settings.solver != "qp":
        raise SettingsError("qp_backend is given, but only the solver 'qp' uses it.")
    _check_criteria(settings)
    check_rule(settings.select, settings.rank_by)
    if settings.require_applicable:
        check_applicable(settings.rank_by)


def _check_kernels(settings: Settings) -> None:
    """Precomputed values stand alone, and are taken as they are."""
    if "precomputed" not in settings.kernel:
        return
    if len(settings.kernel) > 1:
        raise SettingsError(
            "The precomputed kernel cannot be swept along with others: its columns "
            "are kernel values, theirs are features."
        )
    if settings.scale != "none":
        raise SettingsError(
            "A precomputed kernel must not be scaled: leave out --scale."
        )


def _check_parameters(settings: Settings) -> None:
    """Parameters that some kernel uses, in range, and a grid of a sensible size."""
    if settings.gamma is not None and settings.sigma is not None:
        raise SettingsError(
            "gamma and sigma are both given, but gamma = 1/(2 sigma^2): give one."
        )
    used = used_parameters(settings.kernel)
    for name in PARAMETERS:
        if getattr(settings, name) is not None and name not in used:
            raise SettingsError(
                f"{name} is given, but no chosen kernel ({', '.join(settings.kernel)}) "
                "uses it."
            )
    sizes = (len(getattr(settings, name) or (0,)) for name in ("C", *PARAMETERS))
    if math.prod(sizes) > MOST_CELLS:
        raise SettingsError(f"The grid has more than {MOST_CELLS:,} cells.")
    settings.kernels(1.0)  # each kernel refuses parameters that it cannot have


def _check_criteria(settings: Settings) -> None:
    """Each of its form, and no two that would fill the same column."""
    columns: dict[str, str] = {}
    criteria = settings.parsed_criteria()
    for criterion in criteria:
        if settings.loss not in criterion.losses:
            raise SettingsError(
                f"The criterion {criterion.name} is not for the loss {settings.loss}, "
                f"but for {' and '.join(criterion.losses)}."
            )
    for one, criterion in zip(settings.criteria, criteria, strict=True):
        if (first := columns.setdefault(criterion.column, one)) != one:
            raise SettingsError(
                f"The criteria {first!r} and {one!r} fill the same column; sweep "
                "once with each."
            )
