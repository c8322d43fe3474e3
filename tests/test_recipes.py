"""The recipes of docs/several-machines.md, with stand-ins for what submits the jobs.

Each runs as it stands on the page, and gives what one sweep gives.
"""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Iterable
from glob import glob
from pathlib import Path
from string import Template
from typing import Any

import pytest

from tests.conftest import run
from tests.write_docs import HOUSE

PAGE = (HOUSE / "docs" / "several-machines.md").read_text(encoding="utf-8")
SWEEP = "sweep data/iris.csv --C 2^-3:2^9:5 --gamma 2^-7:2^1:4 -q -o whole.json"


def section(heading: str, language: str) -> list[str]:
    """The code blocks below a heading, line ends that are escaped taken out."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", part, flags=re.DOTALL | re.M)
    return [re.sub(r"\\\n\s*", " ", block) for block in blocks]


def shell(line: str, **variables: object) -> None:
    """One of our commands as bash would call it; others are not known here."""
    program, *words = shlex.split(Template(line).substitute(variables))
    assert program == "msvm-select", line
    names = [found for word in words for found in sorted(glob(word)) or [word]]
    done = run(*names)
    assert done.exit_code == 0, done.output


def ours(script: str) -> list[str]:
    """The lines of a script that call our program."""
    return [line for line in script.splitlines() if line.startswith("msvm-select ")]


def sbatch(script: str, only: Iterable[int] | None = None) -> None:
    """The tasks of an array job, one after another, in whatever order."""
    (last,) = map(int, re.findall(r"^#SBATCH --array=1-(\d+)$", script, flags=re.M))
    tasks = random.Random(0).sample(range(1, last + 1), last)
    for task in tasks if only is None else only:
        told = {"SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_COUNT": last}
        for line in ours(script):
            shell(line, **told)


@pytest.fixture(autouse=True)
def whole(clone: Path) -> None:
    """A clone, and the sweep as one machine does it."""
    run(*SWEEP.split())


def check() -> None:
    """The merged results are those of the whole sweep, but for time."""
    assert document("ranked.json") == document("whole.json")


def document(path: str) -> Any:
    """A json of results, without what differs from run to run."""
    found = json.loads(Path(path).read_text())
    found.pop("gram", None)
    return found | {"rows": [{**row, "seconds": 0} for row in found["rows"]]}


def test_slurm(clone: Path) -> None:
    """An array job, of which a task was killed and came again; then the merge."""
    script, submit = section("SLURM", "sh")
    assert script.startswith("#!/bin/bash\n")
    sbatch(script)
    part = Path("part2.ndjson")
    part.write_bytes(part.read_bytes()[:-30])
    sbatch(script, only=[2])
    assert "sbatch --parsable sweep.sh" in submit
    (wrapped,) = re.findall(r"--wrap '(.*)'", submit)
    shell(wrapped)
    check()


def test_gnu_parallel(clone: Path) -> None:
    """Each of the arguments in the place of the braces."""
    (script,) = section("GNU parallel", "sh")
    ((template, last),) = re.findall(
        r"^parallel -j \d+ (.*) ::: \$\(seq (\d+)\)$", script, flags=re.M
    )
    for number in range(1, int(last) + 1):
        shell(template.replace("{}", str(number)))
    (merge,) = ours(script)
    shell(merge)
    check()


def test_github_matrix(clone: Path) -> None:
    """The steps of each runner of the matrix, then those of the job behind it."""
    (text,) = section("GitHub Actions", "yaml")
    (shards,) = re.findall(r"shard: \[(.*)\]", text)
    numbers = [int(one) for one in shards.split(",")]
    parts, behind = text.split("\n  merge:\n")
    for number in numbers:
        for line in steps(parts):
            shell(line.replace("${{ matrix.shard }}", str(number)))
    assert f"/{len(numbers)} --journal" in parts
    for line in steps(behind):
        shell(line)
    check()


def steps(job: str) -> list[str]:
    """What a job runs of ours."""
    found = re.findall(r"run: (?:\|\n\s+)?(msvm-select .*)$", job, flags=re.M)
    assert found
    return found
