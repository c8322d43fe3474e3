"""Markup that escapes: whatever is not markup already is text, and is quoted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

Attribute = str | int | float | bool | None
EMPTY = frozenset({"col", "input", "path", "circle", "line", "rect"})
_IN_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Html(str):
    """Text that is markup; only this module makes it from other text."""

    __slots__ = ()


def el(name: str, *children: str | None, **attributes: Attribute) -> Html:
    """An element; ``class_`` is class, ``aria_label`` is aria-label.

    An attribute that is True stands alone, one that is None or False is left out.
    """
    opening = "".join([name, *map(_attribute, attributes, attributes.values())])
    if name in EMPTY:
        return Html(f"<{opening}/>")
    return Html(f"<{opening}>{joined(children)}</{name}>")


def joined(parts: Iterable[str | None]) -> Html:
    """The parts one after the other, text among them quoted."""
    return Html("".join(map(_quoted, parts)))


def scrolling(table: Html, name: str, **attributes: str) -> Html:
    """A box of its own, which the keyboard can scroll."""
    return el(
        "div", table, class_="scroll", role="region", tabindex=0, aria_label=name,
        **attributes,
    )  # fmt: skip


def table(head: Html, body: Iterable[Html], caption: str = "", **looks: str) -> Html:
    """A table with its heading row; the caption stands ``above``, or is unseen."""
    about = el("caption", caption, class_=looks.pop("caption_")) if caption else None
    return el("table", about, el("thead", head), el("tbody", *body), **looks)


def script_data(value: Any, id: str) -> Html:
    """A value for a script to read, as JSON that cannot end its own element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    safe = text.translate(_IN_SCRIPT)
    return Html(f'<script type="application/json" id="{id}">{safe}</script>')


def trusted(text: str) -> Html:
    """Text of this package's own files, which is markup (or style, or script)."""
    return Html(text)


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:.5g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(text)}"'


def _quoted(part: str | None) -> str:
    if part is None:
        return ""
    return part if isinstance(part, Html) else escape(part)
