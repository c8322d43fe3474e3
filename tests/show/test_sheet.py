"""The formats of an answer: machine formats hold all, tables what people need."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest

from msvm_select.columns import COLUMNS
from msvm_select.records import Plain
from msvm_select.results.choosing import chosen
from msvm_select.show.answers.sweep import sheet
from msvm_select.show.sheet import Look, Sheet, aligned, json_document, shown
from tests.conftest import DATA, render, run
from tests.results.test_report import ROWS, ranked, row

GRID = ("--C", "0.1,1", "--gamma", "0.1,1", "--criteria", "sv-rate")


def test_formats_have_the_same_columns() -> None:
    """All of the schema, in its order."""
    results = ranked(*ROWS)
    for name, delimiter in (("csv", ","), ("tsv", "\t")):
        lines = csv.reader(io.StringIO(render(results, name)), delimiter=delimiter)
        assert {len(line) for line in lines} == {len(COLUMNS)}
        assert render(results, name).startswith(delimiter.join(COLUMNS) + "\n")
    found = json.loads(render(results, "json"))
    assert list(found) == ["schema_version", "data", "settings", "versions", "rows"]
    assert found["schema_version"] == 1
    lines = render(results, "ndjson").splitlines()
    assert [json.loads(line) for line in lines] == found["rows"]
    assert [list(entry) for entry in found["rows"]] == [list(COLUMNS)] * 3


def test_machine_formats_round_nothing() -> None:
    """Floats as repr writes them, truth in lower case, nothing for nothing."""
    text = render(ranked(*ROWS), "csv")
    first, second, third = csv.DictReader(io.StringIO(text))
    assert first["C"] == "0.30000000000000004"
    assert (first["separable"], second["b_unique"]) == ("true", "false")
    assert (second["gamma"], second["sv_rate"]) == ("0.0078125", repr(1 / 3))
    assert (third["gamma"], third["gap"], third["separable"]) == ("", "", "")


def test_what_is_not_finite_is_nothing_in_every_format() -> None:
    """JSON has no NaN, and a file should mean the same in each format."""
    results = ranked(row(sv_rate=0.5, gap=math.inf, norm_w=math.nan))
    assert sheet(results).document["rows"][0]["gap"] is None
    assert json.loads(render(results, "json"))["rows"][0]["norm_w"] is None
    for text in (render(results, "csv"), render(results, "markdown")):
        assert "nan" not in text
        assert ",inf" not in text


def test_markdown_has_the_columns_of_the_table_rounded() -> None:
    """The kernel too, which the table may tell below; all columns when asked for."""
    found = sheet(ranked(*ROWS))
    head, rule, *rest = found.render("markdown").splitlines()
    names = head.strip("| ").split(" | ")
    assert names[:5] == ["rank", "kernel", "gamma", "C", "sv_rate"]
    assert len(names) < 12
    assert len(rest) == 3
    assert rest[0].startswith("| \\* 1 | rbf | 1 | 0.3 | 0.2 |")
    assert "0.3333" in rest[1]
    one = ranked(*ROWS[:2])
    assert "| kernel |" in render(one, "markdown")
    assert "kernel" not in render(one, "table").splitlines()[0]
    whole = found.render("markdown", all_columns=True).splitlines()
    assert whole[0] == f"| {' | '.join(COLUMNS)} |"
    assert "at \\| all" in whole[4]
    assert "| 0.30000000000000004 |" in whole[2]


def test_a_table_fits_and_marks_the_best_row() -> None:
    """80 columns unless more are given; a star without colour, rounded numbers."""
    text = render(ranked(*ROWS), "table")
    assert max(map(len, text.splitlines()[:4])) <= 80
    lines = text.splitlines()
    assert lines[0].split()[:5] == ["rank", "kernel", "gamma", "C", "sv_rate"]
    assert lines[1].split()[:6] == ["*", "1", "rbf", "1", "0.3", "0.2"]
    assert lines[2].split()[0] == "2"
    assert "0.3333" in lines[2]
    assert '1 x failed: no "optimum", at | all' in text
    assert "\x1b" not in text
    assert "\x1b[1;32m" in sheet(ranked(*ROWS)).render("table", colour=True)


def test_a_wider_table_shows_more_columns() -> None:
    """Columns are left out by importance, never folded or cut."""
    narrow, wide = (
        sheet(ranked(*ROWS)).render("table", w).splitlines() for w in (40, 160)
    )
    assert "n_sv" not in narrow[0]
    assert {"n_sv", "gap", "train_errors"} <= set(wide[0].split())
    assert all("…" not in line for line in narrow + wide)


def test_a_table_has_the_same_rows_at_any_number() -> None:
    """Each row is a line: two hundred rows, one header, one remark."""
    results = ranked(*(row(sv_rate=i / 200, C=float(1 + i)) for i in range(200)))
    assert len(render(results, "table").splitlines()) == 1 + 200 + 2


def test_spare_columns_are_left_out_the_least_important_first() -> None:
    """The others stand whatever the width, in the order of reading."""
    looks = [Look(name) for name in ("cell", "kind", "score", "cost")]
    found = Sheet(
        columns=looks,
        rows=[dict.fromkeys(("cell", "kind", "score", "cost"), 1.0)],
        shown=["cell", "kind", "score", "cost"],
        spare=["cost", "kind"],
    )
    heads = [found.render("table", w).splitlines()[0].split() for w in (5, 20, 26)]
    assert heads[0] == ["cell", "score"]
    assert heads[1] == ["cell", "score", "cost"]
    assert heads[2] == ["cell", "kind", "score", "cost"]


def test_a_sweep_tells_its_best_cell_once(tmp_path: Path) -> None:
    """Below the table; on stderr where no table is on stdout."""
    data = DATA / "iris.csv"
    table = run("sweep", data, *GRID)
    assert table.stdout.count("best by sv-rate") == 1
    assert "Best by" not in table.stderr
    for more in (("--format", "csv"), ("-o", tmp_path / "ranked.txt")):
        other = run("sweep", data, *GRID, *more)
        assert other.stderr.count("Best by sv-rate: rbf gamma=") == 1


def test_the_table_says_why_another_cell_was_chosen() -> None:
    """The legend has the rule and its reason, also where the row is cut off."""
    cells = [row(loo_rate=0.1, gamma=2.0), row(loo_rate=0.11, gamma=0.5)]
    results = chosen(ranked(*cells, by="loo"), "1se")
    for found in (results, results.head(1)):
        text = render(found, "table")
        assert "* chosen by 1se" in text
        assert "the simplest of 2 within one standard error" in text
    assert "not shown: rbf gamma=0.5 C=1" in render(results.head(1), "table")


def test_where_no_cell_counts_the_table_says_so() -> None:
    """No mark, and the sentence that stderr has otherwise."""
    text = render(ranked(row(sv_rate=0.1, status="failed")), "table")
    assert "No cell has a score by sv-rate that counts." in text
    assert "*" not in text


def test_every_answer_gives_markdown_all_columns_when_asked(tmp_path: Path) -> None:
    """Those of csv, in its order and as exact."""
    cell = ("loo", DATA / "iris.csv", "--C", 1, "--gamma", 0.25)
    head, rule, *rest = run(
        *cell, "--format", "markdown", "--all-columns"
    ).stdout.splitlines()
    lines = list(csv.reader(io.StringIO(run(*cell, "--format", "csv").stdout)))
    assert [head.strip("| ").split(" | "), *(r[2:-2].split(" | ") for r in rest)] == (
        lines
    )


def test_fit_tells_no_more_than_the_certificate(tmp_path: Path) -> None:
    """Gap, KKT violation and biases; the flow imbalance is in the model file."""
    out = tmp_path / "model.json"
    found = run("fit", DATA / "iris.csv", "--C", 1, "--gamma", 0.25, "-o", out)
    assert "KKT violation" in found.stderr
    assert "flow imbalance" not in found.stderr
    assert "flow_imbalance" in out.read_text()


def test_a_json_document_has_no_number_that_is_none_of_json() -> None:
    """However deep it stands, what is not finite is null."""
    nan, inf = float("nan"), float("inf")
    text = json_document({"a": [nan, {"b": -inf, "c": (1.5, inf, "x")}], "d": None})
    found = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert found == {"a": [None, {"b": None, "c": [1.5, None, "x"]}], "d": None}


def test_a_person_reads_rounded_values() -> None:
    """A dash for nothing, yes or no, as many digits as asked for; integers whole."""
    values: list[Plain] = [None, True, 1 / 3, 1234567, "text"]
    assert [shown(value, 3) for value in values] == [
        *("-", "yes", "0.333", "1234567", "text")
    ]


def test_columns_are_aligned_as_a_terminal_shows_them() -> None:
    """A Chinese letter takes two places, an accent of its own none."""
    rows = [["玻璃", "1"], ["verre\u0301", "22"], ["x", "3"]]
    found = aligned(rows, [True, False]).splitlines()
    assert found == ["玻璃    1", "verre\u0301  22", "x       3"]
