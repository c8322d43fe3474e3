"""What fits in memory: what does not is refused before anything is eaten."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import isqrt
from pathlib import Path

from msvm_select.errors import DataError
from msvm_select.phrases import sized

READING = 4  # bytes in use at the peak, for each byte of a file of numbers
A_ROW = 60  # bytes more for each of its rows
COPIES = 3.5  # of a Gram matrix: itself, sorted by class, and in Mercer's test
WORKING = 0.35  # of many samples, those that K is computed between at a time
CGROUP = Path("/sys/fs/cgroup")


def available() -> int | None:
    """Bytes that may still be taken: of the machine, and of this process's limits."""
    return min(_limits(), default=None)


def refuse_large(name: str, size: int, rows: int) -> None:
    """Refuse a file of so many bytes that reading it would take all memory."""
    free, needed = available(), READING * size + A_ROW * rows
    if free is not None and needed > free:
        raise DataError(
            f"{name} has {sized(size)}, and reading it takes about {sized(needed)}; "
            f"{sized(free)} are free: take a part of its rows, or a larger machine"
        )


def refuse_gram(
    name: str, m: int, at_once: int = 1, in_blocks: bool = False, part: float = 1.0
) -> None:
    """Refuse m samples whose Gram matrices, ``at_once`` of them, are too large.

    ``in_blocks``: a machine of pairs of classes would never need one of them whole.
    ``part`` of the samples matter, and no matrix is of more.
    """
    free, held = available(), int(part * m)
    each = training_bytes(held)
    if free is None or at_once * each <= free:
        return
    fit = int(isqrt(int(free / training_bytes(1))) / part)
    fewer = "" if at_once == 1 or each > free else " say --jobs 1, or"
    several = "" if at_once == 1 else f", {at_once} at the same time (--jobs)"
    some = f"{m} samples" if part == 1.0 else f"of {m} samples some {held} matter; they"
    raise DataError(
        f"{name}: {some} have a Gram matrix of {sized(8 * held * held)}; training "
        f"takes {COPIES:g} times that{several}, and {sized(free)} are free:{fewer} "
        f"take a random part of the rows (about {fit} would fit: --subsample {fit})"
        + (", or say --machine ovo, which needs no whole matrix" if in_blocks else "")
    )


def training_bytes(m: int) -> float:
    """What the Gram matrix of m samples takes with all that training makes of it."""
    return COPIES * 8 * m * m


def _limits() -> Iterator[int]:
    """Each limit that there is, less what is used of it already."""
    yield from _of_the_machine()
    yield from _of_the_group()
    yield from _of_the_process()


def _of_the_machine() -> Iterator[int]:
    if free := _fields("/proc/meminfo").get("MemAvailable"):
        yield 1024 * free
    elif "SC_PHYS_PAGES" in os.sysconf_names:  # no Linux: all of it, at the most
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_the_group() -> Iterator[int]:
    """What a container may have; the cache of files gives way."""
    try:
        limit = int((CGROUP / "memory.max").read_text())
        used = int((CGROUP / "memory.current").read_text())
    except (OSError, ValueError):  # no such limit, or "max"
        return
    cache = _fields(CGROUP / "memory.stat").get("inactive_file", 0)
    yield max(0, limit - used + cache)


def _of_the_process() -> Iterator[int]:
    """What `ulimit -v` leaves."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        own = 1024 * _fields("/proc/self/status").get("VmSize", 0)
        yield max(0, soft - own)


def _fields(path: str | Path) -> dict[str, int]:
    """The whole numbers of a file with a name and a number a line."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return {}
    split = (line.replace(":", " ").split() for line in lines)
    return {w[0]: int(w[1]) for w in split if len(w) > 1 and w[1].isdigit()}
