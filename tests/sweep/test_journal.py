"""The journal: nothing that is finished is lost, and what follows is as undisturbed."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from msvm_select.columns import Row
from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.records import Dataset
from msvm_select.results.reread import read_results
from msvm_select.settings import Settings, settings_from
from msvm_select.sweep import journal as journal_module
from msvm_select.sweep.journal import Journal
from msvm_select.sweep.loop import gather, iterate, run_sweep
from msvm_select.train.events import CellDone, GramTested, Resumed
from tests.conftest import IRIS, run, slowly

GRID = ("--C", "2^-3:2^9:25", "--gamma", "0.1,1", "--criteria", "loo,radius-margin")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the journal goes."""
    return tmp_path / "run.ndjson"


def settings(**values: Any) -> Settings:
    """Two kernel settings and five values of C, the last of them beyond hard margin."""
    grid = {"C": "1,10,1000,1e5,1e6", "gamma": "1,5", "criteria": "loo"}
    return settings_from({**grid, **values})


def cells(data: Dataset, asked: Settings, file: Path, stop: int | None = None) -> Any:
    """The first ``stop`` rows, untimed and in the ranking's order."""
    with Journal(file, resume=file.exists()) as journal:
        rows = list(islice(iterate(data, asked, journal=journal), stop))
    return untimed(data, asked, rows)


def untimed(data: Dataset, asked: Settings, rows: list[Row]) -> list[Row]:
    """Ranked, but for what differs from run to run."""
    return [replace(row, seconds=None) for row in gather(data, asked, rows).rows]


def start(*arguments: object, code: str = "") -> subprocess.Popen[str]:
    """The command in a process of its own, that heeds Ctrl-C; ``code`` runs before."""
    program = f"{code}\nfrom msvm_select.cli import main\nmain()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(what: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Until ``what`` is so, while the process lives."""
    until = time.monotonic() + 60.0
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.002)


def without_times(csv: Path) -> list[str]:
    """The lines without the column ``seconds``, which nothing but times are in."""
    lines = [line.split(",") for line in csv.read_text().splitlines()]
    at = lines[0].index("seconds")
    return [",".join(line[:at] + line[at + 1 :]) for line in lines]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"criteria": "radius-margin,vc"},
        {"criteria": "radius-margin-count", "C": "1e5,1e6,1e7", "gamma": "5"},
        {"kernel": "sigmoid", "gamma": "5", "coef0": "1"},
        {"criteria": "cv:3,span,loo,guaranteed-risk"},
        {"loss": "l2", "criteria": "radius-margin,holdout:0.3"},
        {"kernel": "linear", "gamma": None, "C": "0.1,1,10"},
        {"warm_start": False},
        {"jobs": 2},
    ],
    ids=lambda values: ",".join(map(str, values.values())) or "default",
)
def test_resumed_is_as_undisturbed(
    data: Dataset, file: Path, values: dict[str, Any]
) -> None:
    """To the last bit, wherever it was stopped: warm starts are taken up again."""
    asked = settings(**values)
    whole = cells(data, asked, file)
    assert whole == untimed(data, asked, list(iterate(data, asked)))
    lines = file.read_bytes().splitlines(keepends=True)
    for stop in range(1, len(whole), 2):  # between two C, and between two kernels
        file.write_bytes(b"".join(lines[: 1 + stop]))
        assert cells(data, asked, file) == whole, stop


def test_what_is_there_is_not_done_again(data: Dataset, file: Path) -> None:
    """Its rows come first; a kernel setting without gaps is not even looked at."""
    asked = settings()
    cells(data, asked, file, 7)
    heard: list[Any] = []
    with Journal(file, resume=True) as journal:
        rows = list(iterate(data, asked, heard.append, journal))
    done = [event for event in heard if isinstance(event, CellDone)]
    assert [event.resumed for event in done] == [True] * 7 + [False] * 3
    assert [event.row for event in done] == rows
    assert len([event for event in heard if isinstance(event, GramTested)]) == 1
    assert [e.cells for e in heard if isinstance(e, Resumed)] == [7]


