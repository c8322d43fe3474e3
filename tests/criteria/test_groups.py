"""Leave-one-group-out, folds of groups, and leave-one-out with kept class mass."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.svm import SVC

from msvm_select.criteria.base import Cell
from msvm_select.criteria.cross_validation import folds, holdout
from msvm_select.criteria.leave_group_out import LeaveOneGroupOut as Logo
from msvm_select.criteria.leave_group_out import judged_without
from msvm_select.criteria.leave_one_out import Balanced, every_margin_of
from msvm_select.errors import SettingsError
from msvm_select.kernels.rbf import Rbf
from msvm_select.names import LOSSES, MACHINES
from msvm_select.records import Dataset, Scaling
from msvm_select.solvers.exact.solver import Exact

KINDS = ("ww", "ovo", "ova")


def cell_of(X, y, kernel, C, kind="ww", loss="l1", groups=None, weights=None, **more):
    """A trained cell on features as they are."""
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    classes = tuple("abcdefghijklmnop"[: int(y.max()) + 1])
    data = Dataset(X, y, classes, names, groups=groups, weights=weights)
    machine = MACHINES[kind](LOSSES[loss]())
    gram = kernel.gram(X)
    solution = machine.train(Exact(), gram, y, data.Q, C, weights=weights)
    return Cell(
        data, Scaling.fit(X, "none"), kernel, Exact(), solution,
        machine=machine, gram=gram, needs="outputs", **more,
    )  # fmt: skip


def clouds(seed, m=60, Q=3, features=2):
    """Overlapping classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % Q)
    return rng.normal(size=(m, features)) + y[:, None], y


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("kind", KINDS)
def test_groups_of_one_are_leave_one_out(kind, loss):
    """Errors, classes and margins are those of leave-one-out."""
    X, y = clouds(1)
    cell = cell_of(X, y, Rbf(0.5), 2.0, kind, loss, groups=np.arange(y.size))
    found, one = Logo().score(cell), every_margin_of(cell)
    assert found.columns["logo_errors"] == one.errors
    assert (found.answers.predicted == one.predicted).all()
    at = np.arange(y.size)[:, None], y[:, None]
    mine, theirs = found.answers.outputs, one.outputs
    known = np.isfinite(theirs).all(axis=1)
    same = pytest.approx((theirs[at] - theirs)[known], abs=1e-5)
    assert (mine[at] - mine)[known] == same


@pytest.mark.parametrize(("C", "gamma"), [(0.5, 0.1), (8.0, 0.5), (200.0, 2.0)])
def test_one_versus_one_is_scikit_learn(C, gamma):
    """Every row has the class that SVC gives it without its group."""
    X, y = clouds(2, m=80, Q=4)
    groups = np.random.default_rng(3).integers(0, 9, size=y.size)
    cell = cell_of(X, y, Rbf(gamma), C, "ovo", groups=groups)
    peer = SVC(C=C, gamma=gamma, tol=1e-8)
    split = LeaveOneGroupOut()
    theirs = cross_val_predict(peer, X, y, groups=groups, cv=split)
    found = Logo().score(cell).answers.predicted
    assert (found == theirs).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_goes_with_its_group_is_lost(kind):
    """Its rows are errors, and the others are judged by a machine of fewer classes."""
    X, y = clouds(4, m=45)
    groups = np.where(y == 2, 0, 1 + np.arange(y.size) % 4)
    cell = cell_of(X, y, Rbf(0.5), 2.0, kind, groups=groups)
    answers = Logo().score(cell).answers
    assert (answers.predicted[y == 2] != 2).all()
    assert np.isneginf(answers.outputs[y == 2][:, 2]).all()
    assert np.isfinite(answers.outputs[y != 2]).all()


