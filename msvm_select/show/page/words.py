"""Values, rows and the command line in words: the sentences of the page."""

from __future__ import annotations

import hashlib
import math
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msvm_select.columns import CELL, Row, column_of, lower_bound
from msvm_select.phrases import counted
from msvm_select.results.choosing import (
    binomial_error,
    edge_notes,
    jackknifed,
    power_of_two,
    rate_error,
)
from msvm_select.results.notes import (
    baseline,
    baseline_warning,
    class_note,
    doubts_of_choice,
    race_note,
    risk_notes,
    subsample_note,
)
from msvm_select.results.ranking import Results
from msvm_select.settings import PARAMETERS, Settings
from msvm_select.settings.values import parse_grid
from msvm_select.show.charts.heat import Confusion
from msvm_select.show.page.markup import Html, el

NOTHING = "\N{EN DASH}"
SPACE = "\N{NO-BREAK SPACE}"  # between what a line must not part
MOST = 6  # reasons of failing that are told one by one
GRIDS = ("C", *PARAMETERS)
LONG = 5  # values from which on a grid is told as a range, if it is one
NUMBER = re.compile(r"-?[\d.]+(e[+-]?\d+)?")


def text(row: Row, column: str) -> str:
    """One value, rounded; the file of results has all digits."""
    value = row.value(column)
    low = lower_bound(row, column)
    if low is not None:
        return f"\N{GREATER-THAN OR EQUAL TO}{SPACE}{low:.4g}"
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    if column in ("gap", "kkt_violation", "seconds"):
        return f"{value:.1g}"
    return f"{value:.{6 if column in CELL else 4}g}"


def percent(share: float) -> str:
    """A share as a percentage, to a tenth; finer below that."""
    value = 100.0 * share
    return f"{value:.1g}{SPACE}%" if 0.0 < value < 0.1 else f"{value:.1f}{SPACE}%"


def named(results: Results, row: Row, C: bool = True) -> str:
    """The cell, or without C its kernel setting, in words."""
    return row.in_words(bool(results.settings.get("sigma")), C)


def answer(results: Results, chosen: Row | None, confusion: Confusion | None) -> Html:
    """Which cell, and how often it is wrong about samples that it has not seen."""
    count = len(results.rows)
    tried = f"Of {count} cells" if count > 1 else "Of the only cell"
    if chosen is None:
        none = f"{tried}, none has a score by {results.rank_by} that counts."
        return el("p", none, class_="answer")
    cell = el("strong", named(results, chosen))
    standing = f" is {_standing(results, chosen)}. "
    known = baseline(results)
    constant = f" {known.text}." if known else ""
    errors = _left_out(results, chosen, confusion)
    parts = (f"{tried}, ", cell, standing, errors, constant)
    return el("p", *parts, class_="answer")


def caveat(results: Results, chosen: Row | None) -> str:
    """How to read the figures of the answer."""
    known = chosen is not None and jackknifed(results, chosen, "loo_rate") is not None
    apart = "is that of the jackknife, in which a group counts as one sample"
    text = (
        "The leave-one-out errors are exact: each sample is classified by the machine "
        "trained without it, at the same setting and with the features scaled as in "
        "the whole data set. The standard error "
        f"{apart if known else 'assumes independent samples'}."
    )
    count = len(results.rows)
    if count == 1:
        return text
    return (
        f"{text} For new samples, the error rate is likely to be somewhat higher, "
        f"because the same samples chose this cell among {count}."
    )


def diagnostics(row: Row) -> dict[str, str | None]:
    """How well the training of a cell went."""
    unique = {True: "unique", False: "not unique; the centre is used", None: None}
    m = row.n_samples
    return {
        "status": f"{row.status}: {row.status_reason}"
        if row.status_reason
        else {"ok": "converged"}.get(row.status, row.status),
        "relative duality gap": text(row, "gap"),
        "KKT violation": text(row, "kkt_violation"),
        "biases b": unique[row.b_unique],
        "support vectors": f"{text(row, 'n_sv')} of {m}",
        "of these at C": text(row, "n_bounded"),
        "training errors": f"{text(row, 'train_errors')} of {m}",
        "dual objective": text(row, "dual_objective"),
        "solver": row.solver,
    }


def notes(results: Results) -> list[str]:
    """What to know before trusting the answer."""
    warning, choice = baseline_warning(results), results.choice
    found = [warning] if warning else []
    found += filter(None, [subsample_note(results)])
    if choice is not None and choice.tied > 1:
        found.append(
            f"{choice.tied} cells tie for the best {results.column}. The one with the "
            "fewest training errors comes first, then the smallest C, then the "
            "smoothest kernel."
        )
    if missed := class_note(results):
        found.append(f"{missed}.")
    found += edge_notes(results) + [f"{note}." for note in risk_notes(results)]
    found += [f"{note}." for note in doubts_of_choice(results)]
    if lost := race_note(results):
        found.append(f"{lost.removeprefix('>= ')}.")
    troubles = _troubles(results)
    found += troubles[:MOST]
    if len(troubles) > MOST:
        found.append("For the other cells, see the column status_reason.")
    return [note.replace("..", ".") for note in found]


