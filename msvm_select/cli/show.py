"""``msvm-select show``: what is on offer; ``help``: what a command takes.

``completion`` has the script that lets a shell complete the line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import chain
from textwrap import wrap
from typing import Any

import click

from msvm_select.cli import COMMANDS, COMPLETE_VARIABLE, EXIT_CODES, PROGRAM, cli
from msvm_select.cli.completing import SHELLS
from msvm_select.cli.options import Command, OneOf, takes
from msvm_select.criteria import base as criteria
from msvm_select.names import (
    CRITERIA,
    ENDINGS,
    FORMATS,
    INPUT_ENDINGS,
    INPUT_FORMATS,
    KERNELS,
    LOSSES,
    MACHINES,
    METRICS,
    SOLVERS,
)

WIDTH = 80
Facts = dict[str, Any]


def _kernels() -> dict[str, Facts]:
    return {
        name: {
            "summary": KERNELS.summary(name),
            "parameters": [f.name for f in fields(kind)],
        }
        for name, kind in KERNELS.items()
    }


def _machines() -> dict[str, Facts]:
    return {name: {"summary": MACHINES.summary(name)} for name in MACHINES}


def _losses() -> dict[str, Facts]:
    return {name: {"summary": LOSSES.summary(name)} for name in LOSSES}


def _solvers() -> dict[str, Facts]:
    return {
        name: {"summary": SOLVERS.summary(name), "default_gap": kind.default_gap}
        for name, kind in SOLVERS.items()
    }


def _criteria() -> dict[str, Facts]:
    told = ("column", "kind", "applies", "cost")
    return {
        name: {
            "summary": CRITERIA.summary(name),
            **{fact: getattr(kind, fact) for fact in told},
            "losses": list(kind.losses),
        }
        for name, kind in CRITERIA.items()
    }


def _metrics() -> dict[str, Facts]:
    return {
        name: {"summary": METRICS.summary(name), "column": kind.column or None}
        for name, kind in METRICS.items()
    }


def _formats() -> dict[str, Facts]:
    return _with_endings(FORMATS, ENDINGS)


def _input_formats() -> dict[str, Facts]:
    return _with_endings(INPUT_FORMATS, INPUT_ENDINGS)


def _with_endings(
    formats: Mapping[str, str], endings: Mapping[str, str]
) -> dict[str, Facts]:
    return {
        name: {
            "summary": summary,
            "endings": [end for end, format in endings.items() if format == name],
        }
        for name, summary in formats.items()
    }


def _exit_codes() -> dict[str, Facts]:
    return {str(code): {"summary": meaning} for code, meaning in EXIT_CODES.items()}


TOPICS: dict[str, Callable[[], dict[str, Facts]]] = {
    "kernels": _kernels,
    "machines": _machines,
    "losses": _losses,
    "solvers": _solvers,
    "criteria": _criteria,
    "metrics": _metrics,
    "formats": _formats,
    "input-formats": _input_formats,
    "exit-codes": _exit_codes,
}


@click.command("show", cls=Command)
@click.argument("topic", metavar="TOPIC", type=OneOf(list(TOPICS)))
@takes("form")
def command(topic: str, form: str) -> None:
    """List what you can choose: kernels, machines, solvers, criteria, metrics ...

    \b
    msvm-select show kernels
    msvm-select show criteria
    msvm-select show exit-codes --format json

    For a criterion it also says whether its number is exact, a bound, an estimate or an
    index to rank by, when it applies, and what it costs on top of the training.
    """
    entries = TOPICS[topic]()
    if form == "json":
        whole = [{"name": name, **facts} for name, facts in entries.items()]
        click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
        return
    lines = {name: _lines(facts) for name, facts in entries.items()}
    if topic == "criteria":
        lines |= {f"({kind})": [meaning] for kind, meaning in criteria.KINDS.items()}
    width = max(map(len, lines))
    for name, paragraphs in lines.items():
        wrapped = (wrap(text, WIDTH - width - 2) for text in paragraphs)
        for line in chain.from_iterable(wrapped):
            click.echo(f"{name:<{width}}  {line}")
            name = ""


def _lines(facts: Facts) -> list[str]:
    """The summary, and for a criterion what must be known of it."""
    if "kind" not in facts:
        return [facts["summary"]]
    told = f"{facts['kind']}; {facts['applies']}; costs {facts['cost']}"
    return [facts["summary"], told]


@click.command("help", cls=Command)
@click.argument(
    "name",
    metavar="[COMMAND]",
    required=False,
    shell_complete=lambda ctx, argument, start: [
        name for name in COMMANDS if name.startswith(start)
    ],
)
@click.pass_context
def show_help(context: click.Context, name: str | None) -> None:
    """Print the help of a command, or of the whole program.

    \b
    msvm-select help
    msvm-select help sweep
    """
    line = ["--help"] if name is None else [name, "--help"]
    root = context.find_root()
    cli.main(line, prog_name=root.info_name, standalone_mode=False)


@click.command("completion", cls=Command)
@click.argument("shell", metavar="bash|zsh|fish", type=OneOf(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete commands when you press Tab.

    \b
    msvm-select completion bash > ~/.msvm-select.bash
    msvm-select completion zsh > ~/.msvm-select.zsh
    msvm-select completion fish > ~/.config/fish/completions/msvm-select.fish

    \b
    Then, once:
      bash  echo 'source ~/.msvm-select.bash' >> ~/.bashrc
      zsh   echo 'source ~/.msvm-select.zsh' >> ~/.zshrc, below its compinit
      fish  nothing: it looks there by itself

    It completes commands, options, files and the values of options: kernels, solvers,
    formats, criteria (in lists too: --criteria loo,rad), configs of `run`, and for
    --target, --id-column and --one-hot the columns of the DATA that stands before them.
    """
    source = SHELLS[shell](cli, {}, PROGRAM, COMPLETE_VARIABLE).source()
    click.echo(source, nl=False)
