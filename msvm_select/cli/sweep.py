"""``msvm-select sweep DATA``: train every cell of a grid, score it, rank the cells."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli.chosen import chosen_reading, chosen_settings, read
from msvm_select.cli.gates import gated_exit_code
from msvm_select.cli.interrupts import beside, patiently, stop_code
from msvm_select.cli.options import (
    Command,
    choosing_options,
    data_argument,
    data_options,
    journal_options,
    rows_options,
    sweep_options,
    takes,
)
from msvm_select.cli.report import AskedPage
from msvm_select.cli.resuming import (
    how_to_go_on,
    opened_journal,
)
from msvm_select.cli.streams import chosen_format, deliver
from msvm_select.cli.talk import Talk
from msvm_select.errors import MsvmError
from msvm_select.results import choosing
from msvm_select.settings.config import to_toml
from msvm_select.show.answers import plan as plan_answer
from msvm_select.show.answers import sweep as answer
from msvm_select.sweep import cells, loop
from msvm_select.sweep import plan as planning

if TYPE_CHECKING:
    from msvm_select.columns import Row
    from msvm_select.records import Dataset
    from msvm_select.results.ranking import Results
    from msvm_select.settings import Settings
    from msvm_select.sweep.cells import Kept
    from msvm_select.sweep.journal import Journal
    from msvm_select.train.events import Progress


@click.command("sweep", cls=Command, short_help="Train and rank the cells of a grid.")
@data_argument
@sweep_options
@takes("extend")
@choosing_options
@data_options
@rows_options
@takes("verbose")
@journal_options
@takes("report")
@takes("dry_run", "show_config")
def command(data: str, **options: Any) -> None:
    """Train every cell of the grid C x kernel, score it, print the ranked table.

    \b
    msvm-select sweep data/iris.csv
    msvm-select sweep data/iris.csv --gamma 2^-7:2^1:5 --C 0.1,1,10
    msvm-select sweep data/iris.csv --criteria loo,cv:5 --rank-by cv
    msvm-select sweep data/wine.csv --kernel linear --kernel rbf -o ranked.csv
    msvm-select sweep data/vehicle.csv --gamma 2^-7:2^1:5 --dry-run
    msvm-select sweep data/glass.csv --gamma 2^-7:2^1:5 --report glass.html
    cat data/iris.csv | msvm-select sweep - --format json > ranked.json

    A GRID is a list 0.1,1,10, a geometric range 2^-3:2^9:7 (7 values, ends included)
    or an arithmetic one 0.01:0.5:+0.01. Settings, and how DATA is read, may also come
    from the environment: MSVM_SELECT_C, MSVM_SELECT_TARGET and so on.
    """
    perform(data, chosen_reading(options), chosen_settings(options), options)


def perform(
    data: str,
    reading: dict[str, Any],
    settings: Settings,
    options: dict[str, Any],
) -> None:
    """The whole sweep, for the commands ``sweep`` and ``run``."""
    if options["show_config"]:
        click.echo(_config(data, reading, settings), nl=False)
        return
    if options["dry_run"]:
        click.echo(_planned(read(data, settings, **reading), settings), nl=False)
        return
    output = options["output"]
    format = chosen_format(settings.format, output, data)
    page = AskedPage(options["report"], data, reading).checked(output)
    journal = opened_journal(options, output, options["report"], data)
    talk = Talk(options["quiet"], options["verbose"])
    samples = read(data, settings, **reading)
    outcome = swept(samples, settings, talk, journal=journal)
    if outcome.results is not None:
        m, top = len(outcome.results.rows), settings.top
        part = "" if top is None or top >= m else f" (the best {top} of {m} rows)"
        shown = answer.sheet(outcome.results, top)
        deliver(shown, format, output, talk, options["all_columns"], part)
        page.write(samples, outcome.settings, outcome, talk)
    end_if_stopped(outcome, talk, how_to_go_on(journal, data))
    assert outcome.results is not None
    _warn_of_edges(outcome.results, settings.extend, talk)
    click.get_current_context().exit(gated_exit_code(outcome.results, vars(settings)))


@dataclass(frozen=True)
class Outcome:
    """What there is to show, what cut it short, the grid in the end, what was kept."""

    results: Results | None
    stop: KeyboardInterrupt | MsvmError | None
    settings: Settings
    kept: Kept

    @property
    def interrupted(self) -> bool:
        """Whether some cells are not done."""
        return self.stop is not None


def swept(
    data: Dataset,
    settings: Settings,
    talk: Talk,
    progress: Progress | None = None,
    journal: Journal | None = None,
) -> Outcome:
    """All rows, or those that were finished when Ctrl-C came or the journal failed.

    ``progress`` hears of the sweep in the place of ``talk``.
    """
    keeper = cells.Kept(settings, progress or talk)
    sweep = loop.Extension(
        partial(loop.iterate, data, journal=journal), settings, keeper
    )
    rows: list[Row] = []
    stop: KeyboardInterrupt | MsvmError | None = None
    with talk, journal or nullcontext():
        for note in data.notes:
            talk.say(f"Note: {note}")
        try:
            for row in beside(sweep):
                rows.append(row)
        except (KeyboardInterrupt, MsvmError) as error:
            if isinstance(error, MsvmError) and not rows:
                raise
            stop = error
    found = None
    if rows:
        found = loop.gather(data, sweep.settings, rows, settings, keeper.gram)
    return Outcome(found, stop, sweep.settings, keeper)


def end_if_stopped(outcome: Outcome, talk: Talk, advice: str = "") -> None:
    """Say how far it came and how to go on; the exit code is that of the stop."""
    if outcome.stop is None:
        return
    done = len(outcome.results.rows) if outcome.results else 0
    interrupted = isinstance(outcome.stop, KeyboardInterrupt)
    word = "Interrupted" if interrupted else "Stopped"
    click.echo(f"{word}: {done} of {talk.cells} cells are done.", err=True)
    if advice:
        click.echo(advice, err=True)
    if not isinstance(outcome.stop, KeyboardInterrupt):
        raise outcome.stop
    click.get_current_context().exit(stop_code(outcome.stop))


def _warn_of_edges(results: Results, rounds: int, talk: Talk) -> None:
    """Or say, where it was asked to be widened, that the best value is within it."""
    notes = choosing.edge_notes(results, rounds)
    for note in notes:
        talk.say(f"Warning: {note}")
    if not rounds or notes or results.best is None:
        return
    grown = results.settings.get("extended_from", {})
    sizes = [f"{name}: {len(results.settings[name])} values" for name in grown]
    if grown:
        talk.say(f"The best value is within the grid now ({', '.join(sizes)}).")
    else:
        talk.say("Nothing to extend: the best value is on no edge of a grid.")


def _planned(data: Dataset, settings: Settings) -> str:
    """What the sweep would go through."""
    found = plan_answer.sheet(patiently(planning.plan, data, settings))
    return found.render(settings.format or "table")


def _config(data: str, reading: dict[str, Any], settings: Settings) -> str:
    """What counts, as a file that ``run`` reads."""
    where = data if data == "-" else str(Path(data).resolve())
    return to_toml({"data": where, **reading, **asdict(settings)})
