"""Every bound of one trained cell with its terms -> a sheet.

One row a number: its group and name, its value, whether it applies (for a bound:
whether it holds for this machine), a note, its formula and where the formula comes
from. A table shows formulas only when it is to explain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from msvm_select.left_out import AMBIGUOUS, LeftOut
from msvm_select.model.examined import BoundsReport
from msvm_select.records import Floats, Plain
from msvm_select.show.answers.bound_terms import (
    Term,
    note_rows,
    radius_margin_rows,
    risk_rows,
)
from msvm_select.show.answers.cell import facts_of
from msvm_select.show.sheet import Look, Sheet, shown
from msvm_select.solution import Solution

SHOWN = ("group", "term", "value", "applies", "note")
LOOKS = tuple(Look(name, left=True, digits=6) for name in (*SHOWN, "formula", "source"))
BREADTH = 88
TRUTH = "exact leave-one-out"
MACHINE = "the machine"
SOURCES = (
    "RM: Darcy and Guermeur, radius-margin bound for M-SVMs (2005); MS: Guermeur, "
    "Maumy and Sur, model selection for M-SVMs (2005); LN: lecture notes, corrected; "
    "own: derived and tested here."
)


def sheet(report: BoundsReport, explain: bool = False) -> Sheet:
    """A row a number; ``explain`` adds to a table the formulas and their sources."""
    terms = terms_of(report)
    point = _point(report)
    return Sheet(
        columns=LOOKS,
        rows=[vars(term) for term in terms],
        facts={**facts_of(report), "cell": point},
        blocks={"sources": SOURCES, "warning": report.warning},
        shown=SHOWN,
        listed=(),
        above=[
            _cell(point),
            *_body(terms, explain),
            *(["", *wrap(SOURCES, BREADTH)] if explain else []),
            *(line for warning in report.warnings for line in ("", warning)),
        ],
        told=[conclusion(report), *report.warnings],
    )


def terms_of(report: BoundsReport) -> list[Term]:
    """All numbers, the truth first."""
    found = [
        *left_out_terms(report.left_out, report.predicted),
        *machine_terms(report.solution),
    ]
    if report.radius_margin is not None:
        found += radius_margin_rows(
            report.data, report.radius_margin, report.counted, report.softened
        )
    found += risk_rows(report.risk)
    return [*found, *note_rows(report.compression, report.vc, report.solution)]


def conclusion(report: BoundsReport) -> str:
    """One line: the exact errors, and the bound on them with whether it holds."""
    text = f"Leave-one-out: {report.left_out.errors} of {report.data.m} wrong"
    terms = report.radius_margin
    if terms is None:
        return text
    word = "applies" if terms.applicable else "does not apply"
    return f"{text}; radius-margin {terms.bound:.6g} ({word}: {terms.reason})"


def _point(report: BoundsReport) -> dict[str, Plain]:
    """The cell by column, its loss before the solver."""
    point = report.point
    solver = point.pop("solver")
    return {**point, "loss": report.settings.loss, "solver": solver}


def _cell(point: Mapping[str, Plain]) -> str:
    values = [f"{name}={shown(value, 6)}" for name, value in point.items()]
    return " ".join([str(point["kernel"]), *values[1:]])


def _body(terms: Sequence[Term], explain: bool) -> Iterator[str]:
    """A line a number, then what there is to say of it."""
    names = max(len(term.term) for term in terms)
    values = max(len(shown(term.value, 6)) for term in terms)
    group = ""
    for term in terms:
        if term.group != group:
            group = term.group
            yield ""
            yield group
        applies = {None: "", True: "applies", False: "does not apply"}[term.applies]
        line = f"  {term.term:<{names}}  {shown(term.value, 6):>{values}}  {applies}"
        said = f"{line}{': ' if applies and term.note else ''}{term.note}"
        if len(said) <= BREADTH:
            yield said.rstrip()
        else:
            yield line.rstrip()
            yield from (f"      {part}" for part in wrap(term.note, BREADTH - 6))
        if explain:
            source = f"{term.formula}  [{term.source}]"
            yield from (f"      {part}" for part in wrap(source, BREADTH - 6))


def left_out_terms(left_out: LeftOut, predicted: Floats | None) -> list[Term]:
    """L and its rate; the span estimate of the rate beside them."""
    m = left_out.y.size
    span = None
    if predicted is not None:
        span = int((~(predicted.min(axis=1) > 0.0)).sum()) / m
    return [
        Term(
            TRUTH, "loo_errors", left_out.errors,
            "L = #{ p : the machine trained without p gets p wrong }",
            "RM Theorems 1 and 2, the left side",
        ),
        Term(TRUTH, "loo_rate", left_out.errors / m, "L / m", "own"),
        Term(
            TRUTH, "loo_ambiguous", left_out.ambiguous,
            f"#{{ p : the left-out margin is within {AMBIGUOUS:g} of 0 }}", "own",
        ),
        Term(
            TRUTH, "span_rate", span,
            "share of p with a margin <= 0 among m_P = 1 - (G_PP)^-1 alpha_P, G the "
            "block of the free variables in the inverse KKT matrix",
            "own; after the span of Vapnik and Chapelle", "an estimate, unchecked",
        ),
    ]  # fmt: skip


def machine_terms(solution: Solution) -> list[Term]:
    """What the bounds are made from, with its certificate."""
    quadratic = solution.dual.quadratic is not None
    ridge = "; of the kernel K + I/(2C)" if quadratic else ""
    return [
        Term(
            MACHINE, "train_errors", solution.train_errors,
            "#{ i : h_{y_i}(x_i) <= max_{k != y_i} h_k(x_i) }", "MS Definition 1",
        ),
        Term(MACHINE, "n_sv", solution.n_sv, "#{ i : some alpha_ik > 0 }", "RM (11)"),
        Term(
            MACHINE, "n_bounded", solution.n_bounded,
            "#{ i : some alpha_ik = C }", "RM Problem 4",
        ),
        Term(
            MACHINE, "sum_alpha", solution.sum_alpha,
            f"sum_ik alpha_ik{ridge}", "RM Problem 4",
        ),
        Term(
            MACHINE, "sum_k ||w_k||^2", solution.norm_w_squared,
            f"sum_ik tau_ik F_ik, F = K tau{ridge}", "RM (25)",
        ),
        Term(
            MACHINE, "b_unique", solution.b_unique,
            "whether the optimal biases are one point", "own",
        ),
        Term(
            MACHINE, "gap", solution.gap,
            "(primal - dual) / max(1, |dual|)", "own; the certificate",
        ),
    ]  # fmt: skip
