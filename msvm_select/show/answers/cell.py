"""One trained cell -> its samples judged without themselves; its pairwise margins.

``predicted`` and ``margin`` of a sample are those of the machine trained without it.
One against one, ``margin`` is the decision of the pair of the true and the predicted
class; of a sample that is right, the smallest of the pairs of its class. ``lost`` names
the classes that win a pair against the true one.
The prediction is ``?`` at an exact tie, and for the only sample of its class: the
machine without it does not know that class.

Of the margins there is a row a pair of classes. Samples are named by id, else by their
line of the file, else by number; several are separated by ``;``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from msvm_select.errors import SettingsError
from msvm_select.geometry.margins import REST
from msvm_select.left_out import AMBIGUOUS, NEAR, REPAIRED, ROADS, Voted
from msvm_select.model.examined import Examined, LeftOutReport, MarginsReport
from msvm_select.parts import Composed
from msvm_select.phrases import counted, listed
from msvm_select.records import Dataset, Ints, Plain, finite
from msvm_select.results.ranking import data_summary, versions
from msvm_select.show.charts.heat import UNDECIDED, confusion_of
from msvm_select.show.sheet import Look, Sheet, shown
from msvm_select.show.text import confusion_text
from msvm_select.solution import Solution

FEW = 4  # samples named in a table
OF_SAMPLES = (
    *("sample", "line", "id", "class", "predicted", "margin", "road", "steps"),
    *("wrong", "ambiguous", "lost", "weight", "against"),
)
"""The columns of a row a sample, which no class can have the name of."""
PARTS = (
    "w is that of the machine of k and l, whose samples at its margin are at 1/||w||"
)


def left_out_sheet(
    report: LeftOutReport, every: bool = False, scores: bool = False
) -> Sheet:
    """A row a sample; a table has ``every`` one, or those wrong or in doubt.

    ``scores``: also the outputs of each class, in a column of its name.
    """
    data, left = report.data, report.left_out
    rows = _samples(report)
    outputs = _outputs(report) if scores else {}
    for name, column in outputs.items():
        for row, value in zip(rows, column, strict=True):
            row[name] = value
    confusion = confusion_of(data.classes, left)
    seen = [r for r in rows if every or r["wrong"] or r["ambiguous"]]
    hidden = f"{len(rows) - len(seen)} samples that are right are not shown; "
    where = "id" if data.ids is not None else "line"
    if data.ids is None and data.lines is None:
        where = "sample"
    voted = isinstance(left, Voted)
    what, within = ("a decision", NEAR) if voted else ("margin", AMBIGUOUS)
    lost = [Look("lost", heading="pairs lost to", left=True)] if voted else []
    weighed = "" if data.weights is None else " by their weights"
    conclusion = (
        f"Leave-one-out: {left.errors} of {data.m} wrong "
        f"({100.0 * report.rate:.2f} %{weighed}), {left.ambiguous} ambiguous ({what} "
        f"within {within:g} of 0)"
    )
    counts = {road: left.count(i) for i, road in enumerate(ROADS)}
    names = ("class", "predicted", "road")
    return Sheet(
        columns=[
            Look("sample"),
            Look("line"),
            Look("id", heading=data.id_column or "id", left=True),
            *(Look(n, left=n in names) for n in (*names[:2], "margin", "road")),
            *(Look(name) for name in ("steps", "wrong", "ambiguous")),
            *lost,
            *(Look(name) for name in outputs),
        ],
        rows=rows,
        facts=facts_of(report),
        blocks={
            "confusion": {
                "classes": list(data.classes),
                "matrix": confusion.counts[:, :-1].tolist(),
                "undecided": confusion.counts[:, -1].tolist(),
            },
            "summary": {
                **report.point,
                "n_samples": data.m,
                "loo_errors": left.errors,
                "loo_rate": report.rate,
                "loo_ambiguous": left.ambiguous,
                "roads": counts,
                "steps": int(left.exchanges.sum()),
                **_certificate(report),
            },
        },
        shown=[
            *(where, "class", "predicted", "margin", *(look.name for look in lost)),
            *("road", "wrong", *outputs),
        ],
        listed=seen,
        below=[
            *([] if every else ["", f"{hidden}--all shows them."]),
            *("", confusion_text(confusion), "", conclusion),
            _training_line(report.solution),
            _certificate_line(report.solution),
            *report.warnings,
        ],
        told=[conclusion, *report.warnings],
        details=[f"Roads: {', '.join(f'{n} {r}' for r, n in counts.items() if n)}"],
    )


def margins_sheet(report: MarginsReport) -> Sheet:
    """A row a pair of classes, in order."""
    full, data = report.solution, report.data
    parts = report.settings.machine != "ww"
    distance = "||w||" if parts else "||w_k - w_l||"
    looks = [
        replace(look, heading=distance) if look.name == "distance" else look
        for look in MARGINS
    ]
    by = "sample number" if data.lines is None else "line"
    if data.ids is not None:
        by = data.id_column or "id"
    return Sheet(
        columns=looks,
        rows=[
            {
                "class_k": data.classes[pair.k],
                "class_l": "the rest" if pair.l == REST else data.classes[pair.l],
                "gamma": pair.gamma,
                "delta": pair.delta,
                "distance": pair.distance,
                "margin_k": pair.margin_k,
                "margin_l": pair.margin_l,
                "closest_k": names_of(data, pair.closest_k),
                "closest_l": names_of(data, pair.closest_l),
            }
            for pair in report.pairs
        ],
        facts=facts_of(report),
        blocks={
            "summary": {
                **report.point,
                "n_samples": full.dual.m,
                "smallest_gamma": min(pair.gamma for pair in report.pairs),
                **_certificate(report),
            }
        },
        shown=[look.name for look in looks if not look.name.startswith("margin")],
        below=[
            "",
            f"gamma_kl = (1 + delta_kl) / {distance}; below 0 where a sample lies "
            "beyond",
            *([PARTS] if parts else []),
            f"The closest samples are named by {by}.",
            f"{_training_line(full)}, {full.n_bounded} at C",
            _certificate_line(full),
            *report.warnings,
        ],
        told=report.warnings,
        notes=[]
        if full.converged
        else [f"Warning: the training did not converge: {full.reason}."],
    )


def facts_of(cell: Examined) -> dict[str, Any]:
    """What the JSON document of one trained cell begins with."""
    return {
        "data": data_summary(cell.data),
        "settings": dict(cell.deciding),
        "versions": versions(),
    }


def in_words(road: int, steps: int) -> str:
    """How a sample was judged."""
    return f"repaired in {counted(steps, 'step')}" if road == REPAIRED else ROADS[road]


def _samples(report: LeftOutReport) -> list[dict[str, Plain]]:
    """One row a sample, in the order of the data."""
    data, left = report.data, report.left_out
    names = (*data.classes, UNDECIDED)
    lost: Sequence[dict[str, Plain]] = [{}] * data.m
    if isinstance(left, Voted):
        to = [[names[k] for k in np.flatnonzero(one)] for one in left.lost]
        lost = [{"lost": ";".join(one)} for one in to]
    return [
        {
            "sample": i + 1,
            "line": None if data.lines is None else int(data.lines[i]),
            "id": None if data.ids is None else data.ids[i],
            "class": data.classes[data.y[i]],
            "predicted": names[left.predicted[i]],
            "margin": finite(float(left.margin[i])),
            "road": in_words(int(left.road[i]), int(left.exchanges[i])),
            "steps": int(left.exchanges[i]),
            "wrong": bool(left.wrong[i]),
            "ambiguous": bool(left.in_doubt[i]),
            **lost[i],
        }
        for i in range(data.m)
    ]


def _outputs(report: LeftOutReport) -> dict[str, list[Plain]]:
    """What the machine without each sample says of each class, by the class's name.

    Outputs are known up to a constant in each row: their mean is 0 there. One against
    one they are votes, with what the pairs add up to between -1/3 and 1/3.
    """
    data, left = report.data, report.left_out
    double = [name for name in data.classes if name in OF_SAMPLES]
    if double:
        raise SettingsError(
            f"Two columns of the output would have the name {listed(double)}: leave "
            "out --scores, or name the class otherwise."
        )
    h = left.outputs
    if not isinstance(left, Voted):
        there = np.isfinite(h)
        mean = np.where(there, h, 0.0).sum(axis=1) / there.sum(axis=1)
        h = h - mean[:, None]
    columns = ([finite(value) for value in column] for column in h.T.tolist())
    return dict(zip(data.classes, columns, strict=True))


def _certificate(cell: Examined) -> dict[str, Any]:
    """What the summary of one trained cell ends with."""
    names = ("train_errors", "n_sv", "dual_objective", "gap", "kkt_violation")
    told = {name: getattr(cell.solution, name) for name in (*names, "b_unique")}
    return {**told, "warning": cell.warning}


def _training_line(solution: Solution) -> str:
    """How many samples are wrong in training, and how many are support vectors."""
    wrong, m = solution.train_errors, solution.dual.m
    return (
        f"Training: {wrong} of {m} wrong ({100.0 * wrong / m:.2f} %), {solution.n_sv} "
        "support vectors"
    )


def _certificate_line(solution: Solution | Composed) -> str:
    """How near to the optimum it is, and whether its biases are the only ones."""
    worst = ""
    if isinstance(solution, Composed):
        worst = f" (the worst of {solution.parts.count} parts)"
    unique = "unique" if solution.b_unique else "not unique (their centre is taken)"
    return (
        f"Certificate: relative gap {solution.gap:.2g}, KKT violation "
        f"{solution.kkt_violation:.2g}{worst}; biases {unique}"
    )


def sample_name(data: Dataset, i: int) -> str:
    """A sample by its id, else by its line in the file, else by its number."""
    if data.ids is not None:
        return f"{data.id_column or 'id'} {data.ids[i]}"
    return f"sample {i + 1}" if data.lines is None else f"line {data.lines[i]}"


def _number(value: Plain) -> str:
    """What is zero but for rounding is zero."""
    tiny = isinstance(value, float) and abs(value) < 5e-9
    return shown(0.0 if tiny else value, 6)


def _closest(value: Plain) -> str:
    names = str(value).split(";")
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def names_of(data: Dataset, samples: Ints) -> str:
    """Samples by id, else by line, else by number."""
    if data.ids is not None:
        return ";".join(data.ids[i] for i in samples)
    numbers = samples + 1 if data.lines is None else data.lines[samples]
    return ";".join(map(str, numbers.tolist()))


MARGINS = (
    Look("class_k", "k", left=True),
    Look("class_l", "l", left=True),
    Look("gamma", "gamma_kl", text=_number),
    Look("delta", "delta_kl", text=_number),
    Look("distance", "||w_k - w_l||", text=_number),
    Look("margin_k", text=_number),
    Look("margin_l", text=_number),
    Look("closest_k", "closest of k", left=True, text=_closest),
    Look("closest_l", "closest of l", left=True, text=_closest),
)
