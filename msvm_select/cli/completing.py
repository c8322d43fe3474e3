"""What a shell may complete a line to; the words of an option are in the catalogue.

A user who presses TAB waits for it: nothing of numpy is imported here, and of a data
file only the first line is read. The shells are click's, mended where names have
spaces, commas or colons; importing this module registers them with click.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable
from glob import escape, glob
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from msvm_select.names import CRITERIA, INPUT_ENDINGS, LESSONS, METRICS
from msvm_select.settings.catalogue import COLUMN, EVERY, FILE

DELIMITERS = {"tab": "\t", "semicolon": ";", "comma": ","}
MOST_READ = 1 << 16  # characters of a file; a longer first line is cut

if TYPE_CHECKING:
    Item = CompletionItem[str]
else:  # generic since click 8.5
    Item = CompletionItem


class Completed(click.Parameter):
    """A parameter whose plain value a shell completes, where it is known what to."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Item]:
        """Nothing where it cannot be found out."""
        if self.type is not click.STRING:
            return super().shell_complete(ctx, incomplete)
        try:
            return _suggested(self.name or "", ctx, incomplete)
        except (OSError, ValueError, LookupError, TypeError, csv.Error):
            return []


def _suggested(name: str, ctx: click.Context, incomplete: str) -> list[Item]:
    option = EVERY.get(name)
    if name in COMPLETERS:
        return COMPLETERS[name](ctx, incomplete)
    if option is None:
        return []
    if option.completes:
        return {FILE: _file, COLUMN: _column}[option.completes](ctx, incomplete)
    before, comma, last = incomplete.rpartition(",") if option.joins else ("", "", "")
    taken = {one.partition(":")[0] for one in before.split(",")}
    free = [word for word in option.words if word not in taken]
    return _starting(last if option.joins else incomplete, free, before + comma)


def _starting(incomplete: str, names: Iterable[str], before: str = "") -> list[Item]:
    return [Item(before + name) for name in names if name.startswith(incomplete)]


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
    """The criteria and the metrics that stand on the line, else all criteria."""
    asked = (ctx.params.get(name) or () for name in ("criteria", "metric"))
    said = ",".join(chain(*asked))
    return _starting(incomplete, said.split(",") if said else CRITERIA)


def _by(ctx: click.Context, incomplete: str) -> list[Item]:
    """The criteria, the metrics, and the columns of a file of results."""
    criteria = _starting(incomplete, (*CRITERIA, *METRICS))
    results = Path(_argument(ctx, "results") or _argument(ctx, "files") or "")
    if results.suffix not in (".csv", ".tsv"):
        return criteria
    return criteria + _starting(incomplete, _header(results, None, None))


def _topic(ctx: click.Context, incomplete: str) -> list[Item]:
    """Of ``teach``."""
    return _starting(incomplete, LESSONS)


COMPLETERS: dict[str, Callable[[click.Context, str], list[Item]]] = {
    "rank_by": _rank_by,
    "by": _by,
    "config": _config,
    "topic": _topic,
    **dict.fromkeys(("results", "model", "what"), _file),
}
"""By the name of the parameter: arguments, and options that look at others."""


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
    packed = path.suffix == ".gz"
    ending = path.with_suffix("").suffix if packed else path.suffix
    if not os.path.isfile(path) or INPUT_ENDINGS.get(ending, "csv") != "csv":
        return []
    opened = gzip.open if packed else open
    with opened(path, "rt", encoding=encoding or "utf-8-sig", newline="") as file:
        text = file.read(MOST_READ).lstrip()
    given = [DELIMITERS.get(delimiter, delimiter)] if delimiter is not None else []
    rows = [
        next(csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True), [])
        for mark in given or DELIMITERS.values()
    ]
    return [name.strip() for name in max(rows, key=len) if name.strip()]


class Quiet(ShellComplete):
    """A line without sense completes to nothing; ``--option=VALUE`` stays whole."""

    def get_completions(self, args: list[str], incomplete: str) -> list[Item]:
        """As click does it, but with ``--option=`` again before the value."""
        option, equals, _ = incomplete.partition("=")
        before = option + equals if equals and option.startswith("-") else ""
        try:
            found = super().get_completions(args, incomplete)
        except click.ClickException:
            return []
        for item in found:
            item.value = before + item.value
        return found


@add_completion_class
class Bash(Quiet, BashComplete):
    """Bash cuts words at ``:`` and ``=`` too, and does not quote what it inserts."""

    source_template = """\
%(complete_func)s() {
    local type value
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(env COMP_WORDS="${COMP_LINE:0:COMP_POINT}" \
%(complete_var)s=bash_complete "$1" 2>/dev/null)
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words of the line up to the cursor."""
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)
        self.quote = _open_quote(line)
        ended = not self.quote and re.search(r"(^|[^\\])\s$", line)
        return (words[1:], "") if ended else (words[1:-1], words[-1])

    def get_completions(self, args: list[str], incomplete: str) -> list[Item]:
        """The end of each value that bash takes for a word of its own, quoted."""
        found = super().get_completions(args, incomplete)
        cut = 0 if self.quote else max(map(incomplete.rfind, ":=")) + 1
        for item in found:
            if item.type == "plain":
                item.value = _quoted(item.value[cut:], self.quote)
        return found


@add_completion_class
class Zsh(Quiet, ZshComplete):
    """zsh quotes what it inserts."""


@add_completion_class
class Fish(Quiet, FishComplete):
    """fish quotes what it inserts; its values may have commas."""

    source_template = FishComplete.source_template.replace(
        'string split ","', 'string split --max 1 ","'
    )


SHELLS: dict[str, type[Any]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def _open_quote(line: str) -> str:
    """The quote that the line ends within, or nothing."""
    line = line.rstrip("\\")
    for quote in ("", '"', "'"):
        try:
            shlex.split(line + quote)
        except ValueError:
            continue
        return quote
    return ""


def _quoted(value: str, quote: str) -> str:
    """As it must stand on the line, within the quote that is open."""
    if quote == '"':
        return re.sub(r'(["\\$`])', r"\\\1", value)
    return value if quote else re.sub(r"([^\w@%+=:,./~-])", r"\\\1", value)
