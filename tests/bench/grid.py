"""The 35-cell grid, the data, the clock."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from msvm_select import load_csv
from msvm_select.records import Scaling

DATA = Path(__file__).parents[2] / "data"
CS = tuple(2.0**k for k in range(-3, 10, 2))
GAMMAS = tuple(2.0**k for k in range(-7, 2, 2))
T = TypeVar("T")


def load(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Standardised X, y, Q; digits are scikit-learn's own."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return Scaling.fit(X, "standard").apply(X), y.astype(np.int64), 10
    data = load_csv(DATA / f"{name}.csv")
    return Scaling.fit(data.X, "standard").apply(data.X), data.y, data.Q


def least(
    reps: int, work: Callable[[], T], clock: Callable[[], float] = time.perf_counter
) -> tuple[float, T]:
    """The least wall time of some runs, or that of another clock; the last answer."""
    best = np.inf
    for _ in range(reps):
        start = clock()
        answer = work()
        best = min(best, clock() - start)
    return best, answer
