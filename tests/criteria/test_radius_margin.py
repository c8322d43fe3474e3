"""The radius-margin bound and its sharper forms, against the truth and the paper."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import qpsolvers
import scipy.sparse as sp

from msvm_select import load_csv, run_sweep
from msvm_select.criteria.box_qp import minimise
from msvm_select.criteria.flow_constant import (
    FlowConstant,
    by_water_level,
    least_flow,
)
from msvm_select.criteria.radius_margin import (
    RadiusMargin,
    RadiusMarginBound,
    radius_margin_terms,
)
from msvm_select.criteria.radius_margin_count import (
    Arcs,
    RadiusMarginCount,
    count_removable,
    nearest_flow,
)
from msvm_select.geometry.ball import smallest_ball
from msvm_select.geometry.margins import proposition_2
from msvm_select.kernels.inner_products import Linear, Polynomial
from msvm_select.kernels.rbf import Rbf
from msvm_select.names import SOLVERS
from msvm_select.records import Dual
from msvm_select.solution import Solution
from msvm_select.sweep.plan import part_of
from tests.conftest import DATA, slowly, table
from tests.solvers.degenerate import degenerate

SOLVER = SOLVERS["exact"]()
HARD = 1e6


def cell_of(solution):
    """As much of a cell as the bounds read."""
    return SimpleNamespace(solution=solution, mercer=True)


def trained(X, y, kernel, C=HARD):
    """The machine of these samples."""
    y = np.asarray(y, dtype=np.int64)
    return SOLVER.solve(Dual(kernel.gram(np.asarray(X)), y, int(y.max()) + 1, C))


def judged(X, y, kernel, C=HARD):
    """The terms, and leave-one-out."""
    s = trained(X, y, kernel, C)
    left = SOLVER.leave_out(s)
    return radius_margin_terms(cell_of(s), left_out=left), left


def machine_of(X, y, alpha, C):
    """The Solution that has this alpha."""
    dual = Dual(Linear().gram(X), y, alpha.shape[1], C)
    tau = -alpha.copy()
    tau[np.arange(y.size), y] = alpha.sum(axis=1)
    return Solution(dual, tau, dual.gram.product(tau))


# Worked sets


def test_the_bound_depends_on_which_alpha():
    """Six points of a lattice: the interior alpha has D^2 = 8, the vertex D^2 = 4."""
    X = np.array([[s, t] for s in (-1.0, 1.0) for t in (-1.0, 0.0, 1.0)])
    y = (X[:, 0] > 0).astype(np.int64)
    for weights, squared in (([1, 1, 1], 8.0), ([0, 3, 0], 4.0)):
        alpha = np.zeros((6, 2))
        alpha[np.arange(6), 1 - y] = np.tile(weights, 2) / 12.0
        s = machine_of(X, y, alpha, 100.0)
        assert s.gap <= 1e-12
        terms = radius_margin_terms(cell_of(s))
        assert terms.applicable
        assert terms.K == pytest.approx(2.0)
        assert terms.diameter**2 == pytest.approx(squared, rel=1e-8)
        assert terms.bound == pytest.approx(squared, rel=1e-8)
        assert terms.two_classes.bound == pytest.approx(squared, rel=1e-8)
        assert terms.two_classes.gamma == pytest.approx(1.0)
        assert terms.diameter_all**2 == pytest.approx(8.0, rel=1e-8)


def test_three_rays():
    """(2,0), (3,0) turned by 0, 120 and 240 degrees: all of it by hand."""
    turns = np.arange(3) * 2.0 * np.pi / 3.0
    u = np.column_stack([np.cos(turns), np.sin(turns)])
    X = np.vstack([2.0 * u, 3.0 * u])
    terms, left = judged(X, [0, 1, 2, 0, 1, 2], Linear())
    assert terms.solution.tau.T @ X == pytest.approx(u / 3.0, abs=1e-8)
    assert terms.solution.sum_alpha == pytest.approx(1.0 / 3.0)
    assert terms.diameter == pytest.approx(4.0)
    assert terms.diameter_all == pytest.approx(6.0)
    assert terms.K == pytest.approx(12.0**0.5)
    assert terms.bound == pytest.approx(18.475, abs=5e-4)
    assert left.errors == 0


def test_biases_that_are_not_unique():
    """Four classes, one without a support vector: b_4 - b_1 may be all of [2, 2.5]."""
    X = np.array([[-7.0, 0], [-6, 1], [6, 1], [7, 0], [0, -2]])
    terms, left = judged(X, [0, 1, 1, 2, 3], Linear())
    s = terms.solution
    assert not s.b_unique
    assert s.potentials.span[3, 0] == pytest.approx(2.5, abs=1e-7)
    assert -s.potentials.span[0, 3] == pytest.approx(2.0, abs=1e-7)
    assert np.linalg.norm(s.tau.T @ X, axis=1)[3] == pytest.approx(0.0, abs=1e-8)
    assert count_removable(terms).count >= left.errors


def test_where_lemma_2_fails():
    """b without p is not unique: A falls below L; S2 and B* do not."""
    e = 1e-3
    X = [[-16, 0], [-15, 1], [15, 1], [0, 0.5], [16, 0], [0, e - 1.5], [0, -14 / 3]]
    terms, left = judged(np.array(X, dtype=float), [0, 1, 1, 1, 2, 3, 3], Linear())
    p = 5
    assert terms.K == pytest.approx(2.0, rel=1e-6)
    assert terms.diameter == pytest.approx(32.0)
    assert terms.solution.alpha[p].max() == pytest.approx(e / 6.0, rel=1e-2)
    assert 1.0 / (terms.K * terms.diameter**2) == pytest.approx(4.88e-4, rel=1e-3)
    assert left.wrong[p]
    assert left.errors == 5
    assert terms.A == 4
    counted = count_removable(terms)
    assert p in counted.samples
    assert terms.S2 >= left.errors
    assert counted.count >= left.errors


# name, kernel, m SVs, K, D, D_all, sum alpha, bound, S2, A, B*, L
TABLE = [
    ("wine", Linear(), 17, 53.38, 8.87, 11.45, 5.09, 2.137e4, 784.6, 16, 13, 7),
    (
        *("wine", Polynomial(1.0, 2, 1.0), 44, 202.9, 55.3, 57.64, 0.296),
        *(1.837e5, 1772, 43, 20, 5),
    ),
    ("wine", Rbf(0.1), 65, 129.2, 1.93, 1.931, 26.7, 1.284e4, 191.9, 50, 12, 3),
    (
        *("iris", Polynomial(1.0, 3, 1.0), 21, 682.2, 77.35, 78.67, 49.43),
        *(2.017e8, 5.914e5, 21, 18, 12),
    ),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} {row[1].name}")
def test_reference_figures(row):
    """Figures of an interior point to 1e-11, to their printed digits."""
    name, kernel, n_sv, *figures, A, count, errors = row
    terms, left = judged(*table(name), kernel)
    t = terms
    found = (t.K, t.diameter, t.diameter_all, t.solution.sum_alpha, t.bound, t.S2)
    assert [f"{value:.4g}" for value in found] == [f"{value:.4g}" for value in figures]
    assert (t.solution.n_sv, t.A) == (n_sv, A)
    assert count_removable(t).count == count
    assert left.errors == errors
    assert t.applicable
    assert proposition_2(t.solution).disagreement <= 1e-8


def test_reference_figures_where_alpha_is_not_unique():
    """iris has two equal rows: what does not depend on their shares is the same."""
    terms, left = judged(*table("iris"), Rbf(1.0))
    assert f"{terms.diameter:.4g}" == "1.922"
    assert f"{terms.diameter_all:.4g}" == "1.93"
    assert f"{terms.solution.sum_alpha:.4g}" == "95.82"
    assert f"{terms.S2:.4g}" == "700.5"
    assert left.errors == 10
    assert 10 <= count_removable(terms).count <= 15


# The programs of B*


def whole_program(arcs, p, t, cap):
    """min || Phi(x_p) t - sum_a u_a Phi(x_a) d_a ||^2 over all arcs, by clarabel."""
    d, k = arcs.directions, arcs.K[arcs.place[p]]
    H = arcs.K[np.ix_(arcs.at, arcs.at)] * (d @ d.T)
    cross = k[arcs.at] * (d @ t)
    u = qpsolvers.solve_qp(
        sp.csc_matrix(2.0 * H), -2.0 * cross, A=sp.csc_matrix(d.T[1:]), b=t[1:],
        lb=np.zeros(cap.size), ub=np.minimum(cap, 1e3), solver="clarabel",
        tol_gap_rel=1e-12, tol_gap_abs=1e-14,
    )  # fmt: skip
    return float(u @ H @ u - 2.0 * cross @ u + k[arcs.place[p]] * (t @ t))


@pytest.mark.parametrize("name", ["iris", "wine", "glass"])
def test_a_program_over_a_few_arcs_is_the_whole_one(name):
    """N_p and V_pn, begun anywhere, are the optima over all arcs."""
    s = trained(*table(name), Rbf(1.0 if name == "iris" else 0.5), 1e3)
    arcs, Q, used = Arcs(s), s.dual.Q, None
    for p in np.unique(arcs.rows)[:: 15 if name == "iris" else 150]:
        own, y = arcs.rows == p, s.dual.y[p]
        size = arcs.alpha[own].sum()
        back = -arcs.alpha[own] @ arcs.directions[own] / size
        caps = np.where(own, 0.0, np.minimum(arcs.alpha / size, Q**0.5))
        on = np.eye(Q)[y] - np.eye(Q)[(y + 1) % Q]
        for t, cap in ((back, caps), (on, np.where(own, 0.0, np.inf))):
            flow = nearest_flow(arcs, p, t, cap, 0.0, used)
            assert flow.square == pytest.approx(whole_program(arcs, p, t, cap), 1e-7)
            early = nearest_flow(arcs, p, t, cap, 1.01 * flow.square)
            assert flow.square * (1.0 - 1e-8) <= early.square <= 1.01 * flow.square
            used = flow.used


# K against the programs as the paper has them


def paper_program(s, i, k, full):
    """Problem 5 (``full``: its upper bounds) or 6 for one (i, k), in m Q variables.

    Scaled by alpha_ik / s_i, with capacities cut at sqrt(Q), which no arc reaches: the
    interior point would lose its digits.
    """
    alpha, y = s.alpha, s.dual.y
    m, Q = alpha.shape
    total = alpha[i].sum()
    rows, heads = np.divmod(np.arange(m * Q), Q)
    hi = np.minimum(alpha / total, Q**0.5) if full else np.full((m, Q), float(Q))
    lo = np.zeros((m, Q))
    hi[np.arange(m), y] = 0.0
    lo[i] = hi[i] = alpha[i] / total if full else np.eye(Q)[k]
    inflow = sp.csc_matrix((np.ones(m * Q), (heads, np.arange(m * Q))))
    outflow = sp.csc_matrix((np.ones(m * Q), (y[rows], np.arange(m * Q))), (Q, m * Q))
    keep = hi.ravel() > 0.0
    inflow, balance = inflow[:, keep], (outflow - inflow)[:-1, keep]
    x = qpsolvers.solve_qp(
        sp.csc_matrix(2.0 * inflow.T @ inflow), np.zeros(keep.sum()),
        A=sp.csc_matrix(balance), b=np.zeros(Q - 1),
        lb=lo.ravel()[keep], ub=hi.ravel()[keep], solver="clarabel",
        tol_gap_abs=1e-13, tol_gap_rel=1e-12, tol_feas=1e-12,
    )  # fmt: skip
    value = float(((inflow @ x) ** 2).sum())
    return value * (total / alpha[i, k]) ** 2 if full else value


@pytest.mark.parametrize("name", ["iris", "wine", "glass"])
@pytest.mark.parametrize("kernel", [Rbf(0.125), Linear()], ids=str)
def test_flow_form_is_the_papers_program(name, kernel):
    """K_lambda of Problem 5 to 1e-8; Problem 6 has the optimum 2."""
    X, y = table(name)
    s = trained(X, y, kernel, 32.0)
    flow = FlowConstant(s)
    largest = s.alpha.max()
    harder = np.flatnonzero(flow._open)[:2]
    draw = np.random.default_rng(5)
    others = draw.choice(flow.rows.size, 2, replace=False)
    for at in (*harder, *others):
        i = int(flow.rows[at])
        k = int(s.alpha[i].argmax())
        if s.alpha[i, k] < 1e-4 * largest:
            continue
        expected = paper_program(s, i, k, full=True)
        assert flow.M[at] / s.alpha[i, k] ** 2 == pytest.approx(expected, rel=1e-8)
        if at == others[0]:
            assert paper_program(s, i, k, full=False) == pytest.approx(2.0, rel=1e-8)
    constant = flow.constant
    i, k = constant.sample, constant.against
    M = float(flow.M[np.searchsorted(flow.rows, i)])
    assert constant.K == pytest.approx((2.0 * M) ** 0.5 / s.alpha[i, k])


def test_programs_that_cannot_raise_K_are_not_solved():
    """K asks for few M_i, and is that of all of them."""
    lazy, eager = (
        FlowConstant(trained(*table("glass"), Rbf(0.125), 2.0)) for _ in "ab"
    )
    unknown = lazy.open
    assert unknown > 0
    assert lazy.constant.K > 0.0
    eager.M  # noqa: B018 - solves them all
    assert eager.open == 0
    assert lazy.constant == eager.constant
    assert (lazy.M == eager.M).all()
    s, alpha = eager.s, eager.alpha
    assert (eager.M >= (s**2 + (alpha**2).sum(axis=1)) * (1.0 - 1e-9)).all()
    assert (eager.M <= 6.0 * s**2 * (1.0 + 1e-9)).all()


def test_water_level_is_the_program():
    """On random circulations: the level gives the program's optimum, or nothing."""
    draw = np.random.default_rng(0)
    sure = 0
    for _ in range(150):
        Q = int(draw.integers(3, 7))
        F = np.zeros((Q, Q))
        for _ in range(draw.integers(1, 3 * Q)):
            cycle = draw.permutation(Q)[: draw.integers(2, Q + 1)]
            F[cycle, np.roll(cycle, -1)] += 10.0 ** draw.uniform(-1.5, 1.5)
        own = int(draw.integers(Q))
        alpha = F[own] * draw.random(Q)
        if not (alpha > F[:, own]).any():
            continue
        found = by_water_level(F, alpha, own)
        if found is not None:
            sure += 1
            flow = least_flow(F, alpha, own)
            assert flow.sum(axis=0) == pytest.approx(flow.sum(axis=1), abs=1e-8)
            assert (flow <= F + 1e-9).all()
            assert found == pytest.approx((flow.sum(axis=0) ** 2).sum(), rel=1e-8)
    assert sure > 20


