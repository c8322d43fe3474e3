"""The centre rule, against linear programs, brute force and cases worked by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from msvm_select.flow import arc_gains, centre, largest_mean_cycle, spanning, within
from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.solution import Solution
from msvm_select.solvers.qp import Qp
from tests.conftest import PROBLEMS, Problem

SETTINGS = [(Rbf(0.3), 0.001), (Rbf(0.3), 0.05), (Rbf(8.0), 4.0), (Linear(), 0.02)]


def constraints(s: Solution) -> tuple[np.ndarray, np.ndarray]:
    """Rows and limits of the conditions  A b <= limit  of optimal biases."""
    rows, limits = [], []
    for i, k in itertools.product(range(s.dual.m), range(s.dual.Q)):
        own = s.dual.y[i]
        if k == own:
            continue
        row = np.zeros(s.dual.Q)
        row[own], row[k] = 1.0, -1.0
        if s.alpha[i, k] > 0.0:
            rows.append(row)
            limits.append(s.gradient[i, k])
        if s.alpha[i, k] < s.dual.C:
            rows.append(-row)
            limits.append(-s.gradient[i, k])
    return np.array(rows), np.array(limits) + 1e-9


@pytest.mark.parametrize(("kernel", "C"), SETTINGS, ids=str)
def test_intervals_are_those_of_a_linear_program(kernel, C, problem):
    """span[k, l] is the largest b_k - b_l that the optimality conditions allow."""
    s = Qp().solve(problem.dual(kernel, C))
    A, limit = constraints(s)
    for k, l in itertools.permutations(range(problem.Q), 2):  # noqa: E741
        objective = np.zeros(problem.Q)
        objective[k], objective[l] = -1.0, 1.0
        best = linprog(objective, A, limit, bounds=(-1e3, 1e3))
        assert s.potentials.span[k, l] == pytest.approx(-best.fun, abs=1e-6)


@pytest.mark.parametrize(("kernel", "C"), SETTINGS, ids=str)
def test_centre_is_optimal_and_sums_to_zero(kernel, C, problem):
    """The biases keep every condition, and are the middle of the extreme points."""
    s = Qp().solve(problem.dual(kernel, C))
    A, limit = constraints(s)
    assert (A @ s.b <= limit + 1e-9).all()
    assert s.b.sum() == pytest.approx(0.0, abs=1e-12 * max(1.0, np.abs(s.b).max()))
    D = s.potentials.span
    assert s.b == pytest.approx((D - D.T).sum(axis=1) / (2 * problem.Q), abs=1e-12)


def test_midpoint_for_two_classes():
    """One sample a class, at bounds: the difference is the middle of its interval."""
    alpha, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])
    gradient = np.array([[0.0, 0.8], [0.4, 0.0]])
    found = centre(alpha, gradient, y, np.full(y.size, 1.0))
    assert found.b == pytest.approx([0.1, -0.1])  # b_1 - b_2 in [-0.4, 0.8]
    assert found.width == pytest.approx(1.2)
    assert not found.unique


def test_free_variables_pin_the_biases():
    """A free variable on a two-class problem leaves one answer."""
    alpha, y = np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([0, 1])
    gradient = np.array([[0.0, 0.3], [-0.3, 0.0]])
    found = centre(alpha, gradient, y, np.full(y.size, 1.0))
    assert found.b == pytest.approx([0.15, -0.15])
    assert found.unique


def test_absent_class_gets_minus_infinity(three):
    """A class without samples cannot be predicted, and the others do not see it."""
    alone = Qp().solve(three.dual(Rbf(0.3), 1.0))
    wide = np.insert(alone.alpha, 1, 0.0, axis=1)
    gradient = np.insert(alone.gradient, 1, 5.0, axis=1)
    y = np.where(three.y > 0, three.y + 1, 0)
    found = centre(wide, gradient, y, np.full(y.size, 1.0))
    assert found.b[1] == -np.inf
    assert found.b[[0, 2, 3]] == pytest.approx(alone.b, abs=1e-12)
    assert found.unique == alone.b_unique


def test_one_class_alone():
    """With a single class present there is nothing to decide."""
    zeros, y = np.zeros((3, 2)), np.ones(3, dtype=np.int64)
    found = centre(zeros, zeros, y, np.ones(3))
    assert found.b.tolist() == [-np.inf, 0.0]
    assert found.width == 0.0


def test_unbalanced_flow_still_gives_numbers():
    """All alpha of one class at C and none of the other: no path back, no NaN."""
    alpha, y = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0, 1])
    gradient = np.array([[0.0, 0.2], [0.1, 0.0]])
    found = centre(alpha, gradient, y, np.full(y.size, 1.0))
    assert np.isfinite(found.b).all()
    assert found.width == np.inf


def test_contradictory_gains_are_lowered_by_their_mean():
    """Away from the optimum the biases spread the contradiction evenly."""
    alpha, y = np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([0, 1])
    gradient = np.array([[0.0, 0.3], [0.1, 0.0]])
    found = centre(alpha, gradient, y, np.full(y.size, 1.0))
    assert found.cycle_gain == pytest.approx(0.2)
    assert found.b == pytest.approx([0.05, -0.05])


@pytest.mark.parametrize("Q", [2, 3, 4, 5])
def test_largest_mean_cycle_is_that_of_all_cycles(Q):
    """Karp's recurrence against every simple cycle, with some arcs missing."""
    draw = np.random.default_rng(Q)
    for _ in range(20):
        gains = draw.standard_normal((Q, Q))
        gains[draw.random((Q, Q)) < 0.3] = -np.inf
        best = max(
            sum(gains[c[t - 1], c[t]] for t in range(length)) / length
            for length in range(2, Q + 1)
            for c in itertools.permutations(range(Q), length)
        )
        assert largest_mean_cycle(gains) == pytest.approx(best)


