"""Metrics of the outputs: how clear an answer is, and how well it ranks."""

from __future__ import annotations

import numpy as np

from msvm_select.metrics import loops
from msvm_select.metrics.base import Answers, Mean, Metric
from msvm_select.metrics.calibration import fitted
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
        a, without = answers, np.empty(answers.units)
        leads = np.empty(a.outputs.shape)
        loops.leads_of(np.ascontiguousarray(a.outputs), leads)
        order = leads.argsort(axis=0)
        return loops.areas(leads, order, a.y, a.weights, a.unit, without), without


class LogLoss(Metric):
    """The mean of -ln p_y with p = softmax(h / T), T the temperature that is best.

    One temperature for all classes, fitted on the same answers; 2e-16 is the least p.
    """

    name, column, needs = "log-loss", "log_loss", "outputs"

    def of(self, answers: Answers) -> tuple[float, Floats]:
        """At the temperature that is best for the others, to second order."""
        a, without = answers, np.empty(answers.units)
        t = fitted(a.y, a.outputs, a.weights)[1]
        value = loops.tempered_loss(
            t.losses, t.slopes, t.curvatures, a.weights, a.unit, t.least, without
        )
        return value, without
