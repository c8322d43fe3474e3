"""C w_i: a weight is that many copies of its sample, whatever the road."""

import numpy as np
import pytest

from msvm_select.kernels.rbf import Rbf
from msvm_select.left_out import RETRAINED
from msvm_select.machines.composed import OneVersusAll, OneVersusOne
from msvm_select.machines.losses import Hinge, Quadratic
from msvm_select.machines.weston_watkins import WestonWatkins
from msvm_select.parts import Composed
from msvm_select.solvers.base import Solver
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.osqp import Osqp
from msvm_select.solvers.qp import Qp
from msvm_select.solvers.smo import Smo

MACHINES = (WestonWatkins, OneVersusOne, OneVersusAll)
LOSSES = (Hinge, Quadratic)
KERNEL = Rbf(0.4)


def clouds(seed, m=48, Q=3, features=2):
    """Overlapping classes and whole weights from 1 to 3."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % Q)
    X = rng.normal(size=(m, features)) + 0.9 * y[:, None]
    return X, y, Q, rng.integers(1, 4, size=m).astype(float)


def outputs(machine, K):
    """Those of a machine at new points, or those of its parts."""
    if isinstance(machine, Composed):
        return (
            np.stack(
                [
                    K[:, part.rows]
                    @ (sign(part) * machine.parts.own(part, machine.alpha))
                    for part, _ in machine.solutions()
                ],
                axis=1,
            )
            + machine.b
        )
    return K @ machine.tau + machine.b


def sign(part):
    """1 for the first class of a part, -1 for the other."""
    return np.where(part.positive, 1.0, -1.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("C", [0.3, 8.0])
def test_a_weight_of_two_is_the_row_twice(kind, loss, C):
    """Outputs, objective and sum of alpha are those of the copied rows, to 1e-9."""
    X, y, Q, w = clouds(1)
    again = np.repeat(np.arange(y.size), w.astype(int))
    one = kind(loss()).train(Exact(1e-10), KERNEL.gram(X), y, Q, C, weights=w)
    gram = KERNEL.gram(X[again])
    other = kind(loss()).train(Exact(1e-10), gram, y[again], Q, C)
    assert one.converged
    assert one.gap <= 1e-10
    new = np.random.default_rng(2).normal(size=(20, 2))
    mine, theirs = KERNEL.between(new, X), KERNEL.between(new, X[again])
    assert outputs(one, mine) == pytest.approx(outputs(other, theirs), abs=1e-9)
    assert one.dual_objective == pytest.approx(other.dual_objective, rel=1e-9)
    assert one.sum_alpha == pytest.approx(other.sum_alpha, rel=1e-9)


@pytest.mark.parametrize("solver", [Smo(1e-9), Osqp(1e-9), Qp(1e-9)])
@pytest.mark.parametrize("kind", MACHINES)
def test_every_solver_knows_the_weights(kind, solver):
    """The optimum is the same by every road, cold and from another C."""
    X, y, Q, w = clouds(3, m=24)
    gram = KERNEL.gram(X)
    best = kind(Hinge()).train(Exact(), gram, y, Q, 2.0, weights=w)
    machine = kind(Hinge())
    found = machine.train(solver, gram, y, Q, 2.0, weights=w)
    warm = machine.train(solver, gram, y, Q, 0.5, weights=w)
    warm = machine.train(solver, gram, y, Q, 2.0, warm, weights=w)
    for one in (found, warm):
        assert one.dual_objective == pytest.approx(best.dual_objective, rel=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", MACHINES)
def test_left_out_with_weights_is_retraining(kind, loss):
    """The fast road and the general one agree in every answer and margin."""
    X, y, Q, w = clouds(4, m=44, Q=4)
    for C in (0.2, 1.0, 30.0):
        machine = kind(loss())
        cell = machine.train(Exact(), KERNEL.gram(X), y, Q, C, weights=w)
        fast = machine.leave_out(Exact(), cell, every_margin=True)
        slow = machine.leave_out(_Retrained(), cell, every_margin=True)
        assert fast.count(RETRAINED) < 10
        assert (fast.predicted == slow.predicted).all()
        known = np.isfinite(slow.margins)
        assert fast.margins[known] == pytest.approx(slow.margins[known], abs=2e-6)


class _Retrained(Exact):
    """The exact solver that leaves out by training anew."""

    leave_out = Solver.leave_out
    leave_parts_out = Solver.leave_parts_out


def test_another_box_begins_in_its_own():
    """From a machine of other weights training begins in the new box."""
    X, y, Q, w = clouds(5)
    gram, machine = KERNEL.gram(X), WestonWatkins(Hinge())
    last = machine.train(Exact(), gram, y, Q, 4.0)
    cold = machine.train(Exact(), gram, y, Q, 4.0, weights=w / 3.0)
    warm = machine.train(Exact(), gram, y, Q, 4.0, last, weights=w / 3.0)
    assert warm.converged
    assert warm.tau == pytest.approx(cold.tau, abs=1e-7)
    parts = OneVersusOne(Hinge())
    last = parts.train(Exact(), gram, y, Q, 4.0)
    warm = parts.train(Exact(), gram, y, Q, 4.0, last, weights=w / 3.0)
    cold = parts.train(Exact(), gram, y, Q, 4.0, weights=w / 3.0)
    assert warm.converged
    assert warm.alpha == pytest.approx(cold.alpha, abs=1e-7)
