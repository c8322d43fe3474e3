"""Let README.md and docs/ tell what the program does: ``python -m tests.write_docs``.

In a ``console`` block a line that begins with ``$ `` is a command, and what follows it
is what it printed, stdout and stderr, at 80 columns. A page's commands run in order, in
a folder of its own that has ``data/`` and ``configs/``. What was printed is written
into the page where it differs by more than rounding and time. ``docs/commands.md`` is
written whole, from the helps, the tables of ``docs/columns.md`` from ``columns.py``,
and the pictures are drawn again. With names of pages
(``README commands``) only those are renewed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from click.testing import CliRunner

from msvm_select.cli import cli
from msvm_select.columns import COLUMNS, EXTRA, column_of

HOUSE = Path(__file__).parent.parent
COMMANDS = HOUSE / "docs" / "commands.md"
OF_COLUMNS = HOUSE / "docs" / "columns.md"
CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
# How long things take is never told twice alike, nor what is only rounding.
SLOW = re.compile(r"^(Compiling .*|\d+ of \d+ cells\b.*)\n", flags=re.MULTILINE)
ROUNDING = re.compile(r"-?\b\d(\.\d+)?e[-+]\d+\b|(?<=Gram matrix )\S+|-?\b\d+\.\d{10,}")
TIME = re.compile(
    r"\b\d+(\.\d+)? (ms|s|min|h|%)(?!\w)|^(time|memory)  .*(\n {10}.*)*$", re.M
)
CODE = '; echo "exit $?"'
SHELL = re.compile(r"[|<>;&$*]")

PICTURES = {  # in docs/images, each with what is swept for it
    "iris.svg": "msvm-select run configs/iris.toml",
    "glass.svg": "awk 'NR == 1 || NR % 5' data/glass.csv > train.csv; "
    "msvm-select sweep train.csv --gamma 2^-11:2:7",
}
HEAD = """\
# Every command, every option

