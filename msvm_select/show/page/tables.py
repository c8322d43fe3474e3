"""The tables of the page: cells, scores, data and settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msvm_select.columns import (
    SCORES,
    Row,
    column_of,
    criterion_of,
    further_columns,
    holds,
    is_filled,
    state_of,
)
from msvm_select.names import CRITERIA, METRICS
from msvm_select.phrases import in_a_line
from msvm_select.results.ranking import Results
from msvm_select.show.page.markup import Html, el, joined, scrolling, table
from msvm_select.show.page.words import grid_text, percent, text
from msvm_select.show.sheet import Sheet

FEW = 12  # features that are named at once
MOST_SUSPECTS = 12
# Settings that only some criteria use, and the criteria that use them.
USED_BY = {
    "delta": ("guaranteed-risk", "compression"),
    "maurey_c": ("guaranteed-risk",),
    "union": ("guaranteed-risk",),
    "dimension": ("guaranteed-risk", "vc"),
    "seed": ("cv", "holdout"),
}


def filled_columns(results: Results) -> list[str]:
    """The columns with anything in them: those of the first look, then the others."""
    blank: tuple[object, ...] = (None, "")
    return [
        column
        for column in dict.fromkeys((*first_columns(results), *results.columns))
        if any(row.value(column) not in blank for row in results.rows)
    ]


def first_columns(results: Results) -> tuple[str, ...]:
    """Those to show at first: what matters most; where there is trouble, why."""
    troubled = results.count("ok") < len(results.rows)
    several = len({row.kernel for row in results.rows}) > 1
    look = (name for name in results.first_look if several or name != "kernel")
    return (*look, *(["status_reason"] if troubled else []))


def scores(results: Results) -> list[str]:
    """The columns worth a picture, the one that is ranked by first."""
    rows, by = results.rows, results.column
    further = further_columns(rows, results.criteria)
    filled = [
        column
        for column in dict.fromkeys((by, *SCORES, *further, "train_errors", "n_sv"))
        if is_filled(rows, column)
    ]
    return [c for c in filled if c == by or column_of(c).share not in filled]


def cells(results: Results, columns: Sequence[str], chosen: Row | None) -> Html:
    """A row a cell; the script sorts them, and hides what is not asked for."""
    head = el("tr", *map(_heading, columns))
    body = (
        el(
            "tr",
            *(_entry(row, column) for column in columns),
            data_row=i,
            class_="chosen" if row is chosen else None,
        )
        for i, row in enumerate(results.rows)
    )
    caption = "Every cell of the grid, ranked"
    return table(head, body, caption, caption_="unseen", id="cells")


def rivals(results: Results, columns: Iterable[str]) -> list[str]:
    """Of these columns those that a sweep can rank by, where some cell counts."""
    known = [c for c in columns if column_of(c).ranks or column_of(c).metric]
    return [c for c in known if results.ranked(c).best is not None]


def choices(results: Results, columns: Sequence[str], chosen: Row | None) -> Html:
    """The best cell by each score, with its value; whether that is the chosen one."""
    heads = ("score", "best cell", "its value", "standard error", "errors", "")
    head = el("tr", *(el("th", name, scope="col") for name in heads))
    wrong = "loo_errors" if is_filled(results.rows, "loo_errors") else "train_errors"
    body = []
    for column in columns:
        one, best = column_of(column), results.ranked(column).rows[0]
        error = text(best, one.error) if one.error else ""
        same = chosen is not None and best.cell == chosen.cell
        told = (best.in_words(), text(best, column), error, text(best, wrong))
        name = el("th", one.text, " ", el("code", column), scope="row")
        mark = "the chosen cell" if same else ""
        body.append(el("tr", name, *(el("td", value) for value in (*told, mark))))
    return scrolling(table(head, body, class_="prose"), "The best cell by each score")


def suspects(sheet: Sheet) -> Html:
    """The first rows of the sheet, in the columns of its table."""
    looks = [
        look for name in sheet.shown for look in sheet.columns if look.name == name
    ]
    head = el("tr", *(el("th", look.title, scope="col") for look in looks))
    body = [
        el("tr", *(el("td", in_a_line(look.of(row))) for look in looks))
        for row in sheet.rows[:MOST_SUSPECTS]
    ]
    found = scrolling(table(head, body, class_="prose"), "The clearest errors")
    rest = len(sheet.rows) - MOST_SUSPECTS
    more = el("p", f"and {rest} more: msvm-select loo --suspects lists all.")
    return joined([found, more if rest > 0 else None])


def meanings(results: Results, columns: Iterable[str]) -> Html:
    """What each score is, when it holds, and in how many cells it does."""
    heads = ("score", "kind", "what it is", "when it holds", "holds in")
    head = el("tr", *(el("th", name, scope="col") for name in heads))
    body = []
    for column in columns:
        one = column_of(column)
        if one.ranks:
            kind = CRITERIA[one.criterion]
            told = (kind.kind, CRITERIA.summary(kind.name), kind.applies)
        elif one.metric:
            of = results.settings.get("metric_of", "the first criterion with some")
            told = ("metric", METRICS.summary(one.metric), f"of the answers of {of}")
        else:
            continue
        held = sum(holds(row, column) for row in results.rows)
        share = f"{held} of {len(results.rows)} cells"
        name = el("th", column_of(column).text, " ", el("code", column), scope="row")
        body.append(el("tr", name, *(el("td", text) for text in (*told, share))))
    return scrolling(table(head, body, class_="prose"), "What the scores mean")


def facts(pairs: Mapping[str, str | None]) -> Html:
    """Names and what they are; what is None is left out."""
    told = ((name, value) for name, value in pairs.items() if value is not None)
    items = (el("div", el("dt", name), el("dd", value)) for name, value in told)
    return el("dl", *items, class_="facts")


def data_facts(data: Mapping[str, Any], source: str | None, digest: str | None) -> Html:
    """The data, and how many samples each class has."""
    features = [str(name) for name in data.get("features", ())]
    more = ["\N{HORIZONTAL ELLIPSIS}"] if features[FEW:] else []
    some = ", ".join([*features[:FEW], *more])
    n = _number(data, "n_features")
    about = {
        "file": source,
        "SHA-256": digest,
        "samples": _number(data, "n_samples"),
        "classes": _number(data, "n_classes"),
        "target": data.get("target"),
        "features": f"{n}: {some}" if n and some else n,
    }
    counts: Mapping[str, int] = data.get("classes", {})
    total = sum(counts.values()) or 1
    items = (
        el("li", el("b", name), f" {count} ", el("span", f"({percent(count / total)})"))
        for name, count in counts.items()
    )
    classes = el("ul", *items, class_="classes")
    return el("div", el("h3", "Data"), facts(about), classes)


def settings_facts(settings: Mapping[str, Any]) -> Html | None:
    """The settings that the sweep used."""
    asked = {criterion_of(str(c)) for c in settings.get("criteria", ())}
    used = {
        name: _setting(value)
        for name, value in settings.items()
        if not asked or name not in USED_BY or asked & {*USED_BY[name]}
    }
    return el("div", el("h3", "Settings"), facts(used)) if used else None


def _heading(column: str) -> Html:
    titled = column_of(column).text
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
    return "word" if column_of(column).kind is str else None


def _entry(row: Row, column: str) -> Html:
    shown = text(row, column)
    if column == "rank":
        return el("th", shown, scope="row")
    if column_of(column).role and state_of(row, column) == "inapplicable":
        return el("td", f"({shown})", class_="inapplicable")
    return el("td", shown, class_=_kind(column))


def _number(data: Mapping[str, Any], name: str) -> str | None:
    return str(data[name]) if name in data else None


def _setting(value: object) -> str | None:
    """A setting as it is typed; None where the kernel's own default counts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_setting(part)}" for name, part in value.items())
    if isinstance(value, tuple | list):
        numbers = tuple(v for v in value if isinstance(v, float))
        if value and len(numbers) == len(value):
            text = grid_text(numbers)
            return f"{text} ({len(value)} values)" if ":" in text else text
        return ", ".join(map(str, value))
    return None if value is None else str(value)
