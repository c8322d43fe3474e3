"""TOML and options -> Settings: every value is checked here, once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

import numpy as np

from msvm_select.criteria import CRITERIA
from msvm_select.criteria.base import Constants, Criterion
from msvm_select.errors import SettingsError
from msvm_select.kernels import KERNELS, Kernel
from msvm_select.machines import MACHINES
from msvm_select.records import Floats
from msvm_select.report.formats import FORMATS
from msvm_select.settings.grids import parse_grid
from msvm_select.settings.values import (
    Check,
    flag,
    known,
    one_of,
    positive,
    positive_grid,
    probability,
    texts,
    whole,
)
from msvm_select.solvers import SOLVERS
from msvm_select.suggest import did_you_mean, listed

DEFAULT_CRITERION = "loo"
SCALINGS = ("standard", "minmax", "none")
MOST_CELLS = 1_000_000
GAMMA_FROM_DATA = ("rbf", "sigmoid")
PARAMETERS = ("gamma", "sigma", "degree", "coef0")


@dataclass(frozen=True)
class Settings:
    """One sweep, checked; made by ``settings_from``.

    ``gamma`` and its like are None where the kernels' own defaults count.
    """

    kernel: tuple[str, ...] = ("rbf",)
    C: tuple[float, ...] = parse_grid("2^-3:2^9:7")
    gamma: tuple[float, ...] | None = None
    sigma: tuple[float, ...] | None = None
    degree: tuple[float, ...] | None = None
    coef0: tuple[float, ...] | None = None
    loss: str = "l1"
    scale: str = "standard"
    solver: str = "exact"
    gap: float | None = None
    qp_backend: str | None = None
    criteria: tuple[str, ...] = (DEFAULT_CRITERION,)
    rank_by: str = DEFAULT_CRITERION
    seed: int = 0
    warm_start: bool = True
    allow_indefinite: bool = False
    delta: float = Constants.delta
    maurey_c: float = Constants.maurey_c
    union: bool = Constants.union
    dimension: int | None = None
    jobs: int = 1
    top: int | None = None
    format: str | None = None

    def kernels(self, default_gamma: float) -> tuple[Kernel, ...]:
        """The kernel settings of the grid, each kernel from smooth to rough."""
        return tuple(
            kernel
            for name in self.kernel
            for kernel in self._settings_of(name, default_gamma)
        )

    def parsed_criteria(self) -> tuple[Criterion, ...]:
        """The criteria, ready to score."""
        return tuple(parse_criterion(text, self.seed) for text in self.criteria)

    @property
    def constants(self) -> Constants:
        """What the bounds leave to the user."""
        return Constants(self.delta, self.maurey_c, self.union, self.dimension)

    def deciding(self) -> dict[str, Any]:
        """What decides the rows, by name: all but how they are got and shown."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in ("jobs", "top", "format")
        }

    def _settings_of(self, name: str, default_gamma: float) -> list[Kernel]:
        kind = KERNELS[name]
        grids: dict[str, tuple[float, ...]] = {}
        for field in fields(kind):
            if name in GAMMA_FROM_DATA and field.name == "gamma":
                grids["gamma"] = self._gammas(name, default_gamma)
            elif (grid := getattr(self, field.name)) is not None:
                grids[field.name] = grid
            elif field.default is not MISSING:
                grids[field.name] = (float(field.default),)
        points = itertools.product(*grids.values())
        chosen = [kind(**dict(zip(grids, point, strict=True))) for point in points]
        return sorted(chosen, key=lambda kernel: kernel.roughness)

    def _gammas(self, name: str, default_gamma: float) -> tuple[float, ...]:
        if self.gamma is not None:
            return self.gamma
        if self.sigma is not None and name == "rbf":
            return tuple(1.0 / (2.0 * sigma**2) for sigma in self.sigma)
        return (default_gamma,)


def default_gamma(X: Floats) -> float:
    """1 / (features x variance) of the scaled X (m, n); 1 / n where nothing varies."""
    variance = float(np.var(X))
    return 1.0 / (int(X.shape[1]) * (variance if variance > 0.0 else 1.0))


