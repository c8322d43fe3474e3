"""``msvm-select rank RESULTS --against BEFORE``: what moved between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msvm_select.cli.gates import say_failed
from msvm_select.cli.streams import deliver
from msvm_select.errors import SettingsError
from msvm_select.settings.values import number
from msvm_select.show.answers import compare as answer

if TYPE_CHECKING:
    from msvm_select.cli.talk import Talk
    from msvm_select.results.compare import Against

ENOUGH = 20  # cells that a table shows of those that moved, unless --top says more


def checked_tolerance(text: str | None) -> float:
    """The number, 0 or more; 0 where none was given."""
    tolerance = 0.0 if text is None else number(text, "tolerance")
    if tolerance < 0.0:
        raise SettingsError(f"tolerance = {tolerance:g} must be 0 or more.")
    return tolerance


def show_moves(
    against: Against, format: str, output: str | None, top: int | None, talk: Talk
) -> None:
    """What moved, to stdout or the file; its closing lines are always to be seen."""
    shown = top or (ENOUGH if format == "table" else None)
    deliver(answer.against_sheet(against, shown), format, output, talk)


def say_worsened(against: Against, tolerance: float) -> bool:
    """Whether the best cell got worse by more than ``tolerance``; says so."""
    sentence = against.worsened(tolerance)
    if sentence is not None:
        say_failed(sentence)
    return sentence is not None
