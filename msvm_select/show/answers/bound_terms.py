"""The bounds of one trained cell, term by term: numbers, formulas, sources."""

from __future__ import annotations

from dataclasses import dataclass

from msvm_select.criteria.flow_constant import IGNORED
from msvm_select.criteria.guaranteed_risk import GuaranteedRiskTerms
from msvm_select.criteria.radius_margin import RadiusMargin
from msvm_select.criteria.radius_margin_count import Counted
from msvm_select.criteria.risk_bounds import CompressionTerms, VcTerms
from msvm_select.records import Dataset, Plain
from msvm_select.solution import Solution

BOUND = "radius-margin bounds on L"
FOUR = "Proposition 2: four numbers that agree"
HEURISTIC = "radius-margin, to rank by only"
RISK = "guaranteed risk"
NOTES = "bounds of lecture notes"
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


def named(data: Dataset, i: int) -> str:
    """A sample by its id, else by its line in the file, else by its number."""
    if data.ids is not None:
        return f"{data.id_column or 'id'} {data.ids[i]}"
    return f"sample {i + 1}" if data.lines is None else f"line {data.lines[i]}"


def radius_margin_rows(
    data: Dataset,
    terms: RadiusMargin,
    counted: Counted | None,
    softened: float | None,
) -> list[Term]:
    """D, K and the pair that attains it, S2, A, B*; Proposition 2; the heuristics."""
    return [
        *_ingredients(data, terms),
        *_bounds(terms, counted),
        *_two_classes(terms),
        *_proposition_2(terms),
        *_heuristics(terms, softened),
    ]


def _ingredients(data: Dataset, terms: RadiusMargin) -> list[Term]:
    constant, ball = terms.constant, terms.ball
    i, k = constant.sample, constant.against
    where = f"at {named(data, i)}, {data.classes[data.y[i]]} -> {data.classes[k]}"
    return [
        Term(
            BOUND, "radius_margin_applicable", terms.applicable,
            "separable, every alpha_ik < C, with any sample left out too; always with "
            "the loss l2", "RM Lemma 2 and Theorem 2, the conditions", terms.reason,
        ),
        Term(
            BOUND, "diameter D", terms.diameter, f"{SPHERE}, over support vectors",
            "RM Lemma 1", f"ball held by {ball.support.size}, gap {ball.gap:.1g}",
        ),
        Term(
            BOUND, "K", terms.K,
            "sqrt( 2 max_i M_i / min_k alpha_ik^2 ), M_i = min sum_l inflow_l^2 over "
            "circulations f on the classes, alpha_il <= f[y_i,l], f[c,l] <= sum_{j in "
            f"class c}} alpha_jl; alpha below {IGNORED:g} max alpha are ignored",
            "RM Theorem 2, Problems 5 and 6 in the form of flows", where,
        ),
    ]  # fmt: skip


def _bounds(terms: RadiusMargin, counted: Counted | None) -> list[Term]:
    holds = terms.applicable
    unique = holds and terms.solution.b_unique
    chains = f"{counted.bridges} of them without a chain" if counted else ""
    return [
        Term(
            BOUND, "radius_margin", terms.bound, "K D^2 sum_ik alpha_ik",
            "RM Theorem 2, (50)", applies=holds,
        ),
        Term(
            BOUND, "S2", terms.S2, "D^2 sum_p sqrt(2 M_p)",
            "own; RM Lemma 2 before K is taken out", applies=unique,
        ),
        Term(
            BOUND, "A", terms.A, "#{ p : 2 D^4 M_p >= 1 }",
            "own; RM Lemma 2, the samples that it lets pass", applies=unique,
        ),
        Term(
            BOUND, "radius_margin_count B*", counted.count if counted else None,
            "#{ p : for some class n no chain of arcs of others leads from y_p to n, "
            "or N_p min v'Hv >= 1 }, N_p = min l'Hl over circulations l <= alpha with "
            "l_p = alpha_p, v_pn = 1 returned by arcs of other support vectors",
            "own; a proof of RM (49) without its gap", chains, holds,
        ),
    ]  # fmt: skip


def _two_classes(terms: RadiusMargin) -> list[Term]:
    two = terms.two_classes
    if two is None:
        return []
    return [
        Term(BOUND, "gamma", two.gamma, "1 / ||w_1 - w_2||", "RM (30), Q = 2"),
        Term(
            BOUND, "D^2/gamma^2", two.bound, "D^2 / gamma^2", "RM Theorem 1, (22)",
            applies=terms.applicable,
        ),
        Term(
            BOUND, "large alpha", two.large, "#{ p : 2 alpha_p >= 1 / D^2 }",
            "RM Lemma 1, (10)", "2 alpha_p is alpha_p of the ordinary SVM",
            terms.applicable,
        ),
    ]  # fmt: skip


def _proposition_2(terms: RadiusMargin) -> list[Term]:
    four = terms.proposition_2
    source = "RM Proposition 2, (34)"
    return [
        Term(
            FOUR, "sum alpha (1 - xi)", four.sum_alpha,
            "sum_ik alpha_ik - C sum_ik xi_ik; in the separable case sum alpha", source,
        ),
        Term(FOUR, "alpha'H alpha", four.alpha_H_alpha, "alpha'H alpha", source),
        Term(FOUR, "sum ||w_k||^2", four.sum_norms, "sum_k ||w_k||^2", source),
        Term(
            FOUR, "sum over pairs", four.pairs,
            "1/Q sum_{k<l} ((1 + delta_kl) / gamma_kl)^2", source,
        ),
        Term(
            FOUR, "disagreement", four.disagreement,
            "the largest difference of two of the four / the largest", "own",
        ),
    ]  # fmt: skip


