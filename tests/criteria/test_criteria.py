"""What each criterion counts, against counting it the slow way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from msvm_select.columns import COLUMNS, EXTRA
from msvm_select.criteria.base import Cell
from msvm_select.criteria.cross_validation import (
    CrossValidation,
    Holdout,
    folds,
    holdout,
)
from msvm_select.criteria.leave_one_out import SupportCount, TrainErrors
from msvm_select.errors import SettingsError
from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.precomputed import Precomputed
from msvm_select.kernels.rbf import Rbf
from msvm_select.names import CRITERIA
from msvm_select.records import Dataset, Dual, Scaling
from msvm_select.solvers.qp import Qp
from tests.conftest import DATA, PROBLEMS, Problem, blobs, run

ARGUMENTS = {"cv": "4", "holdout": "0.3"}


def cell_of(problem: Problem, kernel=None, C: float = 1.0, kind: str = "standard"):
    """A trained cell of the problem, its columns far from standardised."""
    kernel = kernel or Rbf(0.3)
    X = 10.0 * problem.X + 3.0 if kernel.is_vector_kernel else problem.X
    classes = tuple(str(k) for k in range(problem.Q))
    features = tuple(f"x{j}" for j in range(X.shape[1]))
    data = Dataset(X, problem.y, classes, features)
    scaling = Scaling.fit(X, kind)
    gram, solver = kernel.gram(scaling.apply(X)), Qp()
    solution = solver.solve(Dual(gram, problem.y, problem.Q, C))
    return Cell(data, scaling, kernel, solver, solution, gram=gram)


def for_all(cell: Cell, kind) -> Cell:
    """The cell, with groups for a criterion that needs some."""
    groups = np.arange(cell.data.m) % 5 if kind.needs_groups else None
    return replace(cell, data=replace(cell.data, groups=groups))


def at(cell: Cell, C: float) -> Cell:
    """The same kernel setting at another C."""
    dual = replace(cell.solution.dual, C=C)
    return replace(cell, solution=cell.solver.solve(dual, cell.solution))


def errors_by_hand(cell: Cell, train, test) -> int:
    """Errors of the machine of the training rows, all classes kept, on the others."""
    X, y, Q = cell.data.X, cell.data.y, cell.data.Q
    scaling = Scaling.fit(X[train], cell.scaling.kind)
    A, B = scaling.apply(X[train]), scaling.apply(X[test])
    gram = cell.kernel.gram(A)
    s = cell.solver.solve(Dual(gram, y[train], Q, cell.solution.dual.C))
    h = cell.kernel.between(B, A) @ s.tau + s.b
    return sum(
        h[i, k] <= max(np.delete(h[i], k)) for i, k in enumerate(y[test].tolist())
    )


@pytest.mark.parametrize("name", CRITERIA)
def test_contract(name, three):
    """Every criterion is parsed by its name, fills its column, and scores in order."""
    kind = CRITERIA[name]
    criterion = kind.parse(ARGUMENTS.get(name), seed=0)
    cell = for_all(cell_of(three), kind)
    score = criterion.score(cell)
    assert kind.name == name
    assert CRITERIA.summary(name)
    assert kind.column in score.columns
    assert set(score.columns) <= {*COLUMNS, *EXTRA}
    assert score.notes == ()


@pytest.mark.parametrize("name", CRITERIA)
def test_carry_does_not_change_the_score(name):
    """What is handed on from C to C saves work, and only that."""
    criterion = CRITERIA[name].parse(ARGUMENTS.get(name), seed=0)
    cell, carry = for_all(cell_of(blobs(24, 3)), criterion), None
    for C in (0.1, 50.0, 400.0):
        cell = at(cell, C)
        score = criterion.score(cell, carry)
        again = criterion.score(cell).columns
        assert score.columns == {
            name: None if value is None else pytest.approx(value, rel=1e-9)
            for name, value in again.items()
        }
        carry = score.carry


def test_train_errors_and_support_vectors(three):
    """The counts of the solution itself."""
    cell = cell_of(three)
    h, y = cell.solution.outputs, three.y
    wrong = sum(h[i, y[i]] <= max(np.delete(h[i], y[i])) for i in range(y.size))
    assert TrainErrors().score(cell).columns == {"train_errors": wrong}
    rate = (cell.solution.alpha > 0.0).any(axis=1).mean()
    assert SupportCount().score(cell).columns == {"sv_rate": pytest.approx(rate)}


def test_support_vectors_bound_leave_one_out(three):
    """With b unique, no sample but a support vector is lost when it is left out."""
    cell = cell_of(three, Rbf(0.003), C=2.0, kind="none")
    assert cell.solution.b_unique
    idle = np.flatnonzero(~cell.solution.is_support_vector)
    everyone = np.arange(three.y.size)
    assert idle.size > 3
    assert not any(errors_by_hand(cell, np.delete(everyone, p), [p]) for p in idle)


def test_support_vectors_rank_the_cells_of_a_loose_gap():
    """At the gap that smo stops at by default, the biases are told to be unique."""
    grid = ("--C", 1, "--gamma", "0.25,1", "--criteria", "sv-rate", "--solver", "smo")
    found = run("sweep", DATA / "glass.csv", *grid)
    assert "* best by sv-rate" in found.stdout, found.stderr


@pytest.mark.parametrize("name", ["three", "two", "six", "duplicates"])
@pytest.mark.parametrize("kernel", [Rbf(0.3), Linear()], ids=str)
def test_cross_validation_is_retraining(name, kernel):
    """Scaler and machine of each fold are those of its training part alone."""
    cell = cell_of(PROBLEMS[name], kernel)
    y = cell.data.y
    wrong = sum(errors_by_hand(cell, *split) for split in folds(y, 4, seed=3))
    score = CrossValidation(4, seed=3).score(cell)
    assert score.columns["cv_error"] == wrong / y.size


def test_classes_that_a_fold_lacks_are_errors():
    """A sample whose class is in no training part is wrong, as b = -inf has it."""
    cell = cell_of(PROBLEMS["tiny"])
    y = cell.data.y
    wrong = sum(errors_by_hand(cell, *split) for split in folds(y, 6, seed=1))
    score = CrossValidation(6, seed=1).score(cell)
    assert score.columns["cv_error"] == wrong / y.size


def test_a_training_part_of_one_class():
    """Nothing to train: every other class is an error."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    cell = cell_of(Problem(X, np.array([0, 0, 0, 0, 1]), 2))
    split = next(s for s in folds(cell.data.y, 5, seed=0) if 4 in s[1])
    assert (cell.data.y[split[0]] == 0).all()
    assert CrossValidation(5).score(cell).columns["cv_error"] >= 0.2


