"""The machine of the commands that train one: by options, or as a row has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli import talk
from msvm_select.cli.asking import (
    chosen_reading,
    chosen_settings,
    chosen_values,
    read,
    setting_layers,
)
from msvm_select.cli.interrupts import patiently
from msvm_select.errors import SettingsError
from msvm_select.model import fitting
from msvm_select.results import reread
from msvm_select.settings import Layer, Settings, settings_of
from msvm_select.settings.catalogue import KERNEL, SETTINGS
from msvm_select.settings.values import whole
from msvm_select.train import along_C

if TYPE_CHECKING:
    from msvm_select.train.along_C import Trained

DEFAULT_C = 1.0
FIXED = tuple(
    name
    for name, option in SETTINGS.items()
    if option.of_rows or (option.heading == KERNEL and not option.of_grids)
)
"""What a row of results tells: --from leaves it no option."""


class Asked:
    """The machine that is asked for: by options, or by a row of results."""

    def __init__(self, data: str, options: Mapping[str, Any]) -> None:
        """All is checked but what the data must tell."""
        self.data, self.options = data, options = data, _ranked(options)
        self.cell = _cell(options)
        self.settings, self.notes = _settings(options, self.cell)
        self.talk = talk.Talk(options["quiet"], options["verbose"])

    def trained(self) -> Trained:
        """It, from these data, which must be those of the results."""
        reading = chosen_reading(self.options, self.cell)
        data = read(self.data, self.settings, **reading)
        for note in (*data.notes, *self.notes):
            self.talk.say(f"Note: {note}")
        if self.cell is not None:
            self.talk.say(f"From {self.cell.name}")
            self.cell.check_data(data)
        trained = patiently(along_C.train_cell, data, self.settings, self.talk)
        solution = trained.solution
        if self.cell is not None and not trained.warning:
            self.cell.check_machine(solution.dual_objective, solution.gap)
        return trained

    def optimal(self, purpose: str) -> Trained:
        """The same; where it did not converge, say what there is not then, and exit."""
        trained = self.trained()
        if not trained.solution.converged:
            reason = f"the training did not converge: {trained.solution.reason}"
            click.echo(f"Error: {reason}; so there is {purpose}.", err=True)
            click.get_current_context().exit(5)
        return trained


def _ranked(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """``--rank`` as it is meant: without --from it is that of the kernel matrix."""
    if options["source"] is not None or options.get("rank") is None:
        return options
    if options["low_rank"]:
        raise SettingsError("--rank and --low-rank are both given, and are the same.")
    return {**options, "rank": None, "low_rank": (options["rank"],)}


def _cell(options: Mapping[str, Any]) -> fitting.CellOfResults | None:
    """The row of this --rank, or that which --select or else the file chooses."""
    source, rank, select = (options[name] for name in ("source", "rank", "select"))
    if source is None:
        if select is not None:
            raise SettingsError("select is for --from, which is not given.")
        return None
    if rank is not None and select is not None:
        raise SettingsError("rank and select both say which row to take: give one.")
    number = None if rank is None else whole(1)(rank, "rank")
    rule = chosen_values({"select": select}).get("select")
    return fitting.cell_of(source, reread.read_results(source), number, rule)


def _settings(
    options: Mapping[str, Any], cell: fitting.CellOfResults | None
) -> tuple[Settings, list[str]]:
    """What counts, and what had to be assumed.

    The row wins over the environment: the cell was chosen there. On the line it may not
    be contradicted, only how it is trained.
    """
    if cell is None:
        return chosen_settings(options, C=DEFAULT_C), []
    *below, line = setting_layers(options)
    for name in FIXED:
        if name in line.values:
            raise SettingsError(
                f"--{name} is given, but --from takes the cell of a row of "
                f"{cell.path}; leave one of them out."
            )
    told = Layer(cell.values, lambda name: cell.path)
    settings = settings_of([*below, told, line])
    if "scale" in cell.values or "scale" in line.values:
        return settings, []
    return settings, [
        f"{cell.path} does not tell the scaling; {settings.scale} is assumed, --scale "
        "says otherwise (json results tell)"
    ]