def test_each_line_is_there_before_the_row_counts(data: Dataset, file: Path) -> None:
    """A header, and then as many lines as rows were given; kept as they are."""
    with Journal(file) as journal:
        for count, row in enumerate(iterate(data, settings(), journal=journal), 1):
            header, *lines = file.read_text().splitlines()
            assert len(lines) == count
            told = json.loads(lines[-1])
            assert told.pop("by_class") == [list(pair) for pair in row.by_class]
            assert told == {k: v for k, v in row.values().items() if v is not None}
    assert json.loads(header)["schema_version"] == 1
    assert json.loads(header)["data"]["name"] == "three"


def test_the_rows_of_the_journal_are_kept(data: Dataset, file: Path) -> None:
    """Even where training them again would give something else."""
    cells(data, settings(), file, 2)
    lines = file.read_text().splitlines()
    changed = json.loads(lines[1]) | {"gap": 0.125}
    file.write_text("\n".join([lines[0], json.dumps(changed), *lines[2:]]) + "\n")
    assert 0.125 in [row.gap for row in cells(data, settings(), file)]


def test_numbers_that_are_not_finite_come_back(data: Dataset, file: Path) -> None:
    """JSON has no name for them."""
    row = next(iterate(data, settings()))
    odd = replace(row, vc_dimension=float("inf"), guaranteed_risk=float("-inf"))
    with Journal(file) as journal:
        journal.begin(data, settings())
        journal.add(odd)
    with Journal(file, resume=True) as journal:
        journal.begin(data, settings())
        assert list(journal.rows.values()) == [odd]


@pytest.mark.parametrize("left", [1, 20, 300])
def test_a_torn_last_line_is_dropped_and_told(
    data: Dataset, file: Path, left: int
) -> None:
    """Its cell is done again, and the file is whole afterwards."""
    whole = cells(data, settings(), file)
    text = file.read_bytes()
    last = text.rfind(b"\n", 0, -1) + 1
    file.write_bytes(text[: last + left])
    heard: list[Any] = []
    with Journal(file, resume=True) as journal:
        rows = list(iterate(data, settings(), heard.append, journal))
    assert untimed(data, settings(), rows) == whole
    assert "torn" in str([e.notes for e in heard if isinstance(e, Resumed)])
    assert len(file.read_text().splitlines()) == 11
    assert all(json.loads(line) for line in file.read_text().splitlines())


def test_a_torn_header_is_written_again(data: Dataset, file: Path) -> None:
    """Killed that early, nothing was done."""
    file.write_bytes(b'{"journal": "msvm-select", "schema_v')
    assert len(cells(data, settings(), file)) == 10
    assert json.loads(file.read_text().splitlines()[0])["schema_version"] == 1


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "{}\n", "x", '{"rank": 1}\n'])
def test_another_file_is_not_touched(data: Dataset, file: Path, text: str) -> None:
    """Whoever names the wrong file has it still."""
    file.write_text(text)
    with Journal(file, resume=True) as journal, pytest.raises(DataError) as error:
        journal.begin(data, settings())
    assert "no journal" in str(error.value)
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "line 2 is damaged"),
        (b"\xff", "line 2 is damaged"),
        (b"[]", "line 2: this is no finished cell"),
        (b'{"kernel": "rbf"}', "line 2: this is no row"),
        (b'{"kernel": "rbf", "C": 1.0, "gap": "x"}', "column 'gap'"),
    ],
)
def test_a_damaged_line_is_told(
    data: Dataset, file: Path, line: bytes, message: str
) -> None:
    """By its number; the whole lines are not thrown away."""
    cells(data, settings(), file, 1)
    header, _, rest = file.read_bytes().partition(b"\n")
    file.write_bytes(b"\n".join([header, line, rest]))
    with pytest.raises(DataError, match=re.escape(message)):
        cells(data, settings(), file)


