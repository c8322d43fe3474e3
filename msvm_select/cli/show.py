"""``msvm-select show``: what is on offer, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from msvm_select.cli import EXIT_CODES

TOPICS = ("kernels", "solvers", "criteria", "formats", "exit-codes")


@click.command("show", short_help="List kernels, solvers, criteria, formats.")
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
        click.echo(f"{name:<{width}}  {summary}")


def _lines(topic: str) -> dict[str, str]:
    if topic == "kernels":
        from msvm_select.kernels import KERNELS

        return _summaries(KERNELS)
    if topic == "solvers":
        from msvm_select.solvers import SOLVERS

        return _summaries(SOLVERS)
    if topic == "criteria":
        from msvm_select.criteria import CRITERIA

        return _summaries(CRITERIA)
    if topic == "formats":
        from msvm_select.report.formats import SUMMARIES

        return dict(SUMMARIES)
    return {str(code): meaning for code, meaning in EXIT_CODES.items()}


def _summaries(classes: Mapping[str, Any]) -> dict[str, str]:
    return {name: kind.summary for name, kind in classes.items()}
