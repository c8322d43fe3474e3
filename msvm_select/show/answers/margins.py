"""The pairwise margins of a trained cell -> a sheet.

One row a pair of classes. Samples are named by id, else by their line of the file, else
by number; several are separated by ``;``.
"""

from __future__ import annotations

from msvm_select.model.examined import MarginsReport
from msvm_select.records import Dataset, Ints, Plain
from msvm_select.show.answers.loo import (
    certificate,
    certificate_line,
    facts_of,
    training_line,
)
from msvm_select.show.sheet import Look, Sheet, shown

FEW = 4  # samples named in a table


def sheet(report: MarginsReport) -> Sheet:
    """A row a pair of classes, in order."""
    full = report.solution
    open_ = [] if full.converged else [
        f"Warning: the training did not converge: {full.reason}."
    ]  # fmt: skip
    return Sheet(
        columns=LOOKS,
        rows=_rows(report),
        facts=facts_of(report),
        blocks={
            "summary": {
                **report.point,
                "n_samples": full.dual.m,
                "smallest_gamma": min(pair.gamma for pair in report.pairs),
                **certificate(report),
            }
        },
        shown=[look.name for look in LOOKS if not look.name.startswith("margin")],
        below=[
            "",
            "gamma_kl = (1 + delta_kl) / ||w_k - w_l||; below 0 where a sample lies "
            "beyond",
            f"The closest samples are named by {_names(report.data)}.",
            f"{training_line(full)}, {full.n_bounded} at C",
            certificate_line(full),
            *report.warnings,
        ],
        told=report.warnings,
        notes=open_,
    )


def _number(value: Plain) -> str:
    """What is zero but for rounding is zero."""
    tiny = isinstance(value, float) and abs(value) < 5e-9
    return shown(0.0 if tiny else value, 6)


def _closest(value: Plain) -> str:
    names = str(value).split(";")
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


LOOKS = (
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


def _rows(report: MarginsReport) -> list[dict[str, Plain]]:
    data = report.data
    return [
        {
            "class_k": data.classes[pair.k],
            "class_l": data.classes[pair.l],
            "gamma": pair.gamma,
            "delta": pair.delta,
            "distance": pair.distance,
            "margin_k": pair.margin_k,
            "margin_l": pair.margin_l,
            "closest_k": _named(data, pair.closest_k),
            "closest_l": _named(data, pair.closest_l),
        }
        for pair in report.pairs
    ]


def _named(data: Dataset, samples: Ints) -> str:
    if data.ids is not None:
        return ";".join(data.ids[i] for i in samples)
    numbers = samples + 1 if data.lines is None else data.lines[samples]
    return ";".join(map(str, numbers.tolist()))


def _names(data: Dataset) -> str:
    """What the samples are named by."""
    if data.ids is not None:
        return data.id_column or "id"
    return "sample number" if data.lines is None else "line"