def test_a_journal_of_other_settings_is_refused(data: Dataset, file: Path) -> None:
    """Key by key; what decides no row may differ."""
    cells(data, settings(), file, 1)
    with pytest.raises(SettingsError) as error:
        cells(data, settings(C="1,10,100", criteria="cv:3,loo", rank_by="loo"), file)
    message = str(error.value)
    assert "C: the journal has 1, 10, 1000" in message  # a smaller grid is not enough
    assert "criteria: the journal has loo; this sweep has cv:3, loo" in message
    assert "rank_by" not in message
    assert "gamma" not in message
    shown = settings(jobs=3, top=2, format="csv", select="simplest")
    assert len(cells(data, shown, file)) == 10


@pytest.mark.parametrize(
    "smaller", [{"C": "10,1000"}, {"gamma": "5"}, {"C": "1,10", "gamma": "1"}]
)
def test_the_cells_of_a_smaller_grid_are_taken(
    data: Dataset, file: Path, smaller: dict[str, str]
) -> None:
    """They are not done again, and are as certified; the journal is then the wider."""
    whole = untimed(data, settings(), list(iterate(data, settings())))
    few = cells(data, settings(**smaller), file)
    heard: list[Any] = []
    with Journal(file, resume=True) as journal:
        rows = list(iterate(data, settings(), heard.append, journal))
    assert sum(isinstance(e, CellDone) and e.resumed for e in heard) == len(few)
    (resumed,) = (e for e in heard if isinstance(e, Resumed))
    assert "of a smaller grid" in resumed.notes[0]
    found = untimed(data, settings(), rows)
    assert [row.cell for row in found] == [row.cell for row in whole]
    assert [row.loo_errors for row in found] == [row.loo_errors for row in whole]
    assert cells(data, settings(), file) == found
    assert len(read_results(str(file)).rows) == len(whole)  # as `rank` reads it
    with pytest.raises(SettingsError):
        cells(data, settings(**smaller), file)


def test_a_journal_of_other_data_is_refused(data: Dataset, file: Path) -> None:
    """Even where only one value differs; the same data by another name are not."""
    cells(data, settings(), file, 1)
    X = data.X.copy()
    X[3, 0] += 1e-9
    with pytest.raises(DataError, match="same name and sizes, but other values"):
        cells(replace(data, X=X), settings(), file)
    fewer = replace(data, X=data.X[1:], y=data.y[1:], name="fewer")
    with pytest.raises(DataError, match=r"samples of the data: the journal has \d+"):
        cells(fewer, settings(), file)
    assert len(cells(replace(data, name="moved"), settings(), file)) == 10


def test_another_schema_is_refused(data: Dataset, file: Path) -> None:
    """Its rows might mean something else."""
    cells(data, settings(), file, 1)
    text = file.read_text()
    file.write_text(text.replace('"schema_version": 1', '"schema_version": 2', 1))
    with pytest.raises(SettingsError, match="schema_version 2"):
        cells(data, settings(), file)


def test_other_versions_are_told_and_taken(data: Dataset, file: Path) -> None:
    """They compute the same but for rounding."""
    cells(data, settings(), file, 3)
    file.write_text(re.sub('"numpy": "[^"]*"', '"numpy": "0.1"', file.read_text()))
    with Journal(file, resume=True) as journal:
        journal.begin(data, settings())
        assert "numpy 0.1" in str(journal.notes)
        assert len(journal.rows) == 3


def test_two_sweeps_do_not_write_to_one_journal(data: Dataset, file: Path) -> None:
    """The second is told; when the first is through, it may."""
    pytest.importorskip("fcntl")
    with Journal(file) as first, Journal(file, resume=True) as second:
        first.begin(data, settings())
        with pytest.raises(MsvmError, match="Another sweep"):
            second.begin(data, settings())
    assert len(cells(data, settings(), file)) == 10


def test_a_widened_grid_goes_on_too(data: Dataset, file: Path) -> None:
    """The cells of ``--extend`` are found by their kernel and C."""
    first, beyond = settings(C="1,10"), settings(C="100,1000")
    with Journal(file) as journal:
        list(iterate(data, first, journal=journal))
        rows = list(islice(iterate(data, beyond, journal=journal), 3))
    with Journal(file, resume=True) as journal:
        assert len(list(iterate(data, first, journal=journal))) == 4
        heard: list[Any] = []
        again = list(iterate(data, beyond, heard.append, journal))
    assert sum(isinstance(e, CellDone) and e.resumed for e in heard) == 3
    assert again[:3] == rows


