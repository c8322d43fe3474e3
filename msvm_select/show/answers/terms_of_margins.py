"""The radius-margin bounds, term by term."""

from __future__ import annotations

from msvm_select.criteria.flow_constant import IGNORED
from msvm_select.criteria.radius_margin import RadiusMargin
from msvm_select.criteria.radius_margin_count import Counted
from msvm_select.records import Dataset
from msvm_select.show.answers.terms import Term, named

BOUND = "radius-margin bounds on L"
FOUR = "Proposition 2: four numbers that agree"
HEURISTIC = "radius-margin, to rank by only"
SPHERE = "2R, R^2 = max sum_i beta_i K_ii - beta'K beta, beta >= 0, sum beta = 1"


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
