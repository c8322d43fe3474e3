"""The gates of a pipeline: each that is broken is a line on stderr, even in quiet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from msvm_select.results import notes

if TYPE_CHECKING:
    from msvm_select.results.ranking import Results

GATES = ("fail_above", "require_applicable", "require_converged")


def say_broken(results: Results, values: Mapping[str, Any]) -> bool:
    """Whether the results break a gate of ``values`` (settings by name); says which."""
    asked = {name: values[name] for name in GATES if values.get(name) is not None}
    sentences = notes.broken(results, **asked)
    for sentence in sentences:
        say_failed(sentence)
    return bool(sentences)


def say_failed(sentence: str) -> None:
    """Why a gate is broken."""
    click.echo(f"Gate failed: {sentence}", err=True)


def gated_exit_code(results: Results, values: Mapping[str, Any]) -> int:
    """4 where every cell failed, 1 for a broken gate, 5 where some cell is in trouble.

    In this order: without any cell there was nothing to judge; and who asks for a gate
    wants to know of it, whatever else is the matter.
    """
    failed = say_broken(results, values)
    if results.count("failed") == len(results.rows):
        return 4
    if failed:
        return 1
    return 5 if results.count("ok") < len(results.rows) else 0
