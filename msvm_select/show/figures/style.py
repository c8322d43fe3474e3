"""How all pictures look: readable in grey and by colour-blind eyes.

Whatever colour tells apart is told apart by shape or by lightness too.
"""

from __future__ import annotations

from typing import Any

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
VALUES = "viridis_r"  # even steps of lightness; what is low, and good, is light

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


def short(name: str, most: int = LONGEST) -> str:
    """The name on one line, without its middle where it is long."""
    text = " ".join(name.split())
    if len(text) <= most:
        return text
    head = (most - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - most :]}"


def colour_of(index: int) -> str:
    """The colour of the so-manieth thing."""
    return COLOURS[index % len(COLOURS)]


def marker_of(index: int) -> str:
    """Its marker: with the colour, 24 things are told apart."""
    return MARKERS[index % len(MARKERS)]


def tinted(colour: str, share: float) -> tuple[float, float, float]:
    """The colour on white paper, so much of it."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1.0 - share * (1.0 - part) for part in to_rgb(colour))
    return red, green, blue


def ink_on(colour: Any) -> str:
    """Black or white, whichever stands out more on the colour."""
    red, green, blue = (part**2.2 for part in colour[:3])
    bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "black" if bright > 0.18 else "white"
