"""Results -> the sentences of the page."""

from __future__ import annotations

import math
from collections import Counter

from msvm_select.phrases import counted
from msvm_select.results.edges import edge_notes
from msvm_select.results.labels import label_of
from msvm_select.results.ranking import Results, ranking_column
from msvm_select.results.risk import risk_notes
from msvm_select.row import Row
from msvm_select.show.answers.loo import LeftOutReport
from msvm_select.show.page.markup import Html, el, joined
from msvm_select.show.page.values import SPACE, described, percent, text

MOST = 6  # reasons of failing that are told one by one


def answer(results: Results, chosen: Row | None, judged: LeftOutReport | None) -> Html:
    """Which cell, and how often it is wrong about samples that it has not seen."""
    count = len(results.rows)
    tried = f"Of {count} cells" if count > 1 else "Of the only cell"
    if chosen is None:
        none = f"{tried}, none has a score by {results.rank_by} that counts."
        return el("p", none, class_="answer")
    cell = el("strong", described(chosen))
    standing = f" is {_standing(results, chosen)}. "
    sentence = joined([f"{tried}, ", cell, standing, _left_out(chosen, judged)])
    return el("p", sentence, class_="answer")


def standard_error(errors: int, m: int) -> float:
    """sqrt(p (1 - p) / m) of a share p = errors / m."""
    p = errors / m
    return math.sqrt(p * (1.0 - p) / m)


def caveat(results: Results) -> str:
    """How the figures of the answer are to be taken."""
    text = (
        "The leave-one-out errors are exact: each sample is judged by the machine "
        "trained without it, at the same setting and with the features scaled as in "
        "the whole. The standard error takes the samples for independent."
    )
    count = len(results.rows)
    if count == 1:
        return text
    return (
        f"{text} The rate of the one that was chosen of {count} cells is somewhat too "
        "good to be that of new samples, since the same samples have chosen it."
    )


def certificate(row: Row) -> dict[str, str | None]:
    """What vouches for the training of a cell."""
    unique = {True: "unique", False: "not unique; their centre is taken", None: None}
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
    """What is to be known before the answer is trusted."""
    found = [*_ties(results), *edge_notes(results)]
    found += [f"{note}." for note in risk_notes(results)]
    reasons = Counter(
        f"{row.status.replace('_', ' ')}: {row.status_reason}"
        for row in results.rows
        if row.status != "ok"
    )
    told = list(reasons.items())[:MOST]
    found += [f"{counted(count, 'cell')} {reason}." for reason, count in told]
    if len(reasons) > MOST:
        found.append("For the other cells, the column status_reason says why.")
    return [note.replace("..", ".") for note in found]


def _standing(results: Results, chosen: Row) -> str:
    """Why this cell: the best by what, or chosen among which others."""
    column = ranking_column(results.rank_by)
    by = f"by {results.rank_by}{_score(chosen, column)}"
    if column in ("loo_rate", "loo_errors"):  # its value is in the next sentence
        by = "by leave-one-out"
    choice = results.choice
    if choice is None or choice.row is results.best:
        return f"the best {by}"
    if choice.rule == "1se":
        near = f"{choice.eligible} within one standard error of the best"
        return f"the simplest of the {near} {by}"
    return f"the simplest of the {choice.tied} that are the best {by}"


def _score(row: Row, column: str) -> str:
    label = label_of(column)
    unit = f"{SPACE}{label.unit}" if label.unit == "%" else ""
    value = label.shown(float(getattr(row, column)))
    return f" ({label.text}: {value}{unit})"


def _left_out(row: Row, judged: LeftOutReport | None) -> str:
    errors = row.loo_errors if judged is None else judged.left_out.errors
    if errors is None:
        return "Its leave-one-out error rate was not taken."
    m = row.n_samples
    spread = f"{percent(errors / m)} \N{PLUS-MINUS SIGN} "
    spread += percent(standard_error(errors, m))
    verb = "is" if errors == 1 else "are"
    return (
        f"Each left out of the training in turn, {errors} of {m} samples {verb} "
        f"classified wrongly: a leave-one-out error rate of {spread} (one standard "
        "error)."
    )


def _ties(results: Results) -> list[str]:
    choice = results.choice
    if choice is None or choice.tied < 2:
        return []
    return [
        f"{choice.tied} cells tie for the best {ranking_column(results.rank_by)}; the "
        "smallest C of them, then the smoothest kernel, comes first."
    ]
