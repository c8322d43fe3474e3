"""The mean regret of each rule, machine by machine, with the standard error."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from msvm_select.show.figures.look import COLOURS, GREY, MARKERS
from msvm_select.study import Pick, standings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 0.28  # inches of a rule


def figure_of_regrets(picks: Sequence[Pick]) -> Figure:
    """A panel a machine and loss; the rule with the least regret is on top."""
    from matplotlib.figure import Figure

    groups = defaultdict(list)
    for one in standings(picks):
        groups[one.machine, one.loss].append(one)
    rows = max(map(len, groups.values()))
    size = (3.6 * len(groups), 1.0 + ROW * rows)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(groups), squeeze=False, sharex=True)[0]
    for axes, (key, found) in zip(panels, groups.items(), strict=True):
        names = [one.rule for one in found][::-1]
        for i, rule in enumerate(names):
            regrets = 100.0 * _by_set(picks, key, rule)
            error = (
                regrets.std(ddof=1) / np.sqrt(regrets.size) if regrets.size > 1 else 0
            )
            axes.errorbar(
                regrets.mean(), i, xerr=error, color=COLOURS[1], marker=MARKERS[0],
                ecolor=GREY, capsize=2,
            )  # fmt: skip
        axes.set_yticks(range(len(names)), names)
        axes.set_title(f"--machine {key[0]} --loss {key[1]}")
        axes.set_xlabel("mean regret, points of test error")
    panels[0].set_xlim(left=0.0)  # after all is drawn: the axis is shared
    return figure


def _by_set(picks: Sequence[Pick], key: tuple[str, str], rule: str) -> np.ndarray:
    """The mean regret on each data set."""
    found = defaultdict(list)
    for pick in picks:
        mine = (pick.machine, pick.loss) == key and pick.rule == rule
        if mine and np.isfinite(pick.error):
            found[pick.data].append(pick.regret)
    return np.array([np.mean(regrets) for regrets in found.values()])
