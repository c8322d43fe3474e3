"""Machines of several parts beside scikit-learn's, and beside their own retraining."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from msvm_select import fit, load_csv, run_sweep
from msvm_select.kernels.inner_products import Linear
from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import Voted, graded_votes
from msvm_select.machines.composed import OneVersusAll, OneVersusOne
from msvm_select.machines.losses import Hinge, Quadratic
from msvm_select.machines.weston_watkins import WestonWatkins
from msvm_select.parts import pair_decisions, sums_of, votes_of
from msvm_select.records import Blocks, Scaling
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.qp import Qp
from tests.conftest import slowly
from tests.solvers.degenerate import degenerate

DATA = Path(__file__).parents[2] / "data"
CELLS = ((0.5, 0.03125), (8.0, 0.125), (128.0, 0.5))


def loaded(name):
    """Scaled X, y, Q of a file."""
    data = load_csv(DATA / f"{name}.csv")
    return Scaling.fit(data.X, "standard").apply(data.X), data.y, data.Q


def blobs(seed, m=60, Q=4, features=3):
    """Q overlapping clouds."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % Q
    return rng.normal(size=(m, features)) + 0.8 * y[:, None], y, Q


def trained(kind, X, y, Q, C, kernel, loss=Hinge, solver=Exact):
    """The machine of all samples."""
    return kind(loss()).train(solver(), kernel.gram(X), y, Q, C)


@pytest.mark.parametrize("name", ["iris", "wine", "glass"])
@pytest.mark.parametrize(("C", "gamma"), CELLS)
def test_one_versus_one_is_svc(name, C, gamma):
    """On held-out rows: the same classes, and the same decision of every pair."""
    X, y, Q = loaded(name)
    test = np.arange(y.size) % 4 == 0
    kernel = Rbf(gamma)
    machine = trained(OneVersusOne, X[~test], y[~test], Q, C, kernel)
    assert machine.converged
    assert machine.gap <= 1e-8
    peer = SVC(C=C, gamma=gamma, tol=1e-8, decision_function_shape="ovo")
    peer.fit(X[~test], y[~test])
    K = kernel.between(X[test], X[~test])
    f = pair_decisions(
        K, machine.alpha, machine.b, machine.parts.y, machine.parts.pairs
    )
    # LIBSVM keeps K in single precision, which C multiplies
    near = 1e-5 * max(1.0, C / 8.0)
    assert np.abs(f - peer.decision_function(X[test])).max() < near
    assert (machine.labels(K) == peer.predict(X[test])).all()
    # of twins both are support vectors here, with LIBSVM perhaps one
    own = np.flatnonzero(machine.is_support_vector)
    distinct = [np.unique(X[~test][some], axis=0) for some in (own, peer.support_)]
    assert np.array_equal(*distinct)


@pytest.mark.parametrize(("C", "gamma"), CELLS)
def test_one_versus_all_is_one_vs_rest(C, gamma):
    """Outputs and classes of OneVsRestClassifier(SVC(C))."""
    X, y, Q = loaded("wine")
    test = np.arange(y.size) % 4 == 0
    kernel = Rbf(gamma)
    machine = trained(OneVersusAll, X[~test], y[~test], Q, C, kernel)
    peer = OneVsRestClassifier(SVC(C=C, gamma=gamma, tol=1e-8)).fit(X[~test], y[~test])
    K = kernel.between(X[test], X[~test])
    _, h = machine.parts.decided(K, machine.alpha, machine.b)
    assert np.abs(h - peer.decision_function(X[test])).max() < 1e-5
    assert (machine.labels(K) == peer.predict(X[test])).all()


def left_out_by(classifier, X, y, some):
    """The class of some samples by scikit-learn's classifier trained without each."""
    labels = np.full_like(y, -1)
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for p in some:
            classifier.fit(np.delete(X, p, axis=0), np.delete(y, p))
            labels[p] = classifier.predict(X[p : p + 1])[0]
    return labels


