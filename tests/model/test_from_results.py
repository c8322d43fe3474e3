"""A machine trained from a row of earlier results, and refused where it is another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from msvm_select import load_csv, load_model, run_sweep
from msvm_select.errors import DataError, SettingsError
from msvm_select.files import write_whole
from msvm_select.model.fitting import cell_of
from msvm_select.results.ranking import Results
from tests.conftest import DATA, IRIS, render, run


@pytest.fixture(scope="module")
def swept() -> Results:
    """Six cells of iris, scaled to [0, 1], one of them chosen as the simplest."""
    grid = {"C": "1,10,100", "gamma": "0.5,2", "scale": "minmax"}
    return run_sweep(load_csv(IRIS), criteria="train-errors", select="simplest", **grid)


@pytest.fixture
def files(swept: Results, tmp_path: Path) -> dict[str, Path]:
    """The results as json and as csv."""
    paths = {name: tmp_path / f"ranked.{name}" for name in ("json", "csv")}
    for name, path in paths.items():
        write_whole(path, render(swept, name))
    return paths


def test_the_chosen_cell_is_trained_as_it_was_in_the_sweep(
    files: dict[str, Path], swept: Results, tmp_path: Path
) -> None:
    """Its kernel, C and scaling; whatever the environment says of the cell."""
    out = tmp_path / "model.json"
    found = run(
        "fit", IRIS, "--from", files["json"], "-o", out, env={"MSVM_SELECT_C": "3"}
    )
    assert found.exit_code == 0, found.output
    row = swept.chosen
    assert row is not None
    model = load_model(out)
    assert (model.C, model.kernel.parameters["gamma"]) == (row.C, row.gamma)
    assert model.scaling.kind == "minmax"
    assert model.certificate.dual_objective == pytest.approx(row.dual_objective)
    assert f"rank {row.rank}: rbf gamma={row.gamma:g} C={row.C:g}" in found.stderr
    assert "(chosen by simplest)" in found.stderr


def test_any_rank_can_be_asked_for(files: dict[str, Path], swept: Results) -> None:
    """By loo, bound and margins as well; one that is not there is refused."""
    for command in ("loo", "bound", "margins"):
        found = run(command, IRIS, "--from", files["json"], "--rank", "2")
        assert found.exit_code == 0, found.output
        assert f"rank 2: rbf gamma={swept.rows[1].gamma:g}" in found.stderr
    refused = run("loo", IRIS, "--from", files["json"], "--rank", "7")
    assert refused.exit_code == 2
    assert "has no row of rank 7; it has 1 to 6" in refused.stderr
    assert run("loo", IRIS, "--select", "best").exit_code == 2


def test_a_csv_does_not_tell_the_scaling(
    files: dict[str, Path], tmp_path: Path
) -> None:
    """What is assumed is said; where it is wrong, no model is written."""
    out = tmp_path / "model.json"
    line = ("fit", IRIS, "--from", files["csv"], "-o", out)
    wrong = run(*line)
    assert "standard is assumed" in wrong.stderr
    assert "This is not the machine of" in wrong.stderr
    assert wrong.exit_code == 3
    assert not out.exists()
    right = run(*line, "--scale", "minmax")
    assert right.exit_code == 0
    assert "assumed" not in right.stderr


@pytest.mark.parametrize("name", ["json", "csv"])
def test_other_data_are_refused(
    files: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """With what differs; samples with other values, by the dual objective."""
    refused = run("loo", DATA / "wine.csv", "--from", files[name])
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "samples: 178 here, 150 there" in refused.stderr
    moved = tmp_path / "moved.csv"
    moved.write_text(IRIS.read_text().replace("5.1,3.5,1.4", "5.1,3.5,4.1", 1))
    refused = run("loo", moved, "--from", files[name], "--scale", "minmax")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "its dual objective is" in refused.stderr


def test_the_line_may_say_how_but_not_what(files: dict[str, Path]) -> None:
    """Another solver reaches the same optimum; another C is refused."""
    found = run("margins", IRIS, "--from", files["json"], "--solver", "smo")
    assert found.exit_code == 0, found.output
    for option in (("--C", "1"), ("--kernel", "linear"), ("--sigma", "2")):
        refused = run("margins", IRIS, "--from", files["json"], *option)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert f"{option[0]} is given" in refused.stderr


def test_the_data_are_read_as_they_were_in_the_sweep(tmp_path: Path) -> None:
    """What json results tell need not be said again, and may be; the line wins."""
    table, ranked = tmp_path / "odd.csv", tmp_path / "ranked.json"
    rows = [f"{i};{'ab'[i % 2]};{i % 2},{i}" for i in range(20)]
    table.write_text("\n".join(["id;kind;size", *rows]) + "\n")
    how = ("--target", "kind", "--id-column", 1, "--decimal", "comma")
    found = run("sweep", table, *how, "--C", 1, "-o", ranked)
    assert found.exit_code == 0, found.output
    again = run("loo", table, "--from", ranked, "--format", "json", "-q")
    assert again.exit_code == 0, again.output
    typed = run("loo", table, "--from", ranked, *how, "--format", "json", "-q")
    assert again.stdout == typed.stdout
    other = run("loo", table, "--from", ranked, "--target", "siz")
    assert other.exit_code == 3
    assert "'size'" in other.stderr


def test_within_its_gap_a_machine_is_the_same(swept: Results) -> None:
    """The gaps of both allow for it, and no more."""
    row = replace(swept.rows[0], dual_objective=100.0, gap=1e-3)
    cell = cell_of("x.csv", swept, 1)
    cell = replace(cell, row=row)
    cell.check_machine(100.15, 1e-3)
    with pytest.raises(DataError, match="that of the row 100"):
        cell.check_machine(100.3, 1e-3)
    replace(cell, row=replace(row, dual_objective=None)).check_machine(5.0, 0.0)


def test_without_a_choice_it_is_the_first(swept: Results) -> None:
    """And a file without ranks counts its rows."""
    rows = tuple(replace(row, rank=None) for row in swept.rows)
    results = Results(rows, "")
    assert cell_of("x.csv", results).row is rows[0]
    assert cell_of("x.csv", results, 3).row is rows[2]
    with pytest.raises(SettingsError, match="no row of rank 9"):
        cell_of("x.csv", results, 9)


def test_class_weights_of_the_sweep_count_again(tmp_path: Path) -> None:
    """They decide the machine, and need not be said again."""
    ranked, out = tmp_path / "ranked.json", tmp_path / "model.json"
    line = ("sweep", IRIS, "--C", 1, "--class-weight", "virginica=3", "-o", ranked)
    assert run(*line).exit_code == 0
    found = run("fit", IRIS, "--from", ranked, "-o", out)
    assert found.exit_code == 0, found.output
    other = run("loo", IRIS, "--from", ranked, "--class-weight", "virginica=2")
    assert other.exit_code == 3
    assert "class weights" in other.stderr
