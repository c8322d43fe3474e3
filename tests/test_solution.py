"""A Solution certifies itself: each number against its formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.records import Dual, Gram
from msvm_select.solution import Solution
from msvm_select.solvers.qp import Qp


@pytest.fixture
def trained(three) -> Solution:
    """A soft-margin machine with free and bounded variables."""
    return Qp().solve(three.dual(Rbf(0.3), 1.0))


def spoiled(solution: Solution, by: float) -> Solution:
    """The machine with the flow of one two-cycle lowered: feasible, not optimal."""
    y, alpha, tau = solution.dual.y, solution.alpha, solution.tau.copy()
    i = next(i for i in np.flatnonzero(y == 0) if alpha[i, 1] > by)
    j = next(j for j in np.flatnonzero(y == 1) if alpha[j, 0] > by)
    tau[i, 1] += by
    tau[i, 0] -= by
    tau[j, 0] += by
    tau[j, 1] -= by
    return replace(solution, tau=tau, F=solution.dual.gram.product(tau))


def test_alpha_and_tau_are_two_views(trained):
    """tau_ik = -alpha_ik for the other classes, their sum at the own class."""
    y, rows = trained.dual.y, np.arange(trained.dual.m)
    assert (trained.alpha[rows, y] == 0.0).all()
    assert trained.alpha.sum(axis=1) == pytest.approx(trained.tau[rows, y])
    assert trained.sum_alpha == pytest.approx(trained.alpha.sum())


def test_norm_is_that_of_explicit_weights(three):
    """sum_k ||w_k||^2 for the linear kernel, where w = tau'X can be written down."""
    s = Qp().solve(three.dual(Linear(), 0.5))
    w = s.tau.T @ three.X
    assert s.norm_w_squared == pytest.approx(float((w**2).sum()))
    h = three.X @ w.T + s.b
    assert s.outputs == pytest.approx(h, abs=1e-9)


def test_primal_objective_is_that_of_the_formula(trained):
    """1/2 sum ||w||^2 + C sum xi, sample by sample."""
    h, y = trained.outputs, trained.dual.y
    loss = sum(
        max(0.0, 1.0 - (h[i, y[i]] - h[i, k]))
        for i in range(trained.dual.m)
        for k in range(trained.dual.Q)
        if k != y[i]
    )
    expected = 0.5 * trained.norm_w_squared + trained.dual.C * loss
    assert trained.primal_objective == pytest.approx(expected, rel=1e-9)


def test_optimum_is_certified(trained):
    """At the optimum gap, violation and imbalance are rounding."""
    assert abs(trained.gap) < 1e-12
    assert trained.kkt_violation < 1e-10
    assert trained.flow_imbalance < 1e-14


@pytest.mark.parametrize("by", [1e-4, 1e-2])
def test_what_is_not_optimal_is_not_certified(trained, by):
    """Away from the optimum gap and violation show it; the dual is lower."""
    worse = spoiled(trained, by)
    assert worse.dual_objective < trained.dual_objective
    assert worse.primal_objective > trained.primal_objective
    assert worse.gap * abs(worse.dual_objective) >= (
        trained.dual_objective - worse.dual_objective
    )
    assert worse.kkt_violation > 1e-6
    assert worse.flow_imbalance < 1e-14


def test_unbalanced_flow_is_told(trained):
    """One alpha changed alone is no circulation."""
    tau = trained.tau.copy()
    i = int(np.flatnonzero(trained.dual.y == 0)[0])
    tau[i, 1] -= 0.1
    tau[i, 0] += 0.1
    assert replace(trained, tau=tau).flow_imbalance == pytest.approx(
        0.1 / max(1.0, trained.sum_alpha + 0.1), rel=1e-6
    )


def test_nothing_trained_yet(three):
    """tau = 0: the dual is 0, the primal is C times all m (Q - 1) hinges."""
    zero = np.zeros((three.y.size, 3))
    s = Solution(three.dual(Rbf(1.0), 2.0), zero, zero)
    assert s.dual_objective == 0.0
    assert s.primal_objective == pytest.approx(2.0 * 2 * three.y.size)
    assert s.n_sv == 0
    assert s.hard_margin


def test_support_vectors_are_counted_by_sample(trained):
    """A sample counts once, however many of its alpha are positive or at C."""
    rows = trained.alpha.max(axis=1)
    assert trained.n_sv == int((rows > 0.0).sum())
    assert trained.n_bounded == int((rows == trained.dual.C).sum())
    assert 0 < trained.n_bounded < trained.n_sv < trained.dual.m


def test_a_tie_is_an_error():
    """Two equal samples of two classes are both wrong, whatever b is."""
    y = np.array([0, 1])
    s = Solution(Dual(Gram(whole=np.eye(2)), y, 2, 1.0), np.zeros((2, 2)), np.eye(2))
    assert s.train_errors == 0
    assert replace(s, F=np.zeros((2, 2))).train_errors == 2


def test_absent_class_costs_nothing(three):
    """A class without samples adds no slack, no violation and is never predicted."""
    s = Qp().solve(three.dual(Rbf(0.3), 1.0))
    tau, F = (np.insert(a, 3, 0.0, axis=1) for a in (s.tau, s.F))
    wide = Solution(Dual(s.dual.gram, three.y, 4, 1.0), tau, F)
    assert wide.b[3] == -np.inf
    assert wide.gap == pytest.approx(s.gap, abs=1e-14)
    assert wide.kkt_violation == pytest.approx(s.kkt_violation, abs=1e-12)
    assert wide.train_errors == s.train_errors


def test_hard_margin_is_the_answer_at_every_larger_c(three):
    """Beyond hard margin the machine is passed on; before it, or downward, not."""
    gram = Rbf(8.0).gram(three.X)
    hard = Qp().solve(Dual(gram, three.y, 3, 100.0))
    soft = Qp().solve(Dual(gram, three.y, 3, 0.1))
    larger = Dual(gram, three.y, 3, 400.0)
    same = hard.at(larger, 1e-8)
    assert hard.hard_margin
    assert same is not None
    assert same.dual is larger
    assert same.gap <= 1e-8
    assert same.work.seconds == 0.0
    assert soft.at(larger, 1e-8) is None
    assert hard.at(Dual(gram, three.y, 3, 50.0), 1e-8) is None


def test_a_loose_certificate_is_not_passed_on(three):
    """sum xi weighs more at a larger C: the gap is looked at again."""
    gram = Rbf(8.0).gram(three.X)
    hard = Qp().solve(Dual(gram, three.y, 3, 100.0))
    loose = spoiled(hard, 1e-3)
    assert loose.at(Dual(gram, three.y, 3, 1e6), 1e-3) is None
