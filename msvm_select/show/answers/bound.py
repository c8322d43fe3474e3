"""Every bound of one trained cell, term by term -> a sheet.

One row a number: its group and name, its value, whether it applies (for a bound:
whether it holds for this machine), a note, its formula and where the formula comes
from. A table shows formulas only when it is to explain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from msvm_select.criteria.flow_constant import IGNORED
from msvm_select.criteria.guaranteed_risk import NO_FUNCTIONS, GuaranteedRiskTerms
from msvm_select.criteria.radius_margin import OverParts, RadiusMargin
from msvm_select.criteria.risk_bounds import VcTerms
from msvm_select.geometry.margins import proposition_2
from msvm_select.left_out import AMBIGUOUS, NEAR, Voted
from msvm_select.model.examined import BoundsReport
from msvm_select.parts import Composed
from msvm_select.records import Plain
from msvm_select.show.answers.cell import facts_of, sample_name
from msvm_select.show.sheet import Look, Sheet, shown
from msvm_select.solution import Solution

SHOWN = ("group", "term", "value", "applies", "note")
LOOKS = tuple(Look(name, left=True, digits=6) for name in (*SHOWN, "formula", "source"))
BREADTH = 88
SOURCES = (
    "RM: Darcy and Guermeur, radius-margin bound for M-SVMs (2005); MS: Guermeur, "
    "Maumy and Sur, model selection for M-SVMs (2005); LN: lecture notes, corrected; "
    "own: derived and tested here."
)
SPHERE = "2R, R^2 = max sum_i beta_i K_ii - beta'K beta, beta >= 0, sum beta = 1"


@dataclass(frozen=True)
class Term:
    """A number by its name in formulas or, where it has one, by its column.

    ``applies`` is None for what is no bound; ``source`` cites the formula.
    """

    group: str
    term: str
    value: Plain
    formula: str
    source: str
    note: str = ""
    applies: bool | None = None


def sheet(report: BoundsReport, explain: bool = False) -> Sheet:
    """A row a number; ``explain`` adds to a table the formulas and their sources."""
    terms, point = terms_of(report), report.point
    solver = point.pop("solver")
    point |= {"loss": report.settings.loss, "solver": solver}
    told = [f"{name}={shown(value, 6)}" for name, value in point.items()]
    return Sheet(
        columns=LOOKS,
        rows=[vars(term) for term in terms],
        facts={**facts_of(report), "cell": point},
        blocks={"sources": SOURCES, "warning": report.warning},
        shown=SHOWN,
        listed=(),
        above=[
            " ".join([str(point["kernel"]), *told[1:]]),
            *_body(terms, explain),
            *(["", *wrap(SOURCES, BREADTH)] if explain else []),
            *(line for warning in report.warnings for line in ("", warning)),
        ],
        told=[conclusion(report), *report.warnings],
    )


def terms_of(report: BoundsReport) -> list[Term]:
    """All numbers, the truth first."""
    if isinstance(report.radius_margin, OverParts):
        return _of_parts(report, report.radius_margin)
    groups = {
        "exact leave-one-out": _left_out(report),
        "the machine": _machine(report),
        "radius-margin bounds on L": _radius_margin(report),
        "Proposition 2: four numbers that agree": _proposition_2(report),
        "radius-margin, to rank by only": _heuristics(report),
        "guaranteed risk": _guaranteed_risk(report.risk),
        "bounds of lecture notes": _lecture_notes(report),
    }
    return [Term(group, *terms) for group, rows in groups.items() for terms in rows]


def _of_parts(report: BoundsReport, whole: OverParts) -> list[Term]:
    """Those of a machine of parts; a term that has no meaning there says so."""
    none = "only for one machine of all classes"
    groups = {
        "exact leave-one-out": _left_out(report),
        "the machine": _machine(report),
        "radius-margin bounds on L, over the parts": _over_parts(whole),
        "Proposition 2: four numbers that agree": [
            ("sum over pairs", None, "1/Q sum_{k<l} ((1 + delta_kl) / gamma_kl)^2",
             "RM Proposition 2, (34)", none),
        ],
        "radius-margin, to rank by only": [
            ("diameter_all", whole.diameter_all,
             f"{SPHERE}, over all samples of a part; the largest",
             "own; RM Lemma 1 with all samples"),
            ("radius_margin_q", whole.bound_q, "sum over parts of D_all^2 / gamma^2",
             "own; RM Theorem 1 in each part"),
            ("radius_margin_l1", None,
             "(R^2 + 1/C) (||w||^2 + 2C sum xi)", "Chung et al. 2003", none),
        ],
        "guaranteed risk": _guaranteed_risk(report.risk),
        "bounds of lecture notes": _lecture_notes(report),
    }  # fmt: skip
    return [Term(group, *terms) for group, rows in groups.items() for terms in rows]


def conclusion(report: BoundsReport) -> str:
    """One line: the exact errors, and the bound on them with whether it holds."""
    text = f"Leave-one-out: {report.left_out.errors} of {report.data.m} wrong"
    terms = report.radius_margin
    if terms is None:
        return text
    if terms.bound is None:
        return f"{text}; radius-margin is missing: {terms.flow.missing}"
    word = "applies" if terms.applicable else "does not apply"
    return f"{text}; radius-margin {terms.bound:.6g} ({word}: {terms.reason})"


def _body(terms: Sequence[Term], explain: bool) -> Iterator[str]:
    """A line a number, then what there is to say of it."""
    names = max(len(term.term) for term in terms)
    values = max(len(shown(term.value, 6)) for term in terms)
    group = ""
    for term in terms:
        if term.group != group:
            group = term.group
            yield from ("", group)
        applies = {None: "", True: "applies", False: "does not apply"}[term.applies]
        line = f"  {term.term:<{names}}  {shown(term.value, 6):>{values}}  {applies}"
        said = f"{line}{': ' if applies and term.note else ''}{term.note}"
        below = [f"{term.formula}  [{term.source}]"] if explain else []
        if len(said) > BREADTH:
            said, below = line, [term.note, *below]
        yield said.rstrip()
        for text in below:
            yield from (f"      {part}" for part in wrap(text, BREADTH - 6))


# A term without its group: name, value, formula, source, perhaps a note, whether it
# applies.
Rows = list[tuple[Any, ...]]


def _left_out(report: BoundsReport) -> Rows:
    """L and its rate; the span estimate of the rate beside them."""
    left_out, predicted, m = report.left_out, report.predicted, report.data.m
    span = None if predicted is None else predicted / m
    what, within = "the left-out margin", AMBIGUOUS
    if isinstance(left_out, Voted):
        what, within = "the left-out decision of a pair of its class", NEAR
    return [
        ("loo_errors", left_out.errors,
         "L = #{ p : the machine trained without p gets p wrong }",
         "RM Theorems 1 and 2, the left side"),
        ("loo_rate", report.rate, "L / m, samples by their weights", "own"),
        ("loo_ambiguous", left_out.ambiguous,
         f"#{{ p : {what} is within {within:g} of 0 }}", "own"),
        ("span_rate", span,
         "share of p with a margin <= 0 among m_P = 1 - (G_PP)^-1 alpha_P, G the "
         "block of the free variables in the inverse KKT matrix",
         "own; after the span of Vapnik and Chapelle", "an estimate, unchecked"),
    ]  # fmt: skip


def _machine(report: BoundsReport) -> Rows:
    """What the bounds are made from, with its certificate."""
    full: Solution | Composed = report.solution
    if isinstance(full, Composed):
        return _composed(full)
    ridge = "; of the kernel K + I/(2C)" if full.dual.quadratic is not None else ""
    return [
        ("train_errors", full.train_errors,
         "#{ i : h_{y_i}(x_i) <= max_{k != y_i} h_k(x_i) }", "MS Definition 1"),
        ("n_sv", full.n_sv, "#{ i : some alpha_ik > 0 }", "RM (11)"),
        ("n_bounded", full.n_bounded, "#{ i : some alpha_ik = C }", "RM Problem 4"),
        ("sum_alpha", full.sum_alpha, f"sum_ik alpha_ik{ridge}", "RM Problem 4"),
        ("sum_k ||w_k||^2", full.norm_w_squared,
         f"sum_ik tau_ik F_ik, F = K tau{ridge}", "RM (25)"),
        ("b_unique", full.b_unique, "whether the optimal biases are one point", "own"),
        ("gap", full.gap, "(primal - dual) / max(1, |dual|)",
         "own; the certificate"),
    ]  # fmt: skip


def _composed(full: Composed) -> Rows:
    """The same of a machine of parts, and what the parts sum up to."""
    ridge = "" if full.dual.quadratic is None else "; of the kernel K + I/C"
    wrong = "#{ i : another class has the most votes, the first of several }"
    if full.parts.kind == "ova":
        wrong = "#{ i : the output of another class is the largest }"
    return [
        ("parts", full.parts.count, "the number of two-class machines", "own"),
        ("train_errors", full.train_errors, wrong, "own"),
        ("n_sv", full.n_sv, "#{ i : a support vector of some part }", "own"),
        ("n_bounded", full.n_bounded, "#{ i : at C in some part }", "own"),
        ("sum_alpha", full.sum_alpha,
         f"sum over parts of 1/2 sum_i alpha_i, alpha_i as LIBSVM has it{ridge}",
         "own; each part as a machine of two outputs"),
        ("sum_k ||w_k||^2", full.norm_w_squared,
         f"sum over parts of 1/2 ||w||^2{ridge}", "own; likewise"),
        ("b_unique", full.b_unique, "whether every part has only one optimal bias",
         "own"),
        ("gap", full.gap, "(primal - dual) / max(1, |dual|), of the worst part",
         "own; the certificate"),
    ]  # fmt: skip


def _over_parts(whole: OverParts) -> Rows:
    """The sums over the parts, and the worst part of each term."""
    holds, parts = whole.applicable, whole.parts
    wide = max(parts, key=lambda part: part.ball.diameter)
    thin = min(parts, key=lambda part: part.gamma)
    counted = None if whole.counted is None else int(whole.counted.size)
    each = "" if counted is None else "the samples that some part counts"
    return [
        ("radius_margin_applicable", holds,
         "in every part: separable, every alpha < C, with any sample left out too; "
         "always with the loss l2", "RM Theorem 1 in each part", whole.reason),
        ("diameter D", wide.ball.diameter,
         f"{SPHERE}, over the support vectors of a part; the largest", "RM Lemma 1",
         wide.name),
        ("K", whole.K, "2 for two classes", "RM Theorem 2, Q = 2", "in every part"),
        ("gamma", thin.gamma, "1 / ||w|| of a part; the smallest", "RM (30)",
         thin.name),
        ("radius_margin", whole.bound,
         "sum over parts of 2 D^2 1/2 sum_i alpha_i, at the hard margin D^2 / gamma^2",
         "own; RM Theorem 1 in each part, as an error of the whole is one of a part",
         "", holds),
        ("radius_margin, largest part", whole.worst.bound,
         "2 D^2 1/2 sum_i alpha_i of one part", "RM Theorem 1", whole.worst.name),
        ("radius_margin_count B*", counted,
         "#{ p : some part counts p as its B* does }", "own", each, holds),
    ]  # fmt: skip


def _radius_margin(report: BoundsReport) -> Rows:
    """D, K and the pair that attains it; the bounds made from them."""
    terms, counted = report.radius_margin, report.counted
    if not isinstance(terms, RadiusMargin):
        return []
    constant, ball, data = terms.constant, terms.ball, report.data
    holds, two = terms.applicable, terms.two_classes
    S2, A = terms.S2, terms.A
    why = f"missing: {terms.flow.missing}"
    where = why
    if constant is not None:
        i, own = constant.sample, data.y[constant.sample]
        pair = f"{data.classes[own]} -> {data.classes[constant.against]}"
        where = f"at {sample_name(data, i)}, {pair}"
    unique = holds and terms.solution.b_unique
    chains = f"{counted.bridges} of them without a chain" if counted else ""
    found: Rows = [
        ("radius_margin_applicable", holds,
         "separable, every alpha_ik < C, with any sample left out too; always with "
         "the loss l2", "RM Lemma 2 and Theorem 2, the conditions", terms.reason),
        ("diameter D", terms.diameter, f"{SPHERE}, over support vectors",
         "RM Lemma 1", f"ball held by {ball.support.size}, gap {ball.gap:.1g}"),
        ("K", terms.K,
         "sqrt( 2 max_i M_i / min_k alpha_ik^2 ), M_i = min sum_l inflow_l^2 over "
         "circulations f on the classes, alpha_il <= f[y_i,l], f[c,l] <= sum_{j in "
         f"class c}} alpha_jl; alpha below {IGNORED:g} max alpha are ignored",
         "RM Theorem 2, Problems 5 and 6 in the form of flows", where),
        ("radius_margin", terms.bound, "K D^2 sum_ik alpha_ik", "RM Theorem 2, (50)",
         *(("", holds) if constant else (why,))),
        ("S2", S2, "D^2 sum_p sqrt(2 M_p)",
         "own; RM Lemma 2 before K is taken out",
         *((why,) if S2 is None else ("", unique))),
        ("A", A, "#{ p : 2 D^4 M_p >= 1 }",
         "own; RM Lemma 2, the samples that it lets pass",
         *((why,) if A is None else ("", unique))),
        ("radius_margin_count B*", counted.count if counted else None,
         "#{ p : for some class n no chain of arcs of others leads from y_p to n, "
         "or N_p min v'Hv >= 1 }, N_p = min l'Hl over circulations l <= alpha with "
         "l_p = alpha_p, v_pn = 1 returned by arcs of other support vectors",
         "own; a proof of RM (49) without its gap", chains, holds),
    ]  # fmt: skip
    if two is not None:
        found += [
            ("gamma", two.gamma, "1 / ||w_1 - w_2||", "RM (30), Q = 2"),
            ("D^2/gamma^2", two.bound, "D^2 / gamma^2", "RM Theorem 1, (22)", "",
             holds),
            ("large alpha", two.large, "#{ p : 2 alpha_p >= 1 / D^2 }",
             "RM Lemma 1, (10)", "2 alpha_p is alpha_p of the ordinary SVM", holds),
        ]  # fmt: skip
    return found


def _proposition_2(report: BoundsReport) -> Rows:
    if report.radius_margin is None:
        return []
    four, source = proposition_2(report.solution), "RM Proposition 2, (34)"
    return [
        ("sum alpha (1 - xi)", four.sum_alpha,
         "sum_ik alpha_ik - C sum_ik xi_ik; in the separable case sum alpha", source),
        ("alpha'H alpha", four.alpha_H_alpha, "alpha'H alpha", source),
        ("sum ||w_k||^2", four.sum_norms, "sum_k ||w_k||^2", source),
        ("sum over pairs", four.pairs, "1/Q sum_{k<l} ((1 + delta_kl) / gamma_kl)^2",
         source),
        ("disagreement", four.disagreement,
         "the largest difference of two of the four / the largest", "own"),
    ]  # fmt: skip


def _heuristics(report: BoundsReport) -> Rows:
    terms, softened = report.radius_margin, report.softened
    if not isinstance(terms, RadiusMargin):
        return []
    found: Rows = [
        ("diameter_all", terms.diameter_all, f"{SPHERE}, over all samples",
         "own; RM Lemma 1 with all samples"),
        ("radius_margin_q", terms.bound_q,
         "Q D_all^2 sum_k ||w_k||^2; at Q = 2 D_all^2 / gamma^2",
         "own; RM Theorem 2 without K, by Proposition 2"),
        ("radius_margin_l1", softened,
         "Q (D_all^2 + 1/C) (sum_k ||w_k||^2 + 2C sum xi); at Q = 2 (R^2 + "
         "1/C') (||w||^2 + 2C' sum xi) with C' = 2C",
         "Chung et al. 2003, and its analogue"),
    ]  # fmt: skip
    return found if softened is not None else found[:-1]


def _guaranteed_risk(terms: GuaranteedRiskTerms | None) -> Rows:
    """Margin risk, confidence, ln N and what they are made of."""
    if terms is None:
        return [
            ("guaranteed_risk", None, "R_gamma + confidence + 1/m, least over gamma",
             "MS Theorem 1", NO_FUNCTIONS),
        ]  # fmt: skip
    union = " < 2^j, the least such j >= 1" if terms.union else ""
    delta = "delta / (j (j + 1) i (i + 1))" if terms.union else "as given (--delta)"
    return [
        ("guaranteed_risk", terms.value,
         "R_gamma + confidence + 1/m, least over gamma", "MS Theorem 1",
         terms.standing, terms.union and terms.theorem == 3),
        ("guaranteed_risk_vacuous", terms.vacuous, "whether it is 1 or more", "own"),
        ("guaranteed_risk_gamma", terms.gamma,
         "the margin of a sample, or 1, where the sum is least", "MS Theorem 1"),
        ("R_gamma (margin risk)", terms.margin_risk,
         "share of samples with 1/2 (h_y - max_{k != y} h_k) < gamma",
         "MS Definitions 2 and 3"),
        ("confidence", terms.confidence,
         "sqrt( 2/m ( ln(2 N) + ln(2 / (gamma delta)) ) )", "MS Theorem 1"),
        *_covering(terms),
        ("Lambda_w", terms.Lambda_w, f"sqrt( sum_k ||w_k||^2 ){union}",
         "MS Proposition 3"),
        ("Lambda_Phi", terms.Lambda_Phi, "max_i sqrt( k(x_i, x_i) )", "MS Theorem 2"),
        ("beta", terms.beta, f"max_k |b_k|, sum b = 0{union}", "MS Proposition 2"),
        ("delta", terms.delta_paid, delta, "MS Theorem 1"),
    ]  # fmt: skip


def _covering(terms: GuaranteedRiskTerms) -> Rows:
    biases = "Q ln(2 ceil(4 beta/gamma) + 1)"
    if terms.theorem == 3:
        return [
            ("ln N", terms.log_covering,
             f"{biases} + Q d ln(32 Lambda_w Lambda_Phi/gamma)", "MS Theorem 3, (14)"),
            ("d", terms.dimension, "the dimension of the feature space",
             "MS Theorem 3"),
        ]  # fmt: skip
    return [
        ("ln N", terms.log_covering,
         f"{biases} + ln 2 (n - 1), n the least with n >= (8 c Lambda_w Lambda_Phi/"
         "gamma)^2 log2(1 + 2Qm/n)", "MS Theorem 2, its logarithm kept"),
        ("ln N as printed", terms.log_covering_printed,
         f"{biases} + ln 2 (ceil(8 c Lambda_w Lambda_Phi/gamma sqrt(2Qm/ln 2)) - 1)",
         "MS Theorem 2, (12)"),
        ("c", terms.maurey_c, "as given (--maurey-c); its value is not known",
         "MS Lemma 1"),
    ]  # fmt: skip


def _lecture_notes(report: BoundsReport) -> Rows:
    """By the number of support vectors, and by the VC dimension."""
    by_count, vc, dual = report.compression, report.vc, report.solution.dual
    if vc is None:
        none = "only for one machine of all classes"
        rest: Rows = [
            ("vc_dimension", None, "min( ceil(R^2/gamma^2), d ) + 1",
             "LN, its squares put in", none),
        ]  # fmt: skip
    else:
        rest = _by_vc_dimension(vc, two=dual.Q == 2 and dual.quadratic is None)
    return [
        ("sv_rate", report.data.share(report.solution.is_support_vector),
         "n_SV / m, samples by their weights, above loo_rate where b is unique",
         "LN", "", by_count.applicable),
        ("compression_bound", by_count.value,
         "(s (1 + ln(m/s)) + ln(m/delta)) / (m - s), s = n_SV", "LN",
         "vacuous" if by_count.vacuous else "", by_count.applicable),
        *rest,
    ]  # fmt: skip


def _by_vc_dimension(vc: VcTerms, *, two: bool) -> Rows:
    """``two``: of two classes, with the loss l1."""
    index = "" if two else "an index: a bound for two classes and the loss l1 only"
    return [
        ("R", vc.radius, "radius of the smallest ball of all samples", "LN"),
        ("gamma (margin)", vc.margin, "min_{k<l} 1 / ||w_k - w_l||", "LN"),
        ("vc_dimension", vc.vc_dimension, "min( ceil(R^2/gamma^2), d ) + 1",
         "LN, its squares put in", index, two and vc.applicable),
        ("vc_risk", vc.vc_risk,
         "e + sqrt( (v (1 + ln(2m/v)) - ln(delta/4)) / m ), e training errors / m, "
         "v the VC dimension", "LN", "vacuous" if vc.vacuous else "",
         two and vc.applicable),
    ]  # fmt: skip
