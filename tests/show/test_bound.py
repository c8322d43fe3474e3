"""Every term of every bound, against the numbers by hand and the papers' laws."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from msvm_select.data.read import read_dataset
from msvm_select.errors import SolverError
from msvm_select.model import examined
from msvm_select.model.examined import BoundsReport, bounds
from msvm_select.records import Dataset
from msvm_select.settings import settings_from
from msvm_select.show.answers.bound import LOOKS, conclusion, sheet, terms_of
from msvm_select.sweep.plan import part_of
from msvm_select.train.along_C import train_cell
from tests.conftest import DATA, IRIS, rows_of
from tests.conftest import run as command

run = partial(command, "bound")

WINE = {"kernel": "linear", "C": 1000}
ROUGH = {"C": 1, "gamma": 0.25}


def report(data: str | Dataset = "wine", **values: Any) -> BoundsReport:
    """The bounds of one cell of data, or of a file in data/."""
    settings = settings_from({"C": 1, **values})
    if isinstance(data, str):
        data = read_dataset(str(DATA / f"{data}.csv"))
    return bounds(train_cell(data, settings), settings)


def numbers(found: BoundsReport) -> dict[str, Any]:
    """The values by name."""
    return {row["term"]: row["value"] for row in sheet(found).rows}


@pytest.fixture(scope="module")
def wine() -> BoundsReport:
    """A separable cell at hard margin."""
    return report(**WINE)


def test_a_reference_cell(wine: BoundsReport) -> None:
    """wine, linear, hard margin: the figures of an interior-point computation."""
    value = numbers(wine)
    assert value["loo_errors"] == 7
    assert value["n_sv"] == 17
    assert value["K"] == pytest.approx(53.38, rel=1e-3)
    assert value["diameter D"] == pytest.approx(8.87, rel=1e-3)
    assert value["diameter_all"] == pytest.approx(11.45, rel=1e-3)
    assert value["sum_alpha"] == pytest.approx(5.09, rel=1e-3)
    assert value["radius_margin"] == pytest.approx(2.137e4, rel=1e-3)
    assert value["S2"] == pytest.approx(784.6, rel=1e-3)
    assert (value["A"], value["radius_margin_count B*"]) == (16, 13)


def test_the_terms_make_up_the_bounds(wine: BoundsReport) -> None:
    """Each bound from the terms beside it, by its formula; the chain of bounds."""
    v, m, Q = numbers(wine), 178, 3
    alpha, D = v["sum_alpha"], v["diameter D"]
    assert v["radius_margin"] == pytest.approx(v["K"] * D**2 * alpha)
    squared = v["sum_k ||w_k||^2"]
    assert v["radius_margin_q"] == pytest.approx(Q * v["diameter_all"] ** 2 * squared)
    assert v["radius_margin"] >= v["S2"] >= v["A"] >= v["loo_errors"]
    assert v["radius_margin_count B*"] >= v["loo_errors"]
    assert v["n_sv"] >= v["A"]
    total = v["R_gamma (margin risk)"] + v["confidence"] + 1.0 / m
    assert v["guaranteed_risk"] == pytest.approx(total)
    rest = math.log(2.0) + v["ln N"] + math.log(2 / v["guaranteed_risk_gamma"] / 0.05)
    assert v["confidence"] == pytest.approx(math.sqrt(2 / m * rest))
    assert v["Lambda_w"] == pytest.approx(math.sqrt(squared))
    assert v["d"] == 13
    s = v["n_sv"]
    compressed = (s * (1 + math.log(m / s)) + math.log(m / 0.05)) / (m - s)
    assert v["compression_bound"] == pytest.approx(compressed)
    assert v["sv_rate"] == s / m
    ratio = (v["R"] / v["gamma (margin)"]) ** 2
    assert v["vc_dimension"] == min(math.ceil(ratio), 13) + 1
    assert v["R"] == pytest.approx(v["diameter_all"] / 2)
    h = v["vc_dimension"]
    risk = math.sqrt((h * (1 + math.log(2 * m / h)) - math.log(0.05 / 4)) / m)
    assert v["vc_risk"] == pytest.approx(risk)


@pytest.mark.parametrize("values", [WINE, ROUGH, {**ROUGH, "loss": "l2"}], ids=str)
def test_the_four_numbers_agree(values: dict[str, Any]) -> None:
    """Proposition 2, at hard margin and not; in the separable case sum alpha too."""
    value = numbers(report("iris" if values is ROUGH else "wine", **values))
    four = [
        value[name] for name in ("sum alpha (1 - xi)", "alpha'H alpha", "sum ||w_k||^2")
    ]
    four.append(value["sum over pairs"])
    assert value["disagreement"] < 1e-9
    assert (max(four) - min(four)) / max(four) == pytest.approx(
        value["disagreement"], abs=1e-15
    )
    if values is not ROUGH:
        assert value["sum_alpha"] == pytest.approx(four[0], rel=1e-9)


def test_where_a_bound_does_not_apply_it_says_so() -> None:
    """With alpha at C: not applicable and why, no B*; with the loss l2 it applies."""
    soft = report("iris", **ROUGH)
    by_name = {row["term"]: row for row in sheet(soft).rows}
    assert by_name["radius_margin"]["applies"] is False
    assert by_name["radius_margin_count B*"]["value"] is None
    assert "alpha = C" in str(by_name["radius_margin_applicable"]["note"])
    assert by_name["radius_margin_l1"]["value"] > 0.0
    assert "does not apply" in conclusion(soft)
    quadratic = report("iris", **ROUGH, loss="l2")
    squared = {row["term"]: row for row in sheet(quadratic).rows}
    errors = squared["loo_errors"]["value"]
    for name in ("radius_margin", "S2", "A", "radius_margin_count B*"):
        assert squared[name]["applies"] is True
        assert squared[name]["value"] >= errors
    assert "radius_margin_l1" not in squared
    assert squared["vc_risk"]["applies"] is False


@pytest.mark.parametrize(
    ("name", "C"),
    [("iris", 2.0**-3), ("iris", 2.0), ("iris", 2.0**9), ("wine", 2.0**9)],
)
def test_with_the_quadratic_loss_every_bound_holds_at_every_C(name, C) -> None:
    """Exact errors below B*, A, S2 and K D^2 sum alpha, whatever C."""
    some = part_of(read_dataset(str(DATA / f"{name}.csv")), 60)
    v = numbers(report(some, C=C, gamma=0.5, loss="l2"))
    assert v["radius_margin"] >= v["S2"] >= v["A"] >= v["loo_errors"]
    assert v["radius_margin_count B*"] >= v["loo_errors"]


def test_K_names_the_pair_that_attains_it(wine: BoundsReport) -> None:
    """By the line of the file, its class and the class against."""
    constant = wine.radius_margin.constant
    note = next(str(row["note"]) for row in sheet(wine).rows if row["term"] == "K")
    line = wine.data.lines[constant.sample]
    own = wine.data.classes[wine.data.y[constant.sample]]
    assert note == f"at line {line}, {own} -> {wine.data.classes[constant.against]}"


def test_two_classes_have_theorem_1(tmp_path: Path) -> None:
    """D^2/gamma^2 = K D^2 sum alpha with K = 2, and it is at least L."""
    text = (DATA / "iris.csv").read_text().splitlines()
    path = tmp_path / "two.csv"
    path.write_text("\n".join(line for line in text if "virginica" not in line))
    settings = settings_from({"kernel": "linear", "C": 1000})
    found = bounds(train_cell(read_dataset(str(path)), settings), settings)
    v = numbers(found)
    assert v["K"] == pytest.approx(2.0)
    assert v["D^2/gamma^2"] == pytest.approx(v["radius_margin"], rel=1e-8)
    assert v["gamma"] == pytest.approx(v["gamma (margin)"])
    assert v["D^2/gamma^2"] >= v["large alpha"] >= v["loo_errors"]


def test_explain_gives_every_number_its_formula_and_source(wine: BoundsReport) -> None:
    """None without; the papers' theorems are cited."""
    plain, told = sheet(wine).render("table"), sheet(wine, True).render("table")
    flat = " ".join(told.split())
    for term in terms_of(wine):
        assert term.formula
        assert " ".join(f"{term.formula} [{term.source}]".split()) in flat
        assert f"  {term.term} " in plain
    for cited in ("RM Theorem 2", "RM Proposition 2", "MS Theorem 1", "MS Theorem 3"):
        assert cited in flat
        assert cited not in plain
    assert max(map(len, told.splitlines())) <= 88


