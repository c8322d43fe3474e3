"""What messages share: the "did you mean", names cut and listed, counts, sizes."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 60  # characters of a name in a message


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
