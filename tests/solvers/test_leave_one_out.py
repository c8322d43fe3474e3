"""Exact leave-one-out against training without each sample from nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.svm import SVC

from msvm_select.criteria import leave_one_out as criterion
from msvm_select.criteria.base import Cell
from msvm_select.errors import SolverError
from msvm_select.flow import within
from msvm_select.kernels.inner_products import Linear, Polynomial, Sigmoid
from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import (
    BY_TRAINING,
    NOT_A_SV,
    PREDICTED,
    REPAIRED,
    RETRAINED,
    SINGLE,
    LeftOut,
)
from msvm_select.records import Dataset, Dual, Floats, Gram, Scaling
from msvm_select.solution import Solution
from msvm_select.solvers.base import Solver
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.exact.workbench import Training
from msvm_select.solvers.leave_out import every_sample, exchanges, tableau
from msvm_select.solvers.leave_out.every_sample import _LeavingOut
from msvm_select.solvers.leave_out.exchanges import in_a_row
from msvm_select.solvers.qp import Qp
from msvm_select.solvers.smo import Smo
from tests.conftest import (
    Problem,
    blobs,
    crossed,
    slowly,
    table,
    with_duplicates,
    with_tiny_classes,
)

NEAR = 1e-6  # a margin nearer to 0 may fall to either side
TOUCHING = 1.0 + NEAR  # a margin of 1 may hold b in its place, even at alpha_p = 0
EVERY = slice(None)
KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(gamma=0.3, degree=2.0, coef0=1.0),
    "rbf": Rbf(0.05),
    "rbf-rough": Rbf(6.0),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def standardised(problem: Problem) -> Problem:
    """As a sweep would scale it."""
    return replace(problem, X=Scaling.fit(problem.X, "standard").apply(problem.X))


SETS = {
    "two": standardised(blobs(18, 2, seed=11)),
    "three": standardised(blobs(18, 3, seed=12)),
    "five": standardised(blobs(15, 5, seed=13)),
    "duplicates": standardised(with_duplicates(blobs(14, 3, seed=14))),
    "tiny": standardised(with_tiny_classes(blobs(14, 2, seed=15))),
}
every_set = pytest.mark.parametrize("problem", SETS.values(), ids=SETS)


def trained(dual: Dual, solver: Solver | None = None) -> Solution:
    """The machine, certified."""
    solution = (solver or Exact()).solve(dual)
    assert solution.converged, solution.reason
    return solution


def judged(dual: Dual, jobs: int = 1) -> LeftOut:
    """By the exact solver, every margin of it."""
    return Exact().leave_out(trained(dual), every_margin=True, jobs=jobs)


def by_retraining(
    dual: Dual, solver: Solver | None = None, some: slice = EVERY
) -> Floats:
    """The margins (m, Q) of machines trained without each sample from nothing.

    NaN of samples that are not among ``some``.
    """
    K, m = dual.gram.matrix, dual.m
    margins = np.full((m, dual.Q), -np.inf)
    asked = np.zeros(m, dtype=bool)
    asked[some] = True
    margins[~asked] = np.nan
    for p in np.flatnonzero((np.bincount(dual.y)[dual.y] > 1) & asked):
        others = np.delete(np.arange(m), p)
        gram = Gram(whole=np.ascontiguousarray(K[np.ix_(others, others)]))
        machine = trained(replace(dual, gram=gram, y=dual.y[others]), solver)
        h = K[p, others] @ machine.tau + machine.b
        margins[p] = h[dual.y[p]] - h
    margins[asked, dual.y[asked]] = np.inf
    return margins


def distance(left_out: LeftOut, margins: Floats) -> float:
    """The largest difference, relative where the sample has margins beyond 1."""
    asked = ~np.isnan(margins).any(axis=1)
    found, margins = left_out.margins[asked], margins[asked]
    known = np.isfinite(margins)
    assert np.array_equal(np.isfinite(found), known)
    scale = np.maximum(1.0, np.abs(np.where(known, margins, 0.0)).max(axis=1))
    off = np.abs(np.where(known, found, 0.0) - np.where(known, margins, 0.0))
    return float((off / scale[:, None]).max())


def assert_same_answers(left_out: LeftOut, margins: Floats) -> None:
    """Right where it is right, wrong where it is wrong, and by the same margins."""
    smallest = margins.min(axis=1)
    sure = np.abs(smallest) > NEAR
    assert np.array_equal(left_out.wrong[sure], (smallest <= 0.0)[sure])
    assert distance(left_out, margins) < 1e-6


def cell_of(dual: Dual, solver: Solver | None = None) -> Cell:
    """A trained cell; of its data only the Gram matrix matters here."""
    X = np.zeros((dual.m, 1))
    data = Dataset(X, dual.y, tuple(str(k) for k in range(dual.Q)), ("x",))
    solver = solver or Exact()
    solution = trained(dual, solver)
    return Cell(data, Scaling.fit(X, "none"), Linear(), solver, solution)


@pytest.mark.parametrize(
    ("problem", "kernel", "C"), crossed(SETS, KERNELS, [0.01, 2.0, 1000.0])
)
def test_equals_retraining_by_another_method(problem, kernel, C):
    """An interior-point method, from nothing, gives the same answers and margins.

    For every second sample: in the middle the others.
    """
    first = int(C == 2.0)
    dual = problem.dual(kernel, C)
    margins = by_retraining(dual, Qp(backend="clarabel"), slice(first, None, 2))
    assert_same_answers(judged(dual), margins)


@pytest.mark.parametrize(
    ("problem", "kernel", "C"), crossed(SETS, KERNELS, [1e-3, 0.3, 30.0, 1e4], one_in=2)
)
def test_without_every_margin_the_answers_are_the_same(problem, kernel, C):
    """Who is decided by its training margin is wrong indeed, and only not measured."""
    dual = problem.dual(kernel, C)
    every, some = judged(dual), Exact().leave_out(trained(dual))
    assert np.array_equal(every.wrong, some.wrong)
    assert np.array_equal(every.road, some.road)
    assert (every.margin[every.road == BY_TRAINING] <= NEAR).all()
    measured = some.road != BY_TRAINING
    assert np.isnan(some.margin[~measured]).all()
    assert some.margin[measured] == pytest.approx(every.margin[measured], abs=NEAR)


def random_problem(seed: int) -> tuple[Dual, str]:
    """A small problem of any kind, and what it is."""
    draw = np.random.default_rng(seed)
    Q, n = int(draw.choice([2, 3, 5])), int(draw.integers(1, 6))
    m, spread = int(draw.integers(2 * Q, 34)), float(draw.choice([0.3, 1.0, 4.0]))
    problem = blobs(m, Q, n, spread, seed)
    if draw.random() < 0.25:
        problem = with_duplicates(problem)
    if draw.random() < 0.2:
        problem = with_tiny_classes(problem)
    if draw.random() < 0.15:  # on a lattice: ties, and duplicates without end
        problem = replace(problem, X=np.round(problem.X))
    if draw.random() < 0.15:
        y = np.repeat(np.arange(problem.Q), 5)
        problem = Problem(draw.standard_normal((y.size, n)) + y[:, None], y, problem.Q)
    gammas = 10.0 ** draw.uniform([-3.0, -1.0, 0.5], [-1.0, 0.5, 2.0])
    kernels = [Linear(), Polynomial(gamma=0.5, degree=2.0), *map(Rbf, gammas)]
    kernel, C = kernels[int(draw.integers(5))], float(10.0 ** draw.uniform(-3.0, 4.0))
    what = f"seed {seed}: m = {problem.y.size}, Q = {problem.Q}, {kernel}, C = {C:.4g}"
    return standardised(problem).dual(kernel, C), what


def check_random(seed: int) -> None:
    """Everything that must hold of one random problem."""
    dual, what = random_problem(seed)
    full = trained(dual)
    found = Exact().leave_out(full, every_margin=True)
    margins = by_retraining(dual)
    smallest = margins.min(axis=1)
    sure = np.abs(smallest) > NEAR
    assert np.array_equal(found.wrong[sure], (smallest <= 0.0)[sure]), what
    assert distance(found, margins) < 1e-5, what  # K may be nearly singular
    idle = found.road == NOT_A_SV
    alone = found.road == SINGLE
    assert np.array_equal(idle | alone, ~full.is_support_vector | alone), what
    if full.b_unique:
        assert not (found.wrong & idle & (full.margins > TOUCHING)).any(), what
    assert np.array_equal(found.wrong[sure], Exact().leave_out(full).wrong[sure]), what
    if full.hard_margin and not found.at_top.any():
        beyond = judged(replace(dual, C=100.0 * dual.C))
        assert np.array_equal(beyond.wrong[sure], found.wrong[sure]), what


def test_random_problems():
    """Exact on fifteen problems of every kind, against training from nothing."""
    for seed in range(15):
        check_random(seed)


@pytest.mark.slow
def test_many_random_problems():
    """The same on a thousand others."""
    for seed in range(15, 1100):
        check_random(seed)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_a_linear_kernel_with_many_more_samples_than_dimensions(C):
    """Where K is singular and known by its factor only."""
    problem = standardised(blobs(60, 3, n=2, seed=21))
    dual = problem.dual(Linear(), C)
    assert dual.gram.factor is not None
    assert_same_answers(judged(dual), by_retraining(dual))


@every_set
@pytest.mark.parametrize("C", [0.01, 3.0, 1e4])
def test_no_error_where_nothing_depends_on_the_sample(problem, C):
    """alpha_p = 0, b unique, p beyond its margin of 1: as in training."""
    full = trained(problem.dual(Rbf(0.3), C))
    found = Exact().leave_out(full)
    idle = (found.road == NOT_A_SV) & (full.margins > TOUCHING)
    if full.b_unique:
        assert found.margin[idle] == pytest.approx(full.margins[idle], abs=1e-9)
        assert not found.wrong[idle].any()


def test_a_sample_at_alpha_0_may_still_hold_the_biases():
    """The inner two are at C, the outer two at 0 and exactly at their margin of 1.

    Each of these holds b from its side; without it b is free between two values.
    """
    X, y = np.array([[1.0], [-1.0], [2.0], [-2.0]]), np.array([0, 1, 0, 1])
    dual = Dual(Linear().gram(X), y, 2, 0.125)
    full = trained(dual)
    assert full.b_unique
    assert full.alpha.max(axis=1).tolist() == [0.125, 0.125, 0.0, 0.0]
    assert full.margins == pytest.approx([0.5, 0.5, 1.0, 1.0])
    found = judged(dual)
    assert_same_answers(found, by_retraining(dual, Qp()))
    assert found.margin[2:] == pytest.approx([0.75, 0.75])  # in the middle


@pytest.mark.parametrize("kernel", [Rbf(0.5), Linear()], ids=str)
def test_beyond_every_hard_margin_c_changes_nothing(kernel):
    """Where no machine has an alpha at C, all larger C give the same margins."""
    problem = standardised(blobs(24, 3, n=4, spread=8.0, seed=3))
    near = judged(problem.dual(kernel, 1e3))
    assert not near.at_top.any()
    assert_same_answers(judged(problem.dual(kernel, 1e5)), near.margins)


def test_at_top_tells_which_machine_has_an_alpha_at_c():
    """Beyond hard margin of the full machine, some without a sample may reach C."""
    problem = standardised(blobs(20, 3, n=4, spread=8.0, seed=3))
    machine = trained(problem.dual(Rbf(0.5), 1e3))
    dual = replace(machine.dual, C=1.0001 * float(machine.alpha.max()))
    full = trained(dual)
    assert full.hard_margin
    found = Exact().leave_out(full, every_margin=True)
    assert found.at_top.any()
    for p in np.flatnonzero(full.is_support_vector):
        others = np.delete(np.arange(dual.m), p)
        gram = Gram(whole=dual.gram.matrix[np.ix_(others, others)])
        without = trained(replace(dual, gram=gram, y=dual.y[others]))
        assert found.at_top[p] == (without.n_bounded > 0)


def test_small_c_and_balanced_classes_is_a_matter_of_the_centre():
    """All alpha are at C, b jumps against the class that lost one: most are wrong."""
    X, y = table("iris")
    some = np.arange(0, 150, 5)
    problem = Problem(X[some], y[some], 3)
    dual = problem.dual(Rbf(0.05), 1e-3)
    found = judged(dual)
    assert not trained(dual).b_unique
    assert found.errors > 15 > 2 * trained(dual).train_errors
    assert_same_answers(found, by_retraining(dual, Qp()))


@every_set
@every_kernel
@pytest.mark.parametrize("C", [0.02, 50.0])
def test_order_of_rows_and_names_of_classes_do_not_matter(problem, kernel, C):
    """Permuted samples and permuted classes permute the answers."""
    draw = np.random.default_rng(1)
    dual = problem.dual(kernel, C)
    rows, names = draw.permutation(dual.m), draw.permutation(dual.Q)
    gram = Gram(whole=dual.gram.matrix[np.ix_(rows, rows)])
    found = judged(replace(dual, gram=gram, y=names[dual.y][rows]))
    expected = judged(dual).margins[rows][:, np.argsort(names)]
    assert_same_answers(found, expected)


@pytest.mark.parametrize("seed", [0, 1, *map(slowly, range(2, 6))])
@pytest.mark.parametrize("kernel", [Rbf(0.1), Linear()], ids=str)
def test_jobs_do_not_matter(kernel, seed):
    """One thread and more give the same answers to the byte, by the same roads."""
    dual = standardised(blobs(300, 5, seed=seed)).dual(kernel, 0.5)
    full = trained(dual)
    one = Exact().leave_out(full, every_margin=True)
    for jobs in (2, 4):
        more = Exact().leave_out(full, every_margin=True, jobs=jobs)
        assert np.array_equal(more.road, one.road)
        assert np.array_equal(more.margins, one.margins)


@every_set
@pytest.mark.parametrize("solver", [Qp(), Smo(gap=1e-9)], ids=["qp", "smo"])
@pytest.mark.parametrize("C", [0.05, 5.0])
def test_other_solvers_retrain_to_the_same_answers(problem, solver, C):
    """Any solver can be asked; from the full solution, as exact as its gap."""
    dual = problem.dual(Rbf(0.3), C)
    slow = criterion.leave_each_out(cell_of(dual, solver), every_margin=True)
    found = judged(dual)
    sure = np.abs(found.margin) > 1e-3
    assert np.array_equal(slow.wrong[sure], found.wrong[sure])
    tolerance = NEAR if isinstance(solver, Qp) else 1e-3
    assert distance(slow, found.margins) < tolerance
    assert set(slow.road.tolist()) <= {NOT_A_SV, BY_TRAINING, RETRAINED, SINGLE}
    some = criterion.leave_each_out(cell_of(dual, solver))
    assert np.array_equal(some.wrong, slow.wrong)
    assert np.isnan(some.margin).sum() == some.count(BY_TRAINING)


@pytest.mark.parametrize(
    ("C", "gamma"), crossed([1e-3, 0.1, 1.0, 30.0], [0.03, 1.0], one_in=2)
)
def test_two_classes_are_the_ordinary_leave_one_out(C, gamma):
    """scikit-learn's, at 2C."""
    problem = standardised(blobs(40, 2, spread=1.0, seed=6))
    svc = SVC(C=2.0 * C, gamma=gamma, tol=1e-8)
    right = cross_val_score(svc, problem.X, problem.y, cv=LeaveOneOut())
    found = judged(problem.dual(Rbf(gamma), C))
    assert found.ambiguous == 0
    assert np.array_equal(found.wrong, right == 0.0)


