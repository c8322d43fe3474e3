"""The study of the rules -> a sheet: a row a split and rule; the table sums up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

from msvm_select.records import finite
from msvm_select.results.ranking import versions
from msvm_select.show.sheet import Look, Sheet, aligned
from msvm_select.study import REFERENCE, Pick, Standing, standings

HEADINGS = (
    *("machine", "loss", "chosen by", "sets", "splits", "mean regret", "worst set"),
    *(f"better than {REFERENCE}", "equal", "worse", "p", "seconds"),
)


def sheet(picks: Sequence[Pick]) -> Sheet:
    """Every pick, with its regret; the standing of every rule."""
    rows = [
        {
            **{name: finite(value) for name, value in asdict(pick).items()},
            "regret": finite(pick.regret),
        }
        for pick in picks
    ]
    stand = standings(picks)
    body = [list(HEADINGS), *map(_line, stand)]
    text = [True, True, True, *[False] * (len(HEADINGS) - 3)]
    return Sheet(
        columns=[Look(name) for name in rows[0]],
        rows=rows,
        facts={
            "experiment": {"name": "choosing"},
            "versions": versions(),
            "standings": [
                {name: finite(value) for name, value in asdict(one).items()}
                for one in stand
            ],
        },
        shown=list(rows[0]),
        listed=(),
        above=[
            aligned(body, text),
            "",
            "Regret: test error of the cell that is chosen, in points above the best "
            "cell of the grid; the mean over the data sets.",
            f"p: Wilcoxon's signed-rank test of the sets' means against {REFERENCE}.",
        ],
    )


def _line(one: Standing) -> list[str]:
    return [
        one.machine, one.loss, one.rule, str(one.sets), str(one.splits),
        f"{100.0 * one.regret:.2f}", f"{100.0 * one.worst:.1f}",
        *map(str, (one.better, one.equal, one.worse)),
        "-" if math.isnan(one.p) else f"{one.p:.2g}",
        f"{one.seconds:.2f}",
    ]  # fmt: skip
