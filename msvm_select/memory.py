"""What fits in memory: what does not is refused before anything is eaten."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from msvm_select.errors import DataError
from msvm_select.footprint import Footprint
from msvm_select.phrases import sized

READING = 4  # bytes in use at the peak, for each byte of a file of numbers
A_ROW = 60  # bytes more for each of its rows
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


def refuse_gram(name: str, needed: Footprint, in_blocks: bool = False) -> None:
    """Refuse samples whose matrices are too large, with what would fit.

    ``in_blocks``: a machine of pairs of classes would never need one of them whole.
    """
    free, jobs = available(), needed.jobs
    if free is None or needed.certain_bytes <= free:
        return
    alone, held = replace(needed, jobs=1), needed.side
    fewer = " say --jobs 1, or" if jobs > 1 and alone.certain_bytes <= free else ""
    several = "" if jobs == 1 else f", {jobs} at the same time (--jobs)"
    if alone.factor_bytes > free:
        _refuse_features(name, alone, free, several)
    fit, m, whole = alone.most_samples(free), needed.m, held == needed.m
    some = f"{m} samples" if whole else f"of {m} samples some {held} matter; they"
    raise DataError(
        f"{name}: {some} have a Gram matrix of {sized(needed.gram_bytes)}; the work "
        f"takes {needed.matrices:.3g} times that{several}, and {sized(free)} are free:"
        f"{fewer} take a random part of the rows (about {fit} would fit: --subsample "
        f"{fit})" + ", or say --machine ovo, which needs no whole matrix" * in_blocks
    )


def _refuse_features(name: str, needed: Footprint, free: int, several: str) -> None:
    """Refuse samples of so many dimensions."""
    m, rank = needed.m, needed.rank
    fit = max(1, int(rank * free / needed.factor_bytes))
    raise DataError(
        f"{name}: {rank} dimensions of {m} samples take {sized(needed.factor_bytes)}"
        f"{several}, and {sized(free)} are free: say --rank {fit}, or --subsample "
        f"{fit * m // rank}"
    )


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