def test_samples_of_two_classes_at_one_place_tie_exactly():
    """Their training begins where the tableau ends, and is through at once."""
    rng = np.random.default_rng(6)
    X, y = (rng.random((36, 3)) < 0.5).astype(float), rng.integers(0, 3, 36)
    dual = Dual(Rbf(0.7).gram(X), y, 3, 4.0)
    found, margins = judged(dual), by_retraining(dual)
    assert distance(found, margins) < 1e-9
    tied = np.abs(margins.min(axis=1)) < 1e-10
    assert tied.sum() == 10
    assert found.wrong[tied].all()


def test_rows_that_stand_twice_are_left_out_once():
    """Of one class, place and weight; with another weight each by itself."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    X, y = np.r_[X, X[:9]], np.r_[y, y[:6], (y[6:9] + 1) % 3]
    dual = Dual(Rbf(0.7).gram(X), y, 3, 2.0)
    found = judged(dual)
    assert distance(found, by_retraining(dual)) < 1e-8
    asked = np.flatnonzero(found.road[:6] != NOT_A_SV)
    assert np.array_equal(found.margins[asked], found.margins[30 + asked])
    weights = np.where(np.arange(39) < 33, 1.0, 2.0)
    found = judged(replace(dual, weights=weights))
    smallest = found.margins.min(axis=1)
    assert smallest[:3] == pytest.approx(smallest[30:33], abs=1e-9)
    assert np.abs(smallest[3:6] - smallest[33:36]).max() > 1e-3


def test_a_class_of_one_sample_is_wrong():
    """It cannot be predicted without it; its margin is -inf."""
    problem = SETS["tiny"]
    (alone,) = np.flatnonzero(np.bincount(problem.y)[problem.y] == 1)
    found = judged(problem.dual(Rbf(0.3), 1.0))
    assert found.road[alone] == SINGLE
    assert found.wrong[alone]
    assert found.margin[alone] == -np.inf
    assert found.count(SINGLE) == 1


def test_every_road_is_taken():
    """Some are free, some decided, some predicted, some repaired."""
    X, y = table("glass")
    found = Exact().leave_out(trained(Problem(X, y, 6).dual(Rbf(0.5), 8.0)))
    for road in (NOT_A_SV, BY_TRAINING, PREDICTED, REPAIRED):
        assert found.count(road) > 0
    assert (found.exchanges[found.road == REPAIRED] > 0).all()
    assert (found.exchanges[found.road == PREDICTED] == 0).all()
    assert found.errors == found.wrong.sum()


def test_the_prediction_is_the_class_of_the_largest_output():
    """The own class where the margin is > 0, -1 at a tie."""
    margins = np.array([[np.inf, 1.0, 2.0], [-1.0, np.inf, -1.0], [-1.0, -2.0, np.inf]])
    margins = np.vstack([margins, [0.0, np.inf, 3.0], [np.inf, 5e-8, 1.0]])
    y, zeros = np.array([0, 1, 2, 1, 0]), np.zeros(5, np.int64)
    found = LeftOut(y, margins, zeros + PREDICTED, zeros, zeros > 0)
    assert found.predicted.tolist() == [0, -1, 1, -1, 0]
    assert found.wrong.tolist() == [False, True, True, True, False]
    assert found.ambiguous == 2


@every_set
def test_the_criterion_counts_and_carries(problem):
    """Its columns are those counts; a row copied beyond hard margin is the same."""
    score, carry = criterion.LeaveOneOut(), None
    last: Solution | None = None
    for C in (0.1, 10.0, 1e3, 1e4, 1e5):
        cell = cell_of(problem.dual(Rbf(1.0), C))
        if last is not None and (same := last.at(cell.solution.dual, 1e-8)):
            cell = replace(cell, solution=same)
        last = cell.solution
        found = Exact().leave_out(cell.solution)
        result = score.score(cell, carry)
        assert result.columns == {
            "loo_errors": found.errors,
            "loo_rate": found.errors / problem.y.size,
            "loo_ambiguous": found.ambiguous,
            "loo_retrained": found.count(RETRAINED),
        }
        carry = result.carry


def test_a_machine_that_is_not_at_its_optimum_is_not_judged():
    """No columns, and a note that says why."""
    cell = cell_of(SETS["three"].dual(Rbf(1.0), 1.0))
    short = replace(cell.solution, converged=False)
    score = criterion.LeaveOneOut().score(replace(cell, solution=short))
    assert score.columns == {}
    assert "not at its optimum" in score.notes[0]


def test_a_retraining_that_does_not_converge_is_an_error():
    """It names the sample; no number is given that is not proven."""

    class Short(Qp):
        def solve(self, dual, start=None):
            found = super().solve(dual)
            return replace(found, converged=dual.m == 18, reason="stopped short")

    cell = cell_of(SETS["three"].dual(Rbf(1.0), 1.0), Short())
    with pytest.raises(SolverError, match=r"without sample \d+: stopped short"):
        criterion.leave_each_out(cell)


@pytest.mark.parametrize("solver", [Exact(), Qp()], ids=["exact", "qp"])
def test_progress_is_told(solver):
    """From the first to the last, never beyond."""
    told = []
    cell = replace(
        cell_of(SETS["three"].dual(Rbf(1.0), 1.0), solver),
        tell=lambda done, of: told.append((done, of)),
    )
    criterion.leave_each_out(cell)
    assert told
    assert all(0 <= done <= of for done, of in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_an_indefinite_matrix_leaves_samples_in_doubt():
    """Where k(x, x) < 0 no gap bounds a margin: no warning, and no certain answer."""
    X, y = table("iris")
    dual = Dual(Sigmoid(0.1, -1.0).gram(X), y, 3, 1.0)
    assert dual.gram.diagonal.min() < 0.0
    solver = Exact()
    solution = replace(solver.solve(dual), converged=True)
    left = solver.leave_out(solution)
    doubtful = (left.road == RETRAINED) & (dual.gram.diagonal < 0.0)
    assert doubtful.any()
    assert np.isinf(left.unsure[doubtful]).all()
    assert left.in_doubt[doubtful].all()


def test_what_training_decides_is_not_in_doubt():
    """Its margin is never asked for; the answer is certain all the same."""
    X, y = table("iris")
    solver = Exact()
    left = solver.leave_out(solver.solve(Dual(Rbf(2.0**-7).gram(X), y, 3, 8.0)))
    assert left.count(BY_TRAINING) == 2
    assert left.ambiguous == 0


def test_a_sample_begins_where_the_last_of_its_class_ended() -> None:
    """Where most alpha are at C and many change: as trained without, in any order."""
    problem = blobs(60, 3, spread=1.5, seed=5)
    machine = Exact().solve(problem.dual(Rbf(0.01), 0.05))
    found = Exact().leave_out(machine, every_margin=True)
    plain = Solver.leave_out(Exact(), machine, every_margin=True)
    assert (found.exchanges > 0).sum() > 30
    np.testing.assert_allclose(found.margins, plain.margins, atol=1e-7)


def test_each_sample_is_followed_by_the_nearest_left_of_its_class() -> None:
    """All of them once, class after class where they come so."""
    x, y = (
        np.array([0.0, 5.0, 1.0, 4.5, 9.0, 8.0, 9.5]),
        np.array([0, 0, 0, 0, 1, 1, 1]),
    )
    K = Rbf(0.1).gram(x[:, None]).matrix
    assert in_a_row(K, y, np.arange(7)).tolist() == [0, 2, 3, 1, 4, 6, 5]
    assert in_a_row(K, y, np.array([1, 4, 0])).tolist() == [1, 0, 4]


@pytest.mark.parametrize(("gamma", "C"), [(0.01, 0.1), (0.002, 1.0)])
def test_a_sample_goes_in_steps_where_hundreds_change(gamma: float, C: float) -> None:
    """Many classes at a small C: few are trained anew, and all are as if they were."""
    problem = standardised(blobs(240, 12, 4, 2.0, seed=7))
    dual = problem.dual(Rbf(gamma), C)
    found = judged(dual)
    assert np.median(found.exchanges) > 40
    assert (found.road == RETRAINED).sum() < 12
    assert_same_answers(found, by_retraining(dual, some=slice(0, None, 20)))


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_outputs_by_what_moved_are_those_of_all(C: float) -> None:
    """F of a machine that was trained anew is K tau, whatever it began at."""
    machine = Exact().solve(blobs(60, 4).dual(Rbf(0.3), C))
    full = Training.at(machine)
    for p in range(0, 60, 10):
        for begin in (np.zeros_like(full.A), full.A):
            without = within(begin, full.bench.y, np.where(np.arange(60) == p, 0.0, C))
            found = Exact()._train(Training.shut(full, without, p))
            F = found.problem.outputs(found.A)
            assert found.F == pytest.approx(F, abs=1e-13 * max(1.0, np.abs(F).max()))


def test_a_sample_that_alone_holds_alpha_at_a_huge_C_leaves_no_rounding() -> None:
    """Its copy is of another class; without it alpha is small, and F as sharp."""
    draw = np.random.default_rng(1)
    y = np.append(np.arange(30) % 2, 1)
    X = draw.normal(size=(30, 2)) + 2.5 * np.eye(2)[y[:30]]
    gram = Rbf(0.5).gram(np.vstack((X, X[0])))
    full = Training.at(Exact().solve(Dual(gram, y, 2, 1e10)))
    assert full.A.max() == 1e10
    p = int(np.flatnonzero(full.bench.order == 30)[0])
    without = within(full.A, full.bench.y, np.where(np.arange(31) == p, 0.0, 1e10))
    found = Exact()._train(Training.shut(full, without, p))
    assert found.A.max() < 100.0
    assert found.F == pytest.approx(found.problem.outputs(found.A), abs=1e-12)


def test_an_answer_whose_flow_is_off_is_not_proven() -> None:
    """At a tiny C neither the gap nor a gain tells it, but the biases are wrong."""
    problem = blobs(40, 4)
    machine = Exact().solve(problem.dual(Rbf(0.7), 1e-3))
    work = _LeavingOut(machine, Exact()._train, 1e-8)
    full = work.full
    A = Exact()._train(Training.shut(full, np.zeros_like(full.A), 0)).A

    def proven() -> bool:
        change = full.problem.outputs(A) - full.F
        margins, _ = work._certified(np.array([0]), A[None], change[None])
        return bool(margins.any())

    assert proven()
    k, i = np.argwhere((A > 1e-4) & (A < 9e-4))[0]
    A[k, i] += 1e-8
    assert not proven()


@pytest.mark.parametrize("size", [1, 3, 4, 7, 8, 9, 21, 50])
def test_a_small_system_is_solved_whatever_stands_on_its_diagonal(size: int) -> None:
    """By pivots of the diagonal, four at a time; by others from the first zero on."""

    @njit
    def solved(M, x, size, scale):
        return exchanges._solve_small(M, x, size, scale)

    draw = np.random.default_rng(size)
    for zero in (None, *range(0, size, 3)):
        half = draw.normal(size=(size, size))
        A = half + half.T
        A[np.diag_indices(size)] += 4.0 * size * draw.choice([-1.0, 1.0], size)
        if zero is not None:  # a block of two: neither can be the first alone
            A[zero:, zero:] = half[zero:, zero:] + half[zero:, zero:].T
            A[zero, zero] = 0.0
        wanted, scale = draw.normal(size=(2, size)), draw.uniform(0.5, 2.0, size)
        M, x = np.full((304, 304), np.nan), np.zeros((2, 304))
        M[:size, :size], x[:, :size] = A, wanted @ A
        sound = solved(M, x, size, scale)
        assert sound == (size > 1 or zero is None)
        if sound:
            assert x[:, :size] == pytest.approx(wanted, abs=1e-7)
    M[:size, :size] = np.ones((size, size))
    assert solved(M, x, size, np.ones(size)) == (size == 1)


@pytest.mark.parametrize("gamma", [0.003, 0.01])
def test_at_a_huge_c_the_table_leads_on_from_what_k_says(gamma: float) -> None:
    """Its inverse has lost digits; yet nobody is trained anew, and K proves all."""
    data = standardised(blobs(90, 3, 5, 0.5, 7))
    dual = data.dual(Rbf(gamma), 3e4)
    left_out = Exact().leave_out(trained(dual), every_margin=True)
    assert left_out.count(RETRAINED) == 0 < left_out.count(REPAIRED)
    assert_same_answers(left_out, by_retraining(dual))


@pytest.mark.parametrize("condition", [1e1, 1e5, 1e8])
def test_an_inverse_is_not_refined_for_the_worse(condition: float) -> None:
    """Newton-Schulz steps lose digits where H is nearly singular: then none is kept."""
    draw = np.random.default_rng(4)
    basis, _ = np.linalg.qr(draw.normal(size=(60, 60)))
    H = (basis * np.geomspace(1.0, condition, 60)) @ basis.T
    inverse = np.linalg.inv((H + H.T) / 2.0)
    rough = inverse * (1.0 + 1e-3 * (condition < 100.0))
    found, worst = tableau._sharpened(H, (rough + rough.T) / 2.0)
    assert worst <= max(1e-9, 1e-14 * condition)
    assert np.abs(H @ found - np.eye(60)).max() <= max(1e-9, 1e-14 * condition)


@pytest.mark.parametrize("C", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("twice", [False, True])
def test_who_is_trained_anew_begins_where_the_last_one_ended(
    C: float, twice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nothing but training the answers are the same; some starts are nearer."""
    monkeypatch.setattr(every_sample, "build", lambda *_: None)
    problem = blobs(60, 3, 4, 0.7, 5)
    dual = standardised(with_duplicates(problem) if twice else problem).dual(
        Rbf(0.1), C
    )
    begun: list[float] = []
    starts = _LeavingOut._starts

    def noted(self: _LeavingOut, p: int) -> Iterator[Floats]:
        found = list(starts(self, p))
        values = [self._begun(A, p).dual_value() for A in found]
        begun.append(values[-1] - values[0])
        return iter(found)

    monkeypatch.setattr(_LeavingOut, "_starts", noted)
    assert_same_answers(judged(dual), by_retraining(dual))
    assert max(begun) > 0.0