@pytest.mark.parametrize("many", [{"gamma": "1,5"}, {"gamma": "1"}])
def test_rows_do_not_depend_on_jobs(data: Dataset, many: dict[str, str]) -> None:
    """Whether threads share the kernels or, as there are fewer, the samples."""
    asked = settings(**many, criteria="loo,cv:3,radius-margin,span")
    one = untimed(data, asked, list(iterate(data, asked)))
    for jobs in (2, 3, 8):
        other = replace(asked, jobs=jobs)
        assert untimed(data, asked, list(iterate(data, other))) == one


def test_rows_do_not_depend_on_the_order_of_kernels(data: Dataset) -> None:
    """Nor do their ranks."""
    one = settings(kernel="linear,rbf,polynomial", C="0.1,1", gamma="1,2")
    other = settings(kernel="polynomial,rbf,linear", C="1,0.1", gamma="2,1")
    rows = [untimed(data, s, list(iterate(data, s))) for s in (one, other)]
    assert rows[0] == rows[1]


def test_a_journal_from_python(data: Dataset, file: Path) -> None:
    """What run_sweep has finished is found again, and the file let go of."""
    first = run_sweep(data, settings(), journal=Journal(file))
    again = run_sweep(data, settings(), journal=Journal(file, resume=True))
    assert again.rows == first.rows
    with pytest.raises(SettingsError, match="--resume"):
        Journal(file)


def test_the_command_refuses_before_anything_is_read(file: Path) -> None:
    """What is there already, a lone --resume, a folder, a file that is another's."""
    file.write_text("x\n")
    missing = file.with_name("missing.csv")
    for options, message in (
        (("--journal", file), "is there already: --resume goes on"),
        (("--resume",), "--journal"),
        (("--journal", file.parent), "is a folder"),
        (("--journal", missing.parent / "no" / "x"), "there is no folder"),
        (("--journal", "/dev/null"), "no file"),
        (("--journal", "new", "-o", "new"), "would overwrite new"),
    ):
        result = run("sweep", missing, *options, "--format", "csv")
        assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
    assert file.read_text() == "x\n"


def test_resume_of_nothing_begins_and_says_so(file: Path) -> None:
    """A script may give --resume always."""
    grid = ("--C", "1,2", "--gamma", "1")
    line = ("sweep", IRIS, *grid, "--journal", file, "--resume")
    first, second = run(*line), run(*line)
    assert first.exit_code == second.exit_code == 0
    assert f"{file} has no finished cells yet" in first.stderr
    assert f"{file} has 2 finished cells" in second.stderr
    assert first.stdout == second.stdout


def test_run_has_them_too(file: Path, tmp_path: Path) -> None:
    """A journal that ``sweep`` began may be finished by ``run``."""
    config = tmp_path / "iris.toml"
    config.write_text(f'data = "{IRIS}"\nC = [1, 2]\ngamma = 1\n')
    grid = ("--C", "1,2", "--gamma", "1")
    assert run("sweep", IRIS, *grid, "--journal", file).exit_code == 0
    result = run("run", config, "--journal", file, "--resume")
    assert result.exit_code == 0
    assert "2 finished cells" in result.stderr


class Filling(FileIO):
    """A file on a disk that is full after some lines, the last of them cut short."""

    room = 4

    def write(self, text: Any, /) -> int:
        """As ever, while there is room."""
        self.room -= 1
        if self.room == 0:
            return super().write(text[:5])
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(text)