VOWEL = pytest.param("vowel", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", ["iris", "wine", "glass", VOWEL])
@pytest.mark.parametrize(("C", "gamma"), CELLS)
def test_left_out_as_scikit_learn_leaves_out(name, C, gamma):
    """Sample by sample the class that SVC gives it when it is trained without it.

    The three cells have a third of the samples each.
    """
    X, y, Q = loaded(name)
    machine = trained(OneVersusOne, X, y, Q, C, Rbf(gamma))
    found = OneVersusOne(Hinge()).leave_out(Exact(), machine)
    some = np.arange(CELLS.index((C, gamma)), y.size, len(CELLS))
    peer = left_out_by(SVC(C=C, gamma=gamma, tol=1e-6), X, y, some)
    assert (~found.in_doubt).mean() > 0.9
    sure = some[~found.in_doubt[some]]
    assert (found.predicted[sure] == peer[sure]).all()
    assert found.errors == (found.predicted != y).sum()


def test_one_versus_all_left_out():
    """Likewise for OneVsRestClassifier."""
    X, y, Q = loaded("iris")
    machine = trained(OneVersusAll, X, y, Q, 8.0, Rbf(0.125))
    found = OneVersusAll(Hinge()).leave_out(Exact(), machine)
    peer = OneVsRestClassifier(SVC(C=8.0, gamma=0.125, tol=1e-6))
    some = np.arange(0, y.size, 3)
    labels = left_out_by(peer, X, y, some)
    sure = some[~found.in_doubt[some]]
    assert (found.predicted[sure] == labels[sure]).all()


@pytest.mark.parametrize("kind", [OneVersusOne, OneVersusAll])
@pytest.mark.parametrize("loss", [Hinge, Quadratic])
@pytest.mark.parametrize("kernel", [Rbf(0.3), Linear()])
def test_all_at_once_is_part_by_part(kind, loss, kernel):
    """The compiled road and any solver, part by part, agree; so do left-out outputs."""
    X, y, Q = blobs(3, m=18)
    fast, slow = (
        trained(kind, X, y, Q, 4.0, kernel, loss, solver) for solver in (Exact, Qp)
    )
    assert fast.dual_objective == pytest.approx(slow.dual_objective, rel=1e-6)
    assert np.abs(fast.found.f - slow.found.f).max() < 1e-4
    one, other = (
        kind(loss()).leave_out(solver, machine)
        for solver, machine in ((Exact(), fast), (Qp(), slow))
    )
    both = np.isfinite(one.margins) & np.isfinite(other.margins)
    assert np.abs(one.margins[both] - other.margins[both]).max() < 1e-3
    sure = ~(np.abs(other.margins) < 1e-3).any(axis=1)
    assert sure.mean() > 0.4
    assert (one.wrong[sure] == other.wrong[sure]).all()


def test_two_classes_are_weston_watkins_at_half_of_C():
    """One pair of classes: the same machine, the same certificate, the same errors."""
    X, y, Q = blobs(5, m=40, Q=2)
    gram = Rbf(0.5).gram(X)
    pair = OneVersusOne(Hinge()).train(Exact(), gram, y, Q, 6.0)
    whole = WestonWatkins(Hinge()).train(Exact(), gram, y, Q, 3.0)
    assert pair.dual_objective == pytest.approx(whole.dual_objective, rel=1e-9)
    assert pair.sum_alpha == pytest.approx(whole.sum_alpha, rel=1e-7)
    assert (pair.n_sv, pair.n_bounded) == (whole.n_sv, whole.n_bounded)
    assert pair.train_errors == whole.train_errors
    left = OneVersusOne(Hinge()).leave_out(Exact(), pair)
    assert left.errors == Exact().leave_out(whole).errors


@pytest.mark.parametrize("kind", [OneVersusOne, OneVersusAll])
@pytest.mark.parametrize("seed", range(12))
def test_left_out_is_retrained_without(kind, seed):
    """The decision of every part at every sample, beside a training without it."""
    rng = np.random.default_rng(seed)
    X, y, Q = blobs(seed, m=24, Q=3, features=2)
    if seed % 3 == 0:  # twins, some of another class
        X = np.concatenate([X, X[:6]])
        y = np.concatenate([y, (y[:6] + seed % 2) % Q])
    C = 10.0 ** rng.uniform(-2, 3)
    kernel = Rbf(10.0 ** rng.uniform(-2, 0.5)) if seed % 4 else Linear()
    machine = trained(kind, X, y, Q, C, kernel)
    assert machine.converged
    found = kind(Hinge()).leave_out(Exact(), machine)
    for p in range(y.size):
        keep = np.arange(y.size) != p
        without = trained(kind, X[keep], y[keep], Q, C, kernel)
        K = kernel.between(X[p][None], X[keep])
        if kind is OneVersusAll:
            _, h = without.parts.decided(K, without.alpha, without.b)
            margins = h[0, y[p]] - h[0]
        else:
            f = pair_decisions(
                K, without.alpha, without.b, without.parts.y, without.parts.pairs
            )[0]
            margins = np.full(Q, np.nan)
            for (a, b), value in zip(combinations(range(Q), 2), f, strict=True):
                if y[p] in (a, b):
                    other, sign = (b, 1.0) if y[p] == a else (a, -1.0)
                    margins[other] = sign * value
        others = np.arange(Q) != y[p]
        assert np.abs(found.margins[p, others] - margins[others]).max() < 1e-5
        if not found.in_doubt[p]:
            assert found.predicted[p] == without.labels(K)[0]


def test_blocks_are_the_whole_matrix():
    """One block of a pair at a time gives what the whole matrix gives."""
    X, y, Q = blobs(8)
    kernel = Rbf(0.4)
    whole, machine = kernel.gram(X), OneVersusOne(Hinge())
    blocks = Blocks(X=X, between=kernel.between, finite=kernel.finite)
    for loss in (Hinge, Quadratic):
        machine = OneVersusOne(loss())
        one = machine.train(Exact(), whole, y, Q, 8.0)
        other = machine.train(Exact(), blocks, y, Q, 8.0)
        assert np.abs(one.found.f - other.found.f).max() < 1e-9
        left, same = (machine.leave_out(Exact(), m) for m in (one, other))
        assert (left.predicted == same.predicted).all()
        jobs = machine.leave_out(Exact(), one, jobs=2)
        assert jobs.margins.tobytes() == left.margins.tobytes()


def test_a_class_of_one_sample():
    """Its left-out answer is what the other pairs vote: always an error."""
    X, y, Q = blobs(2, m=21, Q=3)
    X, y = np.concatenate([X, [[9.0, 9.0, 9.0]]]), np.append(y, 3)
    for kind in (OneVersusOne, OneVersusAll):
        machine = trained(kind, X, y, 4, 8.0, Rbf(0.2))
        found = kind(Hinge()).leave_out(Exact(), machine)
        assert found.wrong[-1]
        assert found.predicted[-1] != 3
        assert machine.train_errors <= found.errors


def test_three_hundred_classes_of_three():
    """44,850 pairs answer, each sample left out."""
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(300), 3)
    X = rng.normal(size=(300, 5))[y] + 0.1 * rng.normal(size=(900, 5))
    machine = trained(OneVersusOne, X, y, 300, 8.0, Rbf(1.0))
    assert machine.converged
    found = OneVersusOne(Hinge()).leave_out(Exact(), machine)
    assert machine.train_errors <= found.errors < 450