def test_formats_hold_the_same_rows(small: Path) -> None:
    """csv, ndjson and json: the columns, unrounded; json says what it came from."""
    line = [small, "--C", 1, "--gamma", 4, "--loss", "l2"]
    found = run(*line, "--format", "csv")
    assert found.exit_code == 0
    table = rows_of(found.stdout)
    assert tuple(table[0]) == tuple(look.name for look in LOOKS)
    document = json.loads(run(*line, "--format", "json").stdout)
    assert document["schema_version"] == 1
    assert document["cell"]["loss"] == document["settings"]["loss"] == "l2"
    assert [row["term"] for row in document["rows"]] == [row["term"] for row in table]
    order = "group term value formula source note applies"
    assert " ".join(document["rows"][0]) == order  # as ever
    for one, other in zip(document["rows"], table, strict=True):
        if isinstance(one["value"], float):
            assert float(other["value"]) == one["value"]
    lines = run(*line, "--format", "ndjson").stdout.splitlines()
    assert [json.loads(text) for text in lines] == document["rows"]
    assert "Leave-one-out: 1 of 30 wrong; radius-margin" in found.stderr


def test_the_table_and_a_file(tmp_path: Path) -> None:
    """A group a part; the file by its ending; the constants are options."""
    line = [DATA / "iris.csv", "--C", 1, "--gamma", 0.25]
    shown = run(*line, "-q")
    assert shown.exit_code == 0
    assert shown.stderr == ""
    assert shown.stdout.startswith("rbf gamma=0.25 C=1 loss=l1 solver=exact\n")
    for group in ("exact leave-one-out", "guaranteed risk", "bounds of lecture notes"):
        assert f"\n\n{group}\n" in shown.stdout
    out = tmp_path / "terms.json"
    union = run(*line, "--union", "--dimension", 4, "--delta", 0.1, "-o", out)
    assert union.exit_code == 0
    assert union.stdout == ""
    value = {r["term"]: r for r in json.loads(out.read_text())["rows"]}
    assert value["guaranteed_risk"]["applies"] is True
    assert value["d"]["value"] == 4
    assert value["delta"]["value"] < 0.1


