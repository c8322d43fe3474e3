"""What to know before the results are trusted, and the gates that a pipeline may set.

A classifier that ignores the features and always says the largest class is wrong for
all samples of the other classes: the *majority baseline*. A cell that does no better
has learnt nothing. Beside the guaranteed risk stand its theorem and its constants.

A gate that is broken is one sentence, which names the figure that failed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msvm_select.columns import Row, answering, column_of, holds, lower_bound, state_of
from msvm_select.criteria.guaranteed_risk import FIXED_BEFOREHAND, INDEX
from msvm_select.kernels.low_rank import kernel_of
from msvm_select.phrases import counted, of_a_subsample, quoted
from msvm_select.results.ranking import Baseline, Results, baseline_of

COLUMN = "guaranteed_risk"
SELECTS_NOTHING = (
    "guaranteed-risk: by Theorem 2 it rises with C throughout and selects nothing: the "
    "least C of whatever grid would be the best. Rank by another criterion, or give "
    "--dimension if the feature space has a finite one"
)
VACUOUS = "guaranteed-risk: every value is 1 or more, so that none bounds a risk"
NEARLY_ALL = 0.9  # of the samples
CLASSES = 12  # whose errors are told; there may be hundreds
NAMED = 3  # cells in trouble that are named; the others are counted


def baseline(results: Results) -> Baseline | None:
    """Of the data of the results; None where the file does not tell their classes."""
    classes = results.data.get("classes")
    return baseline_of(classes) if isinstance(classes, Mapping) else None


def baseline_warning(results: Results) -> str | None:
    """That the chosen cell does no better than the majority baseline, if so."""
    known, row = baseline(results), results.chosen
    if known is None or row is None:
        return None
    column = column_of(results.column)
    value = row.value(column.name)
    if column.role == "count":
        value = value / known.m
    elif column.role != "rate":
        return None
    if value < known.rate:
        return None
    which = "best" if row is results.best else "chosen"
    return (
        f"The {which} cell does no better than a constant answer. {known.text}; its "
        f"{column.name} is {row.value(column.name):.4g}."
    )


def class_note(results: Results) -> str:
    """Which share of each class the chosen cell gets wrong, the worst first.

    Empty where that is not known. Of many classes those without an error are counted.
    """
    told = results.by_class
    if not told:
        return ""
    share = {name: wrong / max(1, m) for name, (wrong, m) in told.items()}
    worst = sorted(told, key=lambda name: -share[name])
    wrong = [name for name in worst if share[name] > 0.0]
    if len(worst) > CLASSES:
        worst = wrong
    some = [
        f"{quoted(name)} {told[name][0]} of {told[name][1]} "
        f"({100.0 * share[name]:.3g} %)"
        for name in worst[:CLASSES]
    ]
    left, right = len(worst) - CLASSES, len(told) - len(wrong)
    more = [f"{left} more classes"] if left > 0 else []
    if len(told) > CLASSES and right:
        more.append(f"none in {right} classes")
    of = answering(results.criteria)
    return f"Wrong by class{f' ({of})' if of else ''}: {', '.join([*some, *more])}"


def risk_notes(results: Results) -> list[str]:
    """One remark on what the values are, and one where they say nothing."""
    rows = [row for row in results.rows if row.guaranteed_risk is not None]
    if not rows:
        return []
    notes, best = [_provenance(results, rows)], results.best
    if all(row.guaranteed_risk_vacuous for row in rows):
        notes.append(VACUOUS)
    if best and results.column == COLUMN and _theorem(results, best) == 2:
        along = [row for row in rows if row.setting == best.setting]
        along.sort(key=lambda row: row.C)
        values = [row.guaranteed_risk or 0.0 for row in along]
        if len(values) > 1 and values == sorted(values):
            notes.append(SELECTS_NOTHING)
    return notes


def race_note(results: Results) -> str:
    """How many cells lost the race; empty where none did."""
    column = results.column
    lost = sum(state_of(row, column) == "bounded" for row in results.rows)
    if not lost:
        return ""
    best = results.settings.get("race")
    whose = f"the {best} best" if best and best > 1 else "the best"
    what = f"{lost} of {counted(len(results.rows), 'cell')} lost the race"
    return f"{what} (>=): judged only until they could not be among {whose}"


def subsample_note(results: Results) -> str:
    """That the rows are of a subsample; empty where all of the data count."""
    row = next(iter(results.rows), None)
    if row is None or row.drawn_from is None:
        return ""
    seed = results.data.get("reading", {}).get("seed")
    return of_a_subsample(int(row.n_samples or 0), row.drawn_from, seed)


def doubts_of_choice(results: Results) -> list[str]:
    """Why the choice may not be what it seems, in sentences."""
    row = results.chosen
    by_loo = row is not None and results.column in ("loo_rate", "loo_errors")
    biased = bias_of_leave_one_out(row) if row is not None and by_loo else ""
    grouped = results.data.get("reading", {}).get("group_column") if by_loo else None
    found = _missed_by_the_race(results)
    if biased:
        found.append(biased)
    if grouped:
        found.append(
            "leave-one-out trains on the other rows of a sample's group; --criteria "
            "logo leaves out the whole group"
        )
    return found


def bias_of_leave_one_out(row: Row) -> str:
    """That the machine sees little but the sizes of the classes; empty where not.

    Where nearly all samples are at C the machine weighs the means of the classes by
    their sizes, and the class of the sample that leaves has become smaller.
    """
    if row.n_sv is None or row.n_bounded is None:
        return ""
    if min(row.n_bounded, row.n_sv) < NEARLY_ALL * row.n_samples:
        return ""
    return (
        f"{row.n_bounded} of {row.n_samples} samples are at C: leave-one-out is biased "
        "against the class of the sample that leaves; --criteria loo:balanced is not"
    )


def _missed_by_the_race(results: Results) -> list[str]:
    """That cells which lost a race might have been chosen, had they been judged."""
    choice, column = results.choice, results.column
    if choice is None or choice.rule != "1se":
        return []
    lows = [lower_bound(row, column) for row in results.rows if row.status == "ok"]
    near = sum(low is not None and low <= choice.limit for low in lows)
    if not near:
        return []
    return [
        f"{counted(near, 'cell')} that lost the race may lie within one standard "
        "error, too, and cannot be chosen; sweep with --select 1se to have them judged"
    ]


def _provenance(results: Results, rows: Iterable[Row]) -> str:
    """Which theorem for which kernel, with its constants."""
    said = results.settings
    kernels = defaultdict(set)
    for row in rows:
        kernels[_theorem(results, row)].add(row.kernel)
    constants = {2: f" with c = {said.get('maurey_c', 1.0):g} (--maurey-c)", 3: ""}
    theorems = [
        f"Theorem {theorem}{constants[theorem]} for {' and '.join(sorted(names))}"
        for theorem, names in sorted(kernels.items(), reverse=True)
    ]
    standing = FIXED_BEFOREHAND if said.get("union") else INDEX
    delta = f"delta = {said.get('delta', 0.05):g}"
    return f"guaranteed-risk: {', '.join(theorems)}; {delta}; {standing}"


def _theorem(results: Results, row: Row) -> int:
    """3 where the feature space has a finite dimension, else 2."""
    if results.settings.get("dimension") is not None:
        return 3
    kernel = kernel_of(row.kernel, row.parameters)
    return 2 if kernel.dimension(1) is None else 3


@dataclass(frozen=True)
class Gate:
    """A gate that was asked for, as it is typed; why it is ``broken``, if it is."""

    name: str
    broken: str | None


def gates(
    results: Results,
    fail_above: float | None = None,
    fail_below: float | None = None,
    require_applicable: bool = False,
    require_converged: bool = False,
) -> list[Gate]:
    """Those that were asked for; it is the figures of the chosen cell that count."""
    found = []
    for where, limit in (("above", fail_above), ("below", fail_below)):
        if limit is not None:
            why = _beyond(results, limit, where)
            found.append(Gate(f"--fail-{where} {limit:.6g}", why))
    if require_applicable:
        why = _inapplicable(results, results.chosen)
        found.append(Gate("--require-applicable", why))
    if require_converged:
        found.append(Gate("--require-converged", _open(results)))
    return found


def broken(results: Results, **asked: Any) -> list[str]:
    """Of the gates that were asked for those that the results do not pass."""
    return [gate.broken for gate in gates(results, **asked) if gate.broken]


def _beyond(results: Results, limit: float, where: str) -> str | None:
    """The chosen value is on the wrong side of the limit, or there is none."""
    row, column = results.chosen, results.column
    if row is None:
        return f"no cell has a score by {results.rank_by} that counts"
    value = row.value(column)
    if value <= limit if where == "above" else value >= limit:
        return None
    which = _which(results, row)
    return f"{column} {value:.6g} of {which} is {where} {limit:.6g}"


def _inapplicable(results: Results, row: Row | None) -> str | None:
    """What is ranked by is not, of this cell, what it claims to be."""
    column = column_of(results.column)
    if row is None:
        return f"{column.name} applies to none of {len(results.rows)} cells"
    flag = column.applies_where or column.vacuous_where
    told = row.value(flag)
    if told is not None and holds(row, column.name):
        return None
    value = {True: "yes", False: "no", None: "not told"}[told]
    why = f"{flag} is {value}"
    if told is not None and state_of(row, column.name) == "vacuous":
        why = f"its value {row.value(column.name):.4g} is 1 or more and says nothing"
    return f"{column.name} does not apply to {_which(results, row)}: {why}"


def _which(results: Results, row: Row) -> str:
    by_value = results.choice is None or results.choice.rule == "best"
    return f"the {'best' if by_value else 'chosen'} cell ({row.cell})"


def _open(results: Results) -> str | None:
    """Cells that failed or did not converge."""
    told = [f"{r.cell} ({r.status})" for r in results.rows if r.status != "ok"]
    if not told:
        return None
    more = [f"{len(told) - NAMED} more"] if len(told) > NAMED else []
    return (
        f"{len(told)} of {len(results.rows)} cells did not converge or failed: "
        f"{', '.join([*told[:NAMED], *more])}"
    )