def test_a_disk_that_fills_up_stops_the_sweep(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 1, what is done is shown and kept; with room again it goes on."""
    grid = ("--C", "1,2,4,8", "--gamma", "1")
    line = ("sweep", IRIS, *grid, "--format", "csv", "--journal", file)
    with monkeypatch.context() as patched:
        patched.setattr(journal_module, "FileIO", Filling)
        result = run(*line)
    assert result.exit_code == 1
    assert "cannot be written: No space left on device" in result.stderr
    assert "Stopped: 2 of 4 cells are done" in result.stderr
    assert len(result.stdout.splitlines()) == 3
    again = run(*line, "--resume")
    assert again.exit_code == 0
    assert "2 finished cells" in again.stderr
    assert "torn" in again.stderr


def test_an_unwritable_journal_is_told_before_training(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is shown, exit 1."""
    monkeypatch.setattr(Filling, "room", 0)
    monkeypatch.setattr(journal_module, "FileIO", Filling)
    result = run("sweep", IRIS, "--journal", file)
    assert result.exit_code == 1
    assert "eigenvalue" not in result.stderr
    assert result.stdout == ""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the grid, undisturbed."""
    path = tmp_path_factory.mktemp("whole") / "whole.csv"
    assert run("sweep", IRIS, *GRID, "-o", path).exit_code == 0
    return path


@pytest.mark.parametrize("jobs", [slowly(1), 2])
def test_killed_and_resumed_is_as_undisturbed(
    file: Path, whole: Path, jobs: int
) -> None:
    """kill -9 in the middle of a chain: the same file, but for times."""
    resumed = file.with_name("resumed.csv")
    line = ("sweep", IRIS, *GRID, "--journal", file, "-o", resumed, "--jobs", jobs)
    process = start(*line)
    wait_for(lambda: file.exists() and file.read_bytes().count(b"\n") > 5, process)
    process.kill()
    process.communicate()
    done = file.read_bytes().count(b"\n") - 1
    assert 5 <= done < 50
    assert not resumed.exists()
    result = run(*line, "--resume")
    assert result.exit_code == 0
    assert without_times(resumed) == without_times(whole)


def test_ctrl_c_says_how_to_go_on_and_that_works(file: Path) -> None:
    """Exit 130, the finished rows, and a line that can be typed as it stands."""
    line = ("sweep", IRIS, *GRID, "--format", "csv", "--journal", file)
    process = start(*line)
    wait_for(lambda: file.exists() and file.read_bytes().count(b"\n") > 3, process)
    process.send_signal(signal.SIGINT)
    out, talk = process.communicate(timeout=20)
    assert process.returncode == 130
    assert len(out.splitlines()) >= 3
    assert re.search(r"Interrupted: \d+ of 50 cells are done", talk)
    last = talk.splitlines()[-1]
    assert last.startswith("To go on: ")
    words = shlex.split(last)
    typed = words[words.index("sweep") :]
    assert typed == [*map(str, line), "--resume"]
    result = run(*typed)
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 51


QUICK = ("sweep", IRIS, "--gamma", "1", "--criteria", "train-errors")
SLEEPING = """
import time
from msvm_select.names import SOLVERS
from msvm_select.solvers.qp import Qp

class Sleeping(Qp):
    def solve(self, dual, start=None):
        if dual.C > 1.5:
            print("asleep", flush=True)
            time.sleep(600.0)
        return super().solve(dual, start)

SOLVERS["qp"] = Sleeping
"""


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        ((*QUICK, "--C", "1,2"), signal.SIGINT, 130),
        ((*QUICK, "--C", "1,2", "--jobs", "2"), signal.SIGTERM, 143),
        (("fit", IRIS, "--C", "2", "-o", "never.json"), signal.SIGINT, 130),
    ],
)
def test_no_training_is_too_long_to_be_stopped(
    line: tuple[object, ...], number: signal.Signals, code: int
) -> None:
    """The process ends though a thread of it is still at work."""
    process = start(*line, "--solver", "qp", code=SLEEPING)
    assert process.stdout is not None
    assert process.stdout.readline() == "asleep\n"
    process.send_signal(number)
    out, talk = process.communicate(timeout=20)
    assert process.returncode == code
    assert "Interrupted" in talk
    assert ("rank" in out) is (line[0] == "sweep")
    assert "Traceback" not in talk
