"""Contracts of every solver in SOLVERS: one optimum, certified, by whatever road."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.svm import SVC

from msvm_select.errors import SettingsError, SolverError
from msvm_select.kernels.inner_products import Linear, Polynomial
from msvm_select.kernels.rbf import Rbf
from msvm_select.names import SOLVERS
from msvm_select.records import Dual, Gram
from msvm_select.solution import Solution
from msvm_select.solvers import polish
from msvm_select.solvers.base import scaled_start
from msvm_select.solvers.osqp import Osqp
from msvm_select.solvers.qp import Qp, chosen_backend
from tests.conftest import PROBLEMS, Problem, blobs, crossed, table

GAP = 1e-8
FIRST_ORDER_GAP = 3e-7
KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(gamma=0.5, degree=2.0),
    "rbf": Rbf(0.3),
    "rbf-rough": Rbf(8.0),
}
NAMED = {name: name for name in SOLVERS}
every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
reference = Qp(GAP)


def trained(solver: str, dual: Dual, start=None, gap: float = GAP) -> Solution:
    """The machine at this gap, whatever the solver's own default."""
    solution = SOLVERS[solver](gap=gap).solve(dual, start)
    assert solution.converged, solution.reason
    return solution


def roughly(solver: str, dual: Dual, start=None) -> Solution:
    """At gap 1e-8, but for first-order solvers, which crawl on the last digits."""
    first_order = SOLVERS[solver].default_gap > GAP
    return trained(solver, dual, start, FIRST_ORDER_GAP if first_order else GAP)


@cache
def cold(solver: str, problem: Problem, kernel, C: float) -> Solution:
    """The machine trained from nothing: several tests look at it."""
    return roughly(solver, problem.dual(kernel, C))


def assert_same_machine(one: Solution, other: Solution) -> None:
    """The same dual value, and outputs and biases as near as the gaps prove.

    A dual value d short of the optimum is a machine with ||W - W*||^2 <= 2 d.
    """
    assert one.dual_objective == pytest.approx(other.dual_objective, rel=1e-6)
    scale = max(1.0, abs(other.dual_objective))
    short = scale * (abs(one.gap) + abs(other.gap) + 1e-13)
    reach = float(np.sqrt(other.dual.gram.diagonal.max()))
    tolerance = 2.0 * np.sqrt(2.0 * short) * reach
    assert np.allclose(one.F, other.F, rtol=1e-9, atol=tolerance)
    if one.b_unique and other.b_unique:
        assert one.b == pytest.approx(other.b, abs=10.0 * tolerance)


@pytest.mark.parametrize(
    ("solver", "kernel", "problem", "C"),
    crossed(NAMED, KERNELS, PROBLEMS, [0.05, 4.0], one_in=2),
)
def test_certificate(solver, kernel, problem, C):
    """Every answer is feasible, balanced and optimal to its own duality gap."""
    s = cold(solver, problem, kernel, C)
    assert -1e-12 <= s.gap <= FIRST_ORDER_GAP
    assert s.flow_imbalance <= 1e-9
    assert (s.alpha >= 0.0).all()
    assert (s.alpha <= C).all()
    assert s.tau.sum(axis=1) == pytest.approx(0.0, abs=1e-12 * max(1.0, s.sum_alpha))
    assert np.allclose(s.F, s.dual.gram.product(s.tau), atol=1e-9 * s.sum_alpha)
    own = np.arange(problem.y.size), problem.y
    assert s.tau[own] == pytest.approx(s.alpha.sum(axis=1), abs=1e-12)
    assert s.work.seconds > 0.0


@every_solver
@every_kernel
@pytest.mark.parametrize("C", [0.05, 4.0])
def test_all_solvers_agree(solver, kernel, problem, C):
    """Whatever the road, the machine is that of an interior-point method."""
    expected = cold("qp", problem, kernel, C)
    assert_same_machine(cold(solver, problem, kernel, C), expected)


@every_solver
def test_default_gap_is_reached(solver, problem):
    """Without --gap, a solver reaches the gap that it promises."""
    s = SOLVERS[solver]().solve(problem.dual(Rbf(0.3), 1.0))
    assert s.converged
    assert s.gap <= SOLVERS[solver].default_gap


