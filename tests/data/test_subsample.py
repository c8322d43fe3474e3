"""--subsample: rows drawn by class, and said wherever numbers of them are shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msvm_select import fit, load_csv, run_sweep
from msvm_select.data.subsample import drawn
from msvm_select.errors import DataError, SettingsError
from msvm_select.estimator import MSVMSearchCV
from msvm_select.model.file import load_model
from tests.conftest import DATA, IRIS, rows_of, run

WINE, VOWELS = DATA / "wine.csv", DATA / "vowel_speakers.csv"
CELL = ("--C", 1, "--gamma", 0.1)


@given(st.lists(st.integers(1, 60), min_size=2, max_size=6), st.data())
def test_each_class_has_its_share_and_one_at_least(
    sizes: list[int], draw: st.DataObject
) -> None:
    """Within a row or two of N m_k / m, where that is no less than two rows."""
    y = np.random.default_rng(1).permutation(np.repeat(np.arange(len(sizes)), sizes))
    m, Q = y.size, len(sizes)
    count = draw.draw(st.integers(Q, m))
    keep = drawn(y, Q, count, seed=draw.draw(st.integers(0, 5)))
    found = np.bincount(y[keep], minlength=Q)
    assert keep.size == count
    assert (np.diff(keep) > 0).all()
    assert (found >= 1).all()
    fair = count * np.array(sizes) / m
    if (fair >= 2.0).all():
        assert np.abs(found - fair).max() <= 1.0 + 0.5 * (Q - 1)


def test_the_seed_decides_and_fewer_rows_are_a_part_of_more() -> None:
    """The same seed twice, another one, and a smaller subsample."""
    y = np.arange(300) % 4
    one, more = drawn(y, 4, 60, seed=7), drawn(y, 4, 100, seed=7)
    assert (one == drawn(y, 4, 60, seed=7)).all()
    assert (one != drawn(y, 4, 60, seed=8)).any()
    assert set(one) <= set(more)


def test_groups_stay_whole() -> None:
    """Every group drawn is there with all of its rows, and every class has some."""
    data = load_csv(VOWELS, group_column="speaker")
    some = load_csv(VOWELS, group_column="speaker", subsample=400, seed=2)
    assert data.groups is not None
    assert some.groups is not None
    whole = dict(zip(data.group_names, np.bincount(data.groups), strict=True))
    for name, count in zip(some.group_names, np.bincount(some.groups), strict=True):
        assert whole[name] == count
    assert 300 <= some.m <= 400
    assert set(some.y) == set(data.y)
    assert some.drawn_from == data.m


def test_too_few_rows_are_refused_and_too_many_noted() -> None:
    """Fewer than the classes: an error with both numbers. More than all: a note."""
    with pytest.raises(DataError, match=r"--subsample 2 .* the 3 classes"):
        load_csv(IRIS, subsample=2)
    with pytest.raises(DataError, match="groups are kept whole"):
        load_csv(VOWELS, group_column="speaker", subsample=11)
    whole = load_csv(IRIS, subsample=500)
    assert whole.m == 150
    assert whole.drawn_from is None
    assert "--subsample 500: there are 150 rows" in whole.notes[-1]
    for bad in (0, "ten", 2.5):
        with pytest.raises(SettingsError, match="subsample = .* whole number"):
            load_csv(IRIS, subsample=bad)


def test_all_that_belongs_to_a_row_is_drawn_with_it() -> None:
    """Lines, ids and features of the rows that are kept are theirs."""
    data, some = load_csv(WINE), load_csv(WINE, subsample=40, seed=1)
    assert data.lines is not None
    assert some.lines is not None
    at = np.searchsorted(data.lines, some.lines)
    assert (data.X[at] == some.X).all()
    assert (data.y[at] == some.y).all()


def test_every_output_says_so(tmp_path: Path) -> None:
    """Table, JSON, CSV, page, model and what is trained again from the results."""
    said = ("--subsample", 60, "--seed", 4)
    table = run("sweep", IRIS, *CELL, *said)
    assert "Of a subsample: 60 of the 150 rows, drawn by class with seed 4." in (
        table.stdout
    )
    out, page = tmp_path / "ranked.json", tmp_path / "page.html"
    swept = run("sweep", IRIS, *CELL, *said, "-o", out, "--report", page)
    assert swept.exit_code == 0
    told = json.loads(out.read_text())
    assert told["data"]["drawn_from"] == 150
    assert told["data"]["reading"] == {"subsample": 60, "seed": 4}
    assert told["rows"][0]["n_samples"] == 60
    assert told["rows"][0]["drawn_from"] == 150
    assert "60 of the 150 rows" in page.read_text()
    (row,) = rows_of(run("sweep", IRIS, *CELL, *said, "--format", "csv").stdout)
    assert (row["n_samples"], row["drawn_from"]) == ("60", "150")
    model = tmp_path / "model.json"
    assert run("fit", IRIS, "--from", out, "-o", model).exit_code == 0
    training = load_model(model).training
    assert (training.m, training.drawn_from) == (60, 150)
    one = run("loo", IRIS, *CELL, *said)
    assert "60 of the 150 rows" in one.stdout
    assert f"{told['rows'][0]['loo_errors']} of 60 wrong" in one.stdout
    assert "60 of the 150 rows" in run("bound", IRIS, *CELL, *said).stdout
    assert "60 of the 150 rows" in run("margins", IRIS, *CELL, *said).stdout


def test_without_it_nothing_is_said(tmp_path: Path) -> None:
    """No column, no entry of the data, and a model that older programs read."""
    model = fit(load_csv(IRIS), gamma=0.1)
    model.save(tmp_path / "model.json")
    kept = json.loads((tmp_path / "model.json").read_text())
    assert kept["format_version"] == 1
    assert "drawn_from" not in kept["training"]
    found = run("sweep", IRIS, *CELL, "--format", "json").stdout
    assert "drawn_from" not in found


def test_a_journal_of_the_whole_file_is_not_one_of_a_subsample(tmp_path: Path) -> None:
    """It is refused, with how many rows each has; nor is one of another seed."""
    journal = ("--journal", tmp_path / "j.ndjson")
    assert run("sweep", IRIS, *CELL, *journal).exit_code == 0
    other = run("sweep", IRIS, *CELL, *journal, "--resume", "--subsample", 60)
    assert other.exit_code == 3
    assert "samples of the data: the journal has 150; this sweep has 60" in other.stderr
    one = ("--journal", tmp_path / "k.ndjson", "--subsample", 60)
    assert run("sweep", IRIS, *CELL, *one).exit_code == 0
    again = run("sweep", IRIS, *CELL, *one, "--resume")
    assert again.exit_code == 0
    assert "1 finished cell" in again.stderr
    seeded = run("sweep", IRIS, *CELL, *one, "--resume", "--seed", 1)
    assert seeded.exit_code == 3


def test_a_config_and_the_environment_may_say_it(tmp_path: Path) -> None:
    """``subsample = 50`` in TOML; MSVM_SELECT_SUBSAMPLE; the line wins."""
    config = tmp_path / "c.toml"
    config.write_text(f'data = "{IRIS}"\nsubsample = 50\nC = [1]\ngamma = [0.1]\n')
    (row,) = rows_of(run("run", config, "--format", "csv").stdout)
    assert row["n_samples"] == "50"
    (row,) = rows_of(run("run", config, "--subsample", 30, "--format", "csv").stdout)
    assert row["n_samples"] == "30"
    found = run(
        *("sweep", IRIS, *CELL, "--format", "csv"),
        env={"MSVM_SELECT_SUBSAMPLE": "45"},
    )
    assert rows_of(found.stdout)[0]["n_samples"] == "45"
    wrong = run("sweep", IRIS, "--subsample", "many")
    assert wrong.exit_code == 2
    assert "subsample = 'many' must be a whole number" in wrong.stderr


def test_python_and_the_search_take_it() -> None:
    """run_sweep on a Dataset, and MSVMSearchCV, whose support is told by rows of X."""
    data = load_csv(IRIS)
    results = run_sweep(data, subsample=60, seed=4, C=1, gamma=0.1)
    search = MSVMSearchCV(C=1, gamma=0.1, scale="standard", subsample=60, seed=4)
    search.fit(data.X, data.y)
    assert results.best is not None
    assert search.results_.best is not None
    assert search.results_.best.loo_errors == results.best.loo_errors
    assert search.results_.data["drawn_from"] == 150
    keep = drawn(data.y, 3, 60, seed=4)
    assert set(search.best_estimator_.support_) <= set(keep)


def test_what_cannot_be_drawn_from_is_refused(tmp_path: Path) -> None:
    """A precomputed kernel, and data to classify."""
    K = np.eye(6)
    frame = "\n".join(",".join(map(str, [*row, i % 2])) for i, row in enumerate(K))
    (tmp_path / "k.csv").write_text(f"a,b,c,d,e,f,class\n{frame}\n")
    found = run(
        "sweep", tmp_path / "k.csv", "--kernel", "precomputed", "--subsample", 4
    )
    assert found.exit_code == 2
    assert "--subsample draws rows" in found.stderr
