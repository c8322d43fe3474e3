"""The commands as a user meets them: what comes out, where, with which exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from msvm_select.cli import EXIT_CODES, cli, main
from msvm_select.columns import COLUMNS
from msvm_select.names import CRITERIA, FORMATS, KERNELS, SOLVERS
from msvm_select.records import Dual
from msvm_select.settings.catalogue import DEFAULT_CRITERION
from msvm_select.settings.config import load_config
from msvm_select.solution import Solution
from msvm_select.solvers.qp import Qp
from tests.conftest import IRIS, rows_of, run

GRID = ("--C", "0.1,1", "--gamma", "0.1,1")
PROGRAM = (sys.executable, "-m", "msvm_select")


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colour wishes of whoever runs the tests; what compiles nothing and is fast."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MSVM_SELECT_SOLVER", "qp")
    monkeypatch.setenv("MSVM_SELECT_CRITERIA", "sv-rate")


def start(*arguments: object, **extra: Any) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **extra,
    )


def test_a_sweep_puts_data_on_stdout_and_talk_on_stderr(small: Path) -> None:
    """The table out, the sizes first on stderr, no word of sound Gram matrices, 0."""
    result = run("sweep", small, *GRID)
    assert result.exit_code == 0
    assert result.stdout.startswith("rank")
    assert "cells: " not in result.stdout
    first, *others = result.stderr.splitlines()
    assert first == (
        "small: 30 samples, 4 features, 3 classes; cells: 4 (kernels: 2, C: 2)"
    )
    assert "eigenvalue" not in result.stderr


def test_quiet_says_nothing(small: Path) -> None:
    """Not a word on stderr."""
    assert run("sweep", small, *GRID, "--quiet").stderr == ""


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_asked_for(small: Path, name: str) -> None:
    """On stdout, with four rows."""
    result = run("sweep", small, *GRID, "--format", name)
    assert result.exit_code == 0
    assert result.stdout.count("rbf") >= (4 if name != "table" else 1)


def test_the_ending_of_the_file_tells_the_format(small: Path, tmp_path: Path) -> None:
    """Nothing on stdout; the file is whole; --format wins over the ending."""
    out = tmp_path / "ranked.json"
    result = run("sweep", small, *GRID, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"Written: {out}" in result.stderr
    document = json.loads(out.read_text())
    assert document["schema_version"] == 1
    assert document["settings"]["solver"] == "qp"
    assert [row["rank"] for row in document["rows"]] == [1, 2, 3, 4]
    run("sweep", small, *GRID, "-o", out, "--format", "csv")
    assert out.read_text().startswith(",".join(COLUMNS))


def test_top_keeps_the_best(small: Path) -> None:
    """The first N rows of all, and of a file it is said."""
    whole = rows_of(run("sweep", small, *GRID, "--format", "csv").stdout)
    best = rows_of(run("sweep", small, *GRID, "--format", "csv", "--top", 2).stdout)
    said = run("sweep", small, *GRID, "-o", small.parent / "two.csv", "--top", 2).stderr
    assert f"two.csv (the best 2 of {len(whole)} rows)" in said
    assert [r["sv_rate"] for r in best] == [r["sv_rate"] for r in whole[:2]]


def test_data_may_come_from_stdin(small: Path) -> None:
    """``-`` reads it."""
    result = run("sweep", "-", "--C", 1, "--format", "csv", input=small.read_bytes())
    assert rows_of(result.stdout)[0]["n_samples"] == "30"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("swep",), 2, "did you mean 'sweep'"),
        (("sweep", IRIS, "--kernal", "rbf"), 2, "--kernel"),
        (("sweep", IRIS, "--kernel", "rfb"), 2, "did you mean 'rbf'"),
        (("sweep", IRIS, "--C", "0"), 2, "greater than 0"),
        (("sweep", IRIS, "--format", "jsn"), 2, "did you mean 'json'"),
        (("sweep", IRIS, "-o", "x.xlsx"), 2, "stands for no format"),
        (("sweep", IRIS, "-o", "no/x.csv"), 2, "there is no folder"),
        (("sweep", IRIS.with_name("irs.csv")), 3, "iris.csv"),
        (("sweep", IRIS, "--target", "clas"), 3, "did you mean 'class'"),
        (("sweep", IRIS, "--kernel", "precomputed"), 3, "as many columns"),
        (("run", "nothing.toml"), 2, "nothing.toml"),
        (("rank", "nothing.csv", "--by", "gap"), 3, "nothing.csv"),
        (("show", "kernel"), 2, "did you mean 'kernels'?"),
    ],
)
def test_a_mistake_is_a_message_and_an_exit_code(
    arguments: tuple[object, ...], code: int, said: str
) -> None:
    """2 for the line, 3 for the data; on stderr, nothing on stdout, no traceback."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_the_traceback(place: str) -> None:
    """Before the command or after it; the exit code stays."""
    line = ["sweep", "nothing.csv"]
    result = run(*(["--debug", *line] if place == "before" else [*line, "--debug"]))
    assert result.exit_code == 3
    assert "Traceback" in result.stderr


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_a_fault_of_the_program_is_one_line(debug: list[str]) -> None:
    """An error that nobody foresaw is exit 1, and a traceback with --debug only."""
    script = (
        "import sys; from msvm_select import cli; cli.Group.invoke = lambda *_: 1 / 0; "
        "sys.argv[1:] = ['show', 'kernels', *sys.argv[1:]]; cli.main()"
    )
    line = [sys.executable, "-c", script, *debug]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert ("Traceback" in done.stderr) == bool(debug)
    assert debug or len(done.stderr.splitlines()) == 1