@pytest.mark.parametrize(
    ("solver", "kernel", "problem"), crossed(NAMED, KERNELS, PROBLEMS, one_in=2)
)
def test_warm_equals_cold(solver, kernel, problem):
    """Started at a smaller C, or at a larger one, the optimum is the same."""
    gram = kernel.gram(problem.X)
    warm = None
    for C in (0.05, 4.0, 1.0):
        warm = roughly(solver, Dual(gram, problem.y, problem.Q, C), warm)
        assert_same_machine(warm, cold(solver, problem, kernel, C))


@every_solver
def test_start_without_carry(solver, three):
    """A start by another solver, on an equal Gram matrix, serves as well."""
    start = reference.solve(three.dual(Rbf(0.5), 1.0))
    dual = three.dual(Rbf(0.5), 2.0)
    assert_same_machine(trained(solver, dual, start), reference.solve(dual))


@every_solver
@pytest.mark.parametrize(
    ("kernel", "C"),
    [(Linear(), 0.05), (Linear(), 2.0), (Rbf(0.2), 0.5), (Rbf(2.0), 8.0)],
    ids=str,
)
def test_two_classes_are_the_ordinary_machine(solver, kernel, C, two):
    """h_1 - h_2 is the decision function of scikit-learn's SVC at 2C."""
    s = trained(solver, two.dual(kernel, C))
    K = s.dual.gram.matrix
    svc = SVC(C=2.0 * C, kernel="precomputed", tol=1e-9).fit(K, two.y)
    h = s.outputs
    assert h[:, 1] - h[:, 0] == pytest.approx(svc.decision_function(K), abs=1e-5)


@every_solver
@every_kernel
def test_permuted_rows_permute_the_answer(solver, kernel, three):
    """The order of the samples does not count."""
    order = np.random.default_rng(1).permutation(three.y.size)
    s = trained(solver, three.dual(kernel, 1.0))
    p = trained(solver, Problem(three.X[order], three.y[order], 3).dual(kernel, 1.0))
    assert p.outputs == pytest.approx(s.outputs[order], abs=1e-5)


@every_solver
@every_kernel
@pytest.mark.parametrize("name", ["three", "six", "tiny"])
def test_renamed_classes_permute_the_answer(solver, kernel, name):
    """The numbers of the classes do not count."""
    problem = PROBLEMS[name]
    new = np.random.default_rng(2).permutation(problem.Q)
    s = trained(solver, problem.dual(kernel, 1.0))
    r = trained(solver, Problem(problem.X, new[problem.y], problem.Q).dual(kernel, 1.0))
    assert r.outputs[:, new] == pytest.approx(s.outputs, abs=1e-5)


@every_solver
def test_constant_columns_do_not_count(solver, three):
    """The linear machine ignores a column that does not vary: b takes it up."""
    wider = np.hstack([three.X, np.full((three.y.size, 1), 2.0)])
    s = trained(solver, three.dual(Linear(), 0.5))
    w = trained(solver, Problem(wider, three.y, 3).dual(Linear(), 0.5))
    assert w.outputs == pytest.approx(s.outputs, abs=1e-5)


@every_solver
def test_a_factor_and_its_matrix_are_one_problem(solver, three):
    """K = Z Z' and K itself have one optimum."""
    thin = Linear().gram(three.X)
    assert thin.factor is not None
    s = trained(solver, Dual(thin, three.y, 3, 0.7))
    w = trained(solver, Dual(Gram(whole=thin.matrix), three.y, 3, 0.7))
    assert_same_machine(s, w)


@every_solver
def test_no_separation_at_all(solver):
    """Equal samples of two classes: the outputs are 0 and every alpha is at C."""
    dual = Dual(Gram(whole=np.ones((4, 4))), np.array([0, 0, 1, 1]), 2, 1.0)
    s = trained(solver, dual)
    assert np.allclose(s.F, 0.0, atol=1e-9)
    assert s.alpha[[0, 1], 1] == pytest.approx(1.0)
    assert s.n_bounded == 4


