"""The loops of the metrics over all samples and classes, compiled.

A sweep computes metrics in every cell, and most cells take a few milliseconds: a dozen
calls of numpy for each metric would be a good part of that.

``unit`` (m,) says which samples leave together: each is a unit of its own, or those of
a group are one. ``without`` (units,) becomes the value of all samples but each unit's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True, error_model="numpy")
inner = njit(nogil=True, error_model="numpy")
NOTHING = -40.0  # exp of less adds nothing to 1
FLATTEST, STEEPEST = 1e-3, 1e6  # 1/temperature, by the mean spread of the outputs
USUAL = 2.5  # likewise: where it is, more or less, for most machines
STEPS, CLOSE = 60, 1e-6  # of Newton's method, which takes ten or so
TO_THE_LOSS = 1e-12  # how close to a given loss it comes
LEAST = 1e-300


@compiled
def jackknife(without: Any) -> float:  # pragma: no cover (compiled)
    """sqrt((n - 1)/n sum_i (t_i - mean t)^2); NaN of a single one."""
    n = without.size
    if n < 2:
        return np.nan
    total = square = 0.0
    for t in without:
        total += t
    for t in without:
        square += (t - total / n) ** 2
    return float(np.sqrt((n - 1) / n * square))


@compiled
def mean_loss(
    losses: Any, w: Any, unit: Any, without: Any
) -> float:  # pragma: no cover (compiled)
    """sum_i w_i l_i / sum_i w_i."""
    total = whole = 0.0
    left = np.zeros(without.size)
    without[:] = 0.0
    for i in range(w.size):
        term = w[i] * losses[i]
        total, whole = total + term, whole + w[i]
        without[unit[i]] += term
        left[unit[i]] += w[i]
    for u in range(without.size):
        without[u] = (total - without[u]) / max(whole - left[u], LEAST)
    return total / whole


@compiled
def mean_rate(
    y: Any, w: Any, wrong: Any, Q: int, order: Any, starts: Any, without: Any
) -> float:  # pragma: no cover (compiled)
    """The mean over the classes of the share of each that is wrong.

    The samples of unit u are order[starts[u] : starts[u + 1]]. A class that it leaves
    without samples counts no more.
    """
    m = y.size
    missed, sizes, counts = np.zeros(Q), np.zeros(Q), np.zeros(Q, np.int64)
    own_missed, own_sizes, own = np.zeros(Q), np.zeros(Q), np.zeros(Q, np.int64)
    for i in range(m):
        k = y[i]
        sizes[k] += w[i]
        counts[k] += 1
        missed[k] += w[i] if wrong[i] else 0.0
    total, there = 0.0, 0
    for k in range(Q):
        if counts[k]:
            total, there = total + missed[k] / sizes[k], there + 1
    for u in range(without.size):
        some = order[starts[u] : starts[u + 1]]
        for i in some:
            k = y[i]
            own_sizes[k] += w[i]
            own[k] += 1
            own_missed[k] += w[i] if wrong[i] else 0.0
        now, left = total, there
        for i in some:
            k = y[i]
            if own[k] == 0:
                continue
            now -= missed[k] / sizes[k]
            if own[k] == counts[k]:
                left -= 1
            else:
                now += (missed[k] - own_missed[k]) / (sizes[k] - own_sizes[k])
            own_missed[k], own_sizes[k], own[k] = 0.0, 0.0, 0
        without[u] = now / max(left, 1)
    return total / there


@compiled
def mean_f1(
    y: Any, predicted: Any, w: Any, Q: int, order: Any, starts: Any, without: Any
) -> float:  # pragma: no cover (compiled)
    """The mean of F_1 = 2 TP / (2 TP + FP + FN) over the classes that occur.

    Below 2 TP + FP + FN is ``sums``: the weight of the samples of a class, and of those
    that are taken for it. A unit changes it for the classes of its samples and for
    those that they are taken for.
    """
    m, whole = y.size, 0.0
    hits, sums = np.zeros(Q), np.zeros(Q)
    own_hits, own_sums, touched = np.zeros(Q), np.zeros(Q), np.zeros(Q, np.bool_)
    for i in range(m):
        k, l = y[i], predicted[i]
        whole += w[i]
        sums[k] += w[i]
        hits[k] += w[i] if k == l else 0.0
        if 0 <= l < Q:  # a tie is no class
            sums[l] += w[i]
    least = 1e-12 * whole  # what is left of a class that is gone
    total, there = 0.0, 0
    for k in range(Q):
        if sums[k] > least:
            total, there = total + 2.0 * hits[k] / sums[k], there + 1
    for u in range(without.size):
        some = order[starts[u] : starts[u + 1]]
        for i in some:
            k, l = y[i], predicted[i]
            own_sums[k] += w[i]
            touched[k] = True
            own_hits[k] += w[i] if k == l else 0.0
            if 0 <= l < Q:
                own_sums[l] += w[i]
                touched[l] = True
        now, left = total, there
        for i in some:
            for k in (y[i], predicted[i]):
                if not 0 <= k < Q or not touched[k]:
                    continue
                now -= 2.0 * hits[k] / sums[k]
                rest = sums[k] - own_sums[k]
                if rest <= least:
                    left -= 1
                else:
                    now += 2.0 * (hits[k] - own_hits[k]) / rest
                own_hits[k], own_sums[k], touched[k] = 0.0, 0.0, False
        without[u] = now / max(left, 1)
    return total / there


@inner
def _row(beta: Any, d: Any, own: Any) -> Any:  # pragma: no cover (compiled)
    """sum_k exp(beta d_k), max d = 0; slope and curvature of its ln, less beta own."""
    total = first = second = 0.0
    for k in range(d.size):
        f = d[k]
        if f == 0.0:
            total += 1.0
        elif beta * f > NOTHING:
            e = np.exp(beta * f)
            total += e
            first += e * f
            second += e * f * f
    first /= total
    return total, first - own, max(second / total - first * first, 0.0)


@inner
def _sums(beta: Any, d: Any, y: Any, w: Any, told: Any) -> Any:
    """The mean of what the samples lose at beta (if ``told``), its slope and curvature.

    One whose own class has -inf loses inf whatever beta is, and is left out.
    """
    loss = slope = curvature = whole = 0.0
    for i in range(y.size):
        own = d[i, y[i]]
        if own > -np.inf:
            a, b, c = _row(beta, d[i], own)
            whole += w[i]
            loss += w[i] * (np.log(a) - beta * own) if told else 0.0
            slope += w[i] * b
            curvature += w[i] * c
    return loss / whole, slope / whole, curvature / whole


@inner
def _least(d: Any, y: Any, w: Any, low: Any, high: Any, beta: Any) -> Any:
    """Where a convex function is least between the two, by Newton's method."""
    for _ in range(STEPS):
        _, slope, curvature = _sums(beta, d, y, w, False)
        if slope > 0.0:
            high = beta
        else:
            low = beta
        step = beta - slope / curvature if curvature > 0.0 else 0.0
        new = step if low < step < high else np.sqrt(low * high)
        moved, beta = abs(new - beta), new
        if moved <= CLOSE * beta:  # and what is left is the square of that
            break
    return beta


