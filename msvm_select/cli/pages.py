"""Where a page goes, and the page of results that were read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msvm_select import files
from msvm_select.errors import SettingsError
from msvm_select.show.page import page as html

if TYPE_CHECKING:
    from msvm_select.cli.talk import Talk
    from msvm_select.results.ranking import Results

NO_SAMPLES = "the file of results does not hold the samples; sweep --report has one."


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