def settings_from(values: Mapping[str, Any], base: Settings | None = None) -> Settings:
    """Settings from values by name, as typed or parsed; None stands for not given."""
    given = {name: value for name, value in values.items() if value is not None}
    for name in given:
        if name not in SETTING_NAMES:
            raise SettingsError(
                f"There is no setting {name!r}{did_you_mean(name, SETTING_NAMES)}."
            )
    checked = {name: _CHECKS[name](value, name) for name, value in given.items()}
    if base is not None:
        checked = _merged(asdict(base), checked)
    settings = Settings(**_completed(checked))
    _check_kernels(settings)
    _check_solver(settings)
    _check_criteria(settings)
    return settings


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """``new`` over ``old``, where a new gamma also replaces an old sigma and so on."""
    for name, follower in {
        "criteria": "rank_by",
        "rank_by": "criteria",
        "gamma": "sigma",
        "sigma": "gamma",
    }.items():
        if name in new and (name != "rank_by" or new[name] not in old["criteria"]):
            old.pop(follower, None)
    return {**old, **new}


def _completed(checked: dict[str, Any]) -> dict[str, Any]:
    """With the defaults that depend on other settings."""
    if "rank_by" in checked and "criteria" not in checked:
        checked["criteria"] = (checked["rank_by"],)
    criteria = checked.setdefault("criteria", (DEFAULT_CRITERION,))
    checked["rank_by"] = _among(criteria, checked.get("rank_by", criteria[0]))
    if "precomputed" in checked.get("kernel", ()):
        checked.setdefault("scale", "none")
    return checked


def _among(criteria: tuple[str, ...], rank_by: str) -> str:
    """The criterion that is meant by ``cv:5`` or, for short, ``cv``."""
    for criterion in criteria:
        if rank_by in (criterion, criterion.partition(":")[0]):
            return criterion
    raise SettingsError(
        f"rank_by: {rank_by!r} is not among the criteria {listed(criteria)}; "
        "add it to --criteria."
    )


def parse_criterion(text: str, seed: int = 0) -> Criterion:
    """``name`` or ``name:argument`` -> the criterion."""
    name, colon, argument = text.partition(":")
    kind = CRITERIA[known(name, CRITERIA, "criterion")]
    return kind.parse(argument if colon else None, seed)


def _check_kernels(settings: Settings) -> None:
    """Parameters that some kernel uses, in range, and a grid of a sensible size."""
    if settings.gamma is not None and settings.sigma is not None:
        raise SettingsError(
            "gamma and sigma are both given, but gamma = 1/(2 sigma^2): give one."
        )
    if "precomputed" in settings.kernel and len(settings.kernel) > 1:
        raise SettingsError(
            "The precomputed kernel cannot be swept along with others: its columns "
            "are kernel values, theirs are features."
        )
    if "precomputed" in settings.kernel and settings.scale != "none":
        raise SettingsError(
            "A precomputed kernel must not be scaled: leave out --scale."
        )
    used = {field.name for name in settings.kernel for field in fields(KERNELS[name])}
    used |= {"sigma"} if "rbf" in settings.kernel else set()
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
    for criterion in settings.parsed_criteria():
        if settings.loss not in criterion.losses:
            raise SettingsError(
                f"The criterion {criterion.name} is not for the loss {settings.loss}, "
                f"but for {' and '.join(criterion.losses)}."
            )
    for text, criterion in zip(
        settings.criteria, settings.parsed_criteria(), strict=True
    ):
        if (first := columns.setdefault(criterion.column, text)) != text:
            raise SettingsError(
                f"The criteria {first!r} and {text!r} fill the same column; sweep "
                "once with each."
            )


def _check_solver(settings: Settings) -> None:
    if settings.qp_backend is not None and settings.solver != "qp":
        raise SettingsError("qp_backend is given, but only the solver 'qp' uses it.")


def _kernel_names(value: Any, name: str) -> tuple[str, ...]:
    return tuple(known(text, KERNELS, "kernel") for text in texts(value, name))


_CHECKS: dict[str, Check] = {
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
    "qp_backend": lambda value, name: str(value),
    "criteria": texts,
    "rank_by": lambda value, name: str(value).strip(),
    "seed": whole(0),
    "warm_start": flag,
    "allow_indefinite": flag,
    "delta": probability,
    "maurey_c": positive,
    "union": flag,
    "dimension": whole(1),
    "jobs": whole(1),
    "top": whole(1),
    "format": one_of(FORMATS, "format"),
}
SETTING_NAMES = tuple(_CHECKS)
