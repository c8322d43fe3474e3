"""What a pipeline is told: JUnit's XML, and the annotations of a GitHub Action.

A ``Case`` is a gate, a cell, an edge of a grid or a remark. JUnit has a test case for
each gate and each cell. GitHub shows the first ten annotations of each level, so that
cells in the same trouble share one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from msvm_select.results.notes import Gate

GATE, CELL, EDGE, REMARK = "gate", "cell", "edge", "remark"
OK, FAILURE, ERROR, SKIPPED = "ok", "failure", "error", "skipped"
WARNING, NOTICE = "warning", "notice"
LEVELS = {FAILURE: "error", ERROR: "error", SKIPPED: "warning"}
TITLES = {GATE: "Gate failed", EDGE: "Edge of the grid", REMARK: "msvm-select"}
MOST = 10  # annotations of a level that GitHub shows
NAMED = 3  # cells in the same trouble that are named
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Case:
    """One thing that a pipeline may want to know.

    state   ok; failure, of a gate; error, of a cell that failed; skipped, of a cell
            that did not converge, whose scores do not count; warning and notice
    text    why, or what there is to know
    """

    kind: str
    name: str
    state: str = OK
    text: str = ""
    seconds: float | None = None


def remark(text: str, level: str = NOTICE) -> Case:
    """A line that a pipeline shows as it is."""
    return Case(REMARK, "remark", level, text)


def cases_of(gates: Iterable[Gate]) -> list[Case]:
    """The gates as a pipeline is told of them."""
    return [
        Case(GATE, gate.name, FAILURE if gate.broken else OK, gate.broken or "")
        for gate in gates
    ]


def junit(cases: Sequence[Case], title: str) -> str:
    """A suite of gates and a suite of cells, as the readers of JUnit files know it."""
    suites = [
        (f"{title} {kind}s", [case for case in cases if case.kind == kind])
        for kind in (GATE, CELL)
    ]
    every = [case for _, some in suites for case in some]
    root = ElementTree.Element("testsuites", {"name": "msvm-select", **_counts(every)})
    for name, some in suites:
        if some:
            suite = ElementTree.SubElement(
                root, "testsuite", _sound(name=name) | _counts(some)
            )
            for case in some:
                _test_case(suite, case)
    ElementTree.indent(root)
    # whatever the encoding of the output: other letters are written as numbers
    text: bytes = ElementTree.tostring(root, "us-ascii", xml_declaration=True)
    return text.decode("ascii") + "\n"


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    """How many there are of each state, and the time of all."""
    states = [case.state for case in cases]
    seconds = sum(case.seconds or 0.0 for case in cases)
    return {
        "tests": str(len(cases)),
        "failures": str(states.count(FAILURE)),
        "errors": str(states.count(ERROR)),
        "skipped": str(states.count(SKIPPED)),
        "time": f"{seconds:.6f}",
    }


def _test_case(suite: ElementTree.Element, case: Case) -> None:
    where = _sound(classname=f"msvm-select.{case.kind}", name=case.name)
    time = {} if case.seconds is None else {"time": f"{case.seconds:.6f}"}
    test = ElementTree.SubElement(suite, "testcase", {**where, **time})
    if case.state in (FAILURE, ERROR, SKIPPED):
        why = _sound(message=case.text, type=case.kind)
        ElementTree.SubElement(test, case.state, why)
    elif case.text:
        ElementTree.SubElement(test, "system-out").text = _sound(text=case.text)["text"]


def _sound(**texts: str) -> dict[str, str]:
    """Without the characters that XML does not know, not even escaped."""
    return {
        name: NO_XML.sub(lambda found: ascii(found[0])[1:-1], text)
        for name, text in texts.items()
    }


def workflow_commands(cases: Iterable[Case]) -> str:
    """``::error title=Gate failed::...``, a line each; nothing of what is in order."""
    told: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for title, level, text in _together(cases):
        told[level].append(f"::{level} title={_property(title)}::{_data(text)}\n")
    for level, lines in told.items():
        if len(lines) > MOST:
            more = f"::{level}::and {len(lines) - MOST + 1} more; the log has them\n"
            told[level] = [*lines[: MOST - 1], more]
    return "".join(line for lines in told.values() for line in lines)


def _together(cases: Iterable[Case]) -> list[tuple[str, str, str]]:
    """(title, level, text); cells in the same trouble are one."""
    found: list[tuple[str, str, str]] = []
    cells: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        if case.state == OK:
            continue
        if case.kind == CELL:
            cells.setdefault((case.state, case.text), []).append(case.name)
        else:
            level = LEVELS.get(case.state, case.state)
            found.append((TITLES[case.kind], level, case.text))
    for (state, text), names in cells.items():
        word = "failed" if state == ERROR else "did not converge"
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        count = "1 cell" if len(names) == 1 else f"{len(names)} cells"
        which = f"{'; '.join(names[:NAMED])}{more}"
        found.append((f"{count} {word}", LEVELS[state], f"{text} ({which})"))
    return found


def _data(text: str) -> str:
    """As a workflow command wants it, on one line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
