"""Metrics of the outputs: how clear an answer is, and how well it ranks."""

from __future__ import annotations

import numpy as np

from msvm_select.metrics.base import Answers, Mean, Metric
from msvm_select.metrics.loops import areas, leads_of
from msvm_select.metrics.tempered import fitted
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
        leads, without = np.empty(answers.outputs.shape), np.empty(answers.y.size)
        leads_of(np.ascontiguousarray(answers.outputs), leads)
        order = leads.argsort(axis=0)
        return areas(leads, order, answers.y, answers.weights, without), without


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
        _, tempered = fitted(answers.y, answers.outputs, w)
        terms, whole = w * tempered.losses, float(w.sum())
        total = float(terms.sum())
        others = total - terms
        if tempered.least:
            g, c = w * tempered.slopes, w * tempered.curvatures
            left = np.maximum(c.sum() - c, 1e-300)
            others = others - np.minimum(0.5 * g**2 / left, others)
        return total / whole, others / np.maximum(whole - w, 1e-300)
