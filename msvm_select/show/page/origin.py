"""Where the rows come from: the data with their classes, and the settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msvm_select.show.page import tables
from msvm_select.show.page.command import grid_text
from msvm_select.show.page.markup import Html, el
from msvm_select.show.page.report import Report
from msvm_select.show.page.values import percent

FEW = 12  # features that are named at once
MORE = "\N{HORIZONTAL ELLIPSIS}"


def origin(report: Report) -> Html:
    """The data beside the settings."""
    asked = {n: _setting(value) for n, value in report.results.settings.items()}
    right = el("div", el("h3", "Settings"), tables.facts(asked)) if asked else None
    return el("div", _data(report), right, class_="beside")


def _data(report: Report) -> Html:
    data = report.results.data
    features = [str(name) for name in data.get("features", ())]
    some = ", ".join([*features[:FEW], *([MORE] if features[FEW:] else [])])
    n = _count(data, "n_features")
    about = {
        "file": report.source,
        "SHA-256": report.digest,
        "samples": _count(data, "n_samples"),
        "classes": _count(data, "n_classes"),
        "target": data.get("target"),
        "features": f"{n}: {some}" if n and some else n,
    }
    classes = _classes(data.get("classes", {}))
    return el("div", el("h3", "Data"), tables.facts(about), classes)


def _classes(counts: Mapping[str, int]) -> Html:
    """How many samples each class has."""
    total = sum(counts.values()) or 1
    items = (
        el("li", el("b", name), f" {n} ", el("span", f"({percent(n / total)})"))
        for name, n in counts.items()
    )
    return el("ul", *items, class_="classes")


def _count(data: Mapping[str, Any], name: str) -> str | None:
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
