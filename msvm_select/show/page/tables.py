"""Results -> the tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from msvm_select.criteria import CRITERIA
from msvm_select.results.labels import label_of
from msvm_select.results.ranking import APPLICABLE, Results
from msvm_select.row import Row
from msvm_select.show.answers.loo import UNDECIDED, LeftOutReport
from msvm_select.show.charts.heat import state_of
from msvm_select.show.page.markup import Html, el
from msvm_select.show.page.values import text
from msvm_select.show.plain import finite

WORDS = ("kernel", "solver", "status", "status_reason", "loss")
OF_COLUMN = {kind.column: kind for kind in CRITERIA.values()}
WHERE_B_IS_UNIQUE = ("sv_rate", "compression_bound")
OF_THE_RISK = ("guaranteed_risk", "compression_bound")  # say nothing from 1 on
LONG = 14  # characters of a class that has room for them
TINTS = (0.0, 0.05, 0.15, 0.30)  # shares of a class that goes wrong, from faint to full


def cells(results: Results, columns: Sequence[str], chosen: Row | None) -> Html:
    """A row a cell; the script sorts them, and hides what is not asked for."""
    head = el("tr", *(_heading(column) for column in columns))
    body = (
        el(
            "tr",
            *(_entry(row, column) for column in columns),
            data_row=i,
            class_="chosen" if row is chosen else None,
        )
        for i, row in enumerate(results.rows)
    )
    caption = el("caption", "Every cell of the grid, ranked", class_="unseen")
    return el("table", caption, el("thead", head), el("tbody", *body), id="cells")


def sortable(results: Results, columns: Sequence[str]) -> list[list[Any]]:
    """The values behind the table, unrounded, to sort by."""
    rows = map(asdict, results.rows)
    return [[finite(row[column]) for column in columns] for row in rows]


def confusion(report: LeftOutReport) -> Html:
    """True classes down, the classes predicted without the sample across."""
    counts, classes = report.confusion, report.data.classes
    across = len(classes) + int(counts[:, -1].any())
    names = (*classes, UNDECIDED)[:across]
    heads = [_class(name, "col") for name in (*names, "wrong")]
    head = el("tr", el("th", "true class", scope="col"), *heads)
    body = []
    for k, row in enumerate(counts.tolist()):
        total, wrong = sum(row), sum(row) - row[k]
        entries = (
            _count(n, total, diagonal=k == l) for l, n in enumerate(row[:across])
        )
        share = el("td", f"{wrong} of {total}", class_="sum")
        body.append(el("tr", _class(classes[k], "row"), *entries, share))
    caption = el("caption", "Class predicted without the sample", class_="above")
    table = el("table", caption, el("thead", head), el("tbody", *body), id="confusion")
    return scrolling(table, "Confusion matrix")


def meanings(results: Results, columns: Iterable[str]) -> Html:
    """What each score is, when that is so and in how many cells it says something."""
    heads = ("score", "kind", "what it is", "when it is that", "holds in")
    head = el("tr", *(el("th", name, scope="col") for name in heads))
    body = (_meaning(results, c) for c in columns if c in OF_COLUMN)
    table = el("table", el("thead", head), el("tbody", *body), class_="prose")
    return scrolling(table, "What the scores are")


def holds(row: Row, column: str) -> bool:
    """Whether the score is what it claims to be in this cell, and says something."""
    value = getattr(row, column)
    if state_of(row, column) not in ("ok", "ambiguous"):
        return False
    if column in WHERE_B_IS_UNIQUE and row.b_unique is False:
        return False
    return column not in OF_THE_RISK or value < 1.0


def facts(pairs: Mapping[str, str | None]) -> Html:
    """Names and what they are; what is None is left out."""
    items = (
        el("div", el("dt", name), el("dd", value))
        for name, value in pairs.items()
        if value is not None
    )
    return el("dl", *items, class_="facts")


def scrolling(table: Html, name: str, **attributes: str) -> Html:
    """A box of its own, which the keyboard can scroll."""
    return el(
        "div", table, class_="scroll", role="region", tabindex=0, aria_label=name,
        **attributes,
    )  # fmt: skip


def _heading(column: str) -> Html:
    titled = label_of(column).text
    return el(
        "th",
        el("button", column, type="button"),
        scope="col",
        aria_sort="ascending" if column == "rank" else None,
        title=titled if titled != column else None,
        class_=_kind(column),
    )


def _kind(column: str) -> str | None:
    """Words stand on the left, and a reason may take several lines."""
    if column == "status_reason":
        return "word reason"
    return "word" if column in WORDS else None


def _entry(row: Row, column: str) -> Html:
    shown = text(row, column)
    if column == "rank":
        return el("th", shown, scope="row")
    if column in APPLICABLE and state_of(row, column) == "inapplicable":
        return el("td", f"({shown})", class_="inapplicable")
    return el("td", shown, class_=_kind(column))


def _class(name: str, scope: str) -> Html:
    """A name that may be cut where it is long; it is then told on its own."""
    return el("th", name, scope=scope, title=name if len(name) > LONG else None)


def _count(count: int, total: int, diagonal: bool) -> Html:
    """A dot for none off the diagonal; a tint for how much of the class it is."""
    if diagonal:
        return el("td", str(count), class_="right")
    if not count:
        return el("td", "\N{MIDDLE DOT}", class_="none")
    tint = sum(count / total > share for share in TINTS)
    return el("td", str(count), class_=f"wrong w{tint}")


def _meaning(results: Results, column: str) -> Html:
    kind = OF_COLUMN[column]
    count = len(results.rows)
    held = sum(holds(row, column) for row in results.rows)
    return el(
        "tr",
        el("th", label_of(column).text, " ", el("code", column), scope="row"),
        el("td", kind.kind),
        el("td", kind.summary),
        el("td", kind.applies),
        el("td", f"{held} of {count} cells"),
    )
