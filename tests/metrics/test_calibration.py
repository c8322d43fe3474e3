"""Probabilities keep the order of the outputs; reliability is what it was."""

from __future__ import annotations

import numpy as np
import pytest

from msvm_select.left_out import first_of_largest, graded_votes
from msvm_select.metrics.calibration import BINS, Reliability, probabilities, softmax

DRAW = np.random.default_rng(0)
ODD = {
    "plain": DRAW.standard_normal((200, 4)),
    "alike": 1e-17 * DRAW.standard_normal((200, 3)),
    "nearly alike": 1e-9 * DRAW.standard_normal((200, 3)),
    "huge": 1e9 + 1e-6 * DRAW.standard_normal((50, 3)),
    "equal": np.zeros((3, 5)),
    "absent": np.where(np.arange(4) == 0, -np.inf, DRAW.standard_normal((50, 4))),
    "votes": graded_votes(
        DRAW.integers(0, 3, (200, 4)).astype(float), DRAW.standard_normal((200, 4))
    ),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("T", [1e-9, 1.0, 1e9])
def test_the_most_probable_class_is_the_predicted_one(kind: str, T: float) -> None:
    """The first of those that tie, however sharp or flat the probabilities are."""
    h = ODD[kind]
    p = probabilities(h, T)
    assert np.array_equal(p.argmax(axis=1), first_of_largest(h))
    assert np.allclose(p.sum(axis=1), 1.0)
    if kind != "nearly alike" or T > 1e-9:
        assert np.allclose(p, softmax(h, T), rtol=1e-9, atol=1e-7)
    assert (p >= 0.0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_bins_are_counted(weighted: bool) -> None:
    """Bin by bin; a largest probability of 1 is in the last."""
    p = probabilities(2.0 * DRAW.standard_normal((300, 3)), 1.0)
    p[0] = 0.0, 1.0, 0.0
    y, said = DRAW.integers(0, 3, 300), p.argmax(axis=1)
    w = DRAW.integers(1, 4, 300).astype(float) if weighted else None
    found = Reliability.of(y, said, p, w)
    w = np.ones(300) if w is None else w
    error, most = 0.0, p.max(axis=1)
    for b in range(BINS):
        inside = (most >= b / BINS) & ((most < (b + 1) / BINS) | (b == BINS - 1))
        assert found.weight[b] == w[inside].sum()
        if not inside.any():
            assert np.isnan(found.right[b])
            continue
        right = np.average((y == said)[inside], weights=w[inside])
        claimed = np.average(most[inside], weights=w[inside])
        assert np.allclose((found.right[b], found.claimed[b]), (right, claimed))
        error += w[inside].sum() / w.sum() * abs(right - claimed)
    assert found.error == pytest.approx(error)


def test_what_is_as_sure_as_it_is_right_has_no_error() -> None:
    """Nine of ten right at 0.9; and all wrong at 0.9 is off by as much."""
    p = np.tile([0.9, 0.1], (10, 1))
    said = np.zeros(10, dtype=np.int64)
    assert Reliability.of(np.arange(10) // 9, said, p).error == pytest.approx(0.0)
    assert Reliability.of(said + 1, said, p).error == pytest.approx(0.9)