def test_two_groups_of_one_class_each():
    """Without either only one class is left, and every row is wrong."""
    X, y = clouds(5, m=20, Q=2)
    found = Logo().score(cell_of(X, y, Rbf(0.5), 1.0, groups=y))
    assert found.columns == {"logo_errors": 20, "logo_rate": 1.0}


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_left_out_is_training_without_it(kind):
    """Begun at the full machine or from nothing, the machine is the same."""
    X, y = clouds(6, m=60)
    groups = np.arange(y.size) // 12
    cell = cell_of(X, y, Rbf(0.5), 1.0, kind, groups=groups)
    for g in range(5):
        rows = groups == g
        told = judged_without(cell, rows)
        cold = cell_of(X[~rows], y[~rows], Rbf(0.5), 1.0, kind)
        K = Rbf(0.5).between(X[rows], X[~rows])
        assert told.outputs == pytest.approx(cold.solution.outputs_at(K), abs=1e-6)
        assert told.reason == ""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_a_group_goes_on_from_its_machine_at_the_last_C(kind, loss):
    """The answers are those without; also of a group that takes a class with it."""
    X, y = clouds(4, m=50)
    y[:3] = 3
    groups = np.where(y == 3, 0, 1 + np.arange(y.size) // 13)
    carry, weights = None, np.random.default_rng(0).uniform(0.5, 2.0, 50)
    for C in (0.2, 1.0, 8.0, 1e3):
        cell = cell_of(X, y, Rbf(0.5), C, kind, loss, groups, weights)
        found, alone = Logo().score(cell, carry), Logo().score(cell)
        assert found.columns == alone.columns
        h, other = found.answers.outputs, alone.answers.outputs
        assert np.allclose(h, other, atol=1e-6)
        carry = found.carry
    kept = [told.moved for told in carry.found[1:]]
    assert all(moved is None for moved in kept) == (kind == "ww")


def test_folds_keep_groups_whole_and_classes_even():
    """No group stands in two folds, and each fold has about its share of a class."""
    rng = np.random.default_rng(7)
    groups = rng.integers(0, 60, size=600)
    y = rng.integers(0, 3, size=600)
    tested = np.zeros(600, int)
    for train, test in folds(y, 5, 0, groups):
        assert not set(groups[train]) & set(groups[test])
        shares = np.bincount(y[test], minlength=3) / np.bincount(y)
        assert shares == pytest.approx(0.2, abs=0.05)
        tested[test] += 1
    assert (tested == 1).all()
    train, test = holdout(y, 0.25, 0, groups)
    assert not set(groups[train]) & set(groups[test])
    assert test.size == pytest.approx(150, abs=20)
    assert len(folds(y[:6], 3, 0, np.array([0, 0, 0, 0, 1, 2]))) == 3
    with pytest.raises(SettingsError, match="more folds than there are groups"):
        folds(y, 5, 0, groups % 4)


@pytest.mark.parametrize("kind", KINDS)
def test_kept_mass_is_training_with_larger_boxes(kind):
    """Each answer is that of the machine trained with the boxes of its class grown."""
    X, y = clouds(8, m=36)
    cell = cell_of(X, y, Rbf(0.5), 0.4, kind)
    found = Balanced().score(cell).answers
    sizes = np.bincount(y)
    for p in range(0, y.size, 5):
        keep = np.arange(y.size) != p
        grown = np.where(y == y[p], sizes[y[p]] / (sizes[y[p]] - 1.0), 1.0)[keep]
        cold = cell_of(X[keep], y[keep], Rbf(0.5), 0.4, kind, weights=grown)
        h = cold.solution.outputs_at(Rbf(0.5).between(X[[p]], X[keep]))[0]
        mine = found.outputs[p]
        assert mine - mine[y[p]] == pytest.approx(h - h[y[p]], abs=1e-6)


class _Short(Exact):
    """An exact solver that says it has not arrived."""

    def solve(self, dual, start=None):
        return replace(super().solve(dual, start), converged=False, reason="short")


def test_a_machine_that_falls_short_is_told():
    """The rate of machines without a certificate comes with a note."""
    X, y = clouds(9, m=30)
    cell = replace(cell_of(X, y, Rbf(0.5), 0.4), solver=_Short())
    assert Balanced().score(cell).notes == ("3 classes: short",)


def test_kept_mass_ends_the_bias_on_noise():
    """On noise the pooled area is 0.5 within two errors; plain it is far below."""
    areas = {"plain": [], "kept": []}
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        X, y = rng.normal(size=(40, 10)), np.arange(40) % 2
        cell = cell_of(X, y, Rbf(0.1), 0.01)
        plain, kept = every_margin_of(cell), Balanced().score(cell).answers
        for name, found in (("plain", plain), ("kept", kept)):
            h = found.outputs
            areas[name].append(roc_auc_score(y, h[:, 1] - h[:, 0]))
    error = np.std(areas["kept"], ddof=1) / np.sqrt(20)
    assert abs(np.mean(areas["kept"]) - 0.5) < 2.0 * error
    assert np.mean(areas["plain"]) < 0.2
