"""What a shell may complete an option's value to: the words that the catalogue has.

A user who presses TAB waits for it: nothing of numpy is imported here, and of a data
file only the first line is read.
"""

from __future__ import annotations

import csv
import io
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from msvm_select.names import CRITERIA
from msvm_select.settings.catalogue import COLUMN, FILE, Option

DELIMITERS = {"tab": "\t", "semicolon": ";", "comma": ","}
MOST_READ = 1 << 16  # characters of a file; a longer first line is cut

if TYPE_CHECKING:
    Item = CompletionItem[str]
else:  # generic since click 8.5
    Item = CompletionItem
Completer = Callable[[click.Context, str], list[Item]]


class Completed(click.ParamType):  # type: ignore[type-arg]  # generic since 8.5
    """Text, with what it may be completed to; silent where that cannot be found out."""

    name = "text"

    def __init__(self, completer: Completer) -> None:
        """``completer``: (context, what is typed so far) -> what it may become."""
        self.completer = completer

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Item]:
        """What the completer finds."""
        try:
            return self.completer(ctx, incomplete)
        except (OSError, ValueError, LookupError, TypeError, csv.Error):
            return []


def complete_params(params: Iterable[click.Parameter]) -> None:
    """Let the shell complete those whose values are known, of plain text."""
    for param in params:
        if param.name in COMPLETERS and param.type is click.STRING:
            param.type = Completed(COMPLETERS[param.name])


def completed(option: Option) -> click.ParamType | None:  # type: ignore[type-arg]
    """The type of the option's value, with what completes it; None where nothing."""
    if option.completes:
        return Completed({FILE: _file, COLUMN: _column}[option.completes])
    if not option.words:
        return None
    return Completed((_list_of if option.joins else _one_of)(option.words))


def _starting(incomplete: str, names: Iterable[str], before: str = "") -> list[Item]:
    return [Item(before + name) for name in names if name.startswith(incomplete)]


def _one_of(names: Iterable[str]) -> Completer:
    return lambda ctx, incomplete: _starting(incomplete, names)


def _list_of(names: Iterable[str]) -> Completer:
    """What follows the last comma, but for what stands before it."""

    def complete(ctx: click.Context, incomplete: str) -> list[Item]:
        before, comma, last = incomplete.rpartition(",")
        taken = {name.partition(":")[0] for name in before.split(",")}
        free = [name for name in names if name not in taken]
        return _starting(last, free, before + comma)

    return complete


def _file(ctx: click.Context, incomplete: str) -> list[Item]:
    """Any file: the shell itself knows how."""
    return [Item(incomplete, type="file")]


def _config(ctx: click.Context, incomplete: str) -> list[Item]:
    """TOML files, here and one folder further; any file where there are none."""
    start = escape(incomplete)
    found = {*glob(f"{start}*.toml"), *glob(f"{start}*/*.toml")}
    names = sorted(name for name in found if name.startswith(incomplete))
    return [Item(name) for name in names] or _file(ctx, incomplete)


def _rank_by(ctx: click.Context, incomplete: str) -> list[Item]:
    """The criteria that stand on the line, else all."""
    said = ",".join(ctx.params.get("criteria") or ())
    return _starting(incomplete, said.split(",") if said else CRITERIA)


def _by(ctx: click.Context, incomplete: str) -> list[Item]:
    """The criteria, and the columns of a file of results."""
    criteria = _starting(incomplete, CRITERIA)
    results = Path(_argument(ctx, "results") or _argument(ctx, "files") or "")
    if results.suffix not in (".csv", ".tsv"):
        return criteria
    return criteria + _starting(incomplete, _header(results, None, None))


def _column(ctx: click.Context, incomplete: str) -> list[Item]:
    """The names in the first line of DATA, or of the data that CONFIG names."""
    params = ctx.params
    named = (_argument(ctx, name) for name in ("data", "files"))
    data = next(filter(None, named), None) or _data_of(_argument(ctx, "config"))
    if data is None or params.get("no_header"):
        return []
    names = _header(Path(data), params.get("delimiter"), params.get("encoding"))
    return _starting(incomplete, names)


def _argument(ctx: click.Context, name: str) -> str | None:
    """An argument of the line so far.

    click gives it up where the line ends in an option without its value; it is then
    among what was left over.
    """
    value: Any = ctx.params.get(name)
    names = [p.name for p in ctx.command.params if isinstance(p, click.Argument)]
    if not value and name in names:
        value = ctx.args[names.index(name) :][:1]
    return value[-1] if value and not isinstance(value, str) else value or None


def _data_of(config: str | None) -> str | None:
    if config is None:
        return None
    path = Path(config)
    data = tomllib.loads(path.read_text(encoding="utf-8")).get("data")
    return str(path.parent / data) if isinstance(data, str) else None


def _header(path: Path, delimiter: str | None, encoding: str | None) -> list[str]:
    """The names in the first line that is not blank; a pipe is left alone."""
    if not os.path.isfile(path):
        return []
    with path.open(encoding=encoding or "utf-8-sig", newline="") as file:
        text = file.read(MOST_READ).lstrip()
    if delimiter is not None:
        marks = [DELIMITERS.get(delimiter, delimiter)]
    else:
        marks = list(DELIMITERS.values())
    rows = [next(_rows(text, mark), []) for mark in marks]
    return [name.strip() for name in max(rows, key=len) if name.strip()]


def _rows(text: str, mark: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True)


COMPLETERS: dict[str, Completer] = {
    "rank_by": _rank_by,
    "by": _by,
    "config": _config,
    **dict.fromkeys(("data", "results", "model", "output"), _file),
}
"""By the name of the parameter: arguments, and options that look at others."""