def test_votes_are_those_of_all_decisions():
    """Counted one by one they are what a table of every decision says, ties and all."""
    rng = np.random.default_rng(4)
    y = np.sort(rng.integers(0, 21, 150)[:149])
    y[y == 7] = 8  # a class without a sample
    X = np.round(rng.normal(size=(149, 2)) + 0.2 * y[:, None], 1)
    X[1], X[140] = X[0], X[3]  # twins
    for loss in (Hinge, Quadratic):
        machine = trained(OneVersusOne, X, y, 21, 4.0, Rbf(0.5), loss)
        K, parts = Rbf(0.5).between(X, X), machine.parts
        f = pair_decisions(K, machine.alpha, machine.b, y, parts.pairs)
        votes = votes_of(f, parts.pairs, 21, np.ones(f.shape, dtype=np.bool_))
        assert (parts.decided(K, machine.alpha, machine.b)[1] == votes).all()
        assert (machine.predicted == votes.argmax(axis=1)).all()
        assert (machine.outputs == votes).all()
        own = (parts.pairs[None] == y[:, None, None]).any(axis=2)
        others = votes_of(f, parts.pairs, 21, ~own)
        assert (machine.votes_of_others(np.arange(149)) == others).all()
        everything = np.ones(f.shape, dtype=np.bool_)
        graded = graded_votes(votes, sums_of(f, parts.pairs, 21, everything))
        graded[:, 7] = -np.inf
        assert np.allclose(machine.graded, graded, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", [OneVersusOne, OneVersusAll])
@pytest.mark.parametrize("loss", [Hinge, Quadratic])
def test_alpha_does_not_depend_on_the_order_of_the_rows(kind, loss):
    """Twins, lattices and few dimensions: each part has the alpha of least norm."""
    for seed in range(60):
        X, y, Q, kernel, C = degenerate(seed)
        order = np.random.default_rng(seed).permutation(y.size)
        one = trained(kind, X, y, Q, C, kernel, loss)
        other = trained(kind, X[order], y[order], Q, C, kernel, loss)
        unit = float(one.alpha.max()) or 1.0
        assert np.abs(one.alpha[order] - other.alpha).max() < 1e-6 * unit, seed
        assert (other.n_sv, other.n_bounded) == (one.n_sv, one.n_bounded), seed
        assert other.b_unique == one.b_unique, seed
        assert max(one.gap, other.gap) <= 1e-8, seed


@pytest.mark.parametrize("seeds", [(14, 51), slowly((19, 35))], ids=str)
@pytest.mark.parametrize("machine", ["ovo", "ova"])
@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_bounds_do_not_depend_on_the_order_of_the_rows(machine, loss, seeds):
    """Nor on which of twins a path ends at."""
    for seed in seeds:
        X, y, _, kernel, _ = degenerate(seed)
        order = np.random.default_rng(seed).permutation(y.size)
        one, other = (
            run_sweep(
                (X[rows], y[rows]), machine=machine, loss=loss, C=1e4,
                kernel=kernel.name, scale="none", **kernel.parameters,
                criteria="radius-margin,radius-margin-count,sv-rate",
            ).rows
            for rows in (np.arange(y.size), order)
        )  # fmt: skip
        assert one[0].radius_margin_applicable
        assert other[0].n_sv == one[0].n_sv, seed
        assert other[0].radius_margin_count == one[0].radius_margin_count, seed
        assert other[0].radius_margin == pytest.approx(one[0].radius_margin, rel=1e-6)


def test_a_tie_of_outputs_is_the_first_class_wherever_it_is_asked_for():
    """Four corners whose classes no straight line tells apart: every output is -1."""
    X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]] * 3)
    X, y = np.concatenate([X, X]), np.repeat([0, 1, 2], 8)
    machine = trained(OneVersusAll, X, y, 3, 1.0, Linear())
    assert np.abs(machine.outputs + 1.0).max() < 1e-9
    assert (machine.predicted == 0).all()
    assert machine.train_errors == 16
    found = OneVersusAll(Hinge()).leave_out(Exact(), machine)
    assert (found.predicted == 0).all()
    assert (found.wrong == (y != 0)).all()
    assert found.in_doubt.all()
    model = fit((X, y), machine="ova", kernel="linear", scale="none")
    assert set(model.predict(X)) == {"0"}
    assert model.training.train_errors == 16