def test_a_machine_short_of_its_optimum_has_no_bounds(monkeypatch) -> None:
    """Exit 5 with nothing shown; the library raises."""
    monkeypatch.setattr("msvm_select.solvers.smo.MOST_STEPS", 1)
    found = run(DATA / "iris.csv", "--C", 8, "--gamma", 0.5, "--solver", "smo")
    assert (found.exit_code, found.stdout) == (5, "")
    assert "nothing to bound" in found.stderr
    with pytest.raises(SolverError, match="not at its optimum"):
        report("iris", C=8, gamma=0.5, solver="smo")


def test_other_solvers_give_the_same_numbers() -> None:
    """The bounds are of the machine, not of the road to it."""
    some = part_of(read_dataset(IRIS), 60)
    one, other = (
        numbers(report(some, C=1, gamma=0.5, loss="l2", solver=solver))
        for solver in ("exact", "osqp")
    )
    for name in ("loo_errors", "n_sv", "radius_margin_count B*", "vc_dimension"):
        assert one[name] == other[name]
    for name in ("diameter D", "S2", "guaranteed_risk", "radius_margin_q"):
        assert one[name] == pytest.approx(other[name], rel=1e-5)


def test_a_machine_without_support_vectors_has_no_radius_margin(monkeypatch) -> None:
    """Its rows are left out; the rest is there."""
    monkeypatch.setattr(examined, "radius_margin_terms", lambda *a, **k: None)
    found = report("iris", C=1, gamma=0.5)
    value = numbers(found)
    assert "K" not in value
    assert np.isfinite(value["guaranteed_risk"])
    assert "radius-margin" not in conclusion(found)


@pytest.fixture
def stopped(monkeypatch) -> str:
    """Every small program of K fails; what it says."""
    said = "a small quadratic program of the bound stopped at 0.02"

    def fails(*_: Any) -> None:
        raise SolverError(said)

    monkeypatch.setattr("msvm_select.criteria.flow_constant.by_water_level", fails)
    return said


LACKS = {"C": 30, "gamma": 0.01, "loss": "l2"}


def test_a_program_that_fails_leaves_the_other_numbers(stopped: str) -> None:
    """Only what needs it is missing, and says so; B* is counted and still a bound."""
    found = report("wine", **LACKS)
    value = numbers(found)
    missing = ("K", "radius_margin", "S2", "A")
    notes = {row["term"]: row["note"] for row in sheet(found).rows}
    for term in missing:
        assert value[term] is None
        assert notes[term] == f"missing: {stopped}"
    assert value["radius_margin_count B*"] >= value["loo_errors"] > 0
    assert value["radius_margin_q"] > value["diameter D"] > 0.0  # the others
    assert conclusion(found).endswith(f"radius-margin is missing: {stopped}")


def test_a_row_says_which_number_a_failed_program_left_out(stopped: str) -> None:
    """The row is ok, has the others, and criteria after it are computed."""
    line = ("--C", 30, "--gamma", 0.01, "--loss", "l2", "--format", "csv")
    criteria = ("--criteria", "radius-margin,loo", "--rank-by", "loo")
    found = command("sweep", DATA / "wine.csv", *line, *criteria)
    (row,) = rows_of(found.stdout)
    assert (row["K"], row["radius_margin"], row["status"]) == ("", "", "ok")
    assert row["status_reason"] == f"K and radius_margin are missing: {stopped}"
    assert float(row["radius_margin_q"]) > 0.0
    assert int(row["loo_errors"]) > 0
