"""What the README, the reference and the example files promise is what happens."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from msvm_select.cli import EXIT_CODES
from msvm_select.columns import criterion_of
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.mercer import is_indefinite, smallest_eigenvalue
from msvm_select.names import CRITERIA, KERNELS, SOLVERS
from tests.conftest import PROBLEMS, run
from tests.write_docs import piped

HOUSE = Path(__file__).parent.parent
README = (HOUSE / "README.md").read_text(encoding="utf-8")
REFERENCE = (HOUSE / "docs" / "reference.md").read_text(encoding="utf-8")
DEVELOPMENT = (HOUSE / "docs" / "development.md").read_text(encoding="utf-8")


def blocks(language: str, page: str = README) -> list[str]:
    """The code blocks of a language, in order."""
    found = re.findall(r"```(\w*)\n(.*?)```", page, flags=re.DOTALL)
    return [text for name, text in found if name == language]


def test_every_command_that_is_shown_runs(clone: Path) -> None:
    """In the order of the README, each with exit 0; on every third line of the data."""
    for data in (clone / "data" / "iris.csv", clone / "data" / "glass.csv"):
        head, *rows = data.read_text(encoding="utf-8").splitlines(keepends=True)
        data.write_text("".join([head, *rows[::3]]), encoding="utf-8")
    shown = [x for x in blocks("sh")[1].splitlines() if x]
    assert len(shown) > 5
    for line in shown:
        done = piped(line)
        assert done is not None, line
        assert done[1] == 0, (line, done[0])
    made = {"ranked.json", "page.html", "map.png", "iris.json", "predicted.csv"}
    made |= {"mine.toml", "gaussians.csv", "piped.json"}
    assert made <= {path.name for path in clone.iterdir() if path.stat().st_size}


def test_the_python_that_is_shown_runs(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both examples: the labels and the gap, the mean score."""
    five_lines, classifier = blocks("python")
    exec(five_lines, {})
    assert "setosa" in capsys.readouterr().out
    pytest.importorskip("sklearn")
    exec(classifier, {})
    assert 0.9 < float(capsys.readouterr().out) <= 1.0


def test_the_kernel_that_is_shown_is_one() -> None:
    """Six lines, whose Gram matrix passes Mercer's test."""
    (text,) = blocks("python", DEVELOPMENT)
    assert len(text.splitlines()) == 6
    names = {"dataclass": dataclasses.dataclass, "Kernel": Kernel}
    scope = {**names, "np": np, "cdist": cdist, "__name__": __name__}
    exec(text, scope)
    gram = scope["Laplace"](gamma=0.5).gram(PROBLEMS["three"].X)
    assert not is_indefinite(smallest_eigenvalue(gram), gram)


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("Kernels", KERNELS),
        ("Solvers", SOLVERS),
    ],
)
def test_the_tables_name_what_is_on_offer(section: str, names: Iterable[str]) -> None:
    """The same names in the same order as in the program."""
    assert first_cells(section) == list(names)


def test_the_exit_codes_are_all_told() -> None:
    """In the order of the program."""
    text = README.partition("\n## Exit codes\n")[2].partition("\n## ")[0]
    told = [int(word) for word in re.findall(r"(?:^|·\s)(\d+) ", text.strip())]
    assert told == list(EXIT_CODES)


def test_the_criteria_are_all_told() -> None:
    """Each with the column that it fills."""
    told = {criterion_of(name) for name in first_cells("Criteria")}
    assert told == set(CRITERIA)
    for kind in CRITERIA.values():
        assert f"`{kind.column}`" in part("Criteria")


def test_continuous_integration_runs_the_second_line() -> None:
    """``.ci/run`` tests by the line that the quick start shows, and installs alike."""
    first, second = blocks("sh")[0].splitlines()
    script = (HOUSE / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert second in script
    assert first.startswith("python3 -m venv .venv && ")
    assert first.endswith(".venv/bin/msvm-select run configs/iris.toml")
    assert os.access(HOUSE / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize("config", sorted((HOUSE / "configs").glob("*.toml")))
def test_every_config_names_its_data(config: Path) -> None:
    """Each can be read and shown."""
    result = run("run", str(config), "--show-config")
    assert result.exit_code == 0
    assert config.stem in result.stdout


def part(section: str) -> str:
    """The text under a heading of the reference."""
    return REFERENCE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]


def first_cells(section: str) -> list[str]:
    """The first column of the section's table."""
    rows = [row for row in part(section).splitlines() if row.startswith("| ")][1:]
    return [row.split("|")[1].strip(" `") for row in rows]
