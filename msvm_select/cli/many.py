"""``run`` with several data sets: each swept by itself, one summary of all.

What goes wrong with one does not stop the others. Ctrl-C stops all, and the summary
tells of those that are done.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from msvm_select import files
from msvm_select.cli import exit_code, tell
from msvm_select.cli import talk as talking
from msvm_select.cli.asking import chosen_reading, swept_settings
from msvm_select.cli.streams import emit
from msvm_select.errors import MsvmError, SettingsError
from msvm_select.names import ENDINGS
from msvm_select.settings.config import Config, load_config
from msvm_select.show.answers import many as answer

if TYPE_CHECKING:
    from msvm_select.results.ranking import Results

STOPPED = (130, 143)  # by Ctrl-C or SIGTERM, which mean all of it
WITHOUT_FOLDER = ("table", "markdown", "github")  # formats that may follow one another
FOLDERS = {"output": "-o", "journal": "--journal", "report": "--report"}
Options = Mapping[str, Any]
Perform = Callable[..., None]
"""``sweep.perform``"""


@dataclass(frozen=True)
class Job:
    """One data set and the config that names it, or why there is none."""

    name: str
    data: str
    config: Config | None = None
    error: MsvmError | None = None


def jobs_of(configs: Sequence[str]) -> list[Job]:
    """A job for each data set of each config, under names of their own."""
    found = [job for config in configs for job in _jobs(config)]
    alike = Counter(job.name for job in found)
    named: Counter[str] = Counter()
    jobs = []
    for job in found:
        name = job.name
        if alike[name] > 1 and job.config is not None:
            name = f"{name}-{Path(job.config.path).stem}"
        named[name] += 1
        jobs.append(replace(job, name=name + f"-{named[name]}" * (named[name] > 1)))
    return jobs


def _jobs(path: str) -> Iterator[Job]:
    try:
        config = load_config(path)
    except MsvmError as error:
        yield Job(Path(path).stem, path, error=error)
        return
    if not config.every:
        missing = SettingsError(f'{path} names no data: add data = "FILE".')
        yield Job(Path(path).stem, path, config, missing)
    for data in config.every:
        yield Job(Path(data.removesuffix(".gz")).stem, data, config)


def perform_all(jobs: Sequence[Job], options: Options, perform: Perform) -> int:
    """All of them, one after another, and the summary; the exit code."""
    _check(options)
    talk, done = talking.Talk(options["quiet"]), list[answer.Ran]()
    stop: BaseException | None = None
    for number, job in enumerate(jobs, 1):
        talk.say(f"\n{number} of {len(jobs)}: {job.name} ({job.data})")
        if number > 1 and options["output"] is None:
            click.echo()
        try:
            done.append(_performed(job, options, perform))
        except (Exit, KeyboardInterrupt) as error:
            stop = error
            break
    if not (options["show_config"] or options["dry_run"]):
        _deliver(done, options, talk)
    if stop is not None:
        raise stop
    codes = {one.code for one in done} - {0}
    return codes.pop() if len(codes) == 1 else int(bool(codes))


def _performed(job: Job, options: Options, perform: Perform) -> answer.Ran:
    """What became of one; raises only what is meant to stop all."""
    began, reached = time.monotonic(), list[Any]()
    code, reason, output = 0, "", None
    try:
        if job.error is not None:
            raise job.error
        own = dict(options)
        reading = chosen_reading(own, job.config)
        settings = swept_settings(own, job.config)
        ending = _ending(settings.format or "json")
        for name, suffix in (
            ("output", ending),
            ("journal", "ndjson"),
            ("report", "html"),
        ):
            if own[name] is not None:
                own[name] = str(Path(own[name]) / f"{job.name}.{suffix}")
        output = own["output"]
        if output is None and not (own["show_config"] or own["dry_run"]):
            click.echo(f"{'## ' * (settings.format == 'markdown')}{job.name}\n")
        perform(job.data, reading, settings, own, seen=reached.append)
    except Exit as end:
        code = end.exit_code
        if code in STOPPED:
            raise
    except (MsvmError, MemoryError) as error:
        reason = str(error).partition("\n")[0] or "the memory is used up"
        code = exit_code(error) if isinstance(error, MsvmError) else 1
        tell(error)
    results: Results | None = reached[0] if reached else None
    seconds = time.monotonic() - began
    return answer.Ran(job.name, job.data, code, reason, results, seconds, output)


def _check(options: Options) -> None:
    """The files of the line are folders here; they are made if need be."""
    for name, option in FOLDERS.items():
        path = options[name]
        if path is None:
            continue
        if Path(path).suffix.lower() in (*ENDINGS, ".html") or Path(path).is_file():
            raise SettingsError(
                f"{option} {path}: with several data sets this is a folder, with a "
                "file for each."
            )
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f"{option} {path}: {error.strerror}.") from None
    form = options["format"]
    if form not in (None, *WITHOUT_FOLDER) and options["output"] is None:
        raise SettingsError(
            f"--format {form}: several data sets need -o FOLDER, for a file for each."
        )


def _deliver(done: Sequence[answer.Ran], options: Options, talk: talking.Talk) -> None:
    """The summary: on stdout, and in the folder too."""
    sheet, form = answer.sheet(done), options["format"]
    if options["output"] is None:
        click.echo(f"\n{sheet.render('markdown' if form == 'markdown' else 'table')}")
        return
    form = form if form in ("csv", "tsv", "ndjson", "markdown") else "json"
    path = Path(options["output"]) / f"summary.{_ending(form)}"
    files.write_whole(path, sheet.render(form))
    emit(sheet.render("table"), None)
    talk.say(f"Written: {path}")


def _ending(format: str) -> str:
    """Of a file of this format, without its dot."""
    endings = [end[1:] for end, other in ENDINGS.items() if other == format]
    return endings[0] if endings else "md"