@inner
def _falls_to(loss: Any, d: Any, y: Any, w: Any, low: Any, high: Any, beta: Any) -> Any:
    """Where a mean that falls between the two is ``loss``; else the nearer end.

    Its logarithm is almost straight there: Newton's method on that.
    """
    for _ in range(STEPS):
        mean, slope, _ = _sums(beta, d, y, w, True)
        if mean > loss:
            low = beta
        else:
            high = beta
        step = beta
        if slope < 0.0 and mean > 0.0:
            step = beta - np.log(mean / loss) * mean / slope
        new = step if low < step < high else np.sqrt(low * high)
        moved, beta = abs(new - beta), new
        if moved <= TO_THE_LOSS * beta:
            break
    return beta


@compiled
def temper(
    h: Any, y: Any, w: Any, losses: Any, slopes: Any, curvatures: Any
) -> tuple[float, bool]:  # pragma: no cover (compiled)
    """The beta = 1/T that is best for softmax(beta h), and whether it is the least.

    And -ln p_y of each row (m, Q) there, with its two derivatives in beta.
    """
    m, Q = h.shape
    d, whole, spread, finite, least = np.empty((m, Q)), 0.0, 0.0, 0, False
    for i in range(m):
        top = h[i, 0]
        for k in range(1, Q):
            top = max(top, h[i, k])
        for k in range(Q):
            d[i, k] = f = h[i, k] - top
            if f > -np.inf:
                spread, finite = spread - f, finite + 1
        own = d[i, y[i]]
        if own > -np.inf:
            whole, least = whole + w[i], least or own < 0.0
    spread /= max(1, finite)
    beta = 1.0
    if spread > 0.0 and whole > 0.0:
        low, high, beta = FLATTEST / spread, STEEPEST / spread, USUAL / spread
        if least:
            beta = _least(d, y, w, low, high, beta)
        else:
            beta = _falls_to(np.log(2.0) / (whole + 1.0), d, y, w, low, high, beta)
    for i in range(m):
        own = d[i, y[i]]
        losses[i], slopes[i], curvatures[i] = np.inf, 0.0, 0.0
        if own > -np.inf:
            total, slopes[i], curvatures[i] = _row(beta, d[i], own)
            losses[i] = np.log(total) - beta * own
    return beta, least


