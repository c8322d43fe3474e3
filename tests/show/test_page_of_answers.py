"""What the page tells of the left-out answers: choices by every score, suspects."""

import re
from dataclasses import replace

from msvm_select.columns import column_of
from msvm_select.show.page.page import render
from tests.conftest import IRIS, run
from tests.show.pages import EVIL, report


def section(page: str, title: str) -> str:
    """One section of the page, as HTML."""
    found = re.search(f"<h2[^>]*>{title}</h2>.*?</section>", page, re.DOTALL)
    return found[0] if found else ""


def lines(text: str) -> list[list[str]]:
    """The rows of its table, without markup."""
    rows = re.findall("<tr>(.*?)</tr>", text, re.DOTALL)
    cells = (re.findall("<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in rows)
    return [[re.sub("<.*?>", "", cell) for cell in row] for row in cells]


def test_the_choice_by_every_score() -> None:
    """Each score with the cell that is first by it, and the chosen one marked."""
    told = report()
    _, *rows = lines(section(render(told), "Choice by every score"))
    names = {row[0].split()[-1]: row for row in rows}
    assert {"log_loss", "auc", "loo_rate"} <= names.keys()
    for name, row in names.items():
        best = told.results.ranked(name).rows[0]
        assert row[1] == best.in_words()
        assert (row[-1] != "") == (best.cell == told.chosen.cell)
        assert bool(row[3]) == bool(column_of(name).error)


def test_the_rows_to_look_at() -> None:
    """As many as are wrong, the clearest first, none of them as markup."""
    told = report(EVIL)
    found = lines(section(render(told), "Rows to look at"))
    assert found[0][:2] == ["sample", "class"]
    assert len(found) - 1 == told.confusion.errors == len(told.suspects.rows)
    margins = [float(row[3].replace("\N{MINUS SIGN}", "-")) for row in found[1:]]
    assert margins == sorted(margins)
    assert "Rows to look at" not in render(replace(told, suspects=None))


def test_the_line_writes_them(tmp_path) -> None:
    """``sweep --report`` has both sections, and the command with its metrics."""
    page = tmp_path / "iris.html"
    line = ("sweep", IRIS, "--C", "0.5,8", "--gamma", "0.1", "--metric", "auc,error")
    assert run(*line, "--report", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert section(text, "Rows to look at")
    assert section(text, "Choice by every score")
    assert "auc,error" in text.partition("Reproduce this</h2>")[2]
