"""Help: examples first, within 80 columns, at once, and true."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from msvm_select.cli import COMMANDS, EXIT_CODES, cli
from msvm_select.cli.options import Command, Headed
from msvm_select.names import CRITERIA, FORMATS, KERNELS, LOSSES, MACHINES, SOLVERS
from msvm_select.settings.catalogue import HEADINGS, REST
from msvm_select.sweep import plan

HOUSE = Path(__file__).parents[2]
EVERY = cli.list_commands(None)  # type: ignore[arg-type]
SHORTER = {
    "experiment": {"--per-class": "40", "--sets": "1"},
    "compare": {"--C": "1,8"},
}
THINNED = ("--per-class 100 |", "--per-class 20 |")
EXAMPLE = re.compile(r"^ +((?:cat|tail|head|msvm-select) .*)$", flags=re.MULTILINE)
MAY_FAIL = ("--fail-above", "--against", "--require")  # a gate that is broken is exit 1
HEAVY = {"numpy", "scipy", "numba", "pandas", "rich", "matplotlib", "qpsolvers", "osqp"}


def run(*arguments: str, given: bytes = b"") -> Result:
    """The command in this process, 80 columns wide."""
    extra = {"input": given, "env": {"COLUMNS": "80"}, "prog_name": "msvm-select"}
    return CliRunner().invoke(cli, list(arguments), **extra)


def command(name: str) -> click.Command:
    """The command of that name."""
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def examples(name: str) -> list[str]:
    """The lines to copy of a command's help, or of the group's."""
    lines = EXAMPLE.findall(run(*([name] if name else []), "--help").stdout)
    return [re.split(r"  +", line)[0] for line in lines]


LINES = {line for name in ("", *EVERY) for line in examples(name)}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every fifth line of the data, the configs, and what earlier commands left."""
    folder = tmp_path_factory.mktemp("stage")
    shutil.copytree(HOUSE / "configs", folder / "configs")
    (folder / "data").mkdir()
    for path in (HOUSE / "data").glob("*.csv"):
        head, *rows = path.read_text().splitlines(keepends=True)
        (folder / "data" / path.name).write_text("".join([head, *rows[::5]]))
    iris = folder / "data" / "iris.csv"
    shutil.copy(iris, folder / "new.csv")
    rows = (line.split(",") for line in iris.read_text().splitlines())
    two = [",".join([row[2], row[3], row[4]]) for row in rows]
    (folder / "two.csv").write_text("\n".join(two) + "\n")
    before = Path.cwd()
    os.chdir(folder)
    try:
        leave_results()
    finally:
        os.chdir(before)
    return folder


def leave_results() -> None:
    """The files that examples begin with."""
    grid = ("--C", "0.5,1,2,4", "--gamma", "0.125,0.5,2", "--criteria")
    for name in ("ranked.csv", "ranked.json", "today.csv", "yesterday.csv"):
        swept = run("sweep", "data/iris.csv", *grid, "loo,sv-rate,cv:3", "-o", name)
        assert swept.exit_code == 0
    for part in ("1", "2"):
        line = ("--shard", f"{part}/2", "--journal", f"part{part}.ndjson")
        assert run("sweep", "data/iris.csv", *grid, "loo", *line).exit_code == 0
    for name in ("iris.json", "iris.npz"):
        assert run("fit", "data/iris.csv", "--probabilities", "-o", name).exit_code == 0
    assert run("fit", "two.csv", "-o", "two.json").exit_code == 0
    leave_sequences()


def leave_sequences() -> None:
    """Proteins, a table of their classes, and a state for each residue."""
    made = run("generate", "proteins", "--per-class", "3", "-o", "proteins.fasta")
    assert made.exit_code == 0
    lines = Path("proteins.fasta").read_text().splitlines()
    names = [line[1:].split()[0] for line in lines if line.startswith(">")]
    Path("classes.csv").write_text("".join(f"{n},{n[:2]}\n" for n in names))
    states = [line if line.startswith(">") else "h" * len(line) for line in lines]
    Path("states.fasta").write_text("\n".join(states))


