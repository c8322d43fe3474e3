"""Metrics of the outputs: how clear an answer is, and how well it ranks."""

from __future__ import annotations

import math

import numpy as np

from msvm_select.metrics.base import Answers, Mean, Metric, lead
from msvm_select.metrics.tempered import Tempered, temperature
from msvm_select.records import Floats

STEEPNESS = 4.0  # of the smooth error: at a margin of 1 it is 0.018


class SmoothError(Mean):
    """The mean of 1/(1 + exp(4 margin)): an error counts by how clear it is."""

    name, column, needs = "smooth-error", "smooth_error", "outputs"

    def losses(self, answers: Answers) -> Floats:
        """Above 1/2 where it is wrong, below where it is right."""
        return 0.5 - 0.5 * np.tanh(0.5 * STEEPNESS * answers.margin)


class Auc(Metric):
    """The mean over the classes of the area under the curve of each against the rest.

    A class is told from the rest by h_k - max_{l != k} h_l, what it leads by: that can
    be compared between samples. With two classes it is h_1 - h_0, and the area is the
    usual one. 1 is the best, 1/2 is chance.
    """

    name, column, needs = "auc", "auc", "outputs"

    def of(self, answers: Answers) -> tuple[float, Floats]:
        """U / (P N) of each class, U the weight of pairs that stand right; a tie half.

        Each sample takes its pairs with it; a class that it leaves no counts no more.
        """
        y, w, leads = answers.y, answers.weights, lead(answers.outputs)
        classes = np.flatnonzero(answers.sizes > 0.0)
        if classes.size < 2:
            return math.nan, np.full(y.size, math.nan)
        own = y[:, None] == classes
        mine, rest = np.where(own, w[:, None], 0.0), np.where(own, 0.0, w[:, None])
        P = answers.sizes[classes]
        N = w.sum() - P
        below = _below(leads[:, classes], np.stack([mine, rest]))
        pairs = w[:, None] * np.where(own, below[1], P - below[0])
        U = np.where(own, pairs, 0.0).sum(axis=0)
        count = np.bincount(y, minlength=answers.Q)[classes]
        alone = np.where(own, count == 1, count == y.size - 1)
        left = np.where(own, (P - w[:, None]) * N, P * (N - w[:, None]))
        areas = np.where(alone, 0.0, (U - pairs) / np.where(alone, 1.0, left))
        some = np.maximum((~alone).sum(axis=1), 1)
        return float(np.mean(U / (P * N))), areas.sum(axis=1) / some


def _below(scores: Floats, weights: Floats) -> Floats:
    """The weight (.., m, k) of samples below each score (m, k), those at it half."""
    m, columns = scores.shape[0], np.arange(scores.shape[1])
    order = scores.argsort(axis=0)
    ascending = np.take_along_axis(scores, order, axis=0)
    new = np.ones((m + 1, columns.size), dtype=np.bool_)
    new[1:m] = ascending[1:] > ascending[:-1]
    at = np.arange(m + 1)[:, None]
    first = np.maximum.accumulate(np.where(new, at, 0), axis=0)[:m]
    last = np.minimum.accumulate(np.where(new, at, m)[::-1], axis=0)[::-1][1:]
    sums = np.zeros((weights.shape[0], m + 1, columns.size))
    np.cumsum(weights[:, order, columns], axis=1, out=sums[:, 1:])
    found = np.empty_like(weights)
    found[:, order, columns] = 0.5 * (sums[:, first, columns] + sums[:, last, columns])
    return found


class LogLoss(Metric):
    """The mean of -ln p_y with p = softmax(h / T), T the temperature that is best.

    One temperature for all classes, fitted on the same answers; 2e-16 is the least p.
    """

    name, column, needs = "log-loss", "log_loss", "outputs"

    def of(self, answers: Answers) -> tuple[float, Floats]:
        """At the temperature that is best for the others, to second order.

        With g_i and c_i the slope and the curvature of w_i l_i in 1/T, the least sum of
        the others lies g_i^2 / 2 (sum c - c_i) below their sum at T, where sum g = 0.
        """
        w = answers.weights
        T = temperature(answers.y, answers.outputs, w)
        tempered = Tempered.at(1.0 / T, answers.y, answers.outputs)
        terms, whole = w * tempered.losses, float(w.sum())
        total = float(terms.sum())
        others = total - terms
        if tempered.least:
            g, c = w * tempered.slopes, w * tempered.curvatures
            left = np.maximum(c.sum() - c, 1e-300)
            others = others - np.minimum(0.5 * g**2 / left, others)
        return total / whole, others / np.maximum(whole - w, 1e-300)
