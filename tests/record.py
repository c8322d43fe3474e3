"""``python -m tests.record OUT``: what the commands say and write, to compare later.

Run it before and after a change, each time into a folder of its own, and compare the
two with ``diff -r``. Times and versions are masked.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
GRIDS = {
    "iris": "--C 0.1,1,10 --gamma 0.02,0.2,2",
    "wine": "--C 0.1,1,10 --gamma 0.02,0.2,2",
    "glass": "--C 0.1,1,10 --gamma 0.02,0.2,2",
    "vehicle": "--C 1,10 --gamma 0.05",
    "vowel": "--C 10 --gamma 0.1",
    "three_gaussians": "--kernel linear --C 0.001,0.01",
}
BOUNDS = "radius-margin,guaranteed-risk,sv-rate,train-errors,compression,vc,span"
CELL = "--C 1 --gamma 0.2"
COMMANDS = """
check data/{name}.csv
sweep data/{name}.csv {grid} -o {name}.json --report {name}.html
sweep data/{name}.csv {grid} --loss l2 --format csv
sweep data/{name}.csv --kernel linear --C 0.1 --criteria cv:3,{bounds} --format json
rank {name}.json --select 1se
plot {name}.json -o {name}.svg
fit data/{name}.csv {cell} -o {name}-model.json
predict {name}-model.json data/{name}.csv --scores
loo data/{name}.csv {cell} --format csv
bound data/{name}.csv {cell} --explain
margins data/{name}.csv {cell}
compare data/{name}.csv {grid}
""".strip()
MASKED = {
    r'("seconds\w*": ?)[-+.e\d]+': r"\1SECONDS",
    r'("versions": ?)\{[^}]*\}': r"\1VERSIONS",
    r"\d+ of \d+ cells, .*\n": "",
    r"<dc:date>.*?</dc:date>": "",
    r"\b[\d.]+ (s|ms|min)\b": "TIME",
    r"\bp?[0-9a-f]{10,}\b": "ID",
}


def masked(text: str) -> str:
    """Without what differs from one run to the next."""
    for pattern, instead in MASKED.items():
        text = re.sub(pattern, instead, text)
    return text


def record(out: Path) -> None:
    """Run every command in ``out``; write what it said to ``out/said``."""
    said = out / "said"
    said.mkdir(parents=True)
    (out / "data").symlink_to(ROOT / "data")
    env = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "100"}
    for name, grid in GRIDS.items():
        text = COMMANDS.format(name=name, grid=grid, bounds=BOUNDS, cell=CELL)
        for at, line in enumerate(text.splitlines()):
            command = [sys.executable, "-m", "msvm_select", *line.split()]
            done = subprocess.run(
                command, cwd=out, env=env, capture_output=True, text=True, check=False
            )
            parts = (f"$ {line}", done.stdout, done.stderr, f"exit {done.returncode}")
            told = masked("\n".join(parts))
            (said / f"{name}-{at:02}.txt").write_text(told, encoding="utf-8")
    for path in out.glob("*.*"):
        told = masked(path.read_text(encoding="utf-8"))
        (said / path.name).write_text(told, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    record(Path(sys.argv[1]).resolve())
