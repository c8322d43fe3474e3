"""Lines, points and regions in the plane, as the lessons have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msvm_select.records import Floats
from msvm_select.show.figures.look import (
    COLOURS,
    MARKERS,
    Size,
    legend_beside,
    plain_logarithms,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE, HIGH = 6.4, 4.2  # inches


@dataclass(frozen=True)
class Series:
    """Points (x, y) under one name, joined by a ``line`` or alone."""

    name: str
    x: Sequence[float] | Floats
    y: Sequence[float] | Floats
    line: bool = True


@dataclass(frozen=True)
class Drawing:
    """A title, what the axes are, and the series; ``equal``: one unit on both axes."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    logarithmic: bool = False
    equal: bool = False


def drawn(drawing: Drawing, size: Size | None = None) -> Figure:
    """The picture: each series with its own colour and marker."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or (WIDE, HIGH), layout="constrained")
    axes = figure.subplots()
    axes.set_title(drawing.title)
    axes.set_xlabel(drawing.x)
    axes.set_ylabel(drawing.y)
    if drawing.logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log", nonpositive="mask")
    for index, one in enumerate(drawing.series):
        axes.plot(
            one.x,
            one.y,
            label=one.name,
            color=COLOURS[index % len(COLOURS)],
            marker="" if one.line and len(one.x) > 12 else MARKERS[index],
            linestyle="-" if one.line else "none",
            markersize=4.5,
        )
    if drawing.logarithmic:
        plain_logarithms(axes.xaxis)
        plain_logarithms(axes.yaxis)
    if drawing.equal:
        axes.set_aspect("equal")
    legend_beside(axes)
    return figure
