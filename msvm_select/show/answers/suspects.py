"""Rows whose class may be a mistake -> a row each, the most suspicious first.

``margin`` is that of the machine trained without the row, ``weight`` the sum of its
alpha relative to the largest, and ``against`` names the rows of another class that
speak against it, the loudest first, by id, else by line, else by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from msvm_select.model.examined import LeftOutReport
from msvm_select.model.suspects import Suspect, suspects
from msvm_select.show.answers.cell import left_out_sheet, names_of
from msvm_select.show.sheet import Look, Sheet

OF_SUSPECTS = (
    Look("weight"),
    Look("against", "speak against it", left=True),
)


def sheet(report: LeftOutReport, scores: bool = False) -> Sheet:
    """The sheet of the samples, of which the suspects are left."""
    found = suspects(report)
    whole = left_out_sheet(report, every=True, scores=scores)
    rows = [{**whole.rows[one.sample], **_told(report, one)} for one in found]
    data = report.data
    where = next(name for name in whole.shown if name in ("id", "line", "sample"))
    return replace(
        whole,
        columns=[*whole.columns, *OF_SUSPECTS],
        rows=rows,
        shown=[
            *(where, "class", "predicted", "margin", "weight", "against"),
            *(data.classes if scores else ()),
        ],
        listed=None,
        below=["", *_legend(found, data.m), *report.warnings],
    )


def _told(report: LeftOutReport, one: Suspect) -> dict[str, str | float]:
    """What is told of a suspect beyond what is told of any sample."""
    against = names_of(report.data, np.asarray(one.against))
    return {"weight": one.weight, "against": against}


def _legend(found: Sequence[Suspect], m: int) -> list[str]:
    """How to read the rows."""
    if not found:
        return [f"None of {m} rows is put in another class when it is left out."]
    return [
        f"{len(found)} of {m} rows are put in another class when they are left out,",
        "the clearest first. Weight: a row's sum of alpha, relative to the largest.",
    ]
