"""The outputs of the machines that did not see a sample."""

import numpy as np
import pytest

from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import BY_TRAINING
from msvm_select.machines.losses import Hinge, Quadratic
from msvm_select.names import MACHINES
from msvm_select.solvers.exact.solver import Exact
from tests.conftest import blobs, with_tiny_classes


def case(name, C=2.0, loss=Hinge, problem=None):
    """Every sample left out, and the outputs of machines trained without each."""
    problem = problem or blobs(30, 4, seed=5)
    X, y, Q, kernel = problem.X, problem.y, problem.Q, Rbf(0.3)
    machine = MACHINES[name](loss())
    whole = machine.train(Exact(), kernel.gram(X), y, Q, C)
    found = machine.leave_out(Exact(), whole, every_margin=True)
    outputs = np.empty((y.size, Q))
    for p in range(y.size):
        keep = np.arange(y.size) != p
        if name == "ova" and not (y[keep] == y[p]).any():
            outputs[p] = np.nan  # scikit-learn's way of a class that is absent
            continue
        one = machine.train(Exact(), kernel.gram(X[keep]), y[keep], Q, C)
        outputs[p] = one.outputs_at(kernel.between(X[p : p + 1], X[keep]))[0]
    return y, whole, found, outputs


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("loss", [Hinge, Quadratic])
def test_outputs_are_those_of_training_without_it(name, loss):
    """Up to a constant in each row, of every class; the largest is the prediction."""
    y, _, found, anew = case(name, loss=loss)
    ours = found.outputs - found.outputs[np.arange(y.size), y][:, None]
    anew = anew - anew[np.arange(y.size), y][:, None]
    assert np.abs(ours - anew).max() < 1e-5
    told = found.predicted >= 0
    assert (found.outputs.argmax(axis=1) == found.predicted)[told].all()


def test_of_a_class_that_is_gone():
    """It has -inf, the others their votes; ww knows nothing of them."""
    problem = with_tiny_classes(blobs(20, 3, seed=6))
    for name in MACHINES:
        y, _, found, anew = case(name, problem=problem)
        alone = np.bincount(y)[y] == 1
        assert alone.any()
        assert (found.outputs[alone, y[alone]] == -np.inf).all()
        rest = found.outputs[alone][:, : problem.Q - 2]
        assert np.isfinite(rest).all()
        if name == "ovo":
            assert np.allclose(found.outputs[alone], anew[alone], atol=1e-6)


def test_training_answers_are_graded_alike():
    """What a machine says of its own samples is what it says of them as new ones."""
    problem, kernel = blobs(30, 4, seed=7), Rbf(0.3)
    for name in MACHINES:
        machine = MACHINES[name](Hinge())
        gram = kernel.gram(problem.X)
        whole = machine.train(Exact(), gram, problem.y, problem.Q, 2.0)
        anew = whole.outputs_at(gram.matrix)
        assert np.abs(whole.graded - anew).max() < 1e-6


def test_what_training_decides_has_no_outputs():
    """With ww it is an error of an unknown class; of two classes, of the other."""
    for Q in (2, 3):
        problem, kernel = blobs(60, Q, seed=8, spread=0.5), Rbf(0.3)
        machine = MACHINES["ww"](Hinge())
        whole = machine.train(Exact(), kernel.gram(problem.X), problem.y, Q, 1.0)
        found = machine.leave_out(Exact(), whole)
        decided = found.road == BY_TRAINING
        assert decided.any()
        assert np.isnan(found.outputs[decided]).all()
        assert np.isfinite(found.outputs[~decided]).all()
        expected = 1 - found.y[decided] if Q == 2 else -1
        assert (found.predicted[decided] == expected).all()
        every = machine.leave_out(Exact(), whole, every_margin=True)
        assert np.isfinite(every.outputs).all()
        assert (every.wrong == found.wrong).all()
