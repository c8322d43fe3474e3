"""One sweep, checked: what it trains, how, and what it ranks by."""

from __future__ import annotations

import itertools
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

import numpy as np

from msvm_select.criteria.base import Constants, Criterion
from msvm_select.kernels.base import Kernel
from msvm_select.names import CRITERIA, KERNELS
from msvm_select.records import Floats
from msvm_select.settings.grids import parse_grid
from msvm_select.settings.values import known

DEFAULT_CRITERION = "loo"
GAMMA_FROM_DATA = ("rbf", "sigmoid")
PARAMETERS = ("gamma", "sigma", "degree", "coef0")
NOT_DECIDING = (  # how the rows are got, shown, chosen from and judged
    *("jobs", "top", "format", "select", "extend"),
    *("fail_above", "require_applicable", "require_converged"),
)


@dataclass(frozen=True)
class Settings:
    """Made by ``settings_from``, which checks every value.

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
    select: str = "best"
    extend: int = 0
    fail_above: float | None = None
    require_applicable: bool = False
    require_converged: bool = False
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
        """What decides the rows, by name: all but what NOT_DECIDING has."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in NOT_DECIDING
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


def parse_criterion(text: str, seed: int = 0) -> Criterion:
    """``name`` or ``name:argument`` -> the criterion."""
    name, colon, argument = text.partition(":")
    kind = CRITERIA[known(name, CRITERIA, "criterion")]
    return kind.parse(argument if colon else None, seed)
