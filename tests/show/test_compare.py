"""How well criteria choose: each number against counting it by hand."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import pytest
from click.testing import CliRunner

from msvm_select.cli import cli
from msvm_select.cli.compare import with_the_truth
from msvm_select.columns import Row
from msvm_select.names import CRITERIA
from msvm_select.results.compare import CHOICE, Comparison
from msvm_select.results.ranking import Results, rank
from msvm_select.settings import settings_from
from msvm_select.show.answers.compare import sheet
from msvm_select.sweep.loop import gather, iterate
from msvm_select.train.events import Stopwatch
from tests.conftest import DATA
from tests.conftest import run as command

run = partial(command, "compare")

GRID = ["--gamma", "0.05,0.5", "--C", "0.5,8,128"]


def cell(C: float, loo: float | None, **columns: Any) -> Row:
    """A trained cell."""
    return Row(kernel="rbf", gamma=0.5, C=C, loo_rate=loo, **columns)


def comparison(
    *cells: Row, criteria: tuple[str, ...] = ("loo", "sv-rate")
) -> Comparison:
    """These cells; one second for each criterion."""
    results = Results(rank(cells, "loo"), "loo", settings={"criteria": criteria})
    return Comparison(results, dict.fromkeys(criteria, 1.0))


def by_name(found: Comparison) -> dict[str, dict[str, Any]]:
    """The rows by criterion."""
    return {str(row["criterion"]): row for row in found.rows}


def test_the_choice_and_its_regret() -> None:
    """The smallest score, the smaller C at a tie; its rate less the smallest one."""
    found = comparison(
        cell(1.0, 0.30, sv_rate=0.5),
        cell(2.0, 0.10, sv_rate=0.4),
        cell(4.0, 0.15, sv_rate=0.2),
        cell(8.0, 0.40, sv_rate=0.2),
    )
    row = by_name(found)["sv-rate"]
    assert (row["C"], row["score"], row["loo_rate"]) == (4.0, 0.2, 0.15)
    assert row["regret"] == pytest.approx(0.05)
    assert by_name(found)["loo"]["regret"] == 0.0
    assert found.least == 0.10


def test_kendall_is_counted_over_all_pairs() -> None:
    """tau-b: (concordant - discordant) / sqrt(pairs untied in x, untied in y)."""
    loo = [0.3, 0.1, 0.15, 0.4, 0.1]
    score = [0.5, 0.4, 0.2, 0.2, 0.6]
    found = comparison(
        *(
            cell(C, a, sv_rate=b)
            for C, (a, b) in enumerate(zip(loo, score, strict=True), 1)
        )
    )
    balance = untied_x = untied_y = 0
    for i, j in combinations(range(5), 2):
        dx, dy = loo[i] - loo[j], score[i] - score[j]
        balance += (dx * dy > 0) - (dx * dy < 0)
        untied_x += dx != 0
        untied_y += dy != 0
    by_hand = balance / (untied_x * untied_y) ** 0.5
    rows = by_name(found)
    assert rows["sv-rate"]["kendall"] == pytest.approx(by_hand)
    assert rows["loo"]["kendall"] == pytest.approx(1.0)


def test_cells_without_a_score_or_a_truth_do_not_count() -> None:
    """Nor failed ones; bounds say in how many cells they apply."""
    found = comparison(
        cell(1.0, 0.3, radius_margin=9.0, radius_margin_applicable=False),
        cell(2.0, 0.1, radius_margin=99.0, radius_margin_applicable=True),
        cell(4.0, 0.2, radius_margin=50.0, radius_margin_applicable=True),
        cell(8.0, 0.2),
        cell(16.0, None, radius_margin=1.0, status="failed"),
        criteria=("loo", "radius-margin"),
    )
    row = by_name(found)["radius-margin"]
    assert (row["cells"], row["applies"]) == (3, 2)
    assert (row["C"], row["loo_rate"]) == (4.0, 0.2)


def test_nothing_to_compare_is_said() -> None:
    """A constant score has no correlation, one that is nowhere no choice."""
    flat = comparison(cell(1.0, 0.3, sv_rate=1.0), cell(2.0, 0.1, sv_rate=1.0))
    assert by_name(flat)["sv-rate"]["kendall"] is None
    assert by_name(flat)["sv-rate"]["C"] == 1.0
    none = comparison(cell(1.0, None), cell(2.0, None))
    row = by_name(none)["sv-rate"]
    assert (row["C"], row["regret"], row["cells"]) == (None, None, 0)
    assert "no cell has one" in sheet([none]).render("table")


def test_the_shares_are_those_of_training_and_criteria() -> None:
    """A row's seconds are of both: what the criteria took is not of the training."""
    found = comparison(
        cell(1.0, 0.3, sv_rate=0.5, seconds=2.5),
        cell(2.0, 0.1, sv_rate=0.4, seconds=1.5),
    )
    assert (found.training, found.total) == (2.0, 4.0)
    assert [row["share"] for row in found.rows] == [0.25, 0.25]
    assert "training took 50 % of 4 s" in sheet([found]).render("table")


def test_the_stopwatch_hears_every_scoring() -> None:
    """Seconds for each criterion of each cell; all events are handed on."""
    from msvm_select.data.read import read_dataset

    data = read_dataset(str(DATA / "iris.csv"))
    heard: list[object] = []
    watch = Stopwatch(heard.append)
    asked = "loo,sv-rate,cv:3"
    settings = settings_from({"C": "1,8", "gamma": 0.5, "criteria": asked})
    results = gather(data, settings, list(iterate(data, settings, watch)))
    assert len(watch.scored) == 6
    assert set(watch.seconds) == {"loo", "sv-rate", "cv:3"}
    assert watch.seconds["cv:3"] > watch.seconds["sv-rate"] > 0.0
    assert set(watch.scored) <= set(heard)
    found = by_name(Comparison(results, watch.seconds))
    assert found["cv:3"]["kind"] == "estimate"
    assert found["cv:3"]["seconds"] == watch.seconds["cv:3"]