def test_failed_cells_give_5_and_only_failed_ones_4(small: Path) -> None:
    """The results are written all the same."""
    sigmoid = ("--kernel", "sigmoid", "--gamma", "scale", "--coef0", 1, "--C", 1)
    sigmoid = (*sigmoid, "--format", "csv")
    alone = run("sweep", small, *sigmoid)
    assert alone.exit_code == 4
    assert rows_of(alone.stdout)[0]["status"] == "failed"
    beside = run("sweep", small, *sigmoid, "--kernel", "linear")
    assert beside.exit_code == 5
    assert [r["status"] for r in rows_of(beside.stdout)] == ["ok", "failed"]
    assert "of 2 cells 1 failed" in beside.stderr
    assert "indefinite" in beside.stderr


def test_a_best_value_on_the_edge_is_warned_about(small: Path) -> None:
    """With the option that looks beyond it."""
    result = run("sweep", small, "--C", "0.1,1", "--gamma", 1)
    assert "Warning: The best C = 1 is the largest" in result.stderr
    assert "--C 0.1:100:4" in result.stderr


def test_the_line_wins_over_the_environment_and_that_over_the_file(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Option, environment, file, default: in this order."""
    config = small.with_name("x.toml")
    config.write_text('data = "small.csv"\nC = [1, 2]\ngamma = 3\nseed = 4\njobs = 2\n')
    monkeypatch.setenv("MSVM_SELECT_C", "5,6")
    monkeypatch.setenv("MSVM_SELECT_GAMMA", "7")
    monkeypatch.setenv("MSVM_SELECT_KERNEL", "rbf,polynomial")
    monkeypatch.setenv("MSVM_SELECT_WARM_START", "no")
    result = run("run", config, "--C", "8", "--no-allow-indefinite", "--show-config")
    shown = small.with_name("shown.toml")
    shown.write_text(result.stdout)
    values = load_config(shown).values
    assert values["C"] == [8.0]
    assert values["gamma"] == [7.0]
    assert (values["seed"], values["jobs"]) == (4, 2)
    assert values["kernel"] == ["rbf", "polynomial"]
    assert (values["scale"], values["warm_start"]) == ("standard", False)


def test_what_show_config_prints_runs_the_same(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From another folder too."""
    monkeypatch.delenv("MSVM_SELECT_CRITERIA")  # it would win over the file
    line = ("sweep", small, *GRID, "--rank-by", "cv:3", "--target", "class")
    config = small.parent / "sub" / "x.toml"
    config.parent.mkdir()
    config.write_text(run(*line, "--show-config").stdout)
    direct, again = (
        rows_of(run(*arguments, "--format", "csv").stdout)
        for arguments in (line, ("run", config))
    )
    for row in direct + again:
        row["seconds"] = ""
    assert len(direct) == 4
    assert direct == again


def test_run_takes_other_data(small: Path) -> None:
    """And says so when there are none."""
    config = small.with_name("x.toml")
    config.write_text("C = 1\n")
    assert "names no data" in run("run", config).stderr
    assert run("run", config, "--data", small).exit_code == 0


def test_results_are_ranked_again(small: Path, tmp_path: Path) -> None:
    """By another column, into another format, with the same values."""
    out = tmp_path / "ranked.csv"
    run("sweep", small, *GRID, "--criteria", "sv-rate,cv:3", "-o", out)
    again = run("rank", out, "--by", "cv", "--format", "csv")
    assert again.exit_code == 0
    found = [float(r["cv_error"]) for r in rows_of(again.stdout)]
    assert found == sorted(found)
    same = run("rank", out, "--by", "sv-rate", "--format", "csv")
    assert same.stdout == out.read_text()
    refused = run("rank", out, "--by", "holdout")
    assert (refused.exit_code, refused.stdout) == (2, "")


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "ndjson"])
def test_results_are_ranked_from_a_pipe(small: Path, format: str) -> None:
    """``sweep .. | rank -``: the format is told by the text itself."""
    swept = run("sweep", small, *GRID, "--format", format).stdout
    again = run("rank", "-", "--by", "sv-rate", "--format", format, input=swept)
    assert again.exit_code == 0
    assert again.stdout == swept


