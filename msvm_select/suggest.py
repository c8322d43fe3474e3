"""Near misses among names: the "did you mean" of every message."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """`` (did you mean 'class'?)``, or nothing when no name comes near."""
    by_fold = {name.casefold(): name for name in names}
    near = get_close_matches(wanted.casefold(), by_fold, n=1, cutoff=0.6)
    return f" (did you mean {by_fold[near[0]]!r}?)" if near else ""


def listed(names: Iterable[str], most: int = 6) -> str:
    """The names, quoted and separated by commas; a long list is cut with a count."""
    every = [repr(name) for name in names]
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest} more" if rest > 0 else "")
