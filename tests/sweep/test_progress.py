from __future__ import annotations

import io
import itertools
import os
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile
from rich.console import Console

from msvm_select.cli import talk
from msvm_select.cli.talk import ROOM, Display, fitting
from msvm_select.columns import Row
from msvm_select.errors import MsvmError
from msvm_select.kernels.inner_products import Polynomial
from msvm_select.kernels.rbf import Rbf
from msvm_select.phrases import between, exactly, roughly
from msvm_select.sweep import telling
from msvm_select.sweep.headway import Facts, Headway, Working
from msvm_select.sweep.telling import log_line
from msvm_select.train import compiling
from msvm_select.train.events import (
    CellDone,
    CellProgress,
    CellStarted,
    GramTested,
    Resumed,
    Started,
    Widened,
)

ROUGH = Polynomial(gamma=0.0078125, degree=3.0, coef0=1.0)
STARTED = Started(
    *("data", 900, 2, 3, 2, 3, "qp"), criteria=("loo",), rank_by="loo", C=(1, 2, 512)
)
HUNDRED = tuple(float(C) for C in range(1, 101))
# Milliseconds of the cells of whole sweeps by leave-one-out, as they were measured;
# the first cell of each has the loading in it.
MEASURED = {
    "glass": [
        [389, 60, 42, 44, 44, 34, 35],
        [63, 60, 40, 37, 43, 38, 135],
        [35, 32, 44, 53, 38, 39, 97],
        [34, 63, 76, 67, 76, 86, 142],
        [42, 106, 140, 113, 126, 0.5, 0.5],
    ],
    "vehicle": [
        [711, 268, 174, 145, 118, 128, 146],
        [251, 226, 132, 112, 92, 124, 148],
        [186, 169, 163, 179, 180, 191, 0.5],
        [295, 536, 595, 593, 0.5, 0.5, 0.5],
        [233, 627, 652, 0.5, 0.5, 0.5, 0.5],
    ],
    "vowel": [
        [19299, 26591, 16108, 9334, 4276, 3710, 2816],
        [17826, 8098, 4678, 5328, 2076, 1886, 1706],
        [7783, 7662, 2432, 1820, 2096, 3197, 0.5],
        [16339, 19257, 8782, 8774, 0.5, 0.5, 0.5],
        [20495, 27720, 22238, 0.5, 0.5, 0.5, 0.5],
    ],
    "vowel, ovo": [
        [818, 169, 292, 143, 66, 126, 107],
        [159, 204, 183, 116, 104, 94, 96],
        [187, 215, 92, 101, 130, 145, 0.5],
        [238, 352, 356, 271, 288, 0.5, 0.5],
        [297, 221, 365, 0.5, 0.5, 0.5, 0.5],
    ],
    "vehicle, l2": [
        [1326, 819, 633, 459, 292, 180, 186],
        [661, 665, 352, 338, 205, 211, 238],
        [820, 798, 438, 324, 276, 233, 232],
        [845, 992, 1022, 810, 679, 650, 634],
        [687, 724, 1120, 786, 685, 766, 805],
    ],
}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the talk, to be set by hand."""
    now = [0.0]
    monkeypatch.setattr(talk.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (41.9, "41 s"), (125, "2 min 05 s"), (4020, "1 h 07 min")],
)
def test_a_time_that_has_passed_is_exact(seconds: float, words: str) -> None:
    """In seconds, and from an hour on in minutes."""
    assert exactly(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        *((0.1, "1 s"), (6.4, "7 s"), (58, "1 min"), (100, "2 min"), (3400, "1 h")),
        *((70_000, "20 h"), (90_000, "1 day"), (3e6, "35 days")),
    ],
)
def test_a_time_to_come_is_round(seconds: float, words: str) -> None:
    """One figure that a person would say."""
    assert roughly(seconds) == words


def test_round_times_are_near() -> None:
    """Never off by more than a third, from a second to days."""
    sizes = {"s": 1, "min": 60, "h": 3600, "day": 86400, "days": 86400}
    for seconds in np.geomspace(1.0, 8e5, 500):
        number, unit = roughly(seconds).split()
        assert 0.67 < float(number) * sizes[unit] / seconds < 1.5


def test_a_range_is_said_once_where_it_is_none() -> None:
    """The unit once if it is the same, one figure if both ends round to it."""
    assert between(0.2, 0.9) == "less than 1 s"
    assert between(4.1, 9.0) == "4 to 10 s"
    assert between(40.0, 130.0) == "40 s to 2 min"
    assert between(118.0, 122.0) == "about 2 min"


def sweep_of(rows: int, Cs: int, jobs: int = 1) -> Headway:
    """One that hears of so many kernel settings and values of C."""
    headway = Headway()
    grid = tuple(2.0**j for j in range(Cs))
    headway.hear(Started("data", 900, 2, 3, rows, Cs, "qp", jobs=jobs, C=grid), 0.0)
    return headway


def trained(headway: Headway, gamma: int, j: int, ends: float, took: float) -> None:
    """The headway hears of a cell from its start to its end."""
    headway.hear(CellStarted(Rbf(gamma), 2.0**j), ends - took)
    row = Row(kernel="rbf", gamma=float(gamma), C=2.0**j, n_bounded=1)
    headway.hear(CellDone(row), ends)


def moments(rows: list[list[float]]) -> Iterator[tuple[float, float]]:
    """(guess, truth) in the middle half of a sweep of one job, at a hundred times."""
    total, now = sum(map(sum, rows)), 0.0
    headway = sweep_of(len(rows), len(rows[0]))
    asked = iter(np.linspace(0.25, 0.75, 100) * total)
    at = next(asked, None)
    for i, row in enumerate(rows, start=1):
        for j, seconds in enumerate(row):
            headway.hear(CellStarted(Rbf(i), 2.0**j), now)
            while at is not None and at < now + seconds:
                guess = headway.facts(at).left
                assert guess is not None
                yield guess, total - at
                at = next(asked, None)
            now += seconds
            last = j + 1 < len(row) and row[j + 1] < 0.001
            cell = Row(
                kernel="rbf", gamma=float(i), C=2.0**j, n_bounded=0 if last else 9
            )
            headway.hear(CellDone(cell), now)


def test_what_is_left_is_guessed_well() -> None:
    """In the middle half of real sweeps, mostly within a factor of 1.5."""
    shares = []
    for rows in MEASURED.values():
        seconds = [[ms / 1000.0 for ms in row] for row in rows]
        errors = [max(a / b, b / a) for a, b in moments(seconds)]
        shares.append(np.mean(np.array(errors) < 1.5))
    assert min(shares) > 0.5
    assert np.mean(shares) > 0.75


def test_what_is_not_sure_is_what_the_rest_takes_at_least() -> None:
    """Where the model of the costs knows no range of a factor of four."""
    headway = sweep_of(40, 2)
    for j, took in enumerate((0.1, 30.0)):
        trained(headway, 1, j, 40.0 * (j + 1), took)
    facts = headway.facts(80.0)
    assert not facts.sure
    assert log_line(facts).startswith("2 of 80 cells, 1 min 20 s, left: at least ")


def test_nothing_is_guessed_without_ground() -> None:
    """A dash until two cells were trained."""
    headway = sweep_of(2, 4)
    assert headway.facts(0.0).left is None
    trained(headway, 1, 0, 1.0, 1.0)
    assert headway.facts(1.5).left is None
    trained(headway, 1, 1, 2.0, 1.0)
    assert headway.facts(2.5).left is not None


def test_cells_of_an_earlier_run_tell_what_others_cost() -> None:
    """They are done at once, and their rows say what they took."""
    headway = sweep_of(3, 4)
    for i in (1, 2):
        for j in range(4):
            point = {"kernel": "rbf", "gamma": float(i), "C": 2.0**j}
            headway.hear(CellDone(Row(**point, seconds=8.0), resumed=True), 0.0)
    left = headway.facts(0.0).left
    assert left is not None
    assert 14.0 < left < 60.0


def test_two_jobs_take_half_of_the_time() -> None:
    """While there are two settings to do."""
    alone, both = sweep_of(2, 6), sweep_of(2, 6, jobs=2)
    for headway in (alone, both):
        for j in range(4):
            trained(headway, 1 + j % 2, j // 2, 4.0 * j + 4.0, 4.0)
    one, two = alone.facts(16.0).left, both.facts(16.0).left
    assert one is not None
    assert two == pytest.approx(one / min(2, os.cpu_count() or 1), rel=0.1)


def test_a_cell_under_way_goes_by_its_own_pace() -> None:
    """Else by the guess; and once that is over, it is taken to last some more."""
    assert Working("", since=0.0).rest(10.0, 3.0) == 7.0
    assert Working("", since=0.0).rest(10.0, 20.0) == 5.0
    assert Working("", since=0.0, ends=63.0).rest(10.0, 3.0) == 60.0


def done(kernel: Rbf | Polynomial, C: float, rate: float) -> CellDone:
    """A finished cell."""
    point = {"kernel": kernel.name, **kernel.parameters, "C": C}
    return CellDone(Row(**point, loo_rate=rate))


def running(moment: float = 9.0) -> Facts:
    """Two cells of six done, the third under way."""
    headway = Headway()
    headway.hear(STARTED, 0.0)
    headway.hear(GramTested(ROUGH, 0.1, False, 0.01), 0.0)
    for at, C, rate in ((0.0, 1.0, 0.2), (2.0, 2.0, 0.123456)):
        headway.hear(CellStarted(ROUGH, C), at)
        headway.hear(done(ROUGH, C, rate), at + 2.0)
    headway.hear(CellStarted(ROUGH, 512.0), 4.0)
    headway.hear(CellProgress(ROUGH, 512.0, 0, 900), 5.0)
    headway.hear(CellProgress(ROUGH, 512.0, 256, 900), 7.0)
    return headway.facts(moment)


def test_the_facts_are_all_there() -> None:
    """Cells, time, the cell under way and how far it is, the best and where."""
    facts = running()
    assert (facts.done, facts.cells, facts.elapsed) == (2, 6, 9.0)
    assert facts.cell == "polynomial gamma=0.0078125 degree=3 coef0=1 C=512"
    assert facts.within == "256 of 900 samples"
    assert facts.best_value == "0.1235"
    assert facts.best_cell.endswith("C=2")
    assert facts.left is not None
    assert facts.left > 3.0  # of the cell itself, by its pace


def test_a_short_cell_does_not_tell_how_far_it_is() -> None:
    """Only one that has lasted for two seconds."""
    assert running(5.5).within == ""


def test_with_two_jobs_the_latest_cell_is_shown() -> None:
    """And the other one when that is done."""
    headway, other = Headway(), Rbf(2.0)
    headway.hear(STARTED, 0.0)
    headway.hear(CellStarted(ROUGH, 1.0), 0.0)
    headway.hear(CellStarted(other, 1.0), 1.0)
    assert headway.facts(1.0).cell == "rbf gamma=2 C=1"
    headway.hear(done(other, 1.0, 0.3), 2.0)
    assert headway.facts(2.0).cell.startswith("polynomial")


def test_the_best_is_one_that_counts() -> None:
    """Not a failed cell, nor one that did not converge; ties go to the smaller C."""
    headway = Headway()
    headway.hear(STARTED, 0.0)
    failed = Row(kernel="rbf", gamma=1.0, C=1.0, status="failed")
    open_ = Row(kernel="rbf", gamma=1.0, C=2.0, status="not_converged", loo_rate=0.0)
    headway.hear(CellDone(failed), 1.0)
    headway.hear(CellDone(open_), 1.0)
    assert headway.facts(1.0).best is None
    for C in (8.0, 4.0):
        headway.hear(done(Rbf(1.0), C, 0.25), 2.0)
    assert headway.facts(2.0).best_cell == "rbf gamma=1 C=4"


def test_a_widened_grid_adds_its_cells() -> None:
    """The count goes on, and so does the best."""
    headway = Headway()
    headway.hear(STARTED, 0.0)
    headway.hear(done(Rbf(1.0), 1.0, 0.25), 1.0)
    headway.hear(Widened(1, 1, "C", (8.0, 16.0), "why", 4), 2.0)
    facts = headway.facts(2.0)
    assert (facts.done, facts.cells) == (1, 10)
    assert facts.best is not None


def drawn(facts: Facts, width: int) -> list[str]:
    """What a terminal of this width shows."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=True, color_system=None, _environ={}
    )
    console.print(Display(lambda: facts))
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(("width", "lines"), [(80, 3), (139, 3), (140, 2), (200, 2)])
def test_nothing_wraps_on_a_terminal(width: int, lines: int) -> None:
    """Two lines or three, with room for a ^C, and every fact uncut."""
    shown = drawn(running(), width)
    assert len(shown) == lines
    assert max(map(len, shown)) <= width - ROOM
    text = "\n".join(shown)
    assert "…" not in text
    assert "2 of 6 cells, 9 s, left: at least" in text
    assert "now  polynomial gamma=0.0078125 degree=3 coef0=1 C=512" in text
    assert "0.1235 at polynomial gamma=0.0078125 degree=3 coef0=1 C=2" in text


