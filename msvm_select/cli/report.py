"""``--report``: a page of the sweep, refused before it runs or written after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msvm_select import files
from msvm_select.cli.interrupts import patiently
from msvm_select.cli.talk import Talk
from msvm_select.errors import MsvmError, SettingsError
from msvm_select.model import examined
from msvm_select.show.charts import confusion as matrix
from msvm_select.show.page import page as html
from msvm_select.show.page import words

if TYPE_CHECKING:
    from msvm_select.cli.sweep import Outcome
    from msvm_select.records import Dataset
    from msvm_select.results.ranking import Results
    from msvm_select.settings import Settings
    from msvm_select.show.charts.confusion import Confusion

UNFINISHED = "the sweep was interrupted before its end."
CUT_SHORT = "judging the samples one by one was interrupted."
NO_SAMPLES = "the file of results does not hold the samples; sweep --report has one."


@dataclass(frozen=True)
class AskedPage:
    """Where the page is to go, where the data are and how they were read."""

    path: str | None
    data: str
    reading: Mapping[str, Any]

    def checked(self, output: str | None) -> AskedPage:
        """Itself; refuses, before anything is trained, what could not be written."""
        check_page(self.path, output, self.data)
        return self

    def write(
        self, samples: Dataset, settings: Settings, outcome: Outcome, talk: Talk
    ) -> None:
        """The page, whole; Ctrl-C on the way leaves only its confusion matrix out."""
        if self.path is None or outcome.results is None:
            return

        confusion, why = _confusion(samples, settings, outcome, talk)
        page = html.Report(
            results=outcome.results,
            command=words.command_line(self.data, self.reading, settings, self.path),
            confusion=confusion,
            why_not=why,
            source="standard input" if self.data == "-" else self.data,
            digest=words.file_digest(self.data),
            notes=samples.notes,
            cells=talk.cells if outcome.interrupted else None,
        )
        files.write_whole(self.path, html.render(page))
        talk.say(f"Written: {self.path}")
        if why == CUT_SHORT:
            raise KeyboardInterrupt


def check_page(path: str | None, *others: str | None) -> None:
    """Refuse a page that cannot be written, or that would overwrite another file."""
    if path is None:
        return
    if path == "-":
        raise SettingsError("--report: a page goes to a file; give its name.")
    files.check_writable(path)
    files.check_apart("--report", path, *others)


def write_page_of_rows(path: str | None, results: Results, talk: Talk) -> None:
    """The page of rows that were read back: nobody can be judged without the data."""
    if path is None:
        return
    files.write_whole(path, html.render(html.Report(results, why_not=NO_SAMPLES)))
    talk.say(f"Written: {path}")


def _confusion(
    samples: Dataset, settings: Settings, outcome: Outcome, talk: Talk
) -> tuple[Confusion | None, str]:
    """The confusion matrix of the chosen cell, or why there is none."""
    row = outcome.results.chosen if outcome.results else None
    if row is None or outcome.interrupted:
        return None, UNFINISHED
    kept = outcome.kept.of(row)
    if row.loo_errors is None:  # and nobody has seen yet how long it takes
        talk.say("Judging each sample without itself, in the chosen cell ...")
    try:
        found = patiently(examined.judged, samples, settings, row, kept)
    except MsvmError as error:
        return None, str(error)
    except KeyboardInterrupt:
        return None, CUT_SHORT
    return matrix.confusion_of(samples.classes, found.left_out), ""
