"""Operator splitting: one OSQP object for each kernel setting, kept alive over C."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from msvm_select.errors import SolverError
from msvm_select.records import Dual, Floats, Gram, Work
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver, scaled_start
from msvm_select.solvers.least_norm import least_norm
from msvm_select.solvers.polish import every_arc, polish, verdict

STAGES = (1e-5, 1e-7, 1e-9)
RANK_TOLERANCE = 1e-10
SETTINGS: dict[str, Any] = {
    "verbose": False,
    "polishing": True,
    "max_iter": 40_000,
    "adaptive_rho_interval": 100,  # fixed: by the clock, no two runs would be equal
}


class Osqp(Solver):
    """The dual in tau (m, Q), class by class, so that it stays sparse.

    min 1/2 sum_k tau_k'K tau_k - sum_i tau_{i,y_i}
    s.t. rows and columns of tau sum to 0,  -C_i <= tau_ik <= 0 for k != y_i.

    Where K = Z Z' with Z (m, r) narrow (the linear kernel's features, or a pivoted
    Cholesky factor of the numerical rank), tau_k'K tau_k = ||v_k||^2 with v_k = Z'tau_k
    as further variables. Only the bounds know C: from one C to the next they are
    updated, and the last point starts the next. OSQP stops at a rough tolerance, and
    the active set that it found is polished; where that fails, it goes on to a finer.
    """

    name = "osqp"

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """The optimum of ``dual``; ``start.carry`` has the OSQP object of its gram."""
        began = time.perf_counter()
        kept = _kept(dual, start)
        arcs, iterations, said = every_arc(dual), 0, ""
        for stage in STAGES:
            answer = kept.advance(dual.C, stage)
            iterations += answer.info.iter
            said = answer.info.status if answer.info.status_val != 1 else ""
            alpha = -kept.form.tau(kept.x)[arcs.rows, arcs.heads]
            found = polish(dual, alpha, kept.form.biases(kept.y), self.gap)
            seconds = time.perf_counter() - began
            work = Work(iterations, found.work.newton, seconds)
            found = verdict(found, self.gap, work, f"OSQP: {said}" if said else "")
            if found.converged:
                break
        return replace(least_norm(found), carry=kept)


@dataclass(frozen=True, eq=False)
class Form:
    """min 1/2 x'Px + q'x, C l <= Ax <= 0, x = (tau by classes, v by classes)."""

    m: int
    Q: int
    Z: Floats | None
    P: Any
    q: Floats
    A: Any
    low: Floats

    @classmethod
    def of(cls, dual: Dual) -> Form:
        """The sparse form of ``dual``."""
        m, Q, Z = dual.m, dual.Q, _narrow_factor(dual.gram)
        own = np.zeros((Q, m))
        own[dual.y, np.arange(m)] = 1.0
        rows = sparse.hstack([sparse.eye_array(m)] * Q)
        columns = sparse.kron(sparse.eye_array(Q), np.ones((1, m)))
        box = sparse.eye_array(m * Q).tocsr()[np.flatnonzero(own.ravel() == 0.0)]
        parts = [rows, columns.tocsr()[1:], box]
        unit = -np.tile(dual.box / dual.C, Q)[own.ravel() == 0.0]
        low = np.concatenate([np.zeros(m + Q - 1), unit])
        if Z is None:
            P: Any = sparse.block_diag([np.triu(dual.gram.matrix)] * Q)
            return cls(m, Q, None, P, -own.ravel(), sparse.vstack(parts), low)
        r = Q * Z.shape[1]
        P = sparse.block_diag([sparse.coo_array((m * Q, m * Q)), sparse.eye_array(r)])
        link = sparse.kron(sparse.eye_array(Q), Z.T)
        blocks: Any = [[sparse.vstack(parts), None], [link, -sparse.eye_array(r)]]
        A = sparse.block_array(blocks)
        low = np.append(low, np.zeros(r))
        return cls(m, Q, Z, P, np.append(-own.ravel(), np.zeros(r)), A, low)

    def tau(self, x: Floats) -> Floats:
        """tau (m, Q) in x."""
        return np.asarray(x[: self.m * self.Q].reshape(self.Q, self.m).T)

    def biases(self, y: Floats) -> Floats:
        """b (Q,): the multipliers of the columns' sums, the first class at 0."""
        return np.append(0.0, y[self.m : self.m + self.Q - 1])

    def point(self, tau: Floats) -> Floats:
        """x of tau (m, Q)."""
        v = [] if self.Z is None else [(self.Z.T @ tau).T.ravel()]
        return np.concatenate([tau.T.ravel(), *v])


@dataclass(eq=False)
class Kept:
    """What one C hands to the next: the OSQP object and where it stands."""

    gram: Gram
    weights: Floats | None
    form: Form
    model: Any
    C: float
    x: Floats
    y: Floats

    @classmethod
    def of(cls, dual: Dual) -> Kept:
        """A fresh OSQP object, at zero."""
        import osqp

        form, model = Form.of(dual), osqp.OSQP()
        top = np.zeros(form.A.shape[0])
        P, A = sparse.csc_matrix(form.P), sparse.csc_matrix(form.A)
        try:
            model.setup(P, form.q, A, dual.C * form.low, top, **SETTINGS)
        except osqp.OSQPException as error:
            raise SolverError(f"OSQP refuses the problem (code {error}).") from error
        return cls(
            dual.gram, dual.weights, form, model, dual.C, np.zeros(form.q.size), top
        )

    def advance(self, C: float, tolerance: float) -> Any:
        """OSQP's answer at C from the point kept, which it becomes."""
        self.model.update(l=C * self.form.low)
        self.model.update_settings(eps_abs=tolerance, eps_rel=tolerance)
        self.model.warm_start(x=self.x * (C / self.C), y=self.y)
        answer = self.model.solve(raise_error=False)
        if answer.x is None or not np.isfinite(answer.x).all():
            raise SolverError(f"OSQP has no answer: {answer.info.status}.")
        self.C, self.x, self.y = C, np.array(answer.x), np.array(answer.y)
        return answer


def _kept(dual: Dual, start: Solution | None) -> Kept:
    """The start's OSQP object, if it is of this Gram matrix, or a new one."""
    kept = None if start is None else start.carry
    if (
        isinstance(kept, Kept)
        and kept.gram is dual.gram
        and kept.weights is dual.weights
    ):
        return kept
    fresh = Kept.of(dual)
    fresh.x = fresh.form.point(scaled_start(dual, start))
    return fresh


def _narrow_factor(gram: Gram) -> Floats | None:
    """Z (m, r) with K = Z Z' to rounding, where r < m / 2; None where K has no such.

    What a pivoted Cholesky factor leaves is at most the largest pivot left, if K is
    positive semi-definite; more than that proves that it is not.
    """
    from msvm_select.lapack import dpstrf

    if gram.factor is not None:
        return gram.factor
    tolerance = RANK_TOLERANCE * max(0.0, float(gram.diagonal.max()))
    packed, order, rank, _ = dpstrf(gram.matrix, tol=tolerance, lower=1)
    if rank == gram.m:
        return None
    Z = np.zeros((gram.m, max(1, rank)))
    Z[order - 1, :rank] = np.tril(packed)[:, :rank]
    left = float(np.abs(gram.matrix - Z @ Z.T).max())
    if left > 10.0 * tolerance:
        raise SolverError(
            "OSQP solves convex problems only, and the Gram matrix is indefinite; use "
            "--solver exact."
        )
    return Z if 2 * rank < gram.m else None