def test_a_wide_terminal_says_more() -> None:
    """How far the cell is, what the best is the best by, a longer bar."""
    wide, narrow = drawn(running(), 200), drawn(running(), 80)
    assert "256 of 900" in wide[1]
    assert "best loo_rate 0.1235" in wide[1]
    assert wide[0].index("2 of 6") > 1.5 * narrow[0].index("2 of 6")


def test_a_narrow_terminal_is_cut_with_dots() -> None:
    """Never wrapped, even at 30 columns."""
    shown = drawn(running(), 30)
    assert len(shown) == 3
    assert max(map(len, shown)) <= 30 - ROOM
    assert shown[1].endswith("…")
    assert fitting(["abc"], 2) == "a…"


def test_a_log_has_the_same_facts_on_one_line() -> None:
    """Plain text; what is left is told as soon as it can be guessed."""
    assert log_line(running()).startswith("2 of 6 cells, 9 s, left: at least ")
    assert "; best loo_rate 0.1235 at polynomial" in log_line(running())
    assert log_line(Facts(0, 35, 3.0)) == "0 of 35 cells, 3 s"
    assert log_line(Facts(35, 35, 3.0)) == "35 of 35 cells, 3 s"


def test_a_log_says_that_the_solver_is_compiled() -> None:
    """Until the first cell is trained, and not because of one that was there."""
    headway = Headway(began=0.0)
    headway.hear(replace(STARTED, note="Compiling the solver ..."), 0.0)
    assert log_line(headway.facts(5.0)) == "0 of 6 cells, 5 s (compiling)"
    row = Row(kernel="polynomial", C=1.0, **ROUGH.parameters)
    headway.hear(CellDone(row, resumed=True), 6.0)
    assert "(compiling)" in log_line(headway.facts(6.0))
    headway.hear(CellDone(replace(row, C=2.0)), 60.0)
    assert "(compiling)" not in log_line(headway.facts(60.0))