def test_the_blas_has_one_thread_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Set before numpy is loaded; what the user has set counts."""
    monkeypatch.setattr(sys, "argv", ["msvm-select", "--version"])
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.setenv("MKL_NUM_THREADS", "4")
    with pytest.raises(SystemExit):
        main()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert os.environ["MKL_NUM_THREADS"] == "4"


@pytest.mark.parametrize(
    ("topic", "names"),
    [("kernels", KERNELS), ("formats", FORMATS), ("exit-codes", map(str, EXIT_CODES))],
)
def test_show_lists_what_is_on_offer(topic: str, names: Any) -> None:
    """One line each, name first."""
    lines = run("show", topic).stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(names)


def test_the_help_of_sweep_names_what_is_on_offer() -> None:
    """Every kernel, solver, criterion and format, and no other criterion as default."""
    text = " ".join(run("sweep", "--help").stdout.split())
    for name in (*KERNELS, *SOLVERS, *CRITERIA, *FORMATS):
        assert re.search(rf"\b{name}\b", text), name
    assert f"{DEFAULT_CRITERION} (default)" in text


def test_only_commands_that_exist_are_listed() -> None:
    """Each in the help can be asked for its own."""
    listed = cli.list_commands(None)  # type: ignore[arg-type]
    assert {"sweep", "run", "rank", "show", "check"} <= set(listed)
    for name in listed:
        assert run(name, "--help").exit_code == 0


def test_a_closed_pipe_ends_quietly(small: Path) -> None:
    """``| head -1`` gets its line; nobody hears of the rest."""
    grid = "--C 1:40:+0.1 --gamma 1 --criteria sv-rate"  # more than a pipe holds
    line = f"{' '.join(PROGRAM)} sweep {small} {grid} -q --format csv | head -1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == ",".join(COLUMNS) + "\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_or_on_request(
    small: Path, environment: dict[str, str], coloured: bool
) -> None:
    """Off a terminal none, unless FORCE_COLOR asks for it; NO_COLOR forbids."""
    for name, value in environment.items():
        os.environ[name] = value
    try:
        result = run("sweep", small, "--C", 1, color=True)
    finally:
        for name in environment:
            del os.environ[name]
    assert ("\x1b[" in result.stdout) is coloured


@pytest.mark.parametrize("TERM", ["xterm", "dumb"])
def test_a_terminal_gets_colour_and_a_bar_unless_it_is_dumb(
    small: Path, TERM: str
) -> None:
    """Both streams on a pseudo-terminal; TERM=dumb gets plain lines."""
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "sweep", str(small), *GRID],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": TERM},
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            seen += (chunk := os.read(leader, 65536))
        except OSError:  # the other side has closed
            break
        if not chunk:
            break
    os.close(leader)
    assert process.wait() == 0
    assert b"30 samples" in seen
    assert (b"\x1b[1;32m" in seen) is (TERM != "dumb")
    assert (b"\x1b[?25l" in seen) is (TERM != "dumb")


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    """The rows that are done come out, ranked; exit 130."""
    journal = tmp_path / "cells.ndjson"
    # A shell's background jobs ignore Ctrl-C, and their children with them.
    heeding = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    grid = ("--C", "1:400:+0.1", "--gamma", "0.25")
    line = ("sweep", IRIS, *grid, "--format", "csv")
    process = start(*line, "--journal", journal, **heeding)
    while not journal.exists() or journal.read_text().count("\n") < 3:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, talk = process.communicate(timeout=30)
    assert process.returncode == 130
    assert len(rows_of(out)) >= 1
    assert "of 3991 cells are done" in talk
    assert "Traceback" not in talk


class Deaf(Qp):
    """A solver in which Ctrl-C comes at C = 2, and is swallowed."""

    def solve(self, dual: Dual, start: Solution | None = None) -> Solution:
        """As qp does."""
        if dual.C == 2.0:
            with suppress(KeyboardInterrupt):
                time.sleep(0.3)  # until the row of C = 1 has been taken
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1.0)
        return super().solve(dual, start)


def test_ctrl_c_counts_even_if_a_solver_swallows_it(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cell under way is not trusted, those before it are kept; exit 130."""
    monkeypatch.setitem(SOLVERS, "deaf", Deaf)
    # A shell's background jobs ignore Ctrl-C, and so do tests that run in one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    result = run("sweep", small, "--solver", "deaf", "--C", "1,2,3", "--format", "csv")
    assert result.exit_code == 130
    assert [row["C"] for row in rows_of(result.stdout)] == ["1.0"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_sweep_that_fails_writes_nothing(small: Path, tmp_path: Path) -> None:
    """No file, not even an empty one, where the data cannot be used."""
    small.write_text("a,class\n1,x\n")
    out = tmp_path / "out.csv"
    assert run("sweep", small, "-o", out).exit_code == 3
    assert not out.exists()


def test_the_module_is_the_program() -> None:
    """``python -m msvm_select --version`` names the program and its version."""
    process = start("--version")
    out, _ = process.communicate()
    assert out.startswith("msvm-select ")
    assert process.returncode == 0


def test_where_every_sample_is_a_class_nothing_is_left_out() -> None:
    """No sample need be asked: all are wrong without themselves, and told so."""
    line = ["sweep", "-", "--C", 1, "--criteria", "loo", "--format", "csv"]
    result = run(*line, input="a,b\n9,2\n7,4\n5,1\n")
    assert result.exit_code == 0, result.stderr
    assert rows_of(result.stdout)[0]["loo_errors"] == "3"
    assert "class of its own" in result.stderr
