"""How long a person waits: --help, a run with compiled kernels, the first run ever."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.grid import least

ROOT = Path(__file__).parents[2]


def command(*arguments: str, cache: str | None = None) -> None:
    """``msvm-select`` as a process of its own."""
    env = dict(os.environ)
    if cache is not None:
        env["NUMBA_CACHE_DIR"] = cache
    run = [sys.executable, "-m", "msvm_select", *arguments]
    subprocess.run(run, cwd=ROOT, env=env, capture_output=True, check=True)


def run(reps: int) -> None:
    """Three lines."""
    print(f"--help: {least(reps, lambda: command('--help'))[0]:.2f} s")
    with tempfile.TemporaryDirectory() as cache:
        sweep = ("run", "configs/iris.toml")
        first, _ = least(1, lambda: command(*sweep, cache=cache))
        second, _ = least(reps, lambda: command(*sweep, cache=cache))
    print(f"run configs/iris.toml: first ever {first:.1f} s, then {second:.2f} s")