@every_solver
def test_hard_margin_by_hand(solver):
    """(2, 0) and (3, 0), turned by thirds: w_k = u_k / 3 and sum alpha = 1/3."""
    angle = 2.0 * np.pi * np.arange(3) / 3.0
    u = np.column_stack([np.cos(angle), np.sin(angle)])
    X, y = np.vstack([2.0 * u, 3.0 * u]), np.tile(np.arange(3), 2)
    s = trained(solver, Dual(Linear().gram(X), y, 3, 10.0))
    w = s.tau.T @ X
    assert w == pytest.approx(u / 3.0, abs=1e-7)
    assert s.sum_alpha == pytest.approx(1.0 / 3.0, rel=1e-6)
    assert s.b == pytest.approx(0.0, abs=1e-7)
    assert s.hard_margin
    assert list(s.is_support_vector) == [True] * 3 + [False] * 3


@every_solver
def test_biases_that_are_not_unique_by_hand(solver):
    """Four classes in the plane: w_4 = 0 and b_4 - b_1 fills the interval [2, 2.5]."""
    X = np.array([[-7.0, 0], [-6, 1], [6, 1], [7, 0], [0, -2]])
    s = trained(solver, Dual(Linear().gram(X), np.array([0, 1, 1, 2, 3]), 4, 100.0))
    w = s.tau.T @ X
    assert w[3] == pytest.approx(0.0, abs=1e-6)
    span = s.potentials.span
    assert span[3, 0] == pytest.approx(2.5, abs=1e-5)
    assert -span[0, 3] == pytest.approx(2.0, abs=1e-5)
    assert s.b[3] - s.b[0] == pytest.approx(2.25, abs=1e-5)
    assert not s.b_unique
    assert s.potentials.width == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize(
    ("gap", "C", "problem"), crossed([1e-3, 1e-5, 1e-8], [0.5, 8.0, 512.0], PROBLEMS)
)
def test_a_loose_gap_tells_unique_biases_as_well(gap, C, problem):
    """The interval of b is then wide, though the optimum has one b."""
    dual = problem.dual(Rbf(0.3), C)
    assert trained("smo", dual, gap=gap).b_unique == reference.solve(dual).b_unique


@pytest.mark.parametrize("gap", [1e-3, 1e-5])
def test_a_loose_gap_tells_biases_that_are_not_unique(gap):
    """The four classes by hand, of which the free variables tie three only."""
    X = np.array([[-7.0, 0], [-6, 1], [6, 1], [7, 0], [0, -2]])
    dual = Dual(Linear().gram(X), np.array([0, 1, 1, 2, 3]), 4, 100.0)
    assert not trained("smo", dual, gap=gap).b_unique


@pytest.fixture
def triangle() -> Solution:
    """A point that no two-cycle improves, though a three-cycle does.

    Three orthonormal samples, a class each: g_ab = 1 - sum_l alpha_al - alpha_ab.
    With alpha = 1/3 +- c/2, + along 0 -> 1 -> 2 -> 0, g = -+ c/2: so g_ab + g_ba = 0,
    while against the triangle's sense the gains add up to 3 c/2.
    """
    c = 0.4
    around = np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    alpha = (1.0 - np.eye(3)) / 3.0 + around * c / 2.0
    tau = np.diag(alpha.sum(axis=1)) - alpha
    return Solution(Dual(Gram(whole=np.eye(3)), np.arange(3), 3, 1.0), tau, tau)


def test_the_triangle_is_optimal_for_pairs_only(triangle):
    """Each two-cycle's gain is 0, the three-cycle's 0.6."""
    g = triangle.gradient
    assert g + g.T == pytest.approx(0.0, abs=1e-15)
    assert g[0, 2] + g[2, 1] + g[1, 0] == pytest.approx(0.6)
    assert triangle.flow_imbalance == pytest.approx(0.0, abs=1e-15)


@every_solver
def test_three_cycles_count(solver, triangle):
    """A solver of pairs alone would stay there; the optimum has alpha = 1/3."""
    assert triangle.gap > 0.1
    s = trained(solver, triangle.dual, triangle)
    assert s.alpha == pytest.approx((1.0 - np.eye(3)) / 3.0, abs=1e-6)
    assert s.dual_objective == pytest.approx(triangle.dual_objective + 0.12, rel=1e-7)


@every_solver
@pytest.mark.parametrize("C", [1e-6, 100.0])
def test_extreme_values_of_c(solver, C, three):
    """Far below the first breakpoint, and far beyond hard margin."""
    s = roughly(solver, three.dual(Rbf(8.0), C))
    if C < 1.0:
        assert s.alpha.max() == pytest.approx(C)
    else:
        assert s.hard_margin
        assert s.train_errors == 0