def _heuristics(terms: RadiusMargin, softened: float | None) -> list[Term]:
    rows = [
        Term(
            HEURISTIC, "diameter_all", terms.diameter_all,
            f"{SPHERE}, over all samples", "own; RM Lemma 1 with all samples",
        ),
        Term(
            HEURISTIC, "radius_margin_q", terms.bound_q,
            "Q D_all^2 sum_k ||w_k||^2; at Q = 2 D_all^2 / gamma^2",
            "own; RM Theorem 2 without K, by Proposition 2",
        ),
    ]  # fmt: skip
    if softened is not None:
        rows.append(
            Term(
                HEURISTIC,
                "radius_margin_l1",
                softened,
                "Q (D_all^2 + 1/C) (sum_k ||w_k||^2 + 2C sum xi); at Q = 2 (R^2 + "
                "1/C') (||w||^2 + 2C' sum xi) with C' = 2C",
                "Chung et al. 2003, and its analogue",
            )  # fmt: skip
        )
    return rows


def risk_rows(terms: GuaranteedRiskTerms) -> list[Term]:
    """Margin risk, confidence, ln N and what they are made of."""
    union = " < 2^j, the least such j >= 1" if terms.union else ""
    return [
        Term(
            RISK, "guaranteed_risk", terms.value,
            "R_gamma + confidence + 1/m, least over gamma", "MS Theorem 1",
            terms.standing, terms.union and terms.theorem == 3,
        ),
        Term(
            RISK, "guaranteed_risk_vacuous", terms.vacuous,
            "whether it is 1 or more", "own",
        ),
        Term(
            RISK, "guaranteed_risk_gamma", terms.gamma,
            "the margin of a sample, or 1, where the sum is least", "MS Theorem 1",
        ),
        Term(
            RISK, "R_gamma (margin risk)", terms.margin_risk,
            "share of samples with 1/2 (h_y - max_{k != y} h_k) < gamma",
            "MS Definitions 2 and 3",
        ),
        Term(
            RISK, "confidence", terms.confidence,
            "sqrt( 2/m ( ln(2 N) + ln(2 / (gamma delta)) ) )", "MS Theorem 1",
        ),
        *_covering(terms),
        Term(
            RISK, "Lambda_w", terms.Lambda_w,
            f"sqrt( sum_k ||w_k||^2 ){union}", "MS Proposition 3",
        ),
        Term(
            RISK, "Lambda_Phi", terms.Lambda_Phi,
            "max_i sqrt( k(x_i, x_i) )", "MS Theorem 2",
        ),
        Term(
            RISK, "beta", terms.beta, f"max_k |b_k|, sum b = 0{union}",
            "MS Proposition 2",
        ),
        Term(
            RISK, "delta", terms.delta_paid,
            "delta / (j (j + 1) i (i + 1))" if terms.union else "as given (--delta)",
            "MS Theorem 1",
        ),
    ]  # fmt: skip


def _covering(terms: GuaranteedRiskTerms) -> list[Term]:
    biases = "Q ln(2 ceil(4 beta/gamma) + 1)"
    if terms.theorem == 3:
        return [
            Term(
                RISK, "ln N", terms.log_covering,
                f"{biases} + Q d ln(32 Lambda_w Lambda_Phi/gamma)",
                "MS Theorem 3, (14)",
            ),
            Term(
                RISK, "d", terms.dimension, "the dimension of the feature space",
                "MS Theorem 3",
            ),
        ]  # fmt: skip
    return [
        Term(
            RISK, "ln N", terms.log_covering,
            f"{biases} + ln 2 (n - 1), n the least with n >= (8 c Lambda_w Lambda_Phi/"
            "gamma)^2 log2(1 + 2Qm/n)", "MS Theorem 2, its logarithm kept",
        ),
        Term(
            RISK, "ln N as printed", terms.log_covering_printed,
            f"{biases} + ln 2 (ceil(8 c Lambda_w Lambda_Phi/gamma sqrt(2Qm/ln 2)) - 1)",
            "MS Theorem 2, (12)",
        ),
        Term(
            RISK, "c", terms.maurey_c, "as given (--maurey-c); its value is not known",
            "MS Lemma 1",
        ),
    ]  # fmt: skip


def note_rows(
    compression: CompressionTerms, vc: VcTerms, solution: Solution
) -> list[Term]:
    """By the number of support vectors, and by the VC dimension."""
    s, m = compression.n_sv, compression.m
    two = solution.dual.Q == 2 and solution.dual.quadratic is None
    index = "" if two else "an index: a bound for two classes and the loss l1 only"
    return [
        Term(
            NOTES, "sv_rate", s / m, "n_SV / m, above loo_rate where b is unique",
            "LN", applies=compression.applicable,
        ),
        Term(
            NOTES, "compression_bound", compression.value,
            "(s (1 + ln(m/s)) + ln(m/delta)) / (m - s), s = n_SV", "LN",
            "vacuous" if compression.vacuous else "", compression.applicable,
        ),
        Term(
            NOTES, "R", vc.radius, "radius of the smallest ball of all samples", "LN",
        ),
        Term(
            NOTES, "gamma (margin)", vc.margin, "min_{k<l} 1 / ||w_k - w_l||", "LN",
        ),
        Term(
            NOTES, "vc_dimension", vc.vc_dimension, "min( ceil(R^2/gamma^2), d ) + 1",
            "LN, its squares put in", index, two and vc.applicable,
        ),
        Term(
            NOTES, "vc_risk", vc.vc_risk,
            "e + sqrt( (v (1 + ln(2m/v)) - ln(delta/4)) / m ), e training errors / m, "
            "v the VC dimension", "LN", "vacuous" if vc.vacuous else "",
            two and vc.applicable,
        ),
    ]  # fmt: skip
