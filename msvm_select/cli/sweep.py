"""``msvm-select sweep DATA``: train and rank a grid; ``run CONFIG``: as a file says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli import many
from msvm_select.cli import talk as talking
from msvm_select.cli.asking import chosen_reading, read, swept_settings
from msvm_select.cli.interrupts import patiently
from msvm_select.cli.options import SWEEP, Command, argument, data_argument, takes
from msvm_select.cli.streams import Output, asked_gates, check_page, gated_exit_code
from msvm_select.cli.sweeping import (
    AskedPage,
    finished,
    how_to_go_on,
    opened_journal,
    swept,
    told_quicker,
)
from msvm_select.errors import SettingsError
from msvm_select.results import choosing
from msvm_select.settings.config import to_toml
from msvm_select.show.answers import plan as plan_answer
from msvm_select.show.answers import sweep as answer
from msvm_select.sweep import plan as planning

if TYPE_CHECKING:
    from msvm_select.cli.talk import Talk
    from msvm_select.records import Dataset
    from msvm_select.results.ranking import Results
    from msvm_select.settings import Settings

OF_RESULTS = ("github", "junit", "parquet")


@click.command("sweep", cls=Command)
@data_argument
@takes(*SWEEP)
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
    perform(data, chosen_reading(options), swept_settings(options), options)


@click.command("run", cls=Command)
@argument("config", metavar="CONFIG.toml..", nargs=-1, required=True)
@takes("data", *SWEEP)
def run(config: tuple[str, ...], data: str | None, **options: Any) -> None:
    """Sweep as TOML files say; options on the line win over the files.

    \b
    msvm-select run configs/iris.toml
    msvm-select run configs/iris.toml --criteria cv:5 -o ranked.csv
    msvm-select run configs/iris.toml --C 1,10 --show-config
    msvm-select run configs/iris.toml configs/wine.toml --C 1,8 -o results

    The keys of a file are the options of `msvm-select sweep`, and `data`, a path or a
    list of paths from the file's folder, which may have *; `-` reads the file from
    stdin. An option wins over the environment (MSVM_SELECT_C and so on), that over the
    file, and the file over the defaults.

    Several data sets are swept one after another, and a summary tells the chosen cell
    of each, its score and the time. -o, --journal and --report are then folders. A
    failure of one does not stop the others. If all failures have one exit code, `run`
    ends with it, else with 1.
    """
    jobs = many.jobs_of(config)
    if data is None and (len(jobs) > 1 or len(config) > 1):
        context = click.get_current_context()
        context.exit(many.perform_all(jobs, options, perform))
    if len(config) > 1:
        raise SettingsError("--data is for one config; there are several.")
    file = jobs[0].config
    if file is None:
        raise jobs[0].error or SettingsError(f"{config[0]} is no config.")
    source = data or file.data
    if source is None:
        raise SettingsError(f'{config[0]} names no data: add data = "FILE" or --data.')
    reading, settings = chosen_reading(options, file), swept_settings(options, file)
    perform(source, reading, settings, options)


def perform(
    data: str,
    reading: dict[str, Any],
    settings: Settings,
    options: dict[str, Any],
    samples: Dataset | None = None,
    then: Callable[[Results], None] = lambda results: None,
    seen: Callable[[Results], None] = lambda results: None,
) -> None:
    """The whole sweep, of ``samples`` that are read and described, or are read now.

    ``seen`` is called with the results as soon as they are there, ``then`` with those
    of a sweep that was not stopped.
    """
    if options["show_config"]:
        where = data if data == "-" else str(Path(data).resolve())
        click.echo(to_toml({"data": where, **reading, **asdict(settings)}), nl=False)
        return
    if options["dry_run"]:
        if settings.format in OF_RESULTS:
            raise SettingsError(
                f"--format {settings.format} is of results, and --dry-run has none."
            )
        found = read(data, settings, **reading)
        plan = plan_answer.sheet(patiently(planning.plan, found, settings))
        click.echo(plan.render(settings.format or "table"), nl=False)
        return
    if settings.shard is not None and options["journal"] is None:
        raise SettingsError(
            f"shard {settings.shard} needs --journal FILE: `merge` puts the journals "
            "of all parts together."
        )
    talk = talking.Talk(options["quiet"], options["verbose"])
    output = Output.of(options, settings.format, talk, data)
    page = AskedPage(options["report"], data, reading)
    check_page(page.path, output.path, data)
    journal = opened_journal(options, output.path, page.path, data)
    told = samples is not None
    samples = samples or read(data, settings, **reading)
    heard = told_quicker(samples, settings, talk)
    outcome = swept(samples, settings, talk, heard, journal, told)
    if outcome.results is not None:
        seen(outcome.results)
        m, top = len(outcome.results.rows), settings.top
        part = "" if top is None or top >= m else f" (the best {top} of {m} rows)"
        gates = asked_gates(outcome.results, vars(settings))
        sheet = answer.sheet(outcome.results, top, gates, settings.extend)
        output.deliver(sheet, part)
        page.write(samples, outcome.settings, outcome, talk)
    if outcome.results is None and outcome.stop is None:
        talk.say(f"Shard {settings.shard} is empty: there are more parts than cells.")
        return
    results = finished(outcome, talk, how_to_go_on(journal, data))
    if settings.shard is None:  # a part does not know the best of the whole
        _warn_of_edges(results, settings.extend, talk, options["extend"] is not None)
    then(results)
    click.get_current_context().exit(gated_exit_code(results, vars(settings)))


def _warn_of_edges(results: Results, rounds: int, talk: Talk, asked: bool) -> None:
    """Or say, where it was to be widened, that the best value is within it."""
    notes = choosing.edge_notes(results, rounds)
    for note in notes:
        talk.say(f"Warning: {note}")
    if not rounds or notes or results.best is None:
        return
    grown = results.settings.get("extended_from", {})
    sizes = [f"{name}: {len(results.settings[name])} values" for name in grown]
    if grown:
        talk.say(f"The best value is within the grid now ({', '.join(sizes)}).")
    elif asked:
        talk.say("Nothing to extend: the best value is on no edge of a grid.")
