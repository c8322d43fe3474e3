"""How all pictures look, their axes, and the bytes of their files.

What colour tells apart, shape or lightness tells apart too. The same picture gives the
same bytes.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msvm_select.errors import SettingsError
from msvm_select.extras import need
from msvm_select.phrases import listed
from msvm_select.show.charts.scale import Grid, compact

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

Size = tuple[float, float]  # inches
Draw = Callable[[Size | None], "Figure"]
PICTURES = (".png", ".svg", ".pdf")
DOTS = 150  # an inch
# Leaves out what a file would say of the day that it was written.
UNDATED: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.titlesize": 11.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "hatch.linewidth": 0.6,
    "text.parse_math": False,  # a name with two dollar signs is a name
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "msvm-select",
    "pdf.fonttype": 42,  # TrueType, embedded
}
# Colours that colour-blind eyes tell apart (after Okabe and Ito), from dark to light,
# each with its own marker.
COLOURS = (
    *("#000000", "#0072B2", "#D55E00", "#009E73"),
    *("#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "<", "X", ">", "p", "h", "*")
GREY = "#8C8C8C"
FAINT = "#C8C8C8"
LONGEST = 28  # characters of a name in a legend or on an axis
DIGIT = 0.08  # inches of width of a character on an axis


@dataclass(frozen=True)
class Picture:
    """What goes into the file; ``notes`` are for the person who asked for it."""

    content: bytes
    notes: tuple[str, ...] = ()


def check_figure(path: str | Path) -> None:
    """Refuse, before any work, an unknown format or a missing matplotlib."""
    if Path(path).suffix.lower() not in PICTURES:
        raise SettingsError(
            f"{path}: a figure's name ends in one of {listed(PICTURES)}."
        )
    need("matplotlib", "A figure")


def picture(draw: Callable[[], Figure], path: str | Path, dpi: int = DOTS) -> Picture:
    """What ``draw`` draws, in the format of the file's ending and in our own style.

    A style that the user has set for matplotlib does not count here.
    """
    import matplotlib

    ending = Path(path).suffix.lower()
    out = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        matplotlib.rcdefaults()
        settings: Any = matplotlib.rcParams  # whose keys are typed one by one
        settings.update(STYLE)
        kind = ending.removeprefix(".")
        draw().savefig(out, format=kind, dpi=dpi, metadata=UNDATED[ending])
    lost = any("Glyph" in str(warning.message) for warning in caught)
    way_out = "its viewer may have them" if ending == ".svg" else "an .svg keeps them"
    note = f"some letters of the names are not in the font (DejaVu Sans); {way_out}"
    return Picture(out.getvalue(), (note,) if lost else ())


def short(name: str, most: int = LONGEST) -> str:
    """The name on one line, without its middle where it is long."""
    text = " ".join(name.split())
    if len(text) <= most:
        return text
    head = (most - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - most :]}"


def colour_of(index: int) -> str:
    """The colour of the index-th class or line."""
    return COLOURS[index % len(COLOURS)]


def look_of(index: int) -> dict[str, Any]:
    """With its marker: 24 of them can be told apart."""
    return {"color": colour_of(index), "marker": MARKERS[index % len(MARKERS)]}


def legend_beside(axes: Axes, **look: Any) -> None:
    """On the right of the axes."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), alignment="left", **look)


def crosses(axes: Axes, places: Sequence[float], height: float, told: str) -> None:
    """At the foot of the axes, for what went wrong there."""
    if places:
        axes.plot(
            places, [height] * len(places), "x", color="black", markersize=6.0,
            transform=axes.get_xaxis_transform(), label=told,
        )  # fmt: skip


def value_axis(axes: Axes, grid: Grid, wide: float) -> None:
    """The values of C below the axes, as many as fit into so many inches."""
    heads = [compact(value) for value in grid.values]
    keep = thinned(len(heads), int(wide / (DIGIT * (max(map(len, heads)) + 1))))
    axes.set_xlim(grid.edges[0], grid.edges[-1])
    axes.set_xticks([grid.places[j] for j in keep])
    axes.set_xticklabels([heads[j] for j in keep])
    axes.set_xlabel(grid.scale.titled("C"))


def plain_logarithms(axis: Axis) -> None:
    """Ticks at 1, 2 and 5 times the powers of ten, or only at these if many."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = sorted(axis.get_view_interval())
    few = low > 0.0 and high / low < 1000.0
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, place: compact(value)))
    axis.set_minor_locator(NullLocator())


def thinned(count: int, most: int) -> range:
    """The indices of at most ``most`` of a row of labels, evenly, from the first on."""
    return range(0, count, max(1, math.ceil(count / max(1, most))))
