"""``msvm-select show``: what is on offer, one line each, more for a criterion."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from textwrap import wrap
from typing import Any

import click

from msvm_select.cli import EXIT_CODES
from msvm_select.cli.headings import Command

WIDTH = 88
TOPICS = ("kernels", "solvers", "criteria", "formats", "exit-codes")


@click.command(
    "show", cls=Command, short_help="List kernels, solvers, criteria, formats."
)
@click.argument("topic", metavar="TOPIC", type=click.Choice(TOPICS))
def command(topic: str) -> None:
    """List what is on offer: kernels, solvers, criteria, formats or exit-codes.

    \b
    msvm-select show kernels
    msvm-select show criteria
    """
    lines = _lines(topic)
    width = max(map(len, lines))
    for name, summary in lines.items():
        lines_of = [wrap(line, WIDTH - width - 2) for line in summary.splitlines()]
        for line in chain.from_iterable(lines_of):
            click.echo(f"{name:<{width}}  {line}")
            name = ""


def _lines(topic: str) -> dict[str, str]:
    if topic == "kernels":
        from msvm_select.kernels import KERNELS

        return _summaries(KERNELS)
    if topic == "solvers":
        from msvm_select.solvers import SOLVERS

        return _summaries(SOLVERS)
    if topic == "criteria":
        from msvm_select.criteria import CRITERIA
        from msvm_select.criteria.base import KINDS

        facts = {
            name: f"{kind.summary}\n{kind.kind}; {kind.applies}; costs {kind.cost}"
            for name, kind in CRITERIA.items()
        }
        return facts | {f"({kind})": meaning for kind, meaning in KINDS.items()}
    if topic == "formats":
        from msvm_select.report.formats import SUMMARIES

        return dict(SUMMARIES)
    return {str(code): meaning for code, meaning in EXIT_CODES.items()}


def _summaries(classes: Mapping[str, Any]) -> dict[str, str]:
    return {name: kind.summary for name, kind in classes.items()}
