"""A Report -> one page of HTML that needs nothing else, and loads nothing."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from string import Template

from msvm_select.show.page import heat, shading, tables
from msvm_select.show.page.markup import Html, el, joined, script_data, trusted
from msvm_select.show.page.report import Report
from msvm_select.show.page.sections import sections
from msvm_select.show.page.values import filled_columns, first_columns

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'"


def render(report: Report) -> str:
    """The whole page."""
    columns = filled_columns(report.results)
    found = dict(sections(report))
    script = _own("page.js")
    parts = {
        "policy": POLICY.format(_digest(script)),
        "title": joined([f"{report.name}: choice by {report.results.rank_by}"]),
        "style": trusted(_own("page.css") + shading.style()),
        "hidden": _hiding(columns, first_columns(report.results, columns)),
        "name": joined([report.name]),
        "contents": joined(el("a", t, href=f"#{_anchor(t)}") for t in found),
        "sections": joined(_section(*section) for section in found.items()),
        "versions": _versions(report),
        "data": _data(report, columns),
        "script": trusted(script),
    }
    return Template(_own("page.html")).substitute(parts)


def _data(report: Report, columns: list[str]) -> Html:
    """What the script works on, once."""
    data = {
        "columns": columns,
        "rows": tables.sortable(report.results, columns),
        "paintings": heat.paintings(report.results),
    }
    return script_data(data, "data")


def _digest(script: str) -> str:
    """By which the page's policy knows its only script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _own(name: str) -> str:
    return files("msvm_select.show.page").joinpath(name).read_text(encoding="utf-8")


def _section(title: str, content: Html) -> Html:
    anchor = _anchor(title)
    heading = el("h2", title, id=f"{anchor}-title")
    return el("section", heading, content, id=anchor, aria_labelledby=f"{anchor}-title")


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _versions(report: Report) -> Html:
    told = ", ".join(f"{n} {version}" for n, version in report.results.versions.items())
    return el("p", f"Made with {told}." if told else "Made with msvm-select.")


def _hiding(columns: list[str], shown: list[str]) -> Html:
    """The rule of style that the script replaces when columns are chosen."""
    hidden = [i + 1 for i, column in enumerate(columns) if column not in shown]
    if not hidden:
        return trusted("")
    places = ",".join(f"#cells tr>:nth-child({i})" for i in hidden)
    return trusted(f"{places}{{display:none}}")
