"""The guaranteed risk against slow direct evaluations, and what is said beside it."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal, localcontext
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msvm_select import load_csv, run_sweep
from msvm_select.criteria.base import Cell, Constants
from msvm_select.criteria.guaranteed_risk import (
    GuaranteedRisk,
    Machines,
    any_dimension,
    any_dimension_as_printed,
    exponent,
    finite_dimension,
    guaranteed_risk,
    least_whole,
    margin_risks,
)
from msvm_select.errors import SettingsError
from msvm_select.generate import as_csv, three_gaussians
from msvm_select.kernels.inner_products import Linear, Polynomial, Sigmoid
from msvm_select.kernels.rbf import Rbf
from msvm_select.machines.losses import Quadratic
from msvm_select.records import Dual, Scaling
from msvm_select.settings import settings_from
from msvm_select.solvers.exact.solver import Exact
from tests.conftest import PROBLEMS, run
from tests.criteria.test_criteria import cell_of

IRIS = str(Path(__file__).parents[2] / "data" / "iris.csv")
H = Machines(Q=3, m=150, Lambda_w=4.7, Lambda_Phi=2.3, beta=0.37)


def exactly(value: float) -> Decimal:
    """The float itself."""
    return Decimal(float(value))


def whole(value: Decimal) -> Decimal:
    """The ceiling."""
    return value.to_integral_value(rounding=ROUND_CEILING)


def log_covering(machines: Machines, gamma: float, d: int | None, c: float) -> Decimal:
    """ln N by the number itself, with 60 digits."""
    g, Q = exactly(gamma), machines.Q
    product = exactly(machines.Lambda_w) * exactly(machines.Lambda_Phi)
    biases = (2 * whole(4 * exactly(machines.beta) / g) + 1) ** Q
    if d is not None:
        return (biases * (32 * product / g) ** (Q * d)).ln()
    square = (8 * exactly(c) * product / g) ** 2

    def right(n: int) -> Decimal:  # falls with n, so that n >= right(n) from one n on
        return square * (1 + Decimal(2 * Q * machines.m) / n).ln() / Decimal(2).ln()

    n = bisect_left(range(1, 10**9), True, key=lambda n: n >= right(n)) + 1
    return (biases * Decimal(2) ** (n - 1)).ln()


def bound(cell, gamma: float, d: int | None, c: float = 1.0) -> Decimal:
    """The right side of Theorem 1 at one gamma, from the outputs of the machine."""
    solution, delta = cell.solution, Decimal("0.05")
    h, y, m = solution.outputs, solution.dual.y, solution.dual.m
    margins = [0.5 * (h[i, y[i]] - max(np.delete(h[i], y[i]))) for i in range(m)]
    share = Decimal(int(sum(v < gamma for v in margins))) / m
    products = solution.tau.T @ solution.dual.gram.matrix @ solution.tau
    machines = Machines(
        solution.dual.Q,
        m,
        math.sqrt(np.trace(products)),
        math.sqrt(max(np.diagonal(solution.dual.gram.matrix))),
        max(abs(solution.b)),
    )
    inside = (
        Decimal(2).ln()
        + log_covering(machines, gamma, d, c)
        + (2 / (exactly(gamma) * delta)).ln()
    )
    return share + (2 * inside / m).sqrt() + Decimal(1) / m


@pytest.mark.parametrize("gamma", [1e-3, 0.05, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("d", [1, 2, 13, 560])
def test_theorem_3_is_that_of_a_direct_evaluation(gamma: float, d: int) -> None:
    """The logarithms give what N itself gives in high precision."""
    with localcontext(prec=60):
        direct = log_covering(H, gamma, d, 1.0)
    found = finite_dimension(H, np.array([gamma]), d)[0]
    assert found == pytest.approx(float(direct), rel=1e-12)


@pytest.mark.parametrize("gamma", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("c", [0.01, 0.1, 1.0])
def test_theorem_2_keeps_the_logarithm(gamma: float, c: float) -> None:
    """n is the least whole number of the sharper form; the printed form is no less."""
    g = np.array([gamma])
    with localcontext(prec=40):
        direct = log_covering(H, gamma, None, c)
    found = any_dimension(H, g, c)
    assert found[0] == pytest.approx(float(direct), rel=1e-12)
    assert found[0] <= any_dimension_as_printed(H, g, c)[0]


def test_the_printed_form_of_theorem_2() -> None:
    """(12) by hand: prefactor 8, 2Qm = 18000 make the exponent 1289 - 1."""
    machines = Machines(Q=3, m=3000, Lambda_w=1.0, Lambda_Phi=1.0, beta=0.0)
    found = any_dimension_as_printed(machines, np.array([1.0]), 1.0)[0]
    exponent = math.ceil(8.0 * math.sqrt(18000.0 / math.log(2.0))) - 1
    assert found == pytest.approx(exponent * math.log(2.0))


@settings(max_examples=200)
@given(st.floats(1e-6, 60.0), st.integers(1, 20000))
def test_the_least_whole_number(A: float, M: int) -> None:
    """It satisfies the inequality, and one less does not."""
    n = least_whole(np.array([A]), float(M))[0]
    assert n == int(n) >= 1.0

    def right(n: float) -> float:
        return A * A * math.log1p(M / n) / math.log(2.0)

    assert n >= right(n) * (1.0 - 1e-9)
    assert n == 1.0 or n - 1.0 < right(n - 1.0) * (1.0 + 1e-9)


def test_a_machine_that_is_nothing_has_one_ball() -> None:
    """With w = 0 only the biases are counted, whatever the theorem."""
    nothing = replace(H, Lambda_w=0.0)
    gamma = np.array([0.1, 1.0])
    biases = 3.0 * np.log(2.0 * np.ceil(4.0 * 0.37 / gamma) + 1.0)
    assert np.allclose(finite_dimension(nothing, gamma, 2), biases)
    assert np.allclose(any_dimension(nothing, gamma, 1.0), biases)


@pytest.mark.parametrize("name", ["three", "two", "six", "tiny", "duplicates"])
@pytest.mark.parametrize(
    ("kernel", "d"), [(Linear(), 3), (Polynomial(1.0, 2.0), 10), (Rbf(0.3), None)]
)
def test_the_value_is_the_least_of_a_direct_scan(name, kernel, d) -> None:
    """Over all sample margins and 1; at no other gamma is the bound smaller."""
    cell = cell_of(PROBLEMS[name], kernel, C=0.3)
    n = cell.data.X.shape[1]
    d = d and kernel.dimension(n)
    terms = guaranteed_risk(cell)
    margins = 0.5 * cell.solution.margins
    asked = {v for v in margins if 0.0 < v <= 1.0} | {1.0}
    some = sorted(asked)[:: max(1, len(asked) // 6)]
    between = np.random.default_rng(0).uniform(0.02, 1.0, 6)
    with localcontext(prec=30):
        at = float(bound(cell, terms.gamma, d))
        others = [float(bound(cell, gamma, d)) for gamma in (*some, *between)]
    assert terms.gamma in asked
    assert terms.value == pytest.approx(at, rel=1e-10)
    assert terms.value <= min(others) + 1e-10


def test_the_terms_add_up(three) -> None:
    """margin risk + confidence + 1/m is the value; each is what its name says."""
    cell = cell_of(three, Linear(), C=0.1)
    terms = guaranteed_risk(cell)
    assert terms.value == pytest.approx(
        terms.margin_risk + terms.confidence + 1.0 / terms.m
    )
    assert terms.theorem == 3
    assert terms.dimension == 3
    assert terms.maurey_c is terms.log_covering_printed is None
    assert terms.Lambda_w == pytest.approx(math.sqrt(cell.solution.norm_w_squared))
    assert terms.beta == pytest.approx(abs(cell.solution.b).max())
    assert cell.solution.b.sum() == pytest.approx(0.0, abs=1e-12)
    assert "not a guarantee" in terms.standing


def test_the_columns(three) -> None:
    """The value, its gamma, and vacuous where it is 1 or more."""
    small, large = (cell_of(three, Linear(), C) for C in (1e-9, 1.0))
    for cell in (small, large):
        terms = guaranteed_risk(cell)
        assert GuaranteedRisk().score(cell).columns == {
            "guaranteed_risk": terms.value,
            "guaranteed_risk_gamma": terms.gamma,
            "guaranteed_risk_vacuous": terms.value >= 1.0,
        }
    assert guaranteed_risk(large).vacuous


def test_gammas_are_the_margins_within_0_and_1() -> None:
    """A sample counts below its margin only: at it, it is on the right side."""
    gamma, share = margin_risks(np.array([-0.5, 0.0, 0.2, 0.2, 0.9, 1.0, 3.0, 0.4]))
    assert gamma.tolist() == [0.2, 0.2, 0.4, 0.9, 1.0]
    assert share.tolist() == [2 / 8, 2 / 8, 4 / 8, 5 / 8, 6 / 8]


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_the_dimension_of_a_polynomial_kernel_counts_monomials(n, degree) -> None:
    """Those of the degree alone without coef0, all up to it otherwise."""
    of = [len([*combinations_with_replacement(range(n), k)]) for k in range(degree + 1)]
    assert Polynomial(degree=degree, coef0=0.0).dimension(n) == of[degree]
    assert Polynomial(degree=degree, coef0=0.5).dimension(n) == sum(of)


def test_other_kernels_have_no_finite_dimension() -> None:
    """Nor has a polynomial of a degree that is not whole; the linear one has n."""
    assert Linear().dimension(7) == 7
    for kernel in (Rbf(1.0), Sigmoid(1.0), Polynomial(degree=2.5)):
        assert kernel.dimension(7) is None


def test_a_dimension_that_is_said_counts(three) -> None:
    """It takes Theorem 3 to any kernel, and goes before the kernel's own."""
    for kernel in (Rbf(0.3), Linear()):
        cell = replace(cell_of(three, kernel), constants=Constants(dimension=5))
        terms = guaranteed_risk(cell)
        assert (terms.theorem, terms.dimension) == (3, 5)


