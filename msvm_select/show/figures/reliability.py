"""The reliability diagram: the share that is right over how sure the machine is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msvm_select.metrics.calibration import BINS
from msvm_select.show.charts.reliability import ACROSS, TITLE, UP, ReliabilityChart
from msvm_select.show.figures.look import FAINT, GREY, Size, colour_of, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (5.4, 6.2)  # inches


def reliability(chart: ReliabilityChart, size: Size | None = None) -> Figure:
    """Bars of the share right, dots at the mean claim; below how many samples.

    >>> reliability(reliability_of(load_model("iris.json")))
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or SIZE, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[4.0, 1.0])
    _shares(above, chart)
    middles = [(one.low + one.high) / 2.0 for one in chart.bins]
    shares = [100.0 * one.share for one in chart.bins]
    below.bar(middles, shares, width=0.92 / BINS, color=GREY)
    below.set_ylabel("samples, %")
    below.set_xlabel(ACROSS)
    name = f"{short(chart.name)}: " if chart.name else ""
    figure.suptitle(f"{name}{TITLE}", x=0.01, ha="left")
    return figure


def _shares(axes: Axes, chart: ReliabilityChart) -> None:
    middles = [(one.low + one.high) / 2.0 for one in chart.bins]
    right = [one.right for one in chart.bins]
    axes.grid(color=FAINT, linewidth=0.5, zorder=0)
    axes.bar(
        middles, right, width=0.92 / BINS, color=colour_of(6), zorder=2,
        label="right, in each tenth",
    )  # fmt: skip
    axes.plot(
        [0.0, 1.0], [0.0, 1.0], color="black", linewidth=0.8, linestyle="--", zorder=3,
        label="as often right as claimed",
    )  # fmt: skip
    axes.plot(
        [one.claimed for one in chart.bins], right, "o", color=colour_of(2), zorder=4,
        label="at the mean claim",
    )  # fmt: skip
    axes.set(xlim=(0.0, 1.0), ylim=(-0.02, 1.02))  # a dot at 0 is whole
    axes.set_ylabel(UP)
    axes.set_title(chart.verdict, fontsize=9.0)
    axes.legend(loc="upper left")