def test_arc_gains_by_their_definition(three):
    """The largest gain of each arc, over the samples that can serve it."""
    s = Qp().solve(three.dual(Rbf(0.3), 0.3))
    alpha, g, y = s.alpha, s.gradient, three.y
    gains = arc_gains(alpha, g, y, np.full(y.size, 0.3))
    for a, b in itertools.permutations(range(3), 2):
        up = [g[i, b] for i in np.flatnonzero(y == a) if alpha[i, b] < 0.3]
        down = [-g[j, a] for j in np.flatnonzero(y == b) if alpha[j, a] > 0.0]
        assert gains[a, b] == max(up + down, default=-np.inf)


def test_many_classes_and_a_huge_box():
    """Q = 26 and C = 1e12: the biases are finite, renaming permutes them."""
    draw = np.random.default_rng(0)
    Q, m = 26, 300
    y = np.concatenate([np.arange(Q), draw.integers(0, Q, m - Q)])
    alpha, g = draw.choice([0.0, 0.5, 1e12], (m, Q)), draw.standard_normal((m, Q))
    own = np.arange(m), y
    alpha[own] = g[own] = 0.0
    new = draw.permutation(Q)
    found = centre(alpha, g, y, np.full(y.size, 1e12))
    old = np.argsort(new)
    renamed = centre(alpha[:, old], g[:, old], new[y], np.full(y.size, 1e12))
    assert np.isfinite(found.b).all()
    assert renamed.b[new] == pytest.approx(found.b, abs=1e-9)


def test_duplicates_do_not_move_the_biases():
    """Whichever of two equal samples carries the alpha, b is the same."""
    problem = PROBLEMS["duplicates"]
    s = Qp().solve(problem.dual(Rbf(0.3), 0.02))
    order = np.arange(problem.y.size)[::-1]
    turned = Problem(problem.X[order], problem.y[order], problem.Q)
    t = Qp().solve(turned.dual(Rbf(0.3), 0.02))
    assert t.b == pytest.approx(s.b, abs=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_spanning_arcs_tie_one_class_after_the_other(seed: int) -> None:
    """Each has one class that those before it tie; none are found where some lack."""
    rng = np.random.default_rng(seed)
    Q = int(rng.integers(2, 7))
    present = rng.random(Q) < 0.8
    present[:2] = True
    classes, count = np.flatnonzero(present), int(rng.integers(1, 9))
    tails, heads = rng.choice(classes, (2, count))
    group = np.arange(Q)
    for tail, head in zip(tails, heads, strict=True):
        group[group == group[tail]] = group[head]
    found, tied = spanning(tails, heads, present), {0}
    assert len(found) == (0 if np.ptp(group[present]) else classes.size - 1)
    for v, to_head in found:
        assert (int(tails[v]) in tied, int(heads[v]) in tied) == (to_head, not to_head)
        tied |= {int(tails[v]), int(heads[v])}


@pytest.mark.parametrize("seed", range(20))
def test_what_a_shut_sample_sent_is_sent_by_others(seed: int) -> None:
    """Balanced and in the box; who had room to spare is touched only by its class."""
    draw = np.random.default_rng(seed)
    Q, m = 4, 40
    y, box = np.sort(draw.integers(0, Q, m)), np.full(m, 1.0)
    alpha = np.where(draw.random((Q, m)) < 0.5, 0.0, draw.uniform(0.2, 0.8, (Q, m)))
    alpha[y, np.arange(m)] = 0.0
    sent = np.array([alpha[:, y == c].sum(axis=1) for c in range(Q)])
    for a, b in itertools.combinations(range(Q), 2):  # as much one way as back
        least = min(sent[a, b], sent[b, a])
        alpha[b, y == a] *= least / max(sent[a, b], 1e-300)
        alpha[a, y == b] *= least / max(sent[b, a], 1e-300)
    p = int(draw.integers(m))
    box[p] = 0.0
    found = within(alpha, y, box)
    assert found[:, p].max() == 0.0
    assert (found >= 0.0).all()
    assert (found <= box).all()
    out = np.array([found[:, y == c].sum() for c in range(Q)])
    assert out == pytest.approx(found.sum(axis=1), abs=1e-12)
    assert found.any()
    idle = (y != y[p]) & (np.arange(Q)[:, None] != y[p])  # of no arc from or to there
    np.testing.assert_array_equal(found[idle], alpha[idle])