def test_all_criteria_of_the_loss_are_compared() -> None:
    """loo first, and always; --criteria names some of the others."""
    every = with_the_truth({})
    assert every[0] == "loo"
    assert set(every) == set(CRITERIA) - {"logo"}
    quadratic = with_the_truth({"loss": "l2"})
    assert set(every) - set(quadratic) == {"radius-margin-l1"}
    assert with_the_truth({"criteria": ("cv:3", "loo")}) == ("loo", "cv:3")
    assert with_the_truth({"criteria": ("span",)}) == ("loo", "span")


def test_the_command_compares_all_on_iris() -> None:
    """A line a criterion; in csv and json the same rows as the sweep's would give."""
    found = run(DATA / "iris.csv", *GRID, "-q")
    assert found.exit_code == 0
    told = {line.split()[0] for line in found.stdout.splitlines() if line}
    assert set(CRITERIA) - {"logo"} <= told
    assert "Exact leave-one-out over 6 cells" in found.stdout
    whole = json.loads(run(DATA / "iris.csv", *GRID, "--format", "json").stdout)
    rows = {row["criterion"]: row for row in whole["rows"]}
    assert whole["schema_version"] == 1
    assert tuple(whole["rows"][0]) == CHOICE
    assert rows["loo"]["regret"] == 0.0
    assert rows["loo"]["loo_rate"] == whole["least_loo_rate"]
    shares = sum(row["share"] for row in whole["rows"])
    assert shares + whole["seconds"]["training"] / whole["seconds"]["total"] == (
        pytest.approx(1.0)
    )
    sweep = ["sweep", str(DATA / "iris.csv"), *GRID, "--format", "csv", "-q"]
    asked = ["--criteria", "loo,compression", "--rank-by", "compression"]
    best = next(
        csv.DictReader(io.StringIO(CliRunner().invoke(cli, sweep + asked).stdout))
    )
    pick = rows["compression"]
    assert (pick["C"], pick["gamma"]) == (float(best["C"]), float(best["gamma"]))
    assert pick["loo_rate"] == float(best["loo_rate"])


def test_the_command_with_some_criteria_and_a_file(tmp_path: Any) -> None:
    """The format by the ending; there is nothing to rank by."""
    out = tmp_path / "compared.md"
    line = [DATA / "iris.csv", *GRID, "--criteria", "cv:3", "-o", out]
    found = run(*line, "--loss", "l2", "--jobs", 2)
    assert (found.exit_code, found.stdout) == (0, "")
    assert "training took" in found.stderr
    lines = out.read_text().splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| loo", "| cv:3"]
    assert run(*line, "--rank-by", "loo").exit_code == 2


def test_trouble_is_told_by_the_exit_code() -> None:
    """As with sweep: 4 where every cell failed."""
    sigmoid = ["--kernel", "sigmoid", "--coef0", 1, "--C", 1, "--criteria", "sv-rate"]
    found = run(DATA / "iris.csv", *sigmoid)
    assert found.exit_code == 4
    assert "no cell has one" in found.stdout


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_the_table_of_the_bounds_is_what_comes_out(loss: str) -> None:
    """On iris: the rate of each pick, and Kendall's tau."""
    text = (DATA.parent / "docs" / "bounds.md").read_text(encoding="utf-8")
    part = text.partition("## Do the bounds choose well?")[2].partition("\n## ")[0]
    told = {
        cells[1].strip(" `"): cells[3].strip()
        for cells in (
            row.split("|") for row in part.splitlines() if row.startswith("| `")
        )
    }
    assert set(CRITERIA) <= set(told)
    line = ["--gamma", "2^-7:2^1:5", "--format", "json", "--loss", loss]
    some = ["--criteria", "radius-margin"] if loss == "l2" else []
    found = json.loads(run(DATA / "iris.csv", *line, *some).stdout)
    for row in found["rows"] if loss == "l1" else found["rows"][1:]:
        tau = "-" if row["kendall"] is None else f"{row['kendall']:.2f}"
        shown = f"{100.0 * row['loo_rate']:.1f} %, {tau}"
        mark = "" if loss == "l1" else " --loss l2"
        assert told[row["criterion"] + mark] == shown


def test_the_rows_do_not_depend_on_the_order_of_the_cells() -> None:
    """Nor on the rank that they came with."""
    cells = [cell(C, 0.1 * C, sv_rate=1.0 / C) for C in (1.0, 2.0, 4.0)]
    found = comparison(*cells)
    turned = replace(found.results, rows=found.results.rows[::-1])
    assert Comparison(turned, found.seconds).rows == found.rows


def test_a_narrow_terminal_gets_the_columns_that_fit() -> None:
    """Within a width the least of the columns are left out; without one, none."""
    found = comparison(cell(1.0, 0.1, sv_rate=0.2), cell(2.0, 0.2, sv_rate=0.3))
    whole = sheet([found]).render("table").splitlines()[0]
    narrow = sheet([found]).render("table", len(whole) - 1).splitlines()[0]
    assert whole.split()[1] == "kind"
    assert narrow.split() == [name for name in whole.split() if name != "kind"]
    assert len(sheet([found]).render("table", 60).splitlines()[0]) <= 60
