"""What README.md and docs/ tell is so: transcripts, options, links, tables."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from textwrap import dedent

import click
import pytest

from msvm_select.cli import EXIT_CODES, cli
from msvm_select.columns import TABLE
from msvm_select.names import FORMATS
from tests.conftest import run
from tests.write_docs import (
    COMMANDS,
    HOUSE,
    commands,
    helps,
    masked,
    pages,
    printed,
    with_columns,
)

PAGES = {page.stem: page.read_text(encoding="utf-8") for page in pages()}
WORKFLOW = HOUSE / "docs" / "workflow.yml"
RUN = re.compile(r"^```(console|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def code(page: str, language: str) -> list[str]:
    """The page's code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.DOTALL | re.M)


def cells(page: str, section: str) -> list[list[str]]:
    """The rows of the tables in a section, but for their heads."""
    part = page.partition(f"# {section}\n")[2].partition("\n#")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines()]
    return [row for row in rows if row[0].startswith("`") and len(row) > 1]


@pytest.mark.parametrize("name", [n for n, p in PAGES.items() if RUN.search(p)])
def test_what_a_page_shows_is_what_happens(name: str, clone: Path) -> None:
    """Its transcripts, line for line at 80 columns, but for rounding and time.

    What it shows in Python runs where it stands, beside the files of the transcripts.
    """
    for language, block in RUN.findall(PAGES[name]):
        for command, shown in commands(block) if language == "console" else ():
            assert masked(printed(command)) == masked(shown), command
        if language == "python" and name not in ("README", "development"):
            pytest.importorskip("sklearn")
            exec(block, {})


@pytest.mark.parametrize("name", [*PAGES, "workflow"])
def test_every_command_that_is_shown_can_be_parsed(name: str) -> None:
    """Its options and their number of values are those of the command."""
    page = WORKFLOW.read_text(encoding="utf-8") if name == "workflow" else PAGES[name]
    blocks = [page] if name == "workflow" else code(page, "sh")
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    for line in filter(re.compile(r"\s*(- run: )?msvm-select ").match, lines):
        shown = re.split(r" [|<>] ", line.partition("msvm-select ")[2])[0]
        parse(shlex.split(shown, comments=True))


def parse(arguments: list[str]) -> None:
    """As the command line would, without running it."""
    context = click.Context(cli, info_name="msvm-select", **cli.context_settings)
    command = cli.get_command(context, arguments[0])
    assert command is not None, arguments
    command.make_context(arguments[0], arguments[1:], parent=context)


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    """To a file that is there and, with #, to a heading in it."""
    page = next(page for page in pages() if page.stem == name)
    prose = without_code(PAGES[name])
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    for path, _, anchor in (target.partition("#") for target in targets):
        if path.startswith("http"):
            continue
        there = page.parent / path if path else page
        assert there.is_file(), path
        if anchor:
            assert anchor in anchors(there.read_text(encoding="utf-8")), (path, anchor)


def anchors(page: str) -> set[str]:
    """What GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", without_code(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}


def without_code(page: str) -> str:
    """The prose of a page."""
    return re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)


def test_the_pictures_are_small_and_stand_on_white() -> None:
    """So that they can be read on a dark page too."""
    for picture in (HOUSE / "docs" / "images").iterdir():
        text = picture.read_text(encoding="utf-8")
        assert len(text) < 100_000
        assert 'style="fill: #ffffff"' in text.partition('<g id="axes_1">')[0]


def test_every_page_can_be_found() -> None:
    """The README leads to each page of docs/, and to the workflow."""
    pages = {path.name for path in (HOUSE / "docs").iterdir() if path.is_file()}
    assert set(re.findall(r"\(docs/([\w.-]+)[)#]", PAGES["README"])) == pages


@pytest.mark.parametrize("name", PAGES)
def test_every_option_that_the_text_names_exists(name: str) -> None:
    """In some command; what is another program's is not written with dashes first."""
    context = click.Context(cli)
    known = {"--help", "--version"}
    for command in map(
        lambda n: cli.get_command(context, n), cli.list_commands(context)
    ):
        for parameter in command.params if command else ():
            known |= {*parameter.opts, *parameter.secondary_opts}
    assert set(re.findall(r"`(--[\w-]+)", without_code(PAGES[name]))) <= known


def test_the_helps_are_those_of_the_program() -> None:
    """``python -m tests.write_docs`` writes docs/commands.md anew."""
    written = COMMANDS.read_text(encoding="utf-8")
    assert written.split() == helps().split(), "run python -m tests.write_docs commands"


def test_every_exit_code_is_told() -> None:
    """As the program tells them, in its order."""
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", PAGES["ci"], flags=re.MULTILINE)
    assert {int(code): meaning for code, meaning in rows} == EXIT_CODES


def test_every_column_is_told() -> None:
    """As ``columns.py`` has it; ``python -m tests.write_docs columns`` writes them."""
    page = PAGES["columns"]
    assert page == with_columns(page), "run python -m tests.write_docs columns"
    assert all(page.count(f"\n| `{name}` |") == 1 for name in TABLE)
    assert all(re.search(rf"\b{name}\b", page) for name in FORMATS)


def test_the_bounds_are_as_far_off_as_is_told(clone: Path) -> None:
    """docs/bounds.md: L, B*, A, S2, the published value, support vectors, whether."""
    names = ("loo_errors", "radius_margin_count B*", "A", "S2", "radius_margin", "n_sv")
    part = PAGES["bounds"].partition("### How far off they are\n")[2]
    rows = re.findall(r"^\| (\w+) \| `(--.*?)` \| (.*) \|$", part, flags=re.M)
    assert len(rows) > 3
    for data, options, told in rows:
        line = f"bound data/{data}.csv {options} --format json -q".split()
        terms = json.loads(run(*line).stdout)["rows"]
        value = {row["term"]: row["value"] for row in terms}
        shown = ["-" if value[n] is None else f"{value[n]:.0f}" for n in names]
        holds = "yes" if value["radius_margin_applicable"] else "no"
        assert [*shown, holds] == told.split(" | ")


def test_the_workflow_runs(clone: Path) -> None:
    """Its commands as they stand, in their order, each with exit 0; but for pip's."""
    text = WORKFLOW.read_text(encoding="utf-8")
    steps = re.findall(r"^ +(?:- )?run: (\|\n(?: {10}.*\n)+|.*\n)", text, flags=re.M)
    shell = [dedent(step.removeprefix("|\n")) for step in steps if " pip " not in step]
    assert len(shell) == 5
    for step in shell:
        if "baseline" in step:
            shutil.copy("results/ranked.json", "baseline.json")
        for line in step.replace("\\\n", " ").splitlines():
            assert printed(f'{line}; echo "exit $?"').endswith("exit 0\n"), line