@compiled
def tempered_loss(
    losses: Any, slopes: Any, curvatures: Any, w: Any, unit: Any, least: bool,
    without: Any,
) -> float:  # fmt: skip # pragma: no cover (compiled)
    """The mean loss; that of the others at the beta that is best for them.

    To second order: with g and c the slope and the curvature of a unit's loss in beta,
    the least sum of the others lies g^2 / 2 (sum c - c_u) below their sum at beta.
    """
    total = whole = bend = 0.0
    g, c, left = np.zeros(without.size), np.zeros(without.size), np.zeros(without.size)
    without[:] = 0.0
    for i in range(w.size):
        u = unit[i]
        total, whole = total + w[i] * losses[i], whole + w[i]
        bend += w[i] * curvatures[i]
        without[u] += w[i] * losses[i]
        left[u] += w[i]
        g[u] += w[i] * slopes[i]
        c[u] += w[i] * curvatures[i]
    for u in range(without.size):
        others = total - without[u]
        if least:
            others -= min(0.5 * g[u] ** 2 / max(bend - c[u], LEAST), others)
        without[u] = others / max(whole - left[u], LEAST)
    return total / whole


@compiled
def leads_of(h: Any, leads: Any) -> None:  # pragma: no cover (compiled)
    """h_k - max_{l != k} h_l (m, Q)."""
    m, Q = h.shape
    for i in range(m):
        top = second = -np.inf
        for k in range(Q):
            if h[i, k] > top:
                top, second = h[i, k], top
            elif h[i, k] > second:
                second = h[i, k]
        alone = True  # of those that tie for the largest each leads by 0
        for k in range(Q):
            if h[i, k] == top and alone:
                leads[i, k], alone = top - second, False
            else:
                leads[i, k] = h[i, k] - top


@compiled
def areas(
    scores: Any, order: Any, y: Any, w: Any, unit: Any, without: Any
) -> float:  # pragma: no cover (compiled)
    """The mean over the classes of U / (P N), U the weight of pairs that stand right.

    ``order`` (m, Q) sorts each column of ``scores``; a tie counts half. A unit takes
    its pairs with it, those among its own samples once; a class that it leaves without
    samples, or without others, counts no more.
    """
    m, Q, units = scores.shape[0], scores.shape[1], without.size
    count, total, classes = np.zeros(units), 0.0, 0
    lost, own_P, own_N = np.zeros(units), np.zeros(units), np.zeros(units)
    mine, others = np.zeros(units, np.int64), np.zeros(units, np.int64)
    without[:] = 0.0
    for k in range(Q):
        P = N = U = 0.0
        own = 0
        for i in range(m):
            if y[i] == k:
                P, own = P + w[i], own + 1
            else:
                N += w[i]
        if own == 0 or own == m:
            continue
        lost[:] = own_P[:] = own_N[:] = 0.0
        mine[:] = others[:] = 0
        begin, low_P, low_N = 0, 0.0, 0.0
        while begin < m:
            end, tied_P, tied_N = begin, 0.0, 0.0
            score = scores[order[begin, k], k]
            while end < m and scores[order[end, k], k] == score:
                i = order[end, k]
                if y[i] == k:
                    tied_P += w[i]
                else:
                    tied_N += w[i]
                    own_N[unit[i]] += 0.5 * w[i]
                end += 1
            for t in range(begin, end):
                i = order[t, k]
                if y[i] == k:
                    u = unit[i]
                    won = w[i] * (low_N + 0.5 * tied_N)
                    U += won
                    lost[u] += won - w[i] * own_N[u]  # pairs of two of its samples
                    own_P[u] += w[i]
                    mine[u] += 1
            for t in range(begin, end):
                i = order[t, k]
                if y[i] != k:
                    u = unit[i]
                    lost[u] += w[i] * (P - low_P - 0.5 * tied_P)
                    own_N[u] += 0.5 * w[i]
                    others[u] += 1
            begin, low_P, low_N = end, low_P + tied_P, low_N + tied_N
        total, classes = total + U / (P * N), classes + 1
        for u in range(units):
            if mine[u] < own and others[u] < m - own:
                left = (P - own_P[u]) * (N - own_N[u])
                without[u] += (U - lost[u]) / left
                count[u] += 1.0
    for u in range(units):
        without[u] /= max(count[u], 1.0)
    return total / classes if classes else np.nan
