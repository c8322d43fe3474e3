"""What messages share: "did you mean", names cut and listed, counts, sizes, times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from html import escape
from typing import Any

LONGEST = 60  # characters of a name in a message
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
ROUND = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50)
UNITS = ((1.0, "s", ROUND), (MINUTE, "min", ROUND), (HOUR, "h", (*ROUND[:8], 20)))
LATER = ((DAY, "days", (1, *range(2, 10))),)


def quoted(text: str) -> str:
    """The text in quotes, fit for one line of a message: cut where it is long."""
    text = str(text)  # numpy's own text would be shown as np.str_('a')
    return repr(text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}...")


def in_a_line(text: str) -> str:
    """The text for a cell of a table: without line ends and the like, cut if long."""
    cut = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in cut)


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """`` (did you mean 'class'?)``, or nothing when no name comes near."""
    by_fold = {name.casefold(): name for name in names if len(name) <= LONGEST}
    if len(wanted) > LONGEST:
        return ""
    near = get_close_matches(wanted.casefold(), by_fold, n=1, cutoff=0.6)
    return f" (did you mean {quoted(by_fold[near[0]])}?)" if near else ""


def listed(names: Iterable[str], most: int = 6) -> str:
    """The names, quoted and separated by commas; what is long is cut."""
    every = [quoted(name) for name in names]
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest} more" if rest > 0 else "")


def html_table(heads: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """A table for a notebook, its numbers rounded."""

    def cells(tag: str, values: Sequence[Any]) -> str:
        texts = (f"{v:.5g}" if isinstance(v, float) else str(v) for v in values)
        inside = "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)
        return f"<tr>{inside}</tr>"

    rows = "".join(cells("td", line) for line in lines)
    return f"<table>{cells('th', heads)}{rows}</table>"


def counted(count: int, noun: str) -> str:
    """``1 feature``, ``4 features``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def sized(count: float) -> str:
    """So many bytes: ``5.7 MB``."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


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


def of_a_subsample(m: int, whole: int, seed: int | None) -> str:
    """What stands with numbers that not all rows were used for."""
    drawn = "" if seed is None else f" with seed {seed}"
    return f"Of a subsample: {m} of the {whole} rows, drawn by class{drawn}."
