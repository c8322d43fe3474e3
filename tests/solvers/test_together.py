"""Many samples left out at once, against training without each from nothing."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from msvm_select.kernels.rbf import Rbf
from msvm_select.records import Dual
from msvm_select.solvers.exact import classes, together
from msvm_select.solvers.exact.solver import Exact
from msvm_select.solvers.leave_out import every_sample, near, tableau
from tests.solvers.test_classes import PROBLEMS, dual_of
from tests.solvers.test_leave_one_out import (
    assert_same_answers,
    by_retraining,
    judged,
    random_problem,
)


@pytest.fixture
def settled(monkeypatch):
    """Always on this road; the samples that it settles are listed."""
    monkeypatch.setattr(tableau, "ALL_WATCHED", -1)
    monkeypatch.setattr(tableau, "WITH_TWINS", -1)
    monkeypatch.setattr(tableau, "TOGETHER_FROM", 0)
    found: list[int] = []
    without = together.Together.without

    def noted(self, samples, answer, *others):
        def also(some, *told):
            found.extend(some.tolist())
            answer(some, *told)

        without(self, samples, also, *others)

    monkeypatch.setattr(together.Together, "without", noted)
    return found


@pytest.mark.parametrize("name", ["five", "twelve", "tiny", "duplicates"])
@pytest.mark.parametrize(("gamma", "C"), [(0.7, 3.0), (6.0, 0.1)])
def test_left_out_together_as_by_retraining(name, gamma, C, settled):
    """The same answers, and most samples need no other road."""
    dual = dual_of(PROBLEMS[name], gamma, C)
    left_out = judged(dual)
    assert_same_answers(left_out, by_retraining(dual))
    asked = np.count_nonzero(left_out.exchanges)
    assert len(settled) >= 0.2 * asked


@pytest.mark.parametrize("seed", range(12, 22))
def test_left_out_together_on_random_problems(seed, settled):
    """Likewise: any kernel, classes of one sample, twins of other classes."""
    dual, _ = random_problem(seed)
    assert_same_answers(judged(dual), by_retraining(dual))


def test_in_steps_where_one_turn_may_not_be_enough(settled, monkeypatch):
    """With two turns a step, alpha_p goes to 0 in several."""
    monkeypatch.setattr(together, "TURNS_A_STEP", 2)
    dual = dual_of(PROBLEMS["five"], 0.7, 3.0)
    assert_same_answers(judged(dual), by_retraining(dual))
    assert settled


def test_samples_at_one_place_enter_as_one(settled):
    """Two of three twins at a bound would enter at once: their system is singular."""
    draw = np.random.default_rng(3)
    y = np.repeat(np.arange(4), 12)
    X = draw.normal(size=(48, 3)) + 1.2 * draw.normal(size=(4, 3))[y]
    X[1], X[2], X[14], X[26] = X[0], X[0], X[13], X[25]
    dual = Dual(Rbf(0.7).gram(X), y, 4, 1.0)
    assert_same_answers(judged(dual), by_retraining(dual))
    assert len(settled) > 20


def test_the_same_bytes_with_two_jobs(settled, monkeypatch):
    """Batches are the same whoever works on them."""
    monkeypatch.setattr(together, "IN_A_BATCH", 2000)
    machine = Exact().solve(dual_of(PROBLEMS["five"], 0.7, 3.0))
    one, two = (Exact().leave_out(machine, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.margins, two.margins)


def test_what_earlier_samples_needed_is_let_go(settled, monkeypatch):
    """With room for a few rows only: the same answers, and no more is held for long."""
    monkeypatch.setattr(every_sample, "A_BLOCK", (4, 4))
    machine = Exact().solve(dual_of(PROBLEMS["five"], 0.7, 3.0))
    expected = Exact().leave_out(machine, every_margin=True)
    without, begun = together.Together.without, []

    def cramped(self, *given):
        self.room = 40
        without(self, *given)
        begun.append(self.filled)

    monkeypatch.setattr(together.Together, "without", cramped)
    found = Exact().leave_out(machine, every_margin=True)
    np.testing.assert_allclose(found.margins, expected.margins, atol=1e-8)
    assert len(begun) > 3
    assert max(begun) < 0.6 * machine.alpha.size


@pytest.mark.parametrize(("name", "C"), [("five", 0.5), ("twelve", 3.0)])
def test_one_inverse_for_all_classes_answers_as_their_own_do(name, C, settled):
    """Arcs at both bounds and samples without a free one: all in the other answers."""
    dual = dual_of(PROBLEMS[name], 0.7, C)
    machine = Exact().solve(dual)
    found = []
    for few_lacking in (-1.0, 1.0):
        with patch.object(classes, "FEW_LACKING", few_lacking):
            engines = []
            without = together.Together.without

            def noted(self, *given, kept=engines, without=without):
                kept.append(type(self.answered))
                without(self, *given)

            with patch.object(together.Together, "without", noted):
                found.append(Exact().leave_out(machine, every_margin=True))
        assert {*engines} == {[together._ByClass, together._ByWhole][few_lacking > 0.0]}
    one, other = found
    np.testing.assert_allclose(one.margins, other.margins, atol=1e-7)
    assert_same_answers(other, by_retraining(dual))


def test_alpha_may_be_that_of_the_second_of_two_samples_at_one_place(
    settled, monkeypatch
):
    """The factor knows the first; what is found balances the flow all the same."""
    problem, C = PROBLEMS["five"], 3.0
    X, y = problem.X.copy(), problem.y
    pairs = [np.flatnonzero(y == k)[:2] for k in range(problem.Q)]
    for one, other in pairs:
        X[other] = X[one]
    machine = Exact().solve(dual_of(replace(problem, X=X), 0.7, C))
    alpha = machine.alpha.copy()
    for one, other in pairs:  # that of one arc is the second's, the others' are shared
        arc = np.argmax(np.where(alpha[one] < 0.4 * C, alpha[one], 0.0))
        alpha[other, arc] += alpha[one, arc]
        alpha[one, arc] = 0.0
    tau = -alpha
    tau[np.arange(y.size), y] = alpha.sum(axis=1)
    assert np.abs(machine.dual.gram.matrix @ tau - machine.F).max() < 1e-9
    facts = []
    proof = near.Near.proof

    def noted(self, *given):
        found = proof(self, *given)
        facts.append(found.facts)
        return found

    monkeypatch.setattr(near.Near, "proof", noted)
    left_out = Exact().leave_out(replace(machine, tau=tau), every_margin=True)
    assert len(settled) > 20
    assert np.abs(np.concatenate(facts)).max() < 1e-8
    assert_same_answers(left_out, by_retraining(machine.dual))
