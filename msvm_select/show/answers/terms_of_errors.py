"""The truth that bounds are held against, and the machine that they are of."""

from __future__ import annotations

from msvm_select.left_out import AMBIGUOUS, LeftOut
from msvm_select.records import Floats
from msvm_select.show.answers.terms import Term
from msvm_select.solution import Solution

TRUTH = "exact leave-one-out"
MACHINE = "the machine"


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
