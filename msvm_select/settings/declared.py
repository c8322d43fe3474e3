"""Every setting of a sweep, declared once with its option."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from msvm_select.names import (
    CRITERIA,
    FORMATS,
    KERNELS,
    MACHINES,
    RULES,
    SCALINGS,
    SOLVERS,
)
from msvm_select.settings.catalogue import (
    CHOICE,
    KERNEL,
    OUTPUT,
    SCORES,
    TRAINING,
    options_of,
    setting,
)
from msvm_select.settings.grids import parse_grid
from msvm_select.settings.values import (
    GAMMA_WORDS,
    flag,
    gamma_grid,
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

DEFAULT_CRITERION = "loo"
ALIASES = {"poly": "polynomial"}  # scikit-learn's name

Grid = tuple[float, ...]
GammaGrid = tuple[float | str, ...]


def _either(names: Iterable[str], default: str) -> str:
    """``a (default), b or c``, for a help text."""
    told = [f"{name} (default)" if name == default else name for name in names]
    return f"{', '.join(told[:-1])} or {told[-1]}"


def _scores() -> str:
    """The criteria, with the form of those that take a number."""
    told = []
    for name in CRITERIA:
        form = CRITERIA.summary(name).partition(",")[0]
        told.append(form if form.startswith(f"{name}:") else name)
    return ", ".join(told).replace("loo", "loo (default)", 1)


def _kernel_names(value: Any, name: str) -> tuple[str, ...]:
    names = (ALIASES.get(one, one) for one in texts(value, name))
    return tuple(dict.fromkeys(known(one, KERNELS, "kernel") for one in names))


@dataclass(frozen=True)
class Declared:
    """The fields of ``Settings``: default, check, heading and help of each.

    ``gamma`` and its like are None where the kernels' own defaults count.
    """

    kernel: tuple[str, ...] = setting(
        ("rbf",),
        _kernel_names,
        KERNEL,
        f"{_either(KERNELS, 'rbf')}; poly is the polynomial. May repeat.",
        metavar="NAME",
        words=KERNELS,
        joins=True,
    )
    C: Grid = setting(
        parse_grid("2^-3:2^9:7"),
        positive_grid,
        KERNEL,
        "Default: 2^-3:2^9:7.",
        metavar="GRID",
        flags=("--C",),
        joins=True,
    )
    gamma: GammaGrid | None = setting(
        None,
        gamma_grid,
        KERNEL,
        "Also scale, 1/(features x variance), and auto, 1/features. Default: 1 for the "
        "polynomial, scale for rbf and sigmoid.",
        metavar="GRID",
        words=GAMMA_WORDS,
        joins=True,
    )
    sigma: Grid | None = setting(
        None,
        positive_grid,
        KERNEL,
        "For rbf: gamma = 1/(2 sigma^2).",
        metavar="GRID",
        joins=True,
    )
    degree: Grid | None = setting(
        None,
        positive_grid,
        KERNEL,
        "For the polynomial. Default: 3.",
        metavar="GRID",
        joins=True,
    )
    coef0: Grid | None = setting(
        None,
        parse_grid,
        KERNEL,
        "For polynomial and sigmoid.",
        metavar="GRID",
        joins=True,
    )
    loss: str = setting(
        "l1",
        one_of(MACHINES, "loss"),
        TRAINING,
        f"{_either(MACHINES, 'l1')}: the slacks as they are, or squared.",
        metavar="NAME",
        words=MACHINES,
    )
    scale: str = setting(
        "standard",
        one_of(SCALINGS, "scaling"),
        TRAINING,
        f"{_either(SCALINGS, 'standard')}.",
        metavar="KIND",
        words=SCALINGS,
    )
    solver: str = setting(
        "exact",
        one_of(SOLVERS, "solver"),
        TRAINING,
        f"{_either(SOLVERS, 'exact')}.",
        metavar="NAME",
        words=SOLVERS,
    )
    gap: float | None = setting(
        None,
        positive,
        TRAINING,
        "The relative duality gap to train to. Default: 1e-8; for smo 1e-3.",
        metavar="G",
    )
    qp_backend: str | None = setting(
        None, text, TRAINING, "For --solver qp.", metavar="NAME"
    )
    criteria: tuple[str, ...] = setting(
        (DEFAULT_CRITERION,),
        texts,
        SCORES,
        f"What to score each cell by: {_scores()}.",
        metavar="A,B,..",
        words=CRITERIA,
        joins=True,
    )
    rank_by: str = setting(
        DEFAULT_CRITERION,
        text,
        SCORES,
        "One of them. Default: the first.",
        metavar="A",
    )
    seed: int = setting(
        0, whole(0), SCORES, "For everything that shuffles. Default: 0.", metavar="N"
    )
    warm_start: bool = setting(
        True,
        flag,
        TRAINING,
        "Start from the previous C's solution. Default: on.",
    )
    allow_indefinite: bool = setting(
        False,
        flag,
        TRAINING,
        "Train on a Gram matrix that fails Mercer's test. Default: refuse.",
    )
    delta: float = setting(
        0.05,
        probability,
        SCORES,
        "The bounds hold with probability 1 - P. Default: 0.05.",
        metavar="P",
    )
    maurey_c: float = setting(
        1.0,
        positive,
        SCORES,
        "The constant c of the guaranteed risk where the feature space is not finite; "
        "its value is not known. Default: 1.",
        metavar="C",
    )
    union: bool = setting(
        False,
        flag,
        SCORES,
        "Pay for the constants that are taken from the trained machine, so that the "
        "guaranteed risk is a guarantee. Default: off.",
    )
    dimension: int | None = setting(
        None,
        whole(1),
        SCORES,
        "The dimension of the feature space. Default: the kernel's, if it is finite.",
        metavar="D",
    )
    select: str = setting(
        "best",
        one_of(RULES, "rule"),
        CHOICE,
        "best (default), simplest of those that tie with it, or 1se: the simplest "
        "within one standard error of it; the smaller C is the simpler, then the "
        "smoother kernel.",
        metavar="RULE",
        words=RULES,
        decides=False,
    )
    extend: int = setting(
        0,
        whole(0),
        KERNEL,
        "Up to N times, widen the grid if the best value is on its edge, and sweep the "
        "new cells. Default: 0.",
        metavar="N",
        decides=False,
    )
    fail_above: float | None = setting(
        None,
        number,
        CHOICE,
        "Exit 1 if the chosen cell's score is larger.",
        metavar="X",
        decides=False,
    )
    require_applicable: bool = setting(
        False,
        flag,
        CHOICE,
        "Exit 1 if the bound that is ranked by does not apply to the chosen cell.",
        decides=False,
    )
    require_converged: bool = setting(
        False,
        flag,
        CHOICE,
        "Exit 1, not 5, if a cell failed or did not converge.",
        decides=False,
    )
    jobs: int = setting(
        1,
        whole(1),
        TRAINING,
        "Kernel settings at the same time. Default: 1.",
        metavar="N",
        decides=False,
    )
    top: int | None = setting(
        None, whole(1), OUTPUT, "Only the N best rows.", metavar="N", decides=False
    )
    format: str | None = setting(
        None,
        one_of(FORMATS, "format"),
        OUTPUT,
        f"{_either(FORMATS, '')}. Default: by the ending of the -o file, else table.",
        metavar="NAME",
        words=FORMATS,
        decides=False,
    )


SETTINGS = options_of(Declared)
"""The options by name."""
SETTING_NAMES = tuple(SETTINGS)
NOT_DECIDING = tuple(name for name, one in SETTINGS.items() if not one.decides)
"""How the rows are got, shown, chosen from and judged."""
