"""A Report -> one page of HTML that needs nothing else, and loads nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from string import Template

from msvm_select.columns import Row, column_of
from msvm_select.records import finite
from msvm_select.results.ranking import Results
from msvm_select.show.charts.curves import by_setting
from msvm_select.show.charts.heat import Confusion
from msvm_select.show.charts.reliability import ReliabilityChart
from msvm_select.show.page import charts, tables, words
from msvm_select.show.page import reliability as sure
from msvm_select.show.page.charts import Painting
from msvm_select.show.page.markup import (
    Html,
    el,
    joined,
    script_data,
    scrolling,
    trusted,
)
from msvm_select.show.sheet import Sheet

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'"
ON_THE_MAPS = (
    "Brighter is better. A solid frame marks the chosen cell, a dashed one the best by "
    "the score shown. Point at a cell, or move to it with the arrow keys, to see its "
    "values."
)
ON_SUSPECTS = (
    "Without the row, the chosen cell puts it in another class; the clearest first. "
    "Its class may be a mistake, or it may lie on a border. Weight is the sum of its "
    "alpha, relative to the largest; the rows named last count most against it."
)
ON_THE_CURVES = (
    "Each line is a kernel setting; the ring marks the chosen cell. At a hollow dot "
    "the bound does not apply; where a line breaks, there is no value."
)


@dataclass(frozen=True, eq=False)
class Report:
    """All that the page tells.

    ``confusion`` and ``reliability`` are the chosen cell's, or ``why_not`` says why
    there is none; ``command`` makes the page again; ``cells`` is the size of the whole
    grid, of which an interrupted sweep has done a part; ``source`` tells where the data
    are; ``suspects`` are the rows that the chosen cell gets wrong when left out.
    """

    results: Results
    command: str = ""
    confusion: Confusion | None = None
    reliability: ReliabilityChart | None = None
    suspects: Sheet | None = None
    why_not: str = ""
    source: str | None = None
    digest: str | None = None
    notes: tuple[str, ...] = ()
    cells: int | None = None

    @property
    def chosen(self) -> Row | None:
        """The cell that the page is about."""
        return self.results.chosen

    @property
    def name(self) -> str:
        """What the data are called."""
        return str(self.results.data.get("name") or "Results")

    @cached_property
    def columns(self) -> list[str]:
        """The columns with anything in them."""
        return tables.filled_columns(self.results)

    @cached_property
    def paintings(self) -> dict[str, Painting]:
        """By column, for every score that the rows have."""
        return {c: Painting(self.results, c) for c in tables.scores(self.results)}


def render(report: Report) -> str:
    """The whole page."""
    found = dict(_sections(report))
    script = _own("page.js")
    digest = sha256(script.encode()).digest()  # by which the policy knows the script
    told = ", ".join(f"{n} {v}" for n, v in report.results.versions.items())
    parts = {
        "policy": POLICY.format(b64encode(digest).decode()),
        "title": joined([f"{report.name}: choice by {report.results.rank_by}"]),
        "style": trusted(_own("page.css") + charts.style()),
        "hidden": _hiding(report),
        "name": joined([report.name]),
        "contents": joined(el("a", t, href=f"#{_anchor(t)}") for t in found),
        "sections": joined(_section(*section) for section in found.items()),
        "versions": el("p", f"Made with {told or 'msvm-select'}."),
        "data": _data(report),
        "script": trusted(script),
    }
    return Template(_own("page.html")).substitute(parts)


def _sections(report: Report) -> Iterator[tuple[str, Html]]:
    """Titles and contents, in the order of reading."""
    results = report.results
    yield "The answer", _answer(report)
    if report.suspects is not None and report.suspects.rows:
        told = el("p", ON_SUSPECTS, class_="aside")
        yield "Rows to look at", joined([tables.suspects(report.suspects), told])
    if len(asked := tables.rivals(results, report.paintings)) > 1:
        choices = tables.choices(results, asked, report.chosen)
        yield "Choice by every score", choices
    if report.paintings:
        yield "Over the grid", _over_the_grid(report)
        if len({row.C for row in results.rows}) > 1:
            yield "Along C", _along_C(report)
    every = tables.cells(results, report.columns, report.chosen)
    box = scrolling(every, "Every cell", id="every")
    yield "Every cell", joined([_controls(report), box])
    if any(column_of(column).ranks for column in report.paintings):
        yield "What the scores mean", tables.meanings(results, report.paintings)
    data = tables.data_facts(results.data, report.source, report.digest)
    used = tables.settings_facts(results.settings)
    yield "Data and settings", el("div", data, used, class_="beside")
    if report.command:
        yield "Reproduce this", _command(report.command)


def _answer(report: Report) -> Html:
    """The sentence, what stands against it, the confusion matrix, the training."""
    results, chosen = report.results, report.chosen
    notes = [*report.notes, *words.notes(results)]
    warnings = el("ul", *(el("li", note) for note in notes), class_="notes")
    sentence = words.answer(results, chosen, report.confusion)
    parts = [_interruption(report), sentence, warnings if notes else None]
    if chosen is None:
        return joined(parts)
    matrix = el("p", f"No confusion matrix: {report.why_not}", class_="why")
    if report.confusion is not None:
        matrix = charts.confusion(report.confusion)
    left = el("div", el("h3", "Which classes are confused"), matrix)
    facts = tables.facts(words.diagnostics(chosen))
    right = el("div", el("h3", "Training diagnostics"), facts)
    exact = report.confusion is not None or chosen.loo_errors is not None
    reading = el("p", words.caveat(results, chosen), class_="aside") if exact else None
    beside = el("div", left, right, _trust(report), class_="beside")
    return joined([*parts, beside, reading])


def _trust(report: Report) -> Html | None:
    """How far the probabilities of the chosen cell would be off."""
    if report.reliability is None:
        return None
    heading = el("h3", "How far its probabilities can be trusted")
    return el("div", heading, sure.reliability(report.reliability))


def _interruption(report: Report) -> Html | None:
    done = len(report.results.rows)
    if report.cells is None or report.cells == done:
        return None
    text = f"The sweep was interrupted: {done} of {report.cells} cells are done, and "
    return el("p", text, "this page shows only those.", class_="why", role="note")


def _over_the_grid(report: Report) -> Html:
    painting = next(iter(report.paintings.values()))
    bright, dark = painting.ends()
    options = (el("option", column_of(c).text, value=c) for c in report.paintings)
    choice = el("label", "Score ", el("select", *options, id="score"))
    ends = el("span", el("b", bright), charts.ramp(), el("b", dark), id="ends")
    named = el("span", painting.legend(), id="legend")
    legend = el("p", named, ends, class_="legend")
    figures = el("div", charts.heat_maps(painting, report.chosen), class_="maps")
    hint = el("p", ON_THE_MAPS, class_="aside")
    controls = el("div", choice, legend, class_="controls")
    return joined([controls, figures, charts.marks(report.paintings.values()), hint])


def _along_C(report: Report) -> Html:
    results = report.results
    first = [rows[0] for rows in by_setting(results).values()]
    names = [words.named(results, row, C=False) for row in first]
    options = (el("option", name, value=i) for i, name in enumerate(names))
    choice = el("label", "Bold line ", el("select", *options, id="setting"))
    several = el("div", choice, class_="controls") if len(names) > 1 else None
    drawn = charts.curves(results, report.paintings)
    panels = el("div", drawn, class_="panels")
    return joined([several, panels, el("p", ON_THE_CURVES, class_="aside")])


def _controls(report: Report) -> Html:
    """To filter, and to choose columns."""
    rows, columns = report.results.rows, report.columns
    shown = tables.first_columns(report.results)
    kernels = list(dict.fromkeys(row.kernel for row in rows))
    options = (el("option", name) for name in kernels)
    every = el("option", "all", value="")
    boxes = (
        el(
            "label",
            el("input", type="checkbox", value=i, checked=column in shown),
            f" {column}",
        )
        for i, column in enumerate(columns)
    )
    hint = f"such as C={words.text(rows[0], 'C')}"
    found = el("input", id="filter", type="search", placeholder=hint, size=18)
    kernel = el("select", every, *options, id="kernel")
    heading = el("legend", "Columns to show")
    columns_shown = el("fieldset", heading, *boxes, id="columns")
    return el(
        "div",
        el("label", "Filter ", found),
        el("label", "Kernel ", kernel) if len(kernels) > 1 else None,
        el("output", f"{len(rows)} cells", id="count", aria_live="polite"),
        el("details", el("summary", "Columns"), columns_shown),
        class_="controls",
    )


def _command(command: str) -> Html:
    # a line may break between words only, not at their hyphens
    parts = [p for w in command.split(" ") for p in (" ", el("span", w))][1:]
    line = el("pre", el("code", *parts, id="command"), tabindex=0)
    copy = el("button", "Copy", type="button", id="copy")
    said = el("output", id="copied", aria_live="polite")
    return joined([line, el("p", copy, " ", said)])


def _section(title: str, content: Html) -> Html:
    anchor = _anchor(title)
    heading = el("h2", title, id=f"{anchor}-title")
    return el("section", heading, content, id=anchor, aria_labelledby=f"{anchor}-title")


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _hiding(report: Report) -> Html:
    """The rule of style that the script replaces when columns are chosen."""
    shown = tables.first_columns(report.results)
    hidden = [i + 1 for i, column in enumerate(report.columns) if column not in shown]
    if not hidden:
        return trusted("")
    places = ",".join(f"#cells tr>:nth-child({i})" for i in hidden)
    return trusted(f"{places}{{display:none}}")


def _data(report: Report) -> Html:
    """What the script works on, once."""
    rows, columns = report.results.rows, report.columns
    data = {
        "columns": columns,
        "rows": [[finite(r.value(name)) for name in columns] for r in rows],  # to sort
        "paintings": {name: p.data() for name, p in report.paintings.items()},
    }
    return script_data(data, "data")


def _own(name: str) -> str:
    return files("msvm_select.show.page").joinpath(name).read_text(encoding="utf-8")