@pytest.mark.parametrize("kernel", [Linear(), Rbf(0.3)], ids=repr)
def test_below_the_first_breakpoint_the_machine_scales_with_c(kernel):
    """F / C is one matrix, however small C and with it all that decides."""
    six = PROBLEMS["six"]
    gram = kernel.gram(six.X[1:])
    one, other = (
        trained("exact", Dual(gram, six.y[1:], six.Q, C)).F / C for C in (1e-5, 1e-9)
    )
    assert other == pytest.approx(one, abs=1e-5)


@pytest.mark.parametrize("solver", ["qp", "osqp"])
def test_a_small_c_is_certified_by_the_size_of_its_alpha(solver):
    """A gap of 3e-9 is no optimum where the whole dual is 1e-7."""
    six = PROBLEMS["six"]
    dual = Dual(Linear().gram(six.X[1:]), six.y[1:], six.Q, 1e-9)
    s = SOLVERS[solver](GAP).solve(dual)
    best = pytest.approx(trained("exact", dual).dual_objective, rel=1e-7)
    assert s.dual_objective == best or not s.converged
    assert s.converged or solver == "osqp"


@pytest.mark.parametrize("seed", [3, 5])
def test_a_huge_c_does_not_weigh_rounding(seed):
    """Margins of 1 - 1e-16 are no slacks, whatever C they would be multiplied by."""
    X = np.random.default_rng(seed).integers(-2, 3, (20, 3)).astype(float)
    y = (X[:, 0] > X[:, 1]).astype(np.int64)
    s = trained("exact", Dual(Linear().gram(X), y, 2, 1e12))
    assert abs(s.gap) < 1e-12


def test_a_huge_c_begun_at_a_smaller_one():
    """Samples at the same few places: cycle steps stall at 1e6, not from 1e3 on."""
    x = [-2, 0, 0, 0, 0, 0, 1, 1, 2, 0, -1, 1, 1, 1, 0, 0, 1, 0]
    y = np.array([0, 1, 2, 1, 2, 2, 0, 0, 0, 2, 2, 2, 0, 0, 2, 2, 0, 1])
    gram = Linear().gram(np.array(x, float)[:, None])
    found = trained("exact", Dual(gram, y, 3, 1e6))
    assert found.dual_objective == pytest.approx(21 * 1e6 + 1, rel=1e-9)


@pytest.mark.parametrize("seed", [5, 9, 25])
def test_no_residue_is_left_beside_a_bound(seed):
    """An alpha of C - 1e-16 would count as free, and pin biases that are not unique."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (int(rng.integers(8, 20)), 1)) / 2.0
    C, y = 0.1, np.arange(X.shape[0]) % 3
    s = trained("qp", Dual(Linear().gram(X), y, 3, C))
    beside = np.minimum(s.alpha, C - s.alpha)
    assert not ((beside > 0.0) & (beside < 1e-12)).any()


@cache
def many_classes():
    """A problem with Q = 20, and its optimal value."""
    dual = blobs(40, 20, seed=9).dual(Rbf(0.3), 1.0)
    return dual, reference.solve(dual).dual_objective


@every_solver
def test_many_classes(solver):
    """Q = 20 is no different."""
    dual, best = many_classes()
    assert trained(solver, dual).dual_objective == pytest.approx(best, rel=1e-6)


def test_solvers_are_named_by_their_key():
    """SOLVERS maps a class's own name to it, and it has a line to show."""
    assert all(kind.name == name for name, kind in SOLVERS.items())
    assert all(SOLVERS.summary(name) for name in SOLVERS)


def test_scaled_start(three):
    """What is at a bound stays there, and the flow stays balanced."""
    start = reference.solve(three.dual(Rbf(0.3), 0.5))
    tau = scaled_start(three.dual(Rbf(0.3), 2.0), start)
    assert tau == pytest.approx(4.0 * start.tau)
    assert scaled_start(three.dual(Rbf(0.3), 2.0), None).shape == start.tau.shape


def test_osqp_object_lives_on(three):
    """The same Gram matrix keeps the OSQP object; another one gets its own."""
    gram = Rbf(0.3).gram(three.X)
    first = Osqp().solve(Dual(gram, three.y, 3, 0.5))
    second = Osqp().solve(Dual(gram, three.y, 3, 1.0), first)
    other = Osqp().solve(three.dual(Rbf(0.3), 2.0), second)
    assert second.carry.model is first.carry.model
    assert other.carry.model is not first.carry.model