def test_precomputed_kernels_use_submatrices(three):
    """Folds of the Gram matrix score as folds of the samples that it came from."""
    kernel = Rbf(0.01)
    direct = cell_of(three, kernel, kind="none")
    K = kernel.gram(direct.data.X).matrix
    given = cell_of(Problem(K, three.y, 3), Precomputed(), kind="none")
    for criterion in (CrossValidation(5), Holdout(0.3)):
        assert criterion.score(given).columns == criterion.score(direct).columns


def test_holdout_is_retraining(three):
    """The rate over the tested share of the machine of the others."""
    cell = cell_of(three)
    train, test = holdout(three.y, 0.3, seed=2)
    score = Holdout(0.3, seed=2).score(cell)
    expected = errors_by_hand(cell, train, test) / test.size
    assert score.columns == {"holdout_error": expected}


def test_folds_are_a_stratified_partition():
    """Each row once; sizes, and the counts of each class, differ by at most one."""
    y = blobs(97, 5, seed=8).y
    parts = folds(y, 7, seed=0)
    tested = np.concatenate([test for _, test in parts])
    assert sorted(tested) == list(range(97))
    sizes = [test.size for _, test in parts]
    assert max(sizes) - min(sizes) <= 1
    for k in range(5):
        counts = [int((y[test] == k).sum()) for _, test in parts]
        assert max(counts) - min(counts) <= 1
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(97))


def test_holdout_is_stratified_and_leaves_every_class_to_train():
    """A share of each class, never all of it."""
    y = np.array([0] * 40 + [1] * 20 + [2] * 2 + [3])
    train, test = holdout(y, 0.25, seed=0)
    assert [int((y[test] == k).sum()) for k in range(4)] == [10, 5, 0, 0]
    assert set(y[holdout(y, 0.99, seed=0)[0]]) == {0, 1, 2, 3}
    assert sorted([*train, *test]) == list(range(63))


def test_splits_depend_on_the_seed_alone():
    """The same seed splits alike, another one otherwise; rows are shuffled."""
    y = np.repeat(np.arange(3), 20)
    for split in (lambda s: folds(y, 5, s)[0][1], lambda s: holdout(y, 0.3, s)[1]):
        assert np.array_equal(split(0), split(0))
        assert not np.array_equal(split(0), split(1))
        assert np.diff(split(0)).max() > 1


def test_a_fold_that_does_not_converge_is_told(three):
    """The score is there, with a note that says how many and how far."""

    class Short(Qp):
        def solve(self, dual, start=None):
            reason = "gap 1e-3 where 1e-8 was asked"
            return replace(super().solve(dual), converged=False, reason=reason)

    cell = replace(cell_of(three), solver=Short())
    score = CrossValidation(3).score(cell)
    assert score.columns["cv_error"] is not None
    assert len(score.notes) == 1
    assert "3 of 3 folds of cv:3 not converged (gap" in score.notes[0]


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("cv", "1"),
        ("cv", "x"),
        ("cv", "2.5"),
        ("cv", ""),
        ("holdout", "0"),
        ("holdout", "1"),
        ("holdout", "nan"),
        ("holdout", "x"),
        ("sv-rate", "3"),
        ("train-errors", ""),
    ],
)
def test_arguments_out_of_form_are_refused(name, argument):
    """An argument that means nothing names the criterion."""
    with pytest.raises(SettingsError, match=name):
        CRITERIA[name].parse(argument, seed=0)


def test_defaults():
    """cv alone is cv:5, holdout alone is holdout:0.25; the seed is handed on."""
    assert (CrossValidation.parse(None, 3).K, CrossValidation.parse("7", 3).seed) == (
        5,
        3,
    )
    assert Holdout.parse(None, 4).share == 0.25
    assert Holdout.parse("0.5", 4).seed == 4


def test_impossible_splits_are_refused(three):
    """More folds than samples, or a share that tests nothing."""
    with pytest.raises(SettingsError, match="more folds than there are samples"):
        folds(three.y, 41, seed=0)
    with pytest.raises(SettingsError, match="leaves nothing to test"):
        holdout(np.array([0, 1, 2]), 0.5, seed=0)
