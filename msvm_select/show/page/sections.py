"""A Report -> the sections of its page, in the order of reading."""

from __future__ import annotations

from collections.abc import Iterator

from msvm_select.results.labels import label_of
from msvm_select.results.ranking import Results
from msvm_select.show.page import heat, prose, tables
from msvm_select.show.page.curves import curves, named, settings_of
from msvm_select.show.page.markup import Html, el, joined
from msvm_select.show.page.origin import origin
from msvm_select.show.page.report import Report
from msvm_select.show.page.values import filled_columns, first_columns, scores, text


def sections(report: Report) -> Iterator[tuple[str, Html]]:
    """Titles and contents, in the order of reading; a section without any is none."""
    results, chosen = report.results, report.chosen
    columns = filled_columns(results)
    yield "The answer", _answer(report)
    if scores(results):
        yield "Over the grid", _over_the_grid(report)
        if len({row.C for row in results.rows}) > 1:
            yield "Along C", _along_C(report)
    table = tables.cells(results, columns, chosen)
    box = tables.scrolling(table, "Every cell", id="every")
    yield "Every cell", joined([_controls(results, columns), box])
    if any(column in tables.OF_COLUMN for column in scores(results)):
        yield "What the scores are", tables.meanings(results, scores(results))
    yield "Data and settings", origin(report)
    if report.command:
        yield "The same again", _again(report)


def _answer(report: Report) -> Html:
    """The sentence, what stands against it, the certificate, the confusion matrix."""
    results, chosen = report.results, report.chosen
    notes = [*report.notes, *prose.notes(results)]
    warnings = el("ul", *(el("li", note) for note in notes), class_="notes")
    parts = [
        _interruption(report),
        prose.answer(results, chosen, report.judged),
        warnings if notes else None,
    ]
    if chosen is None:
        return joined(parts)
    matrix = (
        el("p", f"No confusion matrix: {report.why_not}", class_="why")
        if report.judged is None
        else tables.confusion(report.judged)
    )
    left = el("div", el("h3", "Which classes are mistaken"), matrix)
    facts = tables.facts(prose.certificate(chosen))
    right = el("div", el("h3", "What vouches for its training"), facts)
    exact = report.judged is not None or chosen.loo_errors is not None
    reading = el("p", prose.caveat(results), class_="aside") if exact else None
    return joined([*parts, el("div", left, right, class_="beside"), reading])


def _interruption(report: Report) -> Html | None:
    done = len(report.results.rows)
    if report.cells is None or report.cells == done:
        return None
    text = f"The sweep was interrupted: {done} of {report.cells} cells are done, and "
    return el("p", text, "the page is about those.", class_="why", role="note")


def _over_the_grid(report: Report) -> Html:
    results = report.results
    columns = scores(results)
    painting = heat.Painting(results, columns[0])
    bright, dark = painting.ends()
    options = (el("option", label_of(c).text, value=c) for c in columns)
    choice = el("label", "Score ", el("select", *options, id="score"))
    legend = el(
        "p",
        el("span", painting.legend(), id="legend"),
        el("span", el("b", bright), heat.ramp(), el("b", dark), id="ends"),
        class_="legend",
    )
    told = (
        "The brighter, the smaller, the better. The frame is the chosen cell, a broken "
        "one the best by the score that is shown. Point at a cell, or go there with "
        "the arrow keys, for its values."
    )
    figures = el("div", heat.heat_maps(results, report.chosen), class_="maps")
    hint = el("p", told, class_="aside")
    controls = el("div", choice, legend, class_="controls")
    return joined([controls, figures, heat.marks(results), hint])


def _along_C(report: Report) -> Html:
    results = report.results
    names = [named(rows[0]) for rows in settings_of(results).values()]
    options = (el("option", name, value=i) for i, name in enumerate(names))
    choice = el("label", "Bold line ", el("select", *options, id="setting"))
    several = el("div", choice, class_="controls") if len(names) > 1 else None
    told = (
        "Each line is a kernel setting; the ring is the chosen cell. Where a dot is "
        "hollow, the bound does not apply; where a line breaks, there is no value."
    )
    panels = el("div", curves(results, report.chosen), class_="panels")
    return joined([several, panels, el("p", told, class_="aside")])


def _controls(results: Results, columns: list[str]) -> Html:
    """To filter, and to choose columns."""
    shown = first_columns(results, columns)
    kernels = list(dict.fromkeys(row.kernel for row in results.rows))
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
    hint = f"such as C={text(results.rows[0], 'C')}"
    found = el("input", id="filter", type="search", placeholder=hint, size=18)
    kernel = el("select", every, *options, id="kernel")
    return el(
        "div",
        el("label", "Filter ", found),
        el("label", "Kernel ", kernel) if len(kernels) > 1 else None,
        el("output", f"{len(results.rows)} cells", id="count", aria_live="polite"),
        el(
            "details",
            el("summary", "Columns"),
            el("fieldset", el("legend", "Columns to show"), *boxes, id="columns"),
        ),
        class_="controls",
    )


def _again(report: Report) -> Html:
    # a line may break between words only, not at their hyphens
    parts = [p for w in report.command.split(" ") for p in (" ", el("span", w))][1:]
    line = el("pre", el("code", *parts, id="command"), tabindex=0)
    copy = el("button", "Copy", type="button", id="copy")
    said = el("output", id="copied", aria_live="polite")
    return joined([line, el("p", copy, " ", said)])