def test_osqp_with_a_singular_linear_problem():
    """C large and few dimensions: OSQP stalls far off, the proximal polish does not."""
    X, y = table("iris")
    gram = Linear().gram(X)
    s = Osqp().solve(Dual(gram, y, 3, 512.0))
    assert s.converged, s.reason
    assert_same_machine(s, reference.solve(Dual(gram, y, 3, 512.0)))


def test_osqp_is_deterministic(three):
    """Two runs take the same steps to the same digits."""
    one, two = (Osqp().solve(three.dual(Rbf(0.3), 5.0)) for _ in range(2))
    assert one.work.iterations == two.work.iterations
    assert np.array_equal(one.tau, two.tau)


@pytest.mark.parametrize("solver", ["osqp", "qp"])
def test_short_of_the_gap_is_told(solver, three, monkeypatch):
    """What the backend alone cannot reach is a machine with a reason, not an error."""
    monkeypatch.setattr(polish, "SOLVES", 0)
    s = SOLVERS[solver](gap=1e-15).solve(three.dual(Polynomial(degree=3.0), 1.0))
    assert not s.converged
    assert "where 1e-15 was asked" in s.reason


def test_qp_backends():
    """The default is an exact one; a slip gets a hint; a stranger the list."""
    assert chosen_backend(None) == "clarabel"
    assert Qp(backend="osqp").backend == "osqp"
    with pytest.raises(SettingsError, match="Did you mean clarabel"):
        Qp(backend="clarabell")
    with pytest.raises(SettingsError, match="Installed: .*osqp"):
        Qp(backend="abacus")


def test_qp_with_another_backend(three):
    """OSQP through qpsolvers leads to the same optimum."""
    dual = three.dual(Rbf(0.3), 1.0)
    s = Qp(GAP, backend="osqp").solve(dual)
    assert s.converged
    assert_same_machine(s, reference.solve(dual))


def test_qp_refuses_what_is_too_large():
    """The dense problem is guarded, with the way out."""
    gram = Gram(factor=np.ones((3000, 1)))
    with pytest.raises(SolverError, match="--solver exact"):
        Qp().solve(Dual(gram, np.arange(3000) % 3, 3, 1.0))


@pytest.mark.parametrize("low_rank", [False, True])
def test_osqp_refuses_an_indefinite_matrix(low_rank, capfd):
    """No convex problem, no answer; and OSQP itself does not get to print about it."""
    K = -np.eye(8)
    if low_rank:
        K = np.zeros((8, 8))
        K[0, 0], K[1, 2], K[2, 1] = 1.0, 0.5, 0.5
    with pytest.raises(SolverError, match="indefinite"):
        Osqp().solve(Dual(Gram(whole=K), np.arange(8) % 2, 2, 1.0))
    assert capfd.readouterr() == ("", "")


def test_osqp_with_a_kernel_that_is_zero():
    """K = 0 leaves a linear problem: every alpha that the flow allows is at C."""
    gram = Gram(whole=np.zeros((6, 6)))
    s = Osqp().solve(Dual(gram, np.arange(6) % 3, 3, 0.5))
    assert s.converged
    assert s.dual_objective == pytest.approx(12 * 0.5)


def test_a_loose_gap_is_met_and_no_more():
    """Cycle steps meet 1e-3; nothing is factored for digits that nobody asked for."""
    X, y = table("glass")
    dual = Dual(Rbf(0.5).gram(X), y, 6, 8.0)
    rough = trained("exact", dual, gap=1e-3)
    assert 1e-8 < rough.gap <= 1e-3
    assert rough.work.newton == 0


def test_leave_one_out_of_a_loose_machine_is_that_of_its_optimum():
    """What is called exact does not depend on --gap."""
    X, y = table("wine")
    dual = Dual(Rbf(0.1).gram(X), y, 3, 1.0)
    loose, exact = (SOLVERS["exact"](gap) for gap in (1e-3, GAP))
    one, other = (solver.leave_out(solver.solve(dual)) for solver in (loose, exact))
    assert np.array_equal(one.wrong, other.wrong)
    known = np.isfinite(other.margins)
    assert one.margins[known] == pytest.approx(other.margins[known], abs=1e-7)