def test_c_is_shown_and_counts(three) -> None:
    """Theorem 2 carries its c, grows with it, and stands beside its printed form."""
    values = []
    for c in (0.001, 0.1, 1.0):
        cell = replace(cell_of(three), constants=Constants(maurey_c=c))
        terms = guaranteed_risk(cell)
        values.append(terms.value)
        assert (terms.theorem, terms.maurey_c) == (2, c)
        assert terms.log_covering_printed >= terms.log_covering
    assert values == sorted(values)
    assert values[0] < values[-1]


@pytest.mark.parametrize("kernel", [Linear(), Rbf(0.3)], ids=str)
def test_a_union_costs_and_guarantees(three, kernel) -> None:
    """Powers of two above what was measured, a smaller delta, a larger value."""
    cell = cell_of(three, kernel)
    index = guaranteed_risk(cell)
    paid = guaranteed_risk(replace(cell, constants=Constants(union=True)))
    assert paid.value > index.value
    for power, measured in (
        (paid.Lambda_w, paid.norm_w),
        (paid.beta, paid.largest_b),
    ):
        assert math.log2(power).is_integer()
        assert max(2.0, measured) <= power < max(4.0, 2.0 * measured)
    j, i = math.log2(paid.Lambda_w), math.log2(paid.beta)
    assert paid.delta_paid == pytest.approx(0.05 / (j * (j + 1) * i * (i + 1)))
    assert paid.norm_w == index.Lambda_w
    assert paid.standing.startswith("a guarantee as far as")
    assert ("constant c" in paid.standing) == (paid.theorem == 2)


