"""Seconds as a person says them, no more exactly than they are known."""

from __future__ import annotations

import math

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
ROUND = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50)
UNITS = ((1.0, "s", ROUND), (MINUTE, "min", ROUND), (HOUR, "h", (*ROUND[:8], 20)))
LATER = ((DAY, "days", (1, *range(2, 10))),)


def exactly(seconds: float) -> str:
    """``41 s``, ``2 min 05 s``, ``1 h 07 min``: a time that has passed."""
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole // 60 % 60:02} min"


def roughly(seconds: float) -> str:
    """``2 min``: the nearest round figure; ``days`` beyond them."""
    if seconds > 9.5 * DAY:
        return f"{seconds / DAY:.2g} days"
    choices = [
        (size * n, f"{n} {unit}" if size < DAY or n > 1 else "1 day")
        for size, unit, numbers in (*UNITS, *LATER)
        for n in numbers
    ]
    seconds = max(seconds, 1.0)
    return min(choices, key=lambda choice: abs(math.log(choice[0] / seconds)))[1]


def between(low: float, high: float) -> str:
    """``4 to 9 s``, ``40 s to 2 min``, ``about 2 min`` where both round to it."""
    first, last = roughly(low), roughly(high)
    if high < 1.0:
        return "less than 1 s"
    if first == last:
        return f"about {first}"
    if first.split()[1] == last.split()[1]:
        first = first.split()[0]
    return f"{first} to {last}"
