"""The commands that train a single machine: which one it is, and its training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click

from msvm_select.cli.chosen import chosen_settings, chosen_values, setting_layers
from msvm_select.cli.interrupts import patiently
from msvm_select.errors import SettingsError
from msvm_select.model import fitting
from msvm_select.results import reread
from msvm_select.settings import PARAMETERS, Layer, settings_of
from msvm_select.settings.values import whole
from msvm_select.train import along_C

if TYPE_CHECKING:
    from msvm_select.cli.talk import Talk
    from msvm_select.model.fitting import CellOfResults
    from msvm_select.records import Dataset
    from msvm_select.settings import Settings
    from msvm_select.train.along_C import Trained

DEFAULT_C = 1.0
FIXED = ("kernel", "C", *PARAMETERS, "loss")


class Asked:
    """The machine that is asked for: by options, or by a row of results."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """All is checked but what the data must tell."""
        source = options.get("source")
        self.cell: CellOfResults | None = None
        if source is not None:
            self.cell = _cell(source, options)
        for name in ("rank", "select"):
            if source is None and options.get(name) is not None:
                raise SettingsError(f"{name} is for --from, which is not given.")
        self.settings, self.notes = _settings(options, self.cell)

    def trained(self, data: Dataset, talk: Talk) -> Trained:
        """It, from these data, which must be those of the results."""

        for note in (*data.notes, *self.notes):
            talk.say(f"Note: {note}")
        if self.cell is not None:
            talk.say(f"From {self.cell.name}")
            self.cell.check_data(data)
        trained = patiently(along_C.train_cell, data, self.settings, talk)
        solution = trained.solution
        if self.cell is not None and not trained.warning:
            self.cell.check_machine(solution.dual_objective, solution.gap)
        return trained

    def optimal(self, data: Dataset, talk: Talk, purpose: str) -> Trained:
        """The same; where it did not converge, say what there is not then, and exit."""
        trained = self.trained(data, talk)
        if not trained.solution.converged:
            _end(trained, purpose)
        return trained


def _end(trained: Trained, purpose: str) -> NoReturn:
    reason = f"the training did not converge: {trained.solution.reason}"
    click.echo(f"Error: {reason}; so there is {purpose}.", err=True)
    click.get_current_context().exit(5)


def _cell(source: str, options: Mapping[str, Any]) -> CellOfResults:
    """The row of this --rank, or that which --select or else the file chooses."""
    rank, select = options.get("rank"), options.get("select")
    if rank is not None and select is not None:
        raise SettingsError("rank and select both say which row to take: give one.")
    number = None if rank is None else whole(1)(rank, "rank")
    rule = chosen_values({"select": select}).get("select")
    return fitting.cell_of(source, reread.read_results(source), number, rule)


def _settings(
    options: Mapping[str, Any], cell: CellOfResults | None
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