def test_exponents_of_the_union() -> None:
    """The least j of 1, 2, .. with 2^j no less; their deltas sum to delta at most."""
    values = [0.0, 1e-9, 1.0, 2.0, 2.0001, 4.0, 1000.0, 1024.0]
    assert [exponent(v) for v in values] == [1, 1, 1, 1, 2, 2, 10, 10]
    assert sum(1.0 / (j * (j + 1)) for j in range(1, 10**5)) < 1.0


def test_a_class_without_samples_is_no_part(three) -> None:
    """The value is that of the classes that are there."""
    cell = cell_of(three, Linear())
    wider = Dual(cell.solution.dual.gram, three.y, 4, 1.0)
    with_empty = replace(cell, solution=cell.solver.solve(wider))
    assert np.isinf(with_empty.solution.b).any()
    assert guaranteed_risk(with_empty).value == pytest.approx(
        guaranteed_risk(cell).value, rel=1e-5
    )


def test_the_quadratic_loss_is_judged_without_its_ridge(three) -> None:
    """Margins, ||w|| and ||Phi|| are those in the feature space of new samples."""
    cell = cell_of(three, Linear())
    plain = cell.solution.dual.gram
    dual = Quadratic().dual(plain, three.y, 3, 0.5)
    solution = cell.solver.solve(dual)
    terms = guaranteed_risk(replace(cell, solution=solution))
    W = solution.tau.T @ plain.product(solution.tau)
    assert terms.norm_w == pytest.approx(math.sqrt(np.trace(W)))
    assert terms.Lambda_Phi == pytest.approx(math.sqrt(plain.diagonal.max()))
    h = plain.product(solution.tau) + solution.b
    own = h[np.arange(three.y.size), three.y]
    h[np.arange(three.y.size), three.y] = -np.inf
    below = terms.gamma - 1e-9
    assert terms.margin_risk == np.mean(0.5 * (own - h.max(axis=1)) < below)


