"""A Figure -> the bytes of a PNG, SVG or PDF: the same ones for the same picture."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.phrases import listed
from msvm_select.show.figures.style import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
DOTS = 150  # an inch
# What a file would say of the day that it was written.
UNDATED: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


@dataclass(frozen=True)
class Picture:
    """What goes into the file; ``notes`` are for whoever asked for it."""

    content: bytes
    notes: tuple[str, ...] = ()


def check_figure(path: str | Path) -> None:
    """Refuse, before any work, a name of no known format or where nothing can draw."""
    if Path(path).suffix.lower() not in FORMATS:
        raise SettingsError(
            f"{path}: a figure's name ends in one of {listed(FORMATS)}."
        )
    if find_spec("matplotlib") is None:
        raise MsvmError(
            "A figure needs matplotlib, which is not installed; "
            "pip install 'msvm-select[plot]' brings it."
        )


def picture(draw: Callable[[], Figure], path: str | Path, dpi: int = DOTS) -> Picture:
    """What ``draw`` draws, in the format of the file's ending and in the own style.

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
    return Picture(out.getvalue(), (_lost_letters(ending),) if lost else ())


def _lost_letters(ending: str) -> str:
    """Of names in letters that matplotlib's own font has not."""
    way_out = "its viewer may have them" if ending == ".svg" else "an .svg keeps them"
    return f"some letters of the names are not in the font (DejaVu Sans); {way_out}"
