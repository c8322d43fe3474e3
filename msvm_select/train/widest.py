"""C = inf: the machine of the widest margin, where the classes separate.

    min 1/2 sum_k ||w_k||^2   s.t.  h_{y_i}(x_i) - h_k(x_i) >= 1 for all i and k != y_i

is the machine of every C that no alpha reaches. So C grows until none does; where the
classes do not separate some alpha reaches every C, and those of the samples that stand
in the way do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from msvm_select.errors import NotSeparableError
from msvm_select.phrases import counted, listed
from msvm_select.records import Dataset, Gram, Mask

GROWTH, STEPS = 100.0, 7
ROOM = 1e3  # alpha may grow by this where a sample is left out
Train = Callable[[float, Any], Any]


def widest(train: Train, gram: Gram, data: Dataset, last: Any) -> Any:
    """The solution at a C that no alpha reaches; ``train(C, last)`` trains one.

    Alpha is of the size of 1 / K_ii times a number that grows as the margin narrows: C
    is tried from 1 / K_ii to 10^12 times it. NotSeparableError where all are reached.
    """
    size = float(np.median(gram.diagonal))
    C = 1.0 / size if size > 0.0 else 1.0
    bounded = None
    for _ in range(STEPS):
        found = train(C, last)
        if found.hard_margin and found.converged:
            return train(ROOM * C, found)
        if found.converged:
            bounded = (found.alpha >= found.dual.box[:, None]).any(axis=1)
            last = found
        C *= GROWTH
    raise not_separable(data, bounded)


def not_separable(data: Dataset, bounded: Mask | None) -> NotSeparableError:
    """Which samples stand in the way, by their ids or by where they stand."""
    why = "C = inf: the classes do not separate with this kernel"
    if bounded is None:
        return NotSeparableError(f"{why}, as far as the training got.")
    at = np.flatnonzero(bounded)
    if data.ids is not None:
        named = listed([data.ids[i] for i in at], 10)
    else:
        lines = at + 1 if data.lines is None else data.lines[at]
        rest = f" and {at.size - 10} more" if at.size > 10 else ""
        unit = "sample" if data.lines is None else "line"
        plural = "" if at.size == 1 else "s"
        named = f"{unit}{plural} {', '.join(map(str, lines[:10]))}{rest}"
    stand = "stands" if at.size == 1 else "stand"
    return NotSeparableError(
        f"{why}; {counted(at.size, 'sample')} {stand} in the way: {named}. A finite C, "
        "or a rougher kernel, trains all the same."
    )
