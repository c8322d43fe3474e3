"""The peak of memory of whole sweeps, each a process of its own, beside --dry-run's.

The peak is that of the process as the system counts it (``VmHWM``), with Python and its
packages. (``ru_maxrss`` would begin at what this process has.)
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from msvm_select import load_csv
from tests.bench.grid import DATA, load

SWEEPING = """
import atexit, sys
from pathlib import Path
to = Path(sys.argv.pop(1))
atexit.register(lambda: to.write_text(Path("/proc/self/status").read_text()))
from msvm_select.cli import main
main()
"""
FACTOR = 1.25  # that the two may differ by, either way
LETTER = ("--C", "8", "--gamma", "0.125")
SWEEPS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("iris", 150, ("--C", "1,8", "--gamma", "0.125")),
    ("vowel", 990, LETTER),
    ("vowel", 990, (*LETTER, "--loss", "l2")),
    ("vowel", 990, (*LETTER, "--machine", "ova")),
    ("vowel", 990, ("--C", "8", "--gamma", "0.125,0.5", "--jobs", "2")),
    ("digits", 1797, ("--C", "8", "--gamma", "0.0078125")),
    ("digits", 1797, ("--C", "8", "--gamma", "0.0078125", "--criteria", "cv:5")),
    ("digits", 1797, ("--C", "8", "--gamma", "0.0078125", "--machine", "ovo")),
    ("digits", 1797, ("--C", "8", "--gamma", "0.5")),
    ("vowel", 990, ("--C", "8", "--gamma", "8")),
    ("letter", 1000, ("--C", "8", "--gamma", "8")),
    ("letter", 1000, LETTER),
    ("letter", 1000, ("--C", "2", "--gamma", "0.5")),
    ("letter", 2000, (*LETTER, "--criteria", "sv-rate")),
    ("letter", 5000, (*LETTER, "--criteria", "sv-rate")),
    ("letter", 5000, (*LETTER, "--machine", "ovo")),
    ("letter", 5000, (*LETTER, "--machine", "ova")),
    ("clouds 2", 4000, LETTER),
    ("clouds 2", 4000, (*LETTER, "--criteria", "cv:5")),
    ("clouds 3", 4000, LETTER),
    ("clouds 2", 20_000, (*LETTER, "--criteria", "sv-rate")),
    ("clouds 3", 20_000, (*LETTER, "--criteria", "sv-rate")),
)


def run() -> None:
    """A line a sweep."""
    with TemporaryDirectory() as folder:
        for name, rows, options in SWEEPS:
            peak, told = measured(written(Path(folder), name, rows), options)
            far = "" if 1.0 / FACTOR <= told / peak <= FACTOR else "  beyond 1.25"
            print(
                f"{name} {rows} {' '.join(options)}: peak {peak / 1e6:.0f} MB, told "
                f"{told / 1e6:.0f} MB, ratio {told / peak:.2f}{far}",
                flush=True,
            )


def written(folder: Path, name: str, rows: int) -> Path:
    """The data set as a file."""
    kind, _, classes = name.partition(" ")
    if kind == "clouds":
        X, y = clouds(rows, int(classes))
    elif kind == "digits":
        X, y, _ = load(kind)
    else:
        data = load_csv(DATA / f"{kind}.csv")
        some = np.random.default_rng(0).permutation(data.m)[:rows]
        X, y = data.X[some], data.y[some]
    path = folder / f"{kind}{classes}-{rows}.csv"
    header = ",".join([*(f"x{i}" for i in range(X.shape[1])), "class"])
    lines = (
        ",".join([*map(repr, x), f"c{k}"]) for x, k in zip(X.tolist(), y, strict=True)
    )
    path.write_text("\n".join([header, *lines, ""]))
    return path


def clouds(m: int, Q: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal classes in six dimensions that overlap."""
    draw = np.random.default_rng(2)
    centres = 0.6 * draw.normal(size=(Q, 6))
    y = draw.integers(0, Q, m)
    return centres[y] + draw.normal(size=(m, 6)), y


def measured(path: Path, options: Sequence[str]) -> tuple[float, float]:
    """Bytes: the peak of the sweep, and what is told beforehand."""
    status = path.with_suffix(".status")
    asked = ["sweep", str(path), *options, "--no-extend", "--quiet"]
    planned = [sys.executable, "-m", "msvm_select", *asked, "--dry-run"]
    planned += ["--format", "json"]
    told = subprocess.run(planned, capture_output=True, check=True, text=True).stdout
    asked += ["-o", str(path.with_suffix(".json"))]
    done = subprocess.run(
        [sys.executable, "-c", SWEEPING, str(status), *asked],
        stdout=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 5), asked
    lines = status.read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return 1024.0 * float(peak), float(json.loads(told)["peak_bytes"])
