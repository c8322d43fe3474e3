"""How far two numbers of the same cells order them alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b; None where one of the two is the same everywhere."""
    from scipy.stats import kendalltau

    if np.unique(first).size < 2 or np.unique(second).size < 2:
        return None
    tau = float(kendalltau(first, second).statistic)
    return tau if math.isfinite(tau) else None
