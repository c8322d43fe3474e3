"""Several data sets, each swept by itself -> a sheet: a row a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from msvm_select.columns import CELL
from msvm_select.phrases import counted
from msvm_select.records import Plain, PlainRow
from msvm_select.results.ranking import Results
from msvm_select.show.sheet import WIDTH, Look, Sheet

NAMES = (
    *("data", "status", "n_samples", "n_classes", "cells", *CELL, "by", "value"),
    *("seconds", "exit_code", "reason", "file", "output"),
)
LEFT = ("data", "status", "kernel", "by", "reason", "file", "output")
SHOWN = ("data", "status", "n_samples", "n_classes", "cells", *CELL, "by", "value")
SPARE = (
    *("value", "seconds", "kernel", "gamma", "C", "by", "cells", "n_classes"),
    *("n_samples", "degree", "coef0"),
)
STATES = {0: "ok", 1: "failed", 3: "bad data", 4: "every cell failed", 5: "some open"}


@dataclass(frozen=True)
class Ran:
    """What became of one data set; without ``results`` the ``reason`` says why."""

    name: str
    data: str
    code: int
    reason: str
    results: Results | None
    seconds: float
    output: str | None = None

    @property
    def status(self) -> str:
        """In words; a gate may be broken where there are results."""
        if self.code == 1 and self.results is not None:
            return "gate failed"
        return STATES.get(self.code, "wrong settings" if self.code == 2 else "stopped")

    @property
    def row(self) -> PlainRow:
        """By column."""
        found: dict[str, Plain] = dict.fromkeys(NAMES)
        found |= {"data": self.name, "status": self.status, "file": self.data}
        found |= {"seconds": self.seconds, "exit_code": self.code}
        found |= {"reason": self.reason or None, "output": self.output}
        results = self.results
        if results is None:
            return found
        found["cells"] = len(results.rows)
        if (row := results.chosen or (results.rows or (None,))[0]) is not None:
            found |= {name: row.value(name) for name in ("n_samples", "n_classes")}
        if (chosen := results.chosen) is not None:
            found |= {name: chosen.value(name) for name in CELL}
            found |= {"by": results.column, "value": chosen.value(results.column)}
        return found


def sheet(done: Sequence[Ran]) -> Sheet:
    """The chosen cell of each, its value and the time; what went wrong below."""
    rows = [one.row for one in done]
    filled = [n for n in SHOWN if any(row[n] is not None for row in rows)]
    states = Counter(one.status for one in done)
    told = ", ".join(f"{count} {status}" for status, count in states.items())
    seconds = sum(one.seconds for one in done)
    return Sheet(
        columns=[_look(name) for name in NAMES],
        rows=rows,
        facts={"data_sets": len(done), "seconds": seconds},
        shown=[*filled, "seconds"],
        spare=[name for name in SPARE if name in (*filled, "seconds")],
        width=WIDTH,
        below=[
            "",
            *(f"{one.name}: {one.reason}" for one in done if one.reason),
            f"{counted(len(done), 'data set')}: {told}; {seconds:.1f} s",
        ],
    )


def _look(name: str) -> Look:
    return Look(name, left=name in LEFT, digits=6 if name in CELL else 4)
