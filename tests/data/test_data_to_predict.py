"""Data to predict: the model's columns, by name, in the model's order."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from msvm_select.data.options import ReadOptions
from msvm_select.data.read import read_dataset, read_features
from msvm_select.errors import DataError
from msvm_select.model.file import restored, stored
from msvm_select.records import Dataset
from tests.conftest import DATA, read

MIXED = "id,a,c,class\nr1,1,red,x\nr2,2,blue,y\nr3,4,red,y\n"


def model(**options: object) -> Dataset:
    """What a machine was trained on, for the tests of prediction."""
    return read(MIXED, **{"id_column": "id", "one_hot": ["c"], **options})


def predict(text: str, trained: Dataset, **options: object) -> Dataset:
    """The text as data to be classified."""
    assert trained.columns is not None
    chosen = ReadOptions(**options)  # type: ignore[arg-type]
    return read_features(io.BytesIO(text.encode()), trained.columns, chosen)


def test_columns_survive_json() -> None:
    """What a model file holds of the columns comes back the same."""
    columns = model(na_values=["-"]).columns
    assert columns is not None
    assert restored(json.loads(json.dumps(stored(columns)))) == columns


def test_prediction_by_name() -> None:
    """Columns are taken by name in the model's order; id and target may be missing."""
    found = predict("c,a\nblue,7\nred,8\n", model())
    assert found.X.tolist() == [[7, 1, 0], [8, 0, 1]]
    assert found.features == ("a", "c=blue", "c=red")
    assert found.y.size == 0
    assert found.ids is None


def test_prediction_with_labels() -> None:
    """Labels and ids that are there are read; one class is enough here."""
    found = predict("class,c,a,id\nz,blue,7,q1\n", model())
    assert (found.classes, found.ids) == (("z",), ("q1",))
    assert found.y.tolist() == [0]
    partial = predict("class,c,a\nz,blue,7\n,red,7\n", model())
    assert partial.y.size == 0
    assert "1 of 2 labels" in partial.notes[0]


def test_prediction_of_the_training_file() -> None:
    """The training file read for prediction gives the training features."""
    trained = read_dataset(DATA / "glass.csv")
    assert trained.columns is not None
    found = read_features(DATA / "glass.csv", trained.columns)
    assert np.array_equal(found.X, trained.X)
    assert np.array_equal(found.y, trained.y)


def test_prediction_extra_and_lost_columns() -> None:
    """Extra columns are remarked by name; missing ones are refused by name."""
    assert "'more'" in predict("c,a,more\nred,1,2\n", model()).notes[0]
    with pytest.raises(DataError, match=r"'a' is missing.*'A'\?.*also has 'A'"):
        predict("c,A\nred,1\n", model())


def test_prediction_without_header() -> None:
    """Without a header the number of columns tells what is there."""
    trained = read("1,2,x\n3,4,y\n5,5,y\n", header=False)
    bare = predict("7,8\n", trained, header=False)
    assert bare.X.tolist() == [[7, 8]]
    assert predict("7,8,x\n", trained, header=False).classes == ("x",)
    with pytest.raises(DataError, match="4 columns; the model was trained on 2"):
        predict("7,8,9,1\n", trained, header=False)


def test_prediction_unknown_category() -> None:
    """A category that the model never saw is refused at its place."""
    with pytest.raises(DataError, match="line 3, column 'c'.*'pink'.*'blue', 'red'"):
        predict("c,a\nred,1\npink,1\n", model())


def test_prediction_missing() -> None:
    """Gaps are filled only for a model that was trained so, or when asked."""
    with pytest.raises(DataError, match="line 2, column 'a'"):
        predict("c,a\nred,\n", model())
    assert np.isnan(predict("c,a\nred,\n", model(missing="mean")).X[0, 0])
    assert np.isnan(predict("c,a\nred,\n", model(), missing="mean").X[0, 0])
    assert predict("c,a\nred,\nred,1\n", model(), missing="drop").X.shape == (1, 3)


def test_prediction_libsvm() -> None:
    """Sparse data is widened to the model's features and never beyond."""
    trained = read("a 1:1 3:2\nb 1:2\n", input_format="libsvm")
    assert predict("0 1:5\n", trained, input_format="libsvm").X.tolist() == [[5, 0, 0]]
    unlabelled = predict("1:5\n", trained, input_format="libsvm")
    assert unlabelled.y.size == 0
    with pytest.raises(DataError, match="line 1: feature 4; the model has 3"):
        predict("0 4:5\n", trained, input_format="libsvm")
