"""What does not fit in memory is refused, with what would fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from msvm_select import memory
from tests.bench import memory as bench
from tests.conftest import run


def test_a_gram_matrix_that_does_not_fit(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused with the rows that would fit; fewer jobs are named where they do."""
    monkeypatch.setattr(memory, "available", lambda: 25_000)
    done = run("sweep", small, "--C", "1", "--gamma", "1,2", "--jobs", "2")
    assert done.exit_code == 3
    assert "30 samples" in done.stderr
    assert "say --jobs 1" in done.stderr
    monkeypatch.setattr(memory, "available", lambda: 14_000)
    for command in ("sweep", "fit", "loo"):
        more = ["-o", small.with_name("n.json")] if command == "fit" else []
        done = run(command, small, "--C", "1", *more)
        assert done.exit_code == 3
        assert "about 29 would fit" in done.stderr
        assert "--machine ovo" not in done.stderr
    assert run("sweep", small, "--C", "1", "--kernel", "linear").exit_code == 0


def test_a_large_file_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its size: its Gram matrix, or already the reading, would not fit."""
    big = tmp_path / "big.csv"
    big.write_text("a,class\n" + "1,x\n2,y\n" * 50_000)
    monkeypatch.setattr(memory, "available", lambda: 10**8)
    done = run("sweep", big, "--C", "1")
    assert done.exit_code == 3
    assert "judged by its size" in done.stderr
    assert "or say --machine ovo, which needs no whole matrix" in done.stderr
    ova = run("sweep", big, "--C", "1", "--kernel", "sigmoid", "--machine", "ova")
    assert (ova.exit_code, "--machine ovo" in ova.stderr) == (3, False)
    monkeypatch.setattr(memory, "available", lambda: 10**6)
    done = run("check", big)
    assert done.exit_code == 3
    assert "has 400 kB" in done.stderr


def test_the_limits_of_memory_are_those_of_the_process() -> None:
    """`ulimit -v` counts, where the system has it."""
    code = "from msvm_select.memory import available; print(available())"
    line = f'ulimit -v 1000000; {sys.executable} -c "{code}"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert 0 < int(done.stdout) < 1_024_000_000


@pytest.mark.slow
@pytest.mark.parametrize("sweep", bench.SWEEPS[:9], ids=lambda s: f"{s[0]} {s[2][-1]}")
def test_a_dry_run_tells_the_peak(
    sweep: tuple[str, int, tuple[str, ...]], tmp_path: Path
) -> None:
    """Within a quarter of what the whole process then takes."""
    name, rows, options = sweep
    peak, told = bench.measured(bench.written(tmp_path, name, rows), options)
    assert 1.0 / bench.FACTOR <= told / peak <= bench.FACTOR