def _troubles(results: Results) -> list[str]:
    """Why cells failed or did not converge, once for reasons that differ in numbers."""
    alike: dict[str, list[str]] = {}
    for row in results.rows:
        if row.status != "ok":
            kind = f"{row.status} {NUMBER.sub('', row.status_reason)}"
            alike.setdefault(kind, []).append(row.status_reason)
    told = []
    for kind, reasons in alike.items():
        status = kind.partition(" ")[0].replace("_", " ")
        first = ":" if len(set(reasons)) == 1 else "; the first:"
        told.append(f"{counted(len(reasons), 'cell')} {status}{first} {reasons[0]}.")
    return told


def _standing(results: Results, chosen: Row) -> str:
    """Why this cell: the best by what, or chosen among which others."""
    label, choice = column_of(results.column), results.choice
    unit = f"{SPACE}{label.unit}" if label.unit == "%" else ""
    value = label.shown(float(chosen.value(label.name)))
    by = f"by {results.rank_by} ({label.text}: {value}{unit})"
    if label.name in ("loo_rate", "loo_errors"):  # whose value is told next
        by = "by leave-one-out"
    if choice is None or choice.row is results.best:
        return f"the best {by}"
    if choice.rule == "1se":
        near = f"{choice.eligible} within one standard error of the best"
        return f"the simplest of the {near} {by}"
    return f"the simplest of the {choice.tied} that are the best {by}"


def _left_out(results: Results, row: Row, confusion: Confusion | None) -> str:
    """The errors of leave-one-out, and their rate by the weights of the samples."""
    errors = row.loo_errors if confusion is None else confusion.errors
    if errors is None:
        return "Its leave-one-out error rate was not computed."
    m, rate = row.n_samples, row.loo_rate
    if rate is None:  # ranked by another criterion
        rate, error = errors / m, binomial_error(errors / m, m)
    else:
        error = rate_error(results, row, "loo_rate")
    spread = f"{percent(rate)} \N{PLUS-MINUS SIGN} {percent(error)}"
    weighed = "" if math.isclose(rate, errors / m) else ", by their weights,"
    verb = "is" if errors == 1 else "are"
    return (
        f"Each left out of the training in turn, {errors} of {m} samples {verb} "
        f"misclassified: a leave-one-out error rate{weighed} of {spread} "
        "(one standard error)."
    )


def command_line(
    data: str, reading: Mapping[str, Any], settings: Settings, report: str
) -> str:
    """``msvm-select sweep`` with all that is not a default; it writes ``report``.

    The settings have the grid as it was in the end, so that it need not grow again.
    """
    where = f"./{data}" if data.startswith("-") and data != "-" else data
    words = ["msvm-select", "sweep", where, *options(reading)]
    return shlex.join([*words, *options(_said(settings)), "--report", report])


def file_digest(path: str) -> str | None:
    """The SHA-256 of a file, as ``sha256sum`` prints it; None if it is no file."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def grid_text(values: tuple[float | str, ...]) -> str:
    """The values as a grid is typed: a range where that is exactly these values."""
    numbers = tuple(value for value in values if not isinstance(value, str))
    words = [value for value in values if isinstance(value, str)]  # gamma: scale
    return ",".join([*([_numbers_text(numbers)] if numbers else []), *words])


def _numbers_text(values: tuple[float, ...]) -> str:
    if len(values) >= LONG:
        low, high = typed(values[0]), typed(values[-1])
        step = typed(float(f"{values[1] - values[0]:.12g}"))
        for text in (f"{low}:{high}:{len(values)}", f"{low}:{high}:+{step}"):
            if (values[0] > 0.0 or "+" in text) and parse_grid(text) == values:
                return text
    return ",".join(map(typed, values))


def typed(value: float) -> str:
    """A number that is read back as it is."""
    return power_of_two(value) or repr(value).removesuffix(".0")


def _said(settings: Settings) -> dict[str, Any]:
    """What decides the rows and is not the default."""
    usual = asdict(Settings())
    values = settings.deciding() | {"select": settings.select}
    said = {n: v for n, v in values.items() if v != usual.get(n)}
    usual_by = (settings.metric or settings.criteria)[0]
    if settings.rank_by == usual_by or usual_by == "error":
        said.pop("rank_by", None)
    if not said.keys() & set(GRIDS):  # without any grid it would be widened
        said["C"] = settings.C
    for name in said:
        if name in GRIDS:
            said[name] = grid_text(said[name])
        elif name in ("criteria", "metric"):
            said[name] = ",".join(said[name])
    return said


def options(values: Mapping[str, Any]) -> Iterator[str]:
    """The words of the line that say these values by name."""
    for name, value in values.items():
        option = "--" + name.replace("_", "-")  # every option is known by it
        if isinstance(value, bool):
            yield option if value else f"--no-{option[2:]}"
        elif isinstance(value, list | tuple):
            for part in value:
                yield from (option, str(part))
        elif value is not None:
            # of the form --x=-1 where the value would else be taken for an option
            text = typed(value) if isinstance(value, float) else str(value)
            yield from ([f"{option}={text}"] if text[:1] == "-" else [option, text])
