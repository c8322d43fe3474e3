"""A trained machine -> the columns of its row that need no criterion."""

from __future__ import annotations

import math
from typing import Any

from msvm_select.solution import Solution


def measured(solution: Solution) -> dict[str, Any]:
    """What a Solution certifies of itself, by column.

    ``separable`` says that this machine separates its training samples; ``norm_w`` is
    sqrt(sum_k ||w_k||^2).
    """
    return {
        "status": "ok" if solution.converged else "not_converged",
        "train_errors": solution.train_errors,
        "n_sv": solution.n_sv,
        "n_bounded": solution.n_bounded,
        "separable": solution.train_errors == 0,
        "dual_objective": solution.dual_objective,
        "sum_alpha": solution.sum_alpha,
        "norm_w": math.sqrt(max(0.0, solution.norm_w_squared)),
        "gap": solution.gap,
        "kkt_violation": solution.kkt_violation,
        "b_unique": solution.b_unique,
        "iterations": solution.work.iterations,
        "seconds": solution.work.seconds,
    }