def test_the_algorithm_ranks_by_the_argmin_itself() -> None:
    """The best row of the sweep is the C whose own bound is least."""
    data = three_gaussians(100, seed=1)
    results = run_sweep(
        data, kernel="linear", scale="none", C="0.001:0.01:+0.001", gap=1e-6,
        rank_by="guaranteed-risk",
    )  # fmt: skip
    values = {row.C: row.guaranteed_risk for row in results.rows}
    assert results.best.C == min(values, key=values.get)
    assert len(values) == 10


def test_theorem_2_selects_nothing_on_the_three_gaussians() -> None:
    """On the very sweep where Theorem 3 has its least value within, it only rises."""

    class OfUnknownDimension(Linear):
        """The linear kernel, as if one knew nothing of its feature space."""

        def dimension(self, n: int) -> None:
            return None

    data = three_gaussians(300, seed=1)
    kernel, scaling, solver = Linear(), Scaling.fit(data.X, "none"), Exact(gap=1e-6)
    values: dict[int, list[float]] = {2: [], 3: []}
    for C in np.geomspace(1e-5, 0.1, 9):
        solution = solver.solve(Dual(kernel.gram(data.X), data.y, 3, C))
        for known in (kernel, OfUnknownDimension()):
            terms = guaranteed_risk(Cell(data, scaling, known, solver, solution))
            values[terms.theorem].append(terms.value)
    assert values[2] == sorted(values[2])
    assert 0 < np.argmin(values[3]) < 8


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"delta": 0}, "greater than 0"),
        ({"delta": 1}, "less than 1"),
        ({"maurey_c": -1}, "greater than 0"),
        ({"dimension": 0}, "1 or more"),
        ({"union": "yes"}, "true or false"),
    ],
)
def test_constants_out_of_range_are_refused(values, said) -> None:
    """In words, with the name of the setting."""
    with pytest.raises(SettingsError, match=said) as caught:
        settings_from(values)
    assert next(iter(values)) in str(caught.value)


def test_constants_reach_the_criterion() -> None:
    """The settings of a sweep are those that the values are made with."""
    data = load_csv(IRIS)
    asked = {"C": 1, "criteria": "guaranteed-risk"}
    values = [
        run_sweep(data, **asked, **more).best.guaranteed_risk
        for more in ({}, {"delta": 0.01}, {"maurey_c": 2}, {"dimension": 4})
    ]
    assert values[0] < values[1] < values[2]
    assert values[3] < values[0]
    assert run_sweep(data, **asked, union=True).best.guaranteed_risk > values[0]


def swept(*options: str) -> str:
    """What a sweep of iris by the guaranteed risk says on stderr."""
    arguments = ["sweep", IRIS, "--criteria", "guaranteed-risk", *options]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stderr


def test_the_talk_says_where_theorem_2_selects_nothing() -> None:
    """The edge is warned of, and what it means; c stands beside."""
    said = swept("--C", "0.1,1,10", "--maurey-c", "2")
    assert "Theorem 2 with c = 2 (--maurey-c) for rbf" in said
    assert "selects nothing" in said
    assert "is the smallest of its grid" in said
    assert "every value is 1 or more" in said


def test_the_talk_says_theorem_and_standing(tmp_path: Path) -> None:
    """Which theorem for which kernel; index or guarantee; no remark without cause."""
    said = swept("--C", "1,2", "--kernel", "linear", "--kernel", "rbf")
    assert "Theorem 3 for linear, Theorem 2 with c = 1 (--maurey-c) for rbf" in said
    assert "not a guarantee" in said
    assert "selects nothing" not in said
    assert "a guarantee as far as" in swept("--C", "1", "--union")
    path = tmp_path / "gaussians.csv"
    path.write_text(as_csv(three_gaussians(1000, seed=1)))
    options = ["--kernel", "linear", "--scale", "none", "--C", "0.001", "--gap", "1e-6"]
    arguments = ["sweep", str(path), "--criteria", "guaranteed-risk", *options]
    result = run(*arguments)
    assert "every value is 1 or more" not in result.stderr
    assert "Theorem 3 for linear; delta = 0.05" in result.stderr
