"""The model of what cells cost, on costs that are made up by a known rule."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from msvm_select.columns import Row
from msvm_select.sweep import costs as model
from msvm_select.sweep.costs import Costs, Estimate, Place, hard_margin, in_parallel
from msvm_select.train.events import CellDone

CS = tuple(2.0**k for k in range(-3, 10, 2))
GRID = [Place(i, C) for i in range(5) for C in CS]


def rule(place: Place, m: int, power: float = 2.4, rough: float = 6.0) -> float:
    """Seconds: something for each cell, and a work of m and of the kernel."""
    work = 1e-6 * m**power * rough ** (place.kernel / 4) * place.C**-0.1
    return float(0.002 + work * (1.0 + 0.2 * math.sin(7 * place.kernel + place.C)))


def told(sizes: tuple[int, ...], power: float = 2.4) -> Costs:
    """A model that knows three C of each kernel, at each of the sizes."""
    costs = Costs(5, CS)
    for m, i, C in itertools.product(sizes, range(5), CS[::3]):
        costs.tell(Place(i, C), m, rule(Place(i, C), m, power))
    return costs


@pytest.mark.parametrize("power", [1.8, 2.2, 2.6])
def test_small_parts_tell_what_all_samples_cost(power: float) -> None:
    """The sum over the grid, at four times the samples, and the truth in its range."""
    seconds, doubt = told((40, 80, 160, 320), power).seconds(GRID, 1280)
    truth = sum(rule(place, 1280, power) for place in GRID)
    assert 0.5 < seconds.sum() / truth < 2.0
    assert abs(math.log(seconds.sum() / truth)) < 2.0 * doubt


def test_what_was_measured_is_known_best() -> None:
    """At the samples that were told a sum is nearly exact; far beyond it is not."""
    costs = told((40, 80, 160))
    seconds, near = costs.seconds(GRID, 160)
    assert seconds.sum() == pytest.approx(sum(rule(p, 160) for p in GRID), rel=0.15)
    doubts = [near, costs.seconds(GRID, 640)[1], costs.seconds(GRID, 5120)[1]]
    assert doubts == sorted(doubts)
    assert Estimate.of(1.0, doubts[-1]).high is None


def test_each_cell_corrects_it() -> None:
    """Two dear cells of a kernel setting make its others dear, and no other much."""
    costs = Costs(5, CS)
    for C in CS:
        costs.tell(Place(0, C), 100, 1.0)
    before = costs.seconds([Place(1, CS[-1]), Place(4, 1.0)], 100)[0]
    for C in CS[:4]:
        costs.tell(Place(1, C), 100, 8.0)
    after = costs.seconds([Place(1, CS[-1]), Place(0, CS[-1])], 100)[0]
    assert 1.0 < before[0] < before[1] < 2.0
    assert 3.0 < after[0] < 10.0
    assert after[1] < 2.5


def test_no_range_is_wider_than_a_factor_of_four() -> None:
    """The same rule for a plan and for what is left; else there is no upper end."""
    for seconds, doubt in itertools.product((1e-3, 7.0, 1e6), np.linspace(0, 3, 61)):
        found = Estimate.of(seconds, doubt)
        assert found.low < seconds
        if found.high is not None:
            assert seconds < found.high <= 4.0 * found.low * (1.0 + 1e-12)
    assert Estimate.of(1.0, 0.1).high is not None
    assert Estimate.of(1.0, 1.0).high is None


def test_copies_cost_nothing() -> None:
    """Of a setting that has come to a hard margin, from the next C on."""
    costs = told((100,))
    costs.tell(Place(2, 0.5), 100, 1.0)
    costs.tell(Place(2, 2.0), 100, 1.0, hard=1.3)
    count = len(costs.told)
    costs.tell(Place(2, 8.0), 100, 0.0001, hard=1.3)
    assert len(costs.told) == count
    seconds, _ = costs.seconds([Place(2, C) for C in CS], 100)
    assert (seconds > 0.0).tolist() == [C <= 2.0 for C in CS]


def trained(costs: Costs, kernel: int, m: int) -> int:
    """How many C of a kernel setting are thought to be trained."""
    return int((costs.seconds([Place(kernel, C) for C in CS], m)[0] > 0.0).sum())


def test_copies_are_guessed_where_no_setting_has_come_so_far() -> None:
    """Rougher ones come to them sooner; with more samples they come later."""
    costs = Costs(5, CS)
    costs.tell(Place(2, 32.0), 100, 1.0, hard=30.0)
    counts = [trained(costs, kernel, 100) for kernel in range(5)]
    assert counts[:2] == [7, 7]
    assert counts[2] >= counts[3] > counts[4] > 0
    assert trained(costs, 2, 1600) > counts[2]


def test_a_setting_that_went_beyond_the_guess_is_believed() -> None:
    """Its next cell is thought to be trained."""
    costs = Costs(5, CS)
    costs.tell(Place(1, 0.5), 100, 1.0, hard=0.4)
    assert trained(costs, 2, 100) < 5
    for C in CS[:5]:
        costs.tell(Place(2, C), 100, 1.0)
    assert trained(costs, 2, 100) == 6


def test_what_is_loaded_at_first_use_is_no_cost() -> None:
    """A first cell that is far dearer than the second counts as the second."""
    costs = Costs(2, CS)
    costs.tell(Place(0, CS[0]), 100, 20.0)
    costs.tell(Place(0, CS[1]), 100, 1.0)
    assert costs.seconds([Place(0, CS[2])], 100)[0][0] < 2.0


def test_a_large_grid_is_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some cells stand for those beside them, and the sum stays what it is."""
    costs = told((100,))
    grid = [Place(i, C) for i in range(5) for C in np.geomspace(CS[0], CS[-1], 60)]
    thin = costs.seconds(grid, 100)[0].sum()
    monkeypatch.setattr(model, "ASKED", 1000)
    assert thin == pytest.approx(costs.seconds(grid, 100)[0].sum(), rel=0.05)
    assert costs.seconds([], 100)[0].size == 0


def test_the_longest_setting_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs share settings, as far as there are settings and processors."""
    monkeypatch.setattr(model.os, "cpu_count", lambda: 2)
    assert in_parallel([4.0, 4.0], 1) == 8.0
    assert in_parallel([4.0, 4.0], 2) == 4.0
    assert in_parallel([4.0, 4.0, 4.0, 4.0], 8) == 8.0
    assert in_parallel([9.0, 1.0, 0.0], 2) == 9.0
    assert in_parallel([], 2) == 0.0


def test_a_row_tells_where_copies_begin() -> None:
    """Where no alpha is at C; with the quadratic loss there are none."""
    point = {"kernel": "rbf", "gamma": 1.0, "C": 8.0}
    assert hard_margin(CellDone(Row(**point, n_bounded=0))) == 8.0
    assert hard_margin(CellDone(Row(**point, n_bounded=3))) is None
    assert hard_margin(CellDone(Row(**point, n_bounded=0, loss="l2"))) is None
    assert hard_margin(CellDone(Row(**point, status="failed"))) is None
