"""Any quadratic-programming backend of qpsolvers: the reference of the tests."""

from __future__ import annotations

import time
import warnings
from difflib import get_close_matches
from typing import Any

import numpy as np

from msvm_select.errors import SettingsError, SolverError
from msvm_select.geometry.arcs import Arcs
from msvm_select.records import Dual, Floats, Work
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver, scaled_start
from msvm_select.solvers.least_norm import least_norm
from msvm_select.solvers.polish import every_arc, polish, verdict

PREFERENCE = ("clarabel", "proxqp", "quadprog", "piqp", "cvxopt", "osqp")
OPTIONS: dict[str, dict[str, Any]] = {
    "clarabel": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-12, "tol_feas": 1e-12},
    "proxqp": {"eps_abs": 1e-10},
    "piqp": {"eps_abs": 1e-11, "eps_rel": 1e-11},
    "cvxopt": {"abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11},
    "osqp": {"eps_abs": 1e-7, "eps_rel": 1e-7, "max_iter": 50_000},
}
MOST_VARIABLES = 4000


class Qp(Solver):
    """The dual as one dense problem in all m (Q - 1) variables, for small sets.

    min 1/2 alpha'H alpha - 1'alpha,  A'alpha = 0,  0 <= alpha <= C_i, with
    H_(i,k),(j,l) = K_ij <e_{y_i} - e_k, e_{y_j} - e_l> and A's rows e_{y_i} - e_k.
    """

    name = "qp"

    def __init__(self, gap: float | None = None, backend: str | None = None) -> None:
        """``backend``: a name that qpsolvers knows; the most exact one by default."""
        super().__init__(gap)
        self.backend = chosen_backend(backend)

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """The optimum of ``dual``; the backend decides whether it uses the start."""
        began = time.perf_counter()
        arcs = every_arc(dual)
        if arcs.size > MOST_VARIABLES:
            raise SolverError(
                f"m (Q - 1) = {arcs.size} variables are too many for the dense solver "
                f"qp (at most {MOST_VARIABLES}); use --solver exact, osqp or smo."
            )
        alpha, b, said = self._answer(dual, arcs, start)
        found = polish(dual, alpha, b, self.gap)
        seconds = time.perf_counter() - began
        work = Work(0, found.work.newton, seconds)
        return least_norm(verdict(found, self.gap, work, said))

    def _answer(
        self, dual: Dual, arcs: Arcs, start: Solution | None
    ) -> tuple[Floats, Floats, str]:
        """alpha (arcs,) and b (Q,) of the backend, and what it complains of."""
        from qpsolvers import Problem, solve_problem
        from qpsolvers.warnings import SparseConversionWarning

        A = arcs.incidence(dual.Q)[:, 1:].T
        unit = _unit(dual)
        H = unit * arcs.hessian(dual.gram, dual.Q)
        if self.backend == "quadprog":  # it factors H, which may be singular
            H[np.diag_indices(arcs.size)] += 1e-12 * float(np.diagonal(H).max())
        zero, top = np.zeros(arcs.size), dual.box[arcs.rows] / unit
        problem = Problem(
            H, -np.ones(arcs.size), A=A, b=np.zeros(dual.Q - 1), lb=zero, ub=top
        )
        begin = None
        if start is not None:
            begin = -scaled_start(dual, start)[arcs.rows, arcs.heads] / unit
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                answer = solve_problem(
                    problem, self.backend, begin, **OPTIONS.get(self.backend, {})
                )
            except Exception as error:  # each backend has exceptions of its own
                raise SolverError(f"{self.backend} has no answer: {error}") from error
        said = "; ".join(
            str(warning.message)
            for warning in caught
            if not issubclass(warning.category, SparseConversionWarning)
        )
        if answer.x is None or not np.isfinite(answer.x).all():
            raise SolverError(f"{self.backend} has no answer. {said}".rstrip())
        b = np.zeros(dual.Q)
        if answer.y is not None and np.isfinite(answer.y).all():
            b[1:] = answer.y
        return unit * np.asarray(answer.x), b, said


def _unit(dual: Dual) -> float:
    """The unit of alpha in the backend's problem: C, or 1 / max_i K_ii if less.

    Backends judge their answer by absolute tolerances, so the numbers that they see
    must be about 1 whatever C is. The biases are the same in every unit.
    """
    largest = float(dual.gram.diagonal.max(initial=0.0))
    return min(float(dual.box.max()), 1.0 / (largest or 1.0))


def chosen_backend(name: str | None) -> str:
    """The backend called ``name``; without one, the most exact that is installed."""
    from qpsolvers import available_solvers

    if name in available_solvers:
        return str(name)
    found = ", ".join(available_solvers) or "none"
    if name is not None:
        near = get_close_matches(name, available_solvers, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise SettingsError(
            f"qpsolvers finds no backend called {name!r}.{hint} Installed: {found}."
        )
    for preferred in PREFERENCE:
        if preferred in available_solvers:
            return preferred
    raise SettingsError(
        f"No backend of qpsolvers that gives exact optima is installed (found: "
        f"{found}): pip install clarabel, or name one with --qp-backend."
    )