def tell_cells(listener: talk.Talk, clock: list[float], step: float) -> None:
    """A hundred cells, one every ``step`` seconds."""
    for number in itertools.count(1):
        listener(CellStarted(Rbf(1.0), float(number)))
        clock[0] += step
        listener(done(Rbf(1.0), float(number), 0.5))
        if number == 100:
            return


def test_a_log_gets_a_line_in_five_seconds_at_most(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    """In a hundred seconds 19 or 20 lines, of characters that any file can hold."""
    listener = talk.Talk()
    listener(Started("data", 9, 2, 3, 1, 100, "qp", rank_by="loo", C=HUNDRED))
    capsys.readouterr()
    tell_cells(listener, clock, 1.0)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) in (19, 20)
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert lines[0].startswith("5 of 100 cells, 5 s, left: at least ")
    assert lines[-2].startswith("95 of 100 cells, 1 min 35 s, left: about ")


def test_a_long_log_gets_fewer_lines(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    """Later, one in a twentieth of the time that has passed; a minute at the most."""
    listener = talk.Talk()
    listener(Started("data", 9, 2, 3, 1, 100, "qp", rank_by="loo", C=HUNDRED))
    capsys.readouterr()
    tell_cells(listener, clock, 10.0)
    assert 30 < len(capsys.readouterr().err.splitlines()) < 60
    clock[0] = 1e6
    listener.pace.said_at = 1e6 - 61.0
    listener(done(Rbf(1.0), 1.0, 0.5))
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_log_is_told_in_a_long_cell_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line comes while no event does."""
    monkeypatch.setattr(telling, "EVERY", 0.02)
    monkeypatch.setattr(talk, "PULSE", 0.01)
    with talk.Talk() as listener:
        listener(STARTED)
        capsys.readouterr()
        waits = (listener.ended.wait(0.02) for _ in range(500))
        assert any("0 of 6 cells" in capsys.readouterr().err for _ in waits)
    assert listener.pulse is not None
    listener.pulse.join(60.0)  # a busy machine may be slow to let it end
    assert not listener.pulse.is_alive()


def test_quiet_is_quiet(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """Not a word, whatever happens."""
    with talk.Talk(quiet=True) as listener:
        for event in (STARTED, GramTested(ROUGH, 0.1, False), CellStarted(ROUGH, 1.0)):
            listener(event)
        listener(Resumed("journal", 3, ("something",)))
        listener(Widened(1, 1, "C", (8.0,), "why", 1))
        tell_cells(listener, clock, 10.0)
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_the_sizes_are_the_first_line(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    """m, features, classes and cells, before anything is trained or compiled."""
    talk.Talk()(STARTED)
    first = capsys.readouterr().err.splitlines()[0]
    assert first == (
        "data: 900 samples, 2 features, 3 classes; cells: 6 (kernels: 2, C: 3)"
    )


@pytest.mark.parametrize(
    ("solver", "criteria", "words"),
    [
        ("exact", ("loo",), "Compiling the solver and leave-one-out, once"),
        ("exact", ("cv:5",), "Compiling the solver, once"),
        ("smo", ("loo", "vc"), "Compiling the solver and the balls, once"),
        ("qp", ("radius-margin",), "Compiling the balls, once"),
        ("qp", ("loo",), ""),
    ],
)
def test_what_is_compiled_is_said(
    monkeypatch: pytest.MonkeyPatch, solver: str, criteria: tuple[str, ...], words: str
) -> None:
    """On a new machine: the parts that this sweep needs, with how long it takes."""
    monkeypatch.setattr(compiling, "_new", lambda kernel: True)
    started = Started("data", 9, 2, 3, 1, 1, solver, criteria=criteria)
    note = compiling.compiling_note(started)
    assert note.startswith(words)
    assert bool(note) is bool(words)
    scored = compiling.compiling_note(replace(started, metrics=("auc", "error")))
    assert "the metric auc, once" in scored
    monkeypatch.setattr(compiling, "_new", lambda kernel: False)
    assert compiling.compiling_note(started) == ""


def test_an_index_of_another_version_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names a module that is gone; what cannot be emptied is told."""
    file = IndexDataCacheFile(str(tmp_path), "kernel", (1.0, 2))
    kernel = SimpleNamespace(_cache=SimpleNamespace(_cache_file=file))
    stale = pickle.dumps(file._version) + b"cmsvm_select.gone\nArrays\n."
    index = Path(file._index_path)
    index.write_bytes(stale)
    with pytest.raises(ModuleNotFoundError):
        file._load_index()
    assert compiling._new(kernel)
    assert file._load_index() == {}
    index.write_bytes(stale)
    monkeypatch.setattr(file, "flush", lambda: (tmp_path / "no" / "folder").mkdir())
    with pytest.raises(MsvmError, match="delete the file"):
        compiling._new(kernel)