This page has the help of each command, as `--help` prints it, with examples first.
[The reference](reference.md#where-settings-come-from) says where else settings can come
from, and which of them wins.

"""


def pages() -> list[Path]:
    """The README, and all of docs/."""
    return [HOUSE / "README.md", *sorted((HOUSE / "docs").glob("*.md"))]


def furnish(folder: Path) -> None:
    """Put ``data/`` and ``configs/`` there, as they are in a clone."""
    for name in ("data", "configs"):
        shutil.copytree(HOUSE / name, folder / name)


def commands(block: str) -> list[tuple[str, str]]:
    """(command, what it printed), in the order of the block."""
    found = re.split(r"^\$ ((?:.*\\\n)*.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(found[::2], found[1::2], strict=True))


def printed(command: str) -> str:
    """What a command prints here and now."""
    own, ending, _ = command.partition(CODE)
    if (done := piped(own)) is None:
        return _printed_by_bash(command)
    text, code = done
    return text + (f"exit {code}\n" if ending else "")


def piped(line: str) -> tuple[str, int] | None:
    """What a line of programs joined by pipes prints, and its exit code.

    Ours run within this process. None where it takes more of a shell than that.
    """
    line, _, target = line.split(" #")[0].strip().partition(" > ")
    stages = line.split(" | ")
    ours = [stage for stage in stages if stage.startswith("msvm-select ")]
    odd = any(map(SHELL.search, (*ours, target)))
    if odd or not ours or any(stage.count("'") % 2 for stage in stages):
        return None
    said, text, code = "", b"", 0
    for stage in stages:
        if stage in ours:
            runner = CliRunner(env={"COLUMNS": "80", "GITHUB_STEP_SUMMARY": None})
            words = shlex.split(stage)[1:]
            done = runner.invoke(cli, words, input=text, catch_exceptions=False)
            last = stage is stages[-1] and not target
            said += "" if last else done.stderr
            text = done.output_bytes if last else done.stdout_bytes
            code = done.exit_code
        else:
            other = subprocess.run(
                ["bash", "-c", stage], input=text, capture_output=True
            )
            said += other.stderr.decode()
            text, code = other.stdout, other.returncode
    if target:
        Path(target).write_bytes(text)
        text = b""
    return said + text.decode(), code


def _printed_by_bash(command: str) -> str:
    """What a command prints that needs a shell."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    around = {k: v for k, v in os.environ.items() if k != "GITHUB_STEP_SUMMARY"}
    done = subprocess.run(
        ["bash", "-c", command],
        env={**around, "PATH": path, "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if "Traceback (most recent call last)" in done.stdout:
        raise RuntimeError(f"{command}: {done.stdout}")
    return done.stdout


def masked(text: str) -> list[str]:
    """The words of each line, with what may differ between two runs struck out."""
    text = TIME.sub("~", ROUNDING.sub("~", SLOW.sub("", text)))
    return [" ".join(line.split()) for line in text.strip("\n").splitlines()]


def renewed(page: str, run: Callable[[str], str] = printed) -> str:
    """The page with what its commands print now; no block changes by rounding only."""

    def again(block: re.Match[str]) -> str:
        shown = ""
        for command, before in commands(block[0]):
            now = SLOW.sub("", run(command))
            now = now if masked(now) != masked(before) else before
            shown += f"$ {command}\n{now}"
        return shown

    return CONSOLE.sub(again, page)


def helps() -> str:
    """All of docs/commands.md."""
    context = click.Context(cli, info_name="msvm-select")
    names = cli.list_commands(context)
    return HEAD + "\n".join(_help(*path) for path in ([], *([name] for name in names)))


def _help(*path: str) -> str:
    """A section: the help of one command."""
    title = " ".join(("msvm-select", *path))
    runner = CliRunner(env={"COLUMNS": "80", "GITHUB_STEP_SUMMARY": None})
    arguments = [*path, "--help"]
    text = runner.invoke(
        cli, arguments, prog_name="msvm-select", catch_exceptions=False
    ).output
    return f"## {title}\n\n```text\n{text}```\n"


def with_columns(page: str) -> str:
    """docs/columns.md with its tables as ``columns.py`` has them."""
    tables = iter((COLUMNS, EXTRA))
    table = re.compile(r"^\| column \|(?:.*\n)(?:\|.*\n)*", re.MULTILINE)
    return table.sub(lambda _: _table_of(next(tables)), page)


def _table_of(names: Sequence[str]) -> str:
    kinds = {int: "whole", float: "number", str: "text", bool: "yes or no"}
    lines = ["| column | type | meaning | empty |", "|---|---|---|---|"]
    for column in map(column_of, names):
        told = (f"`{column.name}`", kinds[column.kind], column.meaning, column.empty)
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines) + "\n"


def draw(folder: Path) -> None:
    """The pictures of the pages, as ``plot`` draws them."""
    for name, sweep in PICTURES.items():
        printed(f"{sweep} -o swept.json")
        printed(f"msvm-select plot swept.json -o {name}")
        shutil.copy(name, folder)


def main(names: Sequence[str]) -> None:
    """Renew the pages of these names, or all, in place; say which of them changed."""
    for page in pages():
        if page != COMMANDS and (not names or page.stem in names):
            before = page.read_text(encoding="utf-8")
            with TemporaryDirectory() as folder, chdir(folder):
                furnish(Path(folder))
                now = renewed(before)
                _write(page, before, with_columns(now) if page == OF_COLUMNS else now)
    if not names or COMMANDS.stem in names:
        before = COMMANDS.read_text(encoding="utf-8") if COMMANDS.exists() else ""
        _write(COMMANDS, before, helps())
    if not names:
        with TemporaryDirectory() as folder, chdir(folder):
            furnish(Path(folder))
            draw(HOUSE / "docs" / "images")


def _write(page: Path, before: str, now: str) -> None:
    if now != before:
        page.write_text(now, encoding="utf-8")
        print(f"changed: {page.relative_to(HOUSE)}")


if __name__ == "__main__":
    main(sys.argv[1:])
