"""Some of the rows in the place of all: by class, seeded, groups kept whole.

Of N rows class k has N m_k / m, and one at least. Where rows have groups, whole groups
are drawn until no more fit: then there may be somewhat fewer than N rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from msvm_select.data.options import ReadOptions
from msvm_select.errors import DataError, SettingsError
from msvm_select.records import Dataset, Floats, Ints


def subsampled(data: Dataset, options: ReadOptions) -> Dataset:
    """The rows that the options leave, with a note on what was left out."""
    count, seed = options.subsample, options.seed
    if count is None:
        return data
    told = {**data.reading, "subsample": count, "seed": seed}
    if count >= data.m:
        few = f"--subsample {count}: there are {data.m} rows, and all of them count"
        return replace(data, reading=told, notes=(*data.notes, few))
    try:
        keep = drawn(data.y, data.Q, count, seed, data.groups)
    except SettingsError as error:
        raise DataError(f"{data.name}: {error}") from None
    some = replace(data.rows(keep), reading=told, drawn_from=data.m)
    whole = "" if data.groups is None else ", groups kept whole"
    note = (
        f"a subsample of {some.m} of the {data.m} rows, drawn by class with seed "
        f"{seed}{whole}"
    )
    return replace(some, notes=(*data.notes, note))


def drawn(
    y: Ints, Q: int, count: int, seed: int = 0, groups: Ints | None = None
) -> Ints:
    """Which ``count`` of the samples, in their order; all, if there are no more.

    The same seed draws the same samples, and of fewer samples a part of those of more.
    """
    if count >= y.size:
        return np.arange(y.size)
    if count < Q:
        raise SettingsError(
            f"--subsample {count} has no row for each of the {Q} classes: at least "
            f"{Q} are needed."
        )
    order = np.random.default_rng(seed).permutation(y.size)
    if groups is None:
        return np.sort(np.argsort(_places(y, Q, order), kind="stable")[:count])
    return _whole_groups(y, Q, count, order, groups)


def _places(y: Ints, Q: int, order: Ints) -> Floats:
    """Where each sample stands: of each class one first, then another, then evenly."""
    place = np.empty(y.size)
    for k in range(Q):
        members = order[y[order] == k]
        place[members] = (np.arange(members.size) + 0.5) / max(1, members.size)
        place[members[1:2]] = -1.0
        place[members[:1]] = -2.0
    return place


def _whole_groups(y: Ints, Q: int, count: int, order: Ints, groups: Ints) -> Ints:
    """Groups, each time one that holds the class which lacks the most of its share."""
    names = dict.fromkeys(groups[order].tolist())
    sizes = {g: np.bincount(y[groups == g], minlength=Q) for g in names}
    share = count / y.size * np.bincount(y, minlength=Q)
    have, taken, open_ = np.zeros(Q), set[int](), share > 0.0
    while open_.any():
        lacking = np.where(open_, 1.0 - have / np.where(open_, share, 1.0), -np.inf)
        k, room = int(np.argmax(lacking)), count - int(have.sum())
        fitting = (g for g in names if sizes[g][k] and int(sizes[g].sum()) <= room)
        group = next(fitting, None)
        if group is None or lacking[k] <= 0.0:
            open_[k] = False
            continue
        have += sizes.pop(group)
        del names[group]
        taken.add(group)
    if lost := [k for k in range(Q) if share[k] > 0.0 and have[k] == 0.0]:
        raise SettingsError(
            f"--subsample {count}: groups are kept whole, and those drawn hold no row "
            f"of {len(lost)} of the {Q} classes: take more rows."
        )
    return np.flatnonzero(np.isin(groups, _numbers(taken)))


def _numbers(some: Iterable[int]) -> Ints:
    return np.fromiter(some, dtype=np.int64)
