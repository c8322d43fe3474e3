"""The Python API: what it takes, what it gives, and what it refuses in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import msvm_select
from msvm_select import fit, load, load_csv, load_model, predict, run_sweep
from msvm_select.data.doubts import describe
from msvm_select.errors import DataError, MsvmError, SettingsError
from msvm_select.model.model import Model
from msvm_select.records import Dataset
from tests.conftest import IRIS


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """iris as pandas reads it."""
    return pd.read_csv(IRIS)


@pytest.fixture(scope="module")
def model() -> Model:
    """A machine of iris."""
    return fit(IRIS, C=1, gamma=0.25)


def same(one: Dataset, other: Dataset) -> bool:
    """Whether the samples and classes are the same."""
    return (
        np.array_equal(one.X, other.X, equal_nan=True)
        and np.array_equal(one.y, other.y)
        and (one.classes, one.features) == (other.classes, other.features)
    )


def test_a_frame_is_what_its_file_is(frame: pd.DataFrame) -> None:
    """Also with another index, the class first, and named by ``target``."""
    data = load_csv(IRIS)
    assert same(load(frame), data)
    turned = frame[["class", *frame.columns[:4]]].set_index(frame.index + 7)
    assert same(load(turned), data)
    assert same(load(turned.rename(columns={"class": "kind"}), target="kind"), data)
    assert load(data) is data


def test_a_pair_is_samples_and_classes(frame: pd.DataFrame) -> None:
    """Arrays, lists, a DataFrame with a Series; whole numbers are classes as such."""
    data = load_csv(IRIS)
    X, labels = frame.iloc[:, :4], frame["class"]
    assert same(load((X, labels)), data)
    named = load((X.to_numpy(), labels.to_numpy()))
    assert (named.features, named.classes) == (("x1", "x2", "x3", "x4"), data.classes)
    assert load(([[1, 2], [3, 4]], [0.0, 1.0])).classes == ("0", "1")
    many = load((np.arange(60.0)[:, None], np.arange(60) / 7))
    assert many.Q == 60  # y was given: nothing is guessed


def test_frames_have_kinds_of_columns() -> None:
    """Text of numbers, objects, categories, nullable and true/false columns."""
    frame = pd.DataFrame(
        {
            "text": ["1.5", " 2", "3e0", ""],
            "object": [1, 2.5, "3", None],
            "nullable": pd.array([1, 2, None, 4], dtype="Int64"),
            "flag": [True, False, True, False],
            "colour": pd.Categorical(["red", "blue", None, "red"]),
            "kind": [1.0, 2.0, 1.0, 2.0],
        }
    )
    data = load(frame, target="kind", one_hot="colour", missing="mean")
    nan = np.nan
    expected = [
        [1.5, 1, 1, 1, 0, 1],
        [2, 2.5, 2, 0, 1, 0],
        [3, 3, nan, 1, nan, nan],
        [nan, nan, 4, 0, 0, 1],
    ]
    assert np.array_equal(data.X, expected, equal_nan=True)
    assert data.features[-2:] == ("colour=blue", "colour=red")
    assert data.classes == ("1", "2")


@pytest.mark.parametrize(
    ("column", "options", "words"),
    [
        ([1, None, 3, 4], {}, "row 2, column 'a': the value is missing"),
        (["x", "y", "x", "y"], {}, "row 1, column 'a': 'x' is not a number"),
        ([1, 2, np.inf, 4], {}, "row 3, column 'a': the value inf is infinite"),
        ([1, 2, 3, 4], {"target": "kin"}, "did you mean 'kind'"),
        (pd.date_range("2020-01-01", periods=4), {}, "'2020-01-01.* not a number"),
    ],
)
def test_a_bad_frame_is_refused_with_its_place(
    column: Any, options: dict[str, Any], words: str
) -> None:
    """By row and column, with the ways out."""
    frame = pd.DataFrame({"a": column, "kind": ["p", "q", "p", "q"]})
    with pytest.raises(DataError, match=words):
        load(frame, **{"target": "kind", **options})


@pytest.mark.parametrize(
    "data", [3, None, [1, 2, 3], np.ones((3, 2)), {"a": [1]}, ([1, 2], [0, 1])]
)
@pytest.mark.parametrize("take", [load, fit, run_sweep])
def test_what_is_no_data_is_refused_in_words(take: Any, data: Any) -> None:
    """The error says what can be given instead."""
    with pytest.raises(DataError, match=r"give the path of a file|X must be a table"):
        take(data)


def test_a_pair_must_match() -> None:
    """One class a row."""
    with pytest.raises(DataError, match="one class for each of the 3 rows"):
        load((np.ones((3, 2)), [0, 1]))


def test_options_that_do_not_exist_are_refused() -> None:
    """A misspelt one; one for data that are read already."""
    with pytest.raises(SettingsError, match="'targte'"):
        load(IRIS, targte="class")
    with pytest.raises(SettingsError, match="missing: these options"):
        load(load_csv(IRIS), missing="mean")
    with pytest.raises(MsvmError, match="targte"):
        run_sweep(IRIS, targte="class")


def test_a_sweep_takes_paths_frames_and_pairs(frame: pd.DataFrame) -> None:
    """The same rows, whatever the data come as; and a DataFrame comes out."""
    X, labels = frame.iloc[:, :4], frame["class"]
    settings: dict[str, Any] = {"C": "0.1,1", "gamma": 0.25, "criteria": "sv-rate"}
    renamed = frame.rename(columns={"class": "kind"})
    found = [
        run_sweep(str(IRIS), **settings),
        run_sweep(IRIS, **settings, target="class"),
        run_sweep(frame, **settings),
        run_sweep(renamed, target="kind", **settings),
        run_sweep((X, labels), **settings),
    ]
    rates = [results.to_frame()["sv_rate"].tolist() for results in found]
    assert rates == [rates[0]] * 5


def test_columns_are_taken_by_name(model: Model, frame: pd.DataFrame) -> None:
    """In any order, beside others; a model takes an array by position."""
    labels = model.predict(frame.iloc[:, :4].to_numpy())
    turned = frame[frame.columns[::-1]].assign(more="text")
    assert model.predict(turned).tolist() == labels.tolist()
    assert model.predict(IRIS).tolist() == labels.tolist()
    bare = pd.DataFrame(frame.iloc[:, :4].to_numpy())  # no names: by position
    assert model.predict(bare).tolist() == labels.tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.rename(columns={"sepal_width_cm": "width"}), "'sepal_width_cm'"),
        (lambda f: f.drop(columns="petal_width_cm"), "'petal_width_cm' is missing"),
        (lambda f: f.assign(sepal_width_cm="wide"), "column 'sepal_width_cm': 'wide'"),
        (lambda f: f.assign(sepal_width_cm=np.nan), "the value is missing"),
        (lambda f: f.iloc[:, :3].to_numpy(), "3 features; the model was trained on 4"),
        (lambda f: f.to_numpy(), "Samples to classify are numbers"),
    ],
)
def test_a_frame_that_does_not_fit_is_refused(
    model: Model, frame: pd.DataFrame, change: Any, words: str
) -> None:
    """With the name of what does not fit, as on the command line."""
    with pytest.raises(DataError, match=words):
        model.predict(change(frame))


def test_predictions_come_as_a_frame(
    model: Model, frame: pd.DataFrame, tmp_path: Path
) -> None:
    """With the index of the samples, their ids and, if wanted, the scores."""
    model.save(tmp_path / "iris.json")
    some = frame.set_index(frame.index * 2).iloc[10:20]
    found = predict(tmp_path / "iris.json", some)
    assert found.wrong == 0
    assert repr(found) == "<Predictions DataFrame: 10 samples: setosa 10; 0 wrong>"
    scores = found.to_frame(scores=True)
    assert list(scores.columns) == ["predicted", *model.classes]
    assert scores.index.tolist() == some.index.tolist()
    assert np.array_equal(scores[list(model.classes)], model.outputs(some))
    named = frame.assign(who=[f"r{i}" for i in range(150)])
    ids = predict(model, named, id_column="who").to_frame()
    assert ids.iloc[3].tolist() == ["r3", "setosa"]
    holes = frame.copy()
    holes.loc[[0, 5], "sepal_width_cm"] = np.nan
    dropped = predict(model, holes, missing="drop").to_frame()
    assert dropped.index[:5].tolist() == [1, 2, 3, 4, 6]
    assert len(predict(model, frame.iloc[:, :4].to_numpy()).to_frame()) == 150


def test_a_model_of_a_frame_remembers_its_reading(tmp_path: Path) -> None:
    """Categories and dropped columns, through a file."""
    frame = pd.DataFrame(
        {
            "note": list("abcdef"),
            "c": ["red", "blue"] * 3,
            "a": [1.0, 2, 3, 4, 5, 7],
            "kind": list("ppqqpq"),
        }
    )
    trained = fit(frame, target="kind", one_hot="c", drop="note", missing="mean")
    trained.save(tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    assert again.columns == trained.columns
    assert again.columns.drop == ("note",)
    holes = pd.DataFrame({"a": [np.nan, 2.0], "c": ["blue", "red"]})
    assert len(again.predict(holes)) == 2
    with pytest.raises(DataError, match="no category 'pink'"):
        again.predict(holes.assign(c="pink"))


def test_a_dataset_is_shown_in_one_line() -> None:
    """Name and sizes, no arrays."""
    shown = repr(load_csv(IRIS))
    assert shown == "<Dataset iris: 150 samples, 4 features, 3 classes>"


def test_a_dataset_is_a_table_in_a_notebook() -> None:
    """The ranges of its features and the sizes of its classes."""
    page = load_csv(IRIS)._repr_html_()
    assert "<td>petal_width_cm</td><td>0.1</td><td>2.5</td>" in page
    assert "<td>virginica</td><td>50</td>" in page


def test_only_public_names_are_listed() -> None:
    """And each of them is there; * leaves out what needs scikit-learn."""
    assert dir(msvm_select) == sorted([*msvm_select.__all__, "to_sklearn"])
    assert all(getattr(msvm_select, name) for name in dir(msvm_select))


def test_pandas_is_imported_only_where_it_is_used() -> None:
    """Reading a small file, training and predicting need none."""
    code = (
        "import sys; from msvm_select import load, fit; "
        f"fit(load({str(IRIS)!r})).predict([[1, 2, 3, 4]]); "
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_described_dataset_names_its_class_column(frame: pd.DataFrame) -> None:
    """Also that of a DataFrame."""
    assert describe(load(frame)).target == "class"