@pytest.fixture
def scene(stage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the stage to work in, which is home too."""
    shutil.copytree(stage, tmp_path / "scene")
    monkeypatch.chdir(tmp_path / "scene")
    monkeypatch.setenv("HOME", str(tmp_path / "scene"))
    monkeypatch.setattr(plan, "WORK", 0.2)  # of --dry-run
    for name in os.environ:
        if name.startswith("MSVM_SELECT_"):
            monkeypatch.delenv(name)
    return tmp_path / "scene"


@pytest.mark.parametrize("line", sorted(LINES))
def test_every_example_runs(scene: Path, line: str) -> None:
    """As it stands, pipes and all, with exit 0 (1 where a gate may be broken)."""
    line, _, target = line.replace(*THINNED).partition(" > ")
    text = b""
    for stage in line.split(" | "):
        program, *rest = shlex.split(stage)
        if program == "msvm-select":
            more = {k: v for k, v in SHORTER.get(rest[0], {}).items() if k not in rest}
            result = run(*rest, *chain(*more.items()), given=text)
            broken_gate = result.exit_code == 1 and any(g in stage for g in MAY_FAIL)
            assert result.exit_code == 0 or broken_gate, result.output
            text = result.stdout_bytes
        else:
            text = subprocess.run([program, *rest], capture_output=True).stdout
    made = {path for path in scene.iterdir() if not (HOUSE / path.name).exists()}
    if target:
        path = Path(target).expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    assert text or " -o " in line or made


@pytest.mark.parametrize("name", ["", *EVERY])
def test_examples_come_first(name: str) -> None:
    """After usage and one line; two examples or more, before details and options."""
    lines = run(*([name] if name else []), "--help").stdout.splitlines()
    assert lines[0].startswith(f"Usage: msvm-select {name}".strip())
    assert lines[1:4:2] == ["", ""]
    assert lines[2].endswith(".")
    assert EXAMPLE.match(lines[4])
    assert len(examples(name)) >= 2


@pytest.mark.parametrize("name", ["", *EVERY])
def test_help_fits_the_terminal(name: str) -> None:
    """80 columns, and no short help is cut off."""
    text = run(*([name] if name else []), "--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"\.\.\.$", text.partition("Commands:")[2], re.MULTILINE)


@pytest.mark.parametrize("name", EVERY)
def test_options_stand_under_headings(name: str) -> None:
    """Every command sorts its options; every option of a sweep has a heading."""
    found = command(name)
    assert isinstance(found, Command)
    text = run(name, "--help").stdout
    headings = re.findall(r"^(\w.*):$", text, re.MULTILINE)
    assert headings[-1] == REST
    if name in ("sweep", "run"):
        assert text.partition("\nOptions:\n")[2].split()[0] == "--debug"
        assert {"Kernel and C", "Training", "Scores", "Data", "Output"} <= set(headings)


def test_headings_name_what_there_is() -> None:
    """Every heading has an option, and every option of a sweep a heading."""
    there = [p for name in EVERY for p in command(name).params]
    used = {param.heading for param in there if isinstance(param, Headed)}
    assert used <= set(HEADINGS)
    assert used | {REST} == set(HEADINGS)


@pytest.mark.parametrize("name", EVERY)
def test_every_option_has_its_help(name: str) -> None:
    """And every placeholder a name of its own, where it is not a number."""
    for param in command(name).params:
        if isinstance(param, click.Option):
            assert param.help, param.name
            assert param.help.endswith("."), param.name


def test_no_help_loads_anything_heavy() -> None:
    """So that it answers at once: that of each command, and --version."""
    code = (
        "import sys\nfrom msvm_select.cli import cli\n"
        f"for line in (['--help'], ['--version'], *([n, '--help'] for n in {EVERY})):\n"
        "    cli(line, standalone_mode=False)\n"
        f"print(sorted({HEAVY} & set(sys.modules)))"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_is_a_command_too() -> None:
    """``help sweep`` is ``sweep --help``; an unknown name has a near one."""
    assert run("help", "sweep").stdout == run("sweep", "--help").stdout
    assert run("help").stdout == run("--help").stdout
    wrong = run("help", "swep")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "did you mean 'sweep'" in wrong.stderr


def test_alone_it_shows_the_help_and_fails() -> None:
    """A script that lost its command must not go on as if all were well."""
    alone = run()
    assert (alone.exit_code, alone.stdout) == (2, "")
    assert "Commands:" in alone.stderr


def test_a_wrong_option_has_a_near_one() -> None:
    """``--kernal`` may mean ``--kernel``."""
    wrong = run("sweep", "data/iris.csv", "--kernal", "rbf")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert re.search("Did you mean .*'--kernel'", wrong.stderr)


def test_all_commands_are_listed() -> None:
    """Nothing is hidden."""
    text = run("--help").stdout.partition("Commands:")[2]
    assert [line.split()[0] for line in text.splitlines() if line] == list(COMMANDS)


def test_the_version_comes_first_and_its_ground_below() -> None:
    """The first line is for scripts; the others for whoever reports a mistake."""
    lines = run("--version").stdout.splitlines()
    assert lines[0] == f"msvm-select {version('msvm-select')}"
    assert lines[1].startswith("Python 3.")
    told = dict(line.split(" ", 1) for line in lines)
    for package in ("numpy", "scipy", "numba", "osqp", "qpsolvers", "click", "rich"):
        assert told[package] == version(package)
    assert "platform" in told


@pytest.mark.parametrize(
    ("topic", "names", "facts"),
    [
        ("kernels", KERNELS, {"parameters"}),
        ("machines", MACHINES, set()),
        ("losses", LOSSES, set()),
        ("solvers", SOLVERS, {"default_gap"}),
        ("criteria", CRITERIA, {"column", "kind", "applies", "cost", "losses"}),
        ("formats", FORMATS, {"endings"}),
        ("exit-codes", map(str, EXIT_CODES), set()),
    ],
)
def test_show_speaks_to_programs(topic: str, names: object, facts: set[str]) -> None:
    """The same names as the table, each with its facts by name."""
    shown = json.loads(run("show", topic, "--format", "json").stdout)
    assert [one["name"] for one in shown] == list(names)  # type: ignore[call-overload]
    assert all(set(one) == {"name", "summary"} | facts for one in shown)
    table = run("show", topic).stdout.splitlines()
    assert max(map(len, table)) <= 80
    assert {line.split()[0] for line in table if line[0] != " "} >= {
        one["name"] for one in shown
    }


@pytest.mark.parametrize("name", ["sweep", "rank", "loo", "bound", "compare", "teach"])
def test_junit_is_offered_where_there_are_gates(name: str) -> None:
    """As far as ``--format`` takes it; loo has one gate, and no cells."""
    text = " ".join(run(name, "--help").stdout.split())
    assert ("junit" in text) == (name in ("sweep", "rank"))
    assert "parquet. Default: by the ending" in text
