"""The guaranteed risk and the smaller bounds of lecture notes, term by term."""

from __future__ import annotations

from msvm_select.criteria.compression import CompressionTerms
from msvm_select.criteria.guaranteed_risk import GuaranteedRiskTerms
from msvm_select.criteria.vc import VcTerms
from msvm_select.show.answers.terms import Term
from msvm_select.solution import Solution

RISK = "guaranteed risk"
NOTES = "bounds of lecture notes"


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
