"""What a lesson gives: a sheet to read and, where there is one, a drawing."""

from __future__ import annotations

from dataclasses import dataclass

from msvm_select.show.figures.drawing import Drawing
from msvm_select.show.sheet import Sheet


@dataclass(frozen=True)
class Lesson:
    """The answer of ``teach``."""

    sheet: Sheet
    drawing: Drawing | None = None
