"""Kernel matrices of low rank on letter: 16,000 rows to train on, 4,000 to judge by.

Seconds are processor time, with the pivots and all that a prediction needs.
"""

import time
from typing import Any

import numpy as np

from msvm_select import fit, load_csv
from msvm_select.data.subsample import drawn
from msvm_select.records import Dataset
from tests.bench.grid import DATA

C, GAMMA = 8.0, 0.0625
RUNS = (  # machine, rows to train on, ranks; 0 is the kernel itself
    ("ovo", 16000, (0, 100, 500, 1000)),
    ("ova", 16000, (0, 100, 500)),
    ("ww", 2000, (0, 50, 100, 200, 500)),
    ("ww", 4000, (0, 100, 500)),
    ("ww", 16000, (0, 50, 100, 500)),
)


def run(most: float = 600.0) -> None:
    """A line a machine and a rank; ``most`` seconds a run are not exceeded twice."""
    data = load_csv(DATA / "letter.csv")
    at = drawn(data.y, data.Q, 16000)
    train, test = data.rows(at), data.rows(np.setdiff1d(np.arange(data.m), at))
    fit(train.rows(drawn(train.y, data.Q, 300)), machine="ww")  # compiled before
    fit(train.rows(drawn(train.y, data.Q, 300)), machine="ovo")
    for machine, rows, ranks in RUNS:
        some = train.rows(drawn(train.y, data.Q, rows))
        for rank in ranks:
            seconds = line(some, test, machine, rank)
            if seconds > most:
                break


def line(train: Dataset, test: Dataset, machine: str, rank: int) -> float:
    """Train, judge, print."""
    how: dict[str, Any] = {"low_rank": rank} if rank else {}
    began = time.process_time()
    model = fit(train, machine=machine, C=C, gamma=GAMMA, **how)
    trained = time.process_time()
    wrong = model.predict(test.X) != np.array(test.classes)[test.y]
    judged = time.process_time()
    left = model.training.rank_error
    told = "exact" if left is None else f"rank {rank}, {100 * left:.1f} % left"
    print(
        f"{machine} {train.m} rows, {told}: {trained - began:.1f} s, gap "
        f"{model.certificate.gap:.0e}; {100 * wrong.mean():.2f} % of {test.m} wrong, "
        f"told in {judged - trained:.2f} s",
        flush=True,
    )
    return trained - began
