"""``msvm-select DATA``: check it, sweep it, and keep the answer in files beside it."""

from __future__ import annotations

import itertools
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from msvm_select.cli import talk as talking
from msvm_select.cli.asking import chosen_reading, read, swept_settings
from msvm_select.cli.check import note_guess
from msvm_select.cli.options import SWEEP, Command, data_argument, takes
from msvm_select.cli.sweep import perform
from msvm_select.cli.sweeping import program
from msvm_select.data import doubts
from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.results import reread
from msvm_select.show.answers import check as answer
from msvm_select.show.page import words
from msvm_select.sweep import journal as journals
from msvm_select.sweep import loop

if TYPE_CHECKING:
    from msvm_select.records import Dataset
    from msvm_select.results.ranking import Results
    from msvm_select.settings import Settings

OURS = '<meta name="generator" content="msvm-select">'
HEAD = 4096  # characters of a page within which it says whose it is


class First(Command):
    """The name of the file stands where other commands have theirs."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Without the argument, which is told as the name."""
        return super().collect_usage_pieces(ctx)[:1]


@click.command("DATA", cls=First)
@data_argument
@takes(*SWEEP)
def command(data: str, **options: Any) -> None:
    """Check DATA, sweep it, and say how to go on.

    \b
    msvm-select data/iris.csv
    msvm-select data/iris.csv --target class --criteria cv:5

    This is `check`, and then `sweep` with a page and a journal. Both stand beside DATA
    (iris.sweep.html and iris.sweep.ndjson) and overwrite no other file. Called again,
    it continues from the journal. The last line trains the cell that was chosen.
    """
    if data == "-" or (os.path.exists(data) and not os.path.isfile(data)):
        _refuse_stream(data)
    reading, settings = chosen_reading(options), swept_settings(options)
    if options["show_config"] or options["dry_run"]:
        perform(data, reading, settings, options)
        return
    talk = talking.Talk(options["quiet"], options["verbose"])
    try:
        samples = read(data, settings, **reading)
    except DataError as error:
        note_guess(error)
        raise
    for line in answer.sheet(doubts.describe(samples)).render("table").splitlines():
        talk.say(line)
    talk.say("")
    beside = _folder(data, talk) / Path(data.removesuffix(".gz")).stem
    if options["journal"] is None:
        options |= _named(beside, samples, settings, options)

    def go_on(results: Results) -> None:
        journal = options["journal"]
        talk.say(f"Written: {journal}")
        if results.chosen is None:
            return
        model = _free(beside.with_name(f"{beside.name}.model"), ".json")
        select = {} if settings.select == "best" else {"select": settings.select}
        told = [data, "--from", journal, *words.options({**reading, **select})]
        line = shlex.join(["fit", *map(str, told), "-o", str(model)])
        talk.say(f"To go on: {program()} {line}")

    perform(data, reading, settings, options, samples, go_on)


def _refuse_stream(data: str) -> None:
    if os.path.isdir(data):
        raise DataError(f"{data} is a folder; name a file in it")
    told = "standard input" if data == "-" else data
    raise SettingsError(
        f"{told} is no file that a page and a journal could stand beside; say "
        f"`msvm-select sweep {data}`, or give a file."
    )


def _folder(data: str, talk: talking.Talk) -> Path:
    """That of the data; the current one where nothing can be written there."""
    folder = Path(data).parent
    if os.access(folder, os.W_OK):
        return folder
    talk.say(f"Note: {folder} cannot be written; the files come to this folder.")
    return Path()


def _named(
    stem: Path, samples: Dataset, settings: Settings, options: dict[str, Any]
) -> dict[str, Any]:
    """The page and the journal: the first names that are free, or of this sweep."""
    header = journals.header_of(samples, loop.on_data(samples, settings))
    for number in itertools.count(1):
        tag = "" if number == 1 else f"-{number}"
        names = [Path(f"{stem}.sweep{tag}.{end}") for end in ("html", "ndjson")]
        page, journal = names
        if any(map(os.path.lexists, names)) and not (
            _is_of(journal, header) and _is_page(page)
        ):
            continue
        return {
            "journal": str(journal),
            "report": options["report"] or str(page),
            "resume": options["resume"] or journal.exists(),
        }
    raise AssertionError


def _is_of(journal: Path, header: dict[str, Any]) -> bool:
    """Whether it is the journal of the sweep with this header, or of a part of it."""
    try:
        with journal.open(encoding="utf-8") as file:
            first = file.readline()
        if not first.startswith(reread.JOURNAL):
            return False
        journals.check_header(str(journal), json.loads(first), header)
    except (OSError, ValueError, MsvmError):
        return False
    return True


def _is_page(path: Path) -> bool:
    """Whether there is no such file, or a page that this program wrote."""
    try:
        with path.open(encoding="utf-8") as file:
            return OURS in file.read(HEAD)
    except FileNotFoundError:
        return not os.path.lexists(path)
    except (OSError, ValueError):
        return False


def _free(stem: Path, ending: str) -> Path:
    """The first name that no file has."""
    names = (f"{stem}{tag}{ending}" for tag in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(Path(name) for name in names if not os.path.lexists(name))