def test_where_the_kernel_tells_nothing_apart_all_share_the_weight():
    """One point, or K = 0: the rest, twice as many, carry half of C each."""
    y = np.repeat([0, 1, 2], 5)
    for kernel, X in ((Rbf(1.0), np.ones((15, 2))), (Linear(), np.zeros((15, 2)))):
        machine = trained(OneVersusAll, X, y, 3, 2.0, kernel)
        assert machine.alpha == pytest.approx(np.where(np.eye(3)[y], 2.0, 1.0))
        assert (machine.n_sv, machine.b_unique) == (15, True)


def test_a_pair_of_other_classes_that_decides_nothing_is_in_doubt():
    """f = 0 between two other classes may turn the vote: the sample is ambiguous."""
    X = np.array([[-2.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0, 0]])
    y = np.array([0, 0, 1, 1, 2, 2])
    machine = OneVersusOne(Hinge())
    found = machine.train(Exact(), Linear().gram(X), y, 3, 1.0)
    left_out = machine.leave_out(Exact(), found)
    assert isinstance(left_out, Voted)
    assert np.abs(left_out.margins[5, :2]).min() > 1e-3
    assert left_out.lost[5].any()
    assert left_out.nearest[5] < 1e-6
    assert left_out.in_doubt[5]


@pytest.mark.parametrize("kind", [OneVersusOne, OneVersusAll])
def test_features_that_do_not_vary_leave_votes_of_the_sizes(kind):
    """With K = 0 every left-out sample has a finite answer: that of the other class."""
    y = np.arange(6) % 2
    machine = kind(Hinge())
    cell = machine.train(Exact(), Linear().gram(np.zeros((6, 1))), y, 2, 1.0)
    found = machine.leave_out(Exact(), cell, every_margin=True)
    own = np.arange(6), y
    assert np.isfinite(np.delete(found.margins.ravel(), own[0] * 2 + own[1])).all()
    assert found.errors == 6
