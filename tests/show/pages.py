"""Reports of small sweeps, for the tests of the page."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from msvm_select import run_sweep
from msvm_select.columns import Row
from msvm_select.model.examined import judged
from msvm_select.records import Dataset
from msvm_select.results.ranking import Results, rank
from msvm_select.settings import settings_from
from msvm_select.show.answers import suspects
from msvm_select.show.charts.heat import confusion_of
from msvm_select.show.charts.reliability import reliability_of_each
from msvm_select.show.page.page import Report
from msvm_select.show.page.words import command_line
from tests.conftest import PROBLEMS

EVIL = ("</script><script>alert(1)</script>", "a<b & \"c\" 'd'", "<!--é\u2028 $title")
SETTINGS = {
    "kernel": ["linear", "rbf"],
    "C": "0.25,1,4,16",
    "gamma": "0.125,0.5",
    "criteria": "loo,sv-rate,radius-margin,train-errors",
    "metric": "error,log-loss,auc",
}


def samples(classes: tuple[str, ...] = ("left", "right", "top")) -> Dataset:
    """Three overlapping classes, by whatever names."""
    three = PROBLEMS["three"]
    names = tuple(f"x{j}" for j in range(three.X.shape[1]))
    return Dataset(three.X, three.y, classes, names, name=classes[0])


@cache
def report(classes: tuple[str, ...] = ("left", "right", "top")) -> Report:
    """A sweep of two kernels, with all that a page may have."""
    data, settings = samples(classes), settings_from(SETTINGS)
    results = run_sweep(data, settings)
    assert results.best is not None
    found = judged(data, settings, results.best)
    return Report(
        results=results,
        command=command_line("some data.csv", {}, settings, "out.html"),
        confusion=confusion_of(classes, found.left_out),
        reliability=reliability_of_each(found),
        suspects=suspects.sheet(found),
        source="some data.csv",
        digest="0" * 64,
        notes=("a note",),
    )


@cache
def large(cells: int = 1000) -> Report:
    """As many cells, with a value in nearly every column."""
    draw = np.random.default_rng(0)
    full = next(row for row in report().results.rows if row.kernel == "rbf")
    empty = {
        name: float(draw.random())
        for name, value in vars(full).items()
        if value is None and name not in ("degree", "coef0", "loss")
    }
    rows = [
        replace(Row(**{**vars(full), **empty}), gamma=2.0 ** (i // 20 - 30),
                C=2.0 ** (i % 20 - 10), loo_rate=float(draw.random()))
        for i in range(cells)
    ]  # fmt: skip
    return Report(Results(rank(rows, "loo"), "loo", report().results.data))