# Properties


def separable(seed):
    """A few Gaussians far enough apart for a linear machine to separate them."""
    draw = np.random.default_rng(seed)
    Q, m, n = 2 + seed % 4, 12 + seed % 7, 4 + seed % 3
    y = np.concatenate([np.repeat(np.arange(Q), 2), draw.integers(0, Q, m - 2 * Q)])
    centres = 2.0 * draw.standard_normal((Q, n))
    kernel = [Linear(), Rbf(0.2), Polynomial(1.0, 2, 1.0)][seed // 10]
    return centres[y] + draw.standard_normal((m, n)), y.astype(np.int64), kernel


@pytest.mark.parametrize("seed", [*range(14), *map(slowly, range(14, 30))])
def test_chain_of_bounds(seed):
    """bound >= S2 >= A >= L where b is unique, B* >= L always, K = 2 for Q = 2."""
    X, y, kernel = separable(seed)
    s = trained(X, y, kernel)
    if not s.hard_margin:
        pytest.skip("not separable")
    left = SOLVER.leave_out(s)
    terms = radius_margin_terms(cell_of(s), left_out=left)
    assert terms.applicable
    assert terms.bound >= terms.S2 * (1.0 - 1e-9)
    assert terms.S2 >= terms.A
    if s.b_unique:
        assert left.errors <= terms.A
    counted = count_removable(terms)
    assert set(np.flatnonzero(left.wrong)) <= set(counted.samples.tolist())
    assert proposition_2(terms.solution).disagreement <= 1e-8
    assert terms.bound_q >= terms.bound / terms.K * y.max() * (1.0 - 1e-9)
    if y.max() == 1:
        assert terms.K == pytest.approx(2.0)
        assert terms.two_classes.bound == pytest.approx(terms.bound)
        assert left.errors <= terms.two_classes.large == terms.A
    else:
        assert terms.K >= 2.0
        assert terms.two_classes is None


@pytest.mark.parametrize("seed", [1, 4, 7, 12])
def test_half_of_sum_alpha_binds_no_machine(seed):
    """C > 1/2 sum alpha: with no sample left out does an alpha reach C."""
    X, y, kernel = separable(seed)
    hard = trained(X, y, kernel)
    half = 0.5 * hard.sum_alpha
    above = trained(X, y, kernel, 1.001 * half)
    left = SOLVER.leave_out(above)
    assert radius_margin_terms(cell_of(above)).applicable
    assert not left.at_top.any()
    assert (left.wrong == SOLVER.leave_out(hard).wrong).all()


def test_conditions_are_told():
    """Soft margins do not apply; where C might bind a left-out machine, either."""
    X, y = table("iris")
    soft = radius_margin_terms(cell_of(trained(X, y, Rbf(1.0), 1.0)))
    assert not soft.applicable
    assert "alpha = C" in soft.reason
    s = trained(X, y, Rbf(1.0), 40.0)
    assert s.hard_margin
    unknown = radius_margin_terms(cell_of(s))
    assert not unknown.applicable
    assert "C > 47.9" in unknown.reason
    left = SOLVER.leave_out(s)
    known = radius_margin_terms(cell_of(s), left_out=left)
    assert known.applicable == (not left.at_top.any())
    columns = RadiusMarginCount().score(cell_of(s)).columns
    assert columns["radius_margin_count"] is None
    assert RadiusMarginBound().score(cell_of(s)).columns["radius_margin"] > 0.0


def test_an_idle_machine_has_no_bound():
    """Without a support vector there is no ball: nulls, inapplicable."""
    X, y = table("iris")
    dual = Dual(Rbf(1.0).gram(X), y, 3, 1.0)
    none = Solution(dual, np.zeros((150, 3)), np.zeros((150, 3)))
    for criterion in (RadiusMarginBound(), RadiusMarginCount()):
        columns = criterion.score(cell_of(none)).columns
        assert columns["radius_margin_applicable"] is False
        assert columns.get(criterion.column) is None


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_sweeps_hold_the_bounds(loss):
    """In every row that applies: radius_margin, B* >= leave-one-out; l2 always does."""
    rows = run_sweep(
        part_of(load_csv(DATA / "iris.csv"), 75),
        kernel="rbf", gamma=[1.0], C="0.5,5,50,500",
        criteria="radius-margin,radius-margin-count,loo", loss=loss,
    ).rows  # fmt: skip
    assert {row.status for row in rows} == {"ok"}
    holds = [row for row in rows if row.radius_margin_applicable]
    assert len(holds) == (4 if loss == "l2" else 2)
    for row in holds:
        assert row.loo_errors <= row.radius_margin_count <= row.radius_margin
        assert row.diameter <= row.diameter_all * (1.0 + 1e-9)
        assert row.K >= 2.0
    assert rows[: len(holds)] == tuple(holds)  # what does not apply ranks last


@pytest.mark.parametrize("seeds", [range(10), slowly(range(10, 90))], ids=str)
def test_no_bound_depends_on_the_order_of_the_rows(seeds):
    """D, K, S2, A, B* and n_sv, where many alpha are optimal."""
    for seed in seeds:
        X, y, Q, kernel, C = degenerate(seed)
        order = np.random.default_rng(seed).permutation(y.size)
        one, other = (
            _figures(Dual(kernel.gram(X[rows]), y[rows], Q, C))
            for rows in (np.arange(y.size), order)
        )
        assert other == pytest.approx(one, rel=1e-6), seed


def _figures(dual: Dual) -> list[float]:
    """Every number that hangs on alpha."""
    solution = SOLVER.solve(dual)
    flow = FlowConstant(solution)
    if flow.rows.size == 0:
        return [0.0]
    ball = smallest_ball(dual.gram, flow.rows)
    terms = RadiusMargin(solution, ball, ball, flow, True, "")
    figures = [solution.n_sv, terms.diameter, terms.K, terms.S2, terms.A]
    if solution.hard_margin and not solution.train_errors:
        figures.append(count_removable(terms).count)
    return figures


@pytest.mark.parametrize("zero_row", [True, False])
def test_a_small_program_ends_where_its_value_is_nothing(zero_row):
    """The optimum 0 has no relative gap; a point at the origin has no curvature."""
    if zero_row:  # as it came up: the third arc is that of a point at the origin
        H = [[4, 4, 0, 4, -2, -4], [4, 32, 0, 0, 0, -24], [0] * 6]
        H += [[4, 0, 0, 16, -8, 0], [-2, 0, 0, -8, 8, 0], [-4, -24, 0, 0, 0, 20]]
        c = [8.0, 12.0, 0.0, 8.0, -2.0, -10.0]
        A = [[1, -1, 0], [0, -1, 1], [-1, 1, 0], [1, 0, 0], [-1, 0, 0], [0, 1, -1]]
        r, best = [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    else:
        H, c = [[0.0, 0.0], [0.0, 2.0]], [0.0, 0.0]
        A, r, best = [[1.0], [1.0]], [1.0], [1.0, 0.0]
    n = len(c)
    found = minimise(
        np.array(H, float), np.array(c), np.array(A, float), np.array(r),
        np.zeros(n), np.full(n, np.inf),
    )  # fmt: skip
    assert found.x == pytest.approx(best, abs=1e-6)
