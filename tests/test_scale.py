"""Growth on paper: the simulated scheduler, and that the page shows what it prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench import scale

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
TASKS = st.lists(st.floats(1.0, 1e5), min_size=1, max_size=40)


def test_the_page_shows_what_the_script_prints() -> None:
    """All of it, from the figures that were measured once."""
    assert "\n".join(scale.report()) in PAGE.read_text("utf-8")


@given(TASKS, st.integers(1, 30))
def test_no_scheduler_beats_the_work_and_the_longest_task(
    tasks: list[float], machines: int
) -> None:
    """Graham: between the lower bound and twice it, with what sending takes."""
    took = scale.makespan(tasks, machines)
    work = sum(tasks) + scale.LATENCY * len(tasks)
    least = max(work / machines, max(tasks))
    sent = machines * 8 * scale.ROWS * scale.FEATURES / scale.BANDWIDTH
    assert least <= took * (1.0 + 1e-12)
    assert took <= 2.0 * least + sent + scale.LATENCY


def test_one_machine_does_all_and_needs_no_sending() -> None:
    """The sum, with the latency of each task."""
    assert scale.makespan([3.0, 4.0], 1) == pytest.approx(7.0 + 2 * scale.LATENCY)


def test_every_way_to_cut_does_the_same_work_once() -> None:
    """Whole settings, blocks of pairs; shards do what is below their part again."""
    seconds = np.arange(1.0, 1.0 + scale.KERNELS * len(scale.CS))
    table = seconds.reshape(scale.KERNELS, len(scale.CS))
    whole = scale.PAIRS * seconds.sum()
    for machines in (1, 3, 5):
        assert sum(scale.by_kernel(table, machines, 0.5)) == pytest.approx(whole)
        assert sum(scale.by_shard(table, machines, 0.5)) == pytest.approx(whole)
    blocks = sum(scale.by_block(table, 3, 0.5))
    assert whole <= blocks <= whole * (1.0 + scale.A_BLOCK / scale.PAIRS)
    assert sum(scale.by_shard(table, 35, 0.5)) > whole
    assert sum(scale.by_shard(table, 35, 1.0)) == pytest.approx(whole)


def test_a_pair_costs_what_was_measured() -> None:
    """Asked for a size that it was told of, the cost model says that again."""
    told = [[i, C, m, 1e-3 * m * (i + 1)] for m in (200, 400, 800)
            for i in range(scale.KERNELS) for C in scale.CS]  # fmt: skip
    seconds, _ = scale.of_a_pair(told, 800)
    known = sum(one[3] for one in told if one[2] == 800)
    assert seconds.sum() == pytest.approx(known, rel=0.1)
