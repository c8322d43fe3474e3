"""Leaving out among the samples near the margin, against training without each."""

from __future__ import annotations

import numpy as np
import pytest

from msvm_select.kernels.rbf import Rbf
from msvm_select.records import Dual
from msvm_select.solvers.exact import together
from msvm_select.solvers.exact.exchange import Problem, _turned
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.exact.workbench import Training
from msvm_select.solvers.leave_out import near, tableau
from msvm_select.solvers.leave_out.every_sample import _LeavingOut
from tests.solvers.test_classes import wrong_face
from tests.solvers.test_leave_one_out import assert_same_answers, by_retraining, judged


def clusters(seed: int, C: float = 5.0, gamma: float = 0.05) -> Dual:
    """Five classes of which few samples are near the margin."""
    draw = np.random.default_rng(seed)
    y = np.sort(draw.integers(0, 5, 110))
    X = draw.normal(size=(110, 2)) + 5.0 * draw.normal(size=(5, 2))[y]
    return Dual(Rbf(gamma).gram(X), y, 5, C)


@pytest.fixture
def few(monkeypatch):
    """However few variables there are, only those near take part."""
    monkeypatch.setattr(near, "MANY", 0)
    for module in (near, together):
        monkeypatch.setattr(module, "MOSTLY", 0.9)


@pytest.mark.parametrize("road", ["all rows", "rows", "together"])
@pytest.mark.parametrize("seed", range(3))
def test_left_out_among_those_near_as_by_retraining(seed, road, few, monkeypatch):
    """By every road; some machines want samples that were far, and wait for them."""
    monkeypatch.setattr(together, "FAR", 0.02)
    if road != "all rows":
        monkeypatch.setattr(tableau, "ALL_WATCHED", -1)
        monkeypatch.setattr(
            tableau, "TOGETHER_FROM", 0 if road == "together" else 10**6
        )
    sizes, wider = [], near.Near.wider

    def noted(self: near.Near) -> near.Near:
        sizes.append(self.rows.size)
        return wider(self)

    monkeypatch.setattr(near.Near, "wider", noted)
    dual = clusters(seed)
    assert_same_answers(judged(dual), by_retraining(dual))
    assert sizes
    assert sizes[0] < 0.9 * dual.m


def test_an_answer_that_a_far_sample_breaks_is_not_proven(few) -> None:
    """What is the optimum among those near only, is none of all: it waits."""
    machine = Exact().solve(clusters(1))
    work = _LeavingOut(machine, Exact()._train, 1e-8)
    full = work.full
    supports = np.flatnonzero(full.A.any(axis=0))
    broken = 0
    for p in supports[:10].tolist():
        trained = Exact()._train(Training.shut(full, np.zeros_like(full.A), p))
        entered = np.setdiff1d(np.flatnonzero(trained.A.any(axis=0)), supports)
        for rows, sound in ((np.union1d(supports, entered), True), (supports, False)):
            if not sound and not entered.size:
                continue
            work.near = near.Near(full, work.rest, rows)
            at, here = work.near.local(np.array([p])), work.near
            small = Training.smaller(full, here.gram, here.y, here.A, here.box)
            small = Training.shut(small, np.zeros_like(here.A), int(at[0]))
            A = Exact()._train(small).A
            inside = Problem(here.gram, here.y, 5, here.box)
            change = inside.outputs(A) - here.F
            margins, proof = work._certified(at, A[None], change[None])
            assert margins.any()
            assert here.others_idle(at, A[None], proof)[0] == sound
            broken += not sound
    assert broken


@pytest.mark.parametrize("C", [1.0, 5.0])
def test_a_wrong_face_is_put_right_among_those_near(C, few) -> None:
    """The exchange around a factor; the samples far from the margin have no part."""
    machine = Exact().solve(clusters(2, C, gamma=0.2))
    y, gram, box = machine.dual.y, machine.dual.gram, machine.dual.box
    free = (machine.alpha > 0.0) & (machine.alpha < box[:, None])
    turned = free.T & (np.random.default_rng(0).random((5, y.size)) < 0.1)
    face = wrong_face(machine, turned)
    breach = face.breach.copy()
    breach[y, np.arange(y.size)] = -np.inf
    chosen = together.nearest(face.alpha, breach)
    assert chosen is not None
    assert turned.any()
    problem = Problem(gram, y, 5, box)
    found = _turned(problem, face.factor, face.free, face.alpha, face.breach, 1)
    assert found is not None
    assert found.optimal
    np.testing.assert_allclose(found.alpha, machine.alpha.T, atol=1e-8)


def test_half_the_digits_never_call_a_sample_idle_that_is_not(few) -> None:
    """Machines at, before and beyond the point where some other sample awakes."""
    machine = Exact().solve(clusters(1))
    work = _LeavingOut(machine, Exact()._train, 1e-8)
    here = near.Near(work.full, work.rest, np.flatnonzero(work.full.A.any(axis=0)))
    y, each = work.full.bench.y[here.others], np.arange(here.others.size)
    away = np.random.default_rng(0).normal(size=(60, 5, here.y.size))
    away[:, here.y, np.arange(here.y.size)] = 0.0

    def slopes(F):
        """F_k - F_y (.., 5, others), -inf at the own class."""
        found = F - F[..., y, each][..., None, :]
        found[..., y, each] = -np.inf
        return found

    tau, _ = here.tau_of(here.A + away)
    rise = slopes(np.moveaxis(tau @ here.across, 0, 1))
    base = 1.0 + slopes(here.F_others + work.b[:, None])
    assert base.max() < near.IDLE
    up = np.where(rise > 0.0, rise, 1e-300)
    steps = ((near.IDLE - np.maximum(base, -9.0)) / up).min(axis=(1, 2))
    b, told = np.tile(work.b, (60, 1)), []
    for part in (0.5, 1.0 - 1e-6, 1.0 - 1e-8, 1.0 + 1e-8, 1.0 + 1e-6, 2.0):
        alphas = here.A + (part * steps)[:, None, None] * away
        rough, exact = (here._stay_idle(alphas, b, kind) for kind in (True, False))
        np.testing.assert_array_equal(exact, np.full(60, part < 1.0))
        assert not (rough & ~exact).any()
        told.append(rough.sum())
    assert told[0] > 30  # as a rule they do tell
    assert here._beyond_single(1e20 * away)
