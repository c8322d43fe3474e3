"""What loo, bound, margins and compare tell of machines of several parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DATA, IRIS, rows_of, run

CELL = ("--C", 8, "--gamma", 0.25)
HARD = ("--C", 1000, "--gamma", 1)
NO_MEANING = "only for one machine of all classes"


def told(command: str, *words: object) -> dict[str, Any]:
    """The JSON of a command on iris."""
    result = run(command, IRIS, *words, "--format", "json", "-q")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_loo_names_the_pairs_that_turn_the_vote() -> None:
    """The decision of the pair of the true and the predicted class, and those lost."""
    result = run("loo", DATA / "glass.csv", *CELL, "--machine", "ovo", "-q")
    assert result.exit_code == 0
    assert "pairs lost to" in result.stdout.splitlines()[0]
    assert "a decision within 1e-06 of 0" in result.stdout
    assert "(the worst of 15 parts)" in result.stdout
    command = ("loo", DATA / "glass.csv", *CELL, "--machine", "ovo", "--format", "csv")
    rows = rows_of(run(*command, "-q").stdout)
    assert len(rows) == 214
    for row in rows:
        lost = row["lost"].split(";") if row["lost"] else []
        assert row["class"] not in lost
        if row["wrong"] == "true":
            assert lost
            assert row["predicted"] != row["class"]
            assert (float(row["margin"]) < 0.0) == (row["predicted"] in lost)
        else:
            assert row["predicted"] == row["class"]
            assert (float(row["margin"]) < 0.0) == bool(lost)


def test_loo_of_one_against_the_rest_is_as_of_one_machine() -> None:
    """Margins of outputs, no pairs."""
    found = told("loo", *CELL, "--machine", "ova")
    assert "lost" not in found["rows"][0]
    assert found["summary"]["machine"] == "ova"
    for row in found["rows"]:
        assert row["wrong"] == (row["margin"] <= 0.0)


@pytest.mark.parametrize("machine", ["ovo", "ova"])
def test_bound_tells_sums_and_worst_parts(machine: str) -> None:
    """The bounds hold, and what has no meaning says so."""
    rows = {r["term"]: r for r in told("bound", *HARD, "--machine", machine)["rows"]}
    value = {term: row["value"] for term, row in rows.items()}
    assert value["parts"] == 3
    assert rows["radius_margin"]["applies"]
    assert (
        value["loo_errors"]
        <= value["radius_margin_count B*"]
        <= value["radius_margin"]
        <= value["radius_margin_q"] * (1 + 1e-9)
    )
    assert value["radius_margin, largest part"] <= value["radius_margin"]
    assert "against" in rows["gamma"]["note"]
    for term in ("vc_dimension", "radius_margin_l1", "sum over pairs"):
        assert value[term] is None
        assert rows[term]["note"] == NO_MEANING
    if machine == "ovo":
        assert "votes" in rows["guaranteed_risk"]["note"]
    else:
        assert value["guaranteed_risk"] > 0.0


def test_bound_names_the_part_where_it_does_not_hold() -> None:
    """With how many samples are at C there."""
    result = run("bound", IRIS, *CELL, "--machine", "ovo", "-q", "--explain")
    assert result.exit_code == 0
    assert (
        "not in 1 of 3 parts: versicolor against virginica, 10 samples have an alpha"
        in result.stdout
    )


def test_bound_and_sweep_say_the_same() -> None:
    """Each column of the row is a term."""
    criteria = "loo,radius-margin,radius-margin-count,span,sv-rate,compression"
    words = (*HARD, "--machine", "ovo")
    terms = {r["term"]: r["value"] for r in told("bound", *words)["rows"]}
    (row,) = told("sweep", *words, "--criteria", criteria)["rows"]
    names = ("radius_margin", "radius_margin_q", "span_rate", "compression_bound", "K")
    for name in (*names, "diameter_all", "loo_errors", "n_sv", "sum_alpha"):
        assert terms[name] == pytest.approx(row[name], rel=1e-6), name
    assert terms["radius_margin_count B*"] == row["radius_margin_count"]
    assert terms["diameter D"] == pytest.approx(row["diameter"], rel=1e-6)


def test_margins_has_a_row_a_part() -> None:
    """||w|| of its own; at the hard margin gamma is 1/||w||."""
    pairs = told("margins", *HARD, "--machine", "ovo")["rows"]
    assert [(r["class_k"], r["class_l"]) for r in pairs] == [
        ("setosa", "versicolor"),
        ("setosa", "virginica"),
        ("versicolor", "virginica"),
    ]
    rests = told("margins", *HARD, "--machine", "ova")["rows"]
    assert [r["class_l"] for r in rests] == 3 * ["the rest"]
    for row in (*pairs, *rests):
        assert row["gamma"] == pytest.approx(1.0 / row["distance"], rel=1e-6)
        assert row["closest_k"] and row["closest_l"]  # noqa: PT018
    text = run("margins", IRIS, *CELL, "--machine", "ovo", "-q").stdout
    assert "||w||" in text
    assert "||w_k" not in text


def test_compare_ranks_machines(small: Path) -> None:
    """Each is swept; a column says which; the smallest leave-one-out rate ranks."""
    words = ("compare", small, "--C", "1,10", "--gamma", 0.5, "-q")
    machines = ("--machine", "ww", "--machine", "ovo", "--machine", "ova")
    result = run(*words, *machines)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("machine")
    assert "Machines by their smallest leave-one-out rate: " in result.stdout
    found = json.loads(run(*words, *machines, "--format", "json").stdout)
    assert {row["machine"] for row in found["rows"]} == {"ww", "ovo", "ova"}
    rates = [one["least_loo_rate"] for one in found["machines"]]
    assert rates == sorted(rates)
    of = {
        machine: [r["criterion"] for r in found["rows"] if r["machine"] == machine]
        for machine in ("ww", "ovo")
    }
    assert {"vc", "radius-margin-l1"} <= set(of["ww"])
    assert not {"vc", "radius-margin-l1"} & set(of["ovo"])
    assert "radius-margin" in of["ovo"]
    alone = json.loads(run(*words, "--machine", "ovo", "--format", "json").stdout)
    same = [r for r in found["rows"] if r["machine"] == "ovo"]
    timed = ("seconds", "share")
    for one, other in zip(alone["rows"], same, strict=True):
        assert {**one, **dict.fromkeys(timed)} == {**other, **dict.fromkeys(timed)}


def test_machines_are_taken_where_they_can_be(small: Path) -> None:
    """Only compare takes several; unknown ones are told what was meant."""
    two = ("--machine", "ww", "--machine", "ovo")
    for command in ("sweep", "loo", "bound", "margins"):
        result = run(command, small, *two)
        assert result.exit_code == 2
        assert "--machine is given 2 times" in result.stderr
    wrong = run("compare", small, "--machine", "ww,ovx")
    assert wrong.exit_code == 2
    assert "did you mean 'ovo'?" in wrong.stderr
    vc = run("compare", small, *two, "--criteria", "vc")
    assert vc.exit_code == 2
    assert "vc is not for the machine ovo, but for ww" in vc.stderr
