"""What a pipeline is told: JUnit, and GitHub's annotations and summary of a job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from msvm_select.results.notes import Gate, gates
from msvm_select.results.ranking import Results
from msvm_select.show.answers.sweep import sheet
from msvm_select.show.pipeline import Case, junit, workflow_commands
from tests.conftest import IRIS, ranked, row, run

ODD = "a<b>&\"'::x,\x00\x0b\ud800 %0A\r\n| `é` \U0001f600"
GRID = ("--C", "1,8", "--gamma", "2^-7:2^-3:3", "-q")


@pytest.fixture
def mixed() -> Results:
    """Two cells that are ok, two that failed alike, one that did not converge."""
    bad = {"status": "failed", "status_reason": "no memory"}
    odd = {"status": "not_converged", "status_reason": ODD}
    return ranked(
        row(1.0, loo_rate=0.25, seconds=0.5),
        row(2.0, loo_rate=0.5, seconds=0.25),
        row(4.0, **bad),
        row(8.0, **bad),
        row(16.0, **odd),
    )


def suites(text: str) -> dict[str, ElementTree.Element]:
    """The suites of a JUnit file by name."""
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    return {suite.attrib["name"]: suite for suite in root}


def test_a_test_case_a_gate_and_a_cell(mixed: Results) -> None:
    """Failed cells are errors, broken gates failures; the counts are those."""
    asked = gates(mixed, fail_above=0.2, require_converged=True)
    text = sheet(replace(mixed, data={"name": ODD}), gates=asked).render("junit")
    root = ElementTree.fromstring(text)
    counted = {name: int(root.attrib[name]) for name in ("tests", "failures")}
    assert counted == {"tests": 7, "failures": 2}
    assert (root.attrib["errors"], root.attrib["skipped"]) == ("2", "1")
    assert float(root.attrib["time"]) == 0.75
    of_gates, of_cells = root
    assert [case.attrib["name"] for case in of_gates] == [
        *("--fail-above 0.2", "--require-converged")
    ]
    (failure,) = of_gates[0]
    assert "loo_rate 0.25" in failure.attrib["message"]
    names = [case.attrib["name"] for case in of_cells]
    assert names == [str(one.cell) for one in mixed.rows]
    assert [case[0].tag for case in of_cells] == [
        *("system-out", "system-out", "skipped", "error", "error")
    ]
    assert of_cells[4][0].attrib["message"] == "no memory"


@pytest.mark.parametrize("text", [ODD, "", "]]>", "\ufffe", "<!--", "\x1b[1m"])
def test_any_text_makes_sound_xml(text: str) -> None:
    """What XML cannot hold is spelled; all else comes back as it was."""
    cases = [Case("gate", text, "failure", text), Case("cell", text, "ok", text)]
    written = junit(cases, text)
    assert written.isascii()
    found = suites(written)
    assert len(found) == 2
    for suite in found.values():
        name = suite[0].attrib["name"]
        assert name.replace("\\x00", "").isprintable() or "\n" in name
        for sign in "<>&\"',`é":
            assert name.count(sign) == text.count(sign)


def test_github_is_told_on_one_line_each(mixed: Results) -> None:
    """Errors first; cells in the same trouble share a line, whose text is escaped."""
    asked = [Gate("--fail-above 0.2", "loo_rate is\n50 % above"), Gate("fine", None)]
    lines = sheet(mixed, gates=asked).annotations.split("\n")[:-1]
    parts = [re.fullmatch(r"::(\w+) title=([^:,]*)::(.*)", line) for line in lines]
    assert all(parts)
    found = [part.groups() for part in parts if part]
    assert found[:3] == [
        ("error", "Gate failed", "loo_rate is%0A50 %25 above"),
        (
            *("error", "2 cells failed"),
            "no memory (rbf gamma=0.5 C=4; rbf gamma=0.5 C=8)",
        ),
        ("warning", "Edge of the grid", found[2][2]),
    ]
    assert "best C = 1 is the smallest" in found[2][2]
    levels = [level for level, _, _ in found]
    assert levels == sorted(levels, key=["error", "warning", "notice"].index)
    (odd,) = [text for _, title, text in found if title == "1 cell did not converge"]
    assert "%250A%0D%0A|" in odd


def test_github_shows_ten_of_a_level() -> None:
    """So the tenth line says how many more there are."""
    cases = [Case("edge", "", "warning", f"edge {i}") for i in range(14)]
    lines = workflow_commands(cases).splitlines()
    assert len(lines) == 10
    assert lines[-1] == "::warning::and 5 more; the log has them"


def test_the_summary_of_a_job(mixed: Results) -> None:
    """Gates, the best cell and the best rows, as Markdown that nothing breaks."""
    asked = gates(mixed, fail_above=0.2, require_converged=False)
    text = sheet(replace(mixed, data={"name": "a|b <i>"}), gates=asked).summary
    assert text.startswith("### msvm-select: a\\|b &lt;i>\n")
    assert "- **failed** loo_rate 0.25 of the best cell" in text
    assert "Best by loo: rbf gamma=0.5 C=1" in text
    assert text.count("\n| ") == 2 + 5
    many = ranked(*(row(float(i), loo_rate=0.1) for i in range(1, 31)))
    assert "10 more rows are not shown." in sheet(many).summary


@pytest.mark.parametrize("own", [False, True], ids=["stdout", "summary file"])
def test_where_the_parts_go(
    own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Annotations to stdout; the summary is added to the job's, if there is one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    if own:
        Path("job.md").write_text("# before\n")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "job.md")
    found = run("sweep", IRIS, *GRID, "--format", "github", "--fail-above", "0.01")
    assert found.exit_code == 1
    assert found.stdout.startswith("::error title=Gate failed::loo_rate")
    assert ("### msvm-select: iris" in found.stdout) is not own
    if own:
        assert Path("job.md").read_text().startswith("# before\n### msvm-select: iris")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder.md")
        lost = run("sweep", IRIS, *GRID, "--format", "github")
        assert lost.exit_code == 1
        assert "cannot be written" in lost.stderr
    run("sweep", IRIS, *GRID, "-o", "ranked.json")
    ranked_ = run("rank", "ranked.json", "--format", "github", "-o", "own.md", "-q")
    assert "###" not in ranked_.stdout
    assert Path("own.md").read_text().startswith("### msvm-select: iris")


def test_what_moved_is_a_gate_too(tmp_path: Path) -> None:
    """``rank --against`` as JUnit; the gates of both kinds, and the exit code."""
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    head = "kernel,gamma,C,n_samples,loo_rate\n"
    before.write_text(f"{head}rbf,0.5,1,100,0.1\n")
    after.write_text(f"{head}rbf,0.5,1,100,0.2\n")
    line = ("rank", after, "--against", before, "-q", "--format", "junit")
    found = run(*line, "--fail-above", "0.5")
    assert found.exit_code == 1
    (suite,) = suites(found.stdout).values()
    assert [len(case) for case in suite] == [1, 0]
    assert "is 0.1 above the 0.1 of before" in suite[0][0].attrib["message"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("compare", IRIS, "--format", "junit"), "that have gates"),
        (("loo", IRIS, "--C", "1", "--format", "junit"), "that have gates"),
        (("sweep", IRIS, "--dry-run", "--format", "github"), "--dry-run has none"),
    ],
)
def test_formats_without_a_sense_are_refused(line: Sequence[str], said: str) -> None:
    """Before any work."""
    found = run(*line)
    assert found.exit_code == 2
    assert said in found.stderr
