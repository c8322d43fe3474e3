"""Metrics of the outputs: how clear an answer is, and how well it ranks."""

from __future__ import annotations

import math

import numpy as np

from msvm_select.metrics.base import Answers, Mean, Metric, lead
from msvm_select.metrics.tempered import Tempered, temperature
from msvm_select.records import Floats, Mask

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

    def value(self, answers: Answers) -> float:
        """As scikit-learn's roc_auc_score of each class, averaged."""
        return self._areas(answers)[0]

    def without_each(self, answers: Answers) -> Floats:
        """Each sample takes its pairs with it."""
        return self._areas(answers)[1]

    def _areas(self, answers: Answers) -> tuple[float, Floats]:
        leads, y, w = lead(answers.outputs), answers.y, answers.weights
        total, count = np.zeros(y.size), np.zeros(y.size)
        areas = []
        for k in np.flatnonzero(answers.sizes):
            if (y == k).all():
                continue
            area, without = area_under_curve(leads[:, k], y == k, w)
            defined = np.isfinite(without)
            total += np.where(defined, without, 0.0)
            count += defined
            areas.append(area)
        mean = float(np.mean(areas)) if areas else math.nan
        return mean, np.where(count > 0, total / np.maximum(count, 1), mean)


def area_under_curve(score: Floats, positive: Mask, w: Floats) -> tuple[float, Floats]:
    """U / (P N), U the weight of pairs that stand right; and without each sample (m,).

    A tie counts half. NaN where the sample is the only one of its side.
    """
    order = np.argsort(score, kind="stable")
    ascending = score[order]
    first = np.searchsorted(ascending, score, "left")
    last = np.searchsorted(ascending, score, "right")

    def below(some: Mask) -> Floats:
        """The weight of ``some`` below each score, those at it half."""
        sums = np.concatenate([[0.0], np.cumsum(np.where(some, w, 0.0)[order])])
        return np.asarray(0.5 * (sums[first] + sums[last]))

    P, N = w[positive].sum(), w[~positive].sum()
    pairs = w * np.where(positive, below(~positive), P - below(positive))
    U = pairs[positive].sum()
    alone = np.where(positive, positive.sum() == 1, (~positive).sum() == 1)
    left = np.where(positive, (P - w) * N, P * (N - w))
    without = np.where(alone, np.nan, (U - pairs) / np.where(alone, 1.0, left))
    return float(U / (P * N)), without


class LogLoss(Metric):
    """The mean of -ln p_y with p = softmax(h / T), T the temperature that is best.

    One temperature for all classes, fitted on the same answers; 2e-16 is the least p.
    """

    name, column, needs = "log-loss", "log_loss", "outputs"

    def value(self, answers: Answers) -> float:
        """The least log-loss there is."""
        tempered = self._tempered(answers)
        return float(np.average(tempered.losses, weights=answers.weights))

    def without_each(self, answers: Answers) -> Floats:
        """At the temperature that is best for the others, to second order.

        With g_i and c_i the slope and the curvature of w_i l_i in 1/T, the least sum of
        the others lies g_i^2 / 2 (sum c - c_i) below their sum at T, where sum g = 0.
        """
        tempered, w = self._tempered(answers), answers.weights
        terms = w * tempered.losses
        others = terms.sum() - terms
        if tempered.least:
            g, c = w * tempered.slopes, w * tempered.curvatures
            left = np.maximum(c.sum() - c, 1e-300)
            others = others - np.minimum(0.5 * g**2 / left, others)
        return np.asarray(others / (w.sum() - w))

    def _tempered(self, answers: Answers) -> Tempered:
        T = temperature(answers.y, answers.outputs, answers.weights)
        return Tempered.at(1.0 / T, answers.y, answers.outputs)
