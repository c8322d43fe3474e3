"""Options that commands share, and what they are turned into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def setting(*names: str, **attributes: Any) -> Callable[[Command], Command]:
    """An option that may also come from the environment, as MSVM_SELECT_<NAME>.

    A default of None means "not said on the line": the environment, a file and the
    defaults may then have their say. Values are checked by Settings and not by click,
    so that one message says what is on offer, wherever the value came from.
    """
    return click.option(*names, default=None, **attributes)


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in the order of the help."""

    def decorated(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


CONSTANTS = (
    setting(
        "--delta",
        metavar="P",
        help="The bounds hold with probability 1 - P. Default: 0.05.",
    ),
    setting(
        "--maurey-c",
        metavar="C",
        help="The constant c of the guaranteed risk where the feature space is not "
        "finite; its value is not known. Default: 1.",
    ),
    setting(
        "--dimension",
        type=int,
        metavar="D",
        help="That of the feature space. Default: the kernel's, if it is finite.",
    ),
    setting(
        "--union/--no-union",
        help="Pay for the constants that are taken from the trained machine, so that "
        "the guaranteed risk is a guarantee. Default: do not.",
    ),
)


def machine(metavar: str) -> tuple[Callable[[Command], Command], ...]:
    """The parameters of the kernel, a grid or a value each; loss and scaling."""
    return (
        setting(
            "--gamma",
            metavar=metavar,
            help="Default: 1 for the polynomial, 1/(features x variance) for rbf and "
            "sigmoid.",
        ),
        setting("--sigma", metavar=metavar, help="For rbf: gamma = 1/(2 sigma^2)."),
        setting("--degree", metavar=metavar, help="For the polynomial. Default: 3."),
        setting("--coef0", metavar=metavar, help="For polynomial and sigmoid."),
        setting(
            "--loss", metavar="NAME", help="l1 (default, the hinge) or l2 (squared)."
        ),
        setting("--scale", metavar="KIND", help="standard (default), minmax or none."),
    )


SOLVING = (
    setting("--solver", metavar="NAME", help="exact (default), smo, osqp or qp."),
    setting(
        "--gap",
        metavar="G",
        help="The relative duality gap to train to. Default: 1e-8, of smo 1e-3.",
    ),
    setting("--qp-backend", metavar="NAME", help="For --solver qp."),
)
ALLOW_INDEFINITE = setting(
    "--allow-indefinite/--no-allow-indefinite",
    help="Train on a Gram matrix that fails Mercer's test. Default: refuse.",
)

SCORED = setting(
    "--criteria",
    metavar="A,B,..",
    help="What to score each cell by: loo (default), radius-margin, "
    "radius-margin-count, guaranteed-risk, sv-rate, train-errors, compression, vc, "
    "span, radius-margin-l1, cv:K, holdout:SHARE.",
)
RANK_BY = setting("--rank-by", metavar="A", help="One of them. Default: the first.")
SWEEP_OPTIONS = (
    setting(
        "--kernel",
        multiple=True,
        metavar="NAME",
        help="linear, polynomial, rbf, sigmoid or precomputed. May repeat. Default: "
        "rbf.",
    ),
    setting("--C", "C", metavar="GRID", help="Default: 2^-3:2^9:7."),
    *machine("GRID"),
    SCORED,
    RANK_BY,
    *SOLVING,
    setting("--warm-start/--no-warm-start", help="Start from the last C. Default: do."),
    ALLOW_INDEFINITE,
    *CONSTANTS,
    setting("--seed", metavar="N", help="For whatever shuffles. Default: 0."),
    setting(
        "--jobs", metavar="N", help="Kernel settings at the same time. Default: 1."
    ),
)

FAIL_ABOVE = setting(
    "--fail-above",
    metavar="X",
    help="Exit 1 where the chosen cell's score is larger.",
)
CHOOSING_OPTIONS = (
    setting(
        "--select",
        metavar="RULE",
        help="best (default), simplest of those that tie with it, or 1se: the simplest "
        "within one standard error of it; the smoother kernel is the simpler, then the "
        "smaller C.",
    ),
    FAIL_ABOVE,
    setting(
        "--require-applicable/--no-require-applicable",
        help="Exit 1 where the bound that is ranked by does not apply to the chosen "
        "cell.",
    ),
    setting(
        "--require-converged/--no-require-converged",
        help="Exit 1, not 5, where a cell failed or did not converge.",
    ),
)
EXTEND = setting(
    "--extend",
    metavar="N",
    help="Up to N times, widen the grid where the best value is on its edge, and sweep "
    "the new cells. Default: 0.",
)

DRY_RUN = click.option(
    "--dry-run",
    is_flag=True,
    help="Print the grid, the memory and an estimate of the time, and sweep nothing.",
)
FORMAT = setting(
    "--format",
    metavar="NAME",
    help="table, csv, tsv, json, ndjson or markdown. Default: by the ending of the -o "
    "file, else table.",
)
TABLE_OR_JSON = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="For people or for programs.",
)
OUTPUT = click.option(
    "-o", "--output", metavar="FILE", help="Write there, not to stdout."
)
QUIET = click.option(
    "-q", "--quiet", is_flag=True, help="Nothing on stderr but errors."
)
TOP = setting("--top", metavar="N", help="Only the N best rows.")

CELL_OPTIONS = (
    setting(
        "--kernel",
        multiple=True,
        metavar="NAME",
        help="linear, polynomial, rbf, sigmoid or precomputed. Default: rbf.",
    ),
    setting("--C", "C", metavar="VALUE", help="Default: 1."),
    *machine("VALUE"),
    *SOLVING,
    ALLOW_INDEFINITE,
)
FROM_OPTIONS = (
    click.option(
        "--from",
        "source",
        metavar="RESULTS",
        help="Train the cell of a row of this file of `sweep` (json tells most).",
    ),
    click.option(
        "--rank",
        metavar="N",
        help="Which row of it. Default: the one that was chosen, else the first.",
    ),
)


constants_options = together(*CONSTANTS)
"""What the bounds leave open"""

settings_options = together(*CELL_OPTIONS)
"""The kernel, C and the training, one value each"""

from_options = together(*FROM_OPTIONS)
"""A cell of earlier results in their place"""

sweep_options = together(*SWEEP_OPTIONS)
"""The grid, the training, the scores"""

choosing_options = together(*CHOOSING_OPTIONS)
"""Which cell to take, and when not to be content with it"""

report_options = together(FORMAT, OUTPUT, QUIET)
"""What becomes of the answer"""

output_options = together(TOP, report_options)
"""What becomes of the rows of a sweep"""
