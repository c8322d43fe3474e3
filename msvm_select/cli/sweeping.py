"""A sweep that may be stopped: its rows, its journal, and the page that shows it."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from msvm_select import files
from msvm_select.cli import PROGRAM, options
from msvm_select.cli.interrupts import beside, patiently, stop_code, thread
from msvm_select.errors import MsvmError, SettingsError
from msvm_select.model import examined
from msvm_select.show.answers import suspects
from msvm_select.show.charts import heat as matrix
from msvm_select.show.charts import reliability
from msvm_select.show.page import page as html
from msvm_select.show.page import words
from msvm_select.sweep import budget as budgets
from msvm_select.sweep import cells, loop, plan
from msvm_select.sweep import journal as journals
from msvm_select.sweep import race as races
from msvm_select.sweep.cluster import client as clusters
from msvm_select.train import events, prepare

if TYPE_CHECKING:
    from msvm_select.cli.talk import Talk
    from msvm_select.columns import Row
    from msvm_select.model.examined import LeftOutReport
    from msvm_select.records import Dataset
    from msvm_select.results.ranking import Results
    from msvm_select.settings import Settings
    from msvm_select.train.events import Progress

CLUSTERS = "msvm_select.clusters"
UNFINISHED = "the sweep was interrupted before its end."
CUT_SHORT = "judging the samples one by one was interrupted."


@dataclass(frozen=True)
class Outcome:
    """What there is to show, what cut it short, the grid in the end, what was kept."""

    results: Results | None
    stop: KeyboardInterrupt | MsvmError | None
    settings: Settings
    kept: cells.Kept
    budget: budgets.Budget

    @property
    def is_whole(self) -> bool:
        """Whether every cell was done."""
        return self.stop is None and not self.budget.is_up


def swept(
    data: Dataset,
    settings: Settings,
    talk: Talk,
    progress: Progress | None = None,
    journal: journals.Journal | None = None,
    told: bool = False,
) -> Outcome:
    """All rows, or those that were finished when Ctrl-C came or the journal failed.

    ``progress`` hears of the sweep in the place of ``talk``. ``told``: the user knows
    the notes on the data.
    """
    settings = loop.on_data(data, settings)
    keeper = cells.Kept(settings, progress or talk)
    race, budget = races.Race.of(settings), budgets.Budget(settings.time_budget)
    cluster = _cluster(settings, talk)
    elsewhere = None if cluster is None else cluster.done
    each = partial(loop.iterate, data, journal=journal, race=race, elsewhere=elsewhere)
    sweep = loop.Extension(each, settings, budget.watched(keeper))
    rows: list[Row] = []
    stop: KeyboardInterrupt | MsvmError | None = None
    with talk, journal or nullcontext():
        for note in () if told else data.notes:
            talk.say(f"Note: {note}")
        try:
            for row in beside(budget.within(sweep)):
                rows.append(row)
        except (KeyboardInterrupt, MsvmError) as error:
            if cluster is not None:
                cluster.stop()
            if isinstance(error, MsvmError) and not rows:
                raise
            stop = error
    found = None
    if rows:
        found = loop.gather(data, sweep.settings, rows, settings, keeper.gram)
    return Outcome(found, stop, sweep.settings, keeper, budget)


def _cluster(settings: Settings, talk: Talk) -> clusters.Cluster | None:
    """That of the settings, connected once for all data sets of a command."""
    if settings.cluster is None:
        return None
    context = click.get_current_context().find_root()  # a command closes its own
    known: dict[Any, clusters.Cluster] = context.meta.setdefault(CLUSTERS, {})
    way = tuple(getattr(settings, name) for name in options.CLUSTER)
    if way not in known or not known[way].is_open:
        starting = settings.cluster.startswith("local:")
        talk.say(
            f"{'Starting' if starting else 'Connecting to'} {settings.cluster} ..."
        )
        known[way] = patiently(clusters.Cluster.of, settings)
        context.call_on_close(known[way].close)
    return known[way]


def told_quicker(data: Dataset, settings: Settings, talk: Talk) -> Progress:
    """Tells ``talk`` all; a long sweep also of what would take less time.

    That is found out while the sweep is under way: it may take some seconds.
    """

    def think() -> None:
        with suppress(MsvmError, MemoryError):
            line = plan.quicker(prepare.prepared(data, settings))
            if line and not talk.ended.is_set():
                talk.say(f"Note: {line}.")

    def hear(event: events.Event) -> None:
        talk(event)
        if isinstance(event, events.Started) and not (talk.quiet or event.is_remote):
            thread(think)

    return hear


def finished(outcome: Outcome, talk: Talk, advice: str = "") -> Results:
    """The results of a sweep that was not stopped.

    Of another: say how far it came and how to go on, and exit with the stop's code.
    """
    done = len(outcome.results.rows) if outcome.results else 0
    if outcome.stop is None:
        assert outcome.results is not None
        if outcome.budget.is_up:
            talk.say(f"The time is up: {done} of {talk.cells} cells are done.")
            talk.say(advice)
        return outcome.results
    interrupted = isinstance(outcome.stop, KeyboardInterrupt)
    word = "Interrupted" if interrupted else "Stopped"
    click.echo(f"{word}: {done} of {talk.cells} cells are done.", err=True)
    if advice:
        click.echo(advice, err=True)
    if isinstance(outcome.stop, KeyboardInterrupt):
        click.get_current_context().exit(stop_code(outcome.stop))
    raise outcome.stop


def opened_journal(
    options: Mapping[str, Any], *others: str | None
) -> journals.Journal | None:
    """That of the line, if any; ``others`` are files that it must not be."""
    path = options["journal"]
    if path is None:
        if options["resume"]:
            raise SettingsError("--resume goes on from a journal: name it, --journal.")
        return None
    files.check_apart("--journal", path, *others)
    return journals.Journal(path, options["resume"])


def how_to_go_on(journal: journals.Journal | None, data: str) -> str:
    """After a stop: the line to type, or what would have made it possible."""
    if journal is None:
        return "To be able to go on after a stop: --journal FILE, and then --resume."
    same = ", with the same data on standard input" if data == "-" else ""
    line = sys.argv[1:]
    if "--resume" not in line:
        line.insert(line.index("--") if "--" in line else len(line), "--resume")
    return f"To go on{same}: {program()} {shlex.join(line)}"


def program() -> str:
    """This program as it can be typed here."""
    called = Path(sys.argv[0])
    if called.parts[-2:] == ("msvm_select", "__main__.py"):
        return shlex.join([sys.executable, "-m", "msvm_select"])
    if called.stem != PROGRAM:  # within another program
        return PROGRAM
    found = shutil.which(PROGRAM)
    if found is not None and Path(found).resolve() == called.resolve():
        return PROGRAM
    return shlex.quote(sys.argv[0])


@dataclass(frozen=True)
class AskedPage:
    """Where the page is to go, where the data are and how they were read."""

    path: str | None
    data: str
    reading: Mapping[str, Any]

    def write(
        self, samples: Dataset, settings: Settings, outcome: Outcome, talk: Talk
    ) -> None:
        """The page, whole; Ctrl-C on the way leaves only its confusion matrix out."""
        if self.path is None or outcome.results is None:
            return
        found, why = _judged(samples, settings, outcome, talk)
        page = html.Report(
            results=outcome.results,
            command=words.command_line(self.data, self.reading, settings, self.path),
            **({} if found is None else _drawn(found)),
            why_not=why,
            source="standard input" if self.data == "-" else self.data,
            digest=words.file_digest(self.data),
            notes=samples.notes,
            cells=None if outcome.is_whole else talk.cells,
        )
        files.write_whole(self.path, html.render(page))
        talk.say(f"Written: {self.path}")
        if why == CUT_SHORT:
            raise KeyboardInterrupt


def _drawn(found: LeftOutReport) -> dict[str, Any]:
    """What the page shows of the left-out answers, by name."""
    return {
        "confusion": matrix.confusion_of(found.data.classes, found.left_out),
        "reliability": reliability.reliability_of_each(found),
        "suspects": suspects.sheet(found),
    }


def _judged(
    samples: Dataset, settings: Settings, outcome: Outcome, talk: Talk
) -> tuple[LeftOutReport | None, str]:
    """The chosen cell with every sample left out, or why there is no such thing."""
    row = outcome.results.chosen if outcome.results else None
    if row is None or outcome.stop:
        return None, UNFINISHED
    kept = outcome.kept.of(row)
    if row.loo_errors is None:  # and nobody has seen yet how long it takes
        talk.say("Judging each sample without itself, in the chosen cell ...")
    try:
        return patiently(examined.judged, samples, settings, row, kept), ""
    except MsvmError as error:
        return None, str(error)
    except KeyboardInterrupt:
        return None, CUT_SHORT
