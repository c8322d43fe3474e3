"""A part of a sweep for each of several machines that do not talk to one another.

``--shard I/N`` does the I-th of N parts. Every machine deals the cells out alike, by
what they cost as a rule: nothing that is measured counts, since that differs from one
machine to the next. As many parts as kernel settings, or fewer, have whole settings
each, the dearest dealt first, always to the part with the least so far. More parts
share a setting: the dearest is cut along C, again and again.

A part that begins in the middle of C trains the machines below too, without judging
them: its rows are those of the whole sweep to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msvm_select.sweep.costs import as_a_rule

T = TypeVar("T")
Part = dict[int, range]
"""Of some kernel settings, by their place, the places of some C, which are adjacent."""


def share_of(
    shard: str | None, kernels: Sequence[T], Cs: Sequence[float]
) -> dict[T, tuple[float, ...]]:
    """The kernel settings of the shard, each with its C; all of them without one."""
    if shard is None:
        return dict.fromkeys(kernels, tuple(Cs))
    number, count = map(int, shard.split("/"))
    part = parts(len(kernels), len(Cs), count)[number - 1]
    return {kernels[i]: tuple(Cs[j] for j in places) for i, places in part.items()}


def parts(kernels: int, Cs: int, count: int) -> list[Part]:
    """All cells in ``count`` parts, of which some are empty if there are fewer."""
    costs = as_a_rule(kernels).tolist()
    if count <= kernels:
        return _dealt(costs, Cs, count)
    pieces = [1] * kernels
    while sum(pieces) < min(count, kernels * Cs):
        each = [c / p if p < Cs else 0.0 for c, p in zip(costs, pieces, strict=True)]
        pieces[each.index(max(each))] += 1
    found: list[Part] = [
        {i: range(Cs * k // n, Cs * (k + 1) // n)}
        for i, n in enumerate(pieces)
        for k in range(n)
    ]
    return found + [{} for _ in range(count - len(found))]


def _dealt(costs: Sequence[float], Cs: int, count: int) -> list[Part]:
    """Whole kernel settings, the dearest first, each to the part with the least."""
    found: list[Part] = [{} for _ in range(count)]
    loads = [0.0] * count
    for i in sorted(range(len(costs)), key=lambda i: (-costs[i], i)):
        least = loads.index(min(loads))
        found[least][i] = range(Cs)
        loads[least] += costs[i]
    return [dict(sorted(part.items())) for part in found]
